/*
 * What was measured, as records and as a report. See flow_measure.h.
 */
#include <math.h>
#include <stdio.h>

#include "opdb/measure/measure_job.h"
#include "report/report.h"

enum { STATES = MEASURE_NOT_RUN + 1, BOUNDS = BOUND_MATRIX + 1 };

static const struct field row_fields[] = {
    FIELD(struct flow_measured, op, "operator", .head = "operator"),
    FIELD(struct flow_measured, path, "path"),
    FIELD(struct flow_measured, line, "line", .head = "line"),
    FIELD(struct flow_measured, shapes, "shapes", .head = "shapes"),
    FIELD_OF_ENUM(struct flow_measured, state, "state", measure_state_name, STATES,
                  .head = "state"),
    FIELD(struct flow_measured, why, "why", .head = "why", .missing = MISSING_EMPTY),
    FIELD(struct flow_measured, stats.shortest, "min_us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct flow_measured, stats.median, "median_us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct flow_measured, stats.mean, "mean_us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct flow_measured, stats.deviation, "std_us"),
    FIELD(struct flow_measured, stats.n, "repeats"),
    FIELD(struct flow_measured, stats.outliers, "outliers"),
    FIELD(struct flow_measured, cost.cube, "cube_flops"),
    FIELD(struct flow_measured, cost.vector, "vector_flops"),
    FIELD(struct flow_measured, cost.read, "bytes_read"),
    FIELD(struct flow_measured, cost.written, "bytes_written"),
    FIELD(struct flow_measured, roof.us, "roof_us"),
    FIELD(struct flow_measured, roof.share, "roof_share"),
    FIELD_OF_ENUM(struct flow_measured, roof.bound, "bound", measure_bound_name, BOUNDS),
    FIELD(struct flow_measured, roof.is_slow, "slow"),
    FIELD(struct flow_measured, worst, "error_share"),
    FIELD(struct flow_measured, is_logical, "layout_logical"),
};
static const struct record row_record = RECORD(struct flow_measured, row_fields);

static const struct field slow_fields[] = {
    FIELD(struct flow_measured, op, "operator", .head = "operator"),
    FIELD(struct flow_measured, shapes, "shapes", .head = "shapes"),
    FIELD(struct flow_measured, stats.shortest, "min_us", .head = "min us"),
    FIELD(struct flow_measured, roof.us, "roof_us", .head = "roof us"),
    FIELD_OF_ENUM(struct flow_measured, roof.bound, "bound", measure_bound_name, BOUNDS,
                  .head = "bound"),
};
static const struct record slow_record = RECORD(struct flow_measured, slow_fields);

static const struct field op_fields[] = {
    FIELD(struct flow_measured_op, op, "operator", .head = "operator"),
    FIELD(struct flow_measured_op, path, "path"),
    FIELD(struct flow_measured_op, rows, "rows", .head = "rows"),
    FIELD(struct flow_measured_op, done, "measured", .head = "measured"),
    FIELD(struct flow_measured_op, skipped, "skipped", .head = "skipped"),
    FIELD(struct flow_measured_op, refused, "rejected", .head = "rejected"),
    FIELD(struct flow_measured_op, failed, "failed", .head = "failed"),
    FIELD(struct flow_measured_op, slow, "slow", .head = "slow"),
    FIELD(struct flow_measured_op, us, "sum_us", .head = "sum us"),
};
static const struct record op_record = RECORD(struct flow_measured_op, op_fields);

static struct field_value device_of(const void *record,
                                    const struct record_env *env __attribute__((unused)))
{
    const struct flow_measure *m = record;

    return (struct field_value){VALUE_TEXT, .text = str_of(m->facts.device)};
}

static struct field_value reasons_of(const void *record,
                                     const struct record_env *env __attribute__((unused)))
{
    const struct flow_clock_state *c = record;

    return (struct field_value){VALUE_TEXT, .text = str_of(c->reasons)};
}

static const struct field clock_fields[] = {
    FIELD(struct flow_clock_state, readings, "readings"),
    FIELD(struct flow_clock_state, mhz_min, "clock_mhz_min"),
    FIELD(struct flow_clock_state, mhz_median, "clock_mhz_median"),
    FIELD(struct flow_clock_state, mhz_max, "clock_mhz_max"),
    FIELD(struct flow_clock_state, memory_mhz, "memory_clock_mhz"),
    FIELD(struct flow_clock_state, power_w, "power_w"),
    FIELD(struct flow_clock_state, power_limit_w, "power_limit_w"),
    FIELD(struct flow_clock_state, celsius, "temperature_c"),
    FIELD_CALC(FIELD_STR, "reasons", reasons_of),
};
static const struct record clock_record = RECORD(struct flow_clock_state, clock_fields);

static const struct field measure_fields[] = {
    FIELD(struct flow_measure, backend, "backend"),
    FIELD_CALC(FIELD_STR, "device", device_of),
    FIELD(struct flow_measure, facts.copy_gbps, "copy_gbps", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct flow_measure, facts.matrix_tflops, "matrix_tflops",
          .missing = MISSING_NOT_POSITIVE),
    FIELD_INSIDE(struct flow_measure, clocks, "clocks", &clock_record),
    FIELD(struct flow_measure, done, "measured"),
    FIELD(struct flow_measure, skipped, "skipped"),
    FIELD(struct flow_measure, refused, "rejected"),
    FIELD(struct flow_measure, failed, "failed"),
    FIELD(struct flow_measure, slow, "slow"),
    FIELD_LIST(struct flow_measure, ops.at, ops.n, "operators", &op_record),
    FIELD_LIST(struct flow_measure, rows.at, rows.n, "rows", &row_record),
};
static const struct record measure_record = RECORD(struct flow_measure, measure_fields);

const struct schema flow_measure_schema = {
    .name = "strata.db-replay/1",
    .title = "operators of a database, measured",
    .record = &measure_record,
};

/* The first rows that a test holds for, as a table. */
static void describe_rows(const struct flow_measure *m, bool (*is)(const struct flow_measured *),
                          struct str heading, const struct record *record, struct report *report)
{
    enum { SHOWN = 20 };
    struct flow_measured rows[SHOWN];
    size_t n = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        if (is(&m->rows.at[i])) {
            if (n < SHOWN)
                rows[n] = m->rows.at[i];
            n++;
        }
    if (n == 0)
        return;
    report_heading(report, heading);
    report_records(report, record, rows, n < SHOWN ? n : SHOWN, NULL);
    if (n > SHOWN)
        report_line(report, "and %zu more, all in the JSON", n - SHOWN);
}

static bool is_not_done(const struct flow_measured *r)
{
    return r->state != MEASURE_DONE;
}

static bool is_slow(const struct flow_measured *r)
{
    return r->roof.is_slow;
}

static void describe_clocks(const struct flow_clock_state *c, struct report *report)
{
    char power[48] = "", heat[32] = "";
    const char *why = c->is_gpu ? ", held back by: " : ", governor ";

    if (c->readings == 0)
        return;
    if (!isnan(c->power_w) && !isnan(c->power_limit_w))
        snprintf(power, sizeof(power), ", %.0f W of %.0f", c->power_w, c->power_limit_w);
    else if (!isnan(c->power_w))
        snprintf(power, sizeof(power), ", %.0f W", c->power_w);
    if (!isnan(c->celsius))
        snprintf(heat, sizeof(heat), ", %.0f °C", c->celsius);
    report_line(report, "clock %.0f MHz (%.0f to %.0f)%s%s%s%s", c->mhz_median, c->mhz_min,
                c->mhz_max, power, heat, c->reasons[0] != 0 ? why : "", c->reasons);
}

void flow_measure_describe(const struct flow_measure *m, struct report *report)
{
    size_t outliers = 0;

    report_line(report, "%s: %s", m->backend, m->facts.device);
    if (m->facts.copy_gbps > 0)
        report_line(report, "measured on it: copy %.0f GB/s, matrix product %.3g TFLOP/s",
                    m->facts.copy_gbps, m->facts.matrix_tflops);
    describe_clocks(&m->clocks, report);
    report_records(report, &op_record, m->ops.at, m->ops.n, NULL);
    describe_rows(m, is_not_done, S("Rows without a duration"), &row_record, report);
    describe_rows(m, is_slow, S("More than ten times slower than the device allows"), &slow_record,
                  report);
    for (size_t i = 0; i < m->rows.n; i++)
        outliers += m->rows.at[i].state == MEASURE_DONE && m->rows.at[i].stats.outliers > 0;
    if (outliers > 0)
        report_line(report, "%zu rows have repeats far from their median (outliers in the JSON).",
                    outliers);
    report_line(report, "Processed %llu runs of %llu rows from %zu csv file(s) under %s.",
                (unsigned long long)m->repeats, (unsigned long long)m->done, m->ops.n, m->dir);
}
