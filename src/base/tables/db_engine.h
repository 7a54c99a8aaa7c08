/*
 * db_engine - SQLite and the job (base/run/job.h): its connections are in the account, and when it
 * has no memory the job ends as if we had none.
 */
#ifndef STRATA_BASE_TABLES_DB_ENGINE_H
#define STRATA_BASE_TABLES_DB_ENGINE_H

#include <sqlite3.h>

/* Opens a connection as sqlite3_open_v2() does; what it answers. */
int db_engine_open(const char *name, int flags, sqlite3 **out);
void db_engine_close(sqlite3 *db);

/* `rc`, unless it says that memory ran out. */
int db_engine_check(int rc);

/* After a NULL from a function that has no other way to say so. */
void db_engine_check_null(const void *p, sqlite3_stmt *stmt);

#endif
