/*
 * answer_whatif - a capture in, predicted step times of changed runs out, and a predicted trace.
 */
#ifndef STRATA_ANSWERS_ANSWER_WHATIF_H
#define STRATA_ANSWERS_ANSWER_WHATIF_H

#include "analysis/diagnose/whatif_answer.h"
#include "analysis/study.h"
#include "input/input.h"

struct whatif_job {
    const char *path; /* of the capture */
    struct input_options input;
    const struct whatif_change *changes; /* none: all */
    size_t n;
    const char *chip; /* where the capture does not name it; NULL: as named */
    const char *out;  /* file for the predicted trace; NULL: none */
};

struct whatif_outcome {
    struct capture *cap;
    struct study study;
    const struct whatif_answer *answer; /* lives in the study */
};

/* Call whatif_outcome_free() in any case. */
enum status answer_whatif(const struct whatif_job *job, struct diag *d,
                          struct whatif_outcome *outcome);
void whatif_outcome_free(struct whatif_outcome *outcome);

#endif
