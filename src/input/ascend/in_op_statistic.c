/*
 * op-statistic: sums over the kernels of each operator type, without start times.
 *
 * Nothing can be said of when the device was idle from sums, so they bring no kernels; a folder
 * that holds nothing else is still known for what it is.
 * Format reference: docs/formats/bundles.md
 */
#include "input/import.h"
#include "input/rank.h"

static bool claims(struct str name)
{
    return str_ends(name, S(".csv")) && str_equal(rank_name_parts(name).base, S("op_statistic"));
}

static const struct import_table table = {
    .columns = {S_INIT("OP Type"), S_INIT("Count"), S_INIT("Total Time(us)")},
    .no_header = {"op-statistic.no-header", "no header with OP Type and Total Time(us)"},
};

static enum status read_op_statistic(struct import *i)
{
    struct csv csv;

    TRY(import_table_open(i, &table, &csv));
    while (csv_next(&csv))
        i->rows++;
    return ST_OK;
}

const struct input_format input_op_statistic = {
    .name = "op-statistic",
    .summary = "totals by operator type, no timeline (CSV)",
    .looks_for = "op_statistic.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_OP_STATISTIC,
    .claims = claims,
    .table = &table,
    .read = read_op_statistic,
};
