/*
 * Errors of models by rows that are left out. See accuracy.h.
 */
#include "opdb/predict/accuracy.h"

#include <math.h>

#include "base/run/cancel.h"
#include "base/tables/ranked.h"
#include "opdb/predict/query.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/db_device.h"
#include "opdb/rows/opset.h"

/* Errors of many predictions. */
struct accuracy_errors {
    VEC_OF(double) at;
    size_t covered;
    double worst;
    struct str worst_shapes;
};

static void add_error(struct accuracy_errors *e, double error, bool is_covered, struct str shapes)
{
    vec_push(&e->at, error);
    e->covered += is_covered;
    if (error >= e->worst) {
        e->worst = error;
        e->worst_shapes = shapes;
    }
}

static struct accuracy_judged accuracy_judge(struct accuracy_errors *e)
{
    struct accuracy_judged j = {.n = e->at.n, .worst = e->worst, .worst_shapes = e->worst_shapes};

    if (j.n > 0) {
        ranked_sort(e->at.at, e->at.n);
        for (size_t i = 0; i < j.n; i++)
            j.mape += e->at.at[i] / (double)j.n;
        j.median = e->at.at[j.n / 2];
        j.p95 = e->at.at[(size_t)ceil(0.95 * (double)j.n) - 1];
        j.covered = (double)e->covered / (double)j.n;
    }
    vec_free(&e->at);
    return j;
}

static struct str cell_of(struct accuracy *a, const struct opset *s, uint32_t row,
                          struct str column)
{
    return arena_str(&a->arena,
                     cell_bare(table_cell(&s->table, row, table_column(&s->table, column))));
}

static struct str shapes_of(struct accuracy *a, const struct opset *s, const struct opset_regime *r,
                            uint32_t point)
{
    const struct call_work *w = &r->points.at[point].work;

    if (w->kind == WORK_COMM)
        return arena_format(&a->arena, "%.0f bytes, %.0f devices", w->axis[0], w->axis[1]);
    if (w->kind == WORK_ATTENTION)
        return arena_format(&a->arena, "%.0f sequences, %.0f queries, %.0f keys", w->axis[0],
                            w->axis[1], w->axis[2]);
    return cell_of(a, s, r->rows.at[point], COL_INPUT_SHAPES);
}

static struct str variant_of(struct accuracy *a, const struct opset *s,
                             const struct opset_regime *r)
{
    const struct call_work *w = &r->points.at[0].work;
    struct str types = cell_of(a, s, r->rows.at[0], COL_INPUT_DTYPES), first = types;

    if (w->kind != WORK_ATTENTION)
        return types;
    str_split(&types, ';', &first);
    return arena_format(&a->arena, "%.*s %s", STR_ARGS(first),
                        w->axis[1] > 1.5 ? "prefill" : "decode");
}

static struct str model_of(struct accuracy *a, const struct estimate_model *m)
{
    const struct estimate_roof *r = &m->member[0].roof;
    const char *smooth = m->member[0].kriging.is_smooth ? "smooth" : "linear";

    if (r->cache > 0)
        return arena_format(&a->arena, "roof with %.0f MB of cache, %s", r->cache / 1e6, smooth);
    if (r->cores <= 0)
        return arena_format(&a->arena, "roof, %s", smooth);
    if (!isfinite(r->tile_columns))
        return arena_format(&a->arena, "%g-row tiles on %g cores, %s", r->tile_rows, r->cores,
                            smooth);
    return arena_format(&a->arena, "%gx%g tiles on %g cores, %s", r->tile_rows, r->tile_columns,
                        r->cores, smooth);
}

/* Each point left out alone, then each fifth of the longest axis. */
static void judge_regime(struct accuracy *a, const struct opset *s, const struct opset_regime *r,
                         struct accuracy_errors all[2])
{
    struct estimate_trial *trials = mem_grow(NULL, sizeof(*trials), ESTIMATE_TRIALS + 1);
    struct accuracy_op op = {.kernel = arena_str(&a->arena, s->kernel),
                             .variant = variant_of(a, s, r),
                             .rows = r->points.n};
    struct estimate_model model;
    struct estimate_chip chip = opset_chip(s, &r->points.at[0].work);

    for (int is_block = 0; is_block < 2; is_block++) {
        struct accuracy_errors errors = {0};
        size_t n = is_block ? estimate_leave_block_out(r->points.at, r->points.n, &chip, trials)
                            : estimate_leave_one_out(r->points.at, r->points.n, &chip, trials);
        for (size_t i = 0; i < n; i++) {
            const struct estimate_trial *t = &trials[i];
            double measured = r->points.at[t->point].us, error = fabs(t->us / measured - 1);
            struct str shapes = shapes_of(a, s, r, t->point);
            add_error(&errors, error, t->is_covered, shapes);
            add_error(&all[is_block], error, t->is_covered, shapes);
            if (!is_block)
                vec_push(&a->points, ((struct accuracy_point){op.kernel, shapes, measured, t->us,
                                                              t->low_us, t->high_us}));
        }
        *(is_block ? &op.block : &op.one) = accuracy_judge(&errors);
    }
    estimate_fit(&model, r->points.at, r->points.n, &chip);
    op.model = model_of(a, &model);
    estimate_free(&model);
    mem_free(trials);
    vec_push(&a->ops, op);
}

enum status accuracy_find(struct accuracy *a, const struct place_files *tree, const char *dir,
                          struct diag *d)
{
    const struct device *device = db_device_of_path(dir);
    struct accuracy_errors all[2] = {0};
    enum status st = ST_OK;

    *a = (struct accuracy){0};
    arena_init(&a->arena);
    for (size_t i = 0; i < tree->n && st == ST_OK; i++) {
        struct opset s;
        if (opset_read(&s, tree->at[i].op, tree->at[i].path, NULL) != ST_OK) {
            a->unreadable++;
            diag_add(d, SEV_LOSS, "perfdb.table-skipped", (struct where){.path = tree->at[i].path},
                     "table skipped: it cannot be read");
        }
        s.device = device;
        for (size_t r = 0; r < s.regimes.n && st == ST_OK; r++) {
            judge_regime(a, &s, &s.regimes.at[r], all);
            st = cancelled() ? ST_CANCELLED : ST_OK;
        }
        opset_free(&s);
    }
    a->one = accuracy_judge(&all[0]);
    a->block = accuracy_judge(&all[1]);
    return st;
}

void accuracy_free(struct accuracy *a)
{
    vec_free(&a->ops);
    vec_free(&a->points);
    arena_free(&a->arena);
}

static const struct field judged_fields[] = {
    FIELD(struct accuracy_judged, n, "rows"),
    FIELD(struct accuracy_judged, mape, "mape"),
    FIELD(struct accuracy_judged, median, "median_error"),
    FIELD(struct accuracy_judged, p95, "p95_error"),
    FIELD(struct accuracy_judged, worst, "worst_error"),
    FIELD(struct accuracy_judged, worst_shapes, "worst_shapes"),
    FIELD(struct accuracy_judged, covered, "interval_coverage",
          .about = "share of rows inside their 80 % interval"),
};
static const struct record judged_record = RECORD(struct accuracy_judged, judged_fields);

static const struct field op_fields[] = {
    FIELD(struct accuracy_op, kernel, "operator", .head = "operator"),
    FIELD(struct accuracy_op, variant, "types", .head = "types", .drop = 2),
    FIELD(struct accuracy_op, rows, "rows", .head = "rows"),
    FIELD(struct accuracy_op, model, "model", .head = "model", .drop = 1),
    FIELD(struct accuracy_op, one.mape, NULL, .head = "mean error %", .unit = UNIT_RATIO),
    FIELD(struct accuracy_op, one.median, NULL, .head = "median %", .unit = UNIT_RATIO),
    FIELD(struct accuracy_op, one.p95, NULL, .head = "p95 %", .unit = UNIT_RATIO),
    FIELD(struct accuracy_op, one.worst, NULL, .head = "worst %", .unit = UNIT_RATIO),
    FIELD(struct accuracy_op, one.covered, NULL, .head = "covered %", .unit = UNIT_RATIO),
    FIELD(struct accuracy_op, block.median, NULL, .head = "block %", .unit = UNIT_RATIO),
    FIELD_INSIDE(struct accuracy_op, one, "leave_one_out", &judged_record),
    FIELD_INSIDE(struct accuracy_op, block, "leave_block_out", &judged_record),
};
const struct record accuracy_op_record = RECORD(struct accuracy_op, op_fields);

static const struct field point_fields[] = {
    FIELD(struct accuracy_point, kernel, "operator"),
    FIELD(struct accuracy_point, shapes, "shapes"),
    FIELD(struct accuracy_point, measured_us, "measured_us"),
    FIELD(struct accuracy_point, predicted_us, "predicted_us"),
    FIELD(struct accuracy_point, low_us, "interval_low_us"),
    FIELD(struct accuracy_point, high_us, "interval_high_us"),
};
static const struct record point_record = RECORD(struct accuracy_point, point_fields);

static const struct field accuracy_fields[] = {
    FIELD_INSIDE(struct accuracy, one, "leave_one_out", &judged_record),
    FIELD_INSIDE(struct accuracy, block, "leave_block_out", &judged_record),
    FIELD_LIST(struct accuracy, ops.at, ops.n, "operators", &accuracy_op_record),
    FIELD_LIST(struct accuracy, points.at, points.n, "predictions", &point_record),
    FIELD(struct accuracy, unreadable, "unreadable_tables"),
};
static const struct record accuracy_record = RECORD(struct accuracy, accuracy_fields);

const struct schema accuracy_schema = {
    .name = "strata.db-accuracy/1",
    .title = "errors of the models of a database",
    .record = &accuracy_record,
};
