/*
 * Statements of data/tables, run and described.
 */
#include "analysis/sql/sql_table.h"

#include <math.h>

#include "analysis/sql/sql.h"
#include "base/files/embedded.h"
#include "text/sql_table.h"

static const struct {
    struct str name;
    enum unit unit;
} units[] = {
    {S_INIT("text"), UNIT_COUNT},  {S_INIT("count"), UNIT_COUNT}, {S_INIT("ms"), UNIT_MS},
    {S_INIT("us"), UNIT_US},       {S_INIT("share"), UNIT_RATIO}, {S_INIT("bytes"), UNIT_BYTES},
    {S_INIT("plain"), UNIT_PLAIN},
};

static bool unit_named(struct str name, enum unit *out)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_equal(units[i].name, name)) {
            *out = units[i].unit;
            return true;
        }
    return false;
}

/* ---- files ---- */

/* The next word of a line that has blanks between. */
static struct str take_word(struct str *rest)
{
    *rest = str_trim(*rest);
    size_t n = str_find_char(*rest, ' ');
    struct str word = str_part(*rest, 0, n);

    *rest = str_trim(str_part(*rest, n, rest->n));
    return word;
}

bool sql_table_read(struct arena *arena, struct str file, struct sql_table_rows *out,
                    struct str *statement)
{
    VEC_OF(struct sql_table_column) found = {0};
    struct str line;
    bool is_good = true, is_heading = true;
    enum unit unit;

    *statement = file;
    while (str_split(&file, '\n', &line) && str_skip(&line, S("-- "))) {
        struct sql_table_column c = {.name = take_word(&line), .unit = take_word(&line)};
        c.head = line;
        if (!is_heading)
            vec_push(&found, c);
        is_good &= is_heading || (unit_named(c.unit, &unit) && c.head.n > 0);
        is_heading = false;
        *statement = file;
    }
    out->columns = STUDY_KEEP(arena, found);
    out->n = found.n;
    vec_free(&found);
    return is_good && out->n > 0;
}

/* ---- rows ---- */

struct sql_table_taker {
    struct arena *arena;
    VEC_OF(struct field_value) cells;
    size_t width;
};

static bool table_head(void *ctx, const char *const *names, size_t n)
{
    struct sql_table_taker *t = ctx;

    (void)names;
    t->width = n;
    return true;
}

static bool table_row(void *ctx, const struct sql_value *cells, size_t n)
{
    struct sql_table_taker *t = ctx;

    for (size_t i = 0; i < n; i++)
        vec_push(&t->cells, cells[i].type == SQL_INT    ? value_int(cells[i].number)
                            : cells[i].type == SQL_REAL ? value_real(cells[i].real)
                            : cells[i].type == SQL_TEXT
                                ? value_text(arena_str(t->arena, cells[i].text))
                                : value_none());
    return true;
}

const struct sql_table_rows *sql_table_find(struct study *st, const char *name)
{
    if (st->table != NULL && strcmp(st->table->name, name) == 0)
        return st->table;
    struct sql_table_rows *out = ARENA_NEW(&st->scratch, struct sql_table_rows);
    struct sql_table_taker taker = {.arena = &st->scratch};
    struct sql_query query = {.head = table_head, .row = table_row, .ctx = &taker};
    const char *path = arena_printf(&st->scratch, "tables/%s.sql", name);
    struct diag said;
    struct sql *sql;

    *out = (struct sql_table_rows){.name = name};
    st->table = out;
    bool is_good = sql_table_read(&st->scratch, embedded_file(path), out, &query.text);
    diag_init(&said);
    enum status status = is_good ? sql_open(&sql, &st->cap, 1, &said) : ST_FORMAT;
    if (status == ST_OK) {
        status = sql_run(sql, &query, &said);
        sql_close(sql);
    }
    if (status == ST_OK && taker.width == out->n)
        out->rows = (struct value_rows){STUDY_KEEP(&st->scratch, taker.cells),
                                        taker.cells.n / taker.width, taker.width};
    else
        out->problem =
            arena_str(&st->scratch, said.entries.n > 0 ? str_of(said.entries.at[0].first[0].text)
                                                       : S("columns without a unit"));
    vec_free(&taker.cells);
    diag_fini(&said);
    return out;
}

/* ---- described ---- */

/* Of the numbers in the rows, not as a report prints them. */
static struct field_value unit_of_values(const void *record, const struct record_env *env)
{
    struct str unit = ((const struct sql_table_column *)record)->unit;
    bool is_time = str_equal(unit, S("ms")) || str_equal(unit, S("us"));

    (void)env;
    return value_text(is_time ? S("ns") : unit);
}

static const struct field column_fields[] = {
    FIELD(struct sql_table_column, name, "name"),
    FIELD_CALC(FIELD_STR, "unit", unit_of_values,
               .about = "text, count, ns, share, bytes or plain"),
};
static const struct record column_record = RECORD(struct sql_table_column, column_fields);

static const struct field rows_fields[] = {
    FIELD(struct sql_table_rows, name, "table"),
    FIELD_LIST(struct sql_table_rows, columns, n, "columns", &column_record),
    FIELD_ROWS(struct sql_table_rows, rows, "rows"),
    FIELD(struct sql_table_rows, problem, "problem", .missing = MISSING_EMPTY),
};
static const struct record rows_record = RECORD(struct sql_table_rows, rows_fields);

const struct schema sql_table_schema = {
    .name = "strata.table/1",
    .title = "a table that is a statement over a capture",
    .record = &rows_record,
};

enum { ROWS_SHOWN = 30 };

static void put_value(struct report *r, struct table *t, enum column_type type,
                      struct field_value v)
{
    if (type == COLUMN_TEXT)
        table_text(r, t, v.type == VALUE_TEXT ? v.text : S("-"));
    else
        table_number(t, v.type == VALUE_INT ? (double)v.i : v.type == VALUE_REAL ? v.real : NAN);
}

/* The first rows, under the heads of the file, in the units of its columns. */
void sql_table_describe(struct study *st, const char *name, struct report *r)
{
    const struct sql_table_rows *rows = sql_table_find(st, name);
    size_t most = st->options.top > 0 ? st->options.top : ROWS_SHOWN;
    size_t shown = rows->rows.n < most ? rows->rows.n : most;
    struct column *columns = ARENA_ARRAY(&r->arena, struct column, rows->n);
    enum unit unit = UNIT_COUNT;

    for (size_t c = 0; c < rows->n; c++) {
        bool is_text = str_equal(rows->columns[c].unit, S("text"));
        unit_named(rows->columns[c].unit, &unit);
        columns[c] = (struct column){arena_cstr(&r->arena, rows->columns[c].head),
                                     is_text ? COLUMN_TEXT : COLUMN_NUMBER, unit};
    }
    if (rows->problem.n > 0) {
        report_text(r, REPORT_MESSAGE(r, &sql_table_text.failed, PLACE("why", rows->problem)));
        return;
    }
    struct table *t = report_table(r, columns, rows->n);
    for (size_t i = 0; i < shown * rows->n; i++)
        put_value(r, t, columns[i % rows->n].type, rows->rows.cells[i]);
    if (shown < rows->rows.n)
        report_text(r, REPORT_MESSAGE(r, &sql_table_text.more, PLACE("n", rows->rows.n - shown)));
}

#define SQL_TABLE(sym, needs_, summary_)                                                           \
    static const void *sql_find_##sym(struct study *st)                                            \
    {                                                                                              \
        return sql_table_find(st, #sym);                                                           \
    }                                                                                              \
    static void sql_describe_##sym(struct study *st, struct report *r)                             \
    {                                                                                              \
        sql_table_describe(st, #sym, r);                                                           \
    }                                                                                              \
    const struct analysis analysis_##sym = {.name = #sym,                                          \
                                            .summary = summary_,                                   \
                                            .needs = needs_,                                       \
                                            .schema = &sql_table_schema,                           \
                                            .find = sql_find_##sym,                                \
                                            .run = sql_describe_##sym};
#include "analysis/sql/sql_tables.def"
#undef SQL_TABLE
