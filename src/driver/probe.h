/*
 * probe - the two ways to look for a back end: a program to run, a library to open.
 */
#ifndef STRATA_DRIVER_PROBE_H
#define STRATA_DRIVER_PROBE_H

#include "driver/driver.h"

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

#endif
