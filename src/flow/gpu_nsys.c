#include "flow/gpu_nsys.h"

#include "flow/flow_gpu_timeline.h"
#include "gpu/timeline_run.h"

static enum status fill(const struct gpu_timeline_result *r, const struct gpu_plan *plan,
                        struct gpu_run *run, struct diag *d)
{
    struct timeline *t = NULL;
    size_t candidates;
    struct timeline_device *device = gpu_timeline_busiest(r, 1, &t, &candidates);

    if (device == NULL)
        return ST_OK;
    if (candidates > 1)
        gpu_run_note(run,
                     "the report is about the busiest of %zu devices and processes; the "
                     "tables have all",
                     candidates);
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
