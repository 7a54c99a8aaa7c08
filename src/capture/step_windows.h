/*
 * step_windows - when each step of a capture ran.
 *
 * Marks tell, those of the most reliable kind when there are several; without any, the step ids of
 * kernels do: a step begins with the first kernel of its id. A step lasts until the next one
 * begins, the last until its mark and its latest kernel have ended.
 */
#ifndef STRATA_CAPTURE_STEP_WINDOWS_H
#define STRATA_CAPTURE_STEP_WINDOWS_H

#include "base/interval.h"
#include "capture/capture.h"

struct step_window {
    int64_t number;
    struct interval at;
};

struct step_windows {
    struct step_window *at; /* by begin, none overlap */
    size_t n;
};

/* In `arena`. Step ids that are no numbers are left out. */
struct step_windows step_windows_find(const struct capture *cap, struct arena *arena);

/* The step whose window holds `time`, or NULL. */
const struct step_window *step_windows_at(struct step_windows windows, nanos time);

#endif
