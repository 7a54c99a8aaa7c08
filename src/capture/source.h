/*
 * source - one file that was read into a capture.
 */
#ifndef STRATA_CAPTURE_SOURCE_H
#define STRATA_CAPTURE_SOURCE_H

#include <stdint.h>

/* What a file is, where that matters after it was read. The first ones may bring the kernels, the
 * best first. */
enum source_kind {
    SOURCE_OTHER,
    SOURCE_KERNEL_TABLE,
    SOURCE_TRACE_VIEW, /* an Ascend timeline */
    SOURCE_DATABASE,   /* of an Ascend profiler */
    SOURCE_KINETO,
    SOURCE_NSYS,
    SOURCE_CHROME,
    SOURCE_COMM_MATRIX,
    SOURCE_STEP_TRACE_TIME,
    SOURCE_OP_STATISTIC,
    SOURCE_PROFILER_INFO,
};

struct source {
    const char *path;   /* as the user would type it; owned by the capture */
    const char *format; /* name of the importer: a literal */
    uint64_t bytes;
    uint64_t rows;    /* rows or events that were understood */
    uint64_t lost;    /* rows or events that had to be dropped; the diag says why */
    uint64_t misfits; /* of them, rows of a table with more or fewer fields than its header */
    enum source_kind kind;
};

/* How many kernels a file tells of that another file has brought. */
struct told_kernels {
    const char *path; /* owned by the capture */
    uint64_t count;
};

#endif
