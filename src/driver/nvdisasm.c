/*
 * nvdisasm: instructions of compiled GPU code, with their source lines.
 */
#include "driver/probe.h"

static const char *const patterns[] = {
    "$CUDA_HOME/bin/nvdisasm",
    "$CUDA_PATH/bin/nvdisasm",
    "/usr/local/cuda*/bin/nvdisasm",
    NULL,
};

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_program program = {"nvdisasm", "STRATA_NVDISASM", patterns, true};

    probe_program(&program, arena, out);
}

const struct driver driver_nvdisasm = {
    .name = "nvdisasm",
    .what = "NVIDIA nvdisasm",
    .job = "instructions of compiled kernels",
    .instead = "resources and PTX of the module, without instructions",

    .probe = probe,
};
