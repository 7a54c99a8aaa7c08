/*
 * comm_bench_job - measures collectives between the ranks of this job and writes their tables.
 *
 * Every rank calls it; results, warnings and files are those of rank 0, whose group each
 * measurement is.
 */
#ifndef STRATA_OPDB_MEASURE_COMM_BENCH_JOB_H
#define STRATA_OPDB_MEASURE_COMM_BENCH_JOB_H

#include "driver/mpi.h"
#include "opdb/measure/comm_bench.h"

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

#endif
