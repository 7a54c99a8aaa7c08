/*
 * pto_buffers - data of kernel arguments: from files, by rule, to files, against expected values.
 */
#ifndef STRATA_KERNELS_PTO_PTO_BUFFERS_H
#define STRATA_KERNELS_PTO_PTO_BUFFERS_H

#include "kernels/pto/pto_kernel.h"

/* `zero`, `one`, `ramp` (also `iota`): 0, 1, 2 ..; `random`: from the seed, floats in [-1, 1),
 * integers 0 .. 15; `const:V`. ST_FORMAT for another rule. `salt` tells arguments apart. */
enum status pto_buffer_fill(unsigned char *data, size_t size, enum pto_dtype dtype, struct str rule,
                            uint64_t seed, uint64_t salt, struct diag *d);

/* Reads a file of raw little-endian elements into a buffer of at least `size` bytes: the rest is
 * zero. */
enum status pto_buffer_read(const char *path, size_t size, struct pto_binding *b, struct diag *d);

enum status pto_buffer_write(const char *path, const struct pto_binding *b, size_t size,
                             struct diag *d);

struct pto_compared {
    uint64_t n, wrong; /* elements */
    uint64_t first;    /* wrong one */
    double expected, got;
    double max_abs, max_rel;
};

/* An element is right when |got - expected| <= atol + rtol * |expected|, or both are NaN or the
 * same infinity. The file may be shorter than the buffer, not longer. */
enum status pto_buffer_compare(const char *path, const struct pto_binding *b, enum pto_dtype dtype,
                               double rtol, double atol, struct pto_compared *out, struct diag *d);

#endif
