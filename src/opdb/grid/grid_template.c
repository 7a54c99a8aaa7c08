/* Rows of a pattern that is a loop over grids. */
#include "base/limits.h"
#include "opdb/grid/grid_gen.h"
#include "opdb/rows/columns.h"

struct loop {
    struct grid_out *out;
    const struct grid_iterator **it; /* the loops, the innermost last */
    size_t n;
    struct grid_pairs pairs; /* of N and K, inside all loops */
    bool has_pairs;
    int64_t *value; /* of each variable */
    int64_t *dim;   /* of all shapes of a row */
    struct grid_row row;
};

static enum status cannot(const struct loop *l, const struct expr *e, const char *why)
{
    const struct grid_pattern *p = l->out->pattern;
    char values[200] = "";

    for (size_t i = 0; i < p->names.n && strlen(values) < 150; i++) {
        struct str text = arena_format(&l->out->scratch, " %.*s=%lld", STR_ARGS(p->names.at[i]),
                                       (long long)l->value[i]);
        strncat(values, text.at, sizeof(values) - strlen(values) - 1);
    }
    return diag_fail(l->out->d, ST_FORMAT, "grid.bad-value", (struct where){0},
                     "pattern %.*s: \"%.*s\": %s, with%s", STR_ARGS(p->name), STR_ARGS(e->text),
                     why, values);
}

static enum status fill_shapes(const struct loop *l, const struct grid_shape_rule *rules, size_t n,
                               int64_t **dim)
{
    struct expr_value v;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rules[i].n; k++) {
            const char *error = expr_run(&rules[i].dim[k], l->value, &v);
            if (error == NULL && !expr_whole(v, (*dim)++))
                error = "the dimension does not fit 64 bits";
            if (error != NULL)
                return cannot(l, &rules[i].dim[k], error);
        }
    return ST_OK;
}

static enum status make_row(const struct loop *l)
{
    const struct grid_pattern *p = l->out->pattern;
    int64_t *dim = l->dim;

    TRY(fill_shapes(l, p->inputs, p->inputs_n, &dim));
    TRY(fill_shapes(l, p->outputs, p->outputs_n, &dim));
    return grid_add_row(l->out, &l->row);
}

/* One point of the product of the loops. */
static enum status make_point(const struct loop *l)
{
    const struct grid_pattern *p = l->out->pattern;
    struct expr_value v;

    for (size_t i = 0; i < p->constraints_n && !l->has_pairs; i++) {
        const char *error = expr_run(&p->constraints[i], l->value, &v);
        if (error != NULL)
            return cannot(l, &p->constraints[i], error);
        if (!expr_is_true(v))
            return ST_OK;
    }
    if (!l->has_pairs)
        return make_row(l);
    for (size_t i = 0; i < l->pairs.n; i++) {
        l->value[p->var_n] = l->pairs.at[i].n;
        l->value[p->var_k] = l->pairs.at[i].k;
        TRY(make_row(l));
    }
    return ST_OK;
}

/* An odometer over the values of all iterators, the last one fastest. */
static enum status run_loops(const struct loop *l)
{
    const struct grid_pattern *p = l->out->pattern;
    size_t *at = ARENA_ARRAY(&l->out->scratch, size_t, l->n);
    uint64_t points = 1;

    for (size_t i = 0; i < l->n; i++) {
        points *= l->it[i]->values.n;
        if (points > LIMIT_GRID_POINTS)
            return diag_fail(l->out->d, ST_LIMIT, "grid.too-many-points", (struct where){0},
                             "pattern %.*s has more than %d points", STR_ARGS(p->name),
                             LIMIT_GRID_POINTS);
    }
    for (uint64_t point = 0; point < points; point++) {
        for (size_t i = 0; i < l->n; i++)
            l->value[l->it[i]->var] = l->it[i]->values.at[at[i]];
        for (size_t c = 0; c < p->constants_n; c++)
            l->value[p->constants[c].var] = p->constants[c].value;
        TRY(make_point(l));
        for (size_t i = l->n; i-- > 0;) {
            if (++at[i] < l->it[i]->values.n)
                break;
            at[i] = 0;
        }
    }
    return ST_OK;
}

static struct grid_shapes lay_out(struct arena *arena, const struct grid_shape_rule *rules,
                                  size_t n, int64_t **dim)
{
    struct grid_shapes shapes = {ARENA_ARRAY(arena, struct grid_shape, n), n};

    for (size_t i = 0; i < n; i++) {
        shapes.at[i] = (struct grid_shape){*dim, rules[i].n};
        *dim += rules[i].n;
    }
    return shapes;
}

static void lay_out_row(struct loop *l)
{
    static const enum identity columns[GRID_CELLS] = {ID_INPUT_DTYPES, ID_INPUT_FORMATS,
                                                      ID_OUTPUT_DTYPES, ID_OUTPUT_FORMATS};
    const struct grid_pattern *p = l->out->pattern;
    struct arena *arena = &l->out->scratch;
    struct grid_cell *cells = ARENA_ARRAY(arena, struct grid_cell, 4);
    size_t dims = 0;

    for (size_t i = 0; i < p->inputs_n; i++)
        dims += p->inputs[i].n;
    for (size_t i = 0; i < p->outputs_n; i++)
        dims += p->outputs[i].n;
    int64_t *dim = l->dim = ARENA_ARRAY(arena, int64_t, dims);
    l->row.in = lay_out(arena, p->inputs, p->inputs_n, &dim);
    l->row.out = lay_out(arena, p->outputs, p->outputs_n, &dim);
    l->row.cells = cells;
    for (size_t i = 0; i < GRID_CELLS; i++)
        if (p->cells[i].at != NULL)
            cells[l->row.cells_n++] = (struct grid_cell){column_identity[columns[i]], p->cells[i]};
}

enum status grid_make_template(struct grid_out *out)
{
    const struct grid_pattern *p = out->pattern;
    struct loop l = {.out = out};

    l.value = ARENA_ARRAY(&out->scratch, int64_t, p->names.n);
    l.it = arena_array(&out->scratch, sizeof(*l.it), p->iterators_n + p->fallback_n);
    l.has_pairs = p->has_nk_pairs && out->job->has_targets;
    for (size_t i = 0; i < p->iterators_n; i++) {
        size_t var = p->iterators[i].var;
        if (!l.has_pairs || (var != p->var_n && var != p->var_k))
            l.it[l.n++] = &p->iterators[i];
    }
    if (l.has_pairs)
        l.pairs = grid_models_pairs(&out->scratch, &out->job->models);
    else
        for (size_t i = 0; i < p->fallback_n; i++)
            l.it[l.n++] = &p->fallback[i];
    lay_out_row(&l);
    return run_loops(&l);
}
