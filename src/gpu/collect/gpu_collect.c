/*
 * Runs under the injection library, and what its notes mean. See gpu_modes.h.
 */
#include "gpu/collect/gpu_modes.h"

#include "base/files/fs.h"
#include "base/run/cancel.h"

enum {
    STARTS_MOST = 1000,
    TURNS = 8
}; /* turns: launches of a kernel that are measured, at least */

/* The notes that mean "no counters here", with what helps. */
static const struct refusal {
    const char *note, *code, *text, *advice;
} refusals[] = {
    {"not-permitted", "gpu.not-permitted", "hardware counters are restricted to administrators",
     "one of: run as root (or with CAP_SYS_ADMIN); load the driver with "
     "NVreg_RestrictProfilingToAdminUsers=0; start the container with --cap-add=SYS_ADMIN"},
    {"unsupported", "gpu.no-counters", "this GPU provides no hardware counters",
     "use a GPU that is not virtual, partitioned (MIG) or confidential"},
    {"busy", "gpu.counters-busy", "the hardware counters are in use",
     "pause the monitoring service (dcgm-exporter, nv-hostengine) during the run"},
    {"incompatible", "gpu.incompatible", "this libcupti does not support the chip or the driver",
     "use a CUDA toolkit as new as the driver, or --backend ncu"},
};

static const struct refusal *refusal_of(const struct gpu_recorded *r,
                                        const struct trace_note **note)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        *note = gpu_recorded_note(r, refusals[i].note);
        if (*note != NULL)
            return &refusals[i];
    }
    return NULL;
}

static enum gpu_outcome outcome_of(struct gpu_collect *c, const struct workload_result *r)
{
    static const enum gpu_outcome outcomes[] = {
        [WORKLOAD_DONE] = GPU_DONE,    [WORKLOAD_FAILED] = GPU_WORKLOAD,
        [WORKLOAD_MISSING] = GPU_FILE, [WORKLOAD_LATE] = GPU_LATE,
        [WORKLOAD_HUNG] = GPU_LATE,    [WORKLOAD_CANCELLED] = GPU_INTERRUPTED,
    };

    c->program_code = r->code;
    c->program_signal = r->signal;
    c->has_failed |= r->end == WORKLOAD_FAILED;
    return outcomes[r->end];
}

/* Notes that are worth a line however the run went. */
static void report_notes(struct gpu_collect *c, const struct gpu_recorded *r)
{
    static const struct {
        const char *note, *code;
        enum severity severity;
    } known[] = {
        {"metric-unknown", "gpu.metric-unknown", SEV_WARN},
        {"passes", "gpu.passes", SEV_WARN},
        {"not-replayed", "gpu.not-replayed", SEV_WARN},
        {"ranges-differ", "gpu.ranges-differ", SEV_LOSS},
        {"capturing", "gpu.capturing", SEV_WARN},
        {"bad-setting", "gpu.inject-failed", SEV_WARN},
        {"modules", "gpu.modules", SEV_NOTE},
        {"failed", "gpu.inject-failed", SEV_WARN},
    };

    for (size_t i = 0; i < r->notes.n; i++)
        for (size_t k = 0; k < ARRAY_LEN(known); k++)
            if (strcmp(r->notes.at[i].code, known[k].note) == 0)
                diag_add(c->diag, known[k].severity, known[k].code, (struct where){0}, "%s: %s",
                         r->notes.at[i].code, r->notes.at[i].text);
    if (r->dropped > 0)
        diag_add(c->diag, SEV_LOSS, "gpu.dropped", (struct where){0}, "CUPTI dropped %llu records",
                 (unsigned long long)r->dropped);
}

/* What keeps the library from recording anything at all. */
static enum gpu_outcome reject_notes(struct gpu_collect *c, const struct gpu_recorded *r,
                                     bool is_event)
{
    const struct trace_note *note = gpu_recorded_note(r, "other-profiler");

    if (note != NULL) {
        diag_fail(c->diag, ST_UNSUPPORTED, "gpu.other-profiler", (struct where){0},
                  "another profiler is attached to the program: %s",
                  note->text[0] != 0 ? note->text : "unknown profiler");
        diag_hint(c->diag, "try", "run without the framework's profiler or a debugger");
        return GPU_HELD;
    }
    note = gpu_recorded_note(r, "no-cupti");
    if (note != NULL) {
        diag_fail(c->diag, ST_TOOL, "gpu.no-cupti", (struct where){0}, "libcupti is unusable: %s",
                  note->text);
        diag_hint(c->diag, "try", "STRATA_CUPTI_PATH=/path/of/libcupti.so.13, or --backend ncu");
        return GPU_TOOL;
    }
    note = gpu_recorded_note(r, "too-few");
    if (note != NULL && !is_event) {
        diag_fail(c->diag, ST_FORMAT, "gpu.too-few", (struct where){0},
                  "fewer launches than --skip: %s", note->text);
        return GPU_USAGE;
    }
    return GPU_DONE;
}

/* What was recorded is read even when the program failed or hung: it names the last kernel that
 * finished. The program's own failure is the one that is reported. */
static enum gpu_outcome run_part(struct gpu_collect *c, struct workload *run, const char *part,
                                 struct gpu_recorded *out)
{
    struct workload_result result;

    run->argv = c->argv;
    run->injected = c->injected;
    run->trace_dir = fs_join(c->arena, c->folder, part);
    run->log = fs_join(c->arena, run->trace_dir, "program.log");
    run->device = c->device;
    run->is_mono = c->is_mono;
    *out = (struct gpu_recorded){.chip = "", .cupti = "", .driver = ""};
    enum status st = fs_mkdirs(run->trace_dir, c->diag);
    if (st == ST_OK)
        st = workload_run(run, &c->session->watch, c->arena, &result, c->diag);
    if (st != ST_OK)
        return gpu_outcome_of(st);
    st = gpu_recorded_read(run->trace_dir, c->arena, out, c->diag);
    enum gpu_outcome code = outcome_of(c, &result);
    if (st != ST_OK)
        return code != GPU_DONE ? code : gpu_outcome_of(st);
    report_notes(c, out);
    bool is_ended = result.end == WORKLOAD_HUNG || result.end == WORKLOAD_LATE;
    if (is_ended && out->hung.n > 0)
        diag_hint(c->diag, "running", "%.*s did not finish; %zu kernels waited for it",
                  STR_ARGS(out->hung), out->hung_behind);
    else if (result.end == WORKLOAD_HUNG && out->last_counted.n > 0)
        diag_hint(c->diag, "finished",
                  "last finished kernel: %.*s; the one that hangs came after it",
                  STR_ARGS(out->last_counted));
    enum gpu_outcome refused = reject_notes(c, out, run->inject == INJECT_EVENT);
    if (refused != GPU_DONE)
        return refused;
    if (code == GPU_DONE && out->files == 0) {
        diag_fail(c->diag, ST_UNSUPPORTED, "gpu.no-kernels", (struct where){.path = run->log},
                  "nothing was recorded: the program does not use CUDA, or could not be traced");
        diag_hint(c->diag, "try",
                  "a command whose child processes inherit the environment; static and 32-bit "
                  "programs cannot be traced");
        return GPU_TOOL;
    }
    return code;
}

enum gpu_outcome gpu_collect_trace(struct gpu_collect *c, const char *part, const char *preset,
                                   struct gpu_recorded *out)
{
    struct workload run = {
        .label = "timing kernels", .inject = INJECT_TRACE, .preset = preset, .has_modules = true};

    return run_part(c, &run, part, out);
}

static const char *joined(const char *const *names, struct arena *arena)
{
    struct str text = S("");

    for (size_t i = 0; names[i] != NULL; i++)
        text = arena_format(arena, "%.*s%s%s", STR_ARGS(text), i > 0 ? "," : "", names[i]);
    return text.at;
}

enum gpu_outcome gpu_collect_counters(struct gpu_collect *c, const char *part, struct gpu_pick pick,
                                      struct gpu_metric_set metrics, struct gpu_recorded *out,
                                      bool *is_degraded)
{
    const struct trace_note *note = NULL;
    uint64_t turns = metrics.is_replayed ? 1 : (uint64_t)metrics.passes; /* launches for all */
    struct workload run = {
        .label = "collecting counters (takes some seconds to set up)",
        .inject = INJECT_COUNTERS,
        .kernels = pick.regex,
        .ranges = pick.range,
        .skip = pick.skip,
        .count = pick.count * turns,
        /* With replay the first launch of a kernel finds cold caches: the second stands for it. */
        .per_kernel = pick.count > 0 || pick.skip > 0 ? 0
                      : metrics.is_replayed           ? 2
                                                      : TURNS,
        .metrics = joined(metrics.names, c->arena),
        .passes = metrics.passes,
        .is_replayed = metrics.is_replayed,
    };
    enum gpu_outcome code = run_part(c, &run, part, out);

    *is_degraded = false;
    const struct refusal *refusal = refusal_of(out, &note);
    if (refusal == NULL || (code != GPU_DONE && code != GPU_WORKLOAD))
        return code;
    if (c->is_strict) {
        diag_fail(c->diag, ST_TOOL, refusal->code, (struct where){0}, "%s (CUPTI result %lld)",
                  refusal->text, (long long)note->result);
        diag_hint(c->diag, "try", "%s", refusal->advice);
        return GPU_TOOL;
    }
    *is_degraded = true;
    diag_add(c->diag, SEV_LOSS, refusal->code, (struct where){0},
             "%s (CUPTI result %lld); using durations and a model instead. To fix: %s",
             refusal->text, (long long)note->result, refusal->advice);
    return code;
}

/* Samples every 2^n cycles: some 2^17 of each multiprocessor in all, at 2 GHz. */
static unsigned sampling_of(double busy_ns)
{
    enum { LEAST = 8, MOST = 24 };
    unsigned n = LEAST;

    while (n < MOST && 2 * busy_ns / (double)(UINT64_C(1) << n) > 1 << 17)
        n++;
    return n;
}

enum gpu_outcome gpu_collect_samples(struct gpu_collect *c, const char *part, double busy_ns,
                                     struct gpu_recorded *out)
{
    struct workload run = {.label = "sampling program counters",
                           .inject = INJECT_SAMPLES,
                           .sampling = sampling_of(busy_ns)};
    struct diag said, *kept = c->diag;
    const struct trace_note *note = NULL;
    bool had_failed = c->has_failed;

    diag_init(&said);
    c->diag = &said;
    enum gpu_outcome code = run_part(c, &run, part, out);
    c->diag = kept;
    c->has_failed = had_failed;
    const struct refusal *refusal = refusal_of(out, &note);
    if (out->samples.n == 0 && code != GPU_INTERRUPTED)
        diag_add(kept, SEV_NOTE, "gpu.no-samples", (struct where){0},
                 "no source lines: program counters could not be sampled (%s)",
                 refusal != NULL      ? refusal->text
                 : said.entries.n > 0 ? said.entries.at[0].first[0].text
                 : out->notes.n > 0   ? out->notes.at[0].text
                                      : "no samples");
    note = gpu_recorded_note(out, "samples-dropped");
    if (note != NULL)
        diag_add(kept, SEV_NOTE, "gpu.samples-dropped", (struct where){0}, "%s", note->text);
    diag_fini(&said);
    return code == GPU_INTERRUPTED ? code : GPU_DONE;
}

/* Moves what `from` has to the end of `to`. */
static void collect_join(struct gpu_recorded *to, struct gpu_recorded *from)
{
    for (size_t i = 0; i < from->runs.n; i++)
        vec_push(&to->runs, from->runs.at[i]);
    for (size_t i = 0; i < from->notes.n; i++)
        vec_push(&to->notes, from->notes.at[i]);
    for (size_t i = 0; i < from->seen.n; i++)
        vec_push(&to->seen, from->seen.at[i]);
    to->files += from->files;
    to->dropped += from->dropped;
    to->lost += from->lost;
    gpu_recorded_free(from);
}

enum gpu_outcome gpu_collect_events(struct gpu_collect *c, const char *part, struct gpu_pick pick,
                                    uint64_t warmup, uint64_t runs, struct gpu_recorded *out,
                                    size_t *starts)
{
    enum gpu_outcome code = GPU_DONE;

    *out = (struct gpu_recorded){.chip = "", .cupti = "", .driver = ""};
    *starts = 0;
    while (code == GPU_DONE && out->runs.n < runs && *starts < STARTS_MOST && !cancelled()) {
        struct gpu_recorded more;
        size_t before = out->runs.n;
        struct workload run = {
            .label = "timing runs",
            .inject = INJECT_EVENT,
            .kernels = pick.regex,
            .ranges = pick.range,
            .skip = warmup + pick.skip,
            .count = runs - out->runs.n,
            .flush_bytes = c->flush_bytes,
            .has_modules = *starts == 0 && c->keeps_code,
        };
        progress_tick(c->session->want.progress, "timing runs", out->runs.n, runs);
        ++*starts;
        code = run_part(c, &run, arena_printf(c->arena, "%s-%zu", part, *starts), &more);
        collect_join(out, &more);
        if (code != GPU_DONE || out->runs.n > before)
            continue;
        if (warmup == 0)
            break;
        warmup = 0;
        diag_add(c->diag, SEV_WARN, "gpu.no-warmup", (struct where){0},
                 "one process has fewer runs than --warmup; all of its runs are kept");
    }
    return cancelled() ? GPU_INTERRUPTED : code;
}
