/*
 * strata db grid: rows with realistic shapes, to be measured by a later replay.
 */
#include "base/files/embedded.h"
#include "base/files/fs.h"
#include "cli/db/opt_db.h"
#include "opdb/grid/grid_run.h"
#include "opdb/grid/grid_shapes.h"

struct args {
    struct grid_options job;
    struct place_args place;
    bool is_printing;
    double wait;
};

static const struct args defaults = {.job = {.rows = 1000, .memory_gib = 32}};

static const struct opt options[] = {
    OPT_GROUP("Shapes"),
    OPT_STRING(0, "target-models", "IDS", struct args, job.target_models,
               "models to cover, separated by commas (default: all)"),
    OPT_LIST(0, "model-config", "FILE", struct args, job.configs,
             "config.json of a model not built in; repeatable"),
    OPT_FLAG(0, "strict-model-ids", struct args, job.is_strict, "reject short model names"),
    OPT_INT(0, "rows", "N", struct args, job.rows, INT64_MIN, INT64_MAX,
            "maximum new rows per table, 0: no limit (default: 1000)"),
    OPT_STRING(0, "seed", "N", struct args, job.seed, "random seed, an integer"),
    OPT_DOUBLE(0, "max-hbm-gb", "GIB", struct args, job.memory_gib,
               "memory limit per row in GiB, 0: no limit (default: 32)"),
    OPT_FLAG(0, "replayable-weights", struct args, job.is_replayable,
             "write grouped weights in the layout replay expects"),
    OPT_STRING(0, "rules", "FILE", struct args, job.rules,
               "grids, patterns and models (YAML) instead of built-in"),
    OPT_FLAG(0, "print-rules", struct args, is_printing, "print the built-in rules and exit"),
    OPT_DB_PLACE(struct args, place),
    OPT_STRING(0, "data-dir", "DIR", struct args, place.database_path, "same as --database-path"),
    OPT_DB_WAIT(struct args, wait),
};

static const struct example examples[] = {
    {"strata db grid --database-path examples/perfdb/grid --rows 20 --seed 1 --dry-run",
     "twenty rows per operator, without writing"},
    {"strata db grid --database-path examples/perfdb/grid --target-models Qwen/Qwen3-32B --rows 0 "
     "--dry-run",
     "all shapes of one model, without writing"},
    {"strata db grid --print-rules", "the built-in rules, as a starting point"},
};

/* Which folders are written, and held for it. */
struct place {
    const char *dir;
    struct lock *locks;
    size_t locks_n;
};

static int find_place(struct session *s, const struct args *args, struct place *place)
{
    const struct place_args *p = &args->place;
    const char *problem = place_problem(&s->arena, p);

    if (problem != NULL)
        return session_usage(s, "%s", problem);
    if (p->database_path != NULL || p->vllm != NULL || p->stack_version != NULL)
        return db_code(place_resolve(&s->arena, p, &place->dir, &s->diag));
    place->dir = place_root(p);
    return CODE_DONE;
}

/* The folder itself and, below the root of a tree (<device>/<family>/<version>), the folders that
 * other writers lock. */
static enum status take_locks(struct session *s, const struct args *args, struct place *place)
{
    enum { VERSION_DEPTH = 3 };
    struct fs_list list = {0};

    if (args->place.database_path == NULL)
        TRY(fs_walk(&s->arena, place->dir, NULL, 0, &list, &s->diag));
    place->locks = ARENA_ARRAY(&s->arena, struct lock, list.n + 1);
    TRY(db_lock(s, place->dir, args->wait, &place->locks[0]));
    place->locks_n = 1;
    for (size_t i = 0; i < list.n; i++) {
        if (list.at[i].kind != FS_DIR || list.at[i].depth != VERSION_DEPTH)
            continue;
        TRY(db_lock(s, list.at[i].path, args->wait, &place->locks[place->locks_n]));
        place->locks_n++;
    }
    return ST_OK;
}

struct teller {
    struct session *s;
    const struct grid_run *run;
};

static void print_file(void *ctx, const struct grid_file *f)
{
    const struct teller *t = ctx;
    struct session *s = t->s;

    if (f->fill.too_big > 0)
        db_message(s, "[MEMORY] %.*s: filtered %zu/%zu rows exceeding %.*s HBM budget",
                   STR_ARGS(f->name), f->fill.too_big, f->fill.made,
                   STR_ARGS(grid_memory_text(&s->arena, t->run->budget)));
    if (f->is_written)
        session_wrote(s, f->path);
}

static enum status run_grid(struct session *s, const struct args *args, struct grid_run *run,
                            struct place *place)
{
    TRY(grid_run_scan(run, place->dir, &s->diag));
    if (!s->common.dry_run)
        TRY(take_locks(s, args, place));
    TRY(grid_run_fill(run, print_file, &(struct teller){s, run}, &s->diag));
    session_give(s, &(struct answer){.schema = &grid_schema,
                                     .result = run,
                                     .print = grid_run_print,
                                     .names_files = true});
    return ST_OK;
}

static int db_grid_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct place place = {0};
    struct grid_random probe;
    struct grid_run grid;

    if (args->is_printing) {
        out_bytes(&s->out, embedded_file("perfdb/grid.yaml"));
        out_text(&s->out, "\n");
        out_bytes(&s->out, embedded_file("perfdb/models.yaml"));
        return CODE_DONE;
    }
    if (args->job.seed != NULL && !grid_random_seed_text(&probe, str_of(args->job.seed)))
        return session_usage(s, "--seed must be an integer, not \"%s\"", args->job.seed);
    TRY_CODE(find_place(s, args, &place));
    struct grid_options o = args->job;
    o.is_dry_run = s->common.dry_run;
    enum status st = grid_run_open(&grid, &o, &s->diag);
    if (st == ST_OK)
        st = run_grid(s, args, &grid, &place);
    while (place.locks_n > 0)
        lock_release(&place.locks[--place.locks_n]);
    grid_run_close(&grid);
    return db_code(st);
}

const struct command command_db_grid = {
    .name = "grid",
    .group = GROUP_DATABASE,
    .summary = "append rows with realistic shapes for a replay to measure",
    .usage = "[OPTIONS]",
    .details =
        "Appends rows without timing to the operator tables of a database, so that a later replay "
        "measures shapes that no profile contains. Rules decide the shapes of an operator: grids "
        "of values, patterns that turn them into shapes, and model dimensions. The first row of a "
        "table is the template for data types and formats. Existing rows are not added again.\n"
        "\n"
        "If there are more shapes than --rows, a random sample is taken; --seed makes it "
        "reproducible. Rows whose operands need more memory than --max-hbm-gb are skipped. Without "
        "--database-path or --vllm-version the whole tree below the data root is filled.\n"
        "\n"
        "--dry-run prints the changes and writes nothing.",
    .see = "docs/perfdb-grid.md",
    .common = COMMON_DRY_RUN,
    .schemas = {&grid_schema},
    COMMAND_PARTS,
    .run = db_grid_run,
};
