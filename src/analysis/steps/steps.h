/*
 * steps - the windows by which a timeline is judged.
 *
 * A step lasts from its mark to the next one; the last ends with the latest kernel that starts in
 * it. Marks come from the first of these that has any: the profiler's own steps, iterations of a
 * framework, ranges the user chose, the Step Id column of a kernel table (a step begins with its
 * first row), iterations of graph modes, iterations of a serving engine. Without any mark the whole
 * device span is one step, called "pseudo", or where that is wanted what repeats (step_units.h) or
 * each pass of the model is one.
 */
#ifndef STRATA_ANALYSIS_STEPS_STEPS_H
#define STRATA_ANALYSIS_STEPS_STEPS_H

#include "base/tables/interval.h"

struct study;

enum step_source {
    STEPS_PROFILER,
    STEPS_ITERATION,
    STEPS_MARKER,
    STEPS_FROM_COLUMN,
    STEPS_TRACE,
    STEPS_PASS,
    STEPS_PSEUDO,
};

/* How steps were found where none are marked. */
enum step_found {
    FOUND_NOT, /* they are marked, or none were found */
    FOUND_LOADER,
    FOUND_OPTIMIZER,
    FOUND_RANGES,
    FOUND_GRAPHS,
    FOUND_LOOP,   /* kernels repeat */
    FOUND_PASSES, /* layers of a model */
};

struct step {
    struct str id; /* "ProfilerStep#50", "Step#50" for the column, or "pseudo" */
    int64_t number;
    struct interval window;
    nanos mark; /* where the host began it; else as the window */
};

struct steps {
    struct step *at; /* by begin */
    size_t n;        /* 0 only when there is no kernel at all */
    enum step_source source;
    enum step_found found;
    size_t kernels_before_first; /* kernels that belong to no step */
};

/* Finds the steps of a study's capture; use study_steps(), which remembers them. */
const struct steps *steps_find(struct study *st);

/* "profiler_step", "step_id_column", ... as the JSON contract spells it. */
const char *step_source_name(enum step_source source);

#endif
