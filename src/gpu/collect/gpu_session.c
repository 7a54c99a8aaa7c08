/*
 * Guardian, device, lock and clocks around a run. See gpu_session.h.
 */
#include "gpu/collect/gpu_session.h"

#include <stdlib.h>
#include <unistd.h>

enum { PROCESSES_MOST = 64 };

enum gpu_outcome gpu_outcome_of(enum status status)
{
    switch (status) {
    case ST_OK:
        return GPU_DONE;
    case ST_TOOL:
        return GPU_TOOL;
    case ST_CANCELLED:
        return GPU_INTERRUPTED;
    default:
        return GPU_FILE;
    }
}

/* Another tool's library in every program we start would be loaded instead of ours. */
static enum gpu_outcome reject_other_tool(struct diag *d)
{
    const char *other = getenv("CUDA_INJECTION64_PATH");

    if (other == NULL || other[0] == 0)
        return GPU_DONE;
    diag_fail(d, ST_UNSUPPORTED, "gpu.other-tool", (struct where){0},
              "CUDA_INJECTION64_PATH is set: another tool (%s) attaches to CUDA programs", other);
    diag_hint(d, "try", "unset CUDA_INJECTION64_PATH");
    return GPU_HELD;
}

/* A list longer than ours is a busy GPU as well. A query that fails for another reason
 * says nothing about who uses it. */
static enum gpu_outcome reject_other_processes(struct gpu_session *s, struct arena *arena,
                                               struct diag *d)
{
    struct nvml_process list[PROCESSES_MOST];
    unsigned n = PROCESSES_MOST;
    struct str pids = S("");

    if (s->want.is_shared || s->info.handle == NULL)
        return GPU_DONE;
    int result = NVML_DO(&s->nvml, processes, s->info.handle, &n, list);
    if (result != NVML_OK && result != NVML_TOO_SMALL)
        return GPU_DONE;
    if (result == NVML_TOO_SMALL)
        n = 0;
    for (unsigned i = 0; i < n && i < PROCESSES_MOST; i++)
        if (list[i].pid != (unsigned)getpid())
            pids = arena_format(arena, "%.*s%s%u", STR_ARGS(pids), pids.n > 0 ? ", " : "",
                                list[i].pid);
    if (pids.n == 0 && result == NVML_OK)
        return GPU_DONE;
    diag_fail(d, ST_UNSUPPORTED, "gpu.shared", (struct where){0},
              "other programs are using this GPU (process %.*s), which affects timings",
              STR_ARGS(pids.n > 0 ? pids : S("list too long")));
    diag_hint(d, "try", "wait until they finish, or measure anyway with --share");
    return GPU_HELD;
}

enum gpu_outcome gpu_session_begin(struct gpu_session *s, const struct gpu_session_want *want,
                                   struct arena *arena, struct diag *d)
{
    *s = (struct gpu_session){.want = *want, .lock = {.fd = -1}, .guardian = {.fd = -1}};
    enum gpu_outcome code = reject_other_tool(d);
    if (code != GPU_DONE)
        return code;
    /* First of all: the guardian has to be a copy of a process that has not opened the driver. */
    code = gpu_outcome_of(guardian_start(&s->guardian, d));
    if (code != GPU_DONE)
        return code;
    nvml_open(&s->nvml, arena, &s->nvml_why);
    code = gpu_outcome_of(gpu_device_find(want->device, &s->nvml, &s->info, d));
    if (code == GPU_DONE) {
        enum status st =
            gpu_lock_acquire(&s->lock, s->info.uuid, s->want.command, s->want.wait_s, d);
        code = st == ST_UNSUPPORTED ? GPU_HELD : gpu_outcome_of(st);
    }
    if (code == GPU_DONE)
        code = reject_other_processes(s, arena, d);
    s->watch = (struct workload_watch){
        .nvml = &s->nvml,
        .gpu = s->info.handle,
        .samples = &s->samples,
        .guardian = &s->guardian,
        .progress = want->progress,
        .limit_ms = want->limit_ms,
        .silence_ms = want->silence_ms,
    };
    return code;
}

enum gpu_outcome gpu_session_lock_clocks(struct gpu_session *s, struct arena *arena, struct diag *d)
{
    if (s->want.clock.policy == CLOCK_NONE)
        return GPU_DONE;
    if (s->info.handle == NULL) {
        diag_fail(d, ST_TOOL, "gpu.no-nvml", (struct where){0},
                  "clocks cannot be locked without NVML: %s",
                  s->nvml_why != NULL ? s->nvml_why : "unknown GPU");
        diag_hint(d, "try", "--clock none");
        return GPU_TOOL;
    }
    enum gpu_outcome code = gpu_outcome_of(clocks_lock(
        &s->clocks, &s->nvml, s->info.handle, s->info.uuid, s->want.clock, &s->guardian, arena, d));
    s->locked_mhz = s->clocks.is_locked ? s->clocks.target_mhz : 0;
    return code;
}

void gpu_session_end(struct gpu_session *s, struct diag *d)
{
    if (s->clocks.is_locked && !guardian_is_alive(&s->guardian))
        diag_add(d, SEV_WARN, "gpu.guardian", (struct where){0},
                 "the guardian process was killed; the clocks were reset anyway");
    clocks_release(&s->clocks, d);
    guardian_stop(&s->guardian);
    gpu_lock_release(&s->lock);
    nvml_close(&s->nvml);
    s->watch = (struct workload_watch){0};
}

void gpu_session_free(struct gpu_session *s)
{
    clock_samples_free(&s->samples);
}
