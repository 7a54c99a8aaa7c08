#include "perfdb/coverage.h"

#include <stdlib.h>

#include "base/ranked.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"
#include "perfdb/coverage_points.h"

static bool has(const int64_t *points, size_t n, int64_t value)
{
    return n > 0 && bsearch(&value, points, n, sizeof(value), ranked_order) != NULL;
}

/* Values that must be there, and the ends of the range unless points lie beyond them. */
static void find_missing(struct arena *arena, const struct coverage_rule *rule,
                         const int64_t *points, size_t n, struct coverage_axis *out)
{
    int64_t *missing = ARENA_ARRAY(arena, int64_t, rule->required.n + 2);
    size_t found = 0;

    for (size_t i = 0; i < rule->required.n; i++)
        if (!has(points, n, rule->required.at[i]))
            missing[found++] = rule->required.at[i];
    if (rule->has_range && (n == 0 || points[0] > rule->min))
        missing[found++] = rule->min;
    if (rule->has_range && (n == 0 || points[n - 1] < rule->max))
        missing[found++] = rule->max;
    out->missing = (struct grid_list){missing, ranked_set(missing, found)};
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

static void find_gaps(struct arena *arena, const struct coverage_rule *rule, const int64_t *points,
                      size_t n, struct coverage_axis *out)
{
    struct coverage_gap *gaps = ARENA_ARRAY(arena, struct coverage_gap, n);

    out->gaps = gaps;
    for (size_t i = 1; i < n; i++) {
        int64_t from = points[i - 1], to = points[i];
        if (rule->has_range && (to <= rule->min || from >= rule->max))
            continue;
        int64_t upper = rule->has_range && to > rule->max ? rule->max : to;
        const struct coverage_segment *limit = coverage_rule_limit(rule, upper);
        if (limit != NULL && is_too_wide(limit, from, to, &gaps[out->gaps_n]))
            out->gaps_n++;
    }
}

void coverage_measure(struct arena *arena, const struct coverage_rule *rule, const int64_t *points,
                      size_t n, struct coverage_axis *out)
{
    out->points = n;
    find_missing(arena, rule, points, n, out);
    find_gaps(arena, rule, points, n, out);
}

struct job {
    struct coverage *c;
    const struct coverage_options *o;
    struct coverage_rules rules;
    const struct grid_pattern *pattern; /* of the table; NULL: none */
    const struct table *t;
    VEC_OF(struct coverage_axis) axes;
};

static void measure_axis(struct job *j, struct str name, const struct coverage_rule *rule,
                         struct coverage_points *points)
{
    struct coverage_axis axis = {.name = arena_str(&j->c->arena, name)};
    size_t n = ranked_set(points->at.at, points->at.n);

    coverage_measure(&j->c->arena, rule, points->at.at, n, &axis);
    j->c->missing += axis.missing.n;
    j->c->gaps += axis.gaps_n;
    vec_push(&j->axes, axis);
}

/* One variable of the pattern, or one that the code of a generator has. */
static enum status check_axis(struct job *j, struct str name, struct str grid)
{
    struct coverage_points points = {.is_measured = j->o->is_measured};
    struct coverage_rule rule;
    bool is_there;

    TRY(coverage_rules_axis(&j->rules, j->pattern->name, name, grid, &rule, &is_there));
    if (is_there && coverage_points_take(&points, j->t, j->pattern, name))
        measure_axis(j, name, &rule, &points);
    vec_free(&points.at);
    return ST_OK;
}

static enum status check_pattern(struct job *j)
{
    static const struct str attention[] = {S_INIT("batch"), S_INIT("seq"), S_INIT("avg_seq_len")};
    const struct grid_pattern *p = j->pattern;

    for (size_t i = 0; i < p->iterators_n; i++)
        TRY(check_axis(j, p->names.at[p->iterators[i].var], p->iterators[i].grid));
    for (size_t i = 0; i < p->fallback_n; i++)
        TRY(check_axis(j, p->names.at[p->fallback[i].var], p->fallback[i].grid));
    if (coverage_points_is_attention(p))
        for (size_t i = 0; i < ARRAY_LEN(attention); i++)
            TRY(check_axis(j, attention[i], S("")));
    return ST_OK;
}

/* Tables of collectives have the size of the message in a column. */
static enum status check_messages(struct job *j)
{
    const struct str column = S("message_bytes");
    struct coverage_points points = {.is_measured = false};
    struct coverage_rule rule;
    bool is_there;

    TRY(coverage_rules_comm(&j->rules, column, &rule, &is_there));
    if (is_there && coverage_points_column(&points, j->t, column))
        measure_axis(j, column, &rule, &points);
    vec_free(&points.at);
    return ST_OK;
}

static bool is_chosen(const struct coverage_options *o, struct str op)
{
    for (size_t i = 0; i < o->ops_n; i++)
        if (str_equal(o->ops[i], op))
            return true;
    return o->ops_n == 0;
}

static enum status check_table(struct job *j, const char *path, struct diag *d)
{
    struct table t;

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

/* Every operator that was asked for has a table. */
static enum status check_ops(const struct grid_run *run, const struct coverage_options *o,
                             const char *dir, struct diag *d)
{
    for (size_t i = 0; i < o->ops_n; i++) {
        size_t k = 0;
        while (k < run->files.n && !str_equal(table_stem(run->files.at[k].path), o->ops[i]))
            k++;
        if (k == run->files.n)
            return diag_fail(d, ST_NOT_FOUND, "coverage.no-operator", (struct where){.path = dir},
                             "no table of the operator %.*s", STR_ARGS(o->ops[i]));
    }
    return ST_OK;
}

static enum status find_all(struct job *j, struct grid_run *run, const char *dir, struct diag *d)
{
    TRY(grid_run_open(run, &(struct grid_options){.seed = "0"}, d));
    TRY(coverage_rules_read(&j->rules, &run->arena, j->o->rules, d));
    TRY(grid_run_scan(run, dir, d));
    TRY(check_ops(run, j->o, dir, d));
    for (size_t i = 0; i < run->files.n; i++) {
        struct str op = table_stem(run->files.at[i].path);
        j->pattern = grid_run_pattern(run, op);
        if (is_chosen(j->o, op))
            TRY(check_table(j, run->files.at[i].path, d));
    }
    return ST_OK;
}

enum status coverage_find(struct coverage *c, const char *dir, const struct coverage_options *o,
                          struct diag *d)
{
    struct job j = {.c = c, .o = o};
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
    FIELD(struct coverage, missing, "values_missing"),
    FIELD(struct coverage, gaps, "gaps_too_wide"),
    FIELD_LIST(struct coverage, tables.at, tables.n, "tables", &table_record),
};
static const struct record coverage_record = RECORD(struct coverage, coverage_fields);

const struct schema coverage_schema = {
    .name = "strata.db-coverage/1",
    .title = "values and ranges of shapes that a database has no points for",
    .record = &coverage_record,
};
