/* Rows of a tile as numbers, whatever its layout: walked run by run. */
#include <string.h>

#include "kernels/pto/values/func_call.h"

/* Elements of `size` bytes from `src` to `dst`, each at its own step. */
static void copy_run(unsigned char *dst, int64_t dst_step, const unsigned char *src,
                     int64_t src_step, int32_t n, uint32_t size)
{
    if (dst_step == size && src_step == size) {
        memmove(dst, src, (size_t)n * size);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        unsigned char *to = dst + i * dst_step;
        const unsigned char *from = src + i * src_step;
        switch (size) {
        case 2:
            memcpy(to, from, 2);
            break;
        case 4:
            memcpy(to, from, 4);
            break;
        case 8:
            memcpy(to, from, 8);
            break;
        default:
            *to = *from;
        }
    }
}

/* Runs `body` for each evenly spaced part of the row: `at`, `step` in bytes, `m` elements, of
 * which the first is number `done`. */
#define EACH_RUN(body)                                                                             \
    struct pto_run run = pto_tile_run(t, r, c);                                                    \
    for (int32_t done = 0; done < n;) {                                                            \
        const int32_t m = func_min(run.n, n - done);                                               \
        unsigned char *at = t->base + run.offset;                                                  \
        const int64_t step = run.step;                                                             \
        body;                                                                                      \
        done += m;                                                                                 \
        run.offset += run.next;                                                                    \
        run.next = run.jump;                                                                       \
        run.n = run.wide;                                                                          \
    }

/* Elements that do not lie side by side pass through a small buffer. */
static void read_row(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, char *out,
                     size_t width, pto_elem_read_fn *read)
{
    const enum pto_dtype type = t->type.dtype;
    const uint32_t size = pto_dtype_size(type);
    unsigned char dense[FUNC_PIECE * 8];
    EACH_RUN({
        char *to = out + (size_t)done * width;
        if (step == size)
            read(to, at, type, (size_t)m);
        for (int32_t k = 0; k < m && step != size; k += FUNC_PIECE) {
            const int32_t some = func_min(FUNC_PIECE, m - k);
            copy_run(dense, size, at + k * step, step, some, size);
            read(to + (size_t)k * width, dense, type, (size_t)some);
        }
    })
}

static void write_row(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, const char *in,
                      size_t width, pto_elem_write_fn *write)
{
    const enum pto_dtype type = t->type.dtype;
    const uint32_t size = pto_dtype_size(type);
    unsigned char dense[FUNC_PIECE * 8];
    EACH_RUN({
        const char *from = in + (size_t)done * width;
        if (step == size)
            write(at, from, type, (size_t)m);
        for (int32_t k = 0; k < m && step != size; k += FUNC_PIECE) {
            const int32_t some = func_min(FUNC_PIECE, m - k);
            write(dense, from + (size_t)k * width, type, (size_t)some);
            copy_run(at + k * step, step, dense, size, some, size);
        }
    })
}

void func_f32(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, float *out)
{
    read_row(t, r, c, n, (char *)out, sizeof(*out), pto_elem_read_f32);
}

void func_put_f32(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, const float *in)
{
    write_row(t, r, c, n, (const char *)in, sizeof(*in), pto_elem_write_f32);
}

void func_i64(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, int64_t *out)
{
    read_row(t, r, c, n, (char *)out, sizeof(*out), pto_elem_read_i64);
}

void func_put_i64(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, const int64_t *in)
{
    write_row(t, r, c, n, (const char *)in, sizeof(*in), pto_elem_write_i64);
}

void func_bits(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, uint64_t *out)
{
    const enum pto_dtype type = t->type.dtype;
    EACH_RUN({
        for (int32_t i = 0; i < m; i++)
            out[done + i] = pto_elem_load(at + i * step, type);
    })
}

void func_put_bits(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, const uint64_t *in)
{
    const enum pto_dtype type = t->type.dtype;
    EACH_RUN({
        for (int32_t i = 0; i < m; i++)
            pto_elem_store(at + i * step, type, in[done + i]);
    })
}

void func_copy(const struct pto_tile *src, const struct pto_tile *dst, int32_t rows, int32_t cols)
{
    const uint32_t size = pto_dtype_size(src->type.dtype);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < cols;) {
            const struct pto_run from = pto_tile_run(src, r, c), to = pto_tile_run(dst, r, c);
            const int32_t n = func_min(func_min(from.n, to.n), cols - c);
            copy_run(dst->base + to.offset, to.step, src->base + from.offset, from.step, n, size);
            c += n;
        }
}

/* From here on of a tile and of a view; returns how many elements, at most `most`. */
static int32_t copy_piece(const struct pto_tile *t, struct pto_run tile, const struct pto_view *v,
                          struct pto_run view, int32_t most, bool to_view)
{
    const uint32_t size = pto_dtype_size(t->type.dtype);
    const int32_t n = func_min(func_min(tile.n, view.n), most);
    unsigned char *a = t->base + tile.offset, *b = v->base + view.offset;
    if (to_view)
        copy_run(b, view.step, a, tile.step, n, size);
    else
        copy_run(a, tile.step, b, view.step, n, size);
    return n;
}

void func_copy_view(const struct pto_tile *t, const struct pto_view *v, bool to_view)
{
    const int64_t v_rows = pto_view_rows(v), v_cols = pto_view_cols(v);
    int64_t rows = t->v_row, cols = t->v_col;
    if ((rows != v_rows || cols != v_cols) && rows * cols == v_rows * v_cols) {
        for (int64_t k = 0; k < rows * cols; k++)
            copy_piece(t, pto_tile_run(t, (int32_t)(k / cols), (int32_t)(k % cols)), v,
                       pto_view_run(v, k / v_cols, k % v_cols), 1, to_view);
        return;
    }
    rows = rows < v_rows ? rows : v_rows;
    cols = cols < v_cols ? cols : v_cols;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < cols;)
            c += copy_piece(t, pto_tile_run(t, r, c), v, pto_view_run(v, r, c), (int32_t)cols - c,
                            to_view);
}
