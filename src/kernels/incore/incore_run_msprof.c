/*
 * One kernel on the vendor's simulator: a generated case, built, run under msprof, exported.
 */
#include <stdlib.h>

#include "base/files/copy_tree.h"
#include "base/files/fs.h"
#include "base/files/remove_tree.h"
#include "base/text/char.h"
#include "kernels/incore/incore_run.h"
#include "kernels/replay/gencase.h"
#include "kernels/replay/log_hints.h"
#include "kernels/replay/paths.h"
#include "kernels/replay/symbols.h"

enum { TAIL = 800 };

/* The case at hand. */
struct making {
    struct incore_run *run;
    struct incore_kernel *k;
    struct arena *arena;
    const char *testcase, *case_dir, *build_dir, *logs;
    const char *app, *library, *collect, *export;
    struct cann_done done; /* of the last step */
};

static bool msprof_fail(struct making *m, const char *message)
{
    m->k->row.message = message;
    return false;
}

/* The story is in the kernel's diag. */
static bool fail_diag(struct making *m)
{
    return msprof_fail(m, incore_kernel_error(m->k));
}

enum status incore_run_toolchain(struct incore_run *run, struct diag *d)
{
    const struct incore_run_job *job = run->job;
    const char *home = getenv("HOME"), *variable = getenv("PTO_ISA_ROOT");
    const char *arch = job->arch != NULL ? job->arch : getenv("AICORE_ARCH");

    if (run->set_env == NULL)
        return diag_fail(d, ST_TOOL, "cann.no-set-env", (struct where){0},
                         "CANN set_env.sh not found; pass --cann-set-env explicitly");
    TRY(cann_open(&run->cann, run->set_env, run->arena, d));
    run->pto_isa_root = job->pto_isa_root != NULL ? job->pto_isa_root
                        : variable != NULL && variable[0] != '\0'
                            ? variable
                            : fs_join(run->arena, home != NULL ? home : "/", "pto-isa");
    /* cmake runs in another folder than we do. */
    run->pto_isa_root = paths_absolute(run->arena, run->pto_isa_root);
    if (!fs_is_dir(run->pto_isa_root)) {
        diag_hint(d, "try", "--pto-isa-root with a pto-isa checkout");
        return diag_fail(d, ST_TOOL, "cann.no-pto-isa", (struct where){.path = run->pto_isa_root},
                         "no such folder; kernels need the pto-isa headers");
    }
    run->arch = arch != NULL && arch[0] != '\0'  ? arch
                : strcmp(run->target, "a5") == 0 ? "dav-c310"
                                                 : "dav-c220";
    TRY(cann_check_compiler(&run->cann, run->arch, run->arena, d));
    struct cann_worker worker = {.given = job->msopprof, .may_copy = job->auto_msopprof};
    TRY(cann_check_worker(&run->cann, &worker, run->arena, d));
    run->soc = job->soc;
    if (run->soc == NULL)
        TRY(cann_pick_soc(&run->cann, run->target, run->arena, d, &run->soc));
    return ST_OK;
}

/* ---- steps ---- */

static const char *tail(struct making *m)
{
    struct str text = m->done.text;

    if (text.n > TAIL)
        text = str_part(text, text.n - TAIL, TAIL);
    char *copy = arena_cstr(m->arena, text);
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return copy;
}

/* Runs one step; false, with the message set, when it did not end well. */
static bool step(struct making *m, const char *const *argv, const char *folder, const char *log,
                 int64_t limit_s, const char *library_path)
{
    const char **env = ARENA_ARRAY(m->arena, const char *, 4096);
    const char *hints[LOG_HINTS_MAX];
    size_t n = 0;

    for (; n < 4000 && m->run->cann.env[n] != NULL; n++)
        env[n] = m->run->cann.env[n];
    if (library_path != NULL)
        env[n++] = library_path;
    struct cann_step s = {
        .argv = argv, .env = env, .folder = folder, .log = log, .limit_s = limit_s};
    if (cann_run(&s, m->arena, &m->done, &m->k->diag) != ST_OK)
        return fail_diag(m);
    n = log_hints(m->done.text, hints);
    for (size_t i = 0; i < n; i++)
        run_row_hint(&m->k->row, hints[i]);
    return m->done.rc == 0;
}

static bool fail_step(struct making *m, const char *name, const char *log, int64_t limit_s)
{
    if (m->k->row.message != NULL)
        return false;
    if (m->done.is_timed_out)
        return msprof_fail(m, arena_printf(m->arena, "%s timed out after %lld s; see %s", name,
                                           (long long)limit_s, log));
    return msprof_fail(m, arena_printf(m->arena, "%s failed: rc=%d; see %s; tail=%s", name,
                                       m->done.rc, log, tail(m)));
}

static const char *log_of(struct making *m, const char *name)
{
    return fs_join(m->arena, m->logs, name);
}

/* ---- the case ---- */

static bool generate_own(struct making *m)
{
    struct incore_kernel *k = m->k;
    const struct incore_run_job *job = m->run->job;
    struct gencase_given *given = ARENA_ARRAY(m->arena, struct gencase_given, 256);
    struct str workload = S("");

    if (k->source->pto == NULL)
        return msprof_fail(m, incore_kernel_no_pto(k));
    if (entry_find(m->arena, k->cpp, NULL, &k->entry, &k->diag) != ST_OK)
        return fail_diag(m);
    for (size_t i = 0; i < k->entry.n_params && i < 256; i++) {
        struct str file = incore_kernel_given(k, &job->inputs, i);
        struct str scalar = incore_kernel_given(k, &job->args, i);
        given[i].file = file.n > 0 ? arena_cstr(m->arena, file) : NULL;
        given[i].rule = incore_kernel_given(k, &job->fills, i);
        given[i].scalar = scalar.n > 0 ? scalar : incore_kernel_given(k, &job->dims, i);
        struct str value = file.n > 0            ? file
                           : given[i].rule.n > 0 ? given[i].rule
                                                 : given[i].scalar;
        bool is_assumed = value.n == 0 && !k->entry.params[i].is_pointer;
        if (value.n == 0 && !is_assumed)
            continue;
        workload = incore_kernel_note(k, workload, k->entry.params[i].name,
                                      is_assumed ? S("1") : value, is_assumed ? " (assumed)" : "");
    }
    k->row.workload = workload.n > 0 ? workload.at : "synthetic";
    struct gencase_job gen = {
        .dir = m->case_dir,
        .testcase = m->testcase,
        .source = k->cpp,
        .entry = &k->entry,
        .sizes = &k->sizes,
        .given = given,
        .soc = m->run->soc,
        .arch = m->run->arch,
    };
    return gencase_write(&gen, m->arena, &k->diag) == ST_OK || fail_diag(m);
}

/* The generator of a PTOAS checkout. */
static bool generate_other(struct making *m)
{
    const char *script = fs_join(m->arena, m->run->job->ptoas_root,
                                 "test/npu_validation/scripts/generate_testcase.py");
    const char *root = fs_join(m->arena, m->run->run_root, "cases");
    const char *source = m->k->source->path, *log = log_of(m, "generate.log");
    int64_t limit = m->run->job->step_seconds;
    const char *argv[] = {
        "python3",       script,       "--input",    source, "--testcase",    m->testcase,
        "--output-root", root,         "--run-mode", "sim",  "--soc-version", m->run->soc,
        "--aicore-arch", m->run->arch, NULL};
    struct str folder = str_basename(str_of(paths_folder(m->arena, source)));

    m->case_dir =
        fs_join(m->arena, root, arena_printf(m->arena, "%.*s/%s", STR_ARGS(folder), m->testcase));
    if (!fs_exists(script))
        return msprof_fail(m, arena_printf(m->arena, "generator not found: %s", script));
    return step(m, argv, NULL, log, limit, NULL) || fail_step(m, "generate", log, limit);
}

static bool build(struct making *m)
{
    const struct incore_run_job *job = m->run->job;
    const char *cmake = m->run->cann.cmake != NULL ? m->run->cann.cmake : "cmake";
    const char *configure[] = {cmake,
                               "-G",
                               "Ninja",
                               "-S",
                               m->case_dir,
                               "-B",
                               m->build_dir,
                               arena_printf(m->arena, "-DSOC_VERSION=%s", m->run->soc),
                               arena_printf(m->arena, "-DPTO_ISA_ROOT=%s", m->run->pto_isa_root),
                               NULL};
    const char *target = arena_printf(m->arena, "%s_sim", m->testcase);
    const char *make[] = {cmake, "--build", m->build_dir, "--target", target, NULL};

    incore_kernel_step(m->run, m->k, "build");
    if (!step(m, configure, NULL, log_of(m, "cmake.log"), job->step_seconds, NULL))
        return fail_step(m, "configure", log_of(m, "cmake.log"), job->step_seconds);
    if (!step(m, make, NULL, log_of(m, "build.log"), job->build_seconds, NULL))
        return fail_step(m, "build", log_of(m, "build.log"), job->build_seconds);
    m->app = fs_join(m->arena, m->build_dir, target);
    m->library =
        fs_join(m->arena, m->build_dir, arena_printf(m->arena, "lib%s_kernel.so", m->testcase));
    if (!fs_exists(m->app))
        return msprof_fail(m, arena_printf(m->arena, "missing app: %s", m->app));
    if (!fs_exists(m->library))
        return msprof_fail(m, arena_printf(m->arena, "missing kernel lib: %s", m->library));
    m->k->row.app = m->app;
    m->k->row.kernel_lib = m->library;
    return true;
}

static bool find_symbol(struct making *m)
{
    struct incore_kernel *k = m->k;
    struct str names[64];
    size_t n = entry_names(k->cpp, str_of(k->source->stem), names, ARRAY_LEN(names));
    struct symbol_list list;
    const struct symbol *symbol;

    if (k->has_entry && n < ARRAY_LEN(names))
        names[n++] = k->entry.name;
    if (symbols_read(m->arena, m->library, &list, &k->diag) != ST_OK ||
        symbols_pick(&list, names, n, m->library, &symbol, &k->diag) != ST_OK)
        return fail_diag(m);
    k->row.symbol = arena_cstr(m->arena, symbol->name);
    k->row.demangled = arena_cstr(m->arena, symbol->plain);
    return true;
}

/* A case of our own has its data; that of another generator makes it. */
static bool golden(struct making *m)
{
    const char *script = fs_join(m->arena, m->case_dir, "golden.py");
    const char *argv[] = {"python3", "golden.py", NULL};
    int64_t limit = m->run->job->step_seconds;

    if (m->run->job->ptoas_root == NULL)
        return true;
    incore_kernel_step(m->run, m->k, "golden");
    if (!fs_exists(script))
        return msprof_fail(m, arena_printf(m->arena, "missing golden.py in %s", m->case_dir));
    return step(m, argv, m->case_dir, log_of(m, "golden.log"), limit, NULL) ||
           fail_step(m, "golden", log_of(m, "golden.log"), limit);
}

/* ---- collecting and exporting ---- */

static bool run_msprof_collect(struct making *m)
{
    static const struct str success = S_INIT("Profiling running finished. All task success.");
    const struct incore_run_job *job = m->run->job;
    const char *log = fs_join(m->arena, m->collect, "collect.log");
    const char *argv[] = {
        m->run->cann.msprof,
        "op",
        "simulator",
        arena_printf(m->arena, "--application=%s", m->app),
        arena_printf(m->arena, "--kernel-name=%s", m->k->row.symbol),
        arena_printf(m->arena, "--launch-count=%lld", (long long)job->launch_count),
        arena_printf(m->arena, "--soc-version=%s", m->run->soc),
        arena_printf(m->arena, "--timeout=%lld", (long long)job->sim_minutes),
        arena_printf(m->arena, "--output=%s", fs_join(m->arena, m->collect, "out")),
        NULL};
    const char *libraries = cann_library_path(&m->run->cann, m->build_dir, m->run->soc, m->arena);

    incore_kernel_step(m->run, m->k, "collect");
    bool is_ok = step(m, argv, m->case_dir, log, job->wall_seconds, libraries);
    if (is_ok && str_contains(m->done.text, success))
        return true;
    if (m->k->row.message != NULL)
        return false;
    m->k->row.status = "collect_failed";
    m->k->row.message = arena_printf(m->arena, "rc=%d; tail=%s", m->done.rc, tail(m));
    if (m->done.is_timed_out)
        m->k->row.message = arena_printf(m->arena, "killed after %lld s (--wall-seconds); %s",
                                         (long long)job->wall_seconds, m->k->row.message);
    return false;
}

static const char *const dumps[] = {"device0/tmp_dump", "device0/dump", "tmp_dump", "dump"};

static const char *dump_of(struct making *m, const char *opprof)
{
    struct fs_list list = {0};
    const char *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(dumps) && found == NULL; i++)
        if (fs_is_dir(fs_join(m->arena, opprof, dumps[i])))
            found = fs_join(m->arena, opprof, dumps[i]);
    if (found == NULL && fs_walk(m->arena, opprof, NULL, 0, &list, NULL) == ST_OK)
        for (size_t i = 0; i < list.n && found == NULL; i++)
            if (list.at[i].kind == FS_DIR && (str_equal(list.at[i].name, S("tmp_dump")) ||
                                              str_equal(list.at[i].name, S("dump"))))
                found = list.at[i].path;
    return found;
}

/* The dump of the newest OPPROF folder. */
static const char *export_source(struct making *m)
{
    const char *out = fs_join(m->arena, m->collect, "out"), *found = NULL;
    struct fs_list list = {0};

    if (!fs_is_dir(out) || fs_list(m->arena, out, &list, NULL) != ST_OK)
        list.n = 0;
    for (size_t i = list.n; i-- > 0 && found == NULL;) /* names carry the date */
        if (list.at[i].kind == FS_DIR && str_starts(list.at[i].name, S("OPPROF_")))
            found = dump_of(m, list.at[i].path);
    if (found != NULL && !fs_exists(fs_join(m->arena, found, "pc_start_addr.txt"))) {
        if (fs_walk(m->arena, paths_folder(m->arena, found), NULL, 0, &list, NULL) != ST_OK)
            list.n = 0;
        for (size_t i = 0; i < list.n; i++)
            if (list.at[i].kind == FS_FILE && str_equal(list.at[i].name, S("pc_start_addr.txt"))) {
                copy_one(list.at[i].path, found, m->arena, NULL);
                break;
            }
    }
    return found;
}

/* A path in the temporary folder as it will read once that has its name. */
static const char *final_path(struct making *m, const char *path)
{
    struct str all = str_of(path), temp = str_of(m->k->folder);

    if (!str_starts(all, temp))
        return path;
    return arena_printf(m->arena, "%s%.*s", m->k->final, STR_ARGS(str_part(all, temp.n, all.n)));
}

static void export_dump(struct making *m)
{
    const struct incore_run_job *job = m->run->job;
    struct run_row *row = &m->k->row;
    struct run_row counted = {0};
    const char *log = fs_join(m->arena, m->export, "export.log");

    row->export_dir = final_path(m, m->export);
    const char *source = export_source(m);
    if (source == NULL) {
        row->status = "export_src_missing";
        row->message = "no dump/tmp_dump under collect OPPROF dir";
        return;
    }
    row->export_src = final_path(m, source);
    const char *argv[] = {m->run->cann.msprof,
                          "op",
                          "simulator",
                          arena_printf(m->arena, "--export=%s", source),
                          arena_printf(m->arena, "--output=%s", m->export),
                          NULL};
    incore_kernel_step(m->run, m->k, "export");
    bool is_ok = step(m, argv, m->case_dir, log, job->wall_seconds,
                      cann_library_path(&m->run->cann, m->build_dir, m->run->soc, m->arena));
    run_row_count(&counted, m->export, m->arena);
    if (is_ok && counted.trace_json != NULL && counted.visualize_data_bin != NULL) {
        row->status = "exported";
        row->message = "ok";
        return;
    }
    row->status = "export_failed";
    row->message = arena_printf(m->arena, "rc=%d; artifacts=%lld; tail=%s", m->done.rc,
                                (long long)counted.artifact_count, tail(m));
}

/* A name that cmake and shells take as it is. */
static const char *testcase_of(struct incore_kernel *k)
{
    char *name = arena_cstr(&k->arena, arena_format(&k->arena, "%s_msprof", k->source->name));

    for (char *c = name; *c != '\0'; c++)
        if (!char_is_word(*c))
            *c = '_';
    return name;
}

static bool make_folders(struct making *m)
{
    const char *folders[] = {m->logs, m->build_dir, m->collect, m->export};

    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        if (incore_run_private(folders[i], &m->k->diag) != ST_OK)
            return fail_diag(m);
    return true;
}

/* Does the text read numbers from buffers, one of which nobody gave data for? Without a text nobody
 * knows. */
static bool may_lack_data(const struct incore_run *run, const struct incore_kernel *k)
{
    const struct incore_run_job *job = run->job;
    bool reads = k->text.n == 0 || str_contains(k->text, S("pto.load_scalar")) ||
                 str_contains(k->text, S("pto.tgetval"));
    bool is_given = true;

    for (size_t i = 0; i < k->entry.n_params; i++)
        is_given = is_given && (!k->entry.params[i].is_pointer ||
                                incore_kernel_given(k, &job->inputs, i).n > 0 ||
                                incore_kernel_given(k, &job->fills, i).n > 0);
    return reads && !is_given;
}

void incore_run_msprof(struct incore_run *run, struct incore_kernel *k)
{
    struct making m = {.run = run, .k = k, .arena = &k->arena, .testcase = testcase_of(k)};
    struct str last = str_basename(str_of(k->final));
    const char *name = arena_cstr(m.arena, last);
    struct run_row counted = {0};

    m.logs = fs_join(m.arena, fs_join(m.arena, run->run_root, "logs"), name);
    m.build_dir = fs_join(m.arena, fs_join(m.arena, run->run_root, "builds"), name);
    m.case_dir =
        fs_join(m.arena, run->run_root, arena_printf(m.arena, "cases/ptoas/%s", m.testcase));
    m.collect = fs_join(m.arena, k->folder, "collect");
    m.export = fs_join(m.arena, k->folder, "export");
    if (k->source->cpp == NULL) {
        k->row.message = "no C++ source; the vendor simulator runs compiled kernels";
        return;
    }
    remove_tree(m.build_dir);
    remove_tree(m.case_dir);
    if (!make_folders(&m))
        return;
    incore_kernel_step(run, k, "generate");
    if (!(run->job->ptoas_root != NULL ? generate_other(&m) : generate_own(&m)))
        return;
    k->may_lack_data = may_lack_data(run, k);
    k->row.case_dir = m.case_dir;
    k->row.build_dir = m.build_dir;
    if (!build(&m) || !find_symbol(&m) || !golden(&m) || !run_msprof_collect(&m))
        return;
    run_row_count(&counted, fs_join(m.arena, m.collect, "out"), m.arena);
    if (counted.trace_json == NULL || counted.visualize_data_bin == NULL) {
        export_dump(&m);
        return;
    }
    k->row.status = "exported";
    k->row.message = "collect produced traces directly";
}
