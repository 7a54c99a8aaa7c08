/*
 * The tables of a query as typed columns.
 */
#include "analysis/sql/sql_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/sql/sql_plan.h"
#include "analysis/sql/sql_schema.h"

struct sql_columns {
    struct sql_view *view;
    const struct sql_table *table;
    const struct cut *cuts;
    bool is_slices;
    struct arena arena;
    struct column_info *info;
    bool *is_mixed; /* by column: texts and numbers */
    size_t n;
    size_t *bases; /* of each capture's rows, and their total */
};

/* ---- types ---- */

/* Under which types slices have the attribute: a mask of enum attr_type. */
static unsigned key_types(const struct sql_view *v, enum capture_key key)
{
    unsigned mask = 0;

    for (size_t p = 0; p < v->part_count; p++) {
        const struct capture *cap = v->parts[p].cap;
        for (size_t i = 0; i < cap->attrs.columns.n; i++)
            if (cap->attrs.columns.at[i].key == cap->keys[key])
                mask |= 1u << cap->attrs.columns.at[i].type;
    }
    return mask;
}

static enum column_kind key_type(unsigned mask, enum column_kind declared)
{
    if (mask == 0 || declared == VALUES_TEXT || (mask & 1u << ATTR_TEXT) != 0)
        return mask == 0 ? declared : VALUES_TEXT;
    return (mask & 1u << ATTR_REAL) != 0 ? VALUES_REAL : VALUES_INT;
}

static enum column_kind stream_type(const struct sql_view *v)
{
    for (size_t p = 0; p < v->part_count; p++) {
        const struct capture *cap = v->parts[p].cap;
        for (size_t i = 0; i < cap->lanes.n; i++) {
            const struct lane_key *key = &cap->lanes.at[i].key;
            struct str name = capture_text(cap, key->name);
            int64_t number;
            if (key->kind == LANE_STREAM && name.n > 0 && !num_i64(name, &number))
                return VALUES_TEXT;
        }
    }
    return VALUES_INT;
}

static struct field_value row_value(const struct sql_columns *t, size_t part, size_t row,
                                    int column)
{
    return sql_rows_value(t->table->rows, &t->view->parts[part], row, column);
}

/* Steps of small tables may be called by a name. */
static enum column_kind row_type(const struct sql_columns *t, int column, enum column_kind declared)
{
    if (column == 0 || declared != VALUES_INT || !str_equal(t->info[column].name, S("step")))
        return declared;
    for (size_t p = 0; p < t->view->part_count; p++)
        for (size_t i = 0; i < t->bases[p + 1] - t->bases[p]; i++)
            if (row_value(t, p, i, column).type == VALUE_TEXT)
                return VALUES_TEXT;
    return declared;
}

static enum column_kind slice_type(const struct sql_columns *t, int column,
                                   enum column_kind declared)
{
    enum capture_key key;

    if (column == C_STEP) {
        for (size_t i = 1; i < t->view->steps.n; i++)
            if (!t->view->steps.at[i].is_number)
                return VALUES_TEXT;
        return VALUES_INT;
    }
    if (str_equal(t->info[column].name, S("stream")))
        return stream_type(t->view);
    return sql_slice_key(t->table->set, column, &key) ? key_type(key_types(t->view, key), declared)
                                                      : declared;
}

/* "id INTEGER, name TEXT" as names and types. */
static void read_declaration(struct sql_columns *t)
{
    struct str rest = str_of(t->table->info.columns), one, name;

    for (const char *c = rest.at; *c != '\0'; c++)
        t->n += *c == ',';
    t->n++;
    t->info = ARENA_ARRAY(&t->arena, struct column_info, t->n);
    for (size_t i = 0; i < t->n && str_split(&rest, ',', &one); i++) {
        struct str declared = one;
        sql_next_column(&declared, &name);
        t->info[i] = (struct column_info){
            .name = name,
            .type = str_ends(one, S(" TEXT"))   ? VALUES_TEXT
                    : str_ends(one, S(" REAL")) ? VALUES_REAL
                                                : VALUES_INT,
        };
    }
}

/* Numbers among texts are printed, and printed ones are known by what they say. */
static bool is_mixed(const struct sql_columns *t, int column)
{
    enum capture_key key;

    if (t->is_slices && sql_slice_key(t->table->set, column, &key))
        return (key_types(t->view, key) & ~(1u << ATTR_TEXT)) != 0;
    return str_equal(t->info[column].name, S("step")) ||
           str_equal(t->info[column].name, S("stream"));
}

struct sql_columns *sql_columns_open(struct sql_view *view, const char *table,
                                     const struct cut *cuts)
{
    struct sql_columns *t = mem_grow(NULL, sizeof(*t), 1);

    *t = (struct sql_columns){.view = view, .cuts = cuts};
    arena_init(&t->arena);
    for (size_t i = 0; i < sql_table_count; i++)
        if (strcmp(sql_tables[i].info.name, table) == 0)
            t->table = &sql_tables[i];
    t->is_slices = t->table->module == &sql_slices_module;
    read_declaration(t);
    t->bases = ARENA_ARRAY(&t->arena, size_t, view->part_count + 1);
    for (size_t p = 0; p < view->part_count; p++)
        t->bases[p + 1] =
            t->bases[p] + (t->is_slices ? view->parts[p].cap->slices.n
                                        : sql_rows_count(t->table->rows, &view->parts[p]));
    if (t->is_slices)
        sql_need_steps(view);
    t->is_mixed = ARENA_ARRAY(&t->arena, bool, t->n);
    for (size_t i = 0; i < t->n; i++) {
        t->is_mixed[i] = is_mixed(t, (int)i);
        t->info[i].type = t->is_slices ? slice_type(t, (int)i, t->info[i].type)
                                       : row_type(t, (int)i, t->info[i].type);
    }
    return t;
}

void sql_columns_close(struct sql_columns *t)
{
    arena_free(&t->arena);
    mem_free(t);
}

const struct column_info *sql_columns_info(const struct sql_columns *t, size_t *n)
{
    *n = t->n;
    return t->info;
}

/* ---- rows ---- */

size_t sql_columns_chunks(const struct sql_columns *t)
{
    return (t->bases[t->view->part_count] + COLUMNS_ROWS - 1) / COLUMNS_ROWS;
}

/* Whether the column takes the value; its type was chosen so that it takes all that are there. */
static bool is_taken(const struct column_data *c, struct field_value v)
{
    if (v.type == VALUE_NONE || (v.type == VALUE_REAL && isnan(v.real)))
        return false;
    return c->type == VALUES_TEXT || v.type == VALUE_INT ||
           (c->type == VALUES_REAL && v.type == VALUE_REAL);
}

static void columns_put_value(struct column_data *c, struct field_value v, bool is_mixed_column)
{
    if (v.type == VALUE_BOOL)
        v = value_int(v.is);
    else if (v.type == VALUE_UINT)
        v = value_int((int64_t)v.u);
    if (!is_taken(c, v))
        column_put_null(c);
    else if (c->type == VALUES_INT)
        column_put_int(c, v.i);
    else if (c->type == VALUES_REAL)
        column_put_real(c, v.type == VALUE_REAL ? v.real : (double)v.i);
    else if (v.type != VALUE_TEXT) {
        char text[NUM_TEXT];
        if (v.type == VALUE_REAL)
            column_put_text(c, (struct str){text, num_print_f64(text, v.real)});
        else
            column_put_text(
                c, (struct str){text, (size_t)snprintf(text, sizeof(text), "%" PRId64, v.i)});
    } else if (is_mixed_column)
        column_put_text(c, v.text);
    else
        column_put_lasting(c, v.text);
}

/* The slices of a chunk that are rows of the table. */
struct slice_rows {
    const struct sql_part *part;
    uint32_t *at;
    size_t n;
};

static void put_cells(const struct sql_columns *t, const struct slice_rows *r,
                      struct column_chunk *out)
{
    const struct slices *s = &r->part->cap->slices;
    const struct cut *cut = t->cuts != NULL ? &t->cuts[r->part - t->view->parts] : NULL;
    bool is_clipped = cut != NULL && cut->options.clip;

    for (size_t i = 0; i < r->n; i++) {
        struct slice slice = {.begin = s->begin[r->at[i]], .dur = s->dur[r->at[i]]};
        if (is_clipped)
            slice = cut_slice(cut, r->at[i]);
        column_put_int(&out->at[C_ID], (int64_t)r->part->base + r->at[i]);
        column_put_int(&out->at[C_TS], slice.begin);
        column_put_int(&out->at[C_DUR], slice.dur);
        column_put_int(&out->at[C_END_TS], nanos_add(slice.begin, slice.dur));
    }
    for (size_t c = C_END_TS + 1; c < t->n; c++)
        for (size_t i = 0; i < r->n; i++)
            columns_put_value(&out->at[c],
                              sql_slice_value(t->view, t->table->set, r->part, r->at[i], (int)c),
                              t->is_mixed[c]);
}

static void gather_slices(const struct sql_columns *t, size_t part, size_t from, size_t to,
                          struct slice_rows *r)
{
    const struct slices *s = &t->view->parts[part].cap->slices;

    r->part = &t->view->parts[part];
    r->n = 0;
    for (size_t i = from; i < to; i++)
        if (sql_set_has(t->table->set, (enum slice_kind)s->kind[i]) &&
            (t->cuts == NULL || cut_has(&t->cuts[part], i)))
            r->at[r->n++] = (uint32_t)i;
}

static void put_rows(const struct sql_columns *t, size_t part, size_t from, size_t to,
                     struct column_chunk *out)
{
    for (size_t row = from; row < to; row++) {
        if (t->cuts != NULL && t->table->rows == SQL_FLOWS &&
            !cut_has_flow(&t->cuts[part], &t->view->parts[part].cap->flows.at[row]))
            continue;
        column_put_int(&out->at[0], (int64_t)(t->bases[part] + row));
        for (size_t c = 1; c < t->n; c++)
            columns_put_value(&out->at[c], row_value(t, part, row, (int)c), t->is_mixed[c]);
    }
}

void sql_columns_fill(const struct sql_columns *t, size_t chunk, struct column_chunk *out)
{
    size_t first = chunk * COLUMNS_ROWS, end = first + COLUMNS_ROWS;
    struct slice_rows rows = {.at = mem_grow(NULL, sizeof(*rows.at), COLUMNS_ROWS)};

    for (size_t p = 0; p < t->view->part_count; p++) {
        size_t from = first > t->bases[p] ? first : t->bases[p];
        size_t to = end < t->bases[p + 1] ? end : t->bases[p + 1];
        if (from >= to)
            continue;
        if (t->is_slices) {
            gather_slices(t, p, from - t->bases[p], to - t->bases[p], &rows);
            put_cells(t, &rows, out);
        } else {
            put_rows(t, p, from - t->bases[p], to - t->bases[p], out);
        }
    }
    mem_free(rows.at);
}
