/*
 * health - six readings of a kernel against fixed limits, each with a hint.
 */
#ifndef STRATA_GPU_HEALTH_H
#define STRATA_GPU_HEALTH_H

#include "gpu/classify.h"

enum gpu_health { GPU_HEALTH_OK, GPU_HEALTH_WARN, GPU_HEALTH_BAD, GPU_HEALTH_NONE };

enum { GPU_HEALTH_ROWS = 6 };

struct gpu_health_row {
    const char *metric, *healthy, *if_not, *hint;
    double value;
    const char *unit; /* "%", "bytes" or "" */
    enum gpu_health state;
    const char *note; /* why it does not apply: "streaming", "not collected", …; else "" */
};

/* "ok", "warn", "bad", "n/a". */
const char *gpu_health_name(enum gpu_health state);

/* `is_tensor_type`: the declared type is one tensor cores work on. */
void gpu_health_check(const struct gpu_kernel *k, const struct gpu_occupancy *o,
                      const struct gpu_roofline *r, bool is_tensor_type,
                      struct gpu_health_row out[GPU_HEALTH_ROWS]);

#endif
