/*
 * Tables of a query, handed to the writers of data files.
 */
#include "answers/answer_tables.h"

#include "analysis/sql/sql.h"

static const char *table_name(void *ctx, size_t i)
{
    const struct sql_table_info *info = sql_schema(i);

    (void)ctx;
    return info != NULL ? info->name : NULL;
}

static const char *table_declaration(void *ctx, size_t i)
{
    (void)ctx;
    return sql_schema(i)->columns;
}

static void tables_fill(void *ctx, size_t chunk, struct column_chunk *out)
{
    const struct answer_tables *t = ctx;

    sql_columns_fill(t->open, chunk, out);
}

static const struct dataset_source *open_table(void *ctx, const char *table)
{
    struct answer_tables *t = ctx;

    t->open = sql_columns_open(&t->view, table, t->cuts);
    t->source = (struct dataset_source){
        .chunks = sql_columns_chunks(t->open), .fill = tables_fill, .ctx = t};
    t->source.layout = (struct dataset_layout){
        .table = table, .notes = t->notes, .notes_n = ARRAY_LEN(t->notes), .is_plain = t->is_plain};
    t->source.layout.columns = sql_columns_info(t->open, &t->source.layout.n);
    return &t->source;
}

static void close_table(void *ctx)
{
    struct answer_tables *t = ctx;

    sql_columns_close(t->open);
    t->open = NULL;
}

enum status answer_tables_init(struct answer_tables *t, const struct cut *cuts, size_t n,
                               struct diag *d)
{
    const struct capture *first = cuts[0].cap;

    *t = (struct answer_tables){
        .tables = {table_name, table_declaration, open_table, close_table, t},
        .cuts = cuts,
        .notes = {{S("strata.source"), str_of(first->name)},
                  {S("strata.origin"), str_of(origin_name(first->origin))},
                  {S("strata.time_unit"), first->clock.hz == 1000000000 ? S("ns") : S("cycle")}},
    };
    const struct capture **caps = mem_grow(NULL, sizeof(const struct capture *), n);
    for (size_t i = 0; i < n; i++)
        caps[i] = cuts[i].cap;
    enum status st = sql_view_init(&t->view, caps, n, d);
    mem_free(caps);
    return st;
}

void answer_tables_fini(struct answer_tables *t)
{
    sql_view_fini(&t->view);
}
