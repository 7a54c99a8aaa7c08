/*
 * Points of tables against the densities they should have.
 */
#include "opdb/compare/coverage.h"

#include <stdlib.h>

#include "base/files/embedded.h"
#include "base/formats/yaml.h"
#include "base/tables/ranked.h"
#include "base/text/num.h"
#include "opdb/grid/grid_rules.h"
#include "opdb/grid/grid_shapes.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/signature.h"
#include "opdb/rows/table.h"

struct coverage_points {
    bool is_measured; /* only rows that have a duration */
    VEC_OF(int64_t) at;
};

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

struct reader {
    const struct op_table *t;
    struct str op;
    struct signature_columns columns;
    int average, profiled, avg_seq_len;
    struct arena arena; /* of a row */
};

/* The shapes of one side. Products of matrices are brought to one form first, so that N is N also
 * where the second matrix is stored transposed. */
static struct grid_shapes shapes_of(struct reader *r, size_t row, bool is_output)
{
    struct signature_row cells = signature_read(r->t, row, &r->columns);
    struct str cell = cells.cell[is_output ? ID_OUTPUT_SHAPES : ID_INPUT_SHAPES];
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

static void add_spot(struct coverage_points *p, struct reader *r, size_t row, struct spot spot)
{
    struct grid_shapes shapes = shapes_of(r, row, spot.is_output);

    if (spot.slot < shapes.n && shapes.at[spot.slot].n == spot.rank)
        vec_push(&p->at, shapes.at[spot.slot].dim[spot.dim]);
}

/* Queries: (tokens, heads, dim), or (batch, heads, tokens, dim) of MLA; slot 5 has the batch. A
 * row generates when each request has one token. */
static void add_attention_point(struct coverage_points *p, struct reader *r, size_t row,
                                struct str axis)
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
        vec_push(&p->at, num_i64_of(length));
    }
}

/* Takes the values of a variable of the pattern: from the first operand that has it as a dimension
 * of its own. Rows whose operand has another number of dimensions do not count. False when no
 * operand has the variable. */
static bool coverage_points_add(struct coverage_points *p, const struct op_table *t,
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
    bool is_attention = str_equal(pattern->generator, S("fused_attention"));
    struct spot spot;

    if (!is_attention && !find_spot(pattern, name, &spot))
        return false;
    arena_init(&r.arena);
    for (size_t row = 0; row < t->n_rows; row++) {
        struct arena_mark mark = arena_mark(&r.arena);
        if (!p->is_measured ||
            cell_is_measured(table_cell(r.t, row, r.average), table_cell(r.t, row, r.profiled))) {
            if (is_attention)
                add_attention_point(p, &r, row, name);
            else
                add_spot(p, &r, row, spot);
        }
        arena_rewind(&r.arena, mark);
    }
    arena_free(&r.arena);
    return true;
}

static enum status bad(const struct coverage_rules *r, const struct tree *node, const char *what)
{
    return diag_fail(r->d, ST_FORMAT, "coverage.bad-rule",
                     (struct where){.path = r->path, .line = node->line}, "%s", what);
}

enum status coverage_rules_read(struct coverage_rules *rules, struct arena *arena, const char *path,
                                struct diag *d)
{
    *rules = (struct coverage_rules){.arena = arena, .d = d, .path = "perfdb/axis_density.yaml"};
    if (path != NULL) {
        rules->path = arena_cstr(arena, str_of(path));
        TRY(yaml_read_file(arena, rules->path, &rules->root, d));
    } else {
        TRY(yaml_read(arena, embedded_file(rules->path), rules->path, &rules->root, d));
    }
    if (rules->root->kind != TREE_MAP)
        return bad(rules, rules->root, "rules must be a map with grids and template_axes");
    return ST_OK;
}

static enum status read_limit(const struct coverage_rules *r, const struct tree *node,
                              struct str field, double *out)
{
    const struct tree *value = tree_get(node, field);

    *out = 0;
    if (value != NULL && (value->kind != TREE_TEXT || !num_f64(value->text, out) || *out <= 0))
        return bad(r, value, "max_gap and max_ratio must be numbers above 0");
    return ST_OK;
}

static enum status read_bounds(const struct coverage_rules *r, const struct tree *node,
                               int64_t *min, int64_t *max)
{
    if (!num_i64(tree_get_text(node, S("min"), S("")), min) ||
        !num_i64(tree_get_text(node, S("max"), S("")), max) || *min > *max)
        return bad(r, node, "min and max must be whole numbers, the smaller one first");
    return ST_OK;
}

static enum status read_segments(const struct coverage_rules *r, const struct tree *list,
                                 struct coverage_rule *out)
{
    if (list->kind != TREE_LIST)
        return bad(r, list, "segments must be a list");
    struct coverage_segment *s = ARENA_ARRAY(r->arena, struct coverage_segment, list->n);
    out->segments = s;
    out->segments_n = list->n;
    for (const struct tree *v = list->first; v != NULL; v = v->next, s++) {
        TRY(read_bounds(r, v, &s->min, &s->max));
        TRY(read_limit(r, v, S("max_gap"), &s->gap));
        TRY(read_limit(r, v, S("max_ratio"), &s->ratio));
    }
    return ST_OK;
}

/* One limit for the whole axis is a segment without ends. */
static enum status read_whole(const struct coverage_rules *r, const struct tree *node,
                              struct coverage_rule *out)
{
    struct coverage_segment whole = {.min = INT64_MIN, .max = INT64_MAX};

    TRY(read_limit(r, node, S("max_gap"), &whole.gap));
    TRY(read_limit(r, node, S("max_ratio"), &whole.ratio));
    if (whole.gap > 0 || whole.ratio > 0) {
        struct coverage_segment *s = ARENA_NEW(r->arena, struct coverage_segment);
        *s = whole;
        out->segments = s;
        out->segments_n = 1;
    }
    return ST_OK;
}

static const struct tree *grid_node(const struct coverage_rules *r, struct str grid)
{
    const struct tree *grids = tree_get(r->root, S("grids"));
    const struct tree *node = tree_get(grids, grid);

    if (node != NULL)
        return node;
    return tree_get(grids, tree_get_text(tree_get(r->root, S("aliases")), grid, S("")));
}

static enum status read_rule(const struct coverage_rules *r, const struct tree *node,
                             struct coverage_rule *out, bool *is_there)
{
    struct str use = tree_get_text(node, S("use"), (struct str){0});

    *out = (struct coverage_rule){0};
    if (use.n > 0) {
        const struct tree *grid = grid_node(r, use);
        if (grid == NULL)
            return bad(r, node, "`use` names an unknown grid");
        node = grid;
    }
    *is_there = node != NULL;
    if (node == NULL)
        return ST_OK;
    const struct tree *range = tree_get(node, S("range")),
                      *segments = tree_get(node, S("segments")),
                      *required = tree_get(node, S("required_values"));
    out->has_range = range != NULL;
    if (range != NULL)
        TRY(read_bounds(r, range, &out->min, &out->max));
    if (!grid_rules_list(r->arena, required, r->path, &out->required, r->d))
        return ST_FORMAT;
    return segments != NULL ? read_segments(r, segments, out) : read_whole(r, node, out);
}

enum status coverage_rules_axis(const struct coverage_rules *rules, struct str pattern,
                                struct str axis, struct str grid, struct coverage_rule *out,
                                bool *is_there)
{
    const struct tree *node =
        tree_get(tree_get(tree_get(rules->root, S("template_axes")), pattern), axis);

    return read_rule(rules, node != NULL ? node : grid_node(rules, grid), out, is_there);
}

/* The limit for a pair of neighbours whose larger value is `upper`; NULL: none. */
static const struct coverage_segment *limit_of(const struct coverage_rule *rule, int64_t upper)
{
    for (size_t i = 0; i < rule->segments_n; i++)
        if (upper >= rule->segments[i].min && upper <= rule->segments[i].max)
            return &rule->segments[i];
    return NULL;
}

static bool is_too_wide(const struct coverage_segment *limit, int64_t from, int64_t to,
                        struct coverage_gap *out)
{
    double distance = (double)to - (double)from;

    *out = (struct coverage_gap){.from = from, .to = to};
    if (limit->gap > 0 && distance > limit->gap)
        out->gap = limit->gap;
    else if (limit->ratio > 0 && (double)to > (double)from * limit->ratio)
        out->ratio = limit->ratio;
    return out->gap > 0 || out->ratio > 0;
}

void coverage_measure(struct arena *arena, const struct coverage_rule *rule, const int64_t *points,
                      size_t n, struct coverage_axis *out)
{
    int64_t *missing = ARENA_ARRAY(arena, int64_t, rule->required.n + 2);
    struct coverage_gap *gaps = ARENA_ARRAY(arena, struct coverage_gap, n);
    size_t found = 0;

    /* Values that must be there, and the ends of the range unless points lie beyond them. */
    for (size_t i = 0; i < rule->required.n; i++)
        if (n == 0 ||
            bsearch(&rule->required.at[i], points, n, sizeof(*points), ranked_order) == NULL)
            missing[found++] = rule->required.at[i];
    if (rule->has_range && (n == 0 || points[0] > rule->min))
        missing[found++] = rule->min;
    if (rule->has_range && (n == 0 || points[n - 1] < rule->max))
        missing[found++] = rule->max;
    out->points = n;
    out->missing = (struct grid_list){missing, ranked_set(missing, found)};
    out->gaps = gaps;
    for (size_t i = 1; i < n; i++) {
        int64_t from = points[i - 1], to = points[i];
        if (rule->has_range && (to <= rule->min || from >= rule->max))
            continue;
        int64_t upper = rule->has_range && to > rule->max ? rule->max : to;
        const struct coverage_segment *limit = limit_of(rule, upper);
        if (limit != NULL && is_too_wide(limit, from, to, &gaps[out->gaps_n]))
            out->gaps_n++;
    }
}

struct coverage_job {
    struct coverage *c;
    const struct coverage_options *o;
    struct coverage_rules rules;
    const struct grid_pattern *pattern; /* of the table; NULL: none */
    const struct op_table *t;
    VEC_OF(struct coverage_axis) axes;
};

static void measure_axis(struct coverage_job *j, struct str name, const struct coverage_rule *rule,
                         struct coverage_points *points)
{
    struct coverage_axis axis = {.name = arena_str(&j->c->arena, name)};
    size_t n = points->at.n > 0 ? ranked_set(points->at.at, points->at.n) : 0;

    coverage_measure(&j->c->arena, rule, points->at.at, n, &axis);
    j->c->axes++;
    j->c->missing += axis.missing.n;
    j->c->gaps += axis.gaps_n;
    vec_push(&j->axes, axis);
}

/* One variable of the pattern, or one that the code of a generator has. */
static enum status check_axis(struct coverage_job *j, struct str name, struct str grid)
{
    struct coverage_points points = {.is_measured = j->o->is_measured};
    struct coverage_rule rule;
    bool is_there;

    TRY(coverage_rules_axis(&j->rules, j->pattern->name, name, grid, &rule, &is_there));
    if (is_there && coverage_points_add(&points, j->t, j->pattern, name))
        measure_axis(j, name, &rule, &points);
    vec_free(&points.at);
    return ST_OK;
}

static enum status check_pattern(struct coverage_job *j)
{
    static const struct str attention[] = {S_INIT("batch"), S_INIT("seq"), S_INIT("avg_seq_len")};
    const struct grid_pattern *p = j->pattern;

    for (size_t i = 0; i < p->iterators_n; i++)
        TRY(check_axis(j, p->names.at[p->iterators[i].var], p->iterators[i].grid));
    for (size_t i = 0; i < p->fallback_n; i++)
        TRY(check_axis(j, p->names.at[p->fallback[i].var], p->fallback[i].grid));
    if (str_equal(p->generator, S("fused_attention")))
        for (size_t i = 0; i < ARRAY_LEN(attention); i++)
            TRY(check_axis(j, attention[i], S("")));
    return ST_OK;
}

/* Tables of collectives have the size of the message in a column. */
static enum status check_messages(struct coverage_job *j)
{
    const struct str name = S("message_bytes");
    struct coverage_points points = {.is_measured = false};
    int column = table_column(j->t, name);
    struct coverage_rule rule;
    bool is_there;
    int64_t value;

    TRY(read_rule(&j->rules, tree_get(tree_get(j->rules.root, S("communication_axes")), name),
                  &rule, &is_there));
    if (!is_there || column < 0)
        return ST_OK;
    for (size_t row = 0; row < j->t->n_rows; row++)
        if (cell_i64(table_cell(j->t, row, column), &value))
            vec_push(&points.at, value);
    measure_axis(j, name, &rule, &points);
    vec_free(&points.at);
    return ST_OK;
}

static enum status check_table(struct coverage_job *j, const char *path, struct diag *d)
{
    struct op_table t;

    enum status st = table_read(&t, path, d);
    j->t = &t;
    j->axes.n = 0;
    if (st == ST_OK)
        st = j->pattern != NULL ? check_pattern(j) : check_messages(j);
    if (st == ST_OK && j->axes.n > 0) {
        struct coverage_axis *axes = ARENA_ARRAY(&j->c->arena, struct coverage_axis, j->axes.n);
        memcpy(axes, j->axes.at, j->axes.n * sizeof(*axes));
        vec_push(&j->c->tables, ((struct coverage_table){arena_cstr(&j->c->arena, str_of(path)),
                                                         axes, j->axes.n}));
    }
    table_free(&t);
    j->t = NULL;
    return st;
}

static enum status find_all(struct coverage_job *j, struct grid_run *run, const char *dir,
                            struct diag *d)
{
    TRY(grid_run_open(run, &(struct grid_options){.seed = "0"}, d));
    TRY(coverage_rules_read(&j->rules, &run->arena, j->o->rules, d));
    TRY(grid_run_scan(run, dir, d));
    for (size_t i = 0; i < j->o->ops_n; i++) {
        size_t k = 0;
        while (k < run->files.n && !str_equal(table_stem(run->files.at[k].path), j->o->ops[i]))
            k++;
        if (k == run->files.n)
            return diag_fail(d, ST_NOT_FOUND, "coverage.no-operator", (struct where){.path = dir},
                             "no table for operator %.*s", STR_ARGS(j->o->ops[i]));
    }
    for (size_t i = 0; i < run->files.n; i++) {
        struct str op = table_stem(run->files.at[i].path);
        j->pattern = grid_run_pattern(run, op);
        if (j->o->ops_n == 0 || str_is_one_of(op, j->o->ops, j->o->ops_n))
            TRY(check_table(j, run->files.at[i].path, d));
    }
    return ST_OK;
}

enum status coverage_find(struct coverage *c, const char *dir, const struct coverage_options *o,
                          struct diag *d)
{
    struct coverage_job j = {.c = c, .o = o};
    struct grid_run run;

    *c = (struct coverage){.dir = dir};
    arena_init(&c->arena);
    enum status st = find_all(&j, &run, dir, d);
    vec_free(&j.axes);
    grid_run_close(&run);
    return st;
}

void coverage_free(struct coverage *c)
{
    vec_free(&c->tables);
    arena_free(&c->arena);
}

static const struct field gap_fields[] = {
    FIELD(struct coverage_gap, from, "from"),
    FIELD(struct coverage_gap, to, "to"),
    FIELD(struct coverage_gap, gap, "max_gap", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct coverage_gap, ratio, "max_ratio", .missing = MISSING_NOT_POSITIVE),
};
static const struct record gap_record = RECORD(struct coverage_gap, gap_fields);

static const struct field axis_fields[] = {
    FIELD(struct coverage_axis, name, "axis"),
    FIELD(struct coverage_axis, points, "points"),
    FIELD_VALUES(struct coverage_axis, missing.at, missing.n, "missing"),
    FIELD_LIST(struct coverage_axis, gaps, gaps_n, "gaps", &gap_record),
};
static const struct record axis_record = RECORD(struct coverage_axis, axis_fields);

static const struct field table_fields[] = {
    FIELD(struct coverage_table, path, "path"),
    FIELD_LIST(struct coverage_table, axes, axes_n, "axes", &axis_record),
};
static const struct record table_record = RECORD(struct coverage_table, table_fields);

static const struct field coverage_fields[] = {
    FIELD(struct coverage, dir, "database"),
    FIELD(struct coverage, axes, "axes"),
    FIELD(struct coverage, missing, "values_missing"),
    FIELD(struct coverage, gaps, "gaps_too_wide"),
    FIELD_LIST(struct coverage, tables.at, tables.n, "tables", &table_record),
};
static const struct record coverage_record = RECORD(struct coverage, coverage_fields);

const struct schema coverage_schema = {
    .name = "strata.db-coverage/1",
    .title = "shapes and ranges missing from a database",
    .record = &coverage_record,
};
