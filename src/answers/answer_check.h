/*
 * answer_check - captures against limits and, if given, against a baseline: which gates hold.
 *
 * A gate that cannot be decided (no steps, nothing to compare with) fails. With several captures,
 * or with a file of earlier runs as the baseline, the runs are repeats of one program and compared
 * as two sets (analysis/compare/runs.h).
 */
#ifndef STRATA_ANSWERS_ANSWER_CHECK_H
#define STRATA_ANSWERS_ANSWER_CHECK_H

#include "analysis/compare/gate.h"
#include "analysis/compare/runs.h"
#include "answers/answer_diff.h"

struct check_job {
    const char *path, *baseline; /* NULL: no baseline */
    const char *const *repeats;  /* the paths of all runs, the first is `path` */
    size_t n_repeats;
    const char *save;    /* file for the figures of the runs; NULL: none */
    double max_slowdown; /* of repeated runs over the baseline; NAN: by their number */
    void (*was_read)(void *ctx, const struct fleet *fleet); /* of each repeat that is a capture */
    void *ctx;
    struct input_options input;
    double max_idle;          /* of the time of all steps, 0 to 1; NAN: no limit */
    nanos max_step;           /* of the longest; 0: no limit */
    const struct gate *gates; /* on the capture alone; reached: failed */
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
    bool is_faster;   /* than the baseline, not by chance */
    const char *text; /* the measured value and the limit */
};

struct gate_results {
    struct gate_result *at;
    size_t n, failed;
    struct fleet *fleet;              /* what was checked; fleet_free() it */
    const struct run_change *changes; /* of repeated runs: the step, then what grew most */
    size_t n_changes;
};

extern const struct record gate_result_record;
extern const struct schema check_gates_schema; /* of a struct gate_results */

/* Whether the file is one of --save. */
bool check_is_saved(const char *path);

/* The results live in `arena`. */
enum status answer_check(const struct check_job *job, struct arena *arena, struct diag *d,
                         struct gate_results *out);

/* The results as JUnit XML, and as annotations of a GitHub workflow. */
void gate_results_junit(const struct gate_results *results, const char *path, struct text *out);
void gate_results_github(const struct gate_results *results, const char *path, struct text *out);

#endif
