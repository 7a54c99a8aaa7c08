/*
 * clip_times - the range of times in a capture (base/text/num.h), for capture_seal().
 */
#ifndef STRATA_CAPTURE_CLIP_TIMES_H
#define STRATA_CAPTURE_CLIP_TIMES_H

#include "capture/capture.h"

/* How many times were outside. */
uint64_t capture_clip_times(struct capture *cap);

#endif
