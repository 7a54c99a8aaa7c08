/*
 * Words for Nsight Compute, and its pages as files. See ncu_run.h.
 */
#include "driver/ncu_run.h"

#include "base/files/fs.h"

enum { WORDS_MOST = 64, IMPORT_MS = 600000 };

static struct words run_begin(struct arena *arena, const char *const *argv)
{
    size_t n = 0;

    while (argv != NULL && argv[n] != NULL)
        n++;
    return (struct words){.at = ARENA_ARRAY(arena, const char *, WORDS_MOST + n + 1)};
}

static void run_add(struct words *w, const char *word)
{
    w->at[w->n++] = word;
}

static void add_pair(struct words *w, const char *name, const char *value)
{
    run_add(w, name);
    run_add(w, value);
}

static void add_number(struct words *w, struct arena *arena, const char *name, uint64_t value)
{
    add_pair(w, name, arena_printf(arena, "%llu", (unsigned long long)value));
}

const char *const *ncu_collect_argv(const struct ncu_job *job, struct arena *arena)
{
    struct words w = run_begin(arena, job->argv);

    run_add(&w, job->program);
    add_pair(&w, "--set", "full");
    add_pair(&w, "--import-source", "yes");
    add_pair(&w, "--clock-control", job->is_clock_base ? "base" : "none");
    add_pair(&w, "--cache-control", job->is_cache_flushed ? "all" : "none");
    if (job->kernels != NULL)
        add_pair(&w, "--kernel-name", arena_printf(arena, "regex:%s", job->kernels));
    if (job->range != NULL) {
        run_add(&w, "--nvtx");
        add_pair(&w, "--nvtx-include", arena_printf(arena, "%s/", job->range));
    }
    if (job->skip > 0)
        add_number(&w, arena, "--launch-skip", job->skip);
    if (job->count > 0)
        add_number(&w, arena, "--launch-count", job->count);
    add_pair(&w, "--target-processes", "all");
    add_pair(&w, "--graph-profiling", "node");
    run_add(&w, "--force-overwrite");
    add_pair(&w, "--export", job->report);
    for (size_t i = 0; job->argv[i] != NULL; i++)
        run_add(&w, job->argv[i]);
    return w.at;
}

static const struct {
    const char *file, *page, *option, *value;
} pages[NCU_PAGES] = {
    [NCU_RAW] = {"raw.csv", "raw", NULL, NULL},
    [NCU_DETAILS] = {"details.csv", "details", "--print-details", "all"},
    [NCU_SASS] = {"source_sass.csv", "source", "--print-source", "sass"},
    [NCU_SOURCE] = {"source_cuda.csv", "source", "--print-source", "cuda,sass"},
    [NCU_PTX] = {"source_ptx.csv", "source", "--print-source", "ptx"},
};

const char *ncu_page_file(enum ncu_report_page page)
{
    return pages[page].file;
}

const char *const *ncu_import_argv(const struct ncu_job *job, enum ncu_report_page page,
                                   struct arena *arena)
{
    struct words w = run_begin(arena, NULL);

    run_add(&w, job->program);
    add_pair(&w, "--import", arena_printf(arena, "%s.ncu-rep", job->report));
    run_add(&w, "--csv");
    add_pair(&w, "--print-units", "base");
    add_pair(&w, "--page", pages[page].page);
    if (pages[page].option != NULL)
        add_pair(&w, pages[page].option, pages[page].value);
    return w.at;
}

enum ncu_trouble ncu_trouble_of(struct str out, struct str err, int code)
{
    static const struct {
        struct str text;
        enum ncu_trouble trouble;
    } signs[] = {
        {S_INIT("ERR_NVGPUCTRPERM"), NCU_NOT_PERMITTED},
        {S_INIT("not compatible"), NCU_INCOMPATIBLE},
        {S_INIT("already in use"), NCU_BUSY},
        {S_INIT("another instance"), NCU_BUSY},
        {S_INIT("No kernels were profiled"), NCU_NO_KERNELS},
    };

    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_contains(out, signs[i].text) || str_contains(err, signs[i].text))
            return signs[i].trouble;
    return code == 0 ? NCU_FINE : NCU_FAILED;
}

enum status ncu_page_text(const struct ncu_job *job, enum ncu_report_page page, struct arena *arena,
                          struct str *out, struct diag *d)
{
    struct proc_result p;

    TRY(proc_run(&(struct proc_spec){.argv = ncu_import_argv(job, page, arena),
                                     .limit_ms = IMPORT_MS,
                                     .keep_max = (size_t)1 << 30},
                 arena, &p, d));
    if (p.out.n == 0)
        return diag_fail(d, ST_TOOL, "tool.no-output", (struct where){0},
                         "ncu printed nothing for page %s", ncu_page_file(page));
    *out = p.out;
    return ST_OK;
}

enum status nsys_export(const char *program, const char *report, const char *to, struct diag *d)
{
    const char *const argv[] = {program,    "export", "--type", "sqlite",
                                "--output", to,       report,   "--force-overwrite",
                                "true",     NULL};
    struct arena arena;
    struct proc_result p;

    arena_init(&arena);
    enum status st =
        proc_run(&(struct proc_spec){.argv = argv, .limit_ms = IMPORT_MS, .keep_max = 1 << 16},
                 &arena, &p, d);
    if (st == ST_OK && !fs_exists(to))
        st = diag_fail(d, ST_TOOL, "tool.no-output", (struct where){.path = report},
                       "nsys export wrote no database");
    arena_free(&arena);
    return st;
}

enum status ncu_import(const struct ncu_job *job, const char *folder,
                       const struct progress *progress, struct diag *d)
{
    for (enum ncu_report_page page = 0; page < NCU_PAGES; page++) {
        struct diag said;
        struct arena arena;
        struct str text;
        progress_tick(progress, "reading pages of ncu", page, NCU_PAGES);
        diag_init(&said);
        struct diag *to = page == NCU_RAW ? d : &said;
        arena_init(&arena);
        enum status st = ncu_page_text(job, page, &arena, &text, to);
        if (st == ST_OK)
            st = outfile_save(fs_join(&arena, folder, ncu_page_file(page)), text, to);
        arena_free(&arena);
        if (st != ST_OK && page != NCU_RAW)
            diag_add(d, SEV_LOSS, "gpu.ncu-page", (struct where){0}, "no page %s: %s",
                     ncu_page_file(page),
                     said.entries.n > 0 ? said.entries.at[0].first[0].text : "cancelled");
        diag_fini(&said);
        if (st == ST_CANCELLED || (st != ST_OK && page == NCU_RAW))
            return st;
    }
    return ST_OK;
}
