/*
 * strata incore run: every kernel of a build, profiled.
 */
#include <limits.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "cli/session.h"
#include "kernels/incore/incore_run_job.h"
#include "kernels/replay/paths.h"

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
    if (job->find.build_dir == NULL && job->resume_root != NULL) { /* it lies in its build */
        struct str path = str_of(job->resume_root);
        while (path.n > 1 && path.at[path.n - 1] == '/')
            path.n--;
        path.n -= str_basename(path).n;
        job->find.build_dir = path.n > 0 ? arena_cstr(&s->arena, path) : ".";
    }
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

/* ---- the table ---- */

static void print_pipes(struct session *s, const struct run_row *r)
{
    for (size_t i = 0; i < r->n_pipes; i++)
        out_printf(&s->out, "%s%s %.0f %%", i > 0 ? ", " : "", r->pipes[i].name,
                   100 * r->pipes[i].share);
    out_text(&s->out, "\n");
}

static const char *run_cell(struct session *s, int decimals, double value, const char *unit)
{
    return arena_printf(&s->arena, "%.*f%s", decimals, value, unit);
}

static void print_table(struct session *s, const struct run_rows *rows)
{
    static const struct out_column columns[] = {
        {"kernel", false}, {"cycles", true},    {"us", true},      {"critical pipe", false},
        {"share", true},   {"bound by", false}, {"op/byte", true},
    };
    const char **cells = ARENA_ARRAY(&s->arena, const char *, rows->n *ARRAY_LEN(columns) + 1);
    size_t n = 0;

    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *r = &rows->at[i];
        if (r->cycles <= 0 || !run_row_is_exported(r))
            continue;
        const char **c = &cells[n++ * ARRAY_LEN(columns)];
        c[0] = out_clean(&s->arena, str_of(r->func));
        c[1] = run_cell(s, 0, (double)r->cycles, "");
        c[2] = run_cell(s, 2, r->span_us, "");
        c[3] = r->critical;
        c[4] = run_cell(s, 0, 100 * r->critical_share, " %");
        c[5] = r->bound;
        c[6] = r->intensity >= 0 ? run_cell(s, 1, r->intensity, "") : "-";
    }
    if (n == 0)
        return;
    out_text(&s->out, "\n");
    out_table(&s->out, columns, ARRAY_LEN(columns), cells, n);
    out_text(&s->out, "\n");
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *r = &rows->at[i];
        if (r->cycles <= 0 || !run_row_is_exported(r))
            continue;
        out_printf(&s->out, "  %s: busy ", out_clean(&s->arena, str_of(r->func)));
        print_pipes(s, r);
        for (size_t k = 0; k < r->n_advice; k++)
            out_printf(&s->out, "    %zu. %s\n", k + 1, r->advice[k]);
    }
}

static void print_end(struct session *s, const struct incore_run_result *r)
{
    size_t exported = run_rows_exported(&r->rows);
    bool is_first = true;

    if (r->resumed > 0)
        out_printf(&s->out, "%zu kernel%s done before\n", r->resumed, r->resumed == 1 ? "" : "s");
    print_table(s, &r->rows);
    out_printf(&s->out, "\nRUN_ROOT %s\nEXPORTED %zu/%zu\n", r->run_root, exported, r->rows.n);
    if (exported == r->rows.n)
        return;
    out_text(&s->out, "FAILED_FUNCS ");
    for (size_t i = 0; i < r->rows.n; i++) {
        if (run_row_is_exported(&r->rows.at[i]))
            continue;
        out_printf(&s->out, "%s%s:%s", is_first ? "" : ",",
                   out_clean(&s->arena, str_of(r->rows.at[i].func)), r->rows.at[i].status);
        is_first = false;
    }
    out_text(&s->out, "\n");
}

/* ---- running ---- */

static void run_say(void *ctx, const char *line)
{
    struct session *s = ctx;
    struct str wipe =
        progress_end(&s->progress_line); /* the line of progress is not ours to join */

    if (wipe.n > 0 && !s->is_embedded && write(STDERR_FILENO, wipe.at, wipe.n) < 0)
        return;
    out_printf(&s->out, "%s\n", out_clean(&s->arena, str_of(line)));
    out_flush(&s->out);
}

static int list(struct session *s, struct incore_run_job *job)
{
    struct kernel_sources kernels;

    TRY_CODE(session_code(incore_run_list(job, &s->arena, &kernels, &s->diag)));
    for (size_t i = 0; i < kernels.n && !s->common.json; i++)
        out_printf(&s->out, "%s\t%s\n", out_clean(&s->arena, str_of(kernels.at[i].stem)),
                   out_clean(&s->arena, str_of(kernels.at[i].path)));
    if (!s->common.json)
        return CODE_DONE;
    session_document(s, &discover_schema, NULL, &(struct field_items){kernels.at, kernels.n});
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
    if (!s->common.quiet && !s->common.json) {
        job.say = run_say;
        job.say_ctx = s;
    }
    enum status status = incore_run_run(&job, &s->diag, &result);
    if (status == ST_OK && s->common.json)
        session_document(s, &incore_run_schema, "simulated", &result);
    else if (status == ST_OK && !s->common.quiet)
        print_end(s, &result);
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
