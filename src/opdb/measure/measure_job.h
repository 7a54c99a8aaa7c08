/*
 * measure_job - rows of a database, measured: strata db replay, bench and build.
 */
#ifndef STRATA_OPDB_MEASURE_MEASURE_JOB_H
#define STRATA_OPDB_MEASURE_MEASURE_JOB_H

#include "base/run/progress.h"
#include "opdb/measure/measure.h"
#include "opdb/rows/update.h"

struct report; /* not included: its table is another than the database's */

struct measure_db_job {
    const char *dir;       /* the database folder */
    const struct str *ops; /* only these; all that are known when there are none */
    size_t n_ops;
    bool is_missing_only; /* rows that have a duration are left out */
    const char *backend;  /* "cpu", "cuda", "ascend", "auto" */
    const char *device;   /* whose times the database holds, where it does not say; NULL: unknown */
    const char *cache;    /* folder for compiled kernels; NULL: the user's */
    struct measure_options options;
    bool is_writing;  /* durations go back into the tables */
    bool is_stopping; /* at the first row that fails */
    bool is_dropping; /* rows that no device takes leave their tables, unless they have a profile */
    bool is_pruning;  /* and, when something was measured, all rows without a duration */
    int64_t most_rows; /* of a table; 0: all */
    enum measure_execution execution;
    int64_t ep_size;  /* of DispatchFFNCombine: only its rows; 0: each row has its own */
    bool is_balanced; /* its tokens go to all experts alike; else at random */
    const struct progress *progress;
    /* Writes rows that are then measured, once the database's device is known to be the one that
     * measures. NULL: the tables are there. */
    enum status (*prepare)(void *ctx, struct diag *d);
    void *prepare_ctx;
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
    bool is_logical, is_dropped;
};

/* Rows without a duration that a table lost. */
struct measured_prune {
    const char *path;
    struct update_list rows;
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
    VEC_OF(struct measured_prune) pruned;
    uint64_t done, failed, refused, skipped, slow;
    uint64_t dropped, n_pruned; /* rows that were deleted */
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

/* Which back end, and what its device can do: "auto" is the one of the database's device, or, for
 * none (NULL) and one without a device, the first of ascend, cuda and cpu that is here. */
struct db_device;
enum status measure_db_open(struct measure_db_job *job, const struct db_device *db,
                            struct arena *arena, struct backend_facts *facts, struct diag *d);

#endif
