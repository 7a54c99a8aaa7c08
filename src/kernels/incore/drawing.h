/*
 * drawing - a cleaned trace in whole nanoseconds, in the order a viewer's file has it: row by row,
 * each row by time, and arrows by where they begin.
 */
#ifndef STRATA_KERNELS_INCORE_DRAWING_H
#define STRATA_KERNELS_INCORE_DRAWING_H

#include "base/text/num.h"
#include "kernels/incore/flags.h"

struct incore_slice {
    uint32_t instr, row; /* row: number in lanes->rows */
    nanos begin, end;
};

struct incore_link {
    uint32_t from, to; /* slices */
};

struct incore_drawing {
    struct incore_slice *slices;
    struct incore_link *links; /* by from and to */
    uint32_t *by_to;           /* numbers of links by to and from */
    size_t slices_n, links_n;
};

void incore_drawing_build(struct incore_drawing *d, const struct incore_trace *t,
                          const struct incore_lanes *lanes, const struct incore_arrows *arrows);
void incore_drawing_free(struct incore_drawing *d);

/* "MTE2", "MTE2#1": what the row is called, in the arena. */
struct str incore_row_name(const struct incore_trace *t, const struct incore_drawn *d,
                           struct arena *arena);

/* One argument of an instruction; `text` when it is one, else `number` or `real`. */
struct incore_arg {
    struct str key, text;
    enum { INCORE_ARG_TEXT, INCORE_ARG_INT, INCORE_ARG_REAL } type;
    int64_t number;
    double real;
};

/* Up to `most` arguments of an instruction that are texts or numbers, texts in the arena. */
size_t incore_args(const struct incore_trace *t, const struct incore_instr *in,
                   struct incore_arg *out, size_t most, struct arena *arena);

#endif
