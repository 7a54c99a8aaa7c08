/*
 * answer_check - captures against limits and, if given, against a baseline: which gates hold.
 *
 * A gate that cannot be decided (no steps, too few units, other work) fails, unless that is
 * allowed. Several captures are runs of one program; a baseline is captures, or a file of --record.
 */
#ifndef STRATA_ANSWERS_ANSWER_CHECK_H
#define STRATA_ANSWERS_ANSWER_CHECK_H

#include "analysis/compare/gate.h"
#include "answers/answer_diff.h"

struct check_job {
    const char *const *paths; /* of the runs */
    size_t n_paths;
    const char *baseline; /* NULL: none */
    const char *record;   /* file for the runs; NULL: none */
    struct compare_options compare;
    bool allows_unknown; /* a comparison that cannot tell passes */
    bool is_explained;   /* the report shows what changed */
    void (*was_read)(void *ctx, const struct fleet *fleet); /* of each path that is captures */
    void *ctx;
    struct input_options input;
    double max_idle;          /* of the time of all steps, 0 to 1; NAN: no limit */
    nanos max_step;           /* of the longest; 0: no limit */
    const struct gate *gates; /* on the captures alone; reached: failed */
    size_t n_gates;
    const struct diff_gate *changes; /* against the baseline */
    const char *const *change_texts; /* as given */
    size_t n_changes;
};

/* One gate on one capture. */
struct gate_result {
    const char *gate;    /* "--max-idle 10%" */
    const char *capture; /* its name */
    bool is_passed;
    bool is_faster; /* than the baseline, not by chance */
    enum gate_verdict verdict;
    const char *text; /* the measured value and the limit */
};

struct gate_results {
    const char *path; /* the first one that was checked */
    VEC_OF(struct gate_result) all;
    size_t failed;
    bool is_explained;
    VEC_OF(struct comparison *) comparisons; /* with the baseline, by rank */
};

extern const struct record gate_result_record;
extern const struct schema check_gates_schema; /* of a struct gate_results */

/* Whether the file is one of --record. */
bool check_is_saved(const char *path);

/* Texts live in `arena`; gate_results_free() in any case. */
enum status answer_check(const struct check_job *job, struct arena *arena, struct diag *d,
                         struct gate_results *out);
void gate_results_free(struct gate_results *results);

/* The results as a report, as JUnit XML, and as annotations of a GitHub workflow. */
void gate_results_describe(const void *results, struct report *r);
void gate_results_junit(const struct gate_results *results, struct text *out);
void gate_results_github(const struct gate_results *results, struct text *out);

#endif
