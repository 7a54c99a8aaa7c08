/*
 * strata db build: from a model to a measured database.
 */
#include "cli/db/opt_measure.h"
#include "cli/db/opt_model.h"
#include "opdb/rows/call_cells.h"

struct args {
    struct opt_measure measure;
    struct place_args place;
    struct opt_model model;
    struct opt_layout layout;
    const char *batches, *lengths;
    double wait;
};

static const struct args defaults = {
    .measure = OPT_MEASURE_DEFAULTS, .batches = "1,8,32", .lengths = "128,1024,4096"};

static const struct opt options[] = {
    OPT_MODEL(struct args, model),
    OPT_STRING(0, "batch", "N,N", struct args, batches, "sequences at a time (default: 1,8,32)"),
    OPT_STRING(0, "seq", "N,N", struct args, lengths,
               "tokens per sequence (default: 128,1024,4096)"),
    OPT_LAYOUT(struct args, layout),
    OPT_MEASURE(struct args, measure, "repetitions per row (default: 10)"),
    OPT_DB_PLACE(struct args, place),
    OPT_DB_WAIT(struct args, wait),
};

static const struct example examples[] = {
    {"strata db build --config examples/perfdb/tiny-config.json --batch 1 --seq 16 --vocab 100 "
     "--backend cpu --repeat-count 1 --database-path perfdb-tiny",
     "a tiny model on this machine's processors"},
};

struct build_filling {
    const char *dir;
    const struct llm *model;
    const struct build_sizes *sizes;
};

static enum status build_fill(void *ctx, struct diag *d)
{
    const struct build_filling *f = ctx;
    struct build_count count;

    TRY(build_rows(f->dir, f->model, f->sizes, &count, d));
    diag_add(d, SEV_NOTE, "perfdb.model-rows", (struct where){.path = f->dir},
             "%.*s: %llu rows in %llu tables, %llu of them new", STR_ARGS(f->model->name),
             (unsigned long long)count.rows, (unsigned long long)count.tables,
             (unsigned long long)count.added);
    return ST_OK;
}

static int build_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct measure_db_job job;
    struct build_sizes sizes;
    struct opt_model wanted = args->model;
    struct db_ops none = {0};
    struct llm model;

    if (!opt_model_numbers(s, args->batches, &sizes.batches, &sizes.n_batches) ||
        !opt_model_numbers(s, args->lengths, &sizes.lengths, &sizes.n_lengths))
        return session_usage(s, "--batch and --seq are numbers with commas between them");
    TRY_CODE(opt_measure_job(s, &args->measure, &args->place, &none, 10, &job));
    TRY_CODE(opt_model_find(s, &wanted, &model));
    TRY_CODE(opt_layout_find(s, &args->layout, &model, &sizes.layout));
    sizes.layout.pp = 1;
    sizes.types = model.types;
    struct build_filling filling = {job.dir, &model, &sizes};
    job.is_writing = job.is_missing_only = true;
    job.progress = &s->progress;
    job.prepare = build_fill;
    job.prepare_ctx = &filling;
    return opt_measure_run(s, &job, args->wait);
}

const struct command command_db_build = {
    .name = "build",
    .group = GROUP_DATABASE,
    .summary = "derive the operators of a model and measure them",
    .usage = "--model NAME [OPTIONS]",
    .details =
        "Writes the operators that one layer of a model runs, with their shapes, for every batch "
        "and length: once for a whole prompt and once for one more token. Rows that are there are "
        "kept. Then measures the rows that have no duration, as strata db bench --update-mode "
        "missing-only does; run it again to go on after an interruption.",
    .see = "docs/perfdb.md",
    .schemas = {&measured_db_schema},
    COMMAND_PARTS,
    .run = build_run,
};
