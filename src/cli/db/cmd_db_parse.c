/*
 * strata db parse: kernel_details exports become operator tables.
 */
#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "cli/db/opt_db.h"
#include "opdb/aic/aic.h"
#include "opdb/rows/capture_rows.h"
#include "opdb/rows/parse.h"
#include "opdb/rows/table.h"

struct args {
    struct place_args place;
    const char *source;
    bool overwrite, merge;
    int from;
    double wait;
};

enum { FROM_AUTO, FROM_EXPORTS, FROM_CAPTURES, FROM_AIC };
static const char *const sources[] = {"auto", "exports", "captures", "aic", NULL};

static const struct opt options[] = {
    OPT_STRING(0, "profiling-path", "PATH", struct args, source,
               "exports or captures: a file, or a folder to search"),
    OPT_CHOICE(0, "from", sources, struct args, from,
               "exports, captures, aic (default: what is there)"),
    OPT_FLAG(0, "merge", struct args, merge, "keep existing rows and columns"),
    OPT_FLAG(0, "overwrite", struct args, overwrite,
             "replace tables even if that drops measured data"),
    OPT_DB_WAIT(struct args, wait),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db parse --profiling-path examples/perfdb/profile --database-path out/db",
     "one table per operator from a profile"},
    {"strata db parse --profiling-path examples/perfdb/profile --database-path out/db --dry-run",
     "what that would change"},
};

static void parse_give(struct session *s, const struct parse_plan *plan)
{
    for (size_t i = 0; i < plan->files.n; i++) {
        const struct parse_file *f = &plan->files.at[i];
        if (f->rows_dropped == 0 && f->columns_lost.n == 0)
            continue;
        db_message(s, "%s: %sreplaced: %zu rows dropped%s%.*s", f->path,
                   plan->is_dry_run ? "would be " : "", f->rows_dropped,
                   f->columns_lost.n > 0 ? ", columns dropped: " : "", STR_ARGS(f->columns_lost));
    }
    for (size_t i = 0; i < plan->files.n && !plan->is_dry_run; i++)
        session_wrote(s, plan->files.at[i].path);
    session_read(s, plan->source, "kernel-details", plan->kernels.rows, 0);
    session_give(s, &(struct answer){.schema = &parse_schema,
                                     .origin = "measured",
                                     .result = plan,
                                     .print = parse_print,
                                     .names_files = true});
}

/* A table of level 0 in the folder of a rank: its shapes are those of the operators in the trace.
 */
static bool is_level_0(const char *path)
{
    struct mapfile map;
    struct str text, head = S("");
    struct diag none;

    if (!str_contains(str_of(path), S("_ascend_")))
        return false;
    diag_init(&none);
    bool is_read = mapfile_open(&map, path, &none) == ST_OK;
    diag_fini(&none);
    if (!is_read)
        return false;
    text = map.text;
    str_split(&text, '\n', &head);
    bool has_shapes = str_contains(head, S("Input Shapes"));
    mapfile_close(&map);
    return !has_shapes;
}

/* No kernel_details export with shapes at the path: captures of any format. */
static bool is_captures(struct session *s, const struct args *args)
{
    struct str path = str_of(args->source);
    struct fs_list files = {0};
    struct diag none;

    if (args->from != FROM_AUTO)
        return args->from == FROM_CAPTURES;
    if (!fs_is_dir(args->source))
        return fs_exists(args->source) && !str_ends(path, S(".csv"));
    diag_init(&none);
    fs_walk(&s->arena, args->source, NULL, 0, &files, &none);
    diag_fini(&none);
    size_t captures = 0;
    for (size_t i = 0; i < files.n; i++) {
        struct str name = files.at[i].name;
        if (str_ends(name, S(".csv")) && str_contains_nocase(name, S("kernel_details")) &&
            !is_level_0(files.at[i].path))
            return false;
        captures += str_ends(name, S(".json")) || str_ends(name, S(".gz")) ||
                    str_ends(name, S(".db")) || str_ends(name, S(".sqlite"));
    }
    return captures > 0;
}

static int run_captures(struct session *s, const struct args *args, const char *dir)
{
    struct lock lock = {.fd = -1};
    struct capture_rows_count count;

    enum status st = s->common.dry_run ? ST_OK : db_lock(s, dir, args->wait, &lock);
    if (st == ST_OK)
        st = capture_rows(args->source, dir, s->common.dry_run, &count, &s->diag);
    lock_release(&lock);
    if (st != ST_OK)
        return db_code(st);
    session_give(s, &(struct answer){.schema = &capture_rows_schema,
                                     .origin = "measured",
                                     .result = &count,
                                     .describe = capture_rows_describe});
    return CODE_DONE;
}

/* The folder that --database-path or --data-root names holds a folder for each system. */
static int run_aic(struct session *s, const struct args *args)
{
    const char *dir = args->place.database_path;
    struct lock lock = {.fd = -1};
    struct aic_import a;

    if (dir == NULL)
        dir = place_root(&args->place);
    enum status st = aic_find(&a, args->source, dir, &s->diag);
    a.is_dry_run = s->common.dry_run;
    if (st == ST_OK && !a.is_dry_run)
        st = fs_mkdirs(dir, &s->diag);
    if (st == ST_OK && !a.is_dry_run)
        st = db_lock(s, dir, args->wait, &lock);
    if (st == ST_OK)
        st = aic_write(&a, args->overwrite, s->pool, &s->diag);
    lock_release(&lock);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &aic_schema,
                                         .origin = "measured",
                                         .result = &a,
                                         .describe = aic_describe});
    aic_free(&a);
    return db_code(st);
}

/* The source may stand alone: `db parse --from aic DIR`. */
static int parse_run(struct session *s, const void *given)
{
    struct args own = *(const struct args *)given, *args = &own;
    struct lock lock = {.fd = -1};
    struct parse_plan plan;
    const char *dir;

    if (s->operands.n > 1 || (s->operands.n == 1 && args->source != NULL))
        return session_usage(s, "parse reads one path");
    if (s->operands.n == 1)
        own.source = s->operands.at[0];
    if (args->source == NULL)
        return session_usage(s, "parse needs --profiling-path");
    if (args->overwrite && args->merge)
        return session_usage(s, "--merge and --overwrite are mutually exclusive");
    if (args->from == FROM_AIC)
        return run_aic(s, args);
    TRY_CODE(db_place(s, &args->place, &dir));
    if (is_captures(s, args))
        return run_captures(s, args, dir);
    enum parse_mode mode = args->merge       ? PARSE_MERGE
                           : args->overwrite ? PARSE_OVERWRITE
                                             : PARSE_CAREFUL;
    TRY_CODE(db_code(s->common.dry_run ? ST_OK : db_lock(s, dir, args->wait, &lock)));
    enum status st = parse_plan(&plan, args->source, dir, mode, &s->diag);
    plan.source = args->source;
    plan.is_dry_run = s->common.dry_run;
    if (st == ST_OK && !plan.is_dry_run)
        st = parse_write(&plan, &s->diag);
    lock_release(&lock);
    if (st == ST_OK)
        parse_give(s, &plan);
    bool is_whole = plan.n_skipped == 0;
    parse_plan_free(&plan);
    return st == ST_OK && !is_whole ? CODE_NO : db_code(st);
}

const struct command command_db_parse = {
    .name = "parse",
    .group = GROUP_DATABASE,
    .summary = "import profiles: one table per operator",
    .usage = "[OPTIONS] PATH",
    .details =
        "Groups the rows of all kernel_details exports by operator and shapes and writes one table "
        "per operator with the average, median and spread of the durations and the average of "
        "every counter. Rows without shapes (communication) are skipped. Fused attention gets its "
        "runtime columns, with the help of operator_details.csv.\n"
        "\n"
        "Captures of any format (Kineto, nsys, Ascend databases and tables) give rows too: a "
        "kernel counts for the operator that launched it, with the recorded shapes and types; "
        "collectives whose size is recorded become hcom rows. They are merged: rows of the same "
        "call get the new figures. A file that cannot be read is reported and left out.\n"
        "\n"
        "--from aic reads the Parquet files of AIConfigurator: each SYSTEM/ENGINE/VERSION becomes "
        "a database below --database-path. Rows that are faster than the device can be are left "
        "out and counted by file.\n"
        "\n"
        "A table written by an earlier parse is replaced. If a table holds more (replayed "
        "durations, extra columns), parse stops: --merge keeps the extra data and updates the "
        "profiled figures, --overwrite drops it. --dry-run prints the changes and writes nothing.",
    .see = "docs/perfdb.md",
    .common = COMMON_DRY_RUN | COMMON_JOBS,
    .operands = {.max = 1},
    .schemas = {&parse_schema, &capture_rows_schema, &aic_schema},
    COMMAND_PARTS_ZERO,
    .run = parse_run,
};
