/*
 * Many tables as one. See table_union.h.
 */
#include "perfdb/table_union.h"

#include "base/cancel.h"
#include "base/intern.h"
#include "perfdb/cell.h"
#include "perfdb/table.h"

static const struct str own[] = {S_INIT("operator"), S_INIT("device"), S_INIT("stack"),
                                 S_INIT("version"),  S_INIT("file"),   S_INIT("line")};

struct joined {
    struct arena arena;
    struct intern seen;
    VEC_OF(struct str) columns;
};

static void add_columns(struct joined *j, const struct op_table *t)
{
    for (size_t i = 0; i < t->columns.n; i++) {
        struct str name = cell_trim(t->columns.at[i]);
        size_t before = j->seen.strings.n;
        intern_put(&j->seen, name);
        if (j->seen.strings.n > before)
            vec_push(&j->columns, arena_str(&j->arena, name));
    }
}

static void write_rows(const struct joined *j, const struct place_file *file,
                       const struct op_table *t, struct csv_write *out)
{
    struct place_origin origin = place_origin(file->path);
    int *from = mem_grow(NULL, sizeof(*from), j->columns.n + 1);

    for (size_t i = 0; i < j->columns.n; i++)
        from[i] = table_column(t, j->columns.at[i]);
    for (size_t row = 0; row < t->n_rows; row++) {
        csv_write_cell(out, file->op);
        csv_write_cell(out, origin.device);
        csv_write_cell(out, origin.stack);
        csv_write_cell(out, origin.version);
        csv_write_cell(out, str_of(file->path));
        csv_write_u64(out, t->lines.at[row]);
        for (size_t i = 0; i < j->columns.n; i++)
            csv_write_cell(out, cell_trim(table_cell(t, row, from[i])));
        csv_write_row(out);
    }
    mem_free(from);
}

/* Once for the columns, once for the rows: one table at a time is in memory. */
static enum status go_through(struct joined *j, const struct place_files *tree,
                              struct csv_write *out, struct diag *d)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < tree->n && st == ST_OK; i++) {
        struct op_table t;
        st = table_read(&t, tree->at[i].path, d);
        if (st == ST_OK && out == NULL)
            add_columns(j, &t);
        else if (st == ST_OK)
            write_rows(j, &tree->at[i], &t, out);
        table_free(&t);
        if (st == ST_OK && cancelled())
            st = ST_CANCELLED;
    }
    return st;
}

enum status table_union_write(const struct place_files *tree, struct csv_write *out, struct diag *d)
{
    struct joined j = {0};

    arena_init(&j.arena);
    intern_init(&j.seen);
    enum status st = go_through(&j, tree, NULL, d);
    if (st == ST_OK) {
        for (size_t i = 0; i < ARRAY_LEN(own); i++)
            csv_write_cell(out, own[i]);
        for (size_t i = 0; i < j.columns.n; i++)
            csv_write_cell(out, j.columns.at[i]);
        csv_write_row(out);
        st = go_through(&j, tree, out, d);
    }
    vec_free(&j.columns);
    intern_fini(&j.seen);
    arena_free(&j.arena);
    return st;
}
