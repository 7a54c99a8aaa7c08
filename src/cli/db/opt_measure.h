/*
 * opt_measure - what the commands that measure operators share: options, and the run itself.
 */
#ifndef STRATA_CLI_DB_OPT_MEASURE_H
#define STRATA_CLI_DB_OPT_MEASURE_H

#include "cli/db/opt_db.h"
#include "opdb/measure/measure_job.h"

struct opt_measure {
    struct measure_db_job job;
    int64_t repeats;
    double limit, memory_gb;
    bool go_on;
};

#define OPT_MEASURE(type, member, repeats_help)                                                    \
    OPT_GROUP("Measuring"),                                                                        \
        OPT_STRING(0, "backend", "NAME", type, member.job.backend,                                 \
                   "cpu, cuda, ascend or auto (default: auto)"),                                   \
        OPT_INT(0, "repeat-count", "N", type, member.repeats, 1, 1000000, repeats_help),           \
        OPT_INT(0, "max-rows", "N", type, member.job.most_rows, 0, INT64_MAX,                      \
                "measure at most N rows per table, 0: all (default: 0)"),                          \
        OPT_DOUBLE(0, "time-limit", "SECONDS", type, member.limit,                                 \
                   "time limit for one row (default: 60)"),                                        \
        OPT_DOUBLE(0, "max-memory", "GB", type, member.memory_gb,                                  \
                   "memory limit for one row (default: what is free)"),                            \
        OPT_INT(0, "seed", "N", type, member.job.options.seed, 0, INT64_MAX,                       \
                "seed of the operands"),                                                           \
        OPT_FLAG(0, "no-check", type, member.job.options.is_unchecked,                             \
                 "do not compare results with the reference"),                                     \
        OPT_FLAG(0, "fail-fast", type, member.job.is_stopping,                                     \
                 "stop at the first row that fails"),                                              \
        OPT_FLAG(0, "continue-on-error", type, member.go_on, "go on after a failure (default)")

/* The job of the options: CODE_DONE, or the exit code of what is wrong with them. `repeats` is the
 * number of runs when nobody says another. */
int opt_measure_job(struct session *s, const struct opt_measure *o, const struct place_args *place,
                    const struct db_ops *ops, int64_t repeats, struct measure_db_job *job);

/* The answer of the commands that measure. */
void opt_measure_give(struct session *s, const struct measured_db *m);

/* Measures and reports; with job->is_writing under the lock of the folder. */
int opt_measure_run(struct session *s, const struct measure_db_job *job, double wait);

#endif
