/*
 * step-trace: the iterations of a model that runs as a graph (msprof's step_trace_<time>.csv).
 *
 * An iteration lasts from its end less its duration to its end, and becomes a step mark.
 * Format reference: docs/formats/step-trace-time.md
 */
#include "base/csv.h"
#include "capture/capture.h"
#include "input/input.h"
#include "input/rank.h"

static const struct str iteration = S_INIT("Iteration ID"), end = S_INIT("Iteration End(us)"),
                        duration = S_INIT("Iteration Time(us)");

static bool claims(struct str name)
{
    struct name_parts parts = rank_name_parts(name);

    return str_equal(parts.base, S("step_trace")) && parts.stamp.n > 0 &&
           str_equal(parts.ext, S("csv"));
}

static bool is_table(const struct csv *csv)
{
    return csv_column(csv, iteration) >= 0 && csv_column(csv, end) >= 0 &&
           csv_column(csv, duration) >= 0;
}

static int probe(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_table(&csv) ? 90 : 0;
}

static bool is_other_device(const struct input_file *in, const struct csv *csv)
{
    int64_t device;

    return in->options != NULL && in->options->device >= 0 &&
           num_i64(csv_cell(csv, csv_column(csv, S("Device_id"))), &device) &&
           device != in->options->device;
}

static bool take_row(struct capture *cap, const struct csv *csv)
{
    struct mark mark = {.source = MARK_STEP_TRACE};
    nanos lasted;

    if (csv->is_broken || !num_i64(csv_cell(csv, csv_column(csv, iteration)), &mark.number) ||
        !num_us(csv_cell(csv, csv_column(csv, end)), &mark.end) ||
        !num_us(csv_cell(csv, csv_column(csv, duration)), &lasted) || lasted < 0)
        return false;
    mark.begin = nanos_sub(mark.end, lasted);
    mark.name = capture_intern(cap, S("Iteration"));
    vec_push(&cap->marks, mark);
    return true;
}

static enum status read_step_trace(const struct input_file *in, struct capture *cap)
{
    struct source source = {.path = in->path, .format = input_step_trace.name, .bytes = in->text.n};
    struct csv csv;

    csv_open(&csv, in->text);
    if (!is_table(&csv))
        return diag_fail(in->diag, ST_FORMAT, "step-trace.no-header",
                         (struct where){in->path, 1, 0}, "no header with Iteration ID");
    while (csv_next(&csv)) {
        if (is_other_device(in, &csv))
            continue;
        if (take_row(cap, &csv)) {
            source.rows++;
            continue;
        }
        source.lost++;
        diag_add(in->diag, SEV_LOSS, "step-trace.bad-row", (struct where){in->path, csv.line, 0},
                 "row skipped: no iteration, end or duration");
    }
    capture_source(cap, source);
    return ST_OK;
}

const struct input_format input_step_trace = {
    .name = "step-trace",
    .summary = "iterations of a graph model (CSV)",
    .looks_for = "step_trace_*.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .claims = claims,
    .probe = probe,
    .read = read_step_trace,
};
