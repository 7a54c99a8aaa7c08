/*
 * SQL over the tables, through SQLite in memory.
 */
#include "opdb/rows/sqlview.h"

#include "base/run/cancel.h"
#include "base/tables/db_engine.h"
#include "base/text/num.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/table.h"

enum { COLUMNS_MAX = 1900, OWN_COLUMNS = 5, STEPS_PER_LOOK = 10000 };
enum { VALUE_BYTES = 64 << 20 }; /* of one value that a statement makes */

struct view {
    sqlite3 *db;
    struct arena arena;
    struct diag *diag;
    const struct place_files *tree;
};

/* The table that is made of one operator's files. */
struct view_shape {
    struct str op;
    struct str *columns; /* as the headers spell them */
    size_t n;
};

static enum status sql_failed(struct view *v, const char *what)
{
    db_engine_check(sqlite3_errcode(v->db));
    return diag_fail(v->diag, ST_UNSUPPORTED, "perfdb.bad-sql", (struct where){0}, "%s: %s", what,
                     sqlite3_errmsg(v->db));
}

/* A name between double quotes. */
static struct str quoted(struct arena *arena, struct str name)
{
    char *out = arena_alloc(arena, name.n * 2 + 2);
    size_t n = 0;

    out[n++] = '"';
    for (size_t i = 0; i < name.n; i++) {
        if (name.at[i] == '"')
            out[n++] = '"';
        out[n++] = name.at[i] == '\0' ? '?' : name.at[i];
    }
    out[n++] = '"';
    return (struct str){out, n};
}

/* SQL does not tell letters apart by case, and some names are its own. */
static void add_columns(struct view_shape *s, struct view *v, const struct op_table *t)
{
    static const struct str own[] = {S_INIT("_device"), S_INIT("_stack"), S_INIT("_version"),
                                     S_INIT("_file"), S_INIT("_line")};

    for (size_t i = 0; i < t->columns.n && s->n < COLUMNS_MAX; i++) {
        struct str name = cell_trim(t->columns.at[i]);
        if (name.n > 0 && !str_any(str_equal_nocase, name, s->columns, s->n) &&
            !STR_ANY(str_equal_nocase, name, own))
            s->columns[s->n++] = arena_str(&v->arena, name);
    }
}

static enum status execute(struct view *v, struct str sql)
{
    if (sqlite3_exec(v->db, arena_cstr(&v->arena, sql), NULL, NULL, NULL) != SQLITE_OK)
        return sql_failed(v, "cannot build the tables");
    return ST_OK;
}

static enum status create(struct view *v, const struct view_shape *s)
{
    struct str *parts = ARENA_ARRAY(&v->arena, struct str, s->n + 1);

    for (size_t i = 0; i < s->n; i++)
        parts[i] =
            arena_format(&v->arena, "%.*s NUMERIC", STR_ARGS(quoted(&v->arena, s->columns[i])));
    struct str list = arena_join(&v->arena, parts, s->n, S(","));
    return execute(v, arena_format(&v->arena,
                                   "CREATE TABLE %.*s (%.*s%s_device TEXT, _stack TEXT, "
                                   "_version TEXT, _file TEXT, _line INTEGER)",
                                   STR_ARGS(quoted(&v->arena, s->op)), STR_ARGS(list),
                                   s->n > 0 ? ", " : ""));
}

static void bind_text(sqlite3_stmt *stmt, int at, struct str text)
{
    sqlite3_bind_text64(stmt, at, text.n > 0 ? text.at : "", text.n, SQLITE_STATIC, SQLITE_UTF8);
}

static void bind_cell(sqlite3_stmt *stmt, int at, struct str cell)
{
    struct str bare = cell_trim(cell);
    int64_t whole;
    double real;

    if (bare.n == 0)
        sqlite3_bind_null(stmt, at);
    else if (num_i64(bare, &whole))
        sqlite3_bind_int64(stmt, at, whole);
    else if (num_f64(bare, &real))
        sqlite3_bind_double(stmt, at, real);
    else
        bind_text(stmt, at, cell);
}

static enum status insert_rows(struct view *v, const struct view_shape *s, const struct op_table *t,
                               sqlite3_stmt *stmt)
{
    int *from = ARENA_ARRAY(&v->arena, int, s->n + 1);
    struct place_origin origin = place_origin(t->path);

    for (size_t i = 0; i < s->n; i++)
        from[i] = table_column(t, s->columns[i]);
    for (size_t row = 0; row < t->n_rows; row++) {
        for (size_t i = 0; i < s->n; i++)
            bind_cell(stmt, (int)i + 1, table_cell(t, row, from[i]));
        int at = (int)s->n;
        bind_text(stmt, ++at, origin.device);
        bind_text(stmt, ++at, origin.stack);
        bind_text(stmt, ++at, origin.version);
        bind_text(stmt, ++at, str_of(t->path));
        sqlite3_bind_int64(stmt, ++at, (int64_t)t->lines.at[row]);
        if (sqlite3_step(stmt) != SQLITE_DONE)
            return sql_failed(v, "cannot fill the tables");
        sqlite3_reset(stmt);
    }
    return ST_OK;
}

static enum status insert(struct view *v, const struct view_shape *s, const struct op_table *t)
{
    struct str *marks = ARENA_ARRAY(&v->arena, struct str, s->n + OWN_COLUMNS);
    sqlite3_stmt *stmt;

    for (size_t i = 0; i < s->n + OWN_COLUMNS; i++)
        marks[i] = S("?");
    struct str sql = arena_format(
        &v->arena, "INSERT INTO %.*s VALUES (%.*s)", STR_ARGS(quoted(&v->arena, s->op)),
        STR_ARGS(arena_join(&v->arena, marks, s->n + OWN_COLUMNS, S(","))));
    if (sqlite3_prepare_v2(v->db, sql.at, (int)sql.n, &stmt, NULL) != SQLITE_OK)
        return sql_failed(v, "cannot fill the tables");
    enum status st = insert_rows(v, s, t, stmt);
    sqlite3_finalize(stmt);
    return st;
}

/* The files of one operator, from number `first` on, as one SQL table. */
static enum status sqlview_load(struct view *v, size_t first, bool with_rows)
{
    const struct place_file *files = v->tree->at;
    struct view_shape s = {files[first].op, ARENA_ARRAY(&v->arena, struct str, COLUMNS_MAX), 0};
    size_t n = 0;
    enum status st = ST_OK;
    struct op_table *tables = mem_grow(NULL, sizeof(*tables), v->tree->n);

    for (size_t i = first; i < v->tree->n && st == ST_OK; i++)
        if (str_equal_nocase(files[i].op, s.op)) {
            st = table_read(&tables[n++], files[i].path, v->diag);
            add_columns(&s, v, &tables[n - 1]);
        }
    if (st == ST_OK)
        st = create(v, &s);
    for (size_t i = 0; i < n && st == ST_OK && with_rows; i++)
        st = cancelled() ? ST_CANCELLED : insert(v, &s, &tables[i]);
    for (size_t i = 0; i < n; i++)
        table_free(&tables[i]);
    mem_free(tables);
    return st;
}

/* Tables the statement does not speak of stay away; those it asks the catalogue for are empty. All
 * of them without a statement. */
static enum status open_view(struct view *v, struct str statement)
{
    bool wants_list = str_contains_nocase(statement, S("sqlite_master")) ||
                      str_contains_nocase(statement, S("sqlite_schema"));
    bool wants_all = statement.n == 0;

    arena_init(&v->arena);
    if (db_engine_open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &v->db) != SQLITE_OK)
        return sql_failed(v, "SQLite failed to start");
    TRY(execute(v, S("BEGIN")));
    for (size_t i = 0; i < v->tree->n; i++) {
        struct str op = v->tree->at[i].op;
        bool is_first = true, is_named = wants_all || str_contains_nocase(statement, op);
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !str_equal_nocase(v->tree->at[k].op, op);
        if (is_first && (is_named || wants_list) && !str_starts_nocase(op, S("sqlite_")))
            TRY(sqlview_load(v, i, is_named));
    }
    return execute(v, S("COMMIT"));
}

static int allow_reading(void *ctx __attribute__((unused)), int action,
                         const char *a __attribute__((unused)), const char *b,
                         const char *c __attribute__((unused)),
                         const char *e __attribute__((unused)))
{
    if (action == SQLITE_FUNCTION && b != NULL && sqlite3_stricmp(b, "load_extension") == 0)
        return SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

static int check_cancelled(void *ctx __attribute__((unused)))
{
    return cancelled();
}

static struct field_value sqlview_value_of(sqlite3_stmt *stmt, int i)
{
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL:
        return value_none();
    case SQLITE_INTEGER:
        return value_int(sqlite3_column_int64(stmt, i));
    case SQLITE_FLOAT:
        return value_real(sqlite3_column_double(stmt, i));
    default:
        break;
    }
    const char *text = (const char *)sqlite3_column_text(stmt, i);
    size_t n = (size_t)sqlite3_column_bytes(stmt, i);
    db_engine_check_null(text, stmt);
    return value_text((struct str){text != NULL ? text : "", n});
}

static enum status deliver(struct view *v, sqlite3_stmt *stmt, const struct sqlview_sink *sink)
{
    int n = sqlite3_column_count(stmt), rc;
    const char **names = ARENA_ARRAY(&v->arena, const char *, (size_t)n + 1);
    struct field_value *cells = ARENA_ARRAY(&v->arena, struct field_value, (size_t)n + 1);

    for (int i = 0; i < n; i++)
        names[i] = sqlite3_column_name(stmt, i);
    if (!sink->head(sink->ctx, names, (size_t)n))
        return ST_OK;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++)
            cells[i] = sqlview_value_of(stmt, i);
        if (!sink->row(sink->ctx, cells, (size_t)n))
            return ST_OK;
    }
    if (rc == SQLITE_INTERRUPT)
        return ST_CANCELLED;
    return rc == SQLITE_DONE ? ST_OK : sql_failed(v, "the statement failed");
}

/* Nothing but blanks and comments. */
static bool is_blank(struct view *v, const char *text)
{
    sqlite3_stmt *stmt = NULL;
    bool is_rest = sqlite3_prepare_v2(v->db, text, -1, &stmt, NULL) == SQLITE_OK && stmt == NULL;

    sqlite3_finalize(stmt);
    return is_rest;
}

/* The statement may be anybody's: the authorizer lets it read alone, and time and values are
 * limited; the other checks name what is wrong in words. */
static enum status rows_sqlview_run(struct view *v, struct str statement,
                                    const struct sqlview_sink *sink)
{
    const char *text = arena_cstr(&v->arena, statement), *rest;
    sqlite3_stmt *stmt = NULL;

    sqlite3_set_authorizer(v->db, allow_reading, NULL);
    sqlite3_progress_handler(v->db, STEPS_PER_LOOK, check_cancelled, NULL);
    sqlite3_limit(v->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES);
    if (sqlite3_prepare_v2(v->db, text, -1, &stmt, &rest) != SQLITE_OK)
        return sql_failed(v, "invalid statement");
    if (stmt == NULL)
        return diag_fail(v->diag, ST_UNSUPPORTED, "perfdb.bad-sql", (struct where){0},
                         "no statement");
    enum status st;
    if (sqlite3_column_count(stmt) == 0)
        st = diag_fail(v->diag, ST_UNSUPPORTED, "perfdb.bad-sql", (struct where){0},
                       "only SELECT is allowed: the database is read-only");
    else if (!is_blank(v, rest))
        st = diag_fail(v->diag, ST_UNSUPPORTED, "perfdb.bad-sql", (struct where){0},
                       "only one statement is allowed");
    else
        st = deliver(v, stmt, sink);
    sqlite3_finalize(stmt);
    return st;
}

enum status sqlview_run(const struct place_files *tree, struct str statement,
                        const struct sqlview_sink *sink, struct diag *d)
{
    struct view v = {.diag = d, .tree = tree};

    enum status st = statement.n > 0 ? open_view(&v, statement) : open_view(&v, S(" "));
    if (st == ST_OK)
        st = rows_sqlview_run(&v, statement, sink);
    db_engine_close(v.db);
    arena_free(&v.arena);
    return st;
}

enum status sqlview_file(const struct place_files *tree, struct sqlview_file *out, struct diag *d)
{
    struct view v = {.diag = d, .tree = tree};
    sqlite3_int64 n = 0;

    *out = (struct sqlview_file){0};
    enum status st = open_view(&v, S(""));
    if (st == ST_OK) {
        out->at = sqlite3_serialize(v.db, "main", &n, 0);
        db_engine_check(out->at != NULL ? SQLITE_OK : SQLITE_NOMEM);
        out->n = (size_t)n;
    }
    db_engine_close(v.db);
    arena_free(&v.arena);
    return st;
}

void sqlview_file_free(struct sqlview_file *f)
{
    sqlite3_free(f->at);
    *f = (struct sqlview_file){0};
}
