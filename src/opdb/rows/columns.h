/*
 * columns - the names of the columns of operator tables, in their order.
 *
 * The blocks of docs/perfdb.md: B, the identity of a row; C, the counters; R, what attention needs
 * at run time. Spelt once, here.
 */
#ifndef STRATA_OPDB_ROWS_COLUMNS_H
#define STRATA_OPDB_ROWS_COLUMNS_H

#include "base/arena.h"

#define COL_OP_STATE       S("OP State")
#define COL_CORE           S("Accelerator Core")
#define COL_INPUT_SHAPES   S("Input Shapes")
#define COL_INPUT_DTYPES   S("Input Data Types")
#define COL_INPUT_FORMATS  S("Input Formats")
#define COL_OUTPUT_SHAPES  S("Output Shapes")
#define COL_OUTPUT_DTYPES  S("Output Data Types")
#define COL_OUTPUT_FORMATS S("Output Formats")
#define COL_AVERAGE        S("Average Duration(us)") /* the replay: minimum over its repeats */
#define PROFILED_DURATION  "Profiling Average Duration(us)"
#define COL_PROFILED       S(PROFILED_DURATION)
#define COL_PROFILED_MID   S("Profiling Median Duration(us)")
#define COL_PROFILED_STD   S("Profiling Std Duration(us)")
#define COL_DURATION       S("Duration(us)")
#define COL_EP_SIZE        S("EP Size")
#define COL_VARIANT        S("Variant") /* what tells calls of equal shapes and types apart */
#define COL_OP_TYPE        S("OP Type")

enum { IDENTITY_N = 8, COUNTER_N = 25, RUNTIME_N = 16 };

/* The place of each name in `column_identity`. */
enum identity {
    ID_OP_STATE,
    ID_CORE,
    ID_INPUT_SHAPES,
    ID_INPUT_DTYPES,
    ID_INPUT_FORMATS,
    ID_OUTPUT_SHAPES,
    ID_OUTPUT_DTYPES,
    ID_OUTPUT_FORMATS,
    ID_OP_TYPE, /* these two are no part of the block, but of what tells rows apart */
    ID_EP_SIZE,
    SIGNATURE_CELLS,
};

/* The place of each name in `column_runtime`. */
enum runtime {
    RT_SOURCE_PROFILE,
    RT_SEQ_SHAPE,
    RT_SEQ_VALUES,
    RT_SEQ_KV_SHAPE,
    RT_SEQ_KV_VALUES,
    RT_AVG_SEQ_LEN,
    RT_BLOCK_TABLE_SHAPE,
    RT_VALID_BLOCKS,
    RT_NUM_HEADS,
    RT_NUM_KV_HEADS,
    RT_SPARSE_MODE,
    RT_INPUT_LAYOUT,
    RT_BLOCK_SIZE,
    RT_ATTN_STATE,
    RT_KV_CACHE_MODE,
    RT_COMPLETENESS,
};

extern const struct str column_identity[SIGNATURE_CELLS]; /* B first */
extern const struct str column_counter[COUNTER_N];        /* C */
extern const struct str column_runtime[RUNTIME_N];        /* R, as parse writes it */

/* The counters as columns of a table: "Profiling Average <c>" and "MicroBench <c>". */
extern const struct str column_profiled[COUNTER_N];
extern const struct str column_bench[COUNTER_N];

/* The 36 columns of a table that parse writes, in order. */
enum { PARSED_N = IDENTITY_N + 3 + COUNTER_N };
const struct str *columns_parsed(void);

#endif
