/*
 * sync - the flags and barriers that the compiler would insert into a program without any.
 *
 * For every instruction the inserter looks backwards for instructions whose bytes it meets, until
 * all pipes are known to be in order: through the branches before it, around the loops it is in,
 * and out of them. A pair on two pipes becomes a set and a wait, hung where both stand side by
 * side in the tree (so a wait leaves a loop that its set is not in); a pair carried by a loop gets
 * a first set before the loop and a last wait behind it. A pair on one pipe becomes a barrier.
 * Eight events serve each ordered pair of pipes; when they run out, a barrier of all pipes takes
 * the place of a set and wait. A barrier of all pipes ends the function.
 */
#ifndef STRATA_KERNELS_PTO_SIM_SYNC_H
#define STRATA_KERNELS_PTO_SIM_SYNC_H

#include "kernels/pto/sim/program.h"

enum { PTO_EVENTS = 8 };

/* Hangs syncs on the nodes of a compiled tree. Gives up, with every instruction behind a barrier of
 * all pipes, on programs beyond `max_work` comparisons; returns false then. */
bool pto_sync_insert(struct pto_program *p, uint64_t max_work);

/* Hangs a barrier of all pipes before every instruction: for programs without a tree. */
void pto_sync_everywhere(struct pto_program *p);

#endif
