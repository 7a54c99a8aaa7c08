#include "base/db.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/limits.h"
#include "base/mapfile.h"

/* The first bytes of a file and the two that say "this file is in WAL mode". */
static const char magic[] = "SQLite format 3";
enum { HEADER = 100, WRITE_VERSION = 18, READ_VERSION = 19, WAL = 2, ROLLBACK = 1 };

/* Instructions of the engine between two looks at the flag: some 100 microseconds. */
enum { POLL_EVERY = 10000 };

bool db_is_sqlite(struct str head)
{
    return head.n >= HEADER && memcmp(head.at, magic, sizeof(magic)) == 0;
}

static struct where here(const struct db *db)
{
    return (struct where){.path = db->path};
}

static enum status not_a_database(struct db *db)
{
    return diag_fail(db->diag, ST_FORMAT, "db.not-a-database", here(db),
                     "not an SQLite file, or an encrypted one");
}

/* "file:" and the path, every odd byte escaped: a question mark in a name is part of the name. */
static char *uri_of(struct arena *arena, const char *path)
{
    static const char hex[] = "0123456789ABCDEF", *tail = "?immutable=1";
    size_t n = strlen(path);
    char *uri = ARENA_ARRAY(arena, char, 3 * n + 32), *at = uri;

    at = stpcpy(at, path[0] == '/' ? "file://" : "file:");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)path[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '/' || c == '.' || c == '_' || c == '-';
        if (plain) {
            *at++ = (char)c;
        } else {
            *at++ = '%';
            *at++ = hex[c >> 4];
            *at++ = hex[c & 15];
        }
    }
    stpcpy(at, tail);
    return uri;
}

/* Only reading is allowed, and of functions none: whatever a hostile schema holds stays asleep. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    (void)ctx, (void)b, (void)c, (void)d;
    if (action == SQLITE_SELECT || action == SQLITE_READ)
        return SQLITE_OK;
    if (action == SQLITE_PRAGMA && a != NULL && strcmp(a, "table_info") == 0)
        return SQLITE_OK;
    return SQLITE_DENY;
}

static int poll_cancel(void *ctx)
{
    (void)ctx;
    return cancelled();
}

static void confine(struct db *db)
{
    sqlite3 *h = db->handle;
    uint64_t longest = db->bytes < LIMIT_FIELD_BYTES ? db->bytes : LIMIT_FIELD_BYTES;

    sqlite3_db_config(h, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(h, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(h, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(h, SQLITE_LIMIT_LENGTH, (int)(longest < 1 << 16 ? 1 << 16 : longest));
    sqlite3_limit(h, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(h, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_limit(h, SQLITE_LIMIT_COLUMN, 2000);
    sqlite3_progress_handler(h, POLL_EVERY, poll_cancel, NULL);
}

/* Content in memory. The engine refuses bytes that say WAL, so those are copied and changed. */
static int open_text(struct db *db, struct str text)
{
    const char *bytes = text.at;

    if (text.at[READ_VERSION] == WAL || text.at[WRITE_VERSION] == WAL) {
        db->copy = mem_grow(NULL, 1, text.n);
        memcpy(db->copy, text.at, text.n);
        db->copy[READ_VERSION] = db->copy[WRITE_VERSION] = ROLLBACK;
        bytes = db->copy;
    }
    int rc =
        sqlite3_open_v2(":memory:", &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return rc;
    return sqlite3_deserialize(db->handle, "main", (unsigned char *)(uintptr_t)bytes,
                               (sqlite3_int64)text.n, (sqlite3_int64)text.n,
                               SQLITE_DESERIALIZE_READONLY);
}

static void warn_of_wal(struct db *db)
{
    const char *wal = arena_format(&db->arena, "%s-wal", db->path).at;
    struct stat st;

    if (stat(wal, &st) == 0 && st.st_size > 0)
        diag_add(db->diag, SEV_WARN, "db.wal", here(db),
                 "newer rows may stand in %s, which is not read", wal);
}

static int open_path(struct db *db)
{
    warn_of_wal(db);
    return sqlite3_open_v2(uri_of(&db->arena, db->path), &db->handle,
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
}

/* Counts an error of the engine on `table`; the job goes on without the rest of it. */
static void lose_table(struct db *db, const char *table, uint64_t rows)
{
    if (cancelled())
        return;
    db->damages++;
    diag_add(db->diag, SEV_LOSS, "db.damaged", here(db), "%s is damaged after %" PRIu64 " rows: %s",
             table, rows, sqlite3_errmsg(db->handle));
}

/* Plain tables only: a view has no pages of its own, and a virtual table would run code. */
static const char list_tables[] =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0";

static int read_names(struct db *db)
{
    VEC_OF(struct str) names = {0};
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db->handle, list_tables, -1, &stmt, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(stmt);
        if (rc != SQLITE_ROW)
            break;
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        if (name != NULL && names.n < LIMIT_DB_TABLES)
            vec_push(&names, arena_str(&db->arena, str_of(name)));
    }
    sqlite3_finalize(stmt);
    db->names = ARENA_ARRAY(&db->arena, struct str, names.n);
    db->n_names = names.n;
    if (names.n > 0)
        memcpy(db->names, names.at, names.n * sizeof(*names.at));
    vec_free(&names);
    return rc;
}

/* A file shorter than its header says, or with a torn list of tables, is refused by the engine
 * unless it may repair it; it never does here, because nothing is ever written. */
static int read_damaged_names(struct db *db)
{
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sqlite3_set_authorizer(db->handle, NULL, NULL);
    sqlite3_exec(db->handle, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    sqlite3_set_authorizer(db->handle, authorize, NULL);
    return read_names(db);
}

static enum status look_inside(struct db *db)
{
    confine(db);
    sqlite3_set_authorizer(db->handle, authorize, NULL);
    int rc = read_names(db);
    if (rc == SQLITE_DONE)
        return ST_OK;
    if (cancelled())
        return ST_CANCELLED;
    if (rc == SQLITE_NOTADB)
        return not_a_database(db);
    (void)read_damaged_names(db); /* how far it got shows in n_names */
    if (db->n_names == 0)
        return diag_fail(db->diag, ST_FORMAT, "db.damaged", here(db), "cannot be read: %s",
                         sqlite3_errmsg(db->handle));
    db->damages++;
    diag_add(db->diag, SEV_LOSS, "db.damaged", here(db),
             "the file is damaged or ends early; what can be read is used");
    return ST_OK;
}

static enum status check_head(struct db *db, struct str text)
{
    char head[HEADER];
    int fd;

    db->bytes = text.n;
    if (text.at != NULL)
        return db_is_sqlite(text) ? ST_OK : not_a_database(db);
    TRY(mapfile_descriptor(db->path, db->diag, &fd, &db->bytes));
    ssize_t n = read(fd, head, sizeof(head));
    close(fd);
    return n > 0 && db_is_sqlite((struct str){head, (size_t)n}) ? ST_OK : not_a_database(db);
}

enum status db_open(struct db *db, const char *path, struct str text, struct diag *d)
{
    *db = (struct db){.path = path, .diag = d};
    TRY(check_head(db, text));
    arena_init(&db->arena);
    int rc = text.at != NULL ? open_text(db, text) : open_path(db);
    enum status st = ST_OK;
    if (rc != SQLITE_OK)
        st = diag_fail(d, ST_IO, "db.open-failed", here(db), "cannot be opened: %s",
                       db->handle != NULL ? sqlite3_errmsg(db->handle) : "out of memory");
    if (st == ST_OK)
        st = look_inside(db);
    if (st != ST_OK)
        db_close(db);
    return st;
}

void db_close(struct db *db)
{
    sqlite3_close(db->handle);
    mem_free(db->copy);
    arena_free(&db->arena);
    *db = (struct db){0};
}

bool db_has_table(const struct db *db, struct str table)
{
    for (size_t i = 0; i < db->n_names; i++)
        if (str_equal(db->names[i], table))
            return true;
    return false;
}

/* The columns of a table, as written in the file; n is cut at LIMIT_DB_COLUMNS. */
static size_t table_columns(struct db *db, const char *table, struct str *out, struct arena *arena)
{
    struct str sql = arena_format(arena, "PRAGMA table_info(\"%s\")", table);
    sqlite3_stmt *stmt;
    size_t n = 0;

    if (sqlite3_prepare_v2(db->handle, sql.at, (int)sql.n, &stmt, NULL) != SQLITE_OK)
        return 0;
    while (n < LIMIT_DB_COLUMNS && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        if (name != NULL)
            out[n++] = arena_str(arena, str_of(name));
    }
    sqlite3_finalize(stmt);
    return n;
}

/* The first of the spellings in "a|b" that the table has, or an empty text. */
static struct str find_column(const struct str *have, size_t n, const char *wanted)
{
    struct str rest = str_of(wanted), name;

    while (str_split(&rest, '|', &name))
        for (size_t i = 0; i < n; i++)
            if (str_equal_nocase(have[i], name))
                return have[i];
    return S("");
}

/* "SELECT "a", "b" FROM "t"", and where each wanted column stands in it. */
static struct str build_select(struct db_rows *rows, struct arena *arena,
                               const char *const *columns, size_t n)
{
    struct str *have = ARENA_ARRAY(arena, struct str, LIMIT_DB_COLUMNS);
    size_t n_have = table_columns(rows->db, rows->table, have, arena);
    struct str list = S("");
    int count = 0;

    for (size_t i = 0; i < n; i++) {
        struct str name = find_column(have, n_have, columns[i]);
        rows->place[i] = -1;
        if (name.n == 0 || memchr(name.at, '"', name.n) != NULL)
            continue;
        list = arena_format(arena, "%.*s%s\"%.*s\"", STR_ARGS(list), count > 0 ? ", " : "",
                            STR_ARGS(name));
        rows->place[i] = (int16_t)count++;
    }
    if (count == 0)
        return S("");
    return arena_format(arena, "SELECT %.*s FROM \"%s\"", STR_ARGS(list), rows->table);
}

bool db_rows_open(struct db_rows *rows, struct db *db, const char *table,
                  const char *const *columns, size_t n)
{
    struct arena_mark mark = arena_mark(&db->arena);

    assert(n <= DB_COLUMNS);
    *rows = (struct db_rows){.db = db, .table = table};
    memset(rows->place, -1, sizeof(rows->place));
    if (!db_has_table(db, str_of(table)))
        return false;
    struct str sql = build_select(rows, &db->arena, columns, n);
    if (sql.n > 0 &&
        sqlite3_prepare_v2(db->handle, sql.at, (int)sql.n, &rows->stmt, NULL) != SQLITE_OK) {
        lose_table(db, table, 0);
        rows->stmt = NULL;
    }
    arena_rewind(&db->arena, mark);
    return rows->stmt != NULL;
}

bool db_rows_next(struct db_rows *rows)
{
    struct db *db = rows->db;

    if (rows->stmt == NULL)
        return false;
    int rc = sqlite3_step(rows->stmt);
    /* The pages of a damaged tree can lead in circles: no file holds a row in less than 4 bytes,
     * and texts that are longer than the file can only be read in circles too. */
    bool circles = rows->n > db->bytes / 4 || db->handed > 4 * db->bytes + LIMIT_FIELD_BYTES;
    if (rc == SQLITE_ROW && !circles) {
        rows->n++;
        return true;
    }
    if (rc != SQLITE_DONE)
        lose_table(db, rows->table, rows->n);
    db_rows_close(rows);
    return false;
}

void db_rows_close(struct db_rows *rows)
{
    sqlite3_finalize(rows->stmt);
    rows->stmt = NULL;
}

static bool text_of(const struct db_rows *rows, int place, struct str *out)
{
    const char *at = (const char *)sqlite3_column_text(rows->stmt, place);

    *out = (struct str){at, at != NULL ? (size_t)sqlite3_column_bytes(rows->stmt, place) : 0};
    return at != NULL;
}

bool db_i64(const struct db_rows *rows, size_t column, int64_t *out)
{
    int place = rows->place[column];
    struct str text;

    if (place < 0)
        return false;
    sqlite3_value *value = sqlite3_column_value(rows->stmt, place); /* looked up once */
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) {
        *out = sqlite3_value_int64(value);
        return true;
    }
    if (type == SQLITE_FLOAT) { /* 2^63 is the first double that does not fit */
        double real = sqlite3_column_double(rows->stmt, place);
        if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0) ||
            real != floor(real))
            return false;
        *out = (int64_t)real;
        return true;
    }
    return type == SQLITE_TEXT && text_of(rows, place, &text) && num_i64(text, out);
}

bool db_f64(const struct db_rows *rows, size_t column, double *out)
{
    int place = rows->place[column];
    struct str text;

    if (place < 0)
        return false;
    int type = sqlite3_column_type(rows->stmt, place);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        double real = sqlite3_column_double(rows->stmt, place);
        if (isfinite(real))
            *out = real;
        return isfinite(real);
    }
    return type == SQLITE_TEXT && text_of(rows, place, &text) && num_f64(text, out);
}

/* The number as a person would write it: the engine's own text has 15 digits, times have 17. */
static bool number_text(const struct db_rows *rows, size_t column, char *buf, struct str *out)
{
    int place = rows->place[column];

    if (place < 0)
        return false;
    switch (sqlite3_column_type(rows->stmt, place)) {
    case SQLITE_FLOAT:
        *out = (struct str){buf, num_print_f64(buf, sqlite3_column_double(rows->stmt, place))};
        return true;
    case SQLITE_INTEGER:
    case SQLITE_TEXT:
        return text_of(rows, place, out);
    default:
        return false;
    }
}

bool db_us(const struct db_rows *rows, size_t column, nanos *out)
{
    char buf[NUM_TEXT];
    struct str text;

    return number_text(rows, column, buf, &text) && num_us(text, out);
}

bool db_ms(const struct db_rows *rows, size_t column, nanos *out)
{
    char buf[NUM_TEXT];
    struct str text;

    return number_text(rows, column, buf, &text) && num_ms(text, out);
}

struct str db_text(const struct db_rows *rows, size_t column)
{
    int place = rows->place[column];
    struct str text;

    if (place < 0)
        return S("");
    int type = sqlite3_column_type(rows->stmt, place);
    if (type == SQLITE_NULL || type == SQLITE_BLOB || !text_of(rows, place, &text))
        return S("");
    rows->db->handed += text.n;
    return text;
}
