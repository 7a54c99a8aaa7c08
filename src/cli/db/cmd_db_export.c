/*
 * strata db export: the tables of a database as one file for other tools.
 */
#include "base/text/text.h"
#include "cli/db/opt_db.h"
#include "opdb/rows/sqlview.h"
#include "opdb/rows/table_union.h"
#include "opdb/rows/union_dataset.h"
#include "report/report.h"
#include "text/database.h"

struct args {
    struct words ops;
    struct place_args place;
    int format;
};

enum { EXPORT_NONE = -1, EXPORT_SQLITE, EXPORT_CSV, EXPORT_PARQUET, EXPORT_ARROW };
static const char *const formats[] = {"sqlite", "csv", "parquet", "arrow", NULL};

static const struct args defaults = {.format = EXPORT_NONE};

static const struct opt options[] = {
    OPT_CHOICE(0, "to", formats, struct args, format, "file format"),
    OPT_DB_OPS(struct args, ops),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db export --database-path examples/perfdb/db --to sqlite -o db.sqlite",
     "one SQL table per operator"},
    {"strata db export --database-path examples/perfdb/db --to csv -o db.csv",
     "all operators in one table"},
};

/* What was exported. */
struct exported {
    const char *format, *path; /* path: NULL, on stdout */
    uint64_t tables, bytes;
    struct str file; /* for stdout */
};

static const struct field exported_fields[] = {
    FIELD(struct exported, format, "format"),
    FIELD(struct exported, path, "path"),
    FIELD(struct exported, tables, "tables"),
    FIELD(struct exported, bytes, "bytes"),
};

static const struct schema exported_schema = {
    .name = "strata.db-export/1",
    .title = "tables of a database as one file",
    .record = &(const struct record)RECORD(struct exported, exported_fields),
};

static bool write_bytes(const void *what, struct sink sink)
{
    return sink.write(sink.ctx, *(const struct str *)what);
}

static bool export_print(const void *result, struct sink sink)
{
    return sink.write(sink.ctx, ((const struct exported *)result)->file);
}

static void export_describe(const void *result, struct report *r)
{
    const struct exported *e = result;

    report_text(r, REPORT_MESSAGE(r, &database_text.exported, PLACE("n", e->tables),
                                  PLACE("format", e->format),
                                  place_quantity("size", (double)e->bytes, UNIT_BYTES)));
}

/* The file as a whole, or stdout. */
static enum status export_put(struct session *s, const struct place_files *tree, struct str bytes,
                              struct exported *out)
{
    const char **inputs = ARENA_ARRAY(&s->arena, const char *, tree->n + 1);

    for (size_t i = 0; i < tree->n; i++)
        inputs[i] = tree->at[i].path;
    out->bytes = bytes.n;
    out->file = bytes;
    if (out->path != NULL) {
        TRY(db_output(s, out->path, inputs, write_bytes, &bytes));
        session_wrote(s, out->path);
    }
    session_give(s, &(struct answer){.schema = &exported_schema,
                                     .origin = "measured",
                                     .result = out,
                                     .describe = export_describe,
                                     .print = out->path != NULL ? NULL : export_print,
                                     .is_file = out->path == NULL});
    return ST_OK;
}

static enum status put_sqlite(struct session *s, const struct place_files *tree,
                              struct exported *out)
{
    struct sqlview_file file;

    enum status st = sqlview_file(tree, &file, &s->diag);
    if (st == ST_OK)
        st = export_put(s, tree, (struct str){(const char *)file.at, file.n}, out);
    sqlview_file_free(&file);
    return st;
}

/* All operators in one table. */
static enum status put_union(struct session *s, const struct place_files *tree, int format,
                             struct exported *out)
{
    struct text text = {0};
    struct sink sink = text_sink(&text);
    enum status st;

    if (format == EXPORT_CSV)
        st = table_union_write(tree, s->common.csv_safe, sink, &s->diag);
    else
        st = union_dataset_write(tree, format == EXPORT_ARROW ? UNION_ARROW : UNION_PARQUET, sink,
                                 &s->diag);
    if (st == ST_OK)
        st = export_put(s, tree, text_view(&text), out);
    text_free(&text);
    return st;
}

static int export_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct exported out = {.path = db_output_path(s, NULL)};
    struct place_files tree;
    const char *dir;

    if (args->format == EXPORT_NONE)
        return session_usage(s, "export needs --to sqlite, csv, parquet or arrow");
    if (out.path == NULL && args->format != EXPORT_CSV && s->common.out == NULL)
        return session_usage(s, "export --to %s needs -o FILE", formats[args->format]);
    TRY_CODE(db_tables(s, &args->ops, &args->place, &dir, &tree));
    out.format = formats[args->format];
    out.tables = tree.n;
    enum status st = args->format == EXPORT_SQLITE ? put_sqlite(s, &tree, &out)
                                                   : put_union(s, &tree, args->format, &out);
    return db_code(st);
}

const struct command command_db_export = {
    .name = "export",
    .group = GROUP_DATABASE,
    .summary = "write the tables of a database as one file",
    .usage = "--to sqlite|csv|parquet|arrow -o FILE [OPTIONS]",
    .details =
        "sqlite: one SQL table per operator, as strata db sql shows them: the columns of its "
        "header "
        "plus _device, _stack, _version, _file and _line; numeric cells are numbers, empty cells "
        "NULL. csv: one table with operator, device, stack, version, file and line of each row, "
        "and every column that any operator has; printed without -o. parquet, arrow: the same "
        "table; columns of numbers are numbers, empty cells null.",
    .see = "docs/perfdb.md",
    .operands = {OPERAND_WORD, 0, SIZE_MAX, NULL},
    .common = COMMON_OUT | COMMON_CSV,
    .schemas = {&exported_schema},
    COMMAND_PARTS,
    .run = export_run,
};
