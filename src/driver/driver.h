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
    PROBE_BROKEN, /* there, but it does not work; see `reason` */
    PROBE_MISSING,
};

/* Texts live in the arena given to the probe, or forever. */
struct probe_result {
    enum probe_state state;
    const char *path;    /* NULL when missing */
    const char *version; /* NULL if unknown */
    const char *reason;  /* one sentence a user can act on; NULL when found */
};

/* All lists end with NULL. Patterns are those of glob(7); of several matches the highest version
 * number wins. "$NAME/rest" stands for the value of an environment variable. */
struct probe_program {
    const char *name;            /* looked up along PATH */
    const char *variable;        /* names the program outright: "STRATA_NCU" */
    const char *const *patterns; /* where installers put it when it is not on the PATH */
    bool has_version;            /* from `NAME --version` */
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
    struct probe_library libraries;
};

enum driver_id {
    DRIVER_CUBLASLT,
    DRIVER_CUDA,
    DRIVER_CUOBJDUMP,
    DRIVER_CUPTI,
    DRIVER_CXX,
    DRIVER_MSPROF,
    DRIVER_NCCL,
    DRIVER_NCU,
    DRIVER_NSYS,
    DRIVER_NVDISASM,
    DRIVER_NVML,
    DRIVER_NVRTC,
    DRIVER_OPENMPI,
    DRIVER_PYTHON,
    DRIVERS
};

extern const struct driver drivers[DRIVERS];

struct probe_result driver_probe(enum driver_id id, struct arena *arena);
const char *probe_state_name(enum probe_state state);

/* ---- looking for a back end (probe.c) ---- */

/* Where CUDA toolkits and the vendor's Python wheels keep their libraries. */
extern const char *const probe_cuda_folders[];

void probe_program(const struct probe_program *p, struct arena *arena, struct probe_result *out);
void probe_library(const struct probe_library *p, struct arena *arena, struct probe_result *out);

/* A function of an open library, for a pointer of any function type; false when it has none. */
bool probe_symbol(void *library, const char *name, void *function_pointer);

/* The first thing in `text` that looks like a version number: after the word "version" if there is
 * one, else the first number with a dot in it. Empty when there is none. */
struct str probe_find_version(struct str text);

/* 130100 is "13.1.0" with a scale of 10000 for the major number and 100 for the minor one. */
const char *probe_version_text(struct arena *arena, unsigned long version, unsigned long major,
                               unsigned long minor);

/* The best match of a pattern with its variables filled in; NULL when nothing matches. */
const char *probe_glob(struct arena *arena, const char *pattern);

/* A library that is part of strata: the file that the environment variable names, else beside the
 * program or where it is installed. Absolute; NULL when it is nowhere. */
const char *probe_own_library(struct arena *arena, const char *name, const char *variable);

#endif
