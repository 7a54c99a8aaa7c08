/*
 * step-trace-time: what the profiler itself says of each step, in microseconds.
 *
 * The values were computed in floating point (8873.756000000001); they are rounded to nanoseconds.
 * Format reference: docs/formats/step-trace-time.md
 */
#include "base/csv.h"
#include "capture/capture.h"
#include "input/input.h"

enum { N_TIMES = 8 };

static const struct str times[N_TIMES] = {
    S_INIT("Computing"),  S_INIT("Communication(Not Overlapped)"),
    S_INIT("Overlapped"), S_INIT("Communication"),
    S_INIT("Free"),       S_INIT("Stage"),
    S_INIT("Bubble"),     S_INIT("Preparing"),
};

static bool claims(struct str name)
{
    return str_equal(name, S("step_trace_time.csv")) ||
           str_equal(name, S("cluster_step_trace_time.csv"));
}

static bool is_table(const struct csv *csv)
{
    return csv_column(csv, S("Step")) >= 0 && csv_column(csv, times[0]) >= 0 &&
           csv_column(csv, times[1]) >= 0;
}

static int probe(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_table(&csv) ? 90 : 0;
}

/* A column that the table lacks is 0, the last one -1; false for one without a number. */
static bool take_times(const struct csv *csv, const int *columns, nanos *out)
{
    for (size_t i = 0; i < N_TIMES; i++) {
        struct str text = csv_cell(csv, columns[i]);
        out[i] = i == N_TIMES - 1 ? -1 : 0;
        if (columns[i] >= 0 && !num_is_missing(str_trim(text)) && !num_us(text, &out[i]))
            return false;
    }
    return true;
}

/* The sums over all ranks have two columns more: what a row is about, a rank or a pipeline stage,
 * and its number. Those of a stage are the largest of its ranks. */
static bool is_stage(const struct csv *csv)
{
    return str_equal(str_trim(csv_cell(csv, csv_column(csv, S("Type")))), S("stage"));
}

static bool take_row(struct capture *cap, const struct csv *csv, const int *columns)
{
    struct str step = str_trim(csv_cell(csv, csv_column(csv, S("Step"))));
    int index = csv_column(csv, S("Index"));
    struct step_trace row = {.rank = UNKNOWN, .device = UNKNOWN};
    nanos t[N_TIMES];

    if (csv->is_broken || csv->n_cells != csv_header_count(csv) || !take_times(csv, columns, t))
        return false;
    if (index >= 0 && !num_i64(csv_cell(csv, index), &row.rank))
        return false;
    row.step = num_is_missing(step) ? 0 : capture_intern(cap, step);
    num_i64(csv_cell(csv, csv_column(csv, S("Device_id"))), &row.device);
    row.computing = t[0];
    row.comm_exposed = t[1];
    row.overlapped = t[2];
    row.communication = t[3];
    row.free_time = t[4];
    row.stage = t[5];
    row.bubble = t[6];
    row.preparing = t[7];
    vec_push(&cap->step_traces, row);
    return true;
}

static enum status read_step_trace_time(const struct input_file *in, struct capture *cap)
{
    struct source source = {
        .path = in->path, .format = input_step_trace_time.name, .bytes = in->text.n};
    int columns[N_TIMES];
    struct csv csv;

    csv_open(&csv, in->text);
    if (!is_table(&csv))
        return diag_fail(in->diag, ST_FORMAT, "step-trace-time.no-header",
                         (struct where){in->path, 1, 0}, "no header with Step and Computing");
    for (size_t i = 0; i < N_TIMES; i++)
        columns[i] = csv_column(&csv, times[i]);
    while (csv_next(&csv)) {
        if (is_stage(&csv))
            continue;
        if (take_row(cap, &csv, columns)) {
            source.rows++;
            continue;
        }
        source.lost++;
        diag_add(in->diag, SEV_LOSS, "step-trace-time.bad-row",
                 (struct where){in->path, csv.line, 0},
                 "row skipped: a field is missing or is no number");
    }
    capture_source(cap, source);
    return ST_OK;
}

const struct input_format input_step_trace_time = {
    .name = "step-trace-time",
    .summary = "the profiler's own sums of each step (CSV)",
    .looks_for = "step_trace_time.csv, cluster_step_trace_time.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_STEP_TRACE_TIME,
    .claims = claims,
    .probe = probe,
    .read = read_step_trace_time,
};
