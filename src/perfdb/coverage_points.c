#include "perfdb/coverage_points.h"

#include "perfdb/cell.h"
#include "perfdb/columns.h"
#include "perfdb/grid_shapes.h"
#include "perfdb/row.h"
#include "perfdb/signature.h"

/* The place of a variable in a row. */
struct spot {
    bool is_output;
    size_t slot, dim, rank;
};

static bool find_in(const struct grid_shape_rule *shapes, size_t n, size_t var, struct spot *out)
{
    size_t name;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < shapes[i].n; k++)
            if (expr_is_name(&shapes[i].dim[k], &name) && name == var) {
                out->slot = i;
                out->dim = k;
                out->rank = shapes[i].n;
                return true;
            }
    return false;
}

static bool find_spot(const struct grid_pattern *p, struct str name, struct spot *out)
{
    size_t var = 0;

    while (var < p->names.n && !str_equal(p->names.at[var], name))
        var++;
    out->is_output = false;
    if (find_in(p->inputs, p->inputs_n, var, out))
        return true;
    out->is_output = true;
    return find_in(p->outputs, p->outputs_n, var, out);
}

bool coverage_points_is_attention(const struct grid_pattern *pattern)
{
    return str_equal(pattern->generator, S("fused_attention"));
}

struct reader {
    const struct table *t;
    struct str op;
    struct signature_columns columns;
    int average, profiled, avg_seq_len;
    struct arena arena; /* of a row */
};

static bool is_counted(const struct coverage_points *p, const struct reader *r, size_t row)
{
    return !p->is_measured ||
           row_is_measured(table_cell(r->t, row, r->average), table_cell(r->t, row, r->profiled));
}

/* The shapes of one side. Products of matrices are brought to one form first, so that N is N also
 * where the second matrix is stored transposed. */
static struct grid_shapes shapes_of(struct reader *r, size_t row, bool is_output)
{
    struct signature_row cells = signature_take(r->t, row, &r->columns);
    struct str cell = is_output ? cells.output_shapes : cells.input_shapes;
    struct grid_shapes shapes;

    if (signature_is_matmul(r->op)) {
        struct signature s = signature_of(&r->arena, r->op, &cells);
        if (s.is_product)
            cell = s.part[is_output ? 3 : 0];
    }
    if (!grid_shapes_parse(&r->arena, cell, &shapes))
        shapes.n = 0;
    return shapes;
}

static void take_spot(struct coverage_points *p, struct reader *r, size_t row, struct spot spot)
{
    struct grid_shapes shapes = shapes_of(r, row, spot.is_output);

    if (spot.slot < shapes.n && shapes.at[spot.slot].n == spot.rank)
        vec_push(&p->at, shapes.at[spot.slot].dim[spot.dim]);
}

/* Queries: (tokens, heads, dim), or (batch, heads, tokens, dim) of MLA; slot 5 has the batch. A
 * row generates when each request has one token. */
static void take_attention(struct coverage_points *p, struct reader *r, size_t row, struct str axis)
{
    enum { QUERY = 0, LENGTHS = 5 };
    struct grid_shapes in = shapes_of(r, row, false);
    double length;

    if (in.n <= LENGTHS || in.at[LENGTHS].n != 1 || in.at[QUERY].n < 3)
        return;
    int64_t batch = in.at[LENGTHS].dim[0];
    bool is_decode = in.at[QUERY].n == 3 ? in.at[QUERY].dim[0] == batch : in.at[QUERY].dim[2] == 1;
    if (str_equal(axis, S("batch"))) {
        vec_push(&p->at, batch);
    } else if (is_decode == str_equal(axis, S("avg_seq_len")) &&
               cell_number(table_cell(r->t, row, r->avg_seq_len), &length) && length >= 1 &&
               length < 0x1p62) {
        vec_push(&p->at, (int64_t)length);
    }
}

bool coverage_points_take(struct coverage_points *p, const struct table *t,
                          const struct grid_pattern *pattern, struct str name)
{
    struct reader r = {
        .t = t,
        .op = table_stem(t->path),
        .columns = signature_find(t),
        .average = table_column(t, COL_AVERAGE),
        .profiled = table_column(t, COL_PROFILED),
        .avg_seq_len = table_column(t, column_runtime[RT_AVG_SEQ_LEN]),
    };
    bool is_attention = coverage_points_is_attention(pattern);
    struct spot spot;

    if (!is_attention && !find_spot(pattern, name, &spot))
        return false;
    arena_init(&r.arena);
    for (size_t row = 0; row < t->n_rows; row++) {
        struct arena_mark mark = arena_mark(&r.arena);
        if (is_counted(p, &r, row)) {
            if (is_attention)
                take_attention(p, &r, row, name);
            else
                take_spot(p, &r, row, spot);
        }
        arena_rewind(&r.arena, mark);
    }
    arena_free(&r.arena);
    return true;
}

bool coverage_points_column(struct coverage_points *p, const struct table *t, struct str name)
{
    int column = table_column(t, name);
    int64_t value;

    for (size_t row = 0; column >= 0 && row < t->n_rows; row++)
        if (cell_i64(table_cell(t, row, column), &value))
            vec_push(&p->at, value);
    return column >= 0;
}
