/*
 * kernel_columns - the columns of an Ascend kernel table, whatever generation wrote its header.
 */
#ifndef STRATA_INPUT_ASCEND_KERNEL_COLUMNS_H
#define STRATA_INPUT_ASCEND_KERNEL_COLUMNS_H

#include "base/formats/csv.h"

enum kernel_column {
    COL_NAME,
    COL_START,
    COL_DUR,
    COL_WAIT,
    COL_STEP,
    COL_DEVICE,
    COL_STREAM,
    COL_TASK,
    COL_TYPE,
    COL_CORE,
    COL_STATE,
    COL_BLOCK_DIM,
    COL_MIX_BLOCK_DIM,
    COL_INPUT_SHAPES,
    COL_INPUT_DTYPES,
    COL_INPUT_FORMATS,
    COL_OUTPUT_SHAPES,
    COL_OUTPUT_DTYPES,
    COL_OUTPUT_FORMATS,
    COL_CLASS, /* of our own tables */
    COL_COUNT
};

/* Where the table has a column; -1: nowhere. */
int kernel_column(const struct csv *csv, enum kernel_column column);

#endif
