/*
 * short_name - names of kernels for tables: "void at::native::reduce_kernel<512, 1>(T3)" is
 * "at::native::reduce_kernel<512, 1>", or "reduce_kernel<512, 1>" where room is scarce.
 */
#ifndef STRATA_OPS_SHORT_NAME_H
#define STRATA_OPS_SHORT_NAME_H

#include "base/arena.h"

/* Without return type and arguments. A view into `name`. */
struct str short_name_of(struct str name);

/* Without the scopes of its words, too. */
struct str short_name_bare(struct arena *arena, struct str name);

#endif
