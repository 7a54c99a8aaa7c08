/*
 * strata db sql: SQL over the tables of the database.
 */
#include "base/formats/csv_write.h"
#include "cli/db/opt_db.h"
#include "opdb/rows/sqlview.h"
#include "report/report.h"

struct args {
    struct place_args place;
    bool csv;
};

static const struct opt options[] = {
    OPT_FLAG(0, "csv", struct args, csv, "print rows as CSV"),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db sql --database-path examples/perfdb/db \"SELECT \\\"Input Shapes\\\", "
     "\\\"Profiling Average Duration(us)\\\" AS us FROM MatMulV2 ORDER BY us DESC\"",
     "slowest shapes of an operator"},
    {"strata db sql --database-path examples/perfdb/db --csv \"SELECT _file, count(*) FROM RmsNorm "
     "GROUP BY _file\"",
     "rows per file"},
};

/* The rows of a statement. */
struct db_sql_rows {
    struct str *columns;
    VEC_OF(struct field_value) cells;
    struct value_rows rows; /* of the cells, once all are there */
};

static const struct field sql_fields[] = {
    FIELD_VALUES(struct db_sql_rows, columns, rows.width, "columns"),
    FIELD_ROWS(struct db_sql_rows, rows, "rows"),
};

static const struct schema sql_schema = {
    .name = "strata.db-sql/1",
    .title = "the rows of a SELECT over a database",
    .record = &(const struct record)RECORD(struct db_sql_rows, sql_fields),
};

struct sql_taker {
    struct session *s;
    struct db_sql_rows *rows;
    struct csv_write csv;
};

static bool sql_keep_head(void *ctx, const char *const *names, size_t n)
{
    const struct sql_taker *t = ctx;

    t->rows->rows.width = n;
    t->rows->columns = ARENA_ARRAY(&t->s->arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        t->rows->columns[i] = arena_str(&t->s->arena, str_of(names[i]));
    return true;
}

static bool sql_keep_row(void *ctx, const struct field_value *cells, size_t n)
{
    const struct sql_taker *t = ctx;

    for (size_t i = 0; i < n; i++) {
        struct field_value v = cells[i];
        if (v.type == VALUE_TEXT)
            v.text = arena_str(&t->s->arena, v.text);
        vec_push(&t->rows->cells, v);
    }
    t->rows->rows.n++;
    return true;
}

static bool sql_csv_head(void *ctx, const char *const *names, size_t n)
{
    struct sql_taker *t = ctx;

    for (size_t i = 0; i < n; i++)
        csv_write_cell(&t->csv, str_of(names[i]));
    csv_write_row(&t->csv);
    return true;
}

static bool sql_csv_row(void *ctx, const struct field_value *cells, size_t n)
{
    struct sql_taker *t = ctx;

    for (size_t i = 0; i < n; i++)
        value_csv(&t->csv, cells[i]);
    csv_write_row(&t->csv);
    return true;
}

static struct str cell_words(struct report *r, struct field_value v)
{
    if (v.type == VALUE_INT)
        return arena_format(&r->arena, "%lld", (long long)v.i);
    if (v.type == VALUE_REAL)
        return arena_format(&r->arena, "%.9g", v.real);
    return v.type == VALUE_NONE ? S("-") : v.text;
}

static void sql_describe(const void *result, struct report *r)
{
    const struct db_sql_rows *sql = result;
    const struct value_rows *rows = &sql->rows;
    struct column *columns = ARENA_ARRAY(&r->arena, struct column, rows->width);

    if (rows->width == 0)
        return;
    for (size_t c = 0; c < rows->width; c++) {
        columns[c] = (struct column){arena_cstr(&r->arena, sql->columns[c]), COLUMN_RIGHT, 0};
        for (size_t i = c; i < rows->n * rows->width; i += rows->width)
            if (rows->cells[i].type == VALUE_TEXT)
                columns[c].type = COLUMN_TEXT;
    }
    struct table *t = report_table(r, columns, rows->width);
    for (size_t i = 0; i < rows->n * rows->width; i++)
        table_text(r, t, cell_words(r, rows->cells[i]));
}

static enum status sql_give(struct sql_taker *t, const struct place_files *tree, struct str sql)
{
    const struct sqlview_sink sink = {sql_keep_head, sql_keep_row, t};
    struct db_sql_rows rows = {0};

    t->rows = &rows; /* cppcheck-suppress autoVariables ; until the end of this function */
    enum status st = sqlview_run(tree, sql, &sink, &t->s->diag);
    rows.rows.cells = rows.cells.at;
    if (st == ST_OK)
        session_give(t->s, &(struct answer){
                               .schema = &sql_schema, .result = &rows, .describe = sql_describe});
    vec_free(&rows.cells);
    return st;
}

/* As they come, however many. */
static enum status sql_stream(struct sql_taker *t, const struct place_files *tree, struct str sql)
{
    const struct sqlview_sink sink = {sql_csv_head, sql_csv_row, t};

    csv_write_open(&t->csv, session_sink(t->s));
    t->csv.is_safe = t->s->common.csv_safe;
    enum status st = sqlview_run(tree, sql, &sink, &t->s->diag);
    csv_write_close(&t->csv);
    return st;
}

static int db_sql_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct sql_taker t = {.s = s};
    struct place_files tree;
    const struct place_args *place = &args->place;
    const char *dir = place_root(place); /* the whole tree, unless a folder of it is named */

    if (args->csv)
        TRY_CODE(session_own_form(s, "--csv"));
    if (place->database_path != NULL || place->vllm != NULL || place->stack_version != NULL)
        TRY_CODE(db_place(s, place, &dir));
    TRY_CODE(db_code(place_find(&s->arena, dir, NULL, 0, &tree, &s->diag)));
    struct str sql = str_of(s->operands.at[0]);
    enum status st = args->csv ? sql_stream(&t, &tree, sql) : sql_give(&t, &tree, sql);
    return st == ST_UNSUPPORTED ? CODE_USAGE : db_code(st);
}

const struct command command_db_sql = {
    .name = "sql",
    .group = GROUP_DATABASE,
    .summary = "query the tables of a database with SQL",
    .usage = "[OPTIONS] STATEMENT",
    .details =
        "Runs one SELECT over the operator tables: each operator is an SQL table with the columns "
        "of its header plus _device, _stack, _version, _file and _line. Tables of one operator in "
        "several folders are combined. Numeric cells are numbers, empty cells NULL. SQL keywords "
        "(\"Add\") and names with spaces need double quotes. The database is read-only: any other "
        "statement is rejected.\n"
        "\n"
        "Without --database-path and versions the whole tree below the data root is queried. Rows "
        "are printed as a table, as CSV (--csv) or as a JSON document (--json).",
    .see = "docs/perfdb.md",
    .operands = {.kind = OPERAND_WORD, .min = 1, .max = 1},
    .common = COMMON_CSV,
    .schemas = {&sql_schema},
    COMMAND_PARTS_ZERO,
    .run = db_sql_run,
};
