/*
 * db_probe - which tables an SQLite file has, from its first bytes where they tell, else from a
 * look inside.
 */
#ifndef STRATA_INPUT_DB_PROBE_H
#define STRATA_INPUT_DB_PROBE_H

#include "input/input.h"

/* True when the file is SQLite and has one of these tables. */
bool db_probe(const struct probe *p, const struct str *tables, size_t n);

#endif
