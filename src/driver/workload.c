/*
 * A run of the profiled program. See workload.h.
 */
#include "driver/workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/now.h"
#include "driver/driver.h"

enum { VARIABLES_MOST = 20, LOOK_NS = 500000000, PATIENCE = 5 };

const char *workload_library(struct arena *arena)
{
    return probe_own_library(arena, "libstrata-inject.so", "STRATA_INJECT_PATH");
}

struct variables {
    const char **at;
    size_t n;
    struct arena *arena;
};

static void workload_add(struct variables *v, const char *name, const char *value)
{
    if (value != NULL && v->n < VARIABLES_MOST)
        v->at[v->n++] = arena_printf(v->arena, "%s=%s", name, value);
}

static void add_number(struct variables *v, const char *name, uint64_t value)
{
    workload_add(v, name, arena_printf(v->arena, "%llu", (unsigned long long)value));
}

const char *const *workload_environment(const struct workload *run, struct arena *arena)
{
    static const char *const modes[] = {NULL, "trace", "counters", "event", "samples"};
    struct variables v = {ARENA_ARRAY(arena, const char *, VARIABLES_MOST + 1), 0, arena};

    if (run->inject == INJECT_NONE)
        return v.at;
    workload_add(&v, "CUDA_INJECTION64_PATH", run->injected);
    workload_add(&v, "NVTX_INJECTION64_PATH", run->injected);
    workload_add(&v, "STRATA_TRACE_DIR", run->trace_dir);
    workload_add(&v, "STRATA_INJECT_MODE", modes[run->inject]);
    workload_add(&v, "STRATA_INJECT_PRESET", run->preset);
    workload_add(&v, "STRATA_INJECT_CLOCK", run->is_mono ? "mono" : NULL);
    workload_add(&v, "STRATA_INJECT_MODULES", run->has_modules ? "1" : NULL);
    workload_add(&v, "STRATA_INJECT_KERNEL", run->kernels);
    workload_add(&v, "STRATA_INJECT_RANGE", run->ranges);
    workload_add(&v, "STRATA_INJECT_METRICS", run->metrics);
    if (run->device >= 0)
        add_number(&v, "STRATA_INJECT_DEVICE", (uint64_t)run->device);
    if (run->inject == INJECT_SAMPLES)
        add_number(&v, "STRATA_INJECT_SAMPLING", run->sampling);
    if (run->inject == INJECT_TRACE || run->inject == INJECT_SAMPLES)
        return v.at;
    if (run->flush_bytes > 0)
        add_number(&v, "STRATA_INJECT_FLUSH", run->flush_bytes);
    add_number(&v, "STRATA_INJECT_SKIP", run->skip);
    add_number(&v, "STRATA_INJECT_COUNT", run->count);
    add_number(&v, "STRATA_INJECT_PER_KERNEL", run->per_kernel);
    if (run->passes > 0)
        add_number(&v, "STRATA_INJECT_PASSES", (uint64_t)run->passes);
    if (run->inject == INJECT_COUNTERS)
        add_number(&v, "STRATA_INJECT_REPLAY", run->is_replayed);
    return v.at;
}

/* What a tick looks at. */
struct follow {
    const struct workload *run;
    const struct workload_watch *watch;
    nanos next_look, grown_at; /* since the start */
    uint64_t recorded;
    bool is_known, is_hung;
};

static int64_t silence_ms(const struct follow *f)
{
    return (f->run->inject == INJECT_COUNTERS ? 1 : PATIENCE) * f->watch->silence_ms;
}

static uint64_t recorded(const char *dir)
{
    struct arena arena;
    struct diag diag;
    struct fs_list list = {0};
    uint64_t bytes = 0;

    arena_init(&arena);
    diag_init(&diag);
    if (dir != NULL && fs_list(&arena, dir, &list, &diag) == ST_OK)
        for (size_t i = 0; i < list.n; i++)
            bytes += list.at[i].size;
    diag_fini(&diag);
    arena_free(&arena);
    return bytes;
}

/* Kernels are recorded when they are done: a busy GPU without growth means that one hangs. While
 * counters are collected every launch is waited for; otherwise a kernel may take longer, and the
 * GPU has to be known to be busy. The clock starts with the first bytes, for programs may take long
 * before they use CUDA. */
static void watch_recording(struct follow *f, nanos elapsed)
{
    bool is_counting = f->run->inject == INJECT_COUNTERS;
    bool is_watched = is_counting || f->run->inject == INJECT_TRACE;
    const struct workload_watch *w = f->watch;
    struct nvml_use use = {.gpu = 100}; /* a program that computes on its own leaves it at 0 */

    if (!is_watched || w->silence_ms <= 0 || elapsed < f->next_look)
        return;
    f->next_look = elapsed + LOOK_NS;
    uint64_t bytes = recorded(f->run->trace_dir);
    bool is_known = w->nvml != NULL && w->nvml->handle != NULL && w->gpu != NULL &&
                    NVML_DO(w->nvml, use, w->gpu, &use) == NVML_OK;
    if (bytes != f->recorded || bytes == 0 || use.gpu == 0 || (!is_known && !is_counting)) {
        f->recorded = bytes;
        f->grown_at = elapsed;
    }
    f->is_hung = elapsed - f->grown_at > silence_ms(f) * 1000000;
}

static bool tick(void *ctx, int pid, nanos elapsed)
{
    struct follow *f = ctx;

    if (!f->is_known && f->watch->guardian != NULL)
        guardian_watch(f->watch->guardian, pid);
    f->is_known = true;
    if (f->watch->samples != NULL && f->watch->gpu != NULL)
        clock_sample(f->watch->samples, f->watch->nvml, f->watch->gpu, now_ns());
    watch_recording(f, elapsed);
    progress_step(f->watch->progress, (struct progress_step){f->run->label, PROGRESS_SECONDS,
                                                             (uint64_t)(elapsed / 1000000000), 0});
    return !f->is_hung;
}

static void workload_judge(const struct proc_result *p, const struct workload *run,
                           const struct workload_watch *watch, struct workload_result *r,
                           struct diag *d)
{
    const char *program = run->argv[0];
    struct where where = {.path = run->log};
    bool is_counting = run->inject == INJECT_COUNTERS;

    switch (p->end) {
    case PROC_EXITED:
        r->code = p->code;
        r->end = p->code == 0 ? WORKLOAD_DONE : WORKLOAD_FAILED;
        if (p->code != 0)
            diag_fail(d, ST_TOOL, "gpu.workload", where, "%s exited with status %d", program,
                      p->code);
        break;
    case PROC_SIGNALLED:
        r->signal = p->code;
        r->end = WORKLOAD_FAILED;
        diag_fail(d, ST_TOOL, "gpu.workload", where, "%s was killed by signal %d (%s)", program,
                  p->code, sigabbrev_np(p->code) != NULL ? sigabbrev_np(p->code) : "?");
        break;
    case PROC_TIMED_OUT:
        r->end = WORKLOAD_LATE;
        diag_fail(d, ST_TOOL, "gpu.timeout", where, "%s timed out after %.3g s", program,
                  (double)watch->limit_ms / 1000);
        diag_hint(d, "try", "a larger --timeout, a smaller problem, or --count");
        break;
    case PROC_STOPPED:
        r->end = WORKLOAD_HUNG;
        diag_fail(d, ST_TOOL, "gpu.hung", where, "no kernel finished for %.3g s%s",
                  (double)silence_ms(&(struct follow){.run = run, .watch = watch}) / 1000,
                  is_counting ? "; kernels that wait for each other cannot be measured alone" : "");
        if (is_counting)
            diag_hint(d, "try", "--mode nsys, which measures none alone, or --select others");
        break;
    case PROC_NOT_STARTED:
        r->end = WORKLOAD_MISSING;
        break;
    case PROC_CANCELLED:
        r->end = WORKLOAD_CANCELLED;
        break;
    }
}

enum status workload_run(const struct workload *run, const struct workload_watch *watch,
                         struct arena *arena, struct workload_result *result, struct diag *d)
{
    struct follow follow = {.run = run, .watch = watch};
    struct proc_result p;
    struct diag said;

    *result = (struct workload_result){0};
    if (run->inject != INJECT_NONE)
        TRY(fs_mkdirs(run->trace_dir, d));
    diag_init(&said);
    enum status st = proc_run(&(struct proc_spec){.argv = run->argv,
                                                  .env = workload_environment(run, arena),
                                                  .log = run->log,
                                                  .limit_ms = watch->limit_ms,
                                                  .tick = tick,
                                                  .tick_ctx = &follow},
                              arena, &p, &said);
    if (watch->guardian != NULL)
        guardian_watch(watch->guardian, 0);
    workload_judge(&p, run, watch, result, d);
    if (p.end == PROC_NOT_STARTED || st == ST_IO)
        diag_merge(d, &said);
    diag_fini(&said);
    result->took = p.took;
    result->out = p.out;
    result->err = p.err;
    result->recorded = run->inject != INJECT_NONE ? recorded(run->trace_dir) : 0;
    return st == ST_IO ? ST_IO : ST_OK;
}
