/*
 * Measured collectives against the model: verdicts, the report of fixed shape, and the document.
 */
#include "opdb/measure/comm_jobs.h"

#include <inttypes.h>
#include <math.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/text/text.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

struct columns {
    int bytes, ranks, tier, duration;
};

static struct columns validate_find_columns(const struct op_table *t)
{
    struct columns c = {
        .bytes = table_column(t, S("message_bytes")),
        .ranks = table_column(t, S("num_devices")),
        .tier = table_column(t, S("topology_tier")),
        .duration = table_column(t, COL_AVERAGE),
    };
    if (c.duration < 0)
        c.duration = table_column(t, COL_DURATION);
    if (c.duration < 0)
        c.duration = table_column(t, COL_PROFILED);
    return c;
}

static enum status judge_row(struct comm_validation *v, enum collective op, const char *path,
                             uint64_t line, struct comm_point point, struct diag *d)
{
    struct comm_check *check = &v->checks[op];
    struct comm_row row = {.point = point};
    struct comm_point modelled = point; /* as the formula means it; a fit follows the rows */
    double t = v->job.tolerance;

    if (op == COMM_REDUCE_SCATTER && v->job.scatter_total && v->model.source != COMM_FROM_FIT &&
        __builtin_mul_overflow(point.bytes, point.ranks, &modelled.bytes))
        modelled.bytes = INT64_MAX;
    if (!comm_model_predict(&v->model, op, &modelled, &row.predicted_us)) {
        struct where where = {.path = path, .line = line};
        if (v->model.source == COMM_FROM_LINES)
            return diag_fail(d, ST_FORMAT, "perfdb.no-line", where, "%s has no line for %.*s",
                             v->job.links, STR_ARGS(comm_kinds[op].name));
        return diag_fail(d, ST_FORMAT, "perfdb.unknown-tier", where,
                         "unknown topology tier %" PRId64, point.tier);
    }
    row.ratio = row.predicted_us != 0 ? point.us / row.predicted_us : INFINITY;
    if (1 / t <= row.ratio && row.ratio <= t)
        row.verdict = COMM_PASS;
    else if (v->model.source ==
             COMM_FROM_FIT) /* no link was promised: an outlier of its own line */
        row.verdict = COMM_WARN;
    else
        row.verdict = 1 / (2 * t) <= row.ratio && row.ratio <= 2 * t ? COMM_WARN : COMM_FAIL;
    check->counts[row.verdict]++;
    v->counts[row.verdict]++;
    v->rows++;
    vec_push(&check->rows, row);
    return ST_OK;
}

static enum status judge_table(struct comm_validation *v, enum collective op,
                               const struct op_table *t, struct diag *d)
{
    struct columns columns = validate_find_columns(t);
    VEC_OF(struct comm_point) points = {0};
    VEC_OF(uint64_t) lines = {0};
    enum status st = ST_OK;

    for (size_t i = 0; i < t->n_rows; i++) {
        struct comm_point point = {.tier = 1};
        if (!cell_i64(table_cell(t, i, columns.bytes), &point.bytes) ||
            !cell_i64(table_cell(t, i, columns.ranks), &point.ranks) ||
            (columns.tier >= 0 && !cell_i64(table_cell(t, i, columns.tier), &point.tier)) ||
            !cell_number(table_cell(t, i, columns.duration), &point.us))
            continue;
        vec_push(&lines, t->lines.at[i]);
        vec_push(&points, point);
    }
    v->checks[op].rows_read = t->n_rows;
    if (v->model.source == COMM_FROM_FIT)
        comm_model_fit(&v->model, op, points.at, points.n);
    for (size_t i = 0; i < points.n && st == ST_OK; i++)
        st = cancelled() ? ST_CANCELLED : judge_row(v, op, t->path, lines.at[i], points.at[i], d);
    vec_free(&points);
    vec_free(&lines);
    return st;
}

static enum status check_file(struct comm_validation *v, enum collective op, const char *path,
                              struct diag *d)
{
    struct comm_check *check = &v->checks[op];
    double sum = 0;
    struct op_table t;

    enum status st = table_read(&t, path, d);
    if (st == ST_OK)
        st = judge_table(v, op, &t, d);
    table_free(&t);
    TRY(st);
    for (size_t i = 0; i < check->rows.n; i++) {
        double ratio = check->rows.at[i].ratio;
        sum += ratio;
        check->min = i == 0 || ratio < check->min ? ratio : check->min;
        check->max = i == 0 || ratio > check->max ? ratio : check->max;
    }
    if (check->rows.n > 0)
        check->mean = sum / (double)check->rows.n;
    check->dropped = check->rows_read - check->rows.n;
    return ST_OK;
}

enum status comm_validate(struct comm_validation *v, const struct comm_job *job, struct diag *d)
{
    struct arena arena;
    enum status st = ST_OK;

    *v = (struct comm_validation){.job = *job};
    comm_model_init(&v->model);
    if (!fs_is_dir(job->dir))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-folder", (struct where){.path = job->dir},
                         "is not a directory");
    if (job->links != NULL && strcmp(job->links, "fit") == 0)
        v->model.source = COMM_FROM_FIT;
    else if (job->links != NULL)
        TRY(comm_model_read(&v->model, job->links, d));
    arena_init(&arena);
    v->n_checks = COMM_VALIDATED;
    for (size_t i = 0; i < COMM_COLLECTIVES; i++) {
        v->checks[i].op = (enum collective)i;
        v->checks[i].mean = v->checks[i].min = v->checks[i].max = NAN;
        v->checks[i].is_there = fs_exists(fs_join(&arena, job->dir, comm_kinds[i].file));
        if (job->links != NULL && i >= COMM_VALIDATED && v->checks[i].is_there)
            v->n_checks = i + 1;
    }
    for (size_t i = 0; i < v->n_checks && st == ST_OK; i++) {
        const char *path = fs_join(&arena, job->dir, comm_kinds[i].file);
        v->checks[i].was_visited = true;
        if (v->checks[i].is_there)
            st = check_file(v, (enum collective)i, path, d);
    }
    arena_free(&arena);
    v->is_complete = st == ST_OK;
    return st;
}

void comm_validation_free(struct comm_validation *v)
{
    for (size_t i = 0; i < COMM_COLLECTIVES; i++)
        vec_free(&v->checks[i].rows);
    comm_model_free(&v->model);
}

static ENUM_NAMES(verdict_name, unsigned, "PASS", "WARN",
                  "FAIL") static ENUM_NAMES(source_name, unsigned, "built-in", "links", "lines",
                                            "fit")

    static const
    char frame[] = "======================================================================\n";

static void put_model(struct text *out, const struct comm_validation *v)
{
    static const char *const words[] = {
        [COMM_FROM_PART] = NULL,
        [COMM_FROM_LINKS] = "latency and bandwidth by tier from",
        [COMM_FROM_LINES] = "alpha + beta * bytes by collective from",
        [COMM_FROM_FIT] = "fitted to these rows, by collective, device count and tier",
    };
    enum comm_source source = v->model.source;

    if (words[source] != NULL)
        text_format(out, "  links     : %s%s%s\n", words[source],
                    source == COMM_FROM_FIT ? "" : " ",
                    source == COMM_FROM_FIT ? "" : v->job.links);
}

static void put_counts(struct text *out, const uint64_t *counts)
{
    text_format(out, "PASS=%" PRIu64 "  WARN=%" PRIu64 "  FAIL=%" PRIu64 "\n", counts[COMM_PASS],
                counts[COMM_WARN], counts[COMM_FAIL]);
}

static void put_rows(struct text *out, const struct comm_check *check, bool lists_all)
{
    if (!lists_all && check->counts[COMM_PASS] == check->rows.n)
        return;
    text_format(out, "  status     msg_bytes  n_dev  tier    measured   predicted   ratio\n"
                     "  -----------------------------------------------------------------\n");
    for (size_t i = 0; i < check->rows.n; i++) {
        const struct comm_row *row = &check->rows.at[i];
        if (lists_all || row->verdict != COMM_PASS)
            text_format(
                out, "  %-6s  %12" PRId64 "  %5" PRId64 "  %4" PRId64 "  %10.2f  %10.2f  %6.2fx\n",
                verdict_name(row->verdict), row->point.bytes, row->point.ranks, row->point.tier,
                row->point.us, row->predicted_us, row->ratio);
    }
}

static void put_check(struct text *out, const struct comm_validation *v, size_t op,
                      const char *tolerance)
{
    const struct comm_check *check = &v->checks[op];

    text_format(out, "\n%s  %.*s  (%zu rows, tolerance=%sx)\n  ", frame,
                STR_ARGS(comm_kinds[op].name), check->rows.n, tolerance);
    put_counts(out, check->counts);
    if (check->rows.n > 0)
        text_format(out, "  ratio: mean=%.2fx  min=%.2fx  max=%.2fx\n", check->mean, check->min,
                    check->max);
    for (size_t i = 0; i < v->model.fits.n; i++) {
        const struct comm_fit *fit = &v->model.fits.at[i];
        if (fit->op == op)
            text_format(out,
                        "  fit: n_dev=%" PRId64 "  tier=%" PRId64
                        "  latency=%.2fus  bandwidth=%.2fGB/s  R2=%.4f\n",
                        fit->ranks, fit->tier, fit->line.alpha_us,
                        fit->line.beta_us > 0 ? 1e-3 / fit->line.beta_us : INFINITY, fit->r2);
    }
    text_format(out, "%s", frame);
    if (check->rows.n > 0)
        put_rows(out, check, v->job.lists_all);
}

bool comm_validation_print(const void *result, struct sink sink)
{
    const struct comm_validation *v = result;
    char tolerance[NUM_TEXT];
    struct text out = {0};

    num_print_point(tolerance, v->job.tolerance);
    text_format(&out, "C9 Comm Alignment Validation\n  csv_dir   : %s\n  tolerance : %sx\n",
                v->job.dir, tolerance);
    put_model(&out, v);
    for (size_t i = 0; i < v->n_checks; i++)
        if (v->checks[i].was_visited && !v->checks[i].is_there)
            text_format(&out, "  [SKIP] %s not found in %s\n", comm_kinds[i].file, v->job.dir);
    for (size_t i = 0; i < v->n_checks && v->is_complete; i++)
        if (v->checks[i].is_there)
            put_check(&out, v, i, tolerance);
    if (v->is_complete) {
        text_format(&out, "\n%s  TOTAL: %" PRIu64 " rows  ", frame, v->rows);
        put_counts(&out, v->counts);
        text_format(&out, "  Result: %s\n%s", v->counts[COMM_FAIL] == 0 ? "OK" : "FAILED", frame);
    }
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}

static const struct field row_fields[] = {
    FIELD_OF_ENUM(struct comm_row, verdict, "verdict", verdict_name, COMM_VERDICTS),
    FIELD(struct comm_row, point.bytes, "message_bytes"),
    FIELD(struct comm_row, point.ranks, "num_devices"),
    FIELD(struct comm_row, point.tier, "topology_tier"),
    FIELD(struct comm_row, point.us, "measured_us", .form = FORM_POINT),
    FIELD(struct comm_row, predicted_us, "predicted_us", .form = FORM_POINT),
    FIELD(struct comm_row, ratio, "ratio", .form = FORM_POINT),
};
static const struct record row_record = RECORD(struct comm_row, row_fields);

static struct field_value bandwidth(const void *of, const struct record_env *env)
{
    const struct comm_fit *fit = of;

    (void)env;
    return value_real(fit->line.beta_us > 0 ? 1e6 / fit->line.beta_us : INFINITY);
}

static const struct field fit_fields[] = {
    FIELD_OF_ENUM(struct comm_fit, op, "collective", comm_name, COMM_COLLECTIVES),
    FIELD(struct comm_fit, ranks, "num_devices"),
    FIELD(struct comm_fit, tier, "topology_tier"),
    FIELD(struct comm_fit, line.alpha_us, "latency_us", .form = FORM_POINT),
    FIELD_CALC(FIELD_F64, "bandwidth_bytes_per_s", bandwidth, .form = FORM_POINT),
    FIELD(struct comm_fit, r2, "r2", .form = FORM_POINT),
};
static const struct record fit_record = RECORD(struct comm_fit, fit_fields);

static const struct field check_fields[] = {
    FIELD_OF_ENUM(struct comm_check, op, "collective", comm_name, COMM_COLLECTIVES),
    FIELD(struct comm_check, is_there, "found"),
    FIELD(struct comm_check, counts[COMM_PASS], "pass"),
    FIELD(struct comm_check, counts[COMM_WARN], "warn"),
    FIELD(struct comm_check, counts[COMM_FAIL], "fail"),
    FIELD(struct comm_check, dropped, "dropped"),
    FIELD(struct comm_check, mean, "ratio_mean", .form = FORM_POINT),
    FIELD(struct comm_check, min, "ratio_min", .form = FORM_POINT),
    FIELD(struct comm_check, max, "ratio_max", .form = FORM_POINT),
    FIELD_LIST(struct comm_check, rows.at, rows.n, "rows", &row_record),
};
static const struct record check_record = RECORD(struct comm_check, check_fields);

static struct field_value is_ok(const void *of, const struct record_env *env)
{
    const struct comm_validation *v = of;

    (void)env;
    return value_bool(v->is_complete && v->counts[COMM_FAIL] == 0);
}

static const struct field job_fields[] = {
    FIELD(struct comm_job, dir, "csv_dir"),
    FIELD(struct comm_job, tolerance, "tolerance", .form = FORM_POINT),
};
static const struct record job_record = RECORD(struct comm_job, job_fields);

static const struct field validation_fields[] = {
    FIELD_SPLICE(struct comm_validation, job, &job_record),
    FIELD_OF_ENUM(struct comm_validation, model.source, "model", source_name, 4),
    FIELD_LIST(struct comm_validation, model.fits.at, model.fits.n, "fits", &fit_record),
    FIELD(struct comm_validation, is_complete, "is_complete",
          .about = "false: a table cannot be read, and the rest was left out"),
    FIELD_CALC(FIELD_BOOL, "is_ok", is_ok),
    FIELD(struct comm_validation, rows, "rows"),
    FIELD(struct comm_validation, counts[COMM_PASS], "pass"),
    FIELD(struct comm_validation, counts[COMM_WARN], "warn"),
    FIELD(struct comm_validation, counts[COMM_FAIL], "fail"),
    FIELD_ROOM(struct comm_validation, checks, n_checks, "collectives", &check_record),
};
static const struct record validation_record = RECORD(struct comm_validation, validation_fields);

const struct schema comm_validation_schema = {
    .name = "strata.comm-validate/1",
    .title = "measured collectives compared with a link model",
    .record = &validation_record,
};
