/*
 * strata db bench: replayed durations written back into the database.
 */
#include <math.h>

#include "cli/db/opt_measure.h"
#include "opdb/measure/bench.h"
#include "opdb/rows/table.h"

struct args {
    struct bench_job job;
    struct place_args place;
    struct words ops;
    struct opt_measure measure;
    double wait;
};

static const struct args defaults = {.measure = OPT_MEASURE_DEFAULTS};

enum { EP_SIZE = 16 }; /* of exports, when nobody says another */

static const char *const modes[] = {"all", "missing-only", NULL};

static const struct opt options[] = {
    OPT_STRING(0, "prof-path", "DIR", struct args, job.prof,
               "msprof's PROF_* folder with its op_summary exports"),
    OPT_DB_OPS(struct args, ops),
    OPT_CHOICE(0, "update-mode", modes, struct args, job.how.mode, "rows to update (default: all)"),
    OPT_FLAG(0, "prune-empty-duration-rows", struct args, job.how.prune,
             "delete rows that have no duration afterwards"),
    OPT_DB_WAIT(struct args, wait),
    OPT_MEASURE(struct args, measure, "repetitions per row (default: 1)"),
    OPT_FLAG(0, "drop-failing-rows", struct args, measure.job.is_dropping,
             "delete rows that no device takes, unless they have a profile"),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db bench --database-path examples/perfdb/db --prof-path examples/perfdb/PROF_000001 "
     "--dry-run",
     "what a replay would change"},
    {"strata db bench --database-path examples/perfdb/db --prof-path examples/perfdb/PROF_000001 "
     "--op Add MatMulV2 --dry-run",
     "only two operators"},
};

static void bench_give(struct session *s, const struct bench_plan *plan)
{
    for (size_t i = 0; i < plan->updates.n && !plan->is_dry_run; i++)
        if (plan->updates.at[i].is_changed)
            session_wrote(s, plan->updates.at[i].path);
    if (!plan->is_dry_run) {
        session_wrote(s, plan->report_path);
        session_wrote(s, plan->hotspots_path);
    }
    session_give(s, &(struct answer){.schema = &bench_schema,
                                     .origin = "measured",
                                     .result = plan,
                                     .print = bench_print,
                                     .names_files = true});
}

static int write_back(struct session *s, const struct args *args, const struct bench_job *job)
{
    struct lock lock = {.fd = -1};
    struct bench_plan plan;

    TRY_CODE(db_code(s->common.dry_run ? ST_OK : db_lock(s, job->dir, args->wait, &lock)));
    enum status st = bench_plan(&plan, job, &s->diag);
    plan.is_dry_run = s->common.dry_run;
    if (st == ST_OK && !plan.is_dry_run)
        st = bench_write(&plan, job, &s->diag);
    lock_release(&lock);
    if (st == ST_OK)
        bench_give(s, &plan);
    bench_plan_free(&plan);
    return db_code(st);
}

/* Measures here; a database that is complete needs nothing. */
static int db_bench_measure(struct session *s, const struct args *args, const struct bench_job *job,
                            const struct db_ops *ops)
{
    struct measure_db_job measured;
    struct bench_files files;
    bool is_complete = false;

    enum status st = bench_files(&s->arena, job, &files, &s->diag);
    if (st == ST_OK && job->how.mode == UPDATE_MISSING_ONLY)
        st = bench_is_complete(&files, &is_complete, &s->diag);
    if (st != ST_OK)
        return db_code(st);
    if (is_complete) {
        const struct measured_clocks none = {0, false, NAN, NAN, NAN, NAN, NAN, NAN, NAN, ""};
        opt_measure_give(
            s, &(struct measured_db){
                   .dir = job->dir, .clocks = none, .complete = files.at, .n_complete = files.n});
        return CODE_DONE;
    }
    TRY_CODE(opt_measure_job(s, &args->measure, &args->place, ops, 1, &measured));
    measured.is_missing_only = job->how.mode == UPDATE_MISSING_ONLY;
    measured.is_writing = !s->common.dry_run;
    measured.is_pruning = job->how.prune;
    measured.progress = &s->progress;
    return opt_measure_run(s, &measured, args->wait);
}

static int db_bench_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct bench_job job = args->job;
    struct db_ops ops;

    TRY_CODE(db_known_ops(s, &args->ops, &ops));
    TRY_CODE(db_place(s, &args->place, &job.dir));
    job.ops = ops.at;
    job.n_ops = ops.n;
    job.ep_size = args->measure.job.ep_size > 0 ? args->measure.job.ep_size : EP_SIZE;
    job.how.keep_old = s->common.dry_run;
    return job.prof != NULL ? write_back(s, args, &job) : db_bench_measure(s, args, &job, &ops);
}

const struct command command_db_bench = {
    .name = "bench",
    .group = GROUP_DATABASE,
    .summary = "measure operators and update the tables",
    .usage = "[OPTIONS] [--prof-path DIR]",
    .details =
        "Without --prof-path every row is measured on the back end, as strata db replay "
        "does, and the shortest of its runs is written to its table, after each operator; "
        "a run that is killed goes on where it was with --update-mode missing-only.\n"
        "\n"
        "With it, reads the op_summary exports of a replay, takes the shortest duration and the "
        "average of every counter for each operator and shape, and updates the matching "
        "rows. Rows match by signature: normalised shapes, dtypes and formats.\n"
        "\n"
        "--update-mode all updates every matching row and appends cases without a row; "
        "missing-only fills rows that have no duration yet and only reports the rest. "
        "Matrix products may run in any kernel of their family: MatMulV2, MatMulV3 and "
        "MatMulCommon rows take each other's durations and are never appended.\n"
        "\n"
        "A report with missing shapes, duplicates and rows whose replayed and profiled "
        "durations differ by more than 20 % goes to reports/ in the database folder.",
    .see = "docs/perfdb.md",
    .operands = {.kind = OPERAND_WORD, .min = 0, .max = SIZE_MAX},
    .common = COMMON_DRY_RUN,
    .schemas = {&bench_schema, &measured_db_schema},
    COMMAND_PARTS,
    .run = db_bench_run,
};
