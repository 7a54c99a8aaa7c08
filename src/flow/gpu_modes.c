/*
 * What each mode runs. See gpu_modes.h.
 */
#include "flow/gpu_modes.h"

#include <math.h>
#include <stdio.h>

#include "base/fs.h"
#include "base/mapfile.h"
#include "driver/driver.h"
#include "driver/ncu_run.h"
#include "flow/flow_gpu_timeline.h"
#include "gpu/timeline_out.h"

enum { NAMES_SHOWN = 8 };

/* What one run of ncu is to look at, and where its report goes. */
struct ncu_part {
    const char *program, *folder;
    const char *regex, *range; /* NULL: none */
};

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
    return later(code, gpu_fill_kernels(m->run, m->plan, &m->measured.variants,
                                        m->measured.has_own_stages, m->collect.diag));
}

static enum gpu_outcome by_events(struct gpu_mode_run *m)
{
    enum gpu_outcome code = gpu_measure_event(&m->collect, m->plan, m->job, &m->measured);

    if (!is_usable(code) || m->measured.events.runs.n == 0)
        return code;
    return later(code, gpu_fill_timings(m->run, m->plan, &m->measured.variants,
                                        m->measured.events.runs.at, m->measured.events.runs.n,
                                        m->collect.diag));
}

/* Kernels, sections and opportunities of the device that was busy longest. */
static enum status fill_timeline(const struct gpu_timeline_result *r, const struct gpu_plan *plan,
                                 struct gpu_run *run, struct diag *d)
{
    struct timeline *t = NULL;
    size_t candidates;
    struct timeline_device *device = gpu_timeline_busiest(r, 1, &t, &candidates);

    if (device == NULL)
        return ST_OK;
    if (candidates > 1)
        gpu_run_note(
            run, "the report covers the busiest of %zu devices and processes; the tables cover all",
            candidates);
    timeline_run_kernels(t, device, run);
    TRY(gpu_fill_stages(run, plan, d));
    timeline_run_sections(t, device, run);
    return ST_OK;
}

/* Reads the recordings in `folder` and writes the tables there. */
static enum status analyse_timeline(const char *folder, const struct gpu_plan *plan,
                                    struct gpu_run *run, struct arena *arena, struct diag *d)
{
    struct gpu_timeline_job job = gpu_timeline_job_new(folder);
    struct gpu_timeline_result result;
    size_t n = 0;

    enum status st = flow_gpu_timeline(&job, arena, d, &result);
    if (st == ST_OK)
        st = fill_timeline(&result, plan, run, d);
    if (st == ST_OK)
        st = gpu_timeline_save(result.timelines, result.n, folder, arena, d,
                               ARENA_ARRAY(arena, const char *, GPU_TIMELINE_FILES + result.n), &n);
    gpu_timeline_result_free(&result);
    return st;
}

/* A plain run shows which kernels there are. */
static enum gpu_outcome fail_no_kernels(struct gpu_mode_run *m)
{
    struct gpu_collect *c = &m->collect;
    const char *regex = gpu_selections_regex(m->plan->selections, m->plan->stages.n, c->arena);
    struct gpu_variants seen = {0};
    struct diag said, *kept = c->diag;

    diag_fail(kept, ST_NOT_FOUND, "gpu.no-kernels", (struct where){0},
              "no kernel was profiled by ncu: %s%s matched nothing",
              regex != NULL ? "the expression " : "", regex != NULL ? regex : "the ranges");
    if (c->injected != NULL) {
        diag_init(&said);
        c->diag = &said;
        (void)gpu_collect_trace(c, "trace/timing", "min", &m->measured.timing);
        c->diag = kept;
        diag_fini(&said);
        gpu_variants_time(&seen, m->measured.timing.launches.at, m->measured.timing.launches.n, -1);
        diag_hint(kept, "seen", "%.*s", STR_ARGS(gpu_seen_names(&seen, NAMES_SHOWN, c->arena)));
        gpu_variants_free(&seen);
    }
    diag_hint(kept, "try",
              "another --select expression; child processes must inherit the environment");
    return GPU_USAGE;
}

/* What ncu said went wrong: told, and whether our own counters can take its place. */
static enum gpu_outcome report_trouble(struct gpu_mode_run *m, enum ncu_trouble trouble,
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
                 "ncu %s does not support driver %s",
                 m->ncu_version != NULL ? m->ncu_version : "of unknown version",
                 m->collect.session->info.driver);
        return GPU_TOOL;
    case NCU_BUSY:
        diag_fail(d, ST_UNSUPPORTED, "gpu.other-profiler", (struct where){0},
                  "ncu: another profiler is using the GPU");
        return GPU_HELD;
    case NCU_NO_KERNELS:
        return fail_no_kernels(m);
    case NCU_FAILED:
        if (r->end == WORKLOAD_FAILED)
            return GPU_WORKLOAD;
        return r->end == WORKLOAD_LATE ? GPU_LATE : GPU_TOOL;
    }
    return GPU_TOOL;
}

static enum status read_page(struct gpu_mode_run *m, struct gpu_import *in, const char *path)
{
    struct mapfile map;
    struct diag *d = m->collect.diag;

    TRY(mapfile_open(&map, path, d));
    enum status st = gpu_ncu_read(in, path, map.text, d);
    mapfile_close(&map);
    return st;
}

/* A page that adds to the others: what is wrong with it is a loss. */
static void read_more(struct gpu_mode_run *m, struct gpu_import *in, const char *path)
{
    struct gpu_collect *c = &m->collect;
    struct diag said, *kept = c->diag;

    if (!fs_exists(path))
        return;
    diag_init(&said);
    c->diag = &said;
    if (read_page(m, in, path) != ST_OK)
        diag_add(kept, SEV_LOSS, "gpu.ncu-page", (struct where){.path = path}, "%s",
                 said.entries.n > 0 ? said.entries.at[0].first[0].text : "cannot be read");
    c->diag = kept;
    diag_fini(&said);
}

/* The run takes the kernels over, the pages of the mode the listings. */
static void move_pages(struct gpu_mode_run *m, struct gpu_import *from, const char *range)
{
    for (size_t i = 0; i < from->kernels.n; i++) {
        struct gpu_kernel k = from->kernels.at[i];
        k.id = m->run->kernels.n;
        if (range != NULL)
            k.nvtx = str_of(range);
        vec_push(&m->run->kernels, k);
    }
    for (size_t i = 0; i < from->listings.n; i++)
        vec_push(&m->pages.listings, from->listings.at[i]);
    for (size_t i = 0; i < from->ptx.n; i++)
        vec_push(&m->pages.ptx, from->ptx.at[i]);
    from->kernels.n = from->listings.n = 0;
    gpu_import_free(from);
}

/* The pages of one report; its kernels are all of `range`, if there is one. */
static enum status read_pages(struct gpu_mode_run *m, const char *folder, const char *range)
{
    struct arena *arena = m->collect.arena;
    struct gpu_import in = {.arena = &m->run->arena};

    enum status st = read_page(m, &in, fs_join(arena, folder, ncu_page_file(NCU_RAW)));
    if (st == ST_OK) {
        read_more(m, &in, fs_join(arena, folder, ncu_page_file(NCU_DETAILS)));
        read_more(m, &in, fs_join(arena, folder, ncu_page_file(NCU_SOURCE)));
        if (in.listings.n == 0) /* no line numbers: instructions alone */
            read_more(m, &in, fs_join(arena, folder, ncu_page_file(NCU_SASS)));
        read_more(m, &in, fs_join(arena, folder, ncu_page_file(NCU_PTX)));
        gpu_source_attach(&in);
    }
    move_pages(m, &in, range);
    return st;
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

/* One collecting run of ncu, for the expression of all stages or for one range. */
static enum gpu_outcome run_ncu(struct gpu_mode_run *m, struct ncu_part part, bool *is_replaced)
{
    struct gpu_collect *c = &m->collect;
    const char *folder = fs_join(c->arena, c->folder, part.folder);
    struct ncu_job job = {
        .program = part.program,
        .report = fs_join(c->arena, folder, "report"),
        .skip = m->job->skip,
        .count = m->job->count,
        .is_clock_base = false,
        .is_cache_flushed = m->job->cache == CACHE_FLUSH,
        .kernels = part.regex,
        .range = part.range,
        .argv = c->argv,
    };
    struct workload_result result;
    struct diag said;

    enum status st = fs_mkdirs(folder, c->diag);
    if (st != ST_OK)
        return GPU_FILE;
    struct workload run = {.label = "ncu is collecting (about forty passes per kernel)",
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
    enum gpu_outcome code = report_trouble(m, trouble, &result, is_replaced);
    c->program_code = result.code;
    if (code != GPU_DONE)
        return code;
    code = gpu_outcome_of(ncu_import(&job, folder, c->session->want.progress, c->diag));
    if (code != GPU_DONE)
        return code;
    return gpu_outcome_of(read_pages(m, folder, part.range));
}

/* Expressions together, then each range: ncu takes what fits both, so they cannot share a run. */
static enum gpu_outcome run_ncu_parts(struct gpu_mode_run *m, const char *program,
                                      bool *is_replaced)
{
    const struct gpu_plan *plan = m->plan;
    struct arena *arena = m->collect.arena;
    const char *regex = gpu_selections_regex(plan->selections, plan->stages.n, arena);
    enum gpu_outcome code = GPU_DONE;
    size_t n = 0;

    for (size_t i = 0; i <= plan->stages.n && code == GPU_DONE; i++) {
        const char *range = i > 0 ? plan->selections[i - 1].range : NULL;
        if (i > 0 ? range == NULL : regex == NULL && plan->stages.n > 0)
            continue;
        struct ncu_part part = {
            .program = program,
            .folder = n == 0 ? "ncu" : arena_printf(arena, "ncu-%zu", n + 1),
            .regex = i == 0 ? regex : NULL,
            .range = range,
        };
        n++;
        code = run_ncu(m, part, is_replaced);
    }
    if (code == GPU_DONE)
        add_files(m->run);
    return code;
}

static enum gpu_outcome by_ncu(struct gpu_mode_run *m)
{
    struct probe_result ncu = {0};
    bool is_replaced = false;
    struct diag *d = m->collect.diag;

    if (m->job->backend != BACKEND_CUPTI)
        ncu = driver_probe(DRIVER_NCU, m->collect.arena);
    if (m->job->backend != BACKEND_CUPTI && ncu.state == PROBE_FOUND) {
        m->ncu_version = ncu.version;
        enum gpu_outcome code = run_ncu_parts(m, ncu.path, &is_replaced);
        if (!is_replaced)
            return code != GPU_DONE ? code : gpu_outcome_of(gpu_fill_stages(m->run, m->plan, d));
    } else if (m->job->backend == BACKEND_NCU) {
        diag_fail(d, ST_TOOL, "tool.missing", (struct where){0}, "ncu not found: %s", ncu.reason);
        return GPU_TOOL;
    }
    if (m->collect.injected == NULL)
        return GPU_TOOL;
    diag_add(d, SEV_WARN, "gpu.no-ncu", (struct where){0},
             "built-in counters instead of ncu: no rules, source view or PTX");
    return by_counters(m, gpu_metrics_deep);
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
    struct gpu_collect *c = &m->collect;
    enum gpu_outcome code = gpu_collect_trace(c, "timeline", "std", &m->measured.timing);
    if (!is_usable(code) || m->measured.timing.launches.n == 0)
        return code;
    const char *folder = fs_join(c->arena, c->folder, "timeline");
    enum status st = analyse_timeline(folder, m->plan, m->run, c->arena, c->diag);
    if (st == ST_OK && m->measured.timing.paths.n == 1) /* the name that readers expect */
        (void)rename(m->measured.timing.paths.at[0], fs_join(c->arena, folder, "trace.strata"));
    return later(code, st);
}

enum gpu_outcome gpu_mode_collect(struct gpu_mode_run *m)
{
    enum gpu_outcome code = collect(m);
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
        .samples = {m->measured.sampled.samples.at, m->measured.sampled.samples.n,
                    m->measured.sampled.reasons, m->measured.sampled.n_reasons},
    };

    /* The GPU code of the kernels, from the run that saved the modules. */
    m->pages.arena = &m->run->arena;
    gpu_compiled_keep(&job, m->run, &m->pages, c->diag);
    return code;
}

void gpu_mode_free(struct gpu_mode_run *m)
{
    gpu_measured_free(&m->measured);
    gpu_import_free(&m->pages);
}
