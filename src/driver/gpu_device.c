/*
 * GPUs as reported by the CUDA driver and NVML. See gpu_device.h.
 */
#include "driver/gpu_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "driver/driver.h"

/* Numbers of cuDeviceGetAttribute(). */
enum {
    ATTRIBUTE_CLOCK = 13,
    ATTRIBUTE_SMS = 16,
    ATTRIBUTE_ECC = 32,
    ATTRIBUTE_MEMORY_CLOCK = 36,
    ATTRIBUTE_BUS = 37,
    ATTRIBUTE_L2 = 38,
    ATTRIBUTE_MAJOR = 75,
    ATTRIBUTE_MINOR = 76,
};

struct cuda_api {
    void *library;
    int (*init)(unsigned), (*version)(int *), (*count)(int *), (*get)(int *, int);
    int (*name)(char *, int, int), (*uuid)(unsigned char *, int), (*memory)(size_t *, int);
    int (*attribute)(int *, int, int);
};

static const char *open_cuda(struct cuda_api *cuda, struct arena *arena)
{
    const char *path = getenv("STRATA_CUDA_PATH");

    *cuda = (struct cuda_api){0};
    cuda->library = dlopen(path != NULL && path[0] != 0 ? path : "libcuda.so.1", RTLD_NOW);
    if (cuda->library == NULL)
        cuda->library = dlopen("/usr/lib/wsl/lib/libcuda.so.1", RTLD_NOW);
    if (cuda->library == NULL)
        return "no CUDA driver: libcuda.so.1 not found";
    if (!probe_symbol(cuda->library, "cuInit", &cuda->init) ||
        !probe_symbol(cuda->library, "cuDriverGetVersion", &cuda->version) ||
        !probe_symbol(cuda->library, "cuDeviceGetCount", &cuda->count) ||
        !probe_symbol(cuda->library, "cuDeviceGet", &cuda->get) ||
        !probe_symbol(cuda->library, "cuDeviceGetName", &cuda->name) ||
        (!probe_symbol(cuda->library, "cuDeviceGetUuid_v2", &cuda->uuid) &&
         !probe_symbol(cuda->library, "cuDeviceGetUuid", &cuda->uuid)) ||
        !probe_symbol(cuda->library, "cuDeviceTotalMem_v2", &cuda->memory) ||
        !probe_symbol(cuda->library, "cuDeviceGetAttribute", &cuda->attribute))
        return "the CUDA driver is too old: functions are missing";
    int result = cuda->init(0);
    if (result != 0)
        return arena_printf(arena, "the CUDA driver failed to start: cuInit returned %d%s", result,
                            result == 100 ? " (no GPU)" : "");
    return NULL;
}

/* libcuda stays loaded: it has threads and exit handlers of its own. */
int gpu_device_count(struct arena *arena, const char **why)
{
    struct cuda_api cuda;
    int n = 0;

    *why = open_cuda(&cuda, arena);
    if (*why != NULL)
        return -1;
    return cuda.count(&n) == 0 ? n : 0;
}

static uint32_t attribute(const struct cuda_api *cuda, int device, int number)
{
    int value = 0;

    return cuda->attribute(&value, number, device) == 0 && value > 0 ? (uint32_t)value : 0;
}

static void device_describe(const struct cuda_api *cuda, int ordinal, int device,
                            struct gpu_card *out)
{
    unsigned char b[16] = {0};
    size_t memory = 0;

    *out = (struct gpu_card){.ordinal = ordinal, .ecc = -1, .mig = -1};
    cuda->name(out->name, sizeof(out->name), device);
    out->name[sizeof(out->name) - 1] = 0;
    if (cuda->uuid(b, device) == 0)
        snprintf(out->uuid, NVML_UUID,
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                 b[14], b[15]);
    out->cc_major = (int)attribute(cuda, device, ATTRIBUTE_MAJOR);
    out->cc_minor = (int)attribute(cuda, device, ATTRIBUTE_MINOR);
    out->sm_count = attribute(cuda, device, ATTRIBUTE_SMS);
    out->bus_bits = attribute(cuda, device, ATTRIBUTE_BUS);
    out->l2_bytes = attribute(cuda, device, ATTRIBUTE_L2);
    out->sm_clock_khz = attribute(cuda, device, ATTRIBUTE_CLOCK);
    out->mem_clock_khz = attribute(cuda, device, ATTRIBUTE_MEMORY_CLOCK);
    out->ecc = (int)attribute(cuda, device, ATTRIBUTE_ECC);
    if (cuda->memory(&memory, device) == 0)
        out->mem_bytes = memory;
    cuda->version(&out->cuda);
}

static void ask_nvml(const struct nvml *nvml, struct gpu_card *out)
{
    unsigned now = 0, pending = 0, mhz = 0;

    if (nvml == NULL || nvml->handle == NULL)
        return;
    NVML_DO(nvml, driver_version, out->driver, sizeof(out->driver));
    if (NVML_DO(nvml, by_uuid, out->uuid, &out->handle) != NVML_OK &&
        NVML_DO(nvml, by_index, (unsigned)out->ordinal, &out->handle) != NVML_OK) {
        out->handle = NULL;
        return;
    }
    if (NVML_DO(nvml, mig, out->handle, &now, &pending) == NVML_OK)
        out->mig = now != 0;
    if (out->sm_clock_khz == 0 &&
        NVML_DO(nvml, max_clock, out->handle, NVML_CLOCK_SM, &mhz) == NVML_OK)
        out->sm_clock_khz = mhz * 1000;
    if (out->mem_clock_khz == 0 &&
        NVML_DO(nvml, max_clock, out->handle, NVML_CLOCK_MEMORY, &mhz) == NVML_OK)
        out->mem_clock_khz = mhz * 1000;
}

static bool is_meant(const char *which, const struct gpu_card *info)
{
    uint64_t number;

    if (which == NULL)
        return true;
    if (num_u64(str_of(which), &number))
        return number == (uint64_t)info->ordinal;
    return which[0] != 0 && str_starts_nocase(str_of(info->uuid), str_of(which));
}

enum status gpu_device_find(const char *which, const struct nvml *nvml, struct gpu_card *out,
                            struct diag *d)
{
    struct arena arena;
    struct cuda_api cuda;
    int n = 0, device = 0;
    enum status st = ST_NOT_FOUND;

    arena_init(&arena);
    const char *why = open_cuda(&cuda, &arena);
    if (why == NULL && (cuda.count(&n) != 0 || n == 0))
        why = "no GPU found (is CUDA_VISIBLE_DEVICES empty?)";
    if (why != NULL) {
        st = diag_fail(d, ST_TOOL, "gpu.no-gpu", (struct where){0}, "%s", why);
        diag_hint(d, "try", "strata gpu roofline, import, report and compare, which need no GPU");
    }
    for (int i = 0; i < n && st == ST_NOT_FOUND; i++) {
        if (cuda.get(&device, i) != 0)
            continue;
        device_describe(&cuda, i, device, out);
        if (is_meant(which, out))
            st = ST_OK;
    }
    if (st == ST_NOT_FOUND) {
        diag_fail(d, st, "gpu.no-device", (struct where){0}, "no GPU %s; there are %d",
                  which != NULL ? which : "so", n);
        diag_hint(d, "try", "strata gpu doctor");
    }
    if (st == ST_OK)
        ask_nvml(nvml, out);
    arena_free(&arena);
    return st;
}
