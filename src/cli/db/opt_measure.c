/*
 * What the commands that measure operators share.
 */
#include "cli/db/opt_measure.h"

#include <stdlib.h>

/* The number of runs: the option, else the environment, else `otherwise`; 0: no number. */
static int64_t repeats_of(const struct opt_measure *o, int64_t otherwise)
{
    static const char *const names[] = {"STRATA_REPLAY_REPEAT_COUNT",
                                        "MSMODELING_OP_REPLAY_REPEAT_COUNT"};
    int64_t n;

    if (o->repeats > 0)
        return o->repeats;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str text = str_trim(str_of(getenv(names[i])));
        if (text.n > 0)
            return num_i64(text, &n) && n > 0 && n <= 1000000 ? n : 0;
    }
    return otherwise;
}

int opt_measure_job(struct session *s, const struct opt_measure *o, const struct place_args *place,
                    const struct db_ops *ops, int64_t repeats, struct measure_db_job *job)
{
    static const struct str backends[] = {S_INIT("cpu"), S_INIT("cuda"), S_INIT("ascend"),
                                          S_INIT("auto")};

    *job = o->job;
    if (!str_is_one_of(str_of(job->backend), backends, ARRAY_LEN(backends)))
        return session_usage(s, "--backend must be cpu, cuda, ascend or auto, not \"%s\"",
                             job->backend);
    job->options.repeats = (size_t)repeats_of(o, repeats);
    if (job->options.repeats == 0)
        return session_usage(s, "the repeat count in the environment must be a number above 0");
    TRY_CODE(db_place(s, place, &job->dir));
    job->device = place->device;
    job->ops = ops->at;
    job->n_ops = ops->n;
    job->options.limit_ms = num_i64_of(o->limit * 1000);
    job->options.memory = num_i64_of(o->memory_gb * 1e9);
    return CODE_DONE;
}

void opt_measure_give(struct session *s, const struct measured_db *m)
{
    session_give(s, &(struct answer){.schema = &measured_db_schema,
                                     .origin = "measured",
                                     .result = m,
                                     .describe = measured_db_describe});
}

int opt_measure_run(struct session *s, const struct measure_db_job *job, double wait)
{
    struct lock lock = {.fd = -1};
    struct measured_db m;

    TRY_CODE(db_code(job->is_writing ? db_lock(s, job->dir, wait, &lock) : ST_OK));
    enum status st = measure_db(job, &m, &s->diag);
    lock_release(&lock);
    if (m.ops.n > 0)
        opt_measure_give(s, &m);
    if (st == ST_OK && m.failed > 0)
        st = diag_fail(&s->diag, ST_FORMAT, "perfdb.rows-failed", (struct where){0},
                       "%llu rows failed", (unsigned long long)m.failed);
    int code = db_code(st);
    measured_db_free(&m);
    return code;
}
