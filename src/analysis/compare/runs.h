/*
 * runs - figures of repeated runs of one program, and whether later runs are slower than earlier
 * ones.
 *
 * A run is a capture; its figures are nanoseconds a step: the step itself (the median of its
 * steps), idle time, and the time of each kernel. They are kept as a small file, so that a baseline
 * needs no captures. Two sets of runs are compared by the median of all ratios between a run of one
 * and a run of the other (Hodges and Lehmann), which a few bad runs do not move, by their fastest
 * runs, which slow clocks of some runs do not move, and by a rank-sum test. Ranks of a job are
 * compared each with itself.
 */
#ifndef STRATA_ANALYSIS_COMPARE_RUNS_H
#define STRATA_ANALYSIS_COMPARE_RUNS_H

#include "base/tables/tree.h"
#include "report/record.h"

struct study;

/* Nanoseconds a step, by run; 0 for a kernel that a run does not have. */
struct run_figure {
    struct str name; /* the first two are RUNS_STEP and RUNS_IDLE, the others kernels */
    nanos *at;
    size_t n;
};

#define RUNS_STEP  "step"
#define RUNS_IDLE  "idle"
#define RUNS_OTHER "other kernels"

struct runs {
    struct arena *arena;
    VEC_OF(const char *) names; /* of the captures */
    VEC_OF(int64_t) ranks;      /* of each; UNKNOWN */
    VEC_OF(struct run_figure) figures;
};

void runs_init(struct runs *runs, struct arena *arena);
void runs_free(struct runs *runs);

/* Adds a capture; false when it has no step with device work. */
bool runs_add(struct runs *runs, struct study *st);

/* Adds what a file holds; false when the value is no such file. */
bool runs_read(struct runs *runs, const struct tree *file);
extern const struct schema runs_schema; /* of a struct runs: strata.baseline/1 */

/* The ranks of the runs, ascending, each once, in the arena. */
struct run_ranks {
    int64_t *at;
    size_t n;
};
struct run_ranks runs_ranks(const struct runs *runs);

/* The runs of one rank, with the figures that they have; runs_free() it. */
struct runs runs_of_rank(const struct runs *runs, int64_t rank);

/* A figure before and after. */
struct run_change {
    struct str name;
    double before, after; /* medians, ns a step */
    double relative;      /* 0.05 is 5 % slower; NAN: it was 0 */
    double p;             /* of chance alone; NAN: too few runs to tell */
    double share;         /* of the growth of the step; NAN: the step did not grow */
    double own;           /* growth of the step by this part against the rest; NAN: by chance */
};

struct run_changes {
    struct run_change step;
    double best;           /* growth of the fastest run's step */
    double joint;          /* own growth of all parts that have some; NAN: by chance, few runs */
    struct run_change *at; /* the others, by how much they grew */
    size_t n;
    size_t runs[2];
};

extern const struct record run_change_record;

/* In the arena of `after`. */
struct run_changes runs_compare(const struct runs *before, const struct runs *after);

/* Slower by more than `limit`, and not by chance: by parts that grew against the rest, or in all.
 * Then the typical and the fastest run are slower. Few runs are judged by size alone. A slow
 * machine makes all parts slower alike. */
bool runs_are_slower(const struct run_changes *c, double limit);

/* Which parts made slower runs slower, the largest growth first. */
struct run_cause {
    bool is_alike;   /* all of them: the first is named */
    bool is_kernels; /* all but idle time */
    const struct run_change *parts[3];
    size_t n;
    double growth; /* of these, ns a step */
};
struct run_cause runs_cause(const struct run_changes *c, double limit);

/* Faster by more than `limit`, and not by chance. */
bool runs_are_faster(const struct run_changes *c, double limit);

#endif
