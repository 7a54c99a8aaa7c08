/*
 * step-trace-time: what the profiler itself says of each step, in microseconds.
 *
 * The values were computed in floating point (8873.756000000001); they are rounded to nanoseconds.
 * Format reference: docs/formats/step-trace-time.md
 */
#include "input/import.h"

/* The times of a row, and where they go. */
static const struct {
    struct str name;
    size_t offset;
} times[] = {
    {S_INIT("Computing"), offsetof(struct step_trace, computing)},
    {S_INIT("Communication(Not Overlapped)"), offsetof(struct step_trace, comm_exposed)},
    {S_INIT("Overlapped"), offsetof(struct step_trace, overlapped)},
    {S_INIT("Communication"), offsetof(struct step_trace, communication)},
    {S_INIT("Free"), offsetof(struct step_trace, free_time)},
    {S_INIT("Stage"), offsetof(struct step_trace, stage)},
    {S_INIT("Bubble"), offsetof(struct step_trace, bubble)},
    {S_INIT("Preparing"), offsetof(struct step_trace, preparing)},
};

/* The sums over all ranks have two columns more: what a row is about, a rank or a pipeline stage,
 * and its number. Those of a stage are the largest of its ranks. */
static enum import_row time_take_row(struct import *i, const struct csv *csv, void *ctx)
{
    struct str step = str_trim(csv_cell(csv, csv_column(csv, S("Step"))));
    int index = csv_column(csv, S("Index"));
    const int *columns = ctx;
    struct step_trace row = {.rank = UNKNOWN, .device = UNKNOWN, .preparing = -1};

    if (str_equal(str_trim(csv_cell(csv, csv_column(csv, S("Type")))), S("stage")))
        return ROW_PASSED;
    if (csv->is_broken || csv->n_cells != csv_header_count(csv) ||
        (index >= 0 && !num_i64(csv_cell(csv, index), &row.rank)))
        return ROW_LOST;
    /* A column that the table lacks leaves its time as it is. */
    for (size_t k = 0; k < ARRAY_LEN(times); k++) {
        struct str text = csv_cell(csv, columns[k]);
        nanos *time = (nanos *)(void *)((char *)&row + times[k].offset);
        if (columns[k] >= 0 && !num_is_missing(str_trim(text)) && !num_us(text, time))
            return ROW_LOST;
    }
    row.step = num_is_missing(step) ? 0 : capture_intern(i->cap, step);
    num_i64(csv_cell(csv, csv_column(csv, S("Device_id"))), &row.device);
    vec_push(&i->cap->step_traces, row);
    return ROW_TAKEN;
}

static const struct import_table table = {
    .columns = {S_INIT("Step"), S_INIT("Computing"), S_INIT("Communication(Not Overlapped)")},
    .no_header = {"step-trace-time.no-header", "no header with Step and Computing"},
    .bad_row = {"step-trace-time.bad-row", "row skipped: a field is missing or not a number"},
    .take = time_take_row,
};

static enum status read_step_trace_time(struct import *i)
{
    int columns[ARRAY_LEN(times)];
    struct csv csv;

    TRY(import_table_open(i, &table, &csv));
    for (size_t k = 0; k < ARRAY_LEN(times); k++)
        columns[k] = csv_column(&csv, times[k].name);
    import_table_rows(i, &table, &csv, columns);
    return ST_OK;
}

const struct input_format input_step_trace_time = {
    .name = "step-trace-time",
    .summary = "the profiler's totals per step (CSV)",
    .looks_for = "step_trace_time.csv, cluster_step_trace_time.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_STEP_TRACE_TIME,
    .table = &table,
    .read = read_step_trace_time,
};
