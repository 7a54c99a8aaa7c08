/* Connections in the account of the job. */
#include "base/tables/db_engine.h"

#include "base/run/job.h"

static void engine_release(void *what, size_t n)
{
    sqlite3 *db = what;

    (void)n;
    for (sqlite3_stmt *stmt; (stmt = sqlite3_next_stmt(db, NULL)) != NULL;)
        sqlite3_finalize(stmt);
    sqlite3_close(db);
}

int db_engine_open(const char *name, int flags, sqlite3 **out)
{
    int rc = sqlite3_open_v2(name, out, flags, NULL);

    if (*out != NULL) /* also when it failed */
        job_hold(engine_release, *out, 0);
    return db_engine_check(rc);
}

void db_engine_close(sqlite3 *db)
{
    job_drop(engine_release, db);
    sqlite3_close(db);
}

int db_engine_check(int rc)
{
    if (rc == SQLITE_NOMEM)
        job_out_of_memory();
    return rc;
}

void db_engine_check_null(const void *p, sqlite3_stmt *stmt)
{
    if (p == NULL)
        db_engine_check(sqlite3_errcode(sqlite3_db_handle(stmt)));
}
