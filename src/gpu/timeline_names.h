/*
 * timeline_names - what the name of a kernel, a copy or a call says about it.
 */
#ifndef STRATA_GPU_TIMELINE_NAMES_H
#define STRATA_GPU_TIMELINE_NAMES_H

#include <stdint.h>

#include "base/str.h"

enum {
    NAME_COMM = 1,     /* a kernel that communicates */
    NAME_MEMSET = 2,   /* a fill */
    NAME_GRAPH = 4,    /* a call that launches a graph */
    NAME_BLOCKING = 8, /* a call that waits for a stream, the device or a copy */
    NAME_LOADING = 16, /* a call that loads or compiles device code */
    NAME_WAIT = 32,    /* a stream that waits for an event */
    NAME_DRIVER = 64,  /* a call of the driver's own interface */
    NAME_KNOWN = 128,  /* for those who remember the answer */
};

uint8_t timeline_name_says(struct str name);

/* "HtoD" of "Memcpy HtoD (Pinned -> Device)", "set" of a fill, "" when it is neither. */
struct str timeline_copy_kind(struct str name);

/* The two kinds of memory in a copy's name; empty where it does not tell. */
struct str timeline_copy_from(struct str name);
struct str timeline_copy_to(struct str name);

#endif
