/*
 * strata incore run: every kernel of a build, profiled.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "cli/session.h"
#include "flow/flow_incore_run.h"

extern const struct command command_incore_run;

static const char *const backends[] = {"auto", "sim", "msprof", NULL};
static const char *const targets[] = {"auto", "a2a3", "a5", NULL};

struct args {
    const char *build_dir, *case_script, *run_cmd, *task_device, *build_output_root, *ptoas_dir,
        *source_glob, *cann_set_env, *ptoas_root, *pto_isa_root, *soc, *arch, *msopprof,
        *output_root, *name;
    struct opt_list run_env, funcs, args, inputs, fills, dims;
    bool task_submit, list_only, auto_msopprof, keep_going, resume, clean, allow_synthetic;
    int backend, target;
    int64_t launch_count, msprof_timeout, step_timeout, build_timeout, sim_minutes, wall_seconds;
};

static const struct args defaults = {
    .task_device = "auto",
    .name = "kernel_insight_all_funcs",
    .keep_going = true,
    .launch_count = 1,
    .step_timeout = 300,
    .build_timeout = 600,
    .sim_minutes = 3,
    .wall_seconds = 300,
};

static const struct opt options[] = {
    OPT_CHOICE(0, "backend", backends, struct args, backend,
               "where kernels run: auto takes msprof when CANN is here, else sim"),
    OPT_CHOICE(0, "target", targets, struct args, target, "the chip; auto: as the kernels say"),
    OPT_LIST(0, "func", "NAME", struct args, funcs, "only this kernel; may be repeated"),
    OPT_FLAG(0, "list-funcs", struct args, list_only, "show the kernels and stop"),
    OPT_FLAG(0, "resume", struct args, resume,
             "go on with the last run, or with the run folder given as operand"),
    OPT_FLAG(0, "clean", struct args, clean, "make a cleaned trace of each kernel too"),
    OPT_FLAG(0, "keep-going", struct args, keep_going, "go on after a kernel that failed (yes)"),
    OPT_GROUP("What a kernel is given"),
    OPT_LIST(0, "arg", "NAME=VALUE", struct args, args, "a scalar argument, by name or number"),
    OPT_LIST(0, "input", "NAME=FILE", struct args, inputs, "raw little-endian data of a buffer"),
    OPT_LIST(0, "fill", "NAME=RULE", struct args, fills,
             "data of a buffer: zero, one, random, iota or const:V"),
    OPT_LIST(0, "dim", "NAME=VALUE", struct args, dims,
             "a dimension that no argument decides: a placeholder of the text"),
    OPT_FLAG(0, "allow-synthetic", struct args, allow_synthetic,
             "accept kernels whose control inputs have no data"),
    OPT_GROUP("Which kernels"),
    OPT_STRING(0, "build-dir", "DIR", struct args, build_dir, "the build folder"),
    OPT_STRING(0, "case", "FILE", struct args, case_script,
               "run this script first; what follows -- goes to it"),
    OPT_STRING(0, "run-cmd", "TEXT", struct args, run_cmd, "run this shell command first"),
    OPT_LIST(0, "run-env", "NAME=VALUE", struct args, run_env, "environment of the case"),
    OPT_FLAG(0, "task-submit", struct args, task_submit, "run the case through task-submit"),
    OPT_STRING(0, "task-device", "NAME", struct args, task_device, "its device (auto)"),
    OPT_STRING(0, "build-output-root", "DIR", struct args, build_output_root,
               "where cases leave builds (build_output)"),
    OPT_STRING(0, "ptoas-dir", "DIR", struct args, ptoas_dir, "the folder with the kernels"),
    OPT_STRING(0, "source-glob", "PATTERN", struct args, source_glob, "kernels by pattern"),
    OPT_GROUP("Results"),
    OPT_STRING(0, "output-root", "DIR", struct args, output_root, "the same as --out"),
    OPT_STRING(0, "name", "NAME", struct args, name, "first part of the run folder's name"),
    OPT_GROUP("The vendor's simulator"),
    OPT_STRING(0, "cann-set-env", "FILE", struct args, cann_set_env, "set_env.sh of CANN"),
    OPT_STRING(0, "pto-isa-root", "DIR", struct args, pto_isa_root,
               "checkout of pto-isa ($PTO_ISA_ROOT or ~/pto-isa)"),
    OPT_STRING(0, "ptoas-root", "DIR", struct args, ptoas_root,
               "generate cases with this checkout of PTOAS"),
    OPT_STRING(0, "soc-version", "NAME", struct args, soc, "the chip to simulate"),
    OPT_STRING(0, "aicore-arch", "NAME", struct args, arch, "compiler architecture ($AICORE_ARCH)"),
    OPT_STRING(0, "msopprof", "FILE", struct args, msopprof, "worker to copy into CANN"),
    OPT_FLAG(0, "auto-msopprof", struct args, auto_msopprof,
             "copy a worker from another CANN when this one has none"),
    OPT_INT(0, "launch-count", "N", struct args, launch_count, 1, 5000, "launches to collect (1)"),
    OPT_INT(0, "sim-minutes", "N", struct args, sim_minutes, 1, 2880,
            "msprof ends the simulation after this many minutes (3)"),
    OPT_INT(0, "wall-seconds", "N", struct args, wall_seconds, 1, 1000000,
            "msprof itself is killed after this many seconds (300)"),
    OPT_INT(0, "msprof-timeout", "N", struct args, msprof_timeout, 1, 1000000,
            "older name of --wall-seconds"),
    OPT_INT(0, "step-timeout", "N", struct args, step_timeout, 1, 1000000,
            "seconds for a step of making a case (300)"),
    OPT_INT(0, "build-timeout", "N", struct args, build_timeout, 1, 1000000,
            "seconds for its build (600)"),
    OPT_END,
};

/* ---- paths ---- */

/* The nearest folder above this one with a .git; NULL: none. */
static const char *repository(struct arena *arena)
{
    char here[PATH_MAX];

    if (getcwd(here, sizeof(here)) == NULL)
        return NULL;
    struct str path = arena_str(arena, str_of(here));
    for (;;) {
        const char *folder = path.n > 0 ? arena_cstr(arena, path) : "/";
        if (fs_exists(fs_join(arena, folder, ".git")))
            return folder;
        if (path.n == 0)
            return NULL;
        path.n -= str_basename(path).n;
        while (path.n > 0 && path.at[path.n - 1] == '/')
            path.n--;
    }
}

/* Relative paths count from the repository; where there is no such thing, from here. */
static const char *resolve(struct arena *arena, const char *path)
{
    const char *root = path[0] != '/' ? repository(arena) : NULL;
    const char *there = root != NULL ? fs_join(arena, root, path) : path;

    return fs_exists(there) && !fs_same_file(there, path) ? there : path;
}

/* ---- the job ---- */

static bool has_equal_signs(const struct opt_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct str text = str_of(list->at[i]);
        size_t at = str_find_char(text, '=');
        if (at == 0 || at + 1 >= text.n)
            return false;
    }
    return true;
}

static int check(struct session *s, const struct args *a)
{
    const struct {
        const char *option;
        const struct opt_list *list;
    } given[] = {
        {"--arg", &a->args}, {"--input", &a->inputs}, {"--fill", &a->fills}, {"--dim", &a->dims}};

    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        if (!has_equal_signs(given[i].list))
            return session_usage(s, "%s takes NAME=VALUE", given[i].option);
    for (size_t i = 0; i < a->run_env.n; i++)
        if (strchr(a->run_env.at[i], '=') == NULL)
            return session_usage(s, "--run-env takes KEY=VALUE, not %s", a->run_env.at[i]);
    if (a->case_script != NULL && a->run_cmd != NULL)
        return session_usage(s, "use either --run-cmd or --case, not both");
    if (strchr(a->name, '/') != NULL || a->name[0] == '\0' || a->name[0] == '.')
        return session_usage(s, "--name is the name of a folder, not a path");
    return CODE_DONE;
}

static bool is_run_folder(struct arena *arena, const char *path)
{
    return fs_exists(fs_join(arena, path, "README.txt")) &&
           fs_is_dir(fs_join(arena, path, "funcs"));
}

/* Operands are the case's arguments, or a build folder and, with --resume, a run folder. */
static int take_operands(struct session *s, const struct args *a, struct incore_run_job *job)
{
    if (a->case_script != NULL) {
        job->case_args = s->operands.at;
        job->n_case_args = s->operands.n;
        return CODE_DONE;
    }
    for (size_t i = 0; i < s->operands.n; i++) {
        const char *word = s->operands.at[i];
        if (a->resume && job->resume_root == NULL && is_run_folder(&s->arena, word))
            job->resume_root = word;
        else if (job->find.build_dir == NULL)
            job->find.build_dir = resolve(&s->arena, word);
        else
            return session_usage(s, "one build folder is enough: %s", word);
    }
    if (job->find.build_dir == NULL && job->resume_root != NULL) { /* it lies in its build */
        struct str path = str_of(job->resume_root);
        while (path.n > 1 && path.at[path.n - 1] == '/')
            path.n--;
        path.n -= str_basename(path).n;
        job->find.build_dir = path.n > 0 ? arena_cstr(&s->arena, path) : ".";
    }
    if (job->find.build_dir == NULL && a->run_cmd == NULL && a->source_glob == NULL)
        return session_usage(s, "provide --build-dir, --case, or --run-cmd");
    if (job->find.build_dir == NULL && a->source_glob != NULL && a->run_cmd == NULL)
        job->find.build_dir = ".";
    return CODE_DONE;
}

static struct incore_given given(const struct opt_list *list)
{
    return (struct incore_given){list->at, list->n};
}

static struct incore_run_job job_of(struct session *s, const struct args *a)
{
    const char *root = repository(&s->arena);

    return (struct incore_run_job){
        .find = {.build_dir = a->build_dir != NULL ? resolve(&s->arena, a->build_dir) : NULL,
                 .ptoas_dir = a->ptoas_dir,
                 .source_glob = a->source_glob,
                 .funcs = a->funcs.at,
                 .n_funcs = a->funcs.n},
        .backend = (enum incore_backend)a->backend,
        .target = a->target > 0 ? targets[a->target] : NULL,
        .case_script = a->case_script,
        .run_command = a->run_cmd,
        .build_output_root = a->build_output_root != NULL ? a->build_output_root
                             : root != NULL               ? fs_join(&s->arena, root, "build_output")
                                                          : "build_output",
        .task_device = a->task_device,
        .task_submit = a->task_submit,
        .case_env = given(&a->run_env),
        .cann_set_env = a->cann_set_env,
        .pto_isa_root = a->pto_isa_root,
        .ptoas_root = a->ptoas_root,
        .soc = a->soc,
        .arch = a->arch,
        .msopprof = a->msopprof,
        .auto_msopprof = a->auto_msopprof,
        .launch_count = a->launch_count,
        .sim_minutes = a->sim_minutes,
        .wall_seconds = a->msprof_timeout > 0 ? a->msprof_timeout : a->wall_seconds,
        .step_seconds = a->step_timeout,
        .build_seconds = a->build_timeout,
        .args = given(&a->args),
        .inputs = given(&a->inputs),
        .fills = given(&a->fills),
        .dims = given(&a->dims),
        .allow_synthetic = a->allow_synthetic,
        .output_root = s->common.out != NULL ? s->common.out : a->output_root,
        .name = a->name,
        .repo_root = root,
        .keep_going = a->keep_going,
        .clean = a->clean,
        .resume = a->resume,
        .command = "strata incore run",
        .jobs = s->common.jobs,
        .progress = &s->progress,
    };
}

/* ---- the table ---- */

static void print_pipes(struct session *s, const struct run_row *r)
{
    for (size_t i = 0; i < r->n_pipes; i++)
        out_printf(&s->out, "%s%s %.0f %%", i > 0 ? ", " : "", r->pipes[i].name,
                   100 * r->pipes[i].share);
    out_text(&s->out, "\n");
}

static const char *cell(struct session *s, int decimals, double value, const char *unit)
{
    return arena_format(&s->arena, "%.*f%s", decimals, value, unit).at;
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
        c[1] = cell(s, 0, (double)r->cycles, "");
        c[2] = cell(s, 2, r->span_us, "");
        c[3] = r->critical;
        c[4] = cell(s, 0, 100 * r->critical_share, " %");
        c[5] = r->bound;
        c[6] = r->intensity >= 0 ? cell(s, 1, r->intensity, "") : "-";
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

static void put_texts(struct json_writer *j, const char *key, const char *const *at, size_t n)
{
    json_put_array(j, key);
    for (size_t i = 0; i < n; i++)
        json_write_string(j, str_of(at[i]));
    json_write_end(j);
}

static void put_row(struct json_writer *j, const struct run_row *r)
{
    json_write_object(j);
    json_put_text(j, "func", r->func);
    json_put_text(j, "status", r->status);
    json_put_text(j, "source", r->source);
    json_put_text(j, "message", r->message);
    json_put_text(j, "trace_json", r->trace_json);
    json_put_text(j, "visualize_data_bin", r->visualize_data_bin);
    json_put_text(j, "workload", r->workload);
    json_put_i64(j, "artifact_count", r->artifact_count);
    json_put_i64(j, "cycles", r->cycles);
    json_put_f64(j, "span_us", r->span_us);
    json_put_text(j, "critical_pipe", r->critical);
    json_put_f64(j, "critical_share", r->critical_share);
    json_put_text(j, "bound", r->bound);
    json_put_f64(j, "operations_per_byte", r->intensity >= 0 ? r->intensity : NAN);
    json_put_array(j, "pipes");
    for (size_t i = 0; i < r->n_pipes; i++) {
        json_write_object(j);
        json_put_text(j, "pipe", r->pipes[i].name);
        json_put_i64(j, "cycles", r->pipes[i].cycles);
        json_put_f64(j, "share", r->pipes[i].share);
        json_write_end(j);
    }
    json_write_end(j);
    put_texts(j, "advice", r->advice, r->n_advice);
    put_texts(j, "checks", r->checks, r->n_checks);
    put_texts(j, "hints", r->hints, r->n_hints);
    json_write_end(j);
}

static void print_json(struct session *s, const struct incore_run_result *r)
{
    struct json_writer *j = session_json_begin(s, "strata.incore-run/1", "simulated");

    json_write_object(j);
    json_put_text(j, "run_root", r->run_root);
    json_put_text(j, "backend", r->backend);
    json_put_u64(j, "planned", r->planned);
    json_put_u64(j, "exported", run_rows_exported(&r->rows));
    json_put_u64(j, "resumed", r->resumed);
    json_put_array(j, "kernels");
    for (size_t i = 0; i < r->rows.n; i++)
        put_row(j, &r->rows.at[i]);
    json_write_end(j);
    json_write_end(j);
    session_json_end(s);
}

/* ---- running ---- */

static void say(void *ctx, const char *line)
{
    struct session *s = ctx;
    struct str wipe =
        progress_end(&s->progress_line); /* the line of progress is not ours to join */

    if (wipe.n > 0 && write(STDERR_FILENO, wipe.at, wipe.n) < 0)
        return;
    out_printf(&s->out, "%s\n", out_clean(&s->arena, str_of(line)));
    out_flush(&s->out);
}

static int list(struct session *s, struct incore_run_job *job)
{
    struct kernel_sources kernels;
    enum status status = flow_incore_run_list(job, &s->arena, &kernels, &s->diag);

    if (status != ST_OK)
        return session_code(status);
    for (size_t i = 0; i < kernels.n && !s->common.json; i++)
        out_printf(&s->out, "%s\t%s\n", out_clean(&s->arena, str_of(kernels.at[i].stem)),
                   out_clean(&s->arena, str_of(kernels.at[i].path)));
    if (!s->common.json)
        return CODE_DONE;
    struct json_writer *j = session_json_begin(s, "strata.incore-funcs/1", NULL);
    json_write_array(j);
    for (size_t i = 0; i < kernels.n; i++) {
        json_write_object(j);
        json_put_text(j, "func", kernels.at[i].stem);
        json_put_text(j, "path", kernels.at[i].path);
        json_put_text(j, "pto", kernels.at[i].pto);
        json_write_end(j);
    }
    json_write_end(j);
    session_json_end(s);
    return CODE_DONE;
}

static int run(struct session *s, const void *given_args)
{
    const struct args *a = given_args;
    struct incore_run_result result;
    int code = check(s, a);

    if (code != CODE_DONE)
        return code;
    struct incore_run_job job = job_of(s, a);
    if ((code = take_operands(s, a, &job)) != CODE_DONE)
        return code;
    if (a->msprof_timeout > 0)
        diag_add(&s->diag, SEV_WARN, "incore-run.old-option", (struct where){0},
                 "--msprof-timeout is taken for --wall-seconds; --sim-minutes is msprof's own "
                 "limit");
    if (a->list_only)
        return list(s, &job);
    if (!s->common.quiet && !s->common.json) {
        job.say = say;
        job.say_ctx = s;
    }
    enum status status = flow_incore_run(&job, &s->diag, &result);
    if (status == ST_OK && s->common.json)
        print_json(s, &result);
    else if (status == ST_OK && !s->common.quiet)
        print_end(s, &result);
    code = session_code(status);
    if (status == ST_OK && run_rows_exported(&result.rows) < result.rows.n)
        code = CODE_NO;
    incore_run_result_free(&result);
    return code;
}

static const struct example examples[] = {
    {"strata incore run examples/pto --list-funcs", "the kernels of a folder"},
    {"strata incore run examples/pto -o run --backend sim --target a2a3",
     "all of them on the embedded simulator, and where their time goes"},
    {"strata incore run examples/pto -o run --backend sim --func matmul --json",
     "one kernel, for programs"},
    {0},
};

const struct command command_incore_run = {
    .name = "run",
    .group = GROUP_INCORE,
    .summary = "run every kernel of a build in the core simulator",
    .usage = "[OPTIONS] [BUILD-DIR] [RUN-DIR]",
    .details =
        "Finds the kernels of a PyPTO build, runs each on the embedded simulator (or on `msprof op "
        "simulator` where CANN is installed), and leaves the same artifacts either way: "
        "funcs/KERNEL/collect/out/OPPROF_*/simulator with files for MindStudio Insight, "
        "manifest_export.csv, summary.txt and manifest.json beside them.\n\n"
        "A kernel that fails does not stop the others; the exit code is 1 then. A run that was "
        "interrupted goes on with --resume.",
    .see = "docs/incore-run.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .operands = {.kind = OPERAND_DIR, .min = 0, .max = 4096},
    .common = COMMON_OUT | COMMON_JOBS,
    .examples = examples,
    .run = run,
};
