/*
 * check - is every table of a database what it should be?
 */
#ifndef STRATA_OPDB_ROWS_CHECK_H
#define STRATA_OPDB_ROWS_CHECK_H

#include "base/tables/vec.h"
#include "opdb/rows/place.h"
#include "report/record.h"

/* Something found at a line of a table. A note is worth knowing; anything else is a problem. */
struct check_finding {
    const char *path;
    uint64_t line;
    bool is_note;
    struct str what;
};

struct check_table {
    const char *path;
    struct str op;
    uint64_t rows, valid;
};

struct check {
    struct arena arena;
    VEC_OF(struct check_finding) findings; /* by file and line */
    VEC_OF(struct check_table) tables;
    uint64_t problems, notes; /* all, also those past the cap on what is kept of a table */
    uint64_t rows, valid;     /* of all tables */
    uint64_t of_table;        /* findings of the table at hand */
};

void check_init(struct check *c);
void check_free(struct check *c);

/* Reads and judges one table. */
void check_table(struct check *c, const struct place_file *file);

/* All tables, into a fresh check that is freed as always; ST_CANCELLED after an interruption. */
enum status check_all(struct check *c, const struct place_files *tree);

/* strata.db-check/1; and tables as rows for people. */
extern const struct schema check_schema;
extern const struct record check_summary;

#endif
