/*
 * The CUDA driver: every run on a GPU goes through it.
 */
#include "driver/probe.h"

static const char *const names[] = {"libcuda.so.1", NULL};

static const char *const folders[] = {"/usr/lib/wsl/lib", NULL};

static void ask(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(int *), (*init)(unsigned), (*count)(int *);
    int value = 0, devices = 0;

    /* 13010 is 13.1 */
    if (probe_symbol(library, "cuDriverGetVersion", &version) && version(&value) == 0 && value > 0)
        out->version = arena_format(arena, "%d.%d", value / 1000, value % 1000 / 10).at;
    if (!probe_symbol(library, "cuInit", &init) ||
        !probe_symbol(library, "cuDeviceGetCount", &count))
        return;
    int result = init(0);
    if (result == 0)
        result = count(&devices);
    if (result == 0 && devices > 0)
        return;
    out->state = PROBE_BROKEN;
    /* 100 is CUDA_ERROR_NO_DEVICE, which a driver without a GPU gives. */
    out->reason = result == 0 || result == 100
                      ? "no GPU that the driver can use"
                      : arena_format(arena, "does not start: CUDA error %d", result).at;
}

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_library library = {names, folders, ask};

    probe_library(&library, arena, out);
}

const struct driver driver_cuda = {
    .name = "CUDA driver",
    .what = "NVIDIA CUDA driver",
    .job = "runs kernels on a GPU",
    .instead = "no GPU runs; predictions from the device table",
    .probe = probe,
};
