/*
 * SQLite over captures: opened, made safe, run.
 */
#include "analysis/sql/sql.h"

#include "analysis/sql/sql_schema.h"
#include "analysis/study.h"
#include "base/formats/json_write.h"
#include "base/run/cancel.h"
#include "base/run/now.h"
#include "base/tables/db_engine.h"

struct sql {
    struct sql_view view;
    sqlite3 *db;
    struct sql_binding *bindings;
    nanos deadline; /* 0: none */
    bool is_late;
    const char *refused; /* what the authorizer said no to */
};

/* Called by SQLite every some thousand instructions; non-zero stops the statement. */
static int keep_time(void *ctx)
{
    struct sql *sql = ctx;

    sql->is_late = sql->deadline != 0 && now_ns() > sql->deadline;
    return sql->is_late || cancelled();
}

static bool is_over(void *ctx)
{
    return keep_time(ctx) != 0;
}

/* Reading is all a statement may do. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *database,
                     const char *trigger)
{
    static const char *const allowed[] = {"table_info", "table_xinfo", "table_list"};
    struct sql *sql = ctx;

    (void)database, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (b != NULL && sqlite3_stricmp(b, "load_extension") == 0)
            break;
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        for (size_t i = 0; a != NULL && i < ARRAY_LEN(allowed); i++)
            if (strcmp(a, allowed[i]) == 0)
                return SQLITE_OK;
        break;
    default:
        break;
    }
    sql->refused = action == SQLITE_PRAGMA     ? "PRAGMA"
                   : action == SQLITE_ATTACH   ? "ATTACH"
                   : action == SQLITE_FUNCTION ? "load_extension"
                                               : "a statement that changes something";
    return SQLITE_DENY;
}

/* The slice that a function's first argument numbers; false when there is none. */
static bool slice_of(sqlite3_context *out, sqlite3_value *id, const struct sql_part **part,
                     size_t *slice)
{
    const struct sql *sql = sqlite3_user_data(out);
    int64_t g = sqlite3_value_int64(id);

    if (sqlite3_value_type(id) != SQLITE_INTEGER || g < 0 || g >= sql->view.slices)
        return false;
    *part = sql_part_of(&sql->view, (uint32_t)g);
    *slice = (uint32_t)g - (*part)->base;
    return true;
}

/* attr(id, 'key'): an attribute of a slice by the name its source gave it. */
static void attr_function(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    const struct sql_part *part;
    size_t slice;

    (void)argc;
    if (!slice_of(out, argv[0], &part, &slice) || sqlite3_value_type(argv[1]) != SQLITE_TEXT)
        return;
    const struct capture *cap = part->cap;
    struct str key = {(const char *)sqlite3_value_text(argv[1]), 0};
    key.n = key.at != NULL ? (size_t)sqlite3_value_bytes(argv[1]) : 0;
    struct attr a = study_attr(cap, slice, intern_find(&cap->strings, key));
    sql_give_value(out, sql_attr_value(cap, a));
}

static void write_run(struct json_writer *j, const struct capture *cap, attr_run run)
{
    struct attr_walk walk = attrs_walk(&cap->attrs, run);
    struct attr a;

    while (attrs_next(&walk, &a)) {
        json_write_key(j, capture_text(cap, a.key));
        if (a.type == ATTR_TEXT)
            json_write_string(j, capture_text(cap, a.text));
        else if (a.type == ATTR_REAL)
            json_write_f64(j, a.real);
        else
            json_write_i64(j, a.number);
    }
}

/* attrs(id): all attributes of a slice as one JSON object. */
static void attrs_function(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    const struct sql_part *part;
    struct text buffer = {0};
    struct json_writer j;
    size_t slice;

    JOB_BOUNDARY({
        sqlite3_result_error_nomem(out);
        return;
    });
    (void)argc;
    if (!slice_of(out, argv[0], &part, &slice))
        return;
    json_write_init(&j, text_sink(&buffer), JSON_COMPACT);
    json_write_object(&j);
    write_run(&j, part->cap, part->cap->slices.own[slice]);
    write_run(&j, part->cap, part->cap->slices.set[slice]);
    json_write_end(&j);
    json_write_finish(&j);
    sqlite3_result_text64(out, buffer.at, buffer.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    text_free(&buffer);
}

/* A user's statement, however strange, ends with a message and not with the memory. */
static void set_limits(sqlite3 *db)
{
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, 64 << 20},    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_COLUMN, 500},         {SQLITE_LIMIT_EXPR_DEPTH, 500},
        {SQLITE_LIMIT_COMPOUND_SELECT, 50}, {SQLITE_LIMIT_VDBE_OP, 1000000},
        {SQLITE_LIMIT_FUNCTION_ARG, 64},    {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        sqlite3_limit(db, limits[i].what, limits[i].most);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}

void sql_limit_memory(int64_t bytes)
{
    sqlite3_hard_heap_limit64(bytes);
}

/* A table is declared when a statement first names it; the authorizer would refuse that. */
static int declare_table(sqlite3 *db, const char *name)
{
    char *text = sqlite3_mprintf("SELECT 1 FROM %s", name);
    sqlite3_stmt *stmt = NULL;
    int rc = text != NULL ? sqlite3_prepare_v2(db, text, -1, &stmt, NULL) : SQLITE_NOMEM;

    sqlite3_finalize(stmt);
    sqlite3_free(text);
    return db_engine_check(rc);
}

static int declare_tables(sqlite3 *db)
{
    static const char *const useful[] = {"json_each", "json_tree", "pragma_table_info"};
    int rc = SQLITE_OK;

    for (size_t i = 0; i < sql_table_count && rc == SQLITE_OK; i++)
        rc = declare_table(db, sql_tables[i].info.name);
    for (size_t i = 0; i < ARRAY_LEN(useful); i++)
        declare_table(db, useful[i]); /* a SQLite built without them works as well */
    return rc;
}

static int prepare_database(struct sql *sql)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    int rc = db_engine_open(":memory:",
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                SQLITE_OPEN_PRIVATECACHE,
                            &sql->db);

    sql->bindings = mem_grow(NULL, sizeof(*sql->bindings), sql_table_count);
    for (size_t i = 0; i < sql_table_count && rc == SQLITE_OK; i++) {
        sql->bindings[i] = (struct sql_binding){&sql->view, &sql_tables[i]};
        rc = sqlite3_create_module_v2(sql->db, sql_tables[i].info.name, sql_tables[i].module,
                                      &sql->bindings[i], NULL);
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function(sql->db, "attr", 2, FLAGS, sql, attr_function, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function(sql->db, "attrs", 1, FLAGS, sql, attrs_function, NULL, NULL);
    if (rc == SQLITE_OK) /* sorting uses up to this much before it goes to temporary files */
        rc = sqlite3_exec(sql->db, "PRAGMA cache_size = -131072", NULL, NULL, NULL);
    sql->view.is_declaring = true;
    if (rc == SQLITE_OK)
        rc = declare_tables(sql->db);
    sql->view.is_declaring = false;
    if (rc != SQLITE_OK)
        return rc;
    set_limits(sql->db);
    sqlite3_progress_handler(sql->db, 5000, keep_time, sql);
    return sqlite3_set_authorizer(sql->db, authorize, sql);
}

enum status sql_open(struct sql **out, const struct capture *const *caps, size_t n, struct diag *d)
{
    struct sql *sql = mem_grow(NULL, sizeof(*sql), 1);

    *sql = (struct sql){0};
    enum status st = sql_view_init(&sql->view, caps, n, d);
    sql->view.is_over = is_over;
    sql->view.ctx = sql;
    if (st == ST_OK && db_engine_check(prepare_database(sql)) != SQLITE_OK)
        st = diag_fail(d, ST_LIMIT, "query.database", (struct where){0}, "cannot set up SQLite: %s",
                       sqlite3_errmsg(sql->db));
    if (st != ST_OK) {
        sql_close(sql);
        return st;
    }
    *out = sql;
    return ST_OK;
}

void sql_close(struct sql *sql)
{
    if (sql == NULL)
        return;
    db_engine_close(sql->db);
    sql_view_fini(&sql->view);
    mem_free(sql->bindings);
    mem_free(sql);
}

enum { NEAR = 2 };

/* The better of two offers for a misspelt word. */
static void offer(struct str word, struct str name, struct str *best, size_t *distance)
{
    size_t d = str_distance(word, name, NEAR);

    if (d < *distance && d < name.n) {
        *best = name;
        *distance = d;
    }
}

/* Offers the table or column nearest to the one that does not exist, else lists the tables. */
static void suggest(struct diag *d, struct str word, bool is_table)
{
    struct str best = {0}, name;
    size_t distance = NEAR + 1, dot = str_find_char(word, '.');

    if (dot < word.n)
        word = str_part(word, dot + 1, word.n);
    for (size_t i = 0; i < sql_table_count; i++) {
        struct str rest = str_of(sql_tables[i].info.columns);
        if (is_table)
            offer(word, str_of(sql_tables[i].info.name), &best, &distance);
        while (!is_table && sql_next_column(&rest, &name))
            offer(word, name, &best, &distance);
    }
    if (best.n > 0)
        diag_hint(d, "try", "%.*s", STR_ARGS(best));
    else
        diag_hint(d, "try", "strata query --schema, which lists tables and columns");
}

/* What is wrong with the statement, where, and what may have been meant. */
static enum status explain(struct sql *sql, struct str text, struct diag *d)
{
    struct str why = str_of(sqlite3_errmsg(sql->db));
    static const struct str no_column = S_INIT("no such column: "),
                            no_table = S_INIT("no such table: ");
    int offset = sqlite3_error_offset(sql->db);

    if (sqlite3_errcode(sql->db) == SQLITE_NOMEM)
        return diag_fail(d, ST_LIMIT, "query.memory", (struct where){0},
                         "the statement needs too much memory");
    if (sql->refused == NULL && str_ends(why, S(" may not be modified")))
        sql->refused = "a statement that changes something";
    if (sql->refused != NULL) {
        enum status st = diag_fail(d, ST_FORMAT, "query.read-only", (struct where){0},
                                   "%s is not allowed: a query only reads", sql->refused);
        diag_hint(d, "try", "a statement that begins with SELECT or WITH");
        return st;
    }
    diag_fail(d, ST_FORMAT, "query.sql", (struct where){0}, "%.*s", STR_ARGS(why));
    if (offset >= 0 && (size_t)offset < text.n)
        diag_hint(d, "at", "character %d: %.*s", offset + 1,
                  STR_ARGS(str_part(text, (size_t)offset, 40)));
    if (str_starts(why, no_column))
        suggest(d, str_part(why, no_column.n, why.n), false);
    else if (str_starts(why, no_table))
        suggest(d, str_part(why, no_table.n, why.n), true);
    return ST_FORMAT;
}

/* One statement, and nothing but blanks and comments after it. */
static enum status sql_prepare(struct sql *sql, struct str text, sqlite3_stmt **out, struct diag *d)
{
    const char *tail = text.at;
    sqlite3_stmt *second = NULL;

    *out = NULL;
    if (text.n > INT32_MAX)
        return diag_fail(d, ST_FORMAT, "query.sql", (struct where){0}, "statement too long");
    if (sqlite3_prepare_v2(sql->db, text.at, (int)text.n, out, &tail) != SQLITE_OK)
        return explain(sql, text, d);
    if (*out == NULL)
        return diag_fail(d, ST_FORMAT, "query.sql", (struct where){0}, "no statement");
    if (!sqlite3_stmt_readonly(*out)) {
        sql->refused = "a statement that changes something";
        return explain(sql, text, d);
    }
    int rc = sqlite3_prepare_v2(sql->db, tail, (int)(text.at + text.n - tail), &second, NULL);
    sqlite3_finalize(second);
    db_engine_check(rc);
    if (rc != SQLITE_OK || second != NULL)
        return diag_fail(d, ST_FORMAT, "query.sql", (struct where){0},
                         "one statement at a time; the second begins at character %d",
                         (int)(tail - text.at) + 1);
    return ST_OK;
}

struct str sql_hex(struct arena *arena, struct str blob)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(arena, blob.n * 2 + 1);

    for (size_t i = 0; i < blob.n; i++) {
        text[2 * i] = digits[(unsigned char)blob.at[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)blob.at[i] & 15];
    }
    return (struct str){text, blob.n * 2};
}

static struct sql_value sql_value_of(sqlite3_stmt *stmt, int column)
{
    struct sql_value v = {.type = SQL_NULL};

    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER:
        v.type = SQL_INT;
        v.number = sqlite3_column_int64(stmt, column);
        break;
    case SQLITE_FLOAT:
        v.type = SQL_REAL;
        v.real = sqlite3_column_double(stmt, column);
        break;
    case SQLITE_TEXT:
        v.type = SQL_TEXT;
        v.text.at = (const char *)sqlite3_column_text(stmt, column);
        db_engine_check_null(v.text.at, stmt);
        v.text.n = (size_t)sqlite3_column_bytes(stmt, column);
        break;
    case SQLITE_BLOB:
        v.type = SQL_BLOB;
        v.text.at = sqlite3_column_blob(stmt, column);
        v.text.n = (size_t)sqlite3_column_bytes(stmt, column);
        break;
    default:
        break;
    }
    return v;
}

static int step_rows(sqlite3_stmt *stmt, const struct sql_query *query)
{
    int columns = sqlite3_column_count(stmt), rc = SQLITE_DONE;
    const char **names = mem_grow(NULL, sizeof(*names), (size_t)columns + 1);
    struct sql_value *cells = mem_grow(NULL, sizeof(*cells), (size_t)columns + 1);

    for (int i = 0; i < columns; i++)
        names[i] = sqlite3_column_name(stmt, i);
    bool go_on = query->head(query->ctx, names, (size_t)columns);
    for (uint64_t row = 0; go_on && (rc = sqlite3_step(stmt)) == SQLITE_ROW; row++) {
        if (row < query->skip)
            continue;
        if (query->limit > 0 && row - query->skip >= query->limit) {
            if (query->has_more != NULL)
                *query->has_more = true;
            rc = SQLITE_DONE;
            break;
        }
        for (int i = 0; i < columns; i++)
            cells[i] = sql_value_of(stmt, i);
        go_on = query->row(query->ctx, cells, (size_t)columns);
    }
    mem_free(names);
    mem_free(cells);
    return go_on ? rc : SQLITE_DONE;
}

enum status sql_run(struct sql *sql, const struct sql_query *query, struct diag *d)
{
    sqlite3_stmt *stmt;

    sql->refused = NULL;
    sql->is_late = false;
    sql->deadline = query->timeout > 0 ? nanos_add(now_ns(), query->timeout) : 0;
    enum status st = sql_prepare(sql, query->text, &stmt, d);
    if (st == ST_OK && step_rows(stmt, query) != SQLITE_DONE) {
        if (sql->is_late)
            st = diag_fail(d, ST_LIMIT, "query.timeout", (struct where){0},
                           "stopped after %.3g s; the rows so far are not the whole answer",
                           (double)query->timeout / 1e9);
        else
            st = cancelled() ? ST_CANCELLED : explain(sql, query->text, d);
    }
    sqlite3_finalize(stmt);
    return st;
}
