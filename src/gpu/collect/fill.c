/*
 * Measurements put into the struct that rules and reports read.
 */
#include <math.h>

#include "base/tables/ranked.h"
#include "gpu/collect/plan.h"

enum { SHORT_NS = 50000 }; /* events resolve half a microsecond: 1 % of this */

static enum status make_stages(struct gpu_run *run, const struct gpu_plan *plan, bool is_own,
                               struct diag *d)
{
    struct gpu_spec spec = plan->spec;

    spec.stages.at = plan->stages.at;
    spec.stages.n = plan->stages.n;
    return gpu_run_stages(run, is_own ? NULL : &spec, (struct gpu_work_option){0}, d);
}

/* Sizes of one kernel have numbers, unless a plan selects kernels by their names.
 * Without counters durations and launch resources are all there is. The counter run knows shape and
 * dynamic shared memory only: the rest comes from the run without instruments. */
static struct gpu_kernel kernel_of(struct gpu_run *run, const struct gpu_plan *plan,
                                   const struct gpu_variants *all, const struct gpu_variant *v,
                                   bool is_own, uint64_t id)
{
    struct gpu_kernel k = gpu_kernel_none();

    k.name = v->sort > 0 && is_own
                 ? arena_format(&run->arena, "%.*s#%u", STR_ARGS(v->name), v->sort)
                 : arena_str(&run->arena, v->name);
    if (v->counted != NULL) {
        memcpy(k.m, v->counted->kernel.m, sizeof(k.m));
        memcpy(k.stalls, v->counted->kernel.stalls, sizeof(k.stalls));
        k.n_stalls = v->counted->kernel.n_stalls;
    }
    if (isnan(k.m[GPU_M_DUR_NS])) /* not counted, or in a graph */
        k.m[GPU_M_DUR_NS] = v->median_ns;
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

/* What the counters of a kernel do not tell, or tell of some launches only. */
static void note_counters(struct gpu_run *run, const struct gpu_variant *v)
{
    if (v->counted == NULL)
        return;
    if (v->problems > 1)
        gpu_run_note(run,
                     "%.*s is mixed: launches with one grid and block did different work (%zu "
                     "sorts); its counters are of one sort, its times of all",
                     STR_ARGS(v->name), v->problems);
    if (v->sort == 1)
        gpu_run_note(run,
                     "%.*s was launched for several sizes with one grid and block; their "
                     "times distinguish them; numbered, longest first",
                     STR_ARGS(v->name));
    if (v->counted->values < v->counted->metrics)
        gpu_run_note(run,
                     "%.*s: %zu of %zu counters; launches take turns with them, and there were "
                     "too few",
                     STR_ARGS(v->name), v->counted->values, v->counted->metrics);
}

enum status gpu_fill_kernels(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_variants *all, bool has_own_stages, struct diag *d)
{
    double *medians = ARENA_ARRAY(&run->arena, double, all->at.n);

    for (size_t i = 0; i < all->at.n; i++) {
        const struct gpu_variant *v = &all->at.at[i];
        if (v->stage < 0 && !has_own_stages)
            continue;
        medians[run->kernels.n] = v->median_ns;
        struct gpu_kernel k = kernel_of(run, plan, all, v, has_own_stages, run->kernels.n);
        vec_push(&run->kernels, k);
        note_counters(run, v);
    }
    TRY(make_stages(run, plan, has_own_stages, d));
    for (size_t i = 0; i < run->stages.n; i++)
        run->stages.at[i].event_ns = gpu_run_stage_time(run, &run->stages.at[i], medians);
    return ST_OK;
}

enum status gpu_fill_timings(struct gpu_run *run, const struct gpu_plan *plan,
                             const struct gpu_variants *all, const struct gpu_launch *runs,
                             size_t n, struct diag *d)
{
    double *ns = ARENA_ARRAY(&run->arena, double, n + 1);
    size_t pairs = 0;

    for (size_t i = 0; i < n; i++)
        vec_push(&run->timings, (double)runs[i].duration_ns);
    /* From the launch of one run to that of the next, in the middle: what an iteration takes the
     * host. NAN when no two runs of one start follow one another. */
    for (size_t i = 1; i < n; i++)
        if (runs[i].number == runs[i - 1].number + 1 && runs[i].start > runs[i - 1].start)
            ns[pairs++] = (double)(runs[i].start - runs[i - 1].start);
    ranked_sort(ns, pairs);
    run->host_ns = ranked_middle(ns, pairs);
    const struct gpu_variant *v = gpu_variants_main(all, 0);
    if (v != NULL) {
        struct gpu_kernel k = kernel_of(run, plan, all, v, false, 0);
        struct gpu_timing timing = gpu_timing_of(run->timings.at, run->timings.n);
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
