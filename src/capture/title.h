/*
 * title - what people call a lane and the process around it: "Stream 2" of "Ascend Hardware".
 *
 * Sources name lanes in their own way ("2", "N/A", nothing at all); viewers and messages need a
 * word for each. The spelling follows the profile's own viewer, so that a trace written from it is
 * read back with the same lanes.
 */
#ifndef STRATA_CAPTURE_TITLE_H
#define STRATA_CAPTURE_TITLE_H

#include "capture/capture.h"

enum { TITLE_TEXT = 96 };

/* The title, which lives in the capture or in `buf` (TITLE_TEXT bytes); followed by a NUL. */
struct str title_lane(const struct capture *cap, lane_id lane, char *buf);
struct str title_process(const struct capture *cap, lane_id lane, char *buf);

#endif
