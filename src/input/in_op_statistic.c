/*
 * op-statistic: sums over the kernels of each operator type, without start times.
 *
 * Nothing can be said of when the device was idle from sums, so they bring no kernels; a folder
 * that holds nothing else is still known for what it is.
 * Format reference: docs/formats/bundles.md
 */
#include "base/csv.h"
#include "capture/capture.h"
#include "input/input.h"
#include "input/rank.h"

static bool claims(struct str name)
{
    return str_ends(name, S(".csv")) && str_equal(rank_name_parts(name).base, S("op_statistic"));
}

static bool is_table(const struct csv *csv)
{
    return csv_column(csv, S("OP Type")) >= 0 && csv_column(csv, S("Count")) >= 0 &&
           csv_column(csv, S("Total Time(us)")) >= 0;
}

static int probe(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_table(&csv) ? 90 : 0;
}

static enum status read_op_statistic(const struct input_file *in, struct capture *cap)
{
    struct source source = {
        .path = in->path, .format = input_op_statistic.name, .bytes = in->text.n};
    struct csv csv;

    csv_open(&csv, in->text);
    if (!is_table(&csv))
        return diag_fail(in->diag, ST_FORMAT, "op-statistic.no-header",
                         (struct where){in->path, 1, 0},
                         "no header with OP Type and Total Time(us)");
    while (csv_next(&csv))
        source.rows++;
    capture_source(cap, source);
    return ST_OK;
}

const struct input_format input_op_statistic = {
    .name = "op-statistic",
    .summary = "sums by operator type, no timeline (CSV)",
    .looks_for = "op_statistic.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_OP_STATISTIC,
    .claims = claims,
    .probe = probe,
    .read = read_op_statistic,
};
