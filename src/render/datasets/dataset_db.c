/*
 * sqlite: rows are inserted in one transaction without a journal; a run that fails leaves nothing.
 *
 * Format reference: docs/formats/tables.md
 */
#include "render/datasets/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/tables/db_engine.h"

enum { PIECE = 1 << 20, LOOK_EVERY = 100000 };

struct dataset_db {
    sqlite3 *handle;
    int fd;
    int rc;            /* the first failure */
    const char *error; /* likewise, of the system */
    struct text statement;
};

/* The first failure counts. */
static bool db_check(struct dataset_db *db, int rc)
{
    if (db->rc == SQLITE_OK && rc != SQLITE_OK && rc != SQLITE_DONE)
        db->rc = db_engine_check(rc);
    return db->rc == SQLITE_OK;
}

static bool db_run(struct dataset_db *db, const char *statement)
{
    return db->rc == SQLITE_OK &&
           db_check(db, sqlite3_exec(db->handle, statement, NULL, NULL, NULL));
}

static void release_name(void *path, size_t n)
{
    (void)n;
    unlink(path);
}

struct dataset_db *dataset_db_open(const char *folder, const char **why)
{
    struct dataset_db *db = mem_grow(NULL, sizeof(*db), 1);
    struct text path = {0};

    *db = (struct dataset_db){.fd = -1};
    if (folder == NULL)
        folder = getenv("TMPDIR");
    text_format(&path, "%s/" FS_MARK "%d-XXXXXX",
                folder != NULL && *folder != '\0' ? folder : "/tmp", (int)getpid());
    text_char(&path, '\0');
    int fd = mkostemp(path.at, O_CLOEXEC);
    if (fd < 0) {
        db->error = fs_error_text(errno);
    } else { /* SQLite wants a name; the file loses it as soon as both have it open */
        job_hold(release_name, path.at, 0);
        db->fd = job_fd(fd);
        db_check(db,
                 db_engine_open(path.at, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, &db->handle));
        db_run(db, "PRAGMA journal_mode = OFF");
        db_run(db, "PRAGMA synchronous = OFF");
        db_run(db, "PRAGMA locking_mode = EXCLUSIVE");
        db_run(db, "BEGIN EXCLUSIVE");
        job_drop(release_name, path.at);
        unlink(path.at);
    }
    text_free(&path);
    if (db->error == NULL && db->rc == SQLITE_OK)
        return db;
    dataset_db_save(db, (struct sink){0}, why);
    return NULL;
}

/* ---- rows ---- */

struct inserter {
    struct dataset_db *db;
    sqlite3_stmt *stmt;
};

static void bind(struct inserter *in, const struct column_data *c, int number, size_t row)
{
    if (!column_has(c, row)) {
        sqlite3_bind_null(in->stmt, number);
    } else if (c->type == VALUES_INT) {
        sqlite3_bind_int64(in->stmt, number, c->numbers[row]);
    } else if (c->type == VALUES_REAL) {
        sqlite3_bind_double(in->stmt, number, c->reals[row]);
    } else {
        struct str text = c->texts.at[c->places[row]];
        sqlite3_bind_text64(in->stmt, number, text.n > 0 ? text.at : "", text.n, SQLITE_STATIC,
                            SQLITE_UTF8);
    }
}

static bool insert(void *ctx, const struct column_chunk *chunk, const struct dataset_piece *piece)
{
    struct inserter *in = ctx;
    bool is_good = true;

    (void)piece;
    for (size_t row = 0; row < columns_rows(chunk) && is_good; row++) {
        for (size_t c = 0; c < chunk->n; c++)
            bind(in, &chunk->at[c], (int)c + 1, row);
        is_good = db_check(in->db, sqlite3_step(in->stmt));
        sqlite3_reset(in->stmt);
    }
    return is_good;
}

bool dataset_db_table(struct dataset_db *db, const char *declaration,
                      const struct dataset_source *source, const struct dataset_options *options)
{
    struct inserter in = {.db = db};
    struct dataset_walk walk = {NULL, insert, &in};
    struct str columns = str_of(declaration); /* "id INTEGER" is the key of the rows */
    text_clear(&db->statement);
    text_format(&db->statement, "CREATE TABLE %s(", source->layout.table);
    if (str_skip(&columns, S("id INTEGER")))
        text_put(&db->statement, S("id INTEGER PRIMARY KEY"));
    text_put(&db->statement, columns);
    text_put(&db->statement, S(")"));
    text_char(&db->statement, '\0');
    db_run(db, db->statement.at);
    text_clear(&db->statement);
    text_format(&db->statement, "INSERT INTO %s VALUES(", source->layout.table);
    for (size_t i = 0; i < source->layout.n; i++)
        text_put(&db->statement, i == 0 ? S("?") : S(",?"));
    text_put(&db->statement, S(")"));
    if (db->rc != SQLITE_OK ||
        !db_check(db, sqlite3_prepare_v2(db->handle, db->statement.at, (int)db->statement.n,
                                         &in.stmt, NULL)))
        return false;
    bool is_whole = dataset_walk(source, options, &walk);
    sqlite3_finalize(in.stmt);
    return is_whole && db->rc == SQLITE_OK;
}

static int keep_time(void *ctx)
{
    (void)ctx;
    return cancelled();
}

bool dataset_db_index(struct dataset_db *db, const char *table, const char *columns)
{
    struct text name = {0};

    for (const char *c = columns; *c != '\0'; c++)
        if (*c != ' ')
            text_char(&name, *c == ',' ? '_' : *c);
    text_clear(&db->statement);
    text_format(&db->statement, "CREATE INDEX %s_by_%.*s ON %s(%s)", table,
                STR_ARGS(text_view(&name)), table, columns);
    text_char(&db->statement, '\0');
    text_free(&name);
    sqlite3_progress_handler(db->handle, LOOK_EVERY, keep_time, NULL);
    return db_run(db, db->statement.at);
}

/* ---- the end ---- */

static bool copy_file(struct dataset_db *db, struct sink out)
{
    char *piece = mem_grow(NULL, 1, PIECE);
    bool goes_on = lseek(db->fd, 0, SEEK_SET) == 0;
    ssize_t got = 1;

    while (goes_on && (got = read(db->fd, piece, PIECE)) > 0)
        goes_on = out.write(out.ctx, (struct str){piece, (size_t)got}) && !cancelled();
    if (got < 0)
        db->error = fs_error_text(errno);
    mem_free(piece);
    return goes_on && got == 0;
}

bool dataset_db_save(struct dataset_db *db, struct sink out, const char **why)
{
    bool is_saved = false;

    if (db->handle != NULL) {
        db_run(db, "COMMIT");
        db_engine_close(db->handle);
    }
    if (db->error == NULL && db->rc == SQLITE_OK && out.write != NULL)
        is_saved = copy_file(db, out);
    if (db->error == NULL && db->rc != SQLITE_OK && !cancelled())
        db->error = sqlite3_errstr(db->rc);
    if (why != NULL && db->error != NULL)
        *why = db->error;
    job_close(db->fd);
    text_free(&db->statement);
    mem_free(db);
    return is_saved;
}
