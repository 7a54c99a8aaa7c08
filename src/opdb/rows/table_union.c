/*
 * Many tables as one. See table_union.h.
 */
#include "opdb/rows/table_union.h"

#include "base/formats/csv_write.h"
#include "base/run/cancel.h"
#include "base/tables/intern.h"
#include "base/text/num.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/table.h"

enum { OWN_LINE = 5, OWN };
static const struct str own[OWN] = {S_INIT("operator"), S_INIT("device"), S_INIT("stack"),
                                    S_INIT("version"),  S_INIT("file"),   S_INIT("line")};

struct joined {
    struct arena arena;
    struct intern seen;
    VEC_OF(struct str) columns; /* our own first */
    struct csv_write out;       /* large: a buffer */
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

static void union_write_rows(struct joined *j, const struct place_file *file,
                             const struct op_table *t)
{
    size_t n = j->columns.n;
    struct place_origin origin = place_origin(file->path);
    int *from = mem_grow(NULL, sizeof(*from), n);
    struct str *cells = mem_grow(NULL, sizeof(*cells), n);
    char line[NUM_TEXT];
    const struct str mine[OWN] = {file->op,       origin.device,      origin.stack,
                                  origin.version, str_of(file->path), {line, 0}};

    memcpy(cells, mine, sizeof(mine));
    for (size_t i = OWN; i < n; i++)
        from[i] = table_column(t, j->columns.at[i]);
    for (size_t row = 0; row < t->n_rows; row++) {
        cells[OWN_LINE].n = num_print_u64(line, t->lines.at[row]);
        for (size_t i = OWN; i < n; i++)
            cells[i] = cell_trim(table_cell(t, row, from[i]));
        csv_write_cells(&j->out, cells, n);
    }
    mem_free(cells);
    mem_free(from);
}

/* Once for the columns, once for the rows: one table at a time is in memory. */
static enum status go_through(struct joined *j, const struct place_files *tree, bool is_second,
                              struct diag *d)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < tree->n && st == ST_OK; i++) {
        struct op_table t;
        st = table_read(&t, tree->at[i].path, d);
        if (st == ST_OK && !is_second)
            add_columns(j, &t);
        else if (st == ST_OK)
            union_write_rows(j, &tree->at[i], &t);
        table_free(&t);
        if (st == ST_OK && cancelled())
            st = ST_CANCELLED;
    }
    return st;
}

enum status table_union_write(const struct place_files *tree, bool is_safe, struct sink sink,
                              struct diag *d)
{
    struct joined j = {0};

    arena_init(&j.arena);
    intern_init(&j.seen);
    for (size_t i = 0; i < OWN; i++)
        vec_push(&j.columns, own[i]);
    csv_write_open(&j.out, sink);
    j.out.is_safe = is_safe;
    enum status st = go_through(&j, tree, false, d);
    if (st == ST_OK) {
        csv_write_cells(&j.out, j.columns.at, j.columns.n);
        st = go_through(&j, tree, true, d);
    }
    csv_write_close(&j.out); /* the owner of the sink knows of a failure */
    vec_free(&j.columns);
    intern_fini(&j.seen);
    arena_free(&j.arena);
    return st;
}
