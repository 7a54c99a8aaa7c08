/*
 * measure_job - rows of a database, measured: strata db replay, bench and build.
 */
#ifndef STRATA_OPDB_MEASURE_MEASURE_JOB_H
#define STRATA_OPDB_MEASURE_MEASURE_JOB_H

#include "base/run/progress.h"
#include "opdb/measure/measure.h"

struct report; /* not included: its table is another than the database's */

struct measure_db_job {
    const char *dir;       /* the database folder */
    const struct str *ops; /* only these; all that are known when there are none */
    size_t n_ops;
    bool is_missing_only; /* rows that have a duration are left out */
    const char *backend;  /* "cpu", "cuda", "ascend", "auto" */
    const char *cache;    /* folder for compiled kernels; NULL: the user's */
    struct measure_options options;
    bool is_writing;   /* durations go back into the tables */
    bool is_stopping;  /* at the first row that fails */
    bool is_dropping;  /* rows that fail leave their tables */
    int64_t most_rows; /* of a table; 0: all */
    const struct progress *progress;
};

/* One row that was measured, or not. */
struct measurement {
    const char *path;
    struct str op, shapes, why;
    uint64_t line; /* in its file */
    size_t row;
    struct measure_stats stats;
    struct op_cost cost;
    struct measure_roof roof;
    double worst; /* error, as a share of what is allowed */
    enum measure_state state;
    bool is_logical;
};

struct measured_op {
    struct str op;
    const char *path;
    uint64_t rows, done, failed, refused, skipped, slow;
    double us; /* of all rows that were measured, their shortest */
};

/* Clocks and power while rows were measured; NAN: nobody tells. */
struct measured_clocks {
    uint64_t readings;
    bool is_gpu;
    double mhz_min, mhz_median, mhz_max, memory_mhz, power_w, power_limit_w, celsius;
    char reasons[192]; /* why a GPU's clock is where it is, empty: nobody tells; the governor
                        * of processors */
};

struct measured_db {
    struct arena arena;
    const char *backend, *dir;
    struct backend_facts facts;
    struct measured_clocks clocks;
    VEC_OF(struct measurement) rows;
    VEC_OF(struct measured_op) ops;
    uint64_t done, failed, refused, skipped, slow;
    uint64_t repeats;
    bool is_stopped;
    const char *const *complete; /* tables with a duration in every row: nothing was measured */
    size_t n_complete;
};

/* strata.db-replay/1, over a struct measured_db. */
extern const struct schema measured_db_schema;

/* Measures. After a failure, too, `out` holds what was measured, and it is in the tables when they
 * are written; it is freed by measured_db_free(). ST_TOOL: no such device. */
enum status measure_db(const struct measure_db_job *job, struct measured_db *out, struct diag *d);
void measured_db_free(struct measured_db *m);

/* Of a struct measured_db. */
void measured_db_describe(const void *result, struct report *report);

/* A row of an operator table as the operator gets it; lists live in the arena. What is no shape or
 * type is marked, and the operator refuses it. */
struct op_table;
void measure_db_row(struct arena *arena, const struct op_table *t, size_t row, struct op_row *out);

/* Which back end, and what its device can do. */
enum status measure_db_open(struct measure_db_job *job, struct arena *arena,
                            struct backend_facts *facts, struct diag *d);

#endif
