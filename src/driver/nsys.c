/*
 * Nsight Systems: timelines of whole programs.
 */
#include "driver/probe.h"

static const char *const patterns[] = {
    "$CUDA_HOME/bin/nsys",
    "$CUDA_PATH/bin/nsys",
    "/usr/local/cuda*/bin/nsys",
    "/opt/nvidia/nsight-systems/*/bin/nsys",
    "/opt/nvidia/nsight-systems-cli/*/bin/nsys",
    NULL,
};

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_program program = {"nsys", "STRATA_NSYS", patterns, true};

    probe_program(&program, arena, out);
}

const struct driver driver_nsys = {
    .name = "nsys",
    .what = "NVIDIA Nsight Systems",
    .job = "timelines of whole programs",
    .instead = "CUPTI activity where found, else imported reports",

    .probe = probe,
};
