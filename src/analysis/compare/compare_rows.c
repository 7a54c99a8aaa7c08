/*
 * Rows of two captures matched by name and shapes.
 */
#include "analysis/compare/compare_rows.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/steps/steps.h"
#include "text/diff.h"

static const double alike_limit = 0.5;

struct sided {
    const struct op_stat *row;
    enum side side;
};

ORDER_BY(by_name, struct sided,
         str_compare(x->row->name, y->row->name) ?: str_compare(x->row->shapes, y->row->shapes)
                                                 ?: ORDER(x->side, y->side));

static bool is_same(const struct sided *a, const struct sided *b)
{
    return str_equal(a->row->name, b->row->name) && str_equal(a->row->shapes, b->row->shapes);
}

struct matcher {
    const struct op_stats *stats[SIDES];
    double steps[SIDES];
    struct sided *list;
    size_t n;
};

/* Rows of both sides, those of one name beside each other. For mem_free(). */
static void rows_gather(struct matcher *m)
{
    m->list = mem_grow(NULL, sizeof(*m->list), m->stats[SIDE_A]->n + m->stats[SIDE_B]->n + 1);
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; i < m->stats[side]->n; i++)
            m->list[m->n++] = (struct sided){&m->stats[side]->at[i], (enum side)side};
    if (m->n > 1)
        qsort(m->list, m->n, sizeof(*m->list), by_name);
}

static struct compare_row sum_rows(const struct matcher *m, size_t from, size_t to)
{
    struct compare_row row = {.name = m->list[from].row->name, .shapes = m->list[from].row->shapes};

    for (size_t i = from; i < to; i++) {
        const struct op_stat *s = m->list[i].row;
        enum side side = m->list[i].side;
        row.calls[side] += (double)(s->calls > 0 ? s->calls : s->own_kernels) / m->steps[side];
        row.time[side] += (double)s->own_device / m->steps[side];
    }
    row.delta = row.time[SIDE_B] - row.time[SIDE_A];
    return row;
}

/* Share of the calls of a step that both sides make; below 0 when one has no host operators. */
static double rows_likeness(struct study *a, struct study *b, const double *steps)
{
    const struct op_options by_op = {.by = OP_BY_OP};
    struct matcher m = {.stats = {op_stats_find(a, &by_op), op_stats_find(b, &by_op)},
                        .steps = {steps[SIDE_A], steps[SIDE_B]}};
    double both = 0, any = 0;

    if (m.stats[SIDE_A]->n == 0 || m.stats[SIDE_B]->n == 0)
        return -1;
    rows_gather(&m);
    for (size_t i = 0, first = 0; i < m.n; i++) {
        if (i + 1 < m.n && is_same(&m.list[i], &m.list[i + 1]))
            continue;
        struct compare_row row = sum_rows(&m, first, i + 1);
        double common = fmin(row.calls[SIDE_A], row.calls[SIDE_B]);
        both += common;
        any += row.calls[SIDE_A] + row.calls[SIDE_B] - common;
        first = i + 1;
    }
    mem_free(m.list);
    return num_share(both, any);
}

ORDER_BY(largest_change_first, struct compare_row,
         ORDER(fabs(y->delta), fabs(x->delta)) ?: str_compare(x->name, y->name)
                                               ?: str_compare(x->shapes, y->shapes));

static void find_rows(struct matcher *m, struct compare_rows *out, struct arena *arena)
{
    rows_gather(m);
    out->at = ARENA_ARRAY(arena, struct compare_row, m->n);
    for (size_t i = 0, first = 0; i < m->n; i++) {
        if (i + 1 < m->n && is_same(&m->list[i], &m->list[i + 1]))
            continue;
        struct compare_row row = sum_rows(m, first, i + 1);
        first = i + 1;
        if (row.time[SIDE_A] <= 0 && row.time[SIDE_B] <= 0)
            continue;
        row.name = arena_str(arena, row.name);
        row.shapes = arena_str(arena, row.shapes);
        out->at[out->n++] = row;
    }
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), largest_change_first);
    mem_free(m->list);
}

const struct compare_rows *compare_rows_find(struct study *a, struct study *b, enum op_by by,
                                             struct arena *arena)
{
    struct compare_rows *out = ARENA_NEW(arena, struct compare_rows);
    const struct op_options o = {.by = by};
    struct study *studies[SIDES] = {a, b};
    struct matcher m = {0};

    *out = (struct compare_rows){.by = by};
    for (int side = 0; side < SIDES; side++) {
        const struct steps *steps = study_steps(studies[side]);
        m.stats[side] = op_stats_find(studies[side], &o);
        out->steps[side] = steps->n > 0 ? steps->n : 1;
        m.steps[side] = (double)out->steps[side];
        out->time[side] = (double)m.stats[side]->device / m.steps[side];
        out->outside[side] = (double)m.stats[side]->outside / m.steps[side];
    }
    out->likeness = rows_likeness(a, b, m.steps);
    out->is_different = out->likeness >= 0 && out->likeness < alike_limit;
    find_rows(&m, out, arena);
    return out;
}

/* ---- described ---- */

enum { FACTOR = 2 };

/* "+12.3 %", and from a factor of 2 on "2.4 x" or "1/2.4". */
static struct str change_text(double a, double b, struct arena *arena)
{
    if (a <= 0 || b <= 0)
        return a <= 0 ? S("new") : S("gone");
    if (b >= FACTOR * a)
        return arena_format(arena, "%.1f x", b / a);
    if (a >= FACTOR * b)
        return arena_format(arena, "1/%.1f", a / b);
    return arena_format(arena, "%+.1f %%", 100 * (b / a - 1));
}

static struct field_value rows_change_of(const void *record, const struct record_env *env)
{
    const struct compare_row *row = record;

    return value_text(change_text(row->time[SIDE_A], row->time[SIDE_B], env->arena));
}

static struct field_value ratio_of(const void *record, const struct record_env *env)
{
    const struct compare_row *row = record;

    (void)env;
    return row->time[SIDE_A] > 0 ? value_real(row->time[SIDE_B] / row->time[SIDE_A]) : value_none();
}

#define TIME_FIELDS                                                                                \
    FIELD(struct compare_row, calls[SIDE_A], "calls_a", .head = "calls A", .unit = UNIT_PLAIN),    \
        FIELD(struct compare_row, calls[SIDE_B], "calls_b", .head = "calls B",                     \
              .unit = UNIT_PLAIN),                                                                 \
        FIELD(struct compare_row, time[SIDE_A], "device_ns_a", .head = "time A ms",                \
              .unit = UNIT_MS),                                                                    \
        FIELD(struct compare_row, time[SIDE_B], "device_ns_b", .head = "time B ms",                \
              .unit = UNIT_MS),                                                                    \
        FIELD(struct compare_row, delta, "delta_ns", .head = "change ms", .unit = UNIT_MS),        \
        FIELD_CALC(FIELD_F64, "ratio", ratio_of, .missing = MISSING_NEGATIVE),                     \
        FIELD_CALC(FIELD_STR, NULL, rows_change_of, .head = "change", .is_right = true)

static const struct field shape_fields[] = {
    FIELD(struct compare_row, name, "name", .head = "name"),
    FIELD(struct compare_row, shapes, "input_shapes", .missing = MISSING_EMPTY, .head = "shapes"),
    TIME_FIELDS,
};
static const struct record shape_record = RECORD(struct compare_row, shape_fields);

static const struct field row_fields[] = {
    FIELD(struct compare_row, name, "name", .head = "name"),
    TIME_FIELDS,
};
static const struct record row_record = RECORD(struct compare_row, row_fields);

static const struct field rows_fields[] = {
    FIELD_OF_ENUM(struct compare_rows, by, "by", op_by_name, OP_BYS),
    FIELD(struct compare_rows, steps[SIDE_A], "steps_a"),
    FIELD(struct compare_rows, steps[SIDE_B], "steps_b"),
    FIELD(struct compare_rows, time[SIDE_A], "device_ns_a"),
    FIELD(struct compare_rows, time[SIDE_B], "device_ns_b"),
    FIELD(struct compare_rows, outside[SIDE_A], "outside_ns_a"),
    FIELD(struct compare_rows, outside[SIDE_B], "outside_ns_b"),
    FIELD(struct compare_rows, likeness, "likeness", .missing = MISSING_NEGATIVE),
    FIELD(struct compare_rows, is_different, "is_different"),
    FIELD_LIST(struct compare_rows, at, n, "rows", &shape_record),
};
const struct record compare_rows_record = RECORD(struct compare_rows, rows_fields);

enum { ROWS_SHOWN = 30 };

void compare_rows_describe(const struct compare_rows *c, struct report *r)
{
    const struct record_env env = {.arena = &r->arena};
    size_t n = c->n < ROWS_SHOWN ? c->n : ROWS_SHOWN;

    if (c->is_different)
        report_text(r, REPORT_MESSAGE(r, &diff_text.different,
                                      place_quantity("share", c->likeness, UNIT_RATIO)));
    report_text(
        r, REPORT_MESSAGE(r, &diff_text.by_rows, place_quantity("a", c->time[SIDE_A], UNIT_NS),
                          place_quantity("b", c->time[SIDE_B], UNIT_NS),
                          PLACE("change", change_text(c->time[SIDE_A], c->time[SIDE_B], &r->arena)),
                          place_quantity("outside_a", c->outside[SIDE_A], UNIT_NS),
                          place_quantity("outside_b", c->outside[SIDE_B], UNIT_NS)));
    report_records(r, c->by == OP_BY_SHAPE ? &shape_record : &row_record, c->at, n, &env);
    if (n < c->n)
        report_text(r, REPORT_MESSAGE(r, &diff_text.more_rows, PLACE("n", c->n - n)));
}
