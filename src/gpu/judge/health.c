/*
 * Six readings against limits. See rules.h.
 */
#include "gpu/judge/rules.h"

#include <math.h>

enum { ROW_TENSOR, ROW_DRAM, ROW_OCC, ROW_L2, ROW_LOCAL, ROW_WAVES };

static const struct gpu_health_row rows[GPU_HEALTH_ROWS] = {
    [ROW_TENSOR] = {.metric = "TC Util",
                    .healthy = "> 60 %",
                    .if_not = "memory or latency bound",
                    .hint = "look at DRAM %, occupancy",
                    .unit = "%"},
    [ROW_DRAM] = {.metric = "DRAM Throughput",
                  .healthy = "> 70 %",
                  .if_not = "compute or latency bound",
                  .hint = "look at TC %, occupancy",
                  .unit = "%"},
    [ROW_OCC] = {.metric = "Achieved Occupancy",
                 .healthy = "> 25 %",
                 .if_not = "register / shared-memory pressure",
                 .hint = "smaller tiles, occupancy hint",
                 .unit = "%"},
    [ROW_L2] = {.metric = "L2 Hit Rate",
                .healthy = "> 80 %",
                .if_not = "poor reuse",
                .hint = "swizzle, larger tiles, layout",
                .unit = "%"},
    [ROW_LOCAL] = {.metric = "Local Spilling",
                   .healthy = "0 bytes",
                   .if_not = "register overflow",
                   .hint = "smaller tiles, fewer accumulators",
                   .unit = "bytes"},
    [ROW_WAVES] = {.metric = "Waves/SM",
                   .healthy = "> 1.0",
                   .if_not = "GPU under-filled",
                   .hint = "more blocks, fewer resources per block",
                   .unit = ""},
};

static const double limits[GPU_HEALTH_ROWS] = {60, 70, 25, 80, 0, 1};

ENUM_NAMES(gpu_health_name, enum gpu_health, "ok", "warn", "bad", "n/a")

static void set_aside(struct gpu_health_row *row, const char *note)
{
    row->state = GPU_HEALTH_NONE;
    row->note = note;
}

void gpu_health_check(const struct gpu_kernel *k, const struct gpu_occupancy *o,
                      const struct gpu_roofline *r, bool is_tensor_type,
                      struct gpu_health_row out[GPU_HEALTH_ROWS])
{
    const double values[GPU_HEALTH_ROWS] = {
        [ROW_TENSOR] = k->m[GPU_M_TC_PCT],
        [ROW_DRAM] = k->m[GPU_M_DRAM_PCT],
        [ROW_OCC] = k->m[GPU_M_OCC],
        [ROW_L2] = k->m[GPU_M_L2_HIT],
        [ROW_LOCAL] = 32 * gpu_local_sectors(k),
        [ROW_WAVES] = gpu_waves(k, o),
    };

    for (size_t i = 0; i < GPU_HEALTH_ROWS; i++) {
        out[i] = rows[i];
        out[i].note = "";
        out[i].value = values[i];
        out[i].state = values[i] > limits[i] ? GPU_HEALTH_OK : GPU_HEALTH_BAD;
        if (fabs(values[i] - limits[i]) <= 0.1 * limits[i]) /* on either side */
            out[i].state = GPU_HEALTH_WARN;
        if (isnan(values[i]))
            set_aside(&out[i], "not collected");
    }
    if (!isnan(out[ROW_LOCAL].value))
        out[ROW_LOCAL].state = out[ROW_LOCAL].value > 0 ? GPU_HEALTH_BAD : GPU_HEALTH_OK;
    if (out[ROW_LOCAL].state == GPU_HEALTH_BAD && k->m[GPU_M_SPILL_REQ] == 0) {
        out[ROW_LOCAL].if_not = "a local array (no register was spilled)";
        out[ROW_LOCAL].hint = "index it with constants, or keep it in shared memory";
    }
    if (!gpu_uses_tensor(k) && !is_tensor_type)
        set_aside(&out[ROW_TENSOR], "no tensor instructions");
    if (r->traffic <= 1.10)
        set_aside(&out[ROW_L2], "streaming");
    if (r->is_cached)
        set_aside(&out[ROW_DRAM], "cache-resident");
}
