/* Tables of a database, looked for in its first bytes and then inside. */
#include "input/db_probe.h"

#include "base/tables/db.h"

/* Tables are created by statements that stand in the file as text; in small files, or when they
 * were created first, near its beginning. */
static bool head_has(struct str head, struct str table)
{
    for (size_t at = str_find(head, table); at < head.n;) {
        struct str rest = str_part(head, at + table.n, head.n);
        if (rest.n > 0 && (rest.at[0] == ' ' || rest.at[0] == '(' || rest.at[0] == '"'))
            return true;
        at = at + 1 + str_find(str_part(head, at + 1, head.n), table);
    }
    return false;
}

bool db_probe(const struct probe *p, const struct str *tables, size_t n)
{
    bool is_found = false;
    struct diag quiet;
    struct db db;

    if (!db_is_sqlite(p->head))
        return false;
    for (size_t i = 0; i < n; i++)
        if (head_has(p->head, tables[i]))
            return true;
    diag_init(&quiet);
    if (db_peek(&db, p->path, &quiet) == ST_OK) {
        for (size_t i = 0; i < n && !is_found; i++)
            is_found = db_has_table(&db, tables[i]);
        db_close(&db);
    }
    diag_fini(&quiet);
    return is_found;
}
