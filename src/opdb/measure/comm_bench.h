/*
 * comm_bench - measured collectives: rows of the tables, and a line fitted to each group of them.
 *
 * A table (hcom_allReduce_.csv and so on) has the columns message_bytes, num_devices, dtype,
 * topology_tier, Duration(us) and bandwidth_gbps; rows are appended. comm_validate() reads it.
 */
#ifndef STRATA_OPDB_MEASURE_COMM_BENCH_H
#define STRATA_OPDB_MEASURE_COMM_BENCH_H

#include "opdb/measure/comm_model.h"
#include "report/record.h"

struct comm_measured {
    struct comm_config config;
    double us, gbps;    /* as written: with the time of the launch, two decimals */
    double dispatch_us; /* the part of it that was added for the launch */
    double us_min, us_max;
    uint64_t calls; /* timed ones */
};

struct comm_bench {
    const char *backend; /* "mpi" */
    struct str device;   /* name in the database; empty: none */
    const char *dtype;   /* "DT_BF16" */
    int64_t ranks;       /* of the job */
    VEC_OF(struct comm_measured) results;
    VEC_OF(struct str) warnings; /* what was skipped; live in the job's arena */
    struct comm_model model;     /* lines, after comm_bench_fit() */
};

void comm_bench_init(struct comm_bench *b);
void comm_bench_free(struct comm_bench *b);

/* Adds a row: the median of `n` times in seconds, which are sorted here. */
void comm_bench_add(struct comm_bench *b, const struct comm_config *config, double *seconds,
                    size_t n);

/* Appends the results from `first` on that are of one collective to its table. */
enum status comm_bench_append(const struct comm_bench *b, size_t first, enum collective op,
                              const char *path, struct diag *d);

void comm_bench_fit(struct comm_bench *b);

/* Sizes of messages: powers of two from `least` to `most`. */
size_t comm_bench_sizes(int64_t least, int64_t most, int64_t *out, size_t room);

/* The element type that a text names (torch.bfloat16, bf16, DT_BF16): its name in tables and its
 * place in that list; false when there is none. */
bool comm_bench_dtype(struct str text, const char **name, size_t *which);

extern const struct record comm_result_record, comm_fit_record;
extern const struct schema comm_bench_schema; /* Lines that explain less than half of the times:
                                                 other programs ran beside the ranks. */
size_t comm_bench_poor_fits(const struct comm_bench *b);

/* strata.comm-bench/1 */

#endif
