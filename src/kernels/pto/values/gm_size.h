/*
 * gm_size - how large the buffer behind each pointer argument of a kernel is.
 *
 * A pointer is as large as the largest view of it: 1 + sum of (dimension - 1) * stride elements. A
 * view of addptr counts for the pointer, the offset added; scalar loads and stores count with
 * their offsets; views in functions that are called count for the pointer they were handed. A
 * number that is known only at run time counts as 256; a pointer without any view has 1 048 576
 * elements. Problems of the text do not matter: what could be read of it counts.
 */
#ifndef STRATA_KERNELS_PTO_VALUES_GM_SIZE_H
#define STRATA_KERNELS_PTO_VALUES_GM_SIZE_H

#include "kernels/pto/text/ir.h"

enum { PTO_GM_UNKNOWN = 256, PTO_GM_NO_VIEW = 1 << 20 };

struct pto_gm_size {
    bool is_pointer;
    bool is_dynamic; /* a number of it is known only at run time */
    bool has_view;
    enum pto_dtype dtype;
    int64_t elements; /* that views and scalars reach; INT64_MAX when it does not fit */
};

/* What is known of a scalar argument. */
struct pto_gm_scalar {
    bool is_known;
    int64_t value;
};

/* Fills `out`, one entry for each of the function's arguments. `scalars` has as many, or is NULL:
 * nothing is known. The entries of `out` are joined with what is there when `join` is set: for the
 * second function of a mixed kernel. */
void pto_gm_sizes(const struct pto_module *m, const struct pto_function *f,
                  const struct pto_gm_scalar *scalars, bool join, struct pto_gm_size *out);

/* Elements of the buffer of a pointer, and its bytes; SIZE_MAX when they do not fit. */
int64_t pto_gm_elements(const struct pto_gm_size *size);
size_t pto_gm_bytes(const struct pto_gm_size *size);

#endif
