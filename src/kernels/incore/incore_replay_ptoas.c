/*
 * A replay of a kernel that PTOAS has compiled: its own generator makes the test case; strata
 * builds it, finds the kernel's symbol, collects and exports.
 */
#include <inttypes.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "driver/cann.h"
#include "kernels/incore/incore_replay_job.h"
#include "kernels/incore/incore_run.h"
#include "kernels/replay/log_hints.h"
#include "kernels/replay/paths.h"
#include "kernels/replay/symbols.h"
#include "report/record_file.h"

enum { STEP_SECONDS = 300, BUILD_SECONDS = 600, BINS_MAX = 256 };

struct ptoas {
    struct incore_replay_job job;
    struct arena *arena;
    struct diag *diag;
    struct cann cann;
    const char *run_root, *case_root, *case_dir, *build_dir, *logs, *script, *soc;
    const char *application, *kernel_lib, *symbol, *source;
};

static enum status ptoas_check(const struct ptoas *p)
{
    const struct incore_replay_job *job = &p->job;
    const struct {
        const char *option, *value;
    } needed[] = {{"--ptoas-root", job->ptoas_root},
                  {"--source-cpp", job->source_cpp},
                  {"--kernel-base-name", job->kernel_base},
                  {"--aicore-arch", job->arch}};

    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (needed[i].value == NULL)
            return diag_fail(p->diag, ST_NOT_FOUND, "replay.no-module", (struct where){0},
                             "ptoas generator requires %s", needed[i].option);
    if (!slot_is_identifier(str_of(job->kernel_base)))
        return diag_fail(p->diag, ST_FORMAT, "replay.bad-name", (struct where){0},
                         "--kernel-base-name is not an identifier");
    if (!fs_exists(job->source_cpp))
        return diag_fail(p->diag, ST_IO, "replay.not-a-kernel",
                         (struct where){.path = job->source_cpp}, "no such file");
    return ST_OK;
}

static void ptoas_place(struct ptoas *p)
{
    const char *base = p->job.kernel_base;
    p->source = paths_absolute(p->arena, p->job.source_cpp);
    struct str folder = str_basename(str_of(paths_folder(p->arena, p->source)));

    p->run_root = p->job.out;
    for (int64_t later = 0; p->run_root == NULL || (p->job.out == NULL && fs_exists(p->run_root));
         later++)
        p->run_root = arena_printf(p->arena, "strata-out/insight_trace_ptoas_%s_%s", base,
                                   now_text(p->arena, NOW_NAME, later));
    p->run_root = paths_absolute(p->arena, p->run_root);
    p->soc = p->job.soc != NULL ? p->job.soc : "dav_2201";
    p->script = fs_join(p->arena, paths_absolute(p->arena, p->job.ptoas_root),
                        "test/npu_validation/scripts/generate_testcase.py");
    p->case_root = fs_join(p->arena, p->run_root, "cases");
    p->case_dir =
        fs_join(p->arena, p->case_root, arena_printf(p->arena, "%.*s/%s", STR_ARGS(folder), base));
    p->build_dir = fs_join(p->arena, p->run_root, "build");
    p->logs = fs_join(p->arena, p->run_root, "logs");
    p->application = fs_join(p->arena, p->build_dir, arena_printf(p->arena, "%s_sim", base));
    p->kernel_lib =
        fs_join(p->arena, p->build_dir, arena_printf(p->arena, "lib%s_kernel.so", base));
    p->symbol = p->job.symbol;
}

static const struct field ptoas_fields[] = {
    FIELD_FIXED("backend", "ptoas"),
    FIELD(struct ptoas, source, "source_cpp"),
    FIELD(struct ptoas, job.kernel_base, "kernel_base_name"),
    FIELD(struct ptoas, job.arch, "aicore_arch"),
    FIELD(struct ptoas, soc, "soc_version"),
    FIELD(struct ptoas, job.launch_count, "launch_count"),
    FIELD(struct ptoas, job.timeout_s, "timeout"),
    FIELD(struct ptoas, run_root, "run_root"),
    FIELD(struct ptoas, case_root, "case_root"),
    FIELD(struct ptoas, case_dir, "case_dir"),
    FIELD(struct ptoas, build_dir, "build_dir"),
    FIELD(struct ptoas, application, "application"),
    FIELD(struct ptoas, kernel_lib, "kernel_lib"),
    FIELD(struct ptoas, symbol, "kernel_symbol"),
};
static const struct record ptoas_record = RECORD(struct ptoas, ptoas_fields);

static enum status write_record(struct ptoas *p)
{
    return record_save(fs_join(p->arena, p->run_root, "insight_trace_config.json"), &ptoas_record,
                       p, p->diag);
}

/* Runs one step; anything but success ends the replay. */
static enum status step(struct ptoas *p, const char *name, const char *const *argv,
                        const char *folder, int64_t limit_s, const char *libraries, const char *log)
{
    const char **env = ARENA_ARRAY(p->arena, const char *, 4096);
    struct cann_done done = {0};
    size_t n = 0;

    for (; n < 4000 && p->cann.env[n] != NULL; n++)
        env[n] = p->cann.env[n];
    if (libraries != NULL)
        env[n] = libraries;
    struct cann_step s = {argv, env, folder, log, limit_s};
    TRY(cann_run(&s, p->arena, &done, p->diag));
    if (done.rc == 0)
        return ST_OK;
    log_hints_report(done.text, p->diag);
    if (done.is_timed_out)
        return diag_fail(p->diag, ST_TOOL, "replay.timeout", (struct where){.path = p->run_root},
                         "Trace collection timed out after %" PRId64 "s; check logs at %s", limit_s,
                         log);
    return diag_fail(p->diag, ST_TOOL, "replay.failed", (struct where){.path = p->run_root},
                     "%s failed; see %s", name, log);
}

static enum status build(struct ptoas *p)
{
    const struct incore_replay_job *job = &p->job;
    const char *cmake = p->cann.cmake != NULL ? p->cann.cmake : "cmake";
    const char *isa =
        job->pto_isa_root != NULL ? job->pto_isa_root : cann_value(&p->cann, "PTO_ISA_ROOT");

    if (isa != NULL && isa[0] != '\0')
        isa = paths_absolute(p->arena, isa); /* cmake runs elsewhere */
    const char *generate[] = {
        "python3",        p->script,       "--input",       p->source,    "--testcase",
        job->kernel_base, "--output-root", p->case_root,    "--run-mode", "sim",
        "--soc-version",  p->soc,          "--aicore-arch", job->arch,    NULL};
    const char *configure[] = {cmake,
                               "-G",
                               "Ninja",
                               "-S",
                               p->case_dir,
                               "-B",
                               p->build_dir,
                               arena_printf(p->arena, "-DSOC_VERSION=%s", p->soc),
                               arena_printf(p->arena, "-DPTO_ISA_ROOT=%s", isa != NULL ? isa : ""),
                               NULL};
    const char *make[] = {cmake,
                          "--build",
                          p->build_dir,
                          "--target",
                          arena_printf(p->arena, "%s_sim", job->kernel_base),
                          NULL};

    if (!fs_exists(p->script))
        return diag_fail(p->diag, ST_TOOL, "replay.failed", (struct where){.path = p->script},
                         "PTOAS generator not found");
    TRY(step(p, "generate", generate, NULL, STEP_SECONDS, NULL,
             fs_join(p->arena, p->logs, "generate.log")));
    TRY(step(p, "configure", configure, NULL, STEP_SECONDS, NULL,
             fs_join(p->arena, p->logs, "cmake.log")));
    TRY(step(p, "build", make, NULL, BUILD_SECONDS, NULL, fs_join(p->arena, p->logs, "build.log")));
    if (!fs_exists(p->application) || !fs_exists(p->kernel_lib))
        return diag_fail(p->diag, ST_TOOL, "replay.failed", (struct where){.path = p->build_dir},
                         fs_exists(p->application) ? "missing kernel lib: %s" : "missing app: %s",
                         fs_exists(p->application) ? p->kernel_lib : p->application);
    return ST_OK;
}

/* Files that main.cpp reads and golden.py did not write: outputs, which start empty. */
static enum status make_bins(struct ptoas *p)
{
    const char *path = fs_join(p->arena, p->case_dir, "main.cpp");
    struct mapfile map;
    enum status st = ST_OK;

    TRY(mapfile_open(&map, path, p->diag));
    struct str rest = map.text;
    for (size_t n = 0; st == ST_OK && n < BINS_MAX && rest.n > 0;) {
        size_t end = str_find(rest, S(".bin\"")), from = end;
        if (end == rest.n)
            break;
        while (from > 0 && rest.at[from - 1] != '"' && rest.at[from - 1] != '\n')
            from--;
        struct str name = str_part(rest, from, end - from);
        str_skip(&name, S("./"));
        rest = str_part(rest, end + 5, rest.n);
        if (!slot_is_identifier(name))
            continue;
        const char *bin =
            fs_join(p->arena, p->case_dir, arena_printf(p->arena, "%.*s.bin", STR_ARGS(name)));
        struct outfile file;
        if (fs_exists(bin))
            continue;
        n++;
        st = outfile_open(&file, bin, p->diag);
        if (st == ST_OK)
            st = outfile_commit(&file, OUTFILE_FAST, p->diag);
    }
    mapfile_close(&map);
    return st;
}

static enum status make_data(struct ptoas *p)
{
    const char *argv[] = {"python3", "golden.py", NULL};

    if (!fs_exists(fs_join(p->arena, p->case_dir, "golden.py")))
        return diag_fail(p->diag, ST_TOOL, "replay.failed", (struct where){.path = p->case_dir},
                         "missing golden.py in %s", p->case_dir);
    TRY(step(p, "golden.py", argv, p->case_dir, STEP_SECONDS, NULL,
             fs_join(p->arena, p->logs, "golden.log")));
    return make_bins(p);
}

/* The one exported function whose readable name begins with "<base>(". */
static enum status find_symbol(struct ptoas *p)
{
    struct str base = str_of(p->job.kernel_base), names = {"", 0};
    struct symbol_list list;
    size_t n = 0;

    if (p->symbol != NULL)
        return ST_OK;
    TRY(symbols_read(p->arena, p->kernel_lib, &list, p->diag));
    for (size_t i = 0; i < list.n; i++) {
        struct str plain = list.at[i].plain;
        if (!str_starts(plain, base) || plain.n <= base.n || plain.at[base.n] != '(')
            continue;
        p->symbol = arena_cstr(p->arena, list.at[i].name);
        if (n++ < 20)
            names = arena_format(p->arena, "%.*s%s%.*s", STR_ARGS(names), n > 1 ? ", " : "",
                                 STR_ARGS(list.at[i].name));
    }
    if (n == 1)
        return ST_OK;
    p->symbol = NULL;
    if (n > 0)
        diag_hint(p->diag, "try", "--kernel-symbol with one of %.*s", STR_ARGS(names));
    return diag_fail(p->diag, ST_NOT_FOUND, "replay.symbol", (struct where){.path = p->kernel_lib},
                     "%zu functions %.*s(...) are exported, expected one", n, STR_ARGS(base));
}

static const char *newest_dump(struct ptoas *p, const char *out)
{
    struct fs_list list = {0};

    if (!fs_is_dir(out) || fs_list(p->arena, out, &list, p->diag) != ST_OK)
        return NULL;
    for (size_t i = list.n; i-- > 0;) {
        const char *dump = fs_join(p->arena, list.at[i].path, "device0/tmp_dump");
        if (!str_starts(list.at[i].name, S("OPPROF_")))
            continue;
        return fs_is_dir(dump) ? dump : fs_join(p->arena, list.at[i].path, "dump");
    }
    return NULL;
}

static enum status ptoas_collect(struct ptoas *p)
{
    const struct incore_replay_job *job = &p->job;
    const char *folder = fs_join(p->arena, p->run_root, "msprof_collect");
    const char *export = fs_join(p->arena, p->run_root, "insight_export");
    const char *out = fs_join(p->arena, folder, "out");
    const char *libraries = cann_library_path(&p->cann, p->build_dir, p->soc, p->arena);
    const char *run[] = {p->cann.msprof,
                         "op",
                         "simulator",
                         arena_printf(p->arena, "--application=%s", p->application),
                         arena_printf(p->arena, "--kernel-name=%s", p->symbol),
                         arena_printf(p->arena, "--launch-count=%" PRId64, job->launch_count),
                         arena_printf(p->arena, "--soc-version=%s", p->soc),
                         arena_printf(p->arena, "--timeout=%" PRId64, job->sim_minutes),
                         arena_printf(p->arena, "--output=%s", out),
                         NULL};

    TRY(fs_mkdir_own(folder, p->diag));
    TRY(fs_mkdir_own(export, p->diag));
    chmod(folder, 0700);
    chmod(export, 0700);
    TRY(step(p, "insight trace collection", run, p->case_dir, job->timeout_s, libraries,
             fs_join(p->arena, folder, "msprof_collect.log")));
    const char *dump = newest_dump(p, out);
    if (dump == NULL)
        return diag_fail(p->diag, ST_TOOL, "replay.no-export", (struct where){.path = out},
                         "No OPPROF simulator directory under %s", out);
    const char *convert[] = {p->cann.msprof,
                             "op",
                             "simulator",
                             arena_printf(p->arena, "--export=%s", dump),
                             arena_printf(p->arena, "--output=%s", export),
                             NULL};
    return step(p, "insight trace export", convert, p->case_dir, job->timeout_s, libraries,
                fs_join(p->arena, export, "msprof_export.log"));
}

enum status incore_replay_ptoas(const struct incore_replay_job *job, struct incore_replay_result *r,
                                struct diag *d)
{
    struct ptoas p = {.job = *job, .arena = &r->arena, .diag = d};

    TRY(ptoas_check(&p));
    ptoas_place(&p);
    TRY(fs_mkdir_own(p.logs, d));
    TRY(write_record(&p));
    r->workspace = p.run_root;
    vec_push(&r->wrote, fs_join(p.arena, p.run_root, "insight_trace_config.json"));
    if (job->is_dry)
        return ST_OK;
    if (job->backend == REPLAY_SIM) {
        diag_hint(d, "try", "strata incore run --backend sim on the kernel's folder");
        return diag_fail(d, ST_UNSUPPORTED, "replay.no-pto", (struct where){.path = p.run_root},
                         "a PTOAS case is compiled C++; the built-in simulator reads PTO text");
    }
    const char *set_env = cann_find_set_env(p.arena, NULL);
    const char *home =
        job->cann_home != NULL ? fs_join(p.arena, job->cann_home, "set_env.sh") : NULL;
    if (home != NULL && fs_exists(home))
        set_env = home;
    if (set_env == NULL)
        return diag_fail(d, ST_TOOL, "cann.no-set-env", (struct where){0},
                         "CANN set_env.sh not found; pass --cann-home");
    TRY(cann_open(&p.cann, set_env, p.arena, d));
    TRY(build(&p));
    TRY(make_data(&p));
    TRY(find_symbol(&p));
    TRY(write_record(&p)); /* now with the symbol */
    const char *before = workspace_last_export(p.arena, p.run_root);
    TRY(ptoas_collect(&p));
    r->backend = "msprof";
    TRY(workspace_find_export(p.arena, p.run_root, before, SHAPE_AIC, &r->simulator, d));
    return ST_OK;
}
