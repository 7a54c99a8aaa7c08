/*
 * CUPTI: activity records and hardware counters.
 */
#include "driver/probe.h"

#include <stdint.h>

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};

static void ask(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(uint32_t *);
    uint32_t value = 0;

    /* Up to CUDA 12 a small serial number, then 130000 for 13.0. */
    if (!probe_symbol(library, "cuptiGetVersion", &version) || version(&value) != 0)
        return;
    out->version = value < 10000 ? arena_format(arena, "API %u", value).at
                                 : probe_version_text(arena, value, 10000, 100);
}

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_library library = {names, probe_cuda_folders, ask};

    probe_library(&library, arena, out);
}

const struct driver driver_cupti = {
    .name = "CUPTI",
    .what = "NVIDIA CUPTI",
    .job = "collects activity and counters inside a profiled program",
    .instead = "ncu and nsys where found, else imported files",
    .probe = probe,
};
