/*
 * db_testing - SQLite files made of SQL text, for tests.
 */
#ifndef STRATA_BASE_DB_TESTING_H
#define STRATA_BASE_DB_TESTING_H

#include <sqlite3.h>
#include <stdlib.h>

#include "base/str.h"

/* The bytes of a database after these statements; free with free(). */
static inline struct str db_made(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_int64 n = 0;
    char *copy;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA page_size = 512", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
    if (bytes == NULL || (copy = malloc((size_t)n)) == NULL)
        abort();
    memcpy(copy, bytes, (size_t)n);
    sqlite3_free(bytes);
    sqlite3_close(db);
    return (struct str){copy, (size_t)n};
}

#endif
