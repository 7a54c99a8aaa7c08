/*
 * sql_module - what the virtual tables share: their entries, and how values reach SQLite.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_MODULE_H
#define STRATA_ANALYSIS_SQL_SQL_MODULE_H

#include <sqlite3.h>

#include "analysis/sql/sql.h"
#include "analysis/sql/sql_view.h"
#include "base/run/job.h"
#include "report/record.h"

/* The small tables. */
enum sql_rows {
    SQL_ACCOUNTING,
    SQL_CAPTURES,
    SQL_COLLECTIVES,
    SQL_COUNTERS,
    SQL_CRITICAL_PATH,
    SQL_FLOWS, /* from_id and to_id are looked up by search */
    SQL_GAPS,
    SQL_LANES,
    SQL_MEMORY,
    SQL_MODULES,
    SQL_OPS,
    SQL_SOURCES,
    SQL_STEPS,
    SQL_STEP_TIMES,
    SQL_STREAM_GAPS,
};

/* A table as it is registered; `aux` of the module points to one of these with its view. */
struct sql_table {
    struct sql_table_info info;
    const sqlite3_module *module;
    enum sql_set set;   /* of a table of slices */
    enum sql_rows rows; /* of any other table */
};

struct sql_binding {
    struct sql_view *view;
    const struct sql_table *table;
};

extern const sqlite3_module sql_slices_module; /* slices, kernels, host_events */
extern const sqlite3_module sql_rows_module;   /* the small tables */

/* Rows of a small table in one capture, and one column of a row. */
size_t sql_rows_count(enum sql_rows rows, const struct sql_part *p);
struct field_value sql_rows_value(enum sql_rows rows, const struct sql_part *p, size_t row,
                                  int column);

/* One column of a slice; sql_need_steps() was called when it is the step. */
struct field_value sql_slice_value(const struct sql_view *v, enum sql_set set,
                                   const struct sql_part *p, size_t slice, int column);

/* The attribute behind a column of slices; false when it is none. */
bool sql_slice_key(enum sql_set set, int column, enum capture_key *key);

/* Texts of a capture outlive every statement, so they are handed over without a copy. */
static inline void sql_give_text(sqlite3_context *out, struct str text)
{
    sqlite3_result_text64(out, text.n > 0 ? text.at : "", text.n, SQLITE_STATIC, SQLITE_UTF8);
}

/* NULL for no value. */
void sql_give_value(sqlite3_context *out, struct field_value v);

/* An attribute as a value: none for one that is absent or an empty text. */
struct field_value sql_attr_value(const struct capture *cap, struct attr a);

/* A table of a connection. */
struct sql_vtab {
    sqlite3_vtab base;
    struct sql_binding *binding;
    size_t *bases; /* of each capture's rows, and their total; NULL until a query uses the table */
    uint32_t *by_target; /* flows: numbers sorted by to_id; NULL until asked for */
};

/* xConnect and xDisconnect of every table; `aux` is its binding. */
int sql_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                char **error);
int sql_disconnect(sqlite3_vtab *base);

#endif
