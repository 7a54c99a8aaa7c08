/*
 * parse - kernel_details exports become operator tables.
 *
 * Two steps, so that nothing is written before everything is known: parse_plan() reads the exports
 * and the tables that are there and makes the new ones; parse_write() puts them on disk, each as a
 * whole. Between them the caller may show the plan.
 */
#ifndef STRATA_OPDB_ROWS_PARSE_H
#define STRATA_OPDB_ROWS_PARSE_H

#include "opdb/rows/fia.h"
#include "opdb/rows/table.h"

/* What becomes of a table that is there and holds more than this import knows. */
enum parse_mode {
    PARSE_CAREFUL,   /* refuse */
    PARSE_OVERWRITE, /* replace it */
    PARSE_MERGE,     /* keep its rows and columns */
};

/* One table of the plan. */
struct parse_file {
    const char *path;
    struct str op; /* the stem of its name */
    struct op_table fresh;
    struct op_table old;
    bool is_there;           /* `old` was read */
    size_t rows_dropped;     /* rows of `old` that do not come again */
    struct str columns_lost; /* their names, joined with ", " */
};

struct parse_plan {
    const char *dir, *source; /* as given */
    bool is_dry_run;          /* nothing is written: set by the caller */
    struct kernels kernels;
    struct fia_metas metas;
    struct arena arena;
    size_t n_exports;
    VEC_OF(struct parse_file) files; /* one per operator, in order of first appearance */
    size_t n_skipped;                /* operators without a table: no file can have the name */
};

/* After a failure the plan may be freed. `dir` need not exist. */
enum status parse_plan(struct parse_plan *plan, const char *source, const char *dir,
                       enum parse_mode mode, struct diag *d);
void parse_plan_free(struct parse_plan *plan);

/* The caller holds the lock of `dir`. */
enum status parse_write(struct parse_plan *plan, struct diag *d);

/* The file name of an operator: characters no file system takes become '_'. */
struct str parse_file_name(struct arena *arena, struct str type);

/* Its text, of a struct parse_plan: what would change, and a sentence. */
bool parse_print(const void *plan, struct sink sink);

/* strata.db-parse/1, over a struct parse_plan. */
extern const struct schema parse_schema;

#endif
