/*
 * race_check - all ways through a kernel that its arguments may choose, watched for races.
 */
#ifndef STRATA_KERNELS_PTO_JUDGE_RACE_CHECK_H
#define STRATA_KERNELS_PTO_JUDGE_RACE_CHECK_H

#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/sim.h"

enum { PTO_RACE_STEPS = 500000 }; /* of the scalar units, in each run */

/*
 * Runs a prepared kernel and adds what was found. When numbers that nobody supplied decide its way,
 * it runs again with others in their place. `options` are those of a run; its limit of steps holds
 * for each. Deadlocks are told to `d`; anything else that stops a run is the matter of the
 * simulation and is not.
 */
enum status pto_race_check(struct pto_races *r, struct pto_sim *s, const struct pto_costs *costs,
                           struct pto_options options, struct pto_binding *bindings, uint32_t n,
                           const char *path, struct diag *d);

/* Runs it as block 0 and block 1 of two and adds what both do to the same bytes, where numbers of
 * the launch alone decide that. */
void pto_race_blocks(struct pto_races *r, struct pto_sim *s, const struct pto_costs *costs,
                     struct pto_options options, struct pto_binding *bindings, uint32_t n,
                     const char *path);

#endif
