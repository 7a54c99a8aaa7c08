/*
 * comm_jobs - what `strata db comm` does: the launches that fill the tables of collectives, one
 * launch, and the comparison of a model with what was measured.
 */
#ifndef STRATA_OPDB_MEASURE_COMM_JOBS_H
#define STRATA_OPDB_MEASURE_COMM_JOBS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/tables/vec.h"
#include "driver/mpi.h"
#include "opdb/measure/comm_bench.h"
#include "opdb/measure/comm_model.h"
#include "report/record.h"

/*
 * comm_rounds - which launches fill the tables of collectives: rounds of collectives, group sizes
 * and ports, for one node or several.
 */

enum { COMM_ROUND_DEVICES = 32, COMM_ROUND_SIZES = 32 };

struct comm_launch {
    const char *ops;                     /* with commas between */
    int64_t processes;                   /* of all nodes */
    int64_t devices[COMM_ROUND_DEVICES]; /* sizes of groups */
    size_t n_devices;
    int64_t port;
};

struct comm_rounds {
    struct comm_launch at[16];
    size_t n;
    int64_t sizes[COMM_ROUND_SIZES]; /* of messages */
    size_t n_sizes;
    bool is_multi; /* several nodes: groups span pods, tier 0 */
};

/* NNODES, NPROC, MASTER_PORT and QUICK of the environment; 0: not set. */
struct comm_nodes {
    int64_t nodes, processes, port;
    bool is_quick;
};

/* False when no group size fits that many processes. */
bool comm_rounds_plan(const struct comm_nodes *nodes, struct comm_rounds *out);

/*
 * comm_bench_job - measures collectives between the ranks of this job and writes their tables.
 *
 * Every rank calls it; results, warnings and files are those of rank 0, whose group each
 * measurement is.
 */

struct comm_bench_job {
    struct comm_plan plan; /* of all collectives but send_recv, which has groups of two */
    struct comm_grid grid;
    enum mpi_elem elem;
    const struct device_links *links; /* NULL: host buffers over MPI */
    double limit_s;                   /* for the timed calls of one row */
    const char *output_dir;           /* a folder for a table of each collective; NULL: none */
    const char *output_csv;           /* or the one table; NULL: none */
};

enum status comm_bench_run(struct comm_bench *b, const struct comm_bench_job *job,
                           const struct mpi *mpi, struct arena *arena, struct diag *d);

/*
 * comm_validate - measured collectives against a model of the links.
 *
 * Reads the tables of the four collectives in a folder (with given links or a fit also those of
 * broadcast and send/receive) and gives each row a verdict by the ratio
 * of measured to predicted time: within the tolerance, within twice the tolerance, or beyond.
 */

enum comm_verdict { COMM_PASS, COMM_WARN, COMM_FAIL, COMM_VERDICTS };

struct comm_row {
    struct comm_point point; /* as measured */
    double predicted_us;
    double ratio; /* measured / predicted; infinite when nothing was predicted */
    enum comm_verdict verdict;
};

struct comm_check {
    enum collective op;
    bool was_visited, is_there; /* a validation that failed has not visited all */
    uint64_t rows_read;         /* of the table */
    uint64_t dropped;           /* those that do not parse */
    VEC_OF(struct comm_row) rows;
    uint64_t counts[COMM_VERDICTS];
    double mean, min, max; /* of the ratios; not a number without rows */
};

struct comm_job {
    const char *dir;
    double tolerance;   /* above 0 */
    const char *links;  /* NULL: the built-in ones; "fit"; else a file */
    bool scatter_total; /* reduce_scatter: the model's m is the total, so rows count n times */
    bool lists_all;     /* print rows that pass, too */
};

struct comm_validation {
    struct comm_job job;
    struct comm_model model;
    struct comm_check checks[COMM_COLLECTIVES];
    size_t n_checks; /* COMM_VALIDATED, or all where --links covers more tables that are there */
    uint64_t rows, counts[COMM_VERDICTS];
    bool is_complete; /* false after a failure */
};

/* Reads and judges. On failure it may be printed as far as it went, and is freed as always. */
enum status comm_validate(struct comm_validation *v, const struct comm_job *job, struct diag *d);
void comm_validation_free(struct comm_validation *v);

/* The report of fixed shape, of a struct comm_validation. */
bool comm_validation_print(const void *result, struct sink sink);

/* strata.comm-validate/1. */
extern const struct schema comm_validation_schema;

#endif
