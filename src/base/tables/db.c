/* Opens SQLite files read-only and finds their tables and columns. */
#include "base/tables/db.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/tables/db_engine.h"
#include "base/text/char.h"

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
        bool plain = char_is_alnum(c) || c == '/' || c == '.' || c == '_' || c == '-';
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
    if (action == SQLITE_PRAGMA && a != NULL && strcmp(a, "table_xinfo") == 0)
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
    /* A row that goes on behind the end of its page: else its bytes are those of the memory there.
     */
    db_engine_check(sqlite3_exec(h, "PRAGMA cell_size_check = ON", NULL, NULL, NULL));
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
    int rc = db_engine_open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, &db->handle);
    if (rc != SQLITE_OK)
        return rc;
    return db_engine_check(sqlite3_deserialize(
        db->handle, "main", (unsigned char *)(uintptr_t)bytes, (sqlite3_int64)text.n,
        (sqlite3_int64)text.n, SQLITE_DESERIALIZE_READONLY));
}

/* A writer that was killed, or still writes, left the pages from before its transaction in a
 * journal with this beginning; rolled back, or never begun, it is empty, zeroed or gone. */
static const unsigned char journal_magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

/* A journal with its magic in front holds what the last transaction replaced: reading the
 * database without it would give half of that transaction. */
static enum status refuse_hot_journal(struct db *db)
{
    const char *journal = arena_printf(&db->arena, "%s-journal", db->path);
    char head[sizeof(journal_magic)];
    int fd = open(journal, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return ST_OK;
    bool is_hot = read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
                  memcmp(head, journal_magic, sizeof(head)) == 0;
    close(fd);
    if (!is_hot)
        return ST_OK;
    enum status st =
        diag_fail(db->diag, ST_FORMAT, "db.journal", here(db),
                  "a transaction was not finished: its rollback data is in %s", journal);
    diag_hint(db->diag, "try",
              "sqlite3 on a copy of both files, which rolls it back: "
              "sqlite3 COPY .tables");
    return st;
}

static int open_path(struct db *db)
{
    const char *wal = arena_printf(&db->arena, "%s-wal", db->path);
    struct stat st;

    /* A file that has no name any more, such as a copy of standard input: the engine cannot. */
    if (fstat(db->pages.fd, &st) == 0 && st.st_nlink == 0 &&
        mapfile_open(&db->map, db->path, db->diag) == ST_OK)
        return open_text(db, db->map.text);
    if (stat(wal, &st) == 0 && st.st_size > 0)
        diag_add(db->diag, SEV_WARN, "db.wal", here(db),
                 "newer rows may be in %s, which is not read", wal);
    return db_engine_open(uri_of(&db->arena, db->path),
                          SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                          &db->handle);
}

/* A view has no pages of its own, and a virtual table would run code: both only by name. */
static const char list_tables[] =
    "SELECT name, rootpage, type = 'table' AND rootpage > 0 FROM sqlite_schema"
    " WHERE type = 'table' OR type = 'view'";

/* A damaged list of tables can make the engine ask for more than it may have, which it calls out of
 * memory. That is the file's fault, unless there is really none. */
static int blame_file(int rc)
{
    enum { SOME = 1 << 20 };

    if (rc != SQLITE_NOMEM)
        return rc;
    mem_free(mem_grow(NULL, 1, SOME)); /* ends the job when it fails */
    return SQLITE_CORRUPT;
}

static int read_names(struct db *db)
{
    VEC_OF(struct db_relation) tables = {0};
    sqlite3_stmt *stmt = NULL;
    int rc = blame_file(sqlite3_prepare_v2(db->handle, list_tables, -1, &stmt, NULL));

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = blame_file(sqlite3_step(stmt));
        if (rc != SQLITE_ROW)
            break;
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        db_engine_check_null(name, stmt);
        if (name == NULL)
            continue;
        if (tables.n == LIMIT_DB_TABLES) {
            diag_add(db->diag, SEV_LOSS, "db.many-tables", here(db),
                     "over %d tables: %s is not read", (int)LIMIT_DB_TABLES, name);
            continue;
        }
        int64_t root = sqlite3_column_int64(stmt, 1);
        vec_push(&tables, ((struct db_relation){
                              .name = arena_str(&db->arena, str_of(name)),
                              .root = root > 0 && root < UINT32_MAX ? (uint32_t)root : 0,
                              .is_plain = sqlite3_column_int(stmt, 2) != 0,
                          }));
    }
    sqlite3_finalize(stmt);
    db->tables = ARENA_ARRAY(&db->arena, struct db_relation, tables.n);
    db->n_tables = tables.n;
    if (tables.n > 0)
        memcpy(db->tables, tables.at, tables.n * sizeof(*tables.at));
    vec_free(&tables);
    return rc;
}

static enum status read_tables(struct db *db)
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
    /* A file shorter than its header says, or with a torn list of tables, is refused by the engine
     * unless it may repair it; it never does here, because nothing is ever written. */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sqlite3_set_authorizer(db->handle, NULL, NULL);
    db_engine_check(sqlite3_exec(db->handle, "PRAGMA writable_schema = ON", NULL, NULL, NULL));
    sqlite3_set_authorizer(db->handle, authorize, NULL);
    (void)read_names(db); /* how far it got shows in n_tables */
    if (db->n_tables == 0)
        return diag_fail(db->diag, ST_FORMAT, "db.damaged", here(db), "cannot be read: %s",
                         sqlite3_errmsg(db->handle));
    db->damages++;
    db->pages.n = 0; /* the engine knows best what can be read */
    diag_add(db->diag, SEV_LOSS, "db.damaged", here(db),
             "the file is damaged or truncated; the readable part is used");
    return ST_OK;
}

static void close_file(struct db *db)
{
    if (db->pages.fd >= 0)
        job_close(db->pages.fd);
    db->pages.fd = -1;
}

static enum status check_head(struct db *db, struct str text)
{
    const char *reader = getenv("STRATA_SQLITE"); /* engine: reads every table with the engine */
    char bytes[HEADER];
    struct str head = text;
    int fd = -1;

    db->bytes = text.n;
    if (text.at == NULL) {
        TRY(mapfile_descriptor(db->path, db->diag, &fd, &db->bytes));
        ssize_t n = read(fd, bytes, sizeof(bytes));
        head = (struct str){bytes, n > 0 ? (size_t)n : 0};
    }
    db_pages_init(&db->pages, head, db->bytes);
    if (reader != NULL && strcmp(reader, "engine") == 0)
        db->pages.n = 0;
    db->pages.text = text;
    db->pages.fd = fd;
    if (db_is_sqlite(head))
        return ST_OK;
    close_file(db);
    return not_a_database(db);
}

static enum status open_any(struct db *db, const char *path, struct str text, bool is_peek,
                            struct diag *d)
{
    *db = (struct db){.path = path, .diag = d};
    TRY(check_head(db, text));
    arena_init(&db->arena);
    if (text.at == NULL && !is_peek && refuse_hot_journal(db) != ST_OK) {
        db_close(db);
        return ST_FORMAT;
    }
    int rc = text.at != NULL ? open_text(db, text) : open_path(db);
    enum status st = ST_OK;
    if (rc != SQLITE_OK)
        st = diag_fail(d, ST_IO, "db.open-failed", here(db), "cannot be opened: %s",
                       sqlite3_errmsg(db->handle));
    if (st == ST_OK)
        st = read_tables(db);
    if (st != ST_OK)
        db_close(db);
    return st;
}

enum status db_open(struct db *db, const char *path, struct str text, struct diag *d)
{
    return open_any(db, path, text, false, d);
}

enum status db_peek(struct db *db, const char *path, struct diag *d)
{
    return open_any(db, path, (struct str){0}, true, d);
}

void db_close(struct db *db)
{
    db_engine_close(db->handle);
    close_file(db);
    mem_free(db->copy);
    mapfile_close(&db->map);
    arena_free(&db->arena);
    *db = (struct db){.pages.fd = -1};
}
