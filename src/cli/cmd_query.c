/*
 * strata query: SQL over a capture.
 */
#include <stdio.h>
#include <unistd.h>

#include "analysis/sql/query_file.h"
#include "analysis/sql/sql.h"
#include "base/files/outfile.h"
#include "base/files/stream.h"
#include "base/formats/csv_write.h"
#include "cli/captures.h"
#include "cli/compress.h"
#include "cli/terminal/stop.h"

enum to { TO_TABLE, TO_CSV, TO_JSON, TO_ARROW, TO_PARQUET, TO_NOT_GIVEN = -1 };

struct args {
    int to; /* enum to */
    const char *file;
    double timeout;
    int64_t limit, skip; /* rows; limit 0: all */
    int compress;        /* enum compress_choice */
    struct input_options input;
    bool schema;
};

static const struct args defaults = {
    .to = TO_NOT_GIVEN, .compress = COMPRESS_NOT_GIVEN, .input = CAPTURE_INPUT(.pmu = true)};

static const char *const formats[] = {"table", "csv", "json", "arrow", "parquet", NULL};

static const struct opt options[] = {
    OPT_CHOICE(0, "to", formats, struct args, to,
               "output format (default: by the name of OUT, else table)"),
    OPT_STRING(0, "file", "FILE", struct args, file, "read the statement from a file; -: stdin"),
    OPT_DOUBLE(0, "timeout", "SECONDS", struct args, timeout,
               "time limit in seconds (default: none)"),
    OPT_INT(0, "limit", "N", struct args, limit, 1, INT64_MAX, "stop after N rows (default: all)"),
    OPT_INT(0, "skip", "N", struct args, skip, 0, INT64_MAX, "leave out the first N rows"),
    OPT_COMPRESS(struct args, compress),
    CAPTURE_OPTIONS(struct args, input),
    OPT_FLAG(0, "schema", struct args, schema, "list tables and columns and exit"),
};

static const struct example examples[] = {
    {"strata query examples/ascend-small \"SELECT name, count(*), sum(dur) FROM kernels GROUP BY "
     "name\"",
     "time by kernel"},
    {"strata query examples/ascend-small --to csv \"SELECT * FROM steps\"", "steps as CSV"},
    {"strata query examples/ascend-small -o kernels.parquet \"SELECT * FROM kernels\"",
     "kernels as a Parquet file"},
    {"strata query --schema", "every table and its columns"},
};

enum { TABLE_ROWS = 1000, CELL_WIDTH = 100, MOST_TABLES = 64 };
enum { MEMORY_MOST = 512 << 20 }; /* of SQLite, besides the capture */

/* Inside one SQL function SQLite does not look at the clock; this long after the limit the program
 * ends all the same. */
#define LATE_S 0.25

/* Where rows go. */
struct printer {
    struct session *s;
    enum to to;
    struct sink out; /* of CSV */
    const char *origin;
    size_t columns;
    bool has_begun, is_cut, is_plain;
    uint64_t rows; /* printed */
    struct csv_write csv;
    struct json_writer *json;
    /* table: rows are kept until there are enough to know how wide columns are */
    struct arena arena;
    const char **heads;
    VEC_OF(const char *) cells;
    bool *is_text;
    struct wrap_column *places;
    bool is_streaming;
};

static const char *cell_text(struct arena *arena, const struct sql_value *v)
{
    switch (v->type) {
    case SQL_NULL:
        return "-";
    case SQL_INT:
        return arena_format(arena, "%lld", (long long)v->number).at;
    case SQL_REAL:
        return arena_format(arena, "%.6g", v->real).at;
    case SQL_BLOB:
        return arena_format(arena, "(%zu bytes)", v->text.n).at;
    case SQL_TEXT:
        break;
    }
    if (v->text.n <= CELL_WIDTH)
        return out_clean(arena, v->text);
    size_t n = CELL_WIDTH - 1;
    while (n > 0 && ((unsigned char)v->text.at[n] & 0xc0) == 0x80) /* not inside a character */
        n--;
    return arena_format(arena, "%s…", out_clean(arena, str_part(v->text, 0, n))).at;
}

/* Prints what was kept; from now on rows go out as they come. */
static void flush_table(struct printer *p)
{
    if (p->is_streaming)
        return;
    p->is_streaming = true;
    for (size_t c = 0; c < p->columns; c++)
        p->places[c].is_right = !p->is_text[c];
    wrap_fit(p->places, p->columns, p->s->out.width);
    out_row(&p->s->out, p->places, p->columns, p->heads, STYLE_BOLD);
    for (size_t i = 0; i < p->cells.n; i += p->columns)
        out_row(&p->s->out, p->places, p->columns, &p->cells.at[i], STYLE_PLAIN);
    vec_free(&p->cells);
}

static void begin_table(struct printer *p, const char *const *names)
{
    p->heads = ARENA_ARRAY(&p->arena, const char *, p->columns);
    p->is_text = ARENA_ARRAY(&p->arena, bool, p->columns);
    p->places = ARENA_ARRAY(&p->arena, struct wrap_column, p->columns);
    for (size_t c = 0; c < p->columns; c++) {
        p->heads[c] = out_clean(&p->arena, str_of(names[c]));
        wrap_widen(&p->places[c], str_of(p->heads[c]));
    }
}

static void table_row(struct printer *p, const struct sql_value *cells)
{
    struct arena_mark mark = arena_mark(&p->arena);
    const char **row = ARENA_ARRAY(&p->arena, const char *, p->columns);

    for (size_t c = 0; c < p->columns; c++) {
        row[c] = cell_text(&p->arena, &cells[c]);
        if (p->is_streaming)
            continue;
        p->is_text[c] |= cells[c].type == SQL_TEXT || cells[c].type == SQL_BLOB;
        wrap_widen(&p->places[c], str_of(row[c]));
        vec_push(&p->cells, row[c]);
    }
    if (p->is_streaming) {
        out_row(&p->s->out, p->places, p->columns, row, STYLE_PLAIN);
        arena_rewind(&p->arena, mark);
    } else if (p->rows >= TABLE_ROWS) {
        flush_table(p);
    }
}

/* Into a row of JSON or CSV; a blob as its digits. */
static void query_put_cell(struct printer *p, const struct sql_value *v)
{
    bool is_json = p->to == TO_JSON;

    if (v->type == SQL_INT && is_json) {
        json_write_i64(p->json, v->number);
    } else if (v->type == SQL_INT) {
        csv_write_i64(&p->csv, v->number);
    } else if (v->type == SQL_REAL && is_json) {
        json_write_f64(p->json, v->real);
    } else if (v->type == SQL_REAL) {
        csv_write_f64(&p->csv, v->real);
    } else if (v->type == SQL_NULL && is_json) {
        json_write_null(p->json);
    } else {
        struct str text = v->type == SQL_TEXT ? v->text : S("");
        if (v->type == SQL_BLOB)
            text = sql_hex(&p->arena, v->text);
        if (is_json)
            json_write_string(p->json, text);
        else
            csv_write_cell(&p->csv, text);
    }
}

static bool query_take_head(void *ctx, const char *const *names, size_t n)
{
    struct printer *p = ctx;

    p->columns = n;
    p->has_begun = true;
    if (p->to == TO_TABLE) {
        begin_table(p, names);
    } else if (p->to == TO_JSON) {
        p->json = session_json_begin(p->s, "strata.query/1", p->origin);
        json_write_object(p->json);
        json_put_array(p->json, "columns");
        for (size_t c = 0; c < p->columns; c++)
            json_write_string(p->json, str_of(names[c]));
        json_write_end(p->json);
        json_put_array(p->json, "rows");
    } else {
        csv_write_open(&p->csv, p->out);
        p->csv.is_safe = p->s->common.csv_safe;
        for (size_t c = 0; c < n; c++)
            csv_write_cell(&p->csv, str_of(names[c]));
        csv_write_row(&p->csv);
    }
    return true;
}

static bool query_take_row(void *ctx, const struct sql_value *cells, size_t n)
{
    struct printer *p = ctx;
    struct arena_mark mark = arena_mark(&p->arena);
    bool is_json = p->to == TO_JSON;

    p->rows++;
    if (p->to == TO_TABLE) {
        table_row(p, cells);
        return p->s->out.error == 0; /* a reader that left needs no more rows */
    }
    if (is_json) {
        json_write_array(p->json);
        p->json->layout = JSON_COMPACT; /* a line for each row, not for each cell */
    }
    for (size_t c = 0; c < n; c++)
        query_put_cell(p, &cells[c]);
    if (is_json) {
        json_write_end(p->json);
        p->json->layout = JSON_INDENTED;
    } else {
        csv_write_row(&p->csv);
    }
    arena_rewind(&p->arena, mark);
    return p->s->out.error == 0;
}

/* Rows for people and programs, as they come. */
static enum status print_rows(struct session *s, struct sql *sql, struct printer *p,
                              struct sql_query query)
{
    query.head = query_take_head;
    query.row = query_take_row;
    query.ctx = p;
    arena_init(&p->arena);
    enum status st = sql_run(sql, &query, &s->diag);
    if (p->has_begun && p->to == TO_TABLE) {
        if (st == ST_OK || p->rows > 0) {
            flush_table(p);
            out_left_out(&p->s->out, p->places, p->columns, p->heads);
        }
    } else if (p->has_begun && p->to == TO_CSV) {
        csv_write_close(&p->csv);
    } else if (p->has_begun) {
        json_write_end(p->json);
        json_put_u64(p->json, "row_count", p->rows);
        json_put_bool(p->json, "is_complete", st == ST_OK && !p->is_cut);
        json_write_end(p->json);
        session_json_end(p->s);
    }
    vec_free(&p->cells);
    arena_free(&p->arena);
    return st;
}

static enum status query_write_rows(struct session *s, struct sql *sql, struct printer *p,
                                    struct sql_query query)
{
    struct query_file file = {.form = p->to == TO_ARROW ? &dataset_arrow : &dataset_parquet,
                              .out = p->out,
                              .query = query,
                              .is_plain = p->is_plain};

    return query_file_write(sql, &file, &s->diag, &p->rows);
}

/* To standard output, or to a file that appears when it is complete. */
static enum status deliver(struct session *s, struct sql *sql, struct printer *p,
                           struct sql_query query)
{
    const char *path = s->common.out;
    bool is_file = path != NULL && strcmp(path, "-") != 0;
    struct outfile file;

    p->out = session_sink(s);
    if (is_file) {
        TRY(outfile_open(&file, path, &s->diag));
        p->out = outfile_sink(&file);
    }
    enum status st = p->to == TO_ARROW || p->to == TO_PARQUET ? query_write_rows(s, sql, p, query)
                                                              : print_rows(s, sql, p, query);
    if (!is_file)
        return st;
    if (st != ST_OK) {
        outfile_abort(&file);
        return st;
    }
    TRY(outfile_commit(&file, OUTFILE_FAST, &s->diag));
    session_wrote(s, path);
    return ST_OK;
}

static enum status run_query(struct session *s, const struct args *args, enum to to,
                             const struct fleet *fleet, struct str text)
{
    struct printer *p = ARENA_NEW(&s->arena, struct printer);
    struct sql_query query = {.text = text,
                              .timeout = nanos_of(args->timeout * 1e9),
                              .skip = (uint64_t)args->skip,
                              .limit = (uint64_t)args->limit,
                              .has_more = &p->is_cut};
    struct sql *sql;

    TRY(sql_open(&sql, (const struct capture *const *)fleet->ranks.at, fleet->ranks.n, &s->diag));
    p->s = s;
    p->to = to;
    p->is_plain = args->compress == COMPRESS_NONE;
    p->origin = fleet->ranks.n > 0 ? origin_name(fleet->ranks.at[0]->origin) : NULL;
    if (!s->is_embedded)
        sql_limit_memory(MEMORY_MOST);
    if (args->timeout > 0 && !s->is_embedded)
        stop_after(args->timeout + LATE_S,
                   "strata: error: stopped: the statement exceeds --timeout [query.timeout]\n",
                   CODE_FILE);
    enum status st = deliver(s, sql, p, query);
    stop_clear();
    if (p->is_cut)
        diag_add(&s->diag, SEV_NOTE, "query.more", (struct where){0},
                 "more rows follow the %llu shown", (unsigned long long)p->rows);
    sql_close(sql);
    return st;
}

/* Rows are no answer that is held and given: they stream in the format they are asked for. That is
 * named by --to, --json or the name of the output; CODE_DONE, or the code of the mistake. */
static int choose_format(struct session *s, const struct args *args, enum to *to)
{
    static const struct {
        struct str ending;
        enum to to;
    } endings[] = {{S_INIT(".arrow"), TO_ARROW},
                   {S_INIT(".feather"), TO_ARROW},
                   {S_INIT(".parquet"), TO_PARQUET},
                   {S_INIT(".csv"), TO_CSV}};
    const char *out = s->common.out;

    *to = s->common.json ? TO_JSON : (enum to)args->to;
    for (size_t i = 0; out != NULL && *to == TO_NOT_GIVEN && i < ARRAY_LEN(endings); i++)
        if (str_ends(str_of(out), endings[i].ending))
            *to = endings[i].to;
    if (out != NULL && (*to == TO_NOT_GIVEN || *to == TO_TABLE || *to == TO_JSON))
        return session_usage(s, "-o takes csv, arrow or parquet; name the file so or use --to");
    if (*to == TO_NOT_GIVEN)
        *to = TO_TABLE;
    if ((*to == TO_ARROW || *to == TO_PARQUET) && (out == NULL || strcmp(out, "-") == 0) &&
        !s->is_embedded && isatty(STDOUT_FILENO) == 1)
        return session_usage(s, "%s is binary; write it to a file or a pipe", formats[*to]);
    if (args->compress != COMPRESS_NOT_GIVEN && *to != TO_ARROW && *to != TO_PARQUET)
        return session_usage(s, COMPRESS_MISUSED, formats[*to]);
    return CODE_DONE;
}

/* The statement from a file, copied. */
static enum status read_statement(struct session *s, const char *path, struct str *out)
{
    struct stream in;

    TRY(stream_open(&in, path, 1 << 20, &s->diag));
    enum status st = stream_fill(&in);
    if (st == ST_OK && !in.at_end)
        st = diag_fail(&s->diag, ST_LIMIT, "query.too-long", (struct where){.path = path},
                       "statement too long (at most 1 MiB)");
    if (st == ST_OK)
        *out = arena_str(&s->arena, stream_text(&in));
    stream_close(&in);
    return st;
}

/* Tables and their columns, a few columns a line. */
static bool print_schema(const void *args, struct sink sink)
{
    const struct sql_table_info *t;
    struct text text = {0};

    (void)args;
    for (size_t i = 0; (t = sql_schema(i)) != NULL; i++) {
        struct str rest = str_of(t->columns), one;
        size_t width = 0;
        text_format(&text, "%s%s   %s", i > 0 ? "\n" : "", t->name, t->summary);
        while (str_split(&rest, ',', &one)) {
            one = str_trim(one);
            bool is_first = width == 0, is_full = width + one.n + 2 > 96;
            text_put(&text, is_first ? S("\n  ") : is_full ? S(",\n  ") : S(", "));
            text_put(&text, one);
            width = (is_first || is_full ? 2 : width + 2) + one.n;
        }
        text_put(&text, S("\n"));
    }
    text_put(&text, S("\nattr(id, 'key')   an attribute of a slice by its name\n"
                      "attrs(id)         all attributes of a slice as JSON\n"));
    bool is_written = sink.write(sink.ctx, text_view(&text));
    text_free(&text);
    return is_written;
}

static const struct field table_fields[] = {
    FIELD(struct sql_table_info, name, "name"),
    FIELD(struct sql_table_info, summary, "summary"),
    FIELD(struct sql_table_info, columns, "columns"),
};
static const struct record table_record = RECORD(struct sql_table_info, table_fields);

static struct field_items list_tables(const void *record, const struct record_env *env)
{
    struct sql_table_info *list = ARENA_ARRAY(env->arena, struct sql_table_info, MOST_TABLES);
    size_t n = 0;

    (void)record;
    for (; n < MOST_TABLES && sql_schema(n) != NULL; n++)
        list[n] = *sql_schema(n);
    return (struct field_items){list, n};
}

static const struct field tables_fields[] = {
    FIELD_MADE(FIELD_OBJECT, "tables", list_tables, &table_record),
};

static const struct schema tables_schema = {
    .name = "strata.query-schema/1",
    .title = "the tables of strata query and their columns",
    .record = &(const struct record)RECORD(struct args, tables_fields),
};

static int cli_query_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct str text = {0};
    struct fleet *fleet;

    if (args->schema) {
        session_give(s, &(struct answer){.schema = &tables_schema,
                                         .result = args,
                                         .title = S(""),
                                         .print = print_schema});
        return CODE_DONE;
    }
    if (s->operands.n != (args->file != NULL ? 1 : 2))
        return session_usage(s, args->file != NULL ? "query --file takes only a capture"
                                                   : "query needs a capture and a statement");
    if (!(args->timeout >= 0 && args->timeout <= 1e6))
        return session_usage(s, "--timeout must be 0 to 1000000 seconds");
    enum to to;
    TRY_CODE(choose_format(s, args, &to));
    enum status st = ST_OK;
    if (args->file != NULL)
        st = read_statement(s, args->file, &text);
    else
        text = str_of(s->operands.at[1]);
    if (st == ST_OK)
        st = captures_load(s, s->operands.at[0], args->input, &fleet);
    if (st != ST_OK)
        return session_code(st);
    st = run_query(s, args, to, fleet, text);
    fleet_free(fleet);
    return st == ST_FORMAT ? CODE_USAGE : session_code(st); /* the statement was wrong */
}

const struct command command_query = {
    .name = "query",
    .group = GROUP_LOOK,
    .summary = "query a capture with SQL",
    .usage = "[OPTIONS] PATH STATEMENT [-o OUT]",
    .details = "Runs one SELECT over the tables slices, kernels, host_events, lanes, flows, steps, "
               "counters, sources, captures, collectives and step_times; --schema lists their "
               "columns. The tables are views of the capture and read-only: any other statement is "
               "rejected. Times are nanoseconds on the capture's clock. A folder of ranks is one "
               "set of tables with a column rank.\n"
               "\n"
               "The dialect is SQLite's, with window functions and common table expressions. "
               "attr(id, 'key') gives any attribute of a slice, attrs(id) all of them.\n"
               "\n"
               "Rows are printed as an aligned table (long values are truncated), as CSV or, with "
               "--to json or --json, as one JSON document; CSV and JSON are streamed. --skip and "
               "--limit show a part of the rows; is_complete is then false in JSON. --to arrow "
               "and --to parquet write files for data tools; the statement runs twice, first for "
               "the types of its columns. The exit code is 2 for an invalid statement and 3 if it "
               "exceeds --timeout.",
    .see = "docs/queries.md, docs/formats/tables.md",
    .operands = {.kind = OPERAND_FILE, .min = 0, .max = 2},
    .common = COMMON_CAPTURE | COMMON_OUT | COMMON_CSV,
    .schemas = {&tables_schema},
    COMMAND_PARTS,
    .run = cli_query_run,
};
