/*
 * fleet_study: begin, end, and the ranks joined.
 */
#include "analysis/ranks/fleet_study.h"

#include <stdlib.h>

#include "analysis/ranks/cluster.h"
#include "analysis/ranks/rank_verdicts.h"

void fleet_study_begin(struct fleet_study *fs, const struct fleet *fleet,
                       struct study_options options)
{
    *fs = (struct fleet_study){.fleet = fleet, .n = fleet->ranks.n};
    arena_init(&fs->arena);
    fs->ranks = ARENA_ARRAY(&fs->arena, struct study, fs->n);
    for (size_t i = 0; i < fs->n; i++)
        study_begin(&fs->ranks[i], fleet->ranks.at[i], options);
}

void fleet_study_end(struct fleet_study *fs)
{
    for (size_t i = 0; i < fs->n; i++)
        study_end(&fs->ranks[i]);
    arena_free(&fs->arena);
}

const struct rank_jobs *fleet_study_jobs(struct fleet_study *fs)
{
    if (fs->jobs.of == NULL)
        fs->jobs =
            rank_jobs_find(&fs->arena, (const struct capture *const *)fs->fleet->ranks.at, fs->n);
    return &fs->jobs;
}

ORDER_BY(by_rank, struct rank_summary, ORDER(x->rank, y->rank));

const struct cluster *fleet_study_cluster(struct fleet_study *fs)
{
    if (fs->has_cluster)
        return fs->cluster;
    fs->has_cluster = true;
    if (fs->n < 2 || fleet_study_jobs(fs)->n > 1)
        return NULL;
    struct rank_summary *list = ARENA_ARRAY(&fs->arena, struct rank_summary, fs->n);
    for (size_t i = 0; i < fs->n; i++) {
        struct study st; /* of its own: summaries cut steps by their own rules */
        study_begin(&st, fs->fleet->ranks.at[i], rank_summary_options());
        rank_summary_make(&list[i], &st, &fs->arena);
        study_end(&st);
    }
    qsort(list, fs->n, sizeof(*list), by_rank);
    const struct cluster *c = cluster_find(&fs->arena, list, fs->n);
    fs->cluster = cluster_is_job(c) ? c : NULL;
    return fs->cluster;
}

/* Devices of one table have one clock. */
static bool is_one_file(const struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->ranks.n; i++) {
        const struct capture *first = fleet->ranks.at[0], *cap = fleet->ranks.at[i];
        if (cap->sources.n == 0 || strcmp(cap->sources.at[0].path, first->sources.at[0].path) != 0)
            return false;
    }
    return true;
}

/* False: nothing tells how its times lie to those of `reference`. */
static bool shift_by_wall(const struct clock *clock, const struct clock *reference,
                          struct clock_shift *out)
{
    *out = (struct clock_shift){.offset = nanos_sub(reference->to_unix, clock->to_unix)};
    return clock->has_unix && reference->has_unix && clock->hz == reference->hz;
}

struct fleet_clocks fleet_study_clocks(struct fleet_study *fs)
{
    struct capture *const *caps = fs->fleet->ranks.at;
    struct clock_shift *of = ARENA_ARRAY(&fs->arena, struct clock_shift, fs->n);
    struct fleet_clocks out = {.clock = caps[0]->clock};
    bool is_file = is_one_file(fs->fleet);
    const struct cluster *c = is_file ? NULL : fleet_study_cluster(fs);
    const struct cluster_model *m = c != NULL ? c->model : NULL;

    if (fleet_study_jobs(fs)->n > 1)
        return out;
    for (size_t i = 0; i < fs->n && m != NULL; i++)
        if (cluster_place(m, caps[i]->facts.rank) == m->reference)
            out.clock = caps[i]->clock;
    for (size_t i = 0; i < fs->n && !is_file; i++) {
        uint32_t place = m != NULL ? cluster_place(m, caps[i]->facts.rank) : CLUSTER_NONE;
        if (place != CLUSTER_NONE && cluster_is_aligned(m, place)) {
            const struct cluster_clock *k = &m->clocks[place];
            of[i] =
                (struct clock_shift){nanos_add(m->base, k->coarse), k->coarse, k->fine, k->drift};
            continue;
        }
        if (!shift_by_wall(&caps[i]->clock, &out.clock, &of[i]))
            return out;
        out.by_wall++;
    }
    out.of = of;
    return out;
}

const struct rank_verdicts *fleet_study_verdicts(struct fleet_study *fs)
{
    if (fs->verdicts == NULL)
        fs->verdicts = rank_verdicts_find(fs);
    return fs->verdicts;
}
