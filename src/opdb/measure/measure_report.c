/*
 * What was measured, as records and as a report. See measure_job.h.
 */
#include <math.h>
#include <stdio.h>

#include "opdb/measure/measure_job.h"
#include "report/report.h"

enum { STATES = MEASURE_NOT_HERE + 1, BOUNDS = BOUND_MATRIX + 1 };

static const struct field row_fields[] = {
    FIELD(struct measurement, op, "operator", .head = "operator"),
    FIELD(struct measurement, path, "path"),
    FIELD(struct measurement, line, "line", .head = "line"),
    FIELD(struct measurement, shapes, "shapes", .head = "shapes"),
    FIELD_OF_ENUM(struct measurement, state, "state", measure_state_name, STATES, .head = "state"),
    FIELD(struct measurement, why, "why", .head = "why", .missing = MISSING_EMPTY),
    FIELD(struct measurement, stats.shortest, "min_us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct measurement, stats.median, "median_us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct measurement, stats.mean, "mean_us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct measurement, stats.deviation, "std_us"),
    FIELD(struct measurement, stats.n, "repeats"),
    FIELD(struct measurement, stats.outliers, "outliers"),
    FIELD(struct measurement, cost.cube, "cube_flops"),
    FIELD(struct measurement, cost.vector, "vector_flops"),
    FIELD(struct measurement, cost.read, "bytes_read"),
    FIELD(struct measurement, cost.written, "bytes_written"),
    FIELD(struct measurement, roof.us, "roof_us"),
    FIELD(struct measurement, roof.share, "roof_share"),
    FIELD_OF_ENUM(struct measurement, roof.bound, "bound", measure_bound_name, BOUNDS),
    FIELD(struct measurement, roof.is_slow, "slow"),
    FIELD(struct measurement, worst, "error_share"),
    FIELD(struct measurement, is_logical, "layout_logical"),
    FIELD(struct measurement, is_dropped, "deleted"),
};
static const struct record row_record = RECORD(struct measurement, row_fields);

static const struct field slow_fields[] = {
    FIELD(struct measurement, op, "operator", .head = "operator"),
    FIELD(struct measurement, shapes, "shapes", .head = "shapes"),
    FIELD(struct measurement, stats.shortest, "min_us", .head = "min us"),
    FIELD(struct measurement, roof.us, "roof_us", .head = "roof us"),
    FIELD_OF_ENUM(struct measurement, roof.bound, "bound", measure_bound_name, BOUNDS,
                  .head = "bound"),
};
static const struct record slow_record = RECORD(struct measurement, slow_fields);

static const struct field op_fields[] = {
    FIELD(struct measured_op, op, "operator", .head = "operator"),
    FIELD(struct measured_op, path, "path"),
    FIELD(struct measured_op, rows, "rows", .head = "rows"),
    FIELD(struct measured_op, done, "measured", .head = "measured"),
    FIELD(struct measured_op, skipped, "skipped", .head = "skipped"),
    FIELD(struct measured_op, refused, "rejected", .head = "rejected"),
    FIELD(struct measured_op, failed, "failed", .head = "failed"),
    FIELD(struct measured_op, slow, "slow", .head = "slow"),
    FIELD(struct measured_op, us, "sum_us", .head = "sum us"),
};
static const struct record op_record = RECORD(struct measured_op, op_fields);

static const struct field prune_fields[] = {
    FIELD(struct measured_prune, path, "path", .head = "table"),
    FIELD(struct measured_prune, rows.n, "rows", .head = "rows deleted"),
    FIELD(struct measured_prune, rows.first[0], "first_shapes", .head = "the first of them"),
};
static const struct record prune_record = RECORD(struct measured_prune, prune_fields);

static struct field_value report_device_of(const void *record,
                                           const struct record_env *env __attribute__((unused)))
{
    const struct measured_db *m = record;

    return (struct field_value){VALUE_TEXT, .text = str_of(m->facts.device)};
}

static struct field_value library_of(const void *record,
                                     const struct record_env *env __attribute__((unused)))
{
    return value_text(str_of(((const struct measured_db *)record)->facts.products));
}

static struct field_value reasons_of(const void *record,
                                     const struct record_env *env __attribute__((unused)))
{
    const struct measured_clocks *c = record;

    return (struct field_value){VALUE_TEXT, .text = str_of(c->reasons)};
}

static const struct field clock_fields[] = {
    FIELD(struct measured_clocks, readings, "readings"),
    FIELD(struct measured_clocks, mhz_min, "clock_mhz_min"),
    FIELD(struct measured_clocks, mhz_median, "clock_mhz_median"),
    FIELD(struct measured_clocks, mhz_max, "clock_mhz_max"),
    FIELD(struct measured_clocks, memory_mhz, "memory_clock_mhz"),
    FIELD(struct measured_clocks, power_w, "power_w"),
    FIELD(struct measured_clocks, power_limit_w, "power_limit_w"),
    FIELD(struct measured_clocks, celsius, "temperature_c"),
    FIELD_CALC(FIELD_STR, "reasons", reasons_of),
};
static const struct record clock_record = RECORD(struct measured_clocks, clock_fields);

static uint64_t rows_with_outliers(const struct measured_db *m)
{
    uint64_t n = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        n += m->rows.at[i].state == MEASURE_DONE && m->rows.at[i].stats.outliers > 0;
    return n;
}

static struct field_value outliers_of(const void *record,
                                      const struct record_env *env __attribute__((unused)))
{
    return value_int((int64_t)rows_with_outliers(record));
}

static const struct field measure_fields[] = {
    FIELD(struct measured_db, dir, "database"),
    FIELD(struct measured_db, backend, "backend"),
    FIELD_CALC(FIELD_STR, "device", report_device_of),
    FIELD_CALC(FIELD_STR, "library", library_of, .missing = MISSING_EMPTY,
               .about = "what multiplies matrices on processors"),
    FIELD(struct measured_db, facts.copy_gbps, "copy_gbps", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct measured_db, facts.matrix_tflops, "matrix_tflops",
          .missing = MISSING_NOT_POSITIVE),
    FIELD_INSIDE(struct measured_db, clocks, "clocks", &clock_record),
    FIELD(struct measured_db, done, "measured"),
    FIELD(struct measured_db, skipped, "skipped"),
    FIELD(struct measured_db, refused, "rejected"),
    FIELD(struct measured_db, failed, "failed"),
    FIELD(struct measured_db, slow, "slow"),
    FIELD(struct measured_db, dropped, "rows_dropped",
          .about = "deleted by --drop-failing-rows: no device takes them"),
    FIELD(struct measured_db, n_pruned, "rows_pruned",
          .about = "deleted by --prune-empty-duration-rows: no duration"),
    FIELD_LIST(struct measured_db, pruned.at, pruned.n, "pruned", &prune_record),
    FIELD(struct measured_db, repeats, "runs"),
    FIELD_CALC(FIELD_I64, "rows_with_outliers", outliers_of),
    FIELD_VALUES(struct measured_db, complete, n_complete, "complete_tables"),
    FIELD_LIST(struct measured_db, ops.at, ops.n, "operators", &op_record),
    FIELD_LIST(struct measured_db, rows.at, rows.n, "rows", &row_record),
};
static const struct record measure_record = RECORD(struct measured_db, measure_fields);

const struct schema measured_db_schema = {
    .name = "strata.db-replay/1",
    .title = "operators of a database, measured",
    .record = &measure_record,
};

/* The first rows that a test holds for, as a table. */
static void describe_rows(const struct measured_db *m, bool (*is)(const struct measurement *),
                          struct str heading, const struct record *record, struct report *report)
{
    enum { SHOWN = 20 };
    struct measurement rows[SHOWN];
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

static bool is_not_done(const struct measurement *r)
{
    return r->state != MEASURE_DONE;
}

static bool is_slow(const struct measurement *r)
{
    return r->roof.is_slow;
}

static bool is_deleted(const struct measurement *r)
{
    return r->is_dropped;
}

static void describe_clocks(const struct measured_clocks *c, struct report *report)
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

static void describe_complete(const struct measured_db *m, struct report *report)
{
    for (size_t i = 0; i < m->n_complete; i++)
        report_line(report, "[SKIP] %s: every row has a duration", m->complete[i]);
    report_line(report, "[SUMMARY] nothing to replay: %zu tables are complete", m->n_complete);
}

void measured_db_describe(const void *result, struct report *report)
{
    const struct measured_db *m = result;

    if (m->n_complete > 0) {
        describe_complete(m, report);
        return;
    }
    report_line(report, "%s: %s%s%s", m->backend, m->facts.device,
                m->facts.products[0] != 0 ? ", " : "", m->facts.products);
    if (m->facts.copy_gbps > 0)
        report_line(report, "measured on it: copy %.0f GB/s, matrix product %.3g TFLOP/s",
                    m->facts.copy_gbps, m->facts.matrix_tflops);
    describe_clocks(&m->clocks, report);
    report_records(report, &op_record, m->ops.at, m->ops.n, NULL);
    describe_rows(m, is_not_done, S("Rows without a duration"), &row_record, report);
    describe_rows(m, is_slow, S("More than ten times slower than the device allows"), &slow_record,
                  report);
    describe_rows(m, is_deleted, S("Deleted: no device takes them (--drop-failing-rows)"),
                  &row_record, report);
    if (m->n_pruned > 0) {
        report_heading(report, S("Deleted: no duration (--prune-empty-duration-rows)"));
        report_records(report, &prune_record, m->pruned.at, m->pruned.n, NULL);
    }
    if (rows_with_outliers(m) > 0)
        report_line(report, "%llu rows have repeats far from their median (outliers in the JSON).",
                    (unsigned long long)rows_with_outliers(m));
    report_line(report, "Processed %llu runs of %llu rows from %zu csv file(s) under %s.",
                (unsigned long long)m->repeats, (unsigned long long)m->done, m->ops.n, m->dir);
}
