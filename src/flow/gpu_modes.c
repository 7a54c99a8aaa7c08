#include "flow/gpu_modes.h"

#include <math.h>
#include <stdio.h>

#include "base/fs.h"
#include "base/mapfile.h"
#include "driver/driver.h"
#include "driver/ncu_run.h"
#include "flow/gpu_compiled.h"
#include "flow/gpu_nsys.h"

/* A program that failed may have left something worth a report. */
static bool is_usable(enum gpu_outcome code)
{
    return code == GPU_DONE || code == GPU_WORKLOAD || code == GPU_LATE;
}

static enum gpu_outcome later(enum gpu_outcome code, enum status st)
{
    return code == GPU_DONE ? gpu_outcome_of(st) : code;
}

static enum gpu_outcome by_counters(struct gpu_mode_run *m, struct gpu_metric_set metrics)
{
    enum gpu_outcome code =
        gpu_measure_annotation(&m->collect, m->plan, m->job, metrics, &m->measured);

    m->is_partial |= m->measured.is_partial;
    if (!is_usable(code) || m->measured.variants.at.n == 0)
        return code;
    return later(code, gpu_fill_kernels(m->run, m->plan, &m->measured, m->collect.diag));
}

static enum gpu_outcome by_events(struct gpu_mode_run *m)
{
    enum gpu_outcome code = gpu_measure_event(&m->collect, m->plan, m->job, &m->measured);

    if (!is_usable(code) || m->measured.events.runs.n == 0)
        return code;
    return later(code, gpu_fill_timings(m->run, m->plan, &m->measured, m->collect.diag));
}

static enum gpu_outcome by_trace(struct gpu_mode_run *m)
{
    struct gpu_collect *c = &m->collect;
    enum gpu_outcome code = gpu_collect_trace(c, "timeline", "std", &m->measured.timing);

    if (!is_usable(code) || m->measured.timing.launches.n == 0)
        return code;
    const char *folder = fs_join(c->arena, c->folder, "timeline");
    enum status st = gpu_nsys_analyse(folder, m->plan, m->run, c->arena, c->diag);
    if (st == ST_OK && m->measured.timing.paths.n == 1) /* the name that readers expect */
        (void)rename(m->measured.timing.paths.at[0], fs_join(c->arena, folder, "trace.strata"));
    return later(code, st);
}

/* What ncu said went wrong: told, and whether our own counters can take its place. */
static enum gpu_outcome tell_trouble(struct gpu_mode_run *m, enum ncu_trouble trouble,
                                     const struct workload_result *r, bool *is_replaced)
{
    struct diag *d = m->collect.diag;
    bool is_strict = m->job->backend == BACKEND_NCU;

    *is_replaced = !is_strict && (trouble == NCU_INCOMPATIBLE || trouble == NCU_NOT_PERMITTED);
    switch (trouble) {
    case NCU_FINE:
        return GPU_DONE;
    case NCU_NOT_PERMITTED:
        diag_add(d, *is_replaced ? SEV_LOSS : SEV_ERROR, "gpu.not-permitted", (struct where){0},
                 "ncu may not read hardware counters (ERR_NVGPUCTRPERM): run as root (or with "
                 "CAP_SYS_ADMIN), load the driver with NVreg_RestrictProfilingToAdminUsers=0, or "
                 "start the container with --cap-add=SYS_ADMIN");
        return GPU_TOOL;
    case NCU_INCOMPATIBLE:
        diag_add(d, *is_replaced ? SEV_LOSS : SEV_ERROR, "gpu.incompatible", (struct where){0},
                 "ncu %s does not fit driver %s",
                 m->ncu_version != NULL ? m->ncu_version : "of unknown version",
                 m->collect.session->info.driver);
        return GPU_TOOL;
    case NCU_BUSY:
        diag_fail(d, ST_UNSUPPORTED, "gpu.other-profiler", (struct where){0},
                  "another profiler has the GPU, says ncu");
        return GPU_HELD;
    case NCU_NO_KERNELS:
        diag_fail(d, ST_NOT_FOUND, "gpu.no-kernels", (struct where){0},
                  "no kernel was profiled by ncu");
        diag_hint(d, "try", "--select with another expression; `--mode nsys` lists the kernels");
        return GPU_USAGE;
    case NCU_FAILED:
        if (r->end == WORKLOAD_FAILED)
            return GPU_WORKLOAD;
        return r->end == WORKLOAD_LATE ? GPU_LATE : GPU_TOOL;
    }
    return GPU_TOOL;
}

static enum status read_page(struct gpu_mode_run *m, const char *path)
{
    struct mapfile map;
    struct diag *d = m->collect.diag;

    TRY(mapfile_open(&map, path, d));
    enum status st = gpu_ncu_read(&m->pages, path, map.text, d);
    mapfile_close(&map);
    return st;
}

/* A page that adds to the others: what is wrong with it is a loss. */
static void read_more(struct gpu_mode_run *m, const char *path)
{
    struct gpu_collect *c = &m->collect;
    struct diag said, *kept = c->diag;

    if (!fs_exists(path))
        return;
    diag_init(&said);
    c->diag = &said;
    if (read_page(m, path) != ST_OK)
        diag_add(kept, SEV_LOSS, "gpu.ncu-page", (struct where){.path = path}, "%s",
                 said.entries.n > 0 ? said.entries.at[0].first[0].text : "cannot be read");
    c->diag = kept;
    diag_fini(&said);
}

static enum status read_pages(struct gpu_mode_run *m, const char *folder)
{
    struct arena *arena = m->collect.arena;

    m->pages.arena = &m->run->arena;
    TRY(read_page(m, fs_join(arena, folder, ncu_page_file(NCU_RAW))));
    read_more(m, fs_join(arena, folder, ncu_page_file(NCU_DETAILS)));
    read_more(m, fs_join(arena, folder, ncu_page_file(NCU_SOURCE)));
    if (m->pages.listings.n == 0) /* no line numbers: instructions alone */
        read_more(m, fs_join(arena, folder, ncu_page_file(NCU_SASS)));
    read_more(m, fs_join(arena, folder, ncu_page_file(NCU_PTX)));
    gpu_source_attach(&m->pages);
    /* The run takes the kernels over; listings stay with the pages. */
    for (size_t i = 0; i < m->pages.kernels.n; i++)
        vec_push(&m->run->kernels, m->pages.kernels.at[i]);
    m->pages.kernels.n = 0;
    return ST_OK;
}

/* The section that leads to the files of ncu. */
static void add_files(struct gpu_run *run)
{
    vec_push(&run->sections,
             ((struct gpu_section){
                 S("Files"), S("| File | Content |\n|---|---|\n"
                               "| `report-verbose.md` | every section and rule |\n"
                               "| `ncu/report.ncu-rep` | the report, for ncu-ui |\n"
                               "| `ncu/raw.csv`, `ncu/details.csv` | its pages in base units |\n"
                               "| `ncu/source_sass.csv` | instructions with samples |\n"
                               "| `source/`, `sass/`, `ptx/` | annotated source, instructions, "
                               "PTX |\n")}));
}

static enum gpu_outcome run_ncu(struct gpu_mode_run *m, const char *program, bool *is_replaced)
{
    struct gpu_collect *c = &m->collect;
    const char *folder = fs_join(c->arena, c->folder, "ncu");
    struct ncu_job job = {
        .program = program,
        .report = fs_join(c->arena, folder, "report"),
        .skip = m->job->skip,
        .count = m->job->count,
        .is_clock_base = false,
        .is_cache_flushed = m->job->is_cache_flushed,
        .kernels = gpu_selections_regex(m->plan->selections, m->plan->stages.n, c->arena),
        .argv = c->argv,
    };
    struct workload_result result;
    struct diag said;

    for (size_t i = 0; i < m->plan->stages.n && job.range == NULL; i++)
        job.range = m->plan->selections[i].range;
    enum status st = fs_mkdirs(folder, c->diag);
    if (st != ST_OK)
        return GPU_FILE;
    struct workload run = {.label = "ncu collects (every kernel some forty times)",
                           .argv = ncu_collect_argv(&job, c->arena),
                           .log = fs_join(c->arena, folder, "program.log"),
                           .device = -1};
    diag_init(&said);
    st = workload_run(&run, &c->session->watch, c->arena, &result, &said);
    enum ncu_trouble trouble = ncu_trouble_of(result.out, result.err, result.code);
    if (result.end == WORKLOAD_CANCELLED || st != ST_OK) {
        diag_merge(c->diag, &said);
        diag_fini(&said);
        return st != ST_OK ? gpu_outcome_of(st) : GPU_INTERRUPTED;
    }
    if (trouble == NCU_FAILED)
        diag_merge(c->diag, &said);
    diag_fini(&said);
    enum gpu_outcome code = tell_trouble(m, trouble, &result, is_replaced);
    c->program_code = result.code;
    if (code != GPU_DONE)
        return code;
    code = gpu_outcome_of(ncu_import(&job, folder, c->session->want.progress, c->diag));
    if (code != GPU_DONE)
        return code;
    add_files(m->run);
    return gpu_outcome_of(read_pages(m, folder));
}

static enum gpu_outcome by_ncu(struct gpu_mode_run *m)
{
    struct probe_result ncu = {0};
    bool is_replaced = false;
    struct diag *d = m->collect.diag;

    if (m->job->backend != BACKEND_CUPTI)
        driver_ncu.probe(m->collect.arena, &ncu);
    if (m->job->backend != BACKEND_CUPTI && ncu.state == PROBE_FOUND) {
        m->ncu_version = ncu.version;
        enum gpu_outcome code = run_ncu(m, ncu.path, &is_replaced);
        if (!is_replaced)
            return code != GPU_DONE ? code : gpu_outcome_of(gpu_fill_stages(m->run, m->plan, d));
    } else if (m->job->backend == BACKEND_NCU) {
        diag_fail(d, ST_TOOL, "tool.missing", (struct where){0}, "ncu was not found: %s",
                  ncu.reason);
        return GPU_TOOL;
    }
    if (m->collect.injected == NULL)
        return GPU_TOOL;
    diag_add(d, SEV_WARN, "gpu.no-ncu", (struct where){0},
             "own counters in place of ncu: its rules, sources and PTX are not there");
    return by_counters(m, gpu_metrics_deep);
}

/* The GPU code of the kernels, from the run that saved the modules. */
static void keep_code(struct gpu_mode_run *m)
{
    static const char *const parts[] = {"trace/timing", "trace/event-1", "trace/timing",
                                        "timeline"};
    const struct gpu_recorded *timing = &m->measured.timing, *events = &m->measured.events;
    struct gpu_collect *c = &m->collect;
    bool is_event = m->job->mode == PROFILE_EVENT;
    struct gpu_compiled_job job = {
        .folder = c->folder,
        .modules = fs_join(c->arena, c->folder, parts[m->job->mode]),
        .program = c->argv[0],
        .launches = is_event ? events->runs.at : timing->launches.at,
        .n_launches = is_event ? events->runs.n : timing->launches.n,
    };

    m->pages.arena = &m->run->arena;
    gpu_compiled_keep(&job, m->run, &m->pages, c->diag);
}

static enum gpu_outcome collect(struct gpu_mode_run *m)
{
    switch (m->job->mode) {
    case PROFILE_ANNOTATION:
        return m->job->backend == BACKEND_NCU ? by_ncu(m) : by_counters(m, gpu_metrics_quick);
    case PROFILE_EVENT:
        return by_events(m);
    case PROFILE_NCU:
        return by_ncu(m);
    case PROFILE_NSYS:
        break;
    }
    return by_trace(m);
}

enum gpu_outcome gpu_mode_collect(struct gpu_mode_run *m)
{
    enum gpu_outcome code = collect(m);

    keep_code(m);
    return code;
}

void gpu_mode_free(struct gpu_mode_run *m)
{
    gpu_measured_free(&m->measured);
    gpu_import_free(&m->pages);
}
