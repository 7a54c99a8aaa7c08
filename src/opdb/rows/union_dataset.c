/*
 * One CSV of all tables, read again: once for the types of its columns, once for its rows.
 */
#include "opdb/rows/union_dataset.h"

#include "base/formats/csv.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table_union.h"
#include "render/datasets/dataset.h"

struct typed_csv {
    struct arena arena;
    struct csv csv; /* large: a batch of blocks */
    struct column_info *info;
    size_t n;
};

static bool is_text_always(struct str name)
{
    for (size_t i = 0; i < SIGNATURE_CELLS; i++)
        if (str_equal(name, column_identity[i]))
            return true;
    return str_equal(name, column_runtime[RT_SEQ_VALUES]) ||
           str_equal(name, column_runtime[RT_SEQ_KV_VALUES]) || str_equal(name, S("version"));
}

static void find_types(struct typed_csv *t, struct str text)
{
    double number;

    csv_open(&t->csv, text);
    t->n = csv_header_count(&t->csv);
    t->info = ARENA_ARRAY(&t->arena, struct column_info, t->n);
    bool *has_number = ARENA_ARRAY(&t->arena, bool, t->n);
    bool *has_text = ARENA_ARRAY(&t->arena, bool, t->n);
    for (size_t i = 0; i < t->n; i++) {
        t->info[i].name = columns_utf8(&t->arena, csv_header(&t->csv, i));
        t->info[i].is_open = true;
        has_text[i] = is_text_always(t->info[i].name);
    }
    while (csv_next(&t->csv))
        for (size_t i = 0; i < t->n; i++) {
            struct str cell = csv_cell(&t->csv, (int)i);
            bool is_number = cell.n > 0 && cell_number(cell, &number);
            has_number[i] |= is_number;
            has_text[i] |= cell.n > 0 && !is_number;
        }
    for (size_t i = 0; i < t->n; i++)
        t->info[i].type = has_number[i] && !has_text[i] ? VALUES_REAL : VALUES_TEXT;
}

static void dataset_put_cell(struct typed_csv *t, struct column_data *c, size_t i)
{
    struct arena_mark mark = arena_mark(&t->arena);
    struct str cell = csv_cell(&t->csv, (int)i);
    double number = 0;

    if (cell.n == 0) {
        column_put_null(c);
    } else if (c->type == VALUES_REAL) {
        cell_number(cell, &number);
        column_put_real(c, number);
    } else {
        if (csv_span(&t->csv, i, i).n != cell.n)
            cell = csv_unquote(cell, &t->arena);
        column_put_text(c, cell);
    }
    arena_rewind(&t->arena, mark);
}

static bool dataset_write_rows(struct typed_csv *t, struct str text,
                               const struct dataset_form *form, struct sink out)
{
    struct dataset_layout layout = {.table = "operators", .columns = t->info, .n = t->n};
    struct column_chunk chunk;
    struct dataset_piece piece = {0};
    void *writer = form->open(&layout, out);
    bool is_more;

    columns_init(&chunk, t->info, t->n);
    csv_open(&t->csv, text);
    do {
        is_more = csv_next(&t->csv);
        for (size_t i = 0; i < t->n && is_more; i++)
            dataset_put_cell(t, &chunk.at[i], i);
        if (columns_rows(&chunk) < (is_more ? COLUMNS_ROWS : 1))
            continue;
        if (form->pack != NULL)
            form->pack(&layout, &chunk, &piece);
        form->append(writer, &chunk, &piece);
        columns_clear(&chunk);
    } while (is_more);
    columns_fini(&chunk);
    dataset_piece_free(&piece);
    return form->close(writer);
}

enum status union_dataset_write(const struct place_files *tree, enum union_form form,
                                struct sink out, struct diag *d)
{
    struct typed_csv *t = mem_grow(NULL, sizeof(*t), 1);
    struct text text = {0};

    arena_init(&t->arena);
    enum status st = table_union_write(tree, false, text_sink(&text), d);
    if (st == ST_OK) {
        find_types(t, text_view(&text));
        if (!dataset_write_rows(t, text_view(&text),
                                form == UNION_ARROW ? &dataset_arrow : &dataset_parquet, out))
            st = ST_IO;
    }
    text_free(&text);
    arena_free(&t->arena);
    mem_free(t);
    return st;
}
