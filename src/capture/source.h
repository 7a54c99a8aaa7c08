/*
 * source - one file that was read into a capture.
 */
#ifndef STRATA_CAPTURE_SOURCE_H
#define STRATA_CAPTURE_SOURCE_H

#include <stdint.h>

struct source {
    const char *path;   /* as the user would type it; owned by the capture */
    const char *format; /* name of the importer: a literal */
    uint64_t bytes;
    uint64_t rows; /* rows or events that were understood */
    uint64_t lost; /* rows or events that had to be dropped; the diag says why */
};

/* How many kernels a file tells of that another file has brought. */
struct told_kernels {
    const char *path; /* owned by the capture */
    uint64_t count;
};

#endif
