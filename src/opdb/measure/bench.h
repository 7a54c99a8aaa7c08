/*
 * bench - replayed durations on their way into the tables of a database folder.
 *
 * Like parse in two steps: bench_plan() reads and computes, bench_write() puts the tables that
 * changed and the report on disk.
 */
#ifndef STRATA_OPDB_MEASURE_BENCH_H
#define STRATA_OPDB_MEASURE_BENCH_H

#include "opdb/rows/update.h"
#include "report/record.h"

/* Whether strata knows what the operator does. */
bool bench_is_known(struct str op);

/* "Unsupported --op: X. Available: ..." for the names that are unknown, sorted; empty when all are
 * known. */
struct str bench_ops_problem(struct arena *arena, const struct str *ops, size_t n);

/* A row whose replay and profile differ by more than a fifth. */
struct bench_gap {
    struct update_gap gap;
    size_t index;                                         /* as they were found */
    struct str bench, profiled, difference, ratio, times; /* its numbers as texts */
};

struct bench_job {
    const char *dir;       /* the database folder */
    const char *prof;      /* a PROF folder with its summaries */
    const struct str *ops; /* only these; all known ones when there are none */
    size_t n_ops;
    struct update_how how;
    int64_t ep_size; /* of DispatchFFNCombine */
};

struct bench_plan {
    struct arena arena;
    struct summary summary;
    VEC_OF(struct update) updates;           /* by operator name */
    VEC_OF(struct bench_gap) gaps;           /* the worst first */
    struct str report;                       /* Markdown */
    const char *report_path, *hotspots_path; /* set by bench_write() */
    bool is_dry_run;                         /* nothing is written: set by the caller */
};

/* Its text, of a struct bench_plan: messages, what would change, the report, where it lies. */
bool bench_print(const void *plan, struct sink sink);

/* strata.db-bench/1, over a struct bench_plan. */
extern const struct schema bench_schema;

/* After a failure the plan may be freed. */
enum status bench_plan(struct bench_plan *plan, const struct bench_job *job, struct diag *d);
enum status bench_write(struct bench_plan *plan, const struct bench_job *job, struct diag *d);
void bench_plan_free(struct bench_plan *plan);

/* The tables a job is about: those of the operators named, wherever they are below the folder, or
 * all tables of replayable operators directly in it. */
struct bench_files {
    const char **at;
    size_t n;
};
enum status bench_files(struct arena *arena, const struct bench_job *job, struct bench_files *out,
                        struct diag *d);

/* True when every row of every file has a valid duration, and there is at least one in each. */
enum status bench_is_complete(const struct bench_files *files, bool *out, struct diag *d);

#endif
