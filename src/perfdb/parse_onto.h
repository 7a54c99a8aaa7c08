/*
 * parse_onto - an import meets the tables that are there already.
 */
#ifndef STRATA_PERFDB_PARSE_ONTO_H
#define STRATA_PERFDB_PARSE_ONTO_H

#include "perfdb/parse.h"

/* Reads the old tables. Merging puts the import into them; otherwise what would be lost is noted,
 * and with PARSE_CAREFUL losing anything that parse did not write fails with ST_UNSUPPORTED. */
enum status parse_onto(struct parse_plan *plan, enum parse_mode mode, struct diag *d);

#endif
