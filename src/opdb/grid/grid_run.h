/*
 * grid_run - generated rows for all operator tables below a folder.
 *
 *     TRY(grid_run_open(&run, &options, d));
 *     TRY(grid_run_scan(&run, dir, d));
 *     TRY(grid_run_fill(&run, tell, ctx, d));
 *     grid_run_close(&run);
 *
 * Files are taken in the order of their paths, and one random sequence serves them all, so the
 * same tree and the same seed give the same rows.
 */
#ifndef STRATA_OPDB_GRID_GRID_RUN_H
#define STRATA_OPDB_GRID_GRID_RUN_H

#include "base/files/sink.h"
#include "opdb/grid/grid_gen.h"
#include "opdb/grid/grid_rules.h"
#include "report/record.h"

struct op_table;

struct grid_fill {
    bool is_usable;  /* the table has rows and input shapes */
    size_t made;     /* rows that came from the generator */
    size_t too_big;  /* of these, left out for their memory */
    size_t appended; /* rows added to the table */
};

/* Adds the rows of `pattern` to `t`, sorted by their input shapes, after those it has. The first
 * row is the template: new rows copy its identity, get shapes, and zeros in place of measurements.
 * Rows that are there already, come twice or take too much memory are left out. A table without
 * rows or without input shapes stays as it is. `budget` is in bytes; 0: no limit. */
enum status grid_fill(struct op_table *t, const struct grid_job *job,
                      const struct grid_pattern *pattern, int64_t budget, struct grid_fill *out,
                      struct diag *d);

struct grid_options {
    const char *rules;         /* a user's rules; NULL: compiled in */
    const char *target_models; /* comma-separated names; NULL: all models */
    struct words configs;      /* config.json of models that are not known by name */
    bool is_strict;            /* no short names of models */
    bool is_replayable;        /* see struct grid_job */
    bool is_dry_run;           /* write nothing; the files have what would change */
    int64_t rows;              /* cap per table; 0 and below: none */
    const char *seed;          /* NULL: any */
    double memory_gib;         /* of one row; 0 and below: no limit */
};

struct grid_file {
    const char *path;
    struct str name; /* without folder */
    bool is_skipped; /* no rows were added */
    bool is_written;
    struct str diff; /* of a dry run */
    struct grid_fill fill;
};

struct grid_run {
    struct arena arena;
    struct grid_rules rules;
    struct grid_models targets; /* the models asked for, in that order */
    struct grid_random random;
    struct grid_job job;
    struct grid_facts facts;
    int64_t budget; /* bytes; 0: no limit */
    bool is_dry_run;
    VEC_OF(struct grid_file) files;
    size_t appended; /* rows, so far */
    const char *dir; /* scanned */
    int64_t rows;    /* cap per table; 0: none */
};

/* Its text, of a struct grid_run. */
bool grid_run_print(const void *run, struct sink sink);

/* strata.db-grid/1, over a struct grid_run. */
extern const struct schema grid_schema;

/* Reads the rules and finds the models. After a failure only grid_run_close() is left to do. */
enum status grid_run_open(struct grid_run *run, const struct grid_options *options, struct diag *d);
void grid_run_close(struct grid_run *run);

/* Lists the tables below `dir` and reads its op_mapping.yaml. */
enum status grid_run_scan(struct grid_run *run, const char *dir, struct diag *d);

/* The pattern for a kernel; NULL: no rows are made for it. */
const struct grid_pattern *grid_run_pattern(const struct grid_run *run, struct str kernel);

/* Adds rows to all tables and writes them; `tell` is called for each file, in their order, when it
 * is done. Rows are made one table after the other, but several files are on their way to the disk
 * at a time. After a failure the files told of are written, the others as they were, but for those
 * that were on their way. */
typedef void grid_run_progress(void *ctx, const struct grid_file *file);
enum status grid_run_fill(struct grid_run *run, grid_run_progress *tell, void *ctx, struct diag *d);

#endif
