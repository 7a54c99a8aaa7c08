/*
 * rows - which row of a pipe an instruction is drawn on: the first that is free when it begins.
 *
 * Free times stand in a tree of least values, so that thousands of rows cost no more than their
 * logarithm.
 */
#ifndef STRATA_KERNELS_INCORE_ROWS_H
#define STRATA_KERNELS_INCORE_ROWS_H

#include <stdint.h>

/* Zero-initialised, then incore_rows_begin() for each pipe. */
struct incore_rows {
    double *least; /* node 1 is the root; the leaves are the second half */
    uint32_t cap, n;
};

void incore_rows_begin(struct incore_rows *rows);
void incore_rows_free(struct incore_rows *rows);

/* Puts [ts, ts + dur) on the first row that is free at ts, or was not for `slack` more, and gives
 * its number. Instructions come by their begin. */
uint32_t incore_rows_place(struct incore_rows *rows, double ts, double dur, double slack);

#endif
