/*
 * What each mode runs. See gpu_modes.h.
 */
#include "gpu/collect/gpu_modes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "driver/driver.h"
#include "driver/ncu_run.h"
#include "gpu/timeline/gpu_timeline_job.h"
#include "gpu/timeline/timeline_out.h"

enum { NAMES_SHOWN = 8 };

/* ---- the runs of annotation and event mode ---- */

/* Names of the kernels that were seen, most launches first; "none" for none. */
static struct str seen_names(const struct gpu_variants *v, struct arena *arena)
{
    struct str text = S("");
    size_t n = 0;

    for (size_t i = 0; i < v->at.n && n < NAMES_SHOWN; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !str_equal(v->at.at[k].name, v->at.at[i].name);
        if (!is_new)
            continue;
        text = arena_format(arena, "%.*s%s%.*s", STR_ARGS(text), n > 0 ? ", " : "",
                            STR_ARGS(v->at.at[i].name));
        n++;
    }
    return n > 0 ? text : S("none");
}

/* Which kernels there are is told where it is known. */
static enum gpu_outcome fail_no_kernels(struct gpu_collect *c, const char *by,
                                        const struct gpu_plan *plan,
                                        const struct gpu_variants *seen)
{
    const char *regex = gpu_selections_regex(plan->selections, plan->stages.n, c->arena);

    diag_fail(c->diag, ST_NOT_FOUND, "gpu.no-kernels", (struct where){0},
              "no kernel was profiled%s: %s%s matched nothing", by,
              regex != NULL ? "the expression " : "", regex != NULL ? regex : "the ranges");
    if (seen != NULL)
        diag_hint(c->diag, "seen", "%.*s", STR_ARGS(seen_names(seen, c->arena)));
    diag_hint(c->diag, "try",
              "another --select expression; child processes must inherit the environment");
    return GPU_USAGE;
}

/* Without a plan of the user every kernel that matters is a stage. */
static void make_stages(struct gpu_plan *plan, const struct gpu_recorded *timing,
                        struct arena *arena)
{
    struct gpu_variants v = {0};
    struct str *names;
    const struct gpu_param *dtype = gpu_params_get(&plan->params, "dtype");

    gpu_variants_time(&v, timing->launches.at, timing->launches.n, -1);
    size_t n = gpu_variants_make_stages(&v, arena, &names);
    for (size_t i = 0; i < n; i++)
        vec_push(&plan->stages, ((struct gpu_spec_stage){
                                    .name = names[i],
                                    .select = str_of(gpu_regex_of_name(names[i], arena)),
                                    .dtype = dtype != NULL ? dtype->text : S(""),
                                }));
    gpu_variants_free(&v);
    gpu_plan_select(plan, arena);
}

/* One counter run, attached to the variants. */
static enum gpu_outcome modes_count(struct gpu_collect *c, const char *part, struct gpu_pick pick,
                                    struct gpu_metric_set metrics, int stage,
                                    struct gpu_measured *out)
{
    struct gpu_recorded *r = &out->counting.at[out->counting.n++];
    enum gpu_outcome code = gpu_collect_counters(c, part, pick, metrics, r, &out->is_degraded);

    out->is_partial |= gpu_recorded_note(r, "not-replayed") != NULL;
    gpu_variants_count(&out->variants, r->counted.at, r->counted.n, stage, c->arena);
    return code;
}

/* Counters of all stages that a regex selects, then of each range. */
static enum gpu_outcome count_stages(struct gpu_collect *c, struct gpu_plan *plan,
                                     const struct gpu_profile_job *job,
                                     struct gpu_metric_set metrics, struct gpu_measured *out)
{
    /* Small kernels, too: they can be asked for later. */
    const char *regex = out->has_own_stages
                            ? "."
                            : gpu_selections_regex(plan->selections, plan->stages.n, c->arena);
    enum gpu_outcome code = GPU_DONE;

    vec_reserve(&out->counting, plan->stages.n + 1); /* variants point into them: not moved */
    for (size_t i = 0; i <= plan->stages.n && code == GPU_DONE && !out->is_degraded; i++) {
        const char *range = i > 0 ? plan->selections[i - 1].range : NULL;
        const char *number = i > 0 ? arena_printf(c->arena, "-%zu", i) : "";
        struct gpu_pick pick = {i > 0 ? NULL : regex, range, job->skip, job->count};
        if (pick.regex == NULL && range == NULL)
            continue;
        code = modes_count(c, arena_printf(c->arena, "trace/counters%s", number), pick, metrics,
                           (int)i - 1, out);
    }
    return code;
}

/* Ranges are timed by events: activity records do not tell which range they are in. */
static enum gpu_outcome time_ranges(struct gpu_collect *c, struct gpu_plan *plan,
                                    const struct gpu_profile_job *job, struct gpu_measured *out)
{
    enum gpu_outcome code = GPU_DONE;

    for (size_t i = 0; i < plan->stages.n && code == GPU_DONE; i++) {
        struct gpu_recorded events;
        size_t starts;
        if (plan->selections[i].range == NULL)
            continue;
        struct gpu_pick pick = {.range = plan->selections[i].range, .skip = job->skip};
        code = gpu_collect_events(c, arena_printf(c->arena, "trace/range-%zu", i + 1), pick, 0, 1,
                                  &events, &starts);
        gpu_variants_time(&out->variants, events.runs.at, events.runs.n, (int)i);
        gpu_recorded_free(&events);
    }
    return code;
}

static enum gpu_outcome check_stages(struct gpu_collect *c, const struct gpu_plan *plan,
                                     struct gpu_measured *out)
{
    size_t found = 0;

    for (size_t i = 0; i < plan->stages.n; i++) {
        if (gpu_variants_main(&out->variants, (int)i) != NULL) {
            found++;
            continue;
        }
        out->is_partial = true;
        diag_add(c->diag, SEV_LOSS, "gpu.stage-empty", (struct where){0},
                 "stage %.*s: no kernel matches %.*s; kernels: %.*s",
                 STR_ARGS(plan->stages.at[i].name), STR_ARGS(plan->stages.at[i].select),
                 STR_ARGS(seen_names(&out->variants, c->arena)));
    }
    return found > 0 ? GPU_DONE : fail_no_kernels(c, "", plan, &out->variants);
}

/* Partial data stays in `out` whatever the outcome. */
static enum gpu_outcome measure_annotation(struct gpu_collect *c, struct gpu_plan *plan,
                                           const struct gpu_profile_job *job,
                                           struct gpu_metric_set metrics, struct gpu_measured *out)
{
    *out = (struct gpu_measured){0};
    enum gpu_outcome code = gpu_collect_trace(c, "trace/timing", "min", &out->timing);
    if (code != GPU_DONE && (code != GPU_WORKLOAD || out->timing.launches.n == 0))
        return code;
    out->has_own_stages = plan->stages.n == 0;
    if (out->has_own_stages)
        make_stages(plan, &out->timing, c->arena);
    gpu_variants_time(&out->variants, out->timing.launches.at, out->timing.launches.n, -1);
    if (code == GPU_DONE)
        code = time_ranges(c, plan, job, out);
    if (code == GPU_DONE)
        code = count_stages(c, plan, job, metrics, out);
    if (code == GPU_DONE && job->is_sampled && !out->is_degraded) {
        double busy = 0;
        for (size_t i = 0; i < out->timing.launches.n; i++)
            busy += (double)out->timing.launches.at[i].duration_ns;
        code = gpu_collect_samples(c, "trace/samples", busy, &out->sampled);
    }
    enum status st = gpu_variants_sort(&out->variants, plan->selections, plan->stages.n, c->diag);
    if (st != ST_OK)
        return GPU_USAGE;
    gpu_variants_split(&out->variants);
    enum gpu_outcome found = check_stages(c, plan, out);
    return code != GPU_DONE ? code : found;
}

/* Without stages in the spec, one stage that selects all launches; the first selection is the
 * one timed. */
static enum gpu_outcome measure_event(struct gpu_collect *c, struct gpu_plan *plan,
                                      const struct gpu_profile_job *job, struct gpu_measured *out)
{
    struct gpu_pick pick = {.skip = job->skip};

    *out = (struct gpu_measured){0};
    if (plan->stages.n == 0) {
        vec_push(&plan->stages, ((struct gpu_spec_stage){.name = plan->kernel, .select = S(".")}));
        gpu_plan_select(plan, c->arena);
    }
    pick.regex = plan->selections[0].regex;
    pick.range = plan->selections[0].range;
    enum gpu_outcome code = gpu_collect_events(c, "trace/event", pick, job->warmup, job->runs,
                                               &out->events, &out->starts);
    gpu_variants_time(&out->variants, out->events.runs.at, out->events.runs.n, 0);
    gpu_variants_sort(&out->variants, NULL, 0, c->diag);
    if (code == GPU_DONE && out->events.runs.n == 0) {
        for (size_t i = 0; i < out->events.seen.n; i++)
            diag_hint(c->diag, "seen", "%s", out->events.seen.at[i].name);
        return fail_no_kernels(c, "", plan, &out->variants);
    }
    if (out->starts > 1)
        diag_add(c->diag, SEV_NOTE, "gpu.restarted", (struct where){0},
                 "the program ran %zu times for %zu timed runs", out->starts, out->events.runs.n);
    return code;
}

/* ---- what each mode makes of them ---- */

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
    enum gpu_outcome code = measure_annotation(&m->collect, m->plan, m->job, metrics, &m->measured);

    m->is_partial |= m->measured.is_partial;
    if (!is_usable(code) || m->measured.variants.at.n == 0)
        return code;
    return later(code, gpu_fill_kernels(m->run, m->plan, &m->measured.variants,
                                        m->measured.has_own_stages, m->collect.diag));
}

static enum gpu_outcome by_events(struct gpu_mode_run *m)
{
    enum gpu_outcome code = measure_event(&m->collect, m->plan, m->job, &m->measured);

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

    enum status st = gpu_timeline_run(&job, arena, d, &result);
    if (st == ST_OK)
        st = fill_timeline(&result, plan, run, d);
    if (st == ST_OK)
        st = gpu_timeline_save(result.timelines, result.n, folder, arena, d,
                               ARENA_ARRAY(arena, const char *, GPU_TIMELINE_FILES + result.n), &n);
    gpu_timeline_result_free(&result);
    return st;
}

/* A plain run shows which kernels there are. */
static enum gpu_outcome fail_no_ncu_kernels(struct gpu_mode_run *m)
{
    struct gpu_collect *c = &m->collect;
    struct gpu_variants seen = {0};
    struct diag said, *kept = c->diag;

    if (c->injected != NULL) {
        diag_init(&said);
        c->diag = &said;
        (void)gpu_collect_trace(c, "trace/timing", "min", &m->measured.timing);
        c->diag = kept;
        diag_fini(&said);
        gpu_variants_time(&seen, m->measured.timing.launches.at, m->measured.timing.launches.n, -1);
    }
    enum gpu_outcome code =
        fail_no_kernels(c, " by ncu", m->plan, c->injected != NULL ? &seen : NULL);
    gpu_variants_free(&seen);
    return code;
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
        return fail_no_ncu_kernels(m);
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

/* ncu first; built-in counters stand in where it is missing, incompatible or not permitted, unless
 * one of the two was asked for by name. */
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

static enum gpu_outcome modes_collect(struct gpu_mode_run *m)
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
    enum gpu_outcome code = modes_collect(m);
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
    gpu_recorded_free(&m->measured.timing);
    gpu_recorded_free(&m->measured.events);
    gpu_recorded_free(&m->measured.sampled);
    for (size_t i = 0; i < m->measured.counting.n; i++)
        gpu_recorded_free(&m->measured.counting.at[i]);
    vec_free(&m->measured.counting);
    gpu_variants_free(&m->measured.variants);
    gpu_import_free(&m->pages);
}
