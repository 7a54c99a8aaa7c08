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
    /* DispatchFFNCombine: of several devices, which no back end has yet. */
    const char *master_addr;
    int64_t nproc, nnodes, node_rank, master_port, most_output;
};

/* The start values of the options below. */
#define OPT_MEASURE_DEFAULTS                                                                       \
    {                                                                                              \
        .job = {.backend = "auto", .is_balanced = true}, .nnodes = 1, .master_addr = "127.0.0.1",  \
        .most_output = 65536                                                                       \
    }

static const char *const opt_measure_modes[] = {"subprocess", "inprocess", NULL};

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
        OPT_FLAG(0, "continue-on-error", type, member.go_on, "go on after a failure (default)"),   \
        OPT_CHOICE(0, "execution-mode", opt_measure_modes, type, member.job.execution,             \
                   "one process per operator or in all (default: subprocess)"),                    \
        OPT_GROUP("DispatchFFNCombine"), OPT_EP_SIZE(type, member.job.ep_size),                    \
        OPT_FLAG(0, "balanced", type, member.job.is_balanced,                                      \
                 "route tokens evenly over experts (default: on)"),                                \
        OPT_INT(0, "max-output-size", "N", type, member.most_output, 1, INT32_MAX,                 \
                "rows of the exchange buffer (default: 65536)"),                                   \
        OPT_FFN("nproc-per-node", "N", INT, type, member.nproc, 1, "processes per node"),          \
        OPT_FFN("nnodes", "N", INT, type, member.nnodes, 1, "number of nodes (default: 1)"),       \
        OPT_FFN("node-rank", "N", INT, type, member.node_rank, 0,                                  \
                "rank of this node (default: 0)"),                                                 \
        OPT_STRING(0, "dispatch-ffn-combine-master-addr", "HOST", type, member.master_addr,        \
                   "rendezvous address (default: 127.0.0.1)", .alias = "master-addr"),             \
        OPT_FFN("master-port", "N", INT, type, member.master_port, 1, "rendezvous port")

#define OPT_EP_SIZE(type, m)                                                                       \
    {                                                                                              \
        .kind = OPT_KIND_INT, .name = "dispatch-ffn-combine-ep-size", .alias = "ep-size",          \
        .value = "N", .offset = OPT_AT_INT(type, m), .min = 1, .max = INT32_MAX,                   \
        .help = "expert-parallel size (default: of each row; exports: 16)"                         \
    }
#define OPT_FFN(n, v, kind_, type, m, lowest, text)                                                \
    {                                                                                              \
        .kind = OPT_KIND_##kind_, .name = "dispatch-ffn-combine-" n, .alias = n, .value = (v),     \
        .offset = OPT_AT_INT(type, m), .min = (lowest), .max = INT32_MAX, .help = (text)           \
    }

/* The job of the options: CODE_DONE, or the exit code of what is wrong with them. `repeats` is the
 * number of runs when nobody says another. */
int opt_measure_job(struct session *s, const struct opt_measure *o, const struct place_args *place,
                    const struct db_ops *ops, int64_t repeats, struct measure_db_job *job);

/* The answer of the commands that measure. */
void opt_measure_give(struct session *s, const struct measured_db *m);

/* Measures and reports; with job->is_writing under the lock of the folder. */
int opt_measure_run(struct session *s, const struct measure_db_job *job, double wait);

#endif
