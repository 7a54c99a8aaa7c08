/*
 * Nsight Compute: deep metrics of single kernels.
 */
#include "driver/probe.h"

static const char *const patterns[] = {
    "$CUDA_HOME/bin/ncu",
    "$CUDA_PATH/bin/ncu",
    "/usr/local/cuda*/bin/ncu",
    "/opt/nvidia/nsight-compute/*/ncu",
    NULL,
};

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_program program = {"ncu", "STRATA_NCU", patterns, true};

    probe_program(&program, arena, out);
}

const struct driver driver_ncu = {
    .name = "ncu",
    .what = "NVIDIA Nsight Compute",
    .job = "deep metrics of single kernels",
    .instead = "CUPTI counters where found, else imported reports",

    .probe = probe,
};
