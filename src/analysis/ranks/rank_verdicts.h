/*
 * rank_verdicts - what limits each of several captures, and where they are ranks of one job, who
 * makes the others wait.
 *
 * A rank that waits for another sees exposed communication; what is to be done about it is said of
 * the rank it waits for. Method: docs/analyses/cluster.md.
 */
#ifndef STRATA_ANALYSIS_RANKS_RANK_VERDICTS_H
#define STRATA_ANALYSIS_RANKS_RANK_VERDICTS_H

#include "analysis/diagnose/diagnosis.h"
#include "analysis/ranks/cluster.h"
#include "analysis/ranks/fleet_study.h"

/* What a rank is in a job whose culprits are known. */
enum rank_part {
    RANK_ALONE,      /* judged by itself */
    RANK_CULPRIT,    /* the others wait for it */
    RANK_WAITS,      /* most of its exposed communication is waiting for another rank */
    RANK_WAITS_LINK, /* the same for a link */
};

struct rank_verdict {
    int64_t rank, device; /* -1: unknown */
    struct str name;
    size_t steps;
    uint64_t kernels;
    nanos time; /* a step, median */
    nanos mean; /* a step, as the texts have it */
    double idle_share;
    enum rank_part part;
    const char *cause; /* of what limits it: by itself, or as a culprit */
    int64_t waits_for; /* rank; -1: none */
    nanos saving;      /* a step, on average */
    double total_ms;   /* of the recording */
    /* Judged by itself, as if it were the only capture. */
    const char *own_cause;
    enum root_cause own;
    nanos own_saving; /* a step */
    struct wording text;
    enum culprit_kind kind; /* of a culprit */
};

struct rank_verdicts {
    struct rank_verdict *list;
    size_t n;
    nanos median, median_mean;
    const struct fleet *fleet;
    const struct rank_jobs *jobs;   /* of each in the list */
    bool is_one_run;                /* they are ranks of one job */
    size_t slowest;                 /* place in the list */
    const struct cluster *cluster;  /* NULL: they are no ranks of one job */
    const struct culprit *culprits; /* of the cluster, largest saving first */
    struct wording *culprit_texts;
    size_t n_culprits;
    struct wording what; /* the verdict: the first culprit, or the slowest */
    struct wording text; /* the same, and what limits the slowest */
};

/* In the order of the fleet; lives in the study. Use fleet_study_verdicts(). */
struct rank_verdicts *rank_verdicts_find(struct fleet_study *fs);

const char *rank_part_name(enum rank_part part);

void rank_verdicts_describe(const void *verdicts, struct report *r);

extern const struct schema rank_verdicts_schema;

#endif
