/*
 * The rows of a model. See call_cells.h.
 */
#include "opdb/rows/call_cells.h"

/* The rows of a model go into tables. */
struct filling {
    struct arena arena;
    struct op_tables tables;
    struct build_count *count;
};

static void rows_fill(void *ctx, const struct model_call *c)
{
    struct filling *f = ctx;
    struct op_cells cells = {0};
    size_t row;

    if (!call_cells(&f->arena, c, &cells) || cells.comm != NULL)
        return;
    f->count->rows++;
    f->count->added += op_tables_row(&f->tables, &cells, &row) != NULL && f->tables.is_new;
}

/* Whole prompts, and one more token of each sequence. */
static void fill_point(struct filling *f, const struct llm *m, const struct build_sizes *sizes,
                       int64_t batch, int64_t length)
{
    const struct model_load prompts = {.prompts = (double)batch, .queries = (double)length};
    const struct model_load decodes = {.decodes = (double)batch, .keys = (double)length};

    model_calls(m, &sizes->layout, &sizes->types, &prompts, 0, rows_fill, f);
    model_calls(m, &sizes->layout, &sizes->types, &decodes, 0, rows_fill, f);
}

enum status build_rows(const char *dir, const struct llm *model, const struct build_sizes *sizes,
                       struct build_count *out, struct diag *d)
{
    struct filling f = {.count = out};

    *out = (struct build_count){0};
    arena_init(&f.arena);
    op_tables_init(&f.tables, dir, d);
    for (size_t i = 0; i < sizes->n_batches; i++)
        for (size_t k = 0; k < sizes->n_lengths; k++)
            fill_point(&f, model, sizes, sizes->batches[i], sizes->lengths[k]);
    out->tables = f.tables.tables.n;
    enum status st = op_tables_write(&f.tables);
    op_tables_free(&f.tables);
    arena_free(&f.arena);
    return st;
}
