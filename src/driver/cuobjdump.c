/*
 * cuobjdump: PTX inside a program.
 */
#include "driver/probe.h"

static const char *const patterns[] = {
    "$CUDA_HOME/bin/cuobjdump",
    "$CUDA_PATH/bin/cuobjdump",
    "/usr/local/cuda*/bin/cuobjdump",
    NULL,
};

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_program program = {"cuobjdump", "STRATA_CUOBJDUMP", patterns, true};

    probe_program(&program, arena, out);
}

const struct driver driver_cuobjdump = {
    .name = "cuobjdump",
    .what = "NVIDIA cuobjdump",
    .job = "PTX of a program's kernels",
    .instead = "PTX of modules compiled with -lineinfo",

    .probe = probe,
};
