/*
 * variants - the different kernels of a run, and which stage each belongs to.
 *
 * A variant is a function with one grid and one block size. Activity tracing gives its durations,
 * the counter run its counters. Where its launches did different work it is split, if their times
 * tell the sorts apart; else the sort with most counters stands for it, of several the last: the
 * first launches find cold caches.
 */
#ifndef STRATA_GPU_JUDGE_VARIANTS_H
#define STRATA_GPU_JUDGE_VARIANTS_H

#include "base/diag.h"
#include "base/text/pattern.h"
#include "capture/trace_file.h"
#include "gpu/collect/run.h"

/* A launch seen by activity tracing, or the first one of a timed run. */
struct gpu_launch {
    const uint64_t *launch;   /* enum trace_kernel_field */
    struct str name, mangled; /* plain function name, and the whole */
    struct str range;         /* of a timed run */
    int64_t start, duration_ns;
    uint64_t number; /* of a timed run in its process */
};

/* A measured launch; or, where launches of a kernel take turns with the metrics, those with the
 * same work together. */
struct gpu_counted {
    struct gpu_kernel kernel; /* its name is the plain one */
    struct str mangled;
    uint32_t passes;
    size_t values, metrics; /* how many it has a value for, and how many its run asked for */
};

/* The counters of some launches, in which launches of a kernel may take turns with the metrics. */
struct gpu_turns {
    const char *const *metrics;
    size_t n_metrics;
    struct trace_counter *counters;
    size_t n;
};

/* Launches with the same work: their instructions differ by less than this share, and their times
 * (of the first, with cold caches, too) by less than this factor. */
#define GPU_SAME_INST    0.01
#define GPU_SAME_PATCHED 0.5 /* where CUPTI counted by instructions of its own */
#define GPU_SAME_TIME    2.0

/* Joins the launches of each kernel that did the same work; several records of one kernel and shape
 * are left where they did not. */
void gpu_turns_join(struct gpu_turns *turns);
struct gpu_counted gpu_counted_of(const struct gpu_turns *turns, size_t at, uint64_t id);

/* The resources of a launch, as the rules want them; a metric that the record does not tell stays
 * as it is. */
void gpu_launch_resources(struct gpu_kernel *k, const uint64_t *launch);

struct gpu_variant {
    struct str name, mangled;
    const uint64_t *launch;
    VEC_OF(double) durations;          /* ns, without instruments */
    double total_ns, median_ns;        /* NAN when never timed */
    const struct gpu_counted *counted; /* NULL: not measured */
    size_t problems; /* sorts of launches that were measured; above 1: it is mixed */
    VEC_OF(const struct gpu_counted *) sorts;
    unsigned sort; /* of a variant that was split: from 1 on, longest first */
    int stage;     /* -1: none */
};

struct gpu_variants {
    VEC_OF(struct gpu_variant) at;
    size_t last; /* where the last launch was found */
};

/* One stage as a user selects it: one of the two is not NULL. */
struct gpu_selection {
    const char *regex; /* searched in the plain and in the mangled name */
    const char *range; /* NVTX */
};

/* Adds launches with their durations; `stage` is theirs, or -1 when selections decide. */
void gpu_variants_time(struct gpu_variants *v, const struct gpu_launch *launches, size_t n,
                       int stage);

/* Attaches counters. */
void gpu_variants_count(struct gpu_variants *v, const struct gpu_counted *counted, size_t n,
                        int stage, struct arena *arena);

/* Splits mixed variants into one for each sort of launches: those with counters whose times differ
 * by GPU_SORTS_APART or more. Each launch goes to the sort with the nearest time. After
 * gpu_variants_sort(). */
#define GPU_SORTS_APART 1.5
void gpu_variants_split(struct gpu_variants *v);

/* The record that tells most about a variant: its own, or that of another stage's variant with the
 * same function, grid and block when only that one tells the registers. */
const uint64_t *gpu_variants_launch(const struct gpu_variants *v, const struct gpu_variant *one);

/* Medians; and for variants without a stage the first selection whose regex finds them. ST_FORMAT
 * for a regex that is none. */
enum status gpu_variants_sort(struct gpu_variants *v, const struct gpu_selection *selections,
                              size_t n, struct diag *d);

/* Stages where the user named none: one for each plain name with at least 1 % of the kernel time
 * (instances of a template are one), in the order of first launch; the rest keeps -1. Gives the
 * regexes, which live in `arena`. */
size_t gpu_variants_make_stages(struct gpu_variants *v, struct arena *arena, struct str **names);

/* What stands for a stage: its variant with the largest total; NULL when it has none. */
const struct gpu_variant *gpu_variants_main(const struct gpu_variants *v, int stage);

void gpu_variants_free(struct gpu_variants *v);

/* Regex that finds what any of the selections does; NULL when none has one. */
const char *gpu_selections_regex(const struct gpu_selection *selections, size_t n,
                                 struct arena *arena);

/* Compiles a user's expression. ST_FORMAT, told, when it is none. */
enum status gpu_regex_compile(const char *regex, struct pattern **out, struct diag *d);

/* Looks at every group of stages of the judged run that were declared concurrent (O13): when their
 * kernels ran, from the run without instruments, and how busy they kept the chip, from the
 * counters. Two stages that each use half of it could take half the time together; two that each
 * fill it gain nothing. What is found goes to the run's `extra` and notes. */
void gpu_overlap_judge(struct gpu_run *run, const struct gpu_launch *launches, size_t n);

/* A regex for exactly this text. */
const char *gpu_regex_of_name(struct str name, struct arena *arena);

#endif
