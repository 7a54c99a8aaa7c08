/*
 * serving - prefill and decode iterations of a serving engine: time, requests, tokens.
 *
 * Iterations are the ranges that the engine marks (serving_name.h), else the steps of the capture,
 * whose kind attention kernels tell and whose tokens the matrix products. Rules:
 * docs/analyses/serving.md.
 */
#ifndef STRATA_ANALYSIS_TABLES_SERVING_H
#define STRATA_ANALYSIS_TABLES_SERVING_H

#include "analysis/study.h"
#include "analysis/tables/serving_name.h"

struct serving_iteration {
    struct str name;
    enum serving_kind kind;
    bool is_inferred; /* by kernels and shapes, not by the engine's own range */
    int64_t context_requests, context_tokens, generation_requests, generation_tokens; /* UNKNOWN */
    int64_t tokens; /* computed, of either kind; UNKNOWN */
    nanos begin;    /* on the host */
    nanos time;     /* to the end of its last kernel or of its range */
    nanos period;   /* to the begin of the next one; UNKNOWN for the last */
    nanos device;   /* from its first kernel to the end of its last */
    nanos busy;     /* of that: a kernel runs */
    size_t kernels;
};

/* Iterations of one kind. */
struct serving_sum {
    enum serving_kind kind;
    size_t n;
    nanos median, shortest, longest; /* of `time` */
    nanos period;                    /* median between two that follow each other; UNKNOWN */
    double requests, tokens;         /* mean of those that tell; NAN */
    double rate;                     /* tokens a second of `time`; NAN */
};

struct serving {
    struct serving_iteration *at; /* by begin */
    size_t n;
    struct serving_sum sums[SERVING_KINDS];
    size_t n_sums;
    nanos first_token; /* median time of an iteration that prefills; UNKNOWN */
    nanos per_token;   /* median period of decode iterations, else their time; UNKNOWN */
    bool is_on_device; /* iterations are passes of kernels: nothing on the host marks them */
    bool has_period;   /* decode iterations follow each other */
};

const struct serving *serving_find(struct study *st);

/* Ranges of iterations that an engine marks, by begin, the outer of nested ones. */
struct serving_range {
    struct interval at;
    strid name;
    struct serving_name what;
};

struct serving_ranges {
    struct serving_range *at;
    size_t n;
};

struct serving_ranges serving_ranges_find(struct study *st);

#endif
