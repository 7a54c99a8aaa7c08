#include "perfdb/comm_validate.h"

#include <inttypes.h>
#include <math.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/text_out.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"
#include "perfdb/compare_text.h"
#include "perfdb/table.h"

struct columns {
    int bytes, ranks, tier, duration;
};

static struct columns find_columns(const struct db_table *t)
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

static bool read_point(const struct db_table *t, struct columns c, size_t row,
                       struct comm_point *out)
{
    out->tier = 1;
    return cell_i64(table_cell(t, row, c.bytes), &out->bytes) &&
           cell_i64(table_cell(t, row, c.ranks), &out->ranks) &&
           (c.tier < 0 || cell_i64(table_cell(t, row, c.tier), &out->tier)) &&
           cell_number(table_cell(t, row, c.duration), &out->us);
}

static enum comm_verdict judge(double ratio, double t)
{
    if (1 / t <= ratio && ratio <= t)
        return COMM_PASS;
    return 1 / (2 * t) <= ratio && ratio <= 2 * t ? COMM_WARN : COMM_FAIL;
}

/* The point as the model's formula means it. A fit follows the rows as they are. */
static struct comm_point as_modelled(const struct comm_validation *v, enum collective op,
                                     struct comm_point point)
{
    if (op == COMM_REDUCE_SCATTER && v->job->scatter_total && v->model.source != COMM_FROM_FIT &&
        __builtin_mul_overflow(point.bytes, point.ranks, &point.bytes))
        point.bytes = INT64_MAX;
    return point;
}

static enum status judge_row(struct comm_validation *v, enum collective op, const char *path,
                             uint64_t line, struct comm_point point, struct diag *d)
{
    struct comm_check *check = &v->checks[op];
    struct comm_row row = {.point = point};
    struct comm_point modelled = as_modelled(v, op, point);

    if (!comm_model_predict(&v->model, op, &modelled, &row.predicted_us)) {
        struct where where = {.path = path, .line = line};
        if (v->model.source == COMM_FROM_LINES)
            return diag_fail(d, ST_FORMAT, "perfdb.no-line", where, "%s gives no line for %.*s",
                             v->job->links, STR_ARGS(comm_kinds[op].name));
        return diag_fail(d, ST_FORMAT, "perfdb.unknown-tier", where,
                         "unknown topology tier %" PRId64, point.tier);
    }
    row.ratio = row.predicted_us != 0 ? point.us / row.predicted_us : INFINITY;
    row.verdict = judge(row.ratio, v->job->tolerance);
    check->counts[row.verdict]++;
    v->counts[row.verdict]++;
    v->rows++;
    vec_push(&check->rows, row);
    return ST_OK;
}

static void summarize(struct comm_check *check)
{
    double sum = 0;

    for (size_t i = 0; i < check->rows.n; i++) {
        double ratio = check->rows.at[i].ratio;
        sum += ratio;
        check->min = i == 0 || ratio < check->min ? ratio : check->min;
        check->max = i == 0 || ratio > check->max ? ratio : check->max;
    }
    if (check->rows.n > 0)
        check->mean = sum / (double)check->rows.n;
}

static enum status judge_table(struct comm_validation *v, enum collective op,
                               const struct db_table *t, struct diag *d)
{
    struct columns columns = find_columns(t);
    VEC_OF(struct comm_point) points = {0};
    VEC_OF(uint64_t) lines = {0};
    enum status st = ST_OK;

    for (size_t i = 0; i < t->n_rows; i++) {
        struct comm_point point;
        if (!read_point(t, columns, i, &point))
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
    struct db_table t;

    enum status st = table_read(&t, path, d);
    if (st == ST_OK)
        st = judge_table(v, op, &t, d);
    table_free(&t);
    if (st == ST_OK)
        summarize(&v->checks[op]);
    return st;
}

static enum status choose_model(struct comm_validation *v, struct diag *d)
{
    const char *links = v->job->links;

    if (links == NULL)
        return ST_OK;
    if (strcmp(links, "fit") != 0)
        return comm_model_read(&v->model, links, d);
    v->model.source = COMM_FROM_FIT;
    return ST_OK;
}

enum status comm_validate(struct comm_validation *v, const struct comm_job *job, struct diag *d)
{
    struct arena arena;
    enum status st = ST_OK;

    *v = (struct comm_validation){.job = job};
    comm_model_init(&v->model);
    if (!fs_is_dir(job->dir))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-folder", (struct where){.path = job->dir},
                         "is not a directory");
    TRY(choose_model(v, d));
    arena_init(&arena);
    for (size_t i = 0; i < COMM_VALIDATED && st == ST_OK; i++) {
        const char *path = fs_join(&arena, job->dir, comm_kinds[i].file);
        v->checks[i].was_visited = true;
        v->checks[i].is_there = fs_exists(path);
        if (v->checks[i].is_there)
            st = check_file(v, (enum collective)i, path, d);
    }
    arena_free(&arena);
    return st;
}

void comm_validation_free(struct comm_validation *v)
{
    for (size_t i = 0; i < COMM_VALIDATED; i++)
        vec_free(&v->checks[i].rows);
    comm_model_free(&v->model);
}

static const char *const verdict_names[COMM_VERDICTS] = {"PASS", "WARN", "FAIL"};

static const char frame[] =
    "======================================================================\n";

struct page {
    struct text_out out;
    struct arena arena; /* a line at a time */
};

#define PUT(page, ...) text_out_put(&(page)->out, arena_format(&(page)->arena, __VA_ARGS__))

static void put_model(struct page *page, const struct comm_validation *v)
{
    switch (v->model.source) {
    case COMM_FROM_PART:
        return;
    case COMM_FROM_LINKS:
        text_out_put(&page->out, S("  links     : latency and bandwidth by tier from "));
        break;
    case COMM_FROM_LINES:
        text_out_put(&page->out, S("  links     : alpha + beta * bytes by collective from "));
        break;
    case COMM_FROM_FIT:
        text_out_put(&page->out,
                     S("  links     : fitted to these rows, by collective, device count and "
                       "tier\n"));
        return;
    }
    text_out_put(&page->out, str_of(v->job->links));
    text_out_put(&page->out, S("\n"));
}

static void put_head(struct page *page, const struct comm_validation *v)
{
    char tolerance[DECIMAL_TEXT];

    text_out_put(&page->out, S("C9 Comm Alignment Validation\n  csv_dir   : "));
    text_out_put(&page->out, str_of(v->job->dir));
    decimal_exact(tolerance, v->job->tolerance);
    PUT(page, "\n  tolerance : %sx\n", tolerance);
    put_model(page, v);
    for (size_t i = 0; i < COMM_VALIDATED; i++)
        if (v->checks[i].was_visited && !v->checks[i].is_there) {
            PUT(page, "  [SKIP] %s not found in ", comm_kinds[i].file);
            text_out_put(&page->out, str_of(v->job->dir));
            text_out_put(&page->out, S("\n"));
        }
}

static void put_counts(struct page *page, const uint64_t *counts)
{
    PUT(page, "PASS=%" PRIu64 "  WARN=%" PRIu64 "  FAIL=%" PRIu64 "\n", counts[COMM_PASS],
        counts[COMM_WARN], counts[COMM_FAIL]);
}

static void put_rows(struct page *page, const struct comm_check *check, bool lists_all)
{
    if (!lists_all && check->counts[COMM_PASS] == check->rows.n)
        return;
    PUT(page, "  status     msg_bytes  n_dev  tier    measured   predicted   ratio\n"
              "  -----------------------------------------------------------------\n");
    for (size_t i = 0; i < check->rows.n; i++) {
        const struct comm_row *row = &check->rows.at[i];
        struct arena_mark mark = arena_mark(&page->arena);
        if (!lists_all && row->verdict == COMM_PASS)
            continue;
        PUT(page, "  %-6s  %12" PRId64 "  %5" PRId64 "  %4" PRId64 "  %10.2f  %10.2f  %6.2fx\n",
            verdict_names[row->verdict], row->point.bytes, row->point.ranks, row->point.tier,
            row->point.us, row->predicted_us, row->ratio);
        arena_rewind(&page->arena, mark);
    }
}

static void put_check(struct page *page, const struct comm_validation *v, size_t op)
{
    const struct comm_check *check = &v->checks[op];
    char tolerance[DECIMAL_TEXT];

    decimal_exact(tolerance, v->job->tolerance);
    PUT(page, "\n%s  %.*s  (%zu rows, tolerance=%sx)\n  ", frame, STR_ARGS(comm_kinds[op].name),
        check->rows.n, tolerance);
    put_counts(page, check->counts);
    if (check->rows.n > 0)
        PUT(page, "  ratio: mean=%.2fx  min=%.2fx  max=%.2fx\n", check->mean, check->min,
            check->max);
    PUT(page, "%s", frame);
    if (check->rows.n > 0)
        put_rows(page, check, v->job->lists_all);
}

bool comm_validation_print(const struct comm_validation *v, bool is_whole, struct sink sink)
{
    struct page page;

    arena_init(&page.arena);
    text_out_open(&page.out, sink);
    put_head(&page, v);
    for (size_t i = 0; i < COMM_VALIDATED && is_whole; i++)
        if (v->checks[i].is_there)
            put_check(&page, v, i);
    if (is_whole) {
        PUT(&page, "\n%s  TOTAL: %" PRIu64 " rows  ", frame, v->rows);
        put_counts(&page, v->counts);
        PUT(&page, "  Result: %s\n%s", v->counts[COMM_FAIL] == 0 ? "OK" : "FAILED", frame);
    }
    arena_free(&page.arena);
    return text_out_close(&page.out);
}

static void json_number(struct json_writer *j, struct str key, double value)
{
    decimal_json(j, key, value, DECIMALS_ALL);
}

static void json_counts(struct json_writer *j, const uint64_t *counts)
{
    static const struct str keys[COMM_VERDICTS] = {S_INIT("pass"), S_INIT("warn"), S_INIT("fail")};

    for (size_t i = 0; i < COMM_VERDICTS; i++) {
        json_write_key(j, keys[i]);
        json_write_u64(j, counts[i]);
    }
}

static void json_rows(struct json_writer *j, const struct comm_check *check)
{
    json_put_array(j, "rows");
    for (size_t i = 0; i < check->rows.n; i++) {
        const struct comm_row *row = &check->rows.at[i];
        json_write_object(j);
        json_put_text(j, "verdict", verdict_names[row->verdict]);
        json_put_i64(j, "message_bytes", row->point.bytes);
        json_put_i64(j, "num_devices", row->point.ranks);
        json_put_i64(j, "topology_tier", row->point.tier);
        json_number(j, S("measured_us"), row->point.us);
        json_number(j, S("predicted_us"), row->predicted_us);
        json_number(j, S("ratio"), row->ratio);
        json_write_end(j);
    }
    json_write_end(j);
}

static void json_fits(struct json_writer *j, const struct comm_validation *v)
{
    json_put_array(j, "fits");
    for (size_t i = 0; i < v->model.fits.n; i++) {
        const struct comm_fit *fit = &v->model.fits.at[i];
        json_write_object(j);
        json_put_str(j, "collective", comm_kinds[fit->op].name);
        json_put_i64(j, "num_devices", fit->ranks);
        json_put_i64(j, "topology_tier", fit->tier);
        json_number(j, S("latency_us"), fit->line.alpha_us);
        json_number(j, S("bandwidth_bytes_per_s"),
                    fit->line.beta_us > 0 ? 1e6 / fit->line.beta_us : INFINITY);
        json_write_end(j);
    }
    json_write_end(j);
}

static void json_check(struct json_writer *j, const struct comm_validation *v, size_t op)
{
    const struct comm_check *check = &v->checks[op];

    json_write_object(j);
    json_put_str(j, "collective", comm_kinds[op].name);
    json_put_bool(j, "found", check->is_there);
    json_counts(j, check->counts);
    json_put_i64(j, "dropped", (int64_t)(check->rows_read - check->rows.n));
    bool has_rows = check->rows.n > 0;
    json_number(j, S("ratio_mean"), has_rows ? check->mean : NAN);
    json_number(j, S("ratio_min"), has_rows ? check->min : NAN);
    json_number(j, S("ratio_max"), has_rows ? check->max : NAN);
    json_rows(j, check);
    json_write_end(j);
}

void comm_validation_json(const struct comm_validation *v, struct json_writer *j)
{
    static const char *const sources[] = {"built-in", "links", "lines", "fit"};

    json_write_object(j);
    json_put_text(j, "csv_dir", v->job->dir);
    json_number(j, S("tolerance"), v->job->tolerance);
    json_put_text(j, "model", sources[v->model.source]);
    json_fits(j, v);
    json_put_bool(j, "is_ok", v->counts[COMM_FAIL] == 0);
    json_counts(j, v->counts);
    json_put_array(j, "collectives");
    for (size_t i = 0; i < COMM_VALIDATED; i++)
        json_check(j, v, i);
    json_write_end(j);
    json_write_end(j);
}
