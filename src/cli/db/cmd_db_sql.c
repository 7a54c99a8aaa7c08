/*
 * strata db sql: SQL over the tables of the database.
 */
#include "base/formats/csv_write.h"
#include "cli/db/opt_db.h"
#include "opdb/rows/sqlview.h"

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

/* Where rows go. */
struct printer {
    struct session *s;
    size_t columns;
    struct csv_write *csv;    /* or */
    struct json_writer *json; /* or a table, whose cells are kept */
    const char **heads;
    bool *is_text;
    VEC_OF(const char *) cells;
};

static bool db_sql_take_head(void *ctx, const char *const *names, size_t n)
{
    struct printer *p = ctx;
    struct arena *arena = &p->s->arena;

    p->columns = n;
    if (p->s->common.json) {
        p->json = session_json_begin(p->s, "strata.db-sql/1", NULL);
        json_write_object(p->json);
        json_put_array(p->json, "columns");
        for (size_t i = 0; i < n; i++)
            json_write_string(p->json, str_of(names[i]));
        json_write_end(p->json);
        json_put_array(p->json, "rows");
        return true;
    }
    for (size_t i = 0; i < n && p->csv != NULL; i++)
        csv_write_cell(p->csv, str_of(names[i]));
    if (p->csv != NULL)
        csv_write_row(p->csv);
    p->heads = ARENA_ARRAY(arena, const char *, n + 1);
    p->is_text = ARENA_ARRAY(arena, bool, n + 1);
    for (size_t i = 0; i < n; i++)
        p->heads[i] = out_clean(arena, str_of(names[i]));
    return true;
}

static const char *cell_text(struct arena *arena, struct field_value v)
{
    if (v.type == VALUE_INT)
        return arena_format(arena, "%lld", (long long)v.i).at;
    if (v.type == VALUE_REAL)
        return arena_format(arena, "%.9g", v.real).at;
    return v.type == VALUE_NONE ? "-" : out_clean(arena, v.text);
}

static bool db_sql_take_row(void *ctx, const struct field_value *cells, size_t n)
{
    struct printer *p = ctx;

    if (p->json != NULL)
        json_write_array(p->json);
    for (size_t i = 0; i < n; i++)
        if (p->json != NULL) {
            value_json(p->json, cells[i]);
        } else if (p->csv != NULL) {
            value_csv(p->csv, cells[i]);
        } else {
            p->is_text[i] = p->is_text[i] || cells[i].type == VALUE_TEXT;
            vec_push(&p->cells, cell_text(&p->s->arena, cells[i]));
        }
    if (p->json != NULL)
        json_write_end(p->json);
    if (p->csv != NULL)
        csv_write_row(p->csv);
    return true;
}

static void sql_finish(struct printer *p, enum status st)
{
    if (p->json != NULL) {
        json_write_end(p->json);
        json_write_end(p->json);
        session_json_end(p->s);
    }
    if (p->csv != NULL)
        csv_write_close(p->csv);
    if (p->json == NULL && p->csv == NULL && st == ST_OK && p->columns > 0) {
        struct out_column *columns = ARENA_ARRAY(&p->s->arena, struct out_column, p->columns);
        for (size_t i = 0; i < p->columns; i++)
            columns[i] = (struct out_column){p->heads[i], !p->is_text[i]};
        out_table(&p->s->out, columns, p->columns, p->cells.at, p->cells.n / p->columns);
    }
    vec_free(&p->cells);
}

static int db_sql_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct printer p = {.s = s};
    struct place_files tree;
    const struct place_args *place = &args->place;
    const char *dir = place_root(place); /* the whole tree, unless a folder of it is named */

    if (place->database_path != NULL || place->vllm != NULL || place->stack_version != NULL)
        TRY_CODE(db_place(s, place, &dir));
    TRY_CODE(db_code(place_find(&s->arena, dir, NULL, 0, &tree, &s->diag)));
    if (args->csv && !s->common.json) {
        p.csv = ARENA_NEW(&s->arena, struct csv_write);
        csv_write_open(p.csv, session_sink(s));
        p.csv->is_safe = s->common.csv_safe;
    }
    const struct sqlview_sink sink = {db_sql_take_head, db_sql_take_row, &p};
    enum status st = sqlview_run(&tree, str_of(s->operands.at[0]), &sink, &s->diag);
    sql_finish(&p, st);
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
    COMMAND_PARTS_ZERO,
    .run = db_sql_run,
};
