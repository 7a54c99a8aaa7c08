/*
 * answer_whatif - predicted step times of changed runs of a capture, and a predicted trace.
 */
#ifndef STRATA_ANSWERS_ANSWER_WHATIF_H
#define STRATA_ANSWERS_ANSWER_WHATIF_H

#include "analysis/diagnose/whatif_answer.h"
#include "analysis/study.h"

struct whatif_job {
    const struct whatif_change *changes; /* none: all */
    size_t n;
    const char *out;   /* file for the predicted trace; NULL: none */
    struct pool *pool; /* NULL: one thread */
};

/* Of a study with device work; the answer lives in the study. */
enum status answer_whatif(struct study *st, const struct whatif_job *job, struct diag *d,
                          const struct whatif_answer **out);

#endif
