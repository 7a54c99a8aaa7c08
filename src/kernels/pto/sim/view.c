/*
 * GM views as matrices. Strides are free, so the extent of a view is found dimension by dimension
 * with checked arithmetic; afterwards offsets cannot overflow.
 */
#include "kernels/pto/text/tile.h"

/* Strides may be 0, so the buffer does not bound the count; this does. */
#define MOST_ELEMENTS ((int64_t)1 << 36)

static bool is_boxed(const struct pto_view *v)
{
    return v->layout == PTO_LAYOUT_NZ && v->ndim >= 4;
}

bool pto_view_part(const struct pto_view *v, const int64_t *offsets, const int64_t *sizes,
                   struct pto_view *out)
{
    *out = *v;
    if (v->ndim < 1 || v->ndim > PTO_VIEW_RANK)
        return false;
    for (int32_t i = 0; i < v->ndim; i++) {
        int64_t step;
        if (offsets[i] < 0 || sizes[i] < 0 ||
            __builtin_mul_overflow(offsets[i], v->stride[i], &step) ||
            __builtin_add_overflow(out->offset, step, &out->offset))
            return false;
        out->shape[i] = sizes[i];
    }
    return true;
}

int64_t pto_view_rows(const struct pto_view *v)
{
    int64_t rows = 1;
    for (int32_t i = 0; i < v->ndim - 1; i++)
        if (!is_boxed(v) || i != v->ndim - 4)
            rows *= v->shape[i];
    return rows;
}

int64_t pto_view_cols(const struct pto_view *v)
{
    int64_t last = v->shape[v->ndim - 1];
    return is_boxed(v) ? last * v->shape[v->ndim - 4] : last;
}

int64_t pto_view_offset(const struct pto_view *v, int64_t r, int64_t c)
{
    int32_t last = v->ndim - 1;
    int64_t at = v->offset;
    if (is_boxed(v)) {
        at += c / v->shape[last] * v->stride[last - 3];
        c %= v->shape[last];
    }
    at += c * v->stride[last];
    for (int32_t i = last - 1; i >= 0; i--) {
        if (is_boxed(v) && i == last - 3)
            continue;
        at += r % v->shape[i] * v->stride[i];
        r /= v->shape[i];
    }
    return at * (int64_t)pto_dtype_size(v->dtype);
}

struct pto_run pto_view_run(const struct pto_view *v, int64_t r, int64_t c)
{
    int32_t last = v->ndim - 1;
    int64_t size = pto_dtype_size(v->dtype);
    int64_t n = is_boxed(v) ? v->shape[last] - c % v->shape[last] : v->shape[last] - c;
    return (struct pto_run){.offset = pto_view_offset(v, r, c),
                            .step = v->stride[last] * size,
                            .n = (int32_t)(n < INT32_MAX ? n : INT32_MAX)};
}

/* First to last byte; false when the view is not possible. */
static bool extent_bytes(const struct pto_view *v, struct pto_range *hull, bool *is_empty)
{
    int64_t first = v->offset, last = first, size = pto_dtype_size(v->dtype), count = 1;
    *is_empty = false;
    if (v->ndim < 1 || v->ndim > PTO_VIEW_RANK || size == 0)
        return false;
    for (int32_t i = 0; i < v->ndim; i++) {
        int64_t span;
        if (v->shape[i] < 0)
            return false;
        if (v->shape[i] == 0) {
            *is_empty = true;
            continue;
        }
        int64_t *end = v->stride[i] < 0 ? &first : &last;
        if (__builtin_mul_overflow(v->shape[i] - 1, v->stride[i], &span) ||
            __builtin_add_overflow(*end, span, end) ||
            __builtin_mul_overflow(count, v->shape[i], &count) || count > MOST_ELEMENTS)
            return false;
    }
    return !__builtin_mul_overflow(first, size, &hull->begin) &&
           !__builtin_add_overflow(last, 1, &last) &&
           !__builtin_mul_overflow(last, size, &hull->end);
}

size_t pto_view_ranges(const struct pto_view *v, struct pto_range out[PTO_RANGES])
{
    struct pto_range hull;
    bool is_empty;
    if (!extent_bytes(v, &hull, &is_empty) || is_empty)
        return 0;
    int64_t length = 1, size = pto_dtype_size(v->dtype), pieces = 1;
    int32_t outer = v->ndim;
    /* The innermost piece without holes: dimensions that follow each other in memory. */
    while (outer > 0 && (v->stride[outer - 1] == length || v->shape[outer - 1] == 1))
        length *= v->shape[--outer];
    for (int32_t i = 0; i < outer && pieces <= PTO_RANGES; i++)
        pieces = v->stride[i] > 0 ? pieces * v->shape[i] : PTO_RANGES + 1;
    if (pieces > 1 && pieces <= PTO_RANGES) {
        size_t n = 0;
        bool ascending = true;
        for (int64_t k = 0; k < pieces; k++) {
            int64_t at = v->offset, rest = k;
            for (int32_t i = outer - 1; i >= 0; i--) {
                at += rest % v->shape[i] * v->stride[i];
                rest /= v->shape[i];
            }
            ascending = ascending && (n == 0 || at * size >= out[n - 1].end);
            out[n++] = (struct pto_range){at * size, (at + length) * size};
        }
        if (ascending)
            return n;
    }
    out[0] = hull;
    return 1;
}

enum status pto_view_check(const struct pto_view *v, struct where where, struct diag *d)
{
    struct pto_range hull;
    bool is_empty;
    if (!extent_bytes(v, &hull, &is_empty))
        return diag_fail(d, ST_FORMAT, "pto-run.view-shape", where,
                         "the shape and strides of this view (rank %d) are not possible", v->ndim);
    if (is_empty || (hull.begin >= 0 && (uint64_t)hull.end <= v->limit))
        return ST_OK;
    return diag_fail(d, ST_FORMAT, "pto-run.gm-range", where,
                     "bytes %lld to %lld of a GM buffer of %zu bytes", (long long)hull.begin,
                     (long long)hull.end, v->limit);
}
