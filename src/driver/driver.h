/*
 * driver - external tools and libraries strata can use, and whether they are here.
 *
 * Nothing here is ever linked: programs are found and run, libraries are opened at run time, so
 * one binary works on every machine. A missing back end is normal; its entry says what is used
 * instead.
 */
#ifndef STRATA_DRIVER_DRIVER_H
#define STRATA_DRIVER_DRIVER_H

#include <stdbool.h>

#include "base/arena.h"

enum probe_state {
    PROBE_FOUND,
    PROBE_BROKEN, /* there, but it does not work; `reason` says why */
    PROBE_MISSING,
};

/* Texts live in the arena given to the probe, or forever. */
struct probe_result {
    enum probe_state state;
    const char *path;    /* NULL when missing */
    const char *version; /* NULL when it could not be told */
    const char *reason;  /* one sentence a user can act on; NULL when found */
};

/* All lists end with NULL. Patterns are those of glob(7); of several matches the highest version
 * number wins. "$NAME/rest" stands for the value of an environment variable. */
struct probe_program {
    const char *name;            /* looked up along PATH */
    const char *variable;        /* names the program outright: "STRATA_NCU" */
    const char *const *patterns; /* where installers put it when it is not on the PATH */
    bool has_version;            /* `NAME --version` says it */
};

struct probe_library {
    const char *const *names; /* sonames, newest first; the loader's own path is searched first */
    const char *const *folders;
    /* Asks the open library for its version; may report it broken. NULL: not asked. */
    void (*ask)(void *library, struct arena *arena, struct probe_result *out);
};

struct driver {
    const char *name;
    const char *what;             /* the product, as its maker calls it */
    const char *job;              /* what strata uses it for */
    const char *instead;          /* what is used when it is missing */
    const char *remark;           /* a limit of our support; NULL: none */
    struct probe_program program; /* its name NULL: a library */
    struct probe_library library;
};

enum driver_id {
    DRIVER_CUBLASLT,
    DRIVER_CUDA,
    DRIVER_CUOBJDUMP,
    DRIVER_CUPTI,
    DRIVER_MSPROF,
    DRIVER_NCCL,
    DRIVER_NCU,
    DRIVER_NSYS,
    DRIVER_NVDISASM,
    DRIVER_NVML,
    DRIVER_NVRTC,
    DRIVER_OPENMPI,
    DRIVERS
};

extern const struct driver drivers[DRIVERS];

struct probe_result driver_probe(enum driver_id id, struct arena *arena);
const char *probe_state_name(enum probe_state state);

#endif
