/*
 * device_tasks - what ran on one device, by begin: its class, its stream, what kind of copy it is.
 *
 * The one list of device work: accounting, gaps, what-ifs and the timeline of a GPU read it. A
 * launch of a whole graph that was recorded as one row is a task only where the kernels inside were
 * not recorded too.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_DEVICE_TASKS_H
#define STRATA_ANALYSIS_DIAGNOSE_DEVICE_TASKS_H

#include "capture/capture.h"

/* In the order in which they claim an instant of the device. */
enum task_class { TASK_COMPUTE, TASK_COMM, TASK_COPY, TASK_CLASSES };

enum copy_kind {
    COPY_H2D_PAGEABLE,
    COPY_H2D_PINNED,
    COPY_H2D, /* memory not named */
    COPY_D2H_PAGEABLE,
    COPY_D2H_PINNED,
    COPY_D2H,
    COPY_D2D,
    COPY_P2P,
    COPY_MEMSET,
    COPY_OTHER,
};

enum { COPY_KINDS = COPY_OTHER + 1 };

enum { TASK_NO_CALL = UINT32_MAX, TASK_NO_STEP = UINT32_MAX };

/* Times are kept within 127 years of the clock's zero, so that no difference overflows. */
static inline nanos device_time(nanos t)
{
    const nanos most = INT64_C(4000000000000000000);

    return t > most ? most : t < -most ? -most : t;
}

struct device_task {
    nanos begin, end;
    uint32_t slice;
    uint32_t call;   /* number of the launching call, or TASK_NO_CALL */
    uint32_t step;   /* or TASK_NO_STEP */
    uint16_t stream; /* number of its lane among those with tasks */
    uint8_t class;   /* enum task_class */
    uint8_t copy;    /* enum copy_kind of a copy */
    uint8_t family;  /* enum kernel_family of compute */
    bool is_fp64;    /* its operator takes doubles */
    bool is_simt;    /* a product or convolution without tensor cores */
    bool is_graph;   /* node of a graph */
    bool is_row;     /* a whole graph as one row */
    bool is_aicpu;
};

struct device_tasks {
    struct device_task *at; /* by begin, then by slice */
    size_t n, streams;
    struct device_task *rows; /* of graphs whose kernels are tasks too, by begin */
    size_t n_rows;
    int32_t device; /* -1: unknown */
};

enum copy_kind copy_kind_of(struct str name);

/* Whether a copy of that name moves pages of managed memory, because somebody touched them. */
bool device_task_is_migration(struct str name);

static inline bool copy_is_pageable(enum copy_kind kind)
{
    return kind == COPY_H2D_PAGEABLE || kind == COPY_D2H_PAGEABLE;
}

/* The tasks of one device; those of lanes without a device belong to every one. */
struct device_tasks device_tasks_find(const struct capture *cap, int32_t device,
                                      struct arena *arena);

/* A short copy to the host: a value that is read. */
bool device_task_is_value(const struct device_task *t);

/* What a copy moves; 0: not recorded. */
double device_task_bytes(const struct capture *cap, const struct device_task *t);

/* Every device that has tasks, ascending; at most `room`. Gives how many. */
size_t device_tasks_devices(const struct capture *cap, int32_t *out, size_t room);

#endif
