/*
 * step-trace: the iterations of a model that runs as a graph (msprof's step_trace_<time>.csv).
 *
 * An iteration lasts from its end less its duration to its end, and becomes a step mark.
 * Format reference: docs/formats/step-trace-time.md
 */
#include "input/import.h"
#include "input/rank.h"

enum { ITERATION, END, DURATION };

static enum import_row trace_read_row(struct import *i, const struct csv *csv, void *ctx);

static const struct import_table table = {
    .columns = {[ITERATION] = S_INIT("Iteration ID"),
                [END] = S_INIT("Iteration End(us)"),
                [DURATION] = S_INIT("Iteration Time(us)")},
    .no_header = {"step-trace.no-header", "no header with Iteration ID"},
    .bad_row = {"step-trace.bad-row", "row skipped: no iteration, end or duration"},
    .take = trace_read_row,
};

static bool claims(struct str name)
{
    struct name_parts parts = rank_name_parts(name);

    return str_equal(parts.base, S("step_trace")) && parts.stamp.n > 0 &&
           str_equal(parts.ext, S("csv"));
}

static struct str trace_cell(const struct csv *csv, int column)
{
    return csv_cell(csv, csv_column(csv, table.columns[column]));
}

static enum import_row trace_read_row(struct import *i, const struct csv *csv, void *ctx)
{
    struct mark mark = {.source = MARK_STEP_TRACE};
    int64_t device;
    nanos lasted;

    (void)ctx;
    if (num_i64(csv_cell(csv, csv_column(csv, S("Device_id"))), &device) &&
        import_is_other_device(i, device))
        return ROW_PASSED;
    if (csv->is_broken || !num_i64(trace_cell(csv, ITERATION), &mark.number) ||
        !num_us(trace_cell(csv, END), &mark.end) || !num_us(trace_cell(csv, DURATION), &lasted) ||
        !import_lasts(lasted))
        return ROW_LOST;
    mark.begin = nanos_sub(mark.end, lasted);
    mark.name = capture_intern(i->cap, S("Iteration"));
    vec_push(&i->cap->marks, mark);
    return ROW_TAKEN;
}

const struct input_format input_step_trace = {
    .name = "step-trace",
    .summary = "iterations of a graph model (CSV)",
    .looks_for = "step_trace_*.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .table = &table,
};
