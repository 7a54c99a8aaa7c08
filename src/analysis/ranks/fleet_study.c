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

const struct rank_verdicts *fleet_study_verdicts(struct fleet_study *fs)
{
    if (fs->verdicts == NULL)
        fs->verdicts = rank_verdicts_find(fs);
    return fs->verdicts;
}
