/*
 * strata db build: from a model to a measured database.
 */
#include "cli/db/opt_measure.h"
#include "cli/db/opt_model.h"
#include "opdb/grid/grid_run.h"
#include "opdb/rows/build_rows.h"

struct args {
    struct opt_measure measure;
    struct place_args place;
    struct opt_model model;
    const char *batches, *lengths;
    int64_t tp, vocab;
    double wait;
};

static const struct args defaults = {.measure = OPT_MEASURE_DEFAULTS,
                                     .batches = "1,8,32",
                                     .lengths = "128,1024,4096",
                                     .tp = 1,
                                     .vocab = 151936};

static const struct opt options[] = {
    OPT_MODEL(struct args, model),
    OPT_STRING(0, "batch", "N,N", struct args, batches, "sequences at a time (default: 1,8,32)"),
    OPT_STRING(0, "seq", "N,N", struct args, lengths,
               "tokens per sequence (default: 128,1024,4096)"),
    OPT_INT(0, "tp", "N", struct args, tp, 1, 1024, "tensor-parallel size (default: 1)"),
    OPT_INT(0, "vocab", "N", struct args, vocab, 1, 1 << 24,
            "size of the vocabulary (default: 151936)"),
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
    const struct grid_model *model;
    const struct build_sizes *sizes;
};

static enum status build_fill(void *ctx, struct diag *d)
{
    const struct build_filling *f = ctx;
    struct build_count count;

    TRY(build_rows(f->dir, f->model, f->sizes, &count, d));
    diag_add(d, SEV_NOTE, "perfdb.model-rows", (struct where){.path = f->dir},
             "%.*s: %llu rows in %llu tables, %llu of them new", STR_ARGS(f->model->id),
             (unsigned long long)count.rows, (unsigned long long)count.tables,
             (unsigned long long)count.added);
    return ST_OK;
}

static int build_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct measure_db_job job;
    struct build_sizes sizes = {.tp = args->tp, .vocab = args->vocab};
    const struct grid_model *model = NULL;
    struct db_ops none = {0};
    struct grid_run grid;

    if (!opt_model_numbers(s, args->batches, &sizes.batches, &sizes.n_batches) ||
        !opt_model_numbers(s, args->lengths, &sizes.lengths, &sizes.n_lengths))
        return session_usage(s, "--batch and --seq are numbers with commas between them");
    TRY_CODE(opt_measure_job(s, &args->measure, &args->place, &none, 10, &job));
    TRY_CODE(opt_model_find(s, &args->model, &grid, &model));
    int code = opt_model_check(s, model, args->tp, 1);
    if (code == CODE_DONE) {
        struct build_filling filling = {job.dir, model, &sizes};
        job.is_writing = job.is_missing_only = true;
        job.progress = &s->progress;
        job.prepare = build_fill;
        job.prepare_ctx = &filling;
        code = opt_measure_run(s, &job, args->wait);
    }
    grid_run_close(&grid);
    return code;
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
