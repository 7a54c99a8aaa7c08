/*
 * tile - where the elements of a tile and of a GM view live.
 *
 * A tile is a rectangle of elements in one memory space, in one of six layouts: plain row-major
 * (ND) or column-major (DN), or boxes of some 16 x 16 elements laid out in rows or columns of
 * boxes (Nz, Zn, Zz, Nn). A subview is a window that keeps its parent's layout. A FIFO slot in GM
 * is a tile too, based at the GM buffer.
 *
 * Nothing is checked per element: pto_tile_check() and pto_view_check() are called once before a
 * tile or view is touched, and hold for every element of the valid rectangle.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_TILE_H
#define STRATA_KERNELS_PTO_TEXT_TILE_H

#include <stddef.h>

#include "base/diag.h"
#include "kernels/pto/text/types.h"

/* The tile a subview looks into. rows == 0: the tile is no window. */
struct pto_window {
    int32_t row, col;     /* of the window's element (0, 0) in the parent */
    int32_t rows, cols;   /* of the parent */
    int32_t v_row, v_col; /* of the parent, for compact layouts */
};

struct pto_tile {
    struct pto_tile_type type; /* its v_row and v_col are not read; those below are */
    int32_t v_row, v_col;      /* the valid rectangle now */
    unsigned char *base;       /* first byte of the space; NULL when only ranges are asked for */
    size_t limit;              /* bytes of the space */
    int64_t addr;              /* of the tile (of the parent, for a window) in the space */
    struct pto_window window;
};

/* Numbers of the dialect's layout attribute. */
enum pto_layout { PTO_LAYOUT_ND, PTO_LAYOUT_DN, PTO_LAYOUT_NZ, PTO_LAYOUT_MX_A, PTO_LAYOUT_MX_B };

enum { PTO_VIEW_RANK = 5 };

/* A window of a GM buffer: rank 1 to 5, strides in elements. */
struct pto_view {
    unsigned char *base; /* of the buffer; NULL when only ranges are asked for */
    size_t limit;        /* bytes of the buffer */
    int64_t offset;      /* of element (0, ..) in elements from base */
    enum pto_dtype dtype;
    int32_t ndim;
    enum pto_layout layout;
    int64_t shape[PTO_VIEW_RANK], stride[PTO_VIEW_RANK];
};

/* Bytes [begin, end) of a space or buffer. */
struct pto_range {
    int64_t begin, end;
};

enum { PTO_RANGES = 8 }; /* most ranges one tile or view is described with */

/* A tile of `type` at `addr`; a "?" dimension of the type is valid in full. */
struct pto_tile pto_tile_make(const struct pto_tile_type *type, unsigned char *base, size_t limit,
                              int64_t addr);

/* Rows [row, row + rows) and columns [col, col + cols) of `t`, sharing its bytes and layout.
 * False when the window leaves the tile. The valid rectangle is the whole window. */
bool pto_tile_window(const struct pto_tile *t, int64_t row, int64_t col, int64_t rows, int64_t cols,
                     struct pto_tile *out);

/* The part of `t` that vector core `core` (0 or 1) takes from a FIFO entry with `split` 0..4;
 * the valid rectangle is cut the same way. */
struct pto_tile pto_tile_half(const struct pto_tile *t, int32_t split, int32_t core);

/* Bytes reserved for a tile of this type; -1 when the number does not fit. */
int64_t pto_tile_bytes(const struct pto_tile_type *type);

/* Byte offset of element (r, c) from the base of the space. */
int64_t pto_tile_offset(const struct pto_tile *t, int32_t r, int32_t c);

/* Bytes from element (r, c) to (r, c + 1) while both are in one run, and the length of that run:
 * the number of elements from c on, at most to the end of the valid row, that lie evenly. */
struct pto_run {
    int64_t offset, step;
    int32_t n;
    /* Later runs of a tile's row: the next starts `next` bytes after this one, each further one
     * `jump` bytes after the one before, and all have `wide` elements. */
    int32_t wide;
    int64_t next, jump;
};
struct pto_run pto_tile_run(const struct pto_tile *t, int32_t r, int32_t c);

/* Bytes of the valid rectangle: at most PTO_RANGES ascending ranges; where the rectangle has more
 * pieces, one range from its first to its last byte. Returns their number; 0 when nothing is
 * valid. */
size_t pto_tile_ranges(const struct pto_tile *t, struct pto_range out[PTO_RANGES]);

/* The shape is legal and every byte of the valid rectangle lies in the space. `where` is the
 * operation. Codes: pto-run.tile-shape, pto-run.tile-range. */
enum status pto_tile_check(const struct pto_tile *t, struct where where, struct diag *d);

/* The window `offsets`, `sizes` (view->ndim of each) of a view. False when it has a negative
 * number or the arithmetic overflows; bounds are left to pto_view_check(). */
bool pto_view_part(const struct pto_view *v, const int64_t *offsets, const int64_t *sizes,
                   struct pto_view *out);

/* A view as a matrix: leading dimensions are collapsed into rows; rank 1 is one row. An nz view of
 * rank 4 or 5 (.., columns of boxes, rows of boxes, 16, E) is the matrix it stands for. */
int64_t pto_view_rows(const struct pto_view *v);
int64_t pto_view_cols(const struct pto_view *v);

/* Byte offset of matrix element (r, c) from the base of the buffer. */
int64_t pto_view_offset(const struct pto_view *v, int64_t r, int64_t c);
struct pto_run pto_view_run(const struct pto_view *v, int64_t r, int64_t c);

size_t pto_view_ranges(const struct pto_view *v, struct pto_range out[PTO_RANGES]);

/* Rank, shape and strides are legal and every element lies in the buffer. Codes:
 * pto-run.view-shape, pto-run.gm-range. */
enum status pto_view_check(const struct pto_view *v, struct where where, struct diag *d);

#endif
