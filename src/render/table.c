/*
 * table: the tables of a report as CSV, one after the other with an empty line between. Numbers
 * are as in the text; for exact ones a command has --json.
 */
#include "base/formats/csv_write.h"
#include "render/render.h"

static void render_table_put(struct render_out *o, const struct table *t)
{
    struct csv_write out;
    char buf[QUANTITY_TEXT];

    csv_write_open(&out, o->sink);
    out.is_safe = o->csv_safe;
    for (size_t c = 0; c < t->n_columns; c++)
        csv_write_cell(&out, str_of(t->columns[c].head));
    csv_write_row(&out);
    for (size_t i = 0; i < t->cells.n; i++) {
        csv_write_cell(&out, table_cell_text(t, i, buf));
        if ((i + 1) % t->n_columns == 0)
            csv_write_row(&out);
    }
    o->failed |= !csv_write_close(&out);
}

const struct renderer renderer_table = {
    .name = "csv",
    .suffix = ".csv",
    .summary = "the tables as comma-separated values",
    .has_gaps = true,
    .table = render_table_put,
};
