/*
 * NCCL: collectives between GPUs.
 */
#include "driver/probe.h"

static const char *const names[] = {"libnccl.so.2", "libnccl.so", NULL};

static void ask(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(int *);
    int value = 0;

    /* 22703 is 2.27.3; before 2.9 it was 1000 * major + 100 * minor + patch. */
    if (!probe_symbol(library, "ncclGetVersion", &version) || version(&value) != 0 || value <= 0)
        return;
    out->version = value < 10000 ? probe_version_text(arena, (unsigned long)value, 1000, 100)
                                 : probe_version_text(arena, (unsigned long)value, 10000, 100);
}

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_library library = {names, probe_cuda_folders, ask};

    probe_library(&library, arena, out);
}

const struct driver driver_nccl = {
    .name = "NCCL",
    .what = "NVIDIA NCCL",
    .job = "measures collectives between GPUs",
    .instead = "the analytic model of collectives",
    .probe = probe,
};
