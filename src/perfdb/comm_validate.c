#include "perfdb/comm_validate.h"

#include <inttypes.h>
#include <math.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"
#include "perfdb/table.h"

struct columns {
    int bytes, ranks, tier, duration;
};

static struct columns find_columns(const struct table *t)
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

static bool read_point(const struct table *t, struct columns c, size_t row, struct comm_point *out)
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

static enum status judge_table(struct comm_validation *v, enum collective op, const struct table *t,
                               struct diag *d)
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
    struct table t;

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
