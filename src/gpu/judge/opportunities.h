/*
 * opportunities - what the rules for one stage share; only for the files that look for them.
 *
 * opportunities.c has the rules O1 to O14, which also read the pages of other tools; mechanisms.c
 * those that need the counters of annotation mode (O15 to O20, and better forms of others).
 */
#ifndef STRATA_GPU_JUDGE_OPPORTUNITIES_H
#define STRATA_GPU_JUDGE_OPPORTUNITIES_H

#include "gpu/judge/rules.h"

struct gpu_finder {
    struct arena *arena;
    const struct gpu_case *c;
    struct gpu_opportunities *out;
    double comp, dram, chip; /* percent; 0 where not collected */
    double saturation;       /* u: the busiest unit against what it can reach, at most 1 */
    double cap;
};

/* One whose rule has bounded it: `ratio` is the new duration over the old one, `sure` from 0 to 1
 * how far its readings are beyond the limits of the rule; gain and confidence go with it. Less than
 * 3 % is not worth a line. */
void gpu_finder_add(struct gpu_finder *f, int id, const char *family, const char *name, double sure,
                    double ratio, struct str trigger);

/* What more occupancy costs: "occ=12.4%, limited by registers: free 24 registers/thread". */
struct str gpu_finder_price(struct gpu_finder *f, double occ);

void gpu_finder_add_mechanisms(struct gpu_finder *f);

#endif
