/*
 * steps - the windows by which a timeline is judged.
 *
 * A step lasts from its mark to the next one; the last ends with the latest kernel that starts in
 * it. Kernel tables mark steps in their Step Id column: the mark of an id is the begin of its
 * first row. Without any mark the whole device span is one step, called "pseudo".
 */
#ifndef STRATA_ANALYSIS_STEPS_H
#define STRATA_ANALYSIS_STEPS_H

#include "base/interval.h"

struct study;

enum step_source { STEPS_FROM_COLUMN, STEPS_PSEUDO };

struct step {
    struct str id; /* "Step#50" or "pseudo" */
    int64_t number;
    struct interval window;
};

struct steps {
    struct step *at; /* by begin */
    size_t n;        /* 0 only when there is no kernel at all */
    enum step_source source;
    size_t kernels_before_first; /* kernels that belong to no step */
};

/* Finds the steps of a study's capture; use study_steps(), which remembers them. */
const struct steps *steps_find(struct study *st);

/* "step_id_column" or "pseudo", as the JSON contract spells it. */
const char *step_source_name(enum step_source source);

#endif
