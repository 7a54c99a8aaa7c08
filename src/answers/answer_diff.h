/*
 * answer_diff - two captures in, what changed from the first to the second out, rank by rank.
 */
#ifndef STRATA_ANSWERS_ANSWER_DIFF_H
#define STRATA_ANSWERS_ANSWER_DIFF_H

#include "analysis/compare/compare.h"
#include "base/diag.h"
#include "input/input.h"
#include "report/message.h"

struct fleet;
struct report;

/* A metric that may grow by so much and no more. */
struct diff_gate {
    size_t group; /* of A; SIZE_MAX: any */
    enum compare_metric metric;
    double limit; /* 0.05: 5 % */
};

struct diff_job {
    const char *path[SIDES];
    struct input_options input;
    struct compare_options compare;
    const struct diff_gate *gates;
    size_t n_gates;
    enum lang lang;       /* of the reports */
    const char *markdown; /* file for the reports as Markdown; NULL: none */
};

/* One rank of A and its partner in B. */
struct diff_pair {
    const struct comparison *comparison;
    struct report *report;
};

struct diff_result {
    const char *path[SIDES];
    struct compare_options options;
    struct fleet *fleet[SIDES];
    struct diff_pair *at; /* in rank order */
    size_t n;
    size_t gates_reached; /* the diag says which and where */
};

extern const struct schema diff_schema;

/* "5%" or "5" to 0.05; false when it is neither. */
bool diff_percent(struct str text, double *out);

/* "service_ms>5%" or "g1.busy_ms>5%"; on false `problem` says what is wrong with it. */
bool diff_gate_parse(struct arena *arena, const char *text, struct diff_gate *out,
                     const char **problem);

/* `arena` holds the result. Call diff_result_free() in any case. */
enum status answer_diff(const struct diff_job *job, struct arena *arena, struct diag *d,
                        struct diff_result *out);
void diff_result_free(struct diff_result *result);

#endif
