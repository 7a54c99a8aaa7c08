#include "flow/gpu_fill.h"

#include <math.h>

#include "base/ranked.h"
#include "flow/flow_devices.h"

enum { SHORT_NS = 50000 }; /* events resolve half a microsecond: 1 % of this */

static struct str keep(struct gpu_run *run, const char *text)
{
    return arena_str(&run->arena, str_of(text));
}

static struct str on_off(int state)
{
    return state < 0 ? S("") : state > 0 ? S("on") : S("off");
}

static struct gpu_device describe(struct gpu_run *run, const struct gpu_card *info)
{
    return (struct gpu_device){
        .name = keep(run, info->name),
        .uuid = keep(run, info->uuid),
        .cc = arena_format(&run->arena, "%d.%d", info->cc_major, info->cc_minor),
        .driver = keep(run, info->driver),
        .cuda = info->cuda > 0
                    ? arena_format(&run->arena, "%d.%d", info->cuda / 1000, info->cuda % 1000 / 10)
                    : S(""),
        .ecc = on_off(info->ecc),
        .mig = on_off(info->mig),
        .sm_count = info->sm_count,
        .l2_bytes = (double)info->l2_bytes,
        .mem_bytes = (double)info->mem_bytes,
        .bus_bits = info->bus_bits,
        .mem_clock_khz = info->mem_clock_khz,
        .sm_clock_khz = info->sm_clock_khz,
    };
}

enum status gpu_fill_facts(struct gpu_run *run, const struct gpu_plan *plan,
                           const struct gpu_profile_job *job, const struct gpu_session *s,
                           struct diag *d)
{
    struct device_table table;
    const char *path;
    size_t rows;
    bool is_event = job->mode == PROFILE_EVENT;

    run->kernel = arena_str(&run->arena, plan->kernel);
    run->version = arena_str(&run->arena, plan->version);
    run->mode = str_of(gpu_profile_mode_name(job->mode));
    for (size_t i = 0; i < plan->params.list.n; i++)
        vec_push(&run->params.list, plan->params.list.at[i]);
    run->runs = is_event ? (double)job->runs : NAN;
    run->warmup = is_event ? (double)job->warmup : NAN;
    run->defaults_slug = plan->slug;
    run->device = describe(run, &s->info);
    TRY(flow_devices(&run->arena, &table, &path, &rows, d));
    run->peaks = gpu_peaks_of(&table, &run->device,
                              (struct gpu_peak_override){job->peak_tflops, job->peak_gbps});
    return ST_OK;
}

static struct gpu_spec spec_of(const struct gpu_plan *plan)
{
    struct gpu_spec spec = plan->spec;

    spec.stages.at = plan->stages.at;
    spec.stages.n = plan->stages.n;
    return spec;
}

static enum status make_stages(struct gpu_run *run, const struct gpu_plan *plan, bool is_own,
                               struct diag *d)
{
    struct gpu_spec spec = spec_of(plan);

    return gpu_run_stages(run, is_own ? NULL : &spec, (struct gpu_work_option){0}, d);
}

/* Without counters durations and launch resources are all there is. The counter run knows shape and
 * dynamic shared memory only: the rest comes from the run without instruments. */
static struct gpu_kernel kernel_of(struct gpu_run *run, const struct gpu_plan *plan,
                                   const struct gpu_variants *all, const struct gpu_variant *v,
                                   uint64_t id)
{
    struct gpu_kernel k = gpu_kernel_none();

    k.name = arena_str(&run->arena, v->name);
    if (v->counted != NULL) {
        memcpy(k.m, v->counted->kernel.m, sizeof(k.m));
        memcpy(k.stalls, v->counted->kernel.stalls, sizeof(k.stalls));
        k.n_stalls = v->counted->kernel.n_stalls;
    } else {
        k.m[GPU_M_DUR_NS] = v->median_ns;
    }
    gpu_launch_resources(&k, gpu_variants_launch(all, v));
    /* CUPTI also writes 0 for kernels that use local memory. */
    if (gpu_local_sectors(&k) > 0 && k.m[GPU_M_LOCAL_PER_THREAD] == 0)
        k.m[GPU_M_LOCAL_PER_THREAD] = NAN;
    k.id = id;
    k.cc = run->device.cc;
    k.launches = v->durations.n;
    k.total_ns = v->durations.n > 0 ? v->total_ns : NAN;
    if (v->stage >= 0 && plan->selections[v->stage].range != NULL)
        k.nvtx = str_of(plan->selections[v->stage].range);
    return k;
}

enum status gpu_fill_kernels(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_measured *m, struct diag *d)
{
    double *medians = ARENA_ARRAY(&run->arena, double, m->variants.at.n);

    for (size_t i = 0; i < m->variants.at.n; i++) {
        const struct gpu_variant *v = &m->variants.at.at[i];
        if (v->stage < 0 && !m->has_own_stages)
            continue;
        medians[run->kernels.n] = v->median_ns;
        struct gpu_kernel k = kernel_of(run, plan, &m->variants, v, run->kernels.n);
        vec_push(&run->kernels, k);
    }
    TRY(make_stages(run, plan, m->has_own_stages, d));
    for (size_t i = 0; i < run->stages.n; i++)
        run->stages.at[i].event_ns = gpu_run_stage_time(run, &run->stages.at[i], medians);
    return ST_OK;
}

/* From the launch of one run to that of the next, in the middle: what an iteration takes the host.
 * NAN when no two runs of one start follow one another. */
static double host_time(struct arena *arena, const struct gpu_launch *runs, size_t n)
{
    double *ns = ARENA_ARRAY(arena, double, n + 1);
    size_t k = 0;

    for (size_t i = 1; i < n; i++)
        if (runs[i].number == runs[i - 1].number + 1 && runs[i].start > runs[i - 1].start)
            ns[k++] = (double)(runs[i].start - runs[i - 1].start);
    ranked_sort(ns, k);
    return ranked_middle(ns, k);
}

enum status gpu_fill_timings(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_measured *m, struct diag *d)
{
    for (size_t i = 0; i < m->events.runs.n; i++)
        vec_push(&run->timings, (double)m->events.runs.at[i].duration_ns);
    run->host_ns = host_time(&run->arena, m->events.runs.at, m->events.runs.n);
    const struct gpu_variant *v = gpu_variants_main(&m->variants, 0);
    if (v != NULL) {
        struct gpu_kernel k = kernel_of(run, plan, &m->variants, v, 0);
        struct gpu_timing timing;
        double *ns = ARENA_ARRAY(&run->arena, double, run->timings.n);
        memcpy(ns, run->timings.at, run->timings.n * sizeof(*ns));
        timing = gpu_timing_of(ns, run->timings.n);
        k.m[GPU_M_DUR_NS] = timing.median;
        if (timing.median < SHORT_NS)
            gpu_run_note(run,
                         "runs of %.1f us are short for a pair of events: a range around many "
                         "launches (--select nvtx:RANGE) times them together",
                         timing.median / 1e3);
        k.launches = run->timings.n;
        vec_push(&run->kernels, k);
    }
    if (gpu_command_is_script(plan->argv))
        gpu_run_note(run, "the program is run by an interpreter: time between the launches of a "
                          "run, which is the host's, is included");
    return make_stages(run, plan, false, d);
}

enum status gpu_fill_stages(struct gpu_run *run, const struct gpu_plan *plan, struct diag *d)
{
    return make_stages(run, plan, plan->stages.n == 0, d);
}

void gpu_fill_notes(struct gpu_run *run, const struct diag *d)
{
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        uint64_t shown = e->count < DIAG_TEXTS ? e->count : DIAG_TEXTS;
        for (uint64_t k = 0; k < shown; k++)
            gpu_run_note(run, "%s", e->first[k].text);
        if (e->count > shown)
            gpu_run_note(run, "… and %llu more like it", (unsigned long long)(e->count - shown));
    }
}
