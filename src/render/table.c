/*
 * table: the tables of a report as CSV, one after the other with an empty line between. Numbers
 * are as in the text; for exact ones a command has --json.
 */
#include "base/csv_write.h"
#include "render/render.h"

static void put_table(struct csv_write *out, const struct table *t)
{
    char buf[QUANTITY_TEXT];

    for (size_t c = 0; c < t->n_columns; c++)
        csv_write_cell(out, str_of(t->columns[c].head));
    csv_write_row(out);
    for (size_t i = 0; i < t->cells.n; i++) {
        csv_write_cell(out, table_cell(t, i, buf));
        if ((i + 1) % t->n_columns == 0)
            csv_write_row(out);
    }
}

static bool write_table(const struct report *r, const struct render_options *options,
                        struct sink out)
{
    struct csv_write csv;
    bool is_first = true;

    (void)options;
    for (size_t i = 0; i < r->blocks.n; i++) {
        if (r->blocks.at[i]->kind != BLOCK_TABLE)
            continue;
        if (!is_first && !out.write(out.ctx, S("\n")))
            return false;
        is_first = false;
        csv_write_open(&csv, out);
        put_table(&csv, r->blocks.at[i]->table);
        if (!csv_write_close(&csv))
            return false;
    }
    return true;
}

const struct renderer renderer_table = {
    .name = "csv",
    .suffix = ".csv",
    .summary = "the tables as comma-separated values",
    .write = write_table,
};
