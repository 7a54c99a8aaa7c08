/*
 * gpu_timeline_mode - nsys mode: the recorded timeline, analysed and put into the run.
 */
#ifndef STRATA_FLOW_GPU_TIMELINE_MODE_H
#define STRATA_FLOW_GPU_TIMELINE_MODE_H

#include "flow/gpu_modes.h"

/* Reads the recordings of `folder`, writes the tables beside them, and gives the run its sections
 * and what the timeline says would help (O12, O13). */
enum status gpu_timeline_mode(struct gpu_mode_run *m, const char *folder);

#endif
