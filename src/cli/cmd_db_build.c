/*
 * strata db build: from a model to a measured database.
 */
#include "cli/opt_measure.h"
#include "flow/build_rows.h"
#include "perfdb/grid_run.h"

struct args {
    struct opt_measure measure;
    struct place_args place;
    const char *model, *config, *batches, *lengths;
    int64_t tp, vocab;
    double wait;
};

static const struct args defaults = {.measure = {.backend = "auto"},
                                     .batches = "1,8,32",
                                     .lengths = "128,1024,4096",
                                     .tp = 1,
                                     .vocab = 151936};

static const struct opt options[] = {
    OPT_GROUP("Model"),
    OPT_STRING(0, "model", "NAME", struct args, model, "model by name, such as qwen3-8b"),
    OPT_STRING(0, "config", "FILE", struct args, config, "config.json of a model not built in"),
    OPT_STRING(0, "model-config", "FILE", struct args, config, "same as --config"),
    OPT_STRING(0, "batch", "N,N", struct args, batches, "sequences at a time (default: 1,8,32)"),
    OPT_STRING(0, "seq", "N,N", struct args, lengths,
               "tokens per sequence (default: 128,1024,4096)"),
    OPT_INT(0, "tp", "N", struct args, tp, 1, 1024, "tensor-parallel size (default: 1)"),
    OPT_INT(0, "vocab", "N", struct args, vocab, 1, 1 << 24,
            "size of the vocabulary (default: 151936)"),
    OPT_MEASURE(struct args, measure, "repetitions per row (default: 10)"),
    OPT_DB_PLACE(struct args, place),
    OPT_DB_WAIT(struct args, wait),
    OPT_END,
};

static const struct example examples[] = {
    {"strata db build --config examples/perfdb/tiny-config.json --batch 1 --seq 16 --vocab 100 "
     "--backend cpu --repeat-count 1 --database-path perfdb-tiny",
     "a tiny model on this machine's processors"},
    {0},
};

/* Models that the grids do not have. */
static const struct grid_model others[] = {
    {.id = S_INIT("Qwen/Qwen3-8B"),
     .key = S_INIT("qwen38b"),
     .aliases = (const struct str[]){S_INIT("qwen38b")},
     .aliases_n = 1,
     .hidden = 4096,
     .ffn_inter = 12288,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128},
    {.id = S_INIT("Qwen/Qwen3-4B"),
     .key = S_INIT("qwen34b"),
     .aliases = (const struct str[]){S_INIT("qwen34b")},
     .aliases_n = 1,
     .hidden = 2560,
     .ffn_inter = 9728,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128},
    {.id = S_INIT("meta-llama/Meta-Llama-3-8B"),
     .key = S_INIT("llama38b"),
     .aliases = (const struct str[]){S_INIT("llama38b")},
     .aliases_n = 1,
     .hidden = 4096,
     .ffn_inter = 14336,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128},
};

static enum status find_model(struct session *s, const struct args *args, struct grid_run *run,
                              const struct grid_model **out)
{
    const struct grid_models more = {others, ARRAY_LEN(others)};
    struct grid_options o = {.target_models = args->model};
    bool is_alias;

    if (args->model != NULL && args->config == NULL &&
        (*out = grid_models_find(&more, str_of(args->model), &is_alias)) != NULL)
        return grid_run_open(run, &(struct grid_options){0}, &s->diag);
    if (args->config != NULL) {
        const char **files = ARENA_ARRAY(&s->arena, const char *, 1);
        files[0] = args->config;
        o.configs = (struct words){files, 1, 1};
    }
    enum status st = grid_run_open(run, &o, &s->diag);
    if (st == ST_NOT_FOUND && args->config == NULL)
        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            diag_hint(&s->diag, i == 0 ? "also" : "", "%.*s", STR_ARGS(others[i].id));
    if (st != ST_OK)
        return st;
    if (run->targets.n == 0)
        return diag_fail(&s->diag, ST_NOT_FOUND, "grid.unknown-model",
                         (struct where){.path = args->config}, "no model in this file");
    *out = &run->targets.at[0];
    return ST_OK;
}

/* "1,8,32"; false for what is no list of numbers from 1 to a million. */
static bool numbers_of(struct session *s, const char *text, const int64_t **out, size_t *n)
{
    enum { MOST = 1000000 };
    struct str rest = str_of(text), part;
    int64_t *list = ARENA_ARRAY(&s->arena, int64_t, rest.n + 1);

    for (*n = 0; str_split(&rest, ',', &part); (*n)++)
        if (!num_i64(part, &list[*n]) || list[*n] < 1 || list[*n] > MOST)
            return false;
    *out = list;
    return *n > 0;
}

static int fill(struct session *s, const struct args *args, const struct grid_model *model,
                const struct build_sizes *sizes, struct flow_measure_job *job)
{
    struct lock lock = {.fd = -1};
    struct build_count count;

    enum status st = db_lock(s, job->dir, args->wait, &lock);
    if (st == ST_OK)
        st = build_rows(job->dir, model, sizes, &count, &s->diag);
    lock_release(&lock);
    if (st != ST_OK)
        return db_code(st);
    diag_add(&s->diag, SEV_NOTE, "perfdb.model-rows", (struct where){.path = job->dir},
             "%.*s: %llu rows in %llu tables, %llu of them new", STR_ARGS(model->id),
             (unsigned long long)count.rows, (unsigned long long)count.tables,
             (unsigned long long)count.added);
    job->is_writing = job->is_missing_only = true;
    return opt_measure_run(s, job, args->wait);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct flow_measure_job job = {.progress = &s->progress};
    struct build_sizes sizes = {.tp = args->tp, .vocab = args->vocab};
    const struct grid_model *model = NULL;
    struct db_ops none = {0};
    struct grid_run grid;

    if (args->model == NULL && args->config == NULL)
        return session_usage(s, "--model or --config is needed");
    if (!numbers_of(s, args->batches, &sizes.batches, &sizes.n_batches) ||
        !numbers_of(s, args->lengths, &sizes.lengths, &sizes.n_lengths))
        return session_usage(s, "--batch and --seq are numbers with commas between them");
    int code = opt_measure_job(s, &args->measure, &args->place, &none, 10, &job);
    if (code != CODE_DONE)
        return code;
    enum status st = find_model(s, args, &grid, &model);
    code = st == ST_OK ? fill(s, args, model, &sizes, &job) : db_code(st);
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
    .schemas = {&flow_measure_schema},
    COMMAND_PARTS,
};
