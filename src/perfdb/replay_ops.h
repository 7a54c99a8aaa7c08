/*
 * replay_ops - the operators that can be run again from a row of their table.
 */
#ifndef STRATA_PERFDB_REPLAY_OPS_H
#define STRATA_PERFDB_REPLAY_OPS_H

#include "base/arena.h"

bool replay_op_is_known(struct str op);

/* "Unsupported --op: X. Available: ..." for the names that are unknown, sorted; empty when all are
 * known. */
struct str replay_ops_problem(struct arena *arena, const struct str *ops, size_t n);

#endif
