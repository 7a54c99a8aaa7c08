/*
 * NVRTC: kernels compiled at run time.
 */
#include "driver/probe.h"

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};

static void ask(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(int *, int *);
    int major = 0, minor = 0;

    if (probe_symbol(library, "nvrtcVersion", &version) && version(&major, &minor) == 0)
        out->version = arena_format(arena, "%d.%d", major, minor).at;
}

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_library library = {names, probe_cuda_folders, ask};

    probe_library(&library, arena, out);
}

const struct driver driver_nvrtc = {
    .name = "NVRTC",
    .what = "NVIDIA NVRTC",
    .job = "compiles generated kernels at run time",
    .instead = "ready-made sources, compiled where a compiler is",
    .probe = probe,
};
