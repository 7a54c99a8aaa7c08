/*
 * All layouts but the two plain ones are boxes: an outer order of boxes and an inner order of
 * elements. Offsets grow with (outer major, outer minor, inner major, inner minor), so the first
 * and last byte of a rectangle are at its corners.
 */
#include "kernels/pto/text/tile.h"

#include <stdlib.h>

/* Beyond this no space and no buffer of a simulation is; it keeps all offsets in 64 bits. */
#define MOST_BYTES ((int64_t)1 << 44)

/* Shape that decides the offsets: of the parent for a window, of the valid part when packed. */
struct geometry {
    int64_t rows, cols; /* multiples of the box */
    int64_t box_rows, box_cols;
    int64_t extra; /* elements between major rows */
    int64_t size;
};

/* Boxes have powers of two on both sides, which spares divisions in the hot paths. */
static int log2_of(int64_t power)
{
    return __builtin_ctzll((uint64_t)power);
}

static void box_of(const struct pto_tile_type *type, int64_t *rows, int64_t *cols)
{
    int64_t size = pto_dtype_size(type->dtype);
    int64_t wide = type->fractal == 1024 ? 16
                   : type->fractal == 32 ? 2
                   : size > 0            ? 32 >> log2_of(size)
                                         : 1;
    *rows = type->slayout == PTO_BOX_COL ? wide : 16;
    *cols = type->slayout == PTO_BOX_COL ? 16 : wide;
    if (type->slayout == PTO_NONE_BOX)
        *rows = *cols = 1;
}

static int64_t round_up(int64_t v, int64_t power)
{
    return (v + power - 1) & -power;
}

static struct geometry geometry_of(const struct pto_tile *t)
{
    struct geometry g = {.size = pto_dtype_size(t->type.dtype)};
    const struct pto_window *w = &t->window;
    bool packed = t->type.compact == 1 && t->type.slayout != PTO_NONE_BOX;
    box_of(&t->type, &g.box_rows, &g.box_cols);
    if (w->rows > 0) {
        g.rows = packed ? w->v_row : w->rows;
        g.cols = packed ? w->v_col : w->cols;
    } else {
        g.rows = packed ? t->v_row : t->type.rows;
        g.cols = packed ? t->v_col : t->type.cols;
    }
    g.rows = round_up(g.rows, packed ? (g.box_rows > 16 ? g.box_rows : 16) : g.box_rows);
    g.cols = round_up(g.cols, g.box_cols);
    g.extra = t->type.compact == 2 ? 1 : 0;
    return g;
}

/* Offset in elements of (r, c), counted in the parent. */
static int64_t element(const struct pto_tile *t, const struct geometry *g, int64_t r, int64_t c)
{
    bool by_cols = t->type.blayout == PTO_COL_MAJOR;
    if (t->type.slayout == PTO_NONE_BOX)
        return by_cols ? c * (g->rows + g->extra) + r : r * (g->cols + g->extra) + c;
    int64_t box = g->box_rows * g->box_cols;
    int64_t r1 = r >> log2_of(g->box_rows), c1 = c >> log2_of(g->box_cols);
    int64_t inner_r = r & (g->box_rows - 1), inner_c = c & (g->box_cols - 1);
    int64_t outer = by_cols ? c1 * (g->rows * g->box_cols + g->extra) + r1 * box
                            : r1 * (g->cols * g->box_rows + g->extra) + c1 * box;
    int64_t inner = t->type.slayout == PTO_BOX_ROW ? inner_r * g->box_cols + inner_c
                                                   : inner_c * g->box_rows + inner_r;
    return outer + inner;
}

static int64_t byte_of(const struct pto_tile *t, const struct geometry *g, int64_t r, int64_t c)
{
    return t->addr + element(t, g, r + t->window.row, c + t->window.col) * g->size;
}

struct pto_tile pto_tile_make(const struct pto_tile_type *type, unsigned char *base, size_t limit,
                              int64_t addr)
{
    return (struct pto_tile){
        .type = *type,
        .v_row = type->v_row == PTO_DYNAMIC ? type->rows : type->v_row,
        .v_col = type->v_col == PTO_DYNAMIC ? type->cols : type->v_col,
        .base = base,
        .limit = limit,
        .addr = addr,
    };
}

bool pto_tile_window(const struct pto_tile *t, int64_t row, int64_t col, int64_t rows, int64_t cols,
                     struct pto_tile *out)
{
    if (row < 0 || col < 0 || rows < 0 || cols < 0 || row > t->type.rows || col > t->type.cols ||
        rows > t->type.rows - row || cols > t->type.cols - col)
        return false;
    struct pto_window w = t->window;
    if (w.rows == 0)
        w = (struct pto_window){
            .rows = t->type.rows, .cols = t->type.cols, .v_row = t->v_row, .v_col = t->v_col};
    w.row += (int32_t)row;
    w.col += (int32_t)col;
    *out = *t;
    out->window = w;
    out->type.rows = out->v_row = (int32_t)rows;
    out->type.cols = out->v_col = (int32_t)cols;
    return true;
}

static int32_t clamp(int64_t v, int64_t most)
{
    return (int32_t)(v < 0 ? 0 : v > most ? most : v);
}

struct pto_tile pto_tile_half(const struct pto_tile *t, int32_t split, int32_t core)
{
    if (split < 1 || split > 4)
        return *t;
    bool by_rows = split == 1 || split == 3;
    int64_t whole = by_rows ? t->type.rows : t->type.cols;
    int64_t valid = by_rows ? t->v_row : t->v_col;
    int64_t first = split <= 2 ? whole / 2 : (whole + 1) / 2; /* of the physical shape */
    int64_t from = core == 0 ? 0 : first, n = core == 0 ? first : whole - first;
    struct pto_tile half;
    if (!pto_tile_window(t, by_rows ? from : 0, by_rows ? 0 : from, by_rows ? n : t->type.rows,
                         by_rows ? t->type.cols : n, &half))
        return *t;
    half.v_row = by_rows ? clamp(valid - from, n) : t->v_row;
    half.v_col = by_rows ? t->v_col : clamp(valid - from, n);
    return half;
}

int64_t pto_tile_bytes(const struct pto_tile_type *type)
{
    int64_t size = pto_dtype_size(type->dtype);
    int64_t rows = type->rows, cols = type->cols, box_rows, box_cols;
    if (rows <= 0 || cols <= 0 || size == 0 || rows > MOST_BYTES / size / cols)
        return -1;
    box_of(type, &box_rows, &box_cols);
    bool by_cols = type->blayout == PTO_COL_MAJOR;
    int64_t major = by_cols ? (cols + box_cols - 1) / box_cols : (rows + box_rows - 1) / box_rows;
    return (rows * cols + (type->compact == 2 ? major : 0)) * size;
}

static bool is_sane(const struct pto_tile *t)
{
    const struct pto_tile_type *type = &t->type;
    const struct pto_window *w = &t->window;
    struct pto_tile_type whole = *type;
    if (w->rows > 0) {
        if (type->rows < 0 || type->cols < 0 || w->row < 0 || w->col < 0 ||
            type->rows > w->rows - w->row || type->cols > w->cols - w->col)
            return false;
        whole.rows = w->rows;
        whole.cols = w->cols;
    }
    return pto_tile_bytes(&whole) >= 0 && t->v_row >= 0 && t->v_col >= 0 &&
           t->v_row <= type->rows && t->v_col <= type->cols && t->addr >= 0 &&
           t->addr <= MOST_BYTES &&
           (type->fractal == 512 || type->fractal == 1024 || type->fractal == 32 ||
            type->slayout == PTO_NONE_BOX);
}

int64_t pto_tile_offset(const struct pto_tile *t, int32_t r, int32_t c)
{
    struct geometry g = geometry_of(t);
    return byte_of(t, &g, r, c);
}

struct pto_run pto_tile_run(const struct pto_tile *t, int32_t r, int32_t c)
{
    struct geometry g = geometry_of(t);
    struct pto_run run = {.offset = byte_of(t, &g, r, c), .step = g.size, .n = t->v_col - c};
    if (t->type.slayout == PTO_NONE_BOX) {
        if (t->type.blayout == PTO_COL_MAJOR)
            run.step = (g.rows + g.extra) * g.size;
        return run;
    }
    if (t->type.slayout == PTO_BOX_COL)
        run.step = g.box_rows * g.size;
    if (t->type.slayout == PTO_BOX_COL && t->type.blayout == PTO_ROW_MAJOR)
        return run; /* in Zn the next box of the row follows at the same step */
    int64_t inner = (c + t->window.col) & (g.box_cols - 1);
    if (run.n > g.box_cols - inner)
        run.n = (int32_t)(g.box_cols - inner);
    run.wide = (int32_t)g.box_cols;
    run.jump = (t->type.blayout == PTO_COL_MAJOR ? g.rows * g.box_cols + g.extra
                                                 : g.box_rows * g.box_cols) *
               g.size;
    run.next = run.jump - inner * run.step;
    return run;
}

/* Collects ascending ranges; more than fit become one. */
struct ranges {
    struct pto_range *at;
    size_t n;
    bool is_hull;
};

static void add_range(struct ranges *list, int64_t begin, int64_t end)
{
    struct pto_range *last = list->n > 0 ? &list->at[list->n - 1] : NULL;
    if (last != NULL && begin <= last->end && begin >= last->begin) {
        if (end > last->end)
            last->end = end;
    } else if (list->n < PTO_RANGES) {
        list->at[list->n++] = (struct pto_range){begin, end};
    } else {
        list->is_hull = true;
    }
}

size_t pto_tile_ranges(const struct pto_tile *t, struct pto_range out[PTO_RANGES])
{
    if (!is_sane(t) || t->v_row == 0 || t->v_col == 0)
        return 0;
    struct geometry g = geometry_of(t);
    struct pto_range hull = {byte_of(t, &g, 0, 0),
                             byte_of(t, &g, t->v_row - 1, t->v_col - 1) + g.size};
    bool by_cols = t->type.blayout == PTO_COL_MAJOR;
    int64_t box = by_cols ? g.box_cols : g.box_rows;
    int64_t shift = by_cols ? t->window.col : t->window.row;
    int64_t n = by_cols ? t->v_col : t->v_row;
    bool full = by_cols ? t->v_row == g.rows : t->v_col == g.cols;
    if (full && t->window.rows == 0 && g.extra == 0) {
        out[0] = hull;
        return 1;
    }
    struct ranges list = {out, 0, false};
    for (int64_t from = 0; from < n && !list.is_hull;) {
        int64_t to = from + box - (from + shift) % box;
        if (to > n)
            to = n;
        if (by_cols)
            add_range(&list, byte_of(t, &g, 0, from),
                      byte_of(t, &g, t->v_row - 1, to - 1) + g.size);
        else
            add_range(&list, byte_of(t, &g, from, 0),
                      byte_of(t, &g, to - 1, t->v_col - 1) + g.size);
        from = to;
    }
    if (!list.is_hull)
        return list.n;
    out[0] = hull;
    return 1;
}

enum status pto_tile_check(const struct pto_tile *t, struct where where, struct diag *d)
{
    if (!is_sane(t))
        return diag_fail(d, ST_FORMAT, "pto-run.tile-shape", where,
                         "a %dx%d tile with %dx%d valid at address %lld is not possible",
                         t->type.rows, t->type.cols, t->v_row, t->v_col, (long long)t->addr);
    if (t->v_row == 0 || t->v_col == 0)
        return ST_OK;
    struct geometry g = geometry_of(t);
    int64_t end = byte_of(t, &g, t->v_row - 1, t->v_col - 1) + g.size;
    if (end > 0 && (uint64_t)end <= t->limit)
        return ST_OK;
    return diag_fail(d, ST_FORMAT, "pto-run.tile-range", where,
                     "the tile ends at byte %lld, but %s has %zu bytes", (long long)end,
                     pto_space_name(t->type.space), t->limit);
}
