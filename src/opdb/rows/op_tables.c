/*
 * Tables that rows are added to. See op_tables.h.
 */
#include "opdb/rows/op_tables.h"

#include "base/files/fs.h"
#include "base/tables/hash.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/table.h"

struct open_table {
    struct str op;
    struct op_table table;
    bool is_changed;
    struct hash last;        /* row with the shapes and types of a key */
    VEC_OF(uint32_t) before; /* by row: the one with the same key before it; NO_ROW */
};

enum { NO_ROW = UINT32_MAX };

void op_tables_init(struct op_tables *t, const char *dir, struct diag *d)
{
    *t = (struct op_tables){.dir = dir, .d = d, .status = ST_OK};
    arena_init(&t->arena);
}

void op_tables_free(struct op_tables *t)
{
    for (size_t i = 0; i < t->tables.n; i++) {
        table_free(&t->tables.at[i]->table);
        hash_free(&t->tables.at[i]->last);
        vec_free(&t->tables.at[i]->before);
    }
    vec_free(&t->tables);
    arena_free(&t->arena);
}

static struct open_table *table_for(struct op_tables *all, struct str op)
{
    for (size_t i = 0; i < all->tables.n; i++)
        if (str_equal(all->tables.at[i]->op, op))
            return all->tables.at[i];
    struct open_table *t = ARENA_NEW(&all->arena, struct open_table);
    const char *file = arena_printf(&all->arena, "%.*s.csv", STR_ARGS(op));
    const char *path = fs_join(&all->arena, all->dir, file);
    t->op = arena_str(&all->arena, op);
    if (fs_exists(path)) {
        all->status = table_read(&t->table, path, all->d);
    } else {
        table_init(&t->table, path);
        table_arrange(&t->table, column_identity, IDENTITY_N);
    }
    vec_push(&all->tables, t);
    return t;
}

struct op_table *op_tables_get(struct op_tables *t, struct str op)
{
    struct open_table *found = t->status == ST_OK ? table_for(t, op) : NULL;

    if (t->status != ST_OK)
        return NULL;
    found->is_changed = true;
    return &found->table;
}

static bool has_cell(const struct op_table *t, size_t row, struct str column, struct str text)
{
    return str_equal(cell_bare(table_cell(t, row, table_column(t, column))), text);
}

static uint64_t row_key(struct str shapes, struct str types)
{
    return hash_mix(hash_bytes(shapes), hash_bytes(types));
}

/* Makes rows known that the table got meanwhile. */
static void index_rows(struct open_table *o)
{
    const struct op_table *t = &o->table;
    size_t shapes = table_column(t, COL_INPUT_SHAPES), types = table_column(t, COL_INPUT_DTYPES);

    for (size_t i = o->before.n; i < t->n_rows; i++) {
        uint64_t key =
            row_key(cell_bare(table_cell(t, i, shapes)), cell_bare(table_cell(t, i, types)));
        uint32_t before = NO_ROW;
        hash_get(&o->last, key, &before);
        vec_push(&o->before, before);
        hash_put(&o->last, key, (uint32_t)i);
    }
}

/* The first row of a call. */
static bool has_row(struct open_table *o, const struct op_cells *c, size_t *row)
{
    const struct op_table *t = &o->table;
    uint32_t i = NO_ROW;
    bool is_found = false;

    index_rows(o);
    hash_get(&o->last, row_key(c->in, c->types), &i);
    for (; i != NO_ROW; i = o->before.at[i])
        if (has_cell(t, i, COL_INPUT_SHAPES, c->in) && has_cell(t, i, COL_INPUT_DTYPES, c->types) &&
            (c->formats.n == 0 || has_cell(t, i, COL_INPUT_FORMATS, c->formats)) &&
            (c->out.n == 0 || has_cell(t, i, COL_OUTPUT_SHAPES, c->out)) &&
            (c->lengths.n == 0 ||
             (has_cell(t, i, column_runtime[RT_SEQ_VALUES], c->lengths) &&
              has_cell(t, i, column_runtime[RT_SEQ_KV_VALUES], c->kv_lengths)))) {
            *row = i;
            is_found = true;
        }
    return is_found;
}

void op_tables_set(struct op_table *t, size_t row, struct str column, struct str text)
{
    table_set(t, row, table_add_column(t, column), arena_str(&t->arena, text));
}

static void set_quoted(struct op_table *t, size_t row, struct str column, struct str text)
{
    if (text.n > 0)
        op_tables_set(t, row, column, arena_format(&t->arena, "\"%.*s\"", STR_ARGS(text)));
}

static void set_number(struct op_table *t, size_t row, struct str column, int64_t number)
{
    op_tables_set(t, row, column, arena_format(&t->arena, "%lld", (long long)number));
}

struct op_table *op_tables_row(struct op_tables *all, const struct op_cells *c, size_t *row)
{
    struct open_table *o = all->status == ST_OK ? table_for(all, str_of(c->op)) : NULL;

    if (all->status != ST_OK)
        return NULL;
    struct op_table *t = &o->table;
    all->is_new = !has_row(o, c, row);
    if (!all->is_new)
        return t;
    o->is_changed = true;
    *row = table_add_row(t);
    op_tables_set(t, *row, COL_OP_STATE, S("static"));
    set_quoted(t, *row, COL_INPUT_SHAPES, c->in);
    op_tables_set(t, *row, COL_INPUT_DTYPES, c->types);
    op_tables_set(t, *row, COL_INPUT_FORMATS, c->formats.n > 0 ? c->formats : S("ND"));
    set_quoted(t, *row, COL_OUTPUT_SHAPES, c->out);
    op_tables_set(t, *row, COL_OUTPUT_DTYPES, c->out_types);
    op_tables_set(t, *row, COL_OUTPUT_FORMATS, c->out_formats.n > 0 ? c->out_formats : S("ND"));
    if (c->lengths.n > 0) {
        op_tables_set(t, *row, column_runtime[RT_SEQ_VALUES], c->lengths);
        op_tables_set(t, *row, column_runtime[RT_SEQ_KV_VALUES], c->kv_lengths);
        set_number(t, *row, column_runtime[RT_NUM_KV_HEADS], c->kv_heads);
        set_number(t, *row, column_runtime[RT_SPARSE_MODE], c->sparse_mode);
    }
    return t;
}

enum status op_tables_write(struct op_tables *all)
{
    for (size_t i = 0; i < all->tables.n && all->status == ST_OK; i++)
        if (all->tables.at[i]->is_changed)
            all->status = table_write(&all->tables.at[i]->table, all->tables.at[i]->table.path,
                                      TABLE_NO_BOM, all->d);
    return all->status;
}
