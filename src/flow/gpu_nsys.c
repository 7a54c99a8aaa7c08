#include "flow/gpu_nsys.h"

#include "flow/flow_gpu_timeline.h"
#include "gpu/timeline_run.h"

/* The device with most kernel time over all processes. */
static struct timeline_device *busiest(const struct gpu_timeline_result *r, struct timeline **of,
                                       size_t *others)
{
    struct timeline_device *best = NULL;

    *others = 0;
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < r->timelines[k]->n_devices; i++) {
            struct timeline_device *d = &r->timelines[k]->devices[i];
            if (d->n == 0)
                continue;
            *others += best != NULL;
            if (best == NULL || d->kernel_busy > best->kernel_busy) {
                best = d;
                *of = r->timelines[k];
            }
        }
    return best;
}

static enum status fill(const struct gpu_timeline_result *r, const struct gpu_plan *plan,
                        struct gpu_run *run, struct diag *d)
{
    struct timeline *t = NULL;
    size_t others;
    struct timeline_device *device = busiest(r, &t, &others);

    if (device == NULL)
        return ST_OK;
    if (others > 0)
        gpu_run_note(run,
                     "the report is about the busiest of %zu devices and processes; the "
                     "tables have all",
                     others + 1);
    timeline_run_kernels(t, device, run);
    TRY(gpu_fill_stages(run, plan, d));
    timeline_run_sections(t, device, run);
    return ST_OK;
}

enum status gpu_nsys_analyse(const char *folder, const struct gpu_plan *plan, struct gpu_run *run,
                             struct arena *arena, struct diag *d)
{
    struct gpu_timeline_job job = gpu_timeline_job_new(folder);
    struct gpu_timeline_result result;
    size_t n = 0;

    enum status st = flow_gpu_timeline(&job, arena, d, &result);
    if (st == ST_OK)
        st = fill(&result, plan, run, d);
    if (st == ST_OK)
        st = gpu_timeline_save(result.timelines, result.n, folder, arena, d,
                               ARENA_ARRAY(arena, const char *, GPU_TIMELINE_FILES + result.n), &n);
    gpu_timeline_result_free(&result);
    return st;
}
