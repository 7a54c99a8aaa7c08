/*
 * gpu_device - the GPU of a run, and its properties.
 *
 * The CUDA driver is asked (STRATA_CUDA_PATH names another file than libcuda.so.1), without making
 * a context; NVML adds what CUDA does not report. Zero, empty or -1 mean "not known".
 */
#ifndef STRATA_DRIVER_GPU_DEVICE_H
#define STRATA_DRIVER_GPU_DEVICE_H

#include "driver/nvml_api.h"

struct gpu_card {
    int ordinal; /* CUDA's number */
    char name[NVML_NAME];
    char uuid[NVML_UUID]; /* "GPU-…" */
    int cc_major, cc_minor;
    uint32_t sm_count, bus_bits;
    uint64_t l2_bytes, mem_bytes;
    uint32_t mem_clock_khz, sm_clock_khz; /* highest ones */
    char driver[NVML_NAME];
    int cuda;                /* of the driver: 13000 */
    int ecc, mig;            /* 1 on, 0 off, -1 not known */
    struct nvml_gpu *handle; /* NULL without NVML */
};

/* `which` is a number, a UUID (or its beginning), or NULL for the first GPU. ST_TOOL without driver
 * or GPU; ST_NOT_FOUND when none is called that. `nvml` may be closed. */
enum status gpu_device_find(const char *which, const struct nvml *nvml, struct gpu_card *out,
                            struct diag *d);

/* How many GPUs the CUDA driver has; -1 and a sentence in `why` when there is no driver. */
int gpu_device_count(struct arena *arena, const char **why);

#endif
