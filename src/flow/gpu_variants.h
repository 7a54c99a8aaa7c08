/*
 * gpu_variants - the different kernels of a run, and which stage each belongs to.
 *
 * A variant is a function with one grid and one block size. Activity tracing gives its durations,
 * the counter run its counters; the last launch with all counters stands for it, because the first
 * ones run with cold caches.
 */
#ifndef STRATA_FLOW_GPU_VARIANTS_H
#define STRATA_FLOW_GPU_VARIANTS_H

#include <regex.h>

#include "flow/gpu_recorded.h"

struct gpu_variant {
    struct str name, mangled;
    const uint64_t *launch;
    VEC_OF(double) durations;          /* ns, without instruments */
    double total_ns, median_ns;        /* NAN when never timed */
    const struct gpu_counted *counted; /* NULL: not measured */
    size_t measured;
    int stage; /* -1: none */
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
enum status gpu_regex_compile(const char *regex, regex_t *out, struct diag *d);

/* A regex for exactly this text. */
const char *gpu_regex_of_name(struct str name, struct arena *arena);

#endif
