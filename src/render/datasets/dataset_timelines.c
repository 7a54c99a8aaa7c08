/*
 * arrow, parquet, sqlite: a capture as the tables of `strata query`.
 */
#include "render/datasets/dataset.h"
#include "render/timelines/timeline.h"

static struct dataset_options options_of(const struct timeline_options *options)
{
    return (struct dataset_options){options->pool, options->progress, options->label};
}

/* One table: kernels or slices. */
static bool write_table(const struct dataset_form *form, const struct cut *cut,
                        const struct timeline_options *options, struct sink out)
{
    const struct timeline_tables *tables = options->tables;
    struct dataset_options how = options_of(options);

    if (tables == NULL)
        return false;
    if (arena_footprint(&cut->cap->strings.text) > INT32_MAX) { /* both count texts in 31 bits */
        if (options->why != NULL)
            *options->why = "the capture has texts of more than 2 GiB";
        return false;
    }
    const struct dataset_source *source =
        tables->open(tables->ctx, options->rows == TIMELINE_KERNELS ? "kernels" : "slices");
    bool is_done = dataset_write(form, source, &how, out, NULL);
    tables->close(tables->ctx);
    return is_done;
}

static bool write_arrow(const struct cut *cut, const struct timeline_options *options,
                        struct sink out)
{
    return write_table(&dataset_arrow, cut, options, out);
}

static bool write_parquet(const struct cut *cut, const struct timeline_options *options,
                          struct sink out)
{
    return write_table(&dataset_parquet, cut, options, out);
}

const struct timeline_format timeline_arrow = {
    .name = "arrow",
    .endings = (const char *const[]){".arrow", ".feather", NULL},
    .summary = "a table of kernels or of all slices (Arrow IPC)",
    .is_binary = true,
    .is_table = true,
    .is_query = true,
    .write = write_arrow,
};

const struct timeline_format timeline_parquet = {
    .name = "parquet",
    .endings = (const char *const[]){".parquet", NULL},
    .summary = "a table of kernels or of all slices (Parquet)",
    .is_binary = true,
    .is_table = true,
    .is_query = true,
    .write = write_parquet,
};

static const struct {
    const char *table, *columns;
} indexes[] = {
    {"slices", "ts"},      {"slices", "name"},      {"slices", "lane, ts"},
    {"kernels", "ts"},     {"kernels", "name"},     {"kernels", "lane, ts"},
    {"host_events", "ts"}, {"host_events", "name"}, {"host_events", "lane, ts"},
    {"flows", "from_id"},  {"flows", "to_id"},
};

static bool write_sqlite(const struct cut *cut, const struct timeline_options *options,
                         struct sink out)
{
    const struct timeline_tables *tables = options->tables;
    struct dataset_options how = options_of(options);
    struct dataset_db *db = tables != NULL ? dataset_db_open(options->folder, options->why) : NULL;
    const char *name;
    bool is_good = true;

    (void)cut;
    if (db == NULL)
        return false;
    for (size_t i = 0; is_good && (name = tables->name(tables->ctx, i)) != NULL; i++) {
        const struct dataset_source *source = tables->open(tables->ctx, name);
        is_good = dataset_db_table(db, tables->declaration(tables->ctx, i), source, &how);
        tables->close(tables->ctx);
    }
    for (size_t i = 0; is_good && i < ARRAY_LEN(indexes); i++)
        is_good = dataset_db_index(db, indexes[i].table, indexes[i].columns);
    return dataset_db_save(db, is_good ? out : (struct sink){0}, options->why) && is_good;
}

const struct timeline_format timeline_sqlite = {
    .name = "sqlite",
    .endings = (const char *const[]){".db", ".sqlite", NULL},
    .summary = "all tables of strata query with indexes (SQLite)",
    .is_binary = true,
    .is_query = true,
    .write = write_sqlite,
};
