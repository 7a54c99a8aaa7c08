/*
 * measure - a table of measured cycles, one instruction a row.
 *
 *     op,dtype,rows,cols,cycles
 *     TADD,f32,64,64,160
 *
 * Further columns are read where a table has them: arch (a2a3, the default, or a5), dst_dtype,
 * valid_rows and valid_cols (0 or absent: all), precision (`high`), m, k, n for matrix products,
 * and from, to, bytes for transfers (op tload, tstore, tmov ..). Names are those of the text, with
 * or without "pto.", in any case; fp32, float, half and the like are understood as types.
 */
#ifndef STRATA_KERNELS_PTO_COST_MEASURE_H
#define STRATA_KERNELS_PTO_COST_MEASURE_H

#include "base/diag.h"
#include "base/tables/vec.h"
#include "kernels/pto/cost/cost.h"

struct pto_measure {
    uint64_t line;
    struct pto_work work;
    double cycles;
};

/* Zero-initialised is empty. */
struct pto_measures {
    VEC_OF(struct pto_measure) rows;
    uint64_t lost; /* rows that made no sense, told in the diag */
};

/* Rows that make no sense are counted and left out; a table without the needed columns or without a
 * single good row is an error. */
enum status pto_measures_read(struct pto_measures *m, struct str text, const char *path,
                              struct diag *diag);
void pto_measures_free(struct pto_measures *m);

#endif
