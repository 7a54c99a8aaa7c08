/*
 * probe - the two ways to look for a back end: a program to run, a library to open.
 */
#ifndef STRATA_DRIVER_PROBE_H
#define STRATA_DRIVER_PROBE_H

#include "driver/driver.h"

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
