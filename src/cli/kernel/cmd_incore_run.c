/*
 * strata incore run: every kernel of a build, profiled.
 */
#include <limits.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "cli/session.h"
#include "kernels/incore/incore_run_job.h"
#include "kernels/replay/paths.h"
#include "report/report.h"

static const char *const backends[] = {"auto", "sim", "msprof", NULL};
static const char *const targets[] = {"auto", "a2a3", "a5", NULL};

struct args {
    struct incore_run_job job;
    int target;
    bool list_only;
    int64_t msprof_timeout;
};

static const struct args defaults = {
    .job =
        {
            .task_device = "auto",
            .name = "kernel_insight_all_funcs",
            .keep_going = true,
            .launch_count = 1,
            .step_seconds = 300,
            .build_seconds = 600,
            .sim_minutes = 3,
            .wall_seconds = 300,
        },
};

static const struct opt options[] = {
    OPT_CHOICE(0, "backend", backends, struct args, job.backend,
               "simulator; auto: msprof if CANN is installed, else sim"),
    OPT_CHOICE(0, "target", targets, struct args, target, "chip; auto: as stated in the kernels"),
    OPT_LIST(0, "func", "NAME", struct args, job.find.funcs, "only this kernel; repeatable"),
    OPT_FLAG(0, "list-funcs", struct args, list_only, "list the kernels and exit"),
    OPT_FLAG(0, "resume", struct args, job.resume, "continue the last run, or the run in RUN-DIR"),
    OPT_FLAG(0, "clean", struct args, job.clean, "also write a cleaned trace of each kernel"),
    OPT_FLAG(0, "keep-going", struct args, job.keep_going,
             "continue after a failed kernel (default: on)"),
    OPT_GROUP("Kernel arguments"),
    OPT_LIST(0, "arg", "NAME=VALUE", struct args, job.args,
             "scalar argument, by name or number; repeatable"),
    OPT_LIST(0, "input", "NAME=FILE", struct args, job.inputs,
             "buffer contents, raw little-endian data"),
    OPT_LIST(0, "fill", "NAME=RULE", struct args, job.fills,
             "buffer fill: zero, one, random, iota or const:V"),
    OPT_LIST(0, "dim", "NAME=VALUE", struct args, job.dims,
             "dimension that no argument sets (a placeholder)"),
    OPT_FLAG(0, "allow-synthetic", struct args, job.allow_synthetic,
             "accept kernels whose control inputs have no data"),
    OPT_GROUP("Kernel selection"),
    OPT_STRING(0, "build-dir", "DIR", struct args, job.find.build_dir, "build folder"),
    OPT_STRING(0, "case", "FILE", struct args, job.case_script,
               "script to run first; words after -- are its arguments"),
    OPT_STRING(0, "run-cmd", "TEXT", struct args, job.run_command, "shell command to run first"),
    OPT_LIST(0, "run-env", "NAME=VALUE", struct args, job.case_env,
             "environment variable for --case or --run-cmd"),
    OPT_FLAG(0, "task-submit", struct args, job.task_submit, "run the case through task-submit"),
    OPT_STRING(0, "task-device", "NAME", struct args, job.task_device,
               "device for task-submit (default: auto)"),
    OPT_STRING(0, "build-output-root", "DIR", struct args, job.build_output_root,
               "folder where cases put builds (default: build_output)"),
    OPT_STRING(0, "ptoas-dir", "DIR", struct args, job.find.ptoas_dir, "folder with the kernels"),
    OPT_STRING(0, "source-glob", "PATTERN", struct args, job.find.source_glob,
               "pattern of kernel files"),
    OPT_GROUP("Results"),
    OPT_STRING(0, "output-root", "DIR", struct args, job.output_root, "same as --out"),
    OPT_STRING(0, "name", "NAME", struct args, job.name, "prefix of the run folder's name"),
    OPT_GROUP("Vendor simulator"),
    OPT_STRING(0, "cann-set-env", "FILE", struct args, job.cann_set_env, "CANN's set_env.sh"),
    OPT_STRING(0, "pto-isa-root", "DIR", struct args, job.pto_isa_root,
               "pto-isa checkout ($PTO_ISA_ROOT or ~/pto-isa)"),
    OPT_STRING(0, "ptoas-root", "DIR", struct args, job.ptoas_root,
               "generate cases with this PTOAS checkout"),
    OPT_STRING(0, "chip", "NAME", struct args, job.soc, "chip to simulate", .alias = "soc-version"),
    OPT_STRING(0, "aicore-arch", "NAME", struct args, job.arch,
               "compiler architecture ($AICORE_ARCH)"),
    OPT_STRING(0, "msopprof", "FILE", struct args, job.msopprof,
               "msopprof worker to copy into CANN"),
    OPT_FLAG(0, "auto-msopprof", struct args, job.auto_msopprof,
             "copy the worker from another CANN if missing"),
    OPT_INT(0, "launch-count", "N", struct args, job.launch_count, 1, 5000,
            "launches to collect (default: 1)"),
    OPT_INT(0, "sim-minutes", "N", struct args, job.sim_minutes, 1, 2880,
            "msprof's simulation limit in minutes (default: 3)"),
    OPT_FLAG(0, "trust", struct args, job.is_trusted,
             "no sandbox needed; the compiler may read all files"),
    OPT_INT(0, "wall-seconds", "N", struct args, job.wall_seconds, 1, 1000000,
            "time limit for msprof in seconds (default: 300)"),
    OPT_INT(0, "msprof-timeout", "N", struct args, msprof_timeout, 1, 1000000,
            "old name of --wall-seconds"),
    OPT_INT(0, "step-timeout", "N", struct args, job.step_seconds, 1, 1000000,
            "seconds per generation step (default: 300)"),
    OPT_INT(0, "build-timeout", "N", struct args, job.build_seconds, 1, 1000000,
            "seconds for the build (default: 600)"),
};

/* ---- the job ---- */

static bool has_equal_signs(const struct words *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct str text = str_of(list->at[i]);
        size_t at = str_find_char(text, '=');
        if (at == 0 || at + 1 >= text.n)
            return false;
    }
    return true;
}

static int run_check(struct session *s, const struct incore_run_job *job)
{
    const struct {
        const char *option;
        const struct words *list;
    } given[] = {{"--arg", &job->args},
                 {"--input", &job->inputs},
                 {"--fill", &job->fills},
                 {"--dim", &job->dims}};

    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        if (!has_equal_signs(given[i].list))
            return session_usage(s, "%s must be NAME=VALUE", given[i].option);
    for (size_t i = 0; i < job->case_env.n; i++)
        if (strchr(job->case_env.at[i], '=') == NULL)
            return session_usage(s, "--run-env must be KEY=VALUE, not %s", job->case_env.at[i]);
    if (job->case_script != NULL && job->run_command != NULL)
        return session_usage(s, "use either --run-cmd or --case, not both");
    if (!fs_is_name(job->name))
        return session_usage(s, "--name must be a folder name, not a path");
    return CODE_DONE;
}

/* Operands are the case's arguments, or a build folder and, with --resume, a run folder. */
static int take_operands(struct session *s, struct incore_run_job *job)
{
    if (job->case_script != NULL) {
        job->case_args = s->operands;
        return CODE_DONE;
    }
    for (size_t i = 0; i < s->operands.n; i++) {
        const char *word = s->operands.at[i];
        if (job->resume && job->resume_root == NULL &&
            fs_exists(fs_join(&s->arena, word, "README.txt")) &&
            fs_is_dir(fs_join(&s->arena, word, "funcs")))
            job->resume_root = word;
        else if (job->find.build_dir == NULL)
            job->find.build_dir = word;
        else
            return session_usage(s, "only one build folder is allowed: %s", word);
    }
    if (job->find.build_dir == NULL && job->resume_root != NULL)
        job->find.build_dir = incore_run_build_of(&s->arena, job->resume_root);
    if (job->find.build_dir != NULL || job->run_command != NULL)
        return CODE_DONE;
    if (job->find.source_glob == NULL)
        return session_usage(s, "provide --build-dir, --case, or --run-cmd");
    job->find.build_dir = ".";
    return CODE_DONE;
}

/* What the command line leaves to be worked out. */
static int complete(struct session *s, const struct args *a, struct incore_run_job *job)
{
    const char *dir = job->find.build_dir;
    char here[PATH_MAX];

    if (getcwd(here, sizeof(here)) != NULL)
        job->repo_root = paths_repository(&s->arena, arena_cstr(&s->arena, str_of(here)));
    if (dir != NULL && dir[0] != '/' && job->repo_root != NULL && !fs_exists(dir)) {
        const char *there =
            fs_join(&s->arena, job->repo_root, dir); /* as the public tool reads it */
        job->find.build_dir = fs_exists(there) ? there : dir;
    }
    if (job->build_output_root == NULL)
        job->build_output_root = job->repo_root != NULL
                                     ? fs_join(&s->arena, job->repo_root, "build_output")
                                     : "build_output";
    if (a->msprof_timeout > 0)
        job->wall_seconds = a->msprof_timeout;
    if (s->common.out != NULL)
        job->output_root = s->common.out;
    job->target = a->target > 0 ? targets[a->target] : NULL;
    job->command = "strata incore run";
    job->jobs = s->common.jobs;
    job->progress = &s->progress;
    return take_operands(s, job);
}

/* ---- the report ---- */

static bool has_cycles(const struct run_row *row)
{
    return row->cycles > 0 && run_row_is_exported(row);
}

static void run_add_pipes(struct report *r, const struct run_row *row, bool is_first)
{
    struct str busy = S("");

    for (size_t i = 0; i < row->n_pipes; i++)
        busy = arena_format(&r->arena, "%.*s%s%s %.0f %%", STR_ARGS(busy), i > 0 ? ", " : "",
                            row->pipes[i].name, 100 * row->pipes[i].share);
    busy = arena_format(&r->arena, "  %s: busy %.*s", out_clean(&r->arena, str_of(row->func)),
                        STR_ARGS(busy));
    if (is_first)
        report_text(r, busy);
    else
        report_line_text(r, busy);
    for (size_t k = 0; k < row->n_advice; k++)
        report_line(r, "    %zu. %s", k + 1, row->advice[k]);
}

static void run_put_real(struct report *r, struct table *t, int decimals, double value,
                         const char *unit)
{
    table_text(r, t, arena_format(&r->arena, "%.*f%s", decimals, value, unit));
}

static void run_add_table(struct report *r, const struct run_rows *rows)
{
    static const struct column columns[] = {
        {"kernel", COLUMN_TEXT, 0},   {"cycles", COLUMN_NUMBER, UNIT_COUNT},
        {"us", COLUMN_RIGHT, 0},      {"critical pipe", COLUMN_TEXT, 0},
        {"share", COLUMN_RIGHT, 0},   {"bound by", COLUMN_TEXT, 0},
        {"op/byte", COLUMN_RIGHT, 0},
    };
    struct table *t = NULL;
    bool is_first = true;

    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *row = &rows->at[i];
        if (!has_cycles(row))
            continue;
        if (t == NULL)
            t = report_table(r, columns, ARRAY_LEN(columns));
        table_text(r, t, str_of(row->func));
        table_number(t, (double)row->cycles);
        run_put_real(r, t, 2, row->span_us, "");
        table_text(r, t, str_of(row->critical));
        run_put_real(r, t, 0, 100 * row->critical_share, " %");
        table_text(r, t, str_of(row->bound));
        if (row->intensity >= 0)
            run_put_real(r, t, 1, row->intensity, "");
        else
            table_text(r, t, S("-"));
    }
    for (size_t i = 0; i < rows->n; i++)
        if (has_cycles(&rows->at[i])) {
            run_add_pipes(r, &rows->at[i], is_first);
            is_first = false;
        }
}

static void run_describe(const void *result, struct report *r)
{
    const struct incore_run_result *x = result;
    size_t exported = run_rows_exported(&x->rows);
    struct str failed = S("");

    if (x->resumed > 0)
        report_line(r, "%zu kernel%s done before", x->resumed, x->resumed == 1 ? "" : "s");
    run_add_table(r, &x->rows);
    report_say(r, "RUN_ROOT %s", out_clean(&r->arena, str_of(x->run_root)));
    report_line(r, "EXPORTED %zu/%zu", exported, x->rows.n);
    for (size_t i = 0; i < x->rows.n; i++) {
        const struct run_row *row = &x->rows.at[i];
        if (!run_row_is_exported(row))
            failed =
                arena_format(&r->arena, "%.*s%s%s:%s", STR_ARGS(failed), failed.n > 0 ? "," : "",
                             out_clean(&r->arena, str_of(row->func)), row->status);
    }
    if (failed.n > 0)
        report_line(r, "FAILED_FUNCS %.*s", STR_ARGS(failed));
}

static void describe_list(const void *result, struct report *r)
{
    const struct field_items *kernels = result;
    const struct kernel_source *at = kernels->at;

    for (size_t i = 0; i < kernels->n; i++)
        report_line(r, "%s\t%s", out_clean(&r->arena, str_of(at[i].stem)),
                    out_clean(&r->arena, str_of(at[i].path)));
}

/* ---- running ---- */

static void run_say(void *ctx, const char *line)
{
    session_say(ctx, line);
}

static int list(struct session *s, struct incore_run_job *job)
{
    struct kernel_sources kernels;

    TRY_CODE(session_code(incore_run_list(job, &s->arena, &kernels, &s->diag)));
    session_give(s, &(struct answer){.schema = &discover_schema,
                                     .result = &(struct field_items){kernels.at, kernels.n},
                                     .describe = describe_list});
    return CODE_DONE;
}

static int run(struct session *s, const void *given_args)
{
    const struct args *a = given_args;
    struct incore_run_result result;
    struct incore_run_job job = a->job;

    TRY_CODE(run_check(s, &job));
    TRY_CODE(complete(s, a, &job));
    if (a->msprof_timeout > 0)
        diag_add(&s->diag, SEV_WARN, "incore-run.old-option", (struct where){0},
                 "--msprof-timeout sets --wall-seconds; msprof's own limit is --sim-minutes");
    if (a->list_only)
        return list(s, &job);
    job.say = run_say;
    job.say_ctx = s;
    enum status status = incore_run_run(&job, &s->diag, &result);
    if (status == ST_OK)
        session_give(s, &(struct answer){.schema = &incore_run_schema,
                                         .origin = "simulated",
                                         .result = &result,
                                         .describe = run_describe});
    bool is_whole = status != ST_OK || run_rows_exported(&result.rows) == result.rows.n;
    incore_run_result_free(&result);
    return is_whole ? session_code(status) : CODE_NO;
}

static const struct example examples[] = {
    {"strata incore run examples/pto --list-funcs", "list the kernels of a folder"},
    {"strata incore run examples/pto -o run --backend sim --target a2a3",
     "run all on the built-in simulator"},
    {"strata incore run examples/pto -o run --backend sim --func matmul --json",
     "one kernel, as JSON"},
};

const struct command command_incore_run = {
    .name = "run",
    .group = GROUP_KERNELS,
    .summary = "run every kernel of a build on the core simulator",
    .usage = "[OPTIONS] [BUILD-DIR] [RUN-DIR]",
    .details =
        "Finds the kernels of a PyPTO build, runs each on the built-in simulator (or on "
        "`msprof op simulator` if CANN is installed), and writes the same artifacts in both "
        "cases: funcs/KERNEL/collect/out/OPPROF_*/simulator with files for MindStudio "
        "Insight, plus manifest_export.csv, summary.txt and manifest.json.\n"
        "\n"
        "A run is a new folder in -o, or in ./strata-out; the build stays as it is. A failed "
        "kernel does not stop the others; the exit code is then 1. --resume "
        "continues an interrupted run.",
    .see = "docs/incore-run.md",
    .operands = {.kind = OPERAND_DIR, .min = 0, .max = 4096},
    .common = COMMON_OUT | COMMON_JOBS,
    .schemas = {&incore_run_schema, &discover_schema},
    COMMAND_PARTS,
    .run = run,
};
