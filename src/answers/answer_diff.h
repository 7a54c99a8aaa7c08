/*
 * answer_diff - two captures in, what changed from the first to the second out, rank by rank.
 */
#ifndef STRATA_ANSWERS_ANSWER_DIFF_H
#define STRATA_ANSWERS_ANSWER_DIFF_H

#include "analysis/compare/compare.h"
#include "base/diag.h"
#include "input/input.h"

struct fleet;
struct report;

/* A metric that may grow by so much and no more. */
struct diff_gate {
    struct str kind; /* of A; empty: any */
    enum unit_metric metric;
    double limit; /* 0.05: 5 % */
};

struct diff_job {
    const char *path[SIDES];
    struct input_options input;
    struct compare_options compare;
    const struct diff_gate *gates;
    size_t n_gates;
};

struct diff_result {
    const char *path[SIDES];
    struct compare_options options;
    struct fleet *fleet[SIDES];
    struct comparison **at; /* one for each rank that both have, in rank order */
    size_t n;
    size_t gates_reached; /* the diag says which and where */
};

extern const struct schema diff_schema;

/* "5%" or "5" to 0.05; false when it is neither. */
bool diff_percent(struct str text, double *out);

/* "service_ms>5%" or "g1.busy_ms>5%"; on false `problem` says what is wrong with it. */
bool diff_gate_parse(struct arena *arena, const char *text, struct diff_gate *out,
                     const char **problem);

/* What became of a gate, in words, and whether it is open. `text` lives in the arena. */
enum gate_verdict diff_gate_decide(struct arena *arena, const struct comparison *c,
                                   const struct diff_gate *gate, struct str *text);

/* `arena` holds the result. Call diff_result_free() in any case. */
enum status answer_diff(const struct diff_job *job, struct arena *arena, struct diag *d,
                        struct diff_result *out);
void diff_result_free(struct diff_result *result);

/* Of a struct diff_result, for struct answer. */
void diff_describe(const void *result, struct report *r);

#endif
