/*
 * Predicted against measured time by kernel and shape, and the data behind the pictures.
 */
#include "opdb/compare/compare_shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "capture/classify.h"
#include "opdb/compare/compare_literal.h"

/* Borders of the histogram in percent; narrow where good models live. */
static const double borders[] = {-75, -50, -25, -10, -5, 5, 10, 25, 50, 100, 200};

_Static_assert(ARRAY_LEN(borders) + 1 == PLOT_BINS, "a bin on each side of a border");

static double distance(const struct plot_point *p)
{
    return fabs(p->modelled_us - p->measured_us);
}

ORDER_BY(by_distance, struct plot_point,
         ORDER(distance(y), distance(x)) ?: str_compare(x->kernel, y->kernel)
                                         ?: str_compare(x->shapes, y->shapes));

void plot_make(struct plot *plot, struct arena *arena, struct plot_point *points, size_t n)
{
    *plot = (struct plot){.points = points, .n_worst = n < PLOT_WORST ? n : PLOT_WORST};
    plot->scatter = ARENA_ARRAY(arena, struct plot_point, n);
    for (size_t bin = 0; bin < PLOT_BINS; bin++) {
        plot->bins[bin].from = bin > 0 ? borders[bin - 1] : -INFINITY;
        plot->bins[bin].to = bin < PLOT_BINS - 1 ? borders[bin] : INFINITY;
    }
    if (n > 0)
        qsort(points, n, sizeof(*points), by_distance);
    for (size_t i = 0; i < n; i++) {
        struct plot_point *p = &points[i];
        size_t bin = 0;
        p->error_pct =
            p->measured_us > 0 ? (p->modelled_us - p->measured_us) / p->measured_us * 100 : NAN;
        if (!(p->measured_us > 0 && p->modelled_us > 0))
            continue;
        while (bin < PLOT_BINS - 1 && p->error_pct >= borders[bin])
            bin++;
        plot->bins[bin].count++;
        plot->scatter[plot->n_scatter++] = *p;
    }
}

static const struct field point_fields[] = {
    FIELD(struct plot_point, kernel, "kernel_type"),
    FIELD(struct plot_point, shapes, "shape_key"),
    FIELD(struct plot_point, measured_us, "measured_us", .form = FORM_POINT),
    FIELD(struct plot_point, modelled_us, "modelled_us", .form = FORM_POINT),
    FIELD(struct plot_point, error_pct, "error_pct", .form = FORM_POINT),
};
static const struct record point_record = RECORD(struct plot_point, point_fields);

static const struct field bin_fields[] = {
    FIELD(struct plot_bin, from, "from_pct", .form = FORM_POINT),
    FIELD(struct plot_bin, to, "to_pct", .form = FORM_POINT),
    FIELD(struct plot_bin, count, "count"),
};
static const struct record bin_record = RECORD(struct plot_bin, bin_fields);

static const struct field plot_fields[] = {
    FIELD_LIST(struct plot, scatter, n_scatter, "scatter", &point_record),
    FIELD_ARRAY(struct plot, bins, "error_histogram", &bin_record),
    FIELD_LIST(struct plot, points, n_worst, "worst", &point_record),
};
const struct record plot_record = RECORD(struct plot, plot_fields);

void shape_rows_init(struct shape_rows *rows)
{
    *rows = (struct shape_rows){0};
    arena_init(&rows->arena);
    intern_init(&rows->keys);
}

void shape_rows_free(struct shape_rows *rows)
{
    vec_free(&rows->at);
    intern_fini(&rows->keys);
    arena_free(&rows->arena);
}

/* Adds to the row of a kernel at a shape; `shapes` is copied when the row is new. */
static struct shape_row *add_time(struct shape_rows *rows, enum shape_side side, struct str kernel,
                                  struct str shapes, double us)
{
    struct arena scratch;

    arena_init(&scratch);
    struct str key =
        arena_format(&scratch, "%zu:%.*s%.*s", kernel.n, STR_ARGS(kernel), STR_ARGS(shapes));
    size_t i = intern_put(&rows->keys, key) - 1;
    arena_free(&scratch);
    if (i == rows->at.n)
        vec_push(&rows->at, ((struct shape_row){.kernel = arena_str(&rows->arena, kernel),
                                                .shapes = arena_str(&rows->arena, shapes),
                                                .source = S("")}));
    struct shape_row *row = &rows->at.at[i];
    if (side == SHAPE_PREDICTED) {
        row->predicted_us += us;
        row->predicted_n++;
    } else {
        row->measured_us += us;
        row->measured_n++;
    }
    return row;
}

static void shapes_predict(struct shape_rows *rows, struct str kernel, struct str shapes, double us,
                           struct str source)
{
    add_time(rows, SHAPE_PREDICTED, kernel, shapes, us)->source = source;
}

static void predict_event(struct shape_rows *rows, const struct predicted_event *e,
                          struct arena *scratch)
{
    struct str type = e->args[TRACE_KERNEL_TYPE], source = e->args[TRACE_SOURCE], *kernels;
    struct str shapes = literal_shapes(scratch, e->args[TRACE_SHAPES]);
    struct kernel_share *shares;

    size_t n = literal_shares(scratch, e->args[TRACE_SUB_DURATIONS], &shares);
    for (size_t i = 0; i < n; i++)
        shapes_predict(rows, shares[i].kernel, shapes, shares[i].us, source);
    if (n > 0)
        return;
    n = compare_trace_kernels(scratch, type, &kernels);
    for (size_t i = 0; i < n && n > 1; i++)
        shapes_predict(rows, kernels[i], shapes, e->dur / (double)n, source);
    if (n <= 1)
        shapes_predict(rows, type, shapes, e->dur, source);
}

void shape_rows_predict(struct shape_rows *rows, const struct predicted *p)
{
    struct arena scratch;

    arena_init(&scratch);
    for (size_t i = 0; i < p->events.n; i++) {
        const struct predicted_event *e = &p->events.at[i];
        struct arena_mark mark = arena_mark(&scratch);
        if (e->args[TRACE_KERNEL_TYPE].n > 0)
            predict_event(rows, e, &scratch);
        arena_rewind(&scratch, mark);
    }
    arena_free(&scratch);
}

static enum status bad_time(const struct measured *m, struct measured_row row, const char *column,
                            struct str text, struct diag *d)
{
    if (d == NULL)
        return ST_OK;
    return diag_fail(
        d, ST_FORMAT, "perfdb.bad-time", (struct where){.path = m->table.path, .line = row.line},
        "%s of %.*s is not a number: '%.*s'", column, STR_ARGS(row.type), STR_ARGS(text));
}

static enum status measure_row(struct shape_rows *rows, const struct measured *m,
                               struct measured_row row, enum shape_side side, struct twins *twins,
                               struct diag *d)
{
    struct arena_mark mark = arena_mark(&rows->arena);
    size_t before = rows->at.n;
    double start, us;

    if (!measured_time(row.duration, &us))
        return bad_time(m, row, "Duration(us)", row.duration, d);
    if (!measured_time(row.start, &start))
        return bad_time(m, row, "Start Time(us)", row.start, d);
    struct str shapes = literal_shapes(&rows->arena, row.shapes);
    if (classify_is_collective(row.type)) {
        twins_put(twins, start, row.type, shapes, us); /* keeps the key */
        return ST_OK;
    }
    add_time(rows, side, row.type, shapes, us);
    if (rows->at.n == before)
        arena_rewind(&rows->arena, mark);
    return ST_OK;
}

enum status shape_rows_measure(struct shape_rows *rows, const struct measured *m,
                               enum shape_side side, struct diag *d)
{
    struct twins twins;
    enum status st = ST_OK;

    twins_init(&twins);
    for (size_t i = 0; i < m->table.n_rows && st == ST_OK; i++) {
        struct measured_row row = measured_row(m, i);
        if (row.type.n > 0 && !measured_is_helper(row.type))
            st = measure_row(rows, m, row, side, &twins, d);
    }
    for (size_t i = 0; i < twins.at.n && st == ST_OK; i++)
        add_time(rows, side, twins.at.at[i].type, twins.at.at[i].key, twins.at.at[i].us);
    twins_free(&twins);
    return st;
}

static double larger(const struct shape_row *row)
{
    return fmax(row->predicted_us, row->measured_us);
}

ORDER_BY(by_time, struct shape_row,
         ORDER(larger(y), larger(x)) ?: str_compare(x->kernel, y->kernel)
                                     ?: str_compare(x->shapes, y->shapes));

void shape_rows_sort(struct shape_rows *rows)
{
    for (size_t i = 0; i < rows->at.n; i++) {
        struct shape_row *row = &rows->at.at[i];
        row->delta_pct = (row->predicted_us - row->measured_us) / row->measured_us * 100;
        if (row->measured_us == 0)
            row->delta_pct = row->predicted_us > 0 ? INFINITY : 0;
    }
    if (rows->at.n > 0)
        qsort(rows->at.at, rows->at.n, sizeof(*rows->at.at), by_time);
}

static struct str copy_number(struct arena *arena, double value, int decimals)
{
    char text[NUM_TEXT];
    size_t n = num_print_point(text, num_round(value, decimals));

    return arena_str(arena, (struct str){text, n});
}

static struct str side_text(struct arena *arena, double us, uint64_t n)
{
    return n > 0 ? copy_number(arena, us, 2) : S("0");
}

void shape_rows_table(const struct shape_rows *rows, struct op_table *t)
{
    static const struct str names[] = {
        S_INIT("kernel_type"), S_INIT("shape_key"), S_INIT("tc_dur_us"),  S_INIT("prof_dur_us"),
        S_INIT("delta_pct"),   S_INIT("tc_count"),  S_INIT("prof_count"), S_INIT("source"),
    };

    table_init(t, "");
    table_arrange(t, names, ARRAY_LEN(names));
    for (size_t i = 0; i < rows->at.n; i++) {
        const struct shape_row *row = &rows->at.at[i];
        const struct str cells[ARRAY_LEN(names)] = {
            row->kernel,
            row->shapes,
            side_text(&t->arena, row->predicted_us, row->predicted_n),
            side_text(&t->arena, row->measured_us, row->measured_n),
            row->measured_us == 0 && !(row->predicted_us > 0)
                ? S("0")
                : copy_number(&t->arena, row->delta_pct, 1),
            arena_format(&t->arena, "%" PRIu64, row->predicted_n),
            arena_format(&t->arena, "%" PRIu64, row->measured_n),
            row->source,
        };
        size_t at = table_add_row(t);
        for (size_t c = 0; c < ARRAY_LEN(names); c++)
            table_set(t, at, (int)c, cells[c]);
    }
}

void shape_rows_plot(struct shape_rows *rows)
{
    struct plot_point *points = ARENA_ARRAY(&rows->arena, struct plot_point, rows->at.n);

    for (size_t i = 0; i < rows->at.n; i++) {
        const struct shape_row *row = &rows->at.at[i];
        points[i] =
            (struct plot_point){row->kernel, row->shapes, row->measured_us, row->predicted_us, NAN};
    }
    plot_make(&rows->plot, &rows->arena, points, rows->at.n);
}

static const struct field row_fields[] = {
    FIELD(struct shape_row, kernel, "kernel_type"),
    FIELD(struct shape_row, shapes, "shape_key"),
    FIELD(struct shape_row, predicted_us, "tc_dur_us", .form = FORM_POINT, .decimals = 2),
    FIELD(struct shape_row, measured_us, "prof_dur_us", .form = FORM_POINT, .decimals = 2),
    FIELD(struct shape_row, delta_pct, "delta_pct", .form = FORM_POINT, .decimals = 1),
    FIELD(struct shape_row, predicted_n, "tc_count"),
    FIELD(struct shape_row, measured_n, "prof_count"),
    FIELD(struct shape_row, source, "source"),
};
static const struct record row_record = RECORD(struct shape_row, row_fields);

static const struct field rows_fields[] = {
    FIELD_LIST(struct shape_rows, at.at, at.n, "rows", &row_record),
    FIELD_SPLICE(struct shape_rows, plot, &plot_record),
};
static const struct record rows_record = RECORD(struct shape_rows, rows_fields);

const struct schema shape_rows_schema = {
    .name = "strata.db-compare-shapes/1",
    .title = "predicted and measured time per kernel and shape",
    .record = &rows_record,
};
