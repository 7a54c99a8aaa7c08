/*
 * Stages that were declared concurrent and ran one after the other.
 */
#include <math.h>

#include "base/tables/interval.h"
#include "gpu/judge/variants.h"
#include "gpu/timeline/timeline.h"

struct overlap_group {
    nanos *busy; /* of each member */
    size_t members;
    double sum, longest; /* of `busy`, ns */
    double work;         /* the same, each times the part of the chip that it used */
    double share;        /* of the whole run */
    bool has_counters;
    nanos wall; /* of all members together */
};

/* Adds the launches of a stage, on one device: other devices have a time of their own. */
static void add_launches(const struct gpu_run *run, const struct gpu_stage *s,
                         const struct gpu_launch *launches, size_t n, struct interval_set *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct gpu_launch *l = &launches[i];
        if (l->launch[PLACE_DEVICE] == launches[0].launch[PLACE_DEVICE] &&
            gpu_stage_has(run, s, l->name))
            out->at[out->n++] = (struct interval){l->start, nanos_add(l->start, l->duration_ns)};
    }
}

/* How busy the busiest unit was against what can be reached, at most 1; NAN without counters. */
static double saturation(const struct gpu_kernel *k)
{
    const char *name;

    if (k == NULL || isnan(k->m[GPU_M_DRAM_PCT]))
        return NAN;
    double comp = gpu_compute_pct(k, &name), chip = gpu_chip_pct(k, &name);
    double u = fmax(k->m[GPU_M_DRAM_PCT] / 100 / GPU_ETA_MEMORY,
                    isnan(comp) ? 0 : comp / 100 / GPU_ETA_COMPUTE);
    return fmin(1, fmax(u, isnan(chip) ? 0 : chip / 100));
}

/* `work` is the time the group would take if the device were full: saturation times busy time of
 * each; a stage without counters counts as full. */
static struct overlap_group overlap_measure(struct gpu_run *run, struct str name,
                                            const struct gpu_launch *launches, size_t n)
{
    struct overlap_group g = {.busy = ARENA_ARRAY(&run->arena, nanos, run->stages.n),
                              .has_counters = true};
    struct interval *all = mem_grow(NULL, sizeof(*all), n * run->stages.n + 1);
    struct interval *one = mem_grow(NULL, sizeof(*one), n + 1);
    struct interval_set wall = {all, 0};

    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        struct interval_set own = {one, 0};
        if (!str_equal(s->group, name))
            continue;
        add_launches(run, s, launches, n, &own);
        add_launches(run, s, launches, n, &wall);
        interval_merge(&own);
        g.busy[g.members] = interval_length(own);
        double ns = (double)g.busy[g.members++], u = saturation(s->main);
        g.has_counters = g.has_counters && !isnan(u);
        g.sum += ns;
        g.longest = fmax(g.longest, ns);
        g.work += isnan(u) ? ns : u * ns;
        g.share += isnan(s->share) ? 0 : s->share;
    }
    interval_merge(&wall);
    g.wall = interval_length(wall);
    mem_free(one);
    mem_free(all);
    return g;
}

void gpu_overlap_judge(struct gpu_run *run, const struct gpu_launch *launches, size_t n)
{
    for (size_t i = 0; i < run->stages.n && n > 0; i++) {
        if (!gpu_run_opens_group(run, i))
            continue;
        struct str name = run->stages.at[i].group;
        struct overlap_group g = overlap_measure(run, name, launches, n);
        double e = timeline_efficiency(g.busy, g.members, g.wall);
        if (isnan(e) || g.sum <= 0)
            continue;
        /* Side by side it takes as long as the longest, or as all their work does. */
        double gain = 100 * (1 - fmax(g.longest, g.work) / g.sum) * (1 - e) * fmin(1, g.share);
        gpu_run_overlap(run, name, e, g.members, g.has_counters ? gain : 0);
    }
}
