/*
 * strata db replay: operators of a database, measured.
 */
#include "cli/db/opt_measure.h"
#include "opdb/measure/measure_job.h"

struct args {
    struct opt_measure measure;
    struct place_args place;
    struct words ops;
    int mode;
    double wait;
};

static const struct args defaults = {.measure = OPT_MEASURE_DEFAULTS};

static const char *const modes[] = {"all", "missing-only", NULL};

static const struct opt options[] = {
    OPT_DB_OPS(struct args, ops),
    OPT_CHOICE(0, "update-mode", modes, struct args, mode, "rows to measure (default: all)"),
    OPT_MEASURE(struct args, measure, "repetitions per row (default: 30)"),
    OPT_DB_PLACE(struct args, place),
    OPT_DB_WAIT(struct args, wait),
};

static const struct example examples[] = {
    {"strata db replay --database-path examples/perfdb/grid --op ArgMaxV2 --backend cpu "
     "--repeat-count 3 --max-rows 2",
     "one operator on this machine's processors"},
};

static int replay_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct measure_db_job job;
    struct db_ops ops;

    TRY_CODE(db_known_ops(s, &args->ops, &ops));
    TRY_CODE(opt_measure_job(s, &args->measure, &args->place, &ops, 30, &job));
    job.is_missing_only = args->mode == 1;
    job.progress = &s->progress;
    return opt_measure_run(s, &job, args->wait);
}

const struct command command_db_replay = {
    .name = "replay",
    .group = GROUP_DATABASE,
    .summary = "measure the operators of a database",
    .usage = "[OPTIONS]",
    .details =
        "Builds the operands of every row from its shapes, types and formats, runs the operator, "
        "compares a sample of the result with a reference, and times it: one warm-up, then "
        "--repeat-count runs. Shortest, median and mean time, deviation and outliers are "
        "reported, and how the shortest compares with what the device could do at best. Nothing "
        "is written; strata db bench writes the shortest into the tables.\n"
        "\n"
        "Each operator runs in a process of its own. A row that needs too much memory, hangs or "
        "ends its process is marked, and the rest goes on.",
    .see = "docs/perfdb.md",
    .operands = {.kind = OPERAND_WORD, .min = 0, .max = SIZE_MAX},
    .schemas = {&measured_db_schema},
    COMMAND_PARTS,
    .run = replay_run,
};
