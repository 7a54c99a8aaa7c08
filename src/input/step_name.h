/*
 * step_name - names of host ranges that mark the steps of a run.
 */
#ifndef STRATA_INPUT_STEP_NAME_H
#define STRATA_INPUT_STEP_NAME_H

#include "base/str.h"
#include "capture/facts.h"

/* "ProfilerStep#50", "Iteration#3", "Step#3", "step 3", "step3": the number and what kind of mark
 * it is. */
bool step_name_parse(struct str name, enum mark_source *source, int64_t *number);

#endif
