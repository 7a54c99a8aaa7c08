/*
 * nvml_api - the functions of NVML that strata calls, through one table.
 *
 * The library is opened at run time; STRATA_NVML_PATH names another file, which is how the tests
 * put a stand-in that records every call in its place. Functions that an older library lacks are
 * NULL in the table; the calls below then give NVML_NO_FUNCTION.
 *
 * Clocks are in MHz. A device is a handle that lives until nvml_close().
 */
#ifndef STRATA_DRIVER_NVML_API_H
#define STRATA_DRIVER_NVML_API_H

#include <stdint.h>

#include "base/diag.h"

enum nvml_result {
    NVML_OK = 0,
    NVML_UNINITIALIZED = 1,
    NVML_BAD_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_TOO_SMALL = 7,
    NVML_NO_DRIVER = 9,
    NVML_NO_LIBRARY = 12,
    NVML_NO_FUNCTION = 13,
    NVML_GPU_LOST = 15,
};

enum nvml_clock { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEMORY };
enum { NVML_CLOCK_DEFAULT = 2 }; /* the application clock a card comes with */

/* Why a clock is where it is: bits of nvml_reasons(). */
enum {
    NVML_REASON_IDLE = 0x1,
    NVML_REASON_LOCKED = 0x2, /* application clocks, or a lock */
};

enum { NVML_UUID = 96, NVML_NAME = 96 };

struct nvml_gpu; /* the library's own */

/* As the library lays it out since its version 2. */
struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};

struct nvml_memory {
    unsigned long long total, free, used;
};

/* Percent of the last moments in which something ran. */
struct nvml_use {
    unsigned gpu, memory;
};

struct nvml {
    void *handle; /* of the library; NULL: not open */
#define NVML_CALL(member, symbol, ...) int (*member)(__VA_ARGS__);
#include "driver/nvml_calls.def"
#undef NVML_CALL
    const char *(*error_text)(int);
};

/* Opens and starts the library. NVML_NO_LIBRARY when there is none; `why`, when not NULL, gets a
 * sentence that lives as long as the arena. After a failure nothing needs to be closed. */
int nvml_open(struct nvml *nvml, struct arena *arena, const char **why);
void nvml_close(struct nvml *nvml);

/* What a result means, in the library's words or ours. */
const char *nvml_error(const struct nvml *nvml, int result);

/* The names of the bits of `reasons`, with commas; "none" for 0. `buf` has NVML_REASONS bytes. */
enum { NVML_REASONS = 192 };
const char *nvml_reason_names(uint64_t reasons, char *buf);

/* A call through the table, NVML_NO_FUNCTION when the library lacks it. */
#define NVML_DO(nvml, member, ...)                                                                 \
    ((nvml)->member != NULL ? (nvml)->member(__VA_ARGS__) : NVML_NO_FUNCTION)

#endif
