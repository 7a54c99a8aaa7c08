/*
 * step_name - names of host ranges that mark the steps of a run.
 */
#ifndef STRATA_INPUT_TRACE_STEP_NAME_H
#define STRATA_INPUT_TRACE_STEP_NAME_H

#include "capture/capture.h"

/* "ProfilerStep#50", "Iteration#3", "Step#3", "step 3", "step3": the number and what kind of mark
 * it is. */
bool step_name_parse(struct str name, enum mark_source *source, int64_t *number);

/* A range whose name is that of a step becomes one, and a mark too if it adds one. */
void step_name_mark(struct capture *cap, struct slice *slice, bool adds_mark);

#endif
