/*
 * One profiling run, phase by phase. See gpu_jobs.h.
 */
#include "gpu/collect/gpu_jobs.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/text/inert.h"
#include "driver/ncu_run.h"
#include "gpu/collect/gpu_info.h"
#include "gpu/collect/run_record.h"
#include "gpu/collect/rundir.h"
#include "gpu/judge/report.h"

enum { SILENCE_MS = 60000 }; /* of the watchdog */

/* What travels through the phases of a run. */
struct profiling {
    const struct gpu_profile_job *job;
    struct clock_want clock;
    struct arena *arena;
    struct diag *diag;
    struct gpu_profile_result *result;
    struct gpu_plan plan;
    struct gpu_session session;
    struct gpu_rundir folder;
    const char *begun; /* local time */
    struct gpu_mode_run mode;
    const char *injected;
    struct gpu_run before; /* the baseline */
    bool has_before;
};

static void show_words(struct text *t, const char *label, const char *const *argv,
                       struct arena *arena)
{
    if (argv != NULL)
        text_format(t, "%-10s %.*s\n", label,
                    STR_ARGS(inert_line(arena, str_of(gpu_command_line(argv, arena)))));
}

/* Twice what the largest cache holds. */
static uint64_t flush_bytes(const struct gpu_profile_job *job, const struct gpu_card *card)
{
    enum { UNKNOWN_L2 = 128 << 20 };

    if (job->cache != CACHE_FLUSH || job->mode != PROFILE_EVENT)
        return 0;
    return 2 * (card->l2_bytes > 0 ? (uint64_t)card->l2_bytes : UNKNOWN_L2);
}

/* What would be run, with nothing started and no GPU needed. */
static enum gpu_outcome show_plan(struct profiling *p)
{
    const struct gpu_profile_job *job = p->job;
    struct text t = {0};
    const char *regex = gpu_selections_regex(p->plan.selections, p->plan.stages.n, p->arena);
    struct workload run = {.injected = p->injected != NULL ? p->injected : "libstrata-inject.so",
                           .trace_dir = "DIR",
                           .kernels = regex,
                           .device = -1};

    text_format(&t, "mode       %s\nkernel     %.*s %.*s\nparams     %.*s\n",
                gpu_profile_modes[job->mode], STR_ARGS(inert_line(p->arena, p->plan.kernel)),
                STR_ARGS(inert_line(p->arena, p->plan.version)),
                STR_ARGS(inert_line(p->arena, p->plan.slug)));
    for (size_t i = 0; i < p->plan.stages.n; i++)
        text_format(&t, "stage      %.*s: %.*s\n",
                    STR_ARGS(inert_line(p->arena, p->plan.stages.at[i].name)),
                    STR_ARGS(inert_line(p->arena, p->plan.stages.at[i].select)));
    if (job->is_checked)
        show_words(&t, "check", p->plan.check, p->arena);
    if (job->mode == PROFILE_NCU) {
        struct ncu_job ncu = {.program = "ncu",
                              .report = "DIR/ncu/report",
                              .kernels = regex,
                              .skip = job->skip,
                              .count = job->count,
                              .is_cache_flushed = job->cache == CACHE_FLUSH,
                              .argv = p->plan.argv};
        show_words(&t, "run", ncu_collect_argv(&ncu, p->arena), p->arena);
    } else {
        bool is_event = job->mode == PROFILE_EVENT;
        run.inject = job->mode == PROFILE_NSYS ? INJECT_TRACE
                     : is_event                ? INJECT_EVENT
                                               : INJECT_COUNTERS;
        run.skip = is_event ? job->warmup : job->skip;
        run.count = is_event ? job->runs : job->count;
        run.is_mono = job->clock_source == CLOCK_MONO;
        run.has_modules = job->mode != PROFILE_ANNOTATION;
        run.flush_bytes = flush_bytes(job, &(struct gpu_card){0});
        const char *const *env = workload_environment(&run, p->arena);
        for (size_t i = 0; env[i] != NULL; i++)
            text_format(&t, "%-10s %s\n", i == 0 ? "with" : "", env[i]);
        show_words(&t, "run", p->plan.argv, p->arena);
    }
    p->result->text = arena_str(p->arena, text_view(&t));
    p->result->origin = NULL;
    text_free(&t);
    return GPU_DONE;
}

/* The diagnostics of the command go to `said`: a wrong result has one message of its own, and
 * what the runner says about it would only repeat that. */
static enum gpu_outcome check_result(struct profiling *p)
{
    struct workload run = {.argv = p->plan.check,
                           .label = "checking correctness",
                           .log = fs_join(p->arena, p->folder.partial, "check.log"),
                           .device = -1};
    struct workload_result r;
    struct diag said;

    if (p->plan.check == NULL || !p->job->is_checked)
        return GPU_DONE;
    diag_init(&said);
    enum status st = workload_run(&run, &p->session.watch, p->arena, &r, &said);
    enum gpu_outcome code = gpu_outcome_of(st);
    if (st == ST_OK && r.end == WORKLOAD_FAILED) {
        diag_fail(p->diag, ST_TOOL, "gpu.check", (struct where){.path = run.log},
                  "the correctness command failed with status %d; nothing was profiled", r.code);
        diag_hint(p->diag, "try", "%s, or --no-check", gpu_command_line(p->plan.check, p->arena));
        code = GPU_WORKLOAD;
    } else if (st != ST_OK || r.end != WORKLOAD_DONE) {
        diag_merge(p->diag, &said);
        code = r.end == WORKLOAD_CANCELLED ? GPU_INTERRUPTED
               : r.end == WORKLOAD_LATE    ? GPU_LATE
               : r.end == WORKLOAD_MISSING ? GPU_FILE
                                           : code;
    }
    diag_fini(&said);
    return code;
}

/* The program may change its folder before it loads the library. */
static const char *absolute(struct arena *arena, const char *path)
{
    char here[PATH_MAX];

    return getcwd(here, sizeof(here)) != NULL ? fs_join(arena, here, path) : path;
}

static enum gpu_outcome job_collect(struct profiling *p)
{
    p->mode = (struct gpu_mode_run){
        .collect = {.session = &p->session,
                    .arena = p->arena,
                    .diag = p->diag,
                    .argv = p->plan.argv,
                    .injected = p->injected,
                    .folder = absolute(p->arena, p->folder.partial),
                    .device = p->job->ask.device != NULL ? p->session.info.ordinal : -1,
                    .is_strict = p->job->backend == BACKEND_CUPTI,
                    .keeps_code = p->job->mode == PROFILE_EVENT,
                    .is_mono = p->job->clock_source == CLOCK_MONO,
                    .flush_bytes = flush_bytes(p->job, &p->session.info)},
        .plan = &p->plan,
        .job = p->job,
        .run = &p->result->run,
    };
    return gpu_mode_collect(&p->mode);
}

/* The phases in which the machine is ours. */
static enum gpu_outcome on_machine(struct profiling *p)
{
    struct gpu_session_want want = {
        .device = p->job->ask.device,
        .command = arena_printf(p->arena, "gpu profile %s", p->plan.command),
        .clock = p->clock,
        .wait_s = p->job->wait_s,
        .is_shared = p->job->is_shared,
        .limit_ms = num_i64_of(p->job->timeout_s * 1000),
        .silence_ms = SILENCE_MS,
        .progress = p->job->progress,
    };
    enum gpu_outcome code = gpu_session_begin(&p->session, &want, p->arena, p->diag);

    if (code == GPU_DONE)
        code =
            gpu_outcome_of(gpu_info_facts(&p->result->run, &p->plan, p->job, &p->session, p->diag));
    if (code == GPU_DONE)
        code = gpu_outcome_of(
            gpu_rundir_open(p->arena, &p->result->run, p->job->out, p->begun, &p->folder, p->diag));
    if (code == GPU_DONE)
        code = check_result(p);
    if (code == GPU_DONE)
        code = gpu_session_lock_clocks(&p->session, p->arena, p->diag);
    if (code == GPU_DONE)
        code = job_collect(p);
    gpu_info_clock(&p->result->run, &p->session);
    gpu_session_end(&p->session, p->diag);
    return code;
}

/* A folder, or the newest finished run of the same workload: ours does not have its name yet. */
static const char *baseline_of(struct profiling *p)
{
    const char *wanted = p->job->baseline;

    if (wanted != NULL && strcmp(wanted, "none") == 0)
        return NULL;
    if (wanted != NULL && strcmp(wanted, "latest") != 0)
        return wanted;
    const char *link =
        p->folder.parent != NULL ? fs_join(p->arena, p->folder.parent, "latest") : NULL;
    return link != NULL && fs_is_dir(link) ? link : NULL;
}

/* A folder that is no run is told before anything is measured. */
static enum status load_baseline(struct profiling *p)
{
    const char *path = p->job->baseline;

    if (path == NULL || strcmp(path, "none") == 0 || strcmp(path, "latest") == 0)
        return ST_OK;
    TRY(gpu_rundir_load(path, &p->before, p->diag));
    p->has_before = true;
    return ST_OK;
}

/* A baseline nobody asked for is left out without a word when it does not fit. What was measured
 * counts without one. */
static void job_compare(struct profiling *p)
{
    const char *path = baseline_of(p);
    bool is_asked = p->job->baseline != NULL;
    struct diag said;

    if (path == NULL)
        return;
    if (!p->has_before) {
        diag_init(&said);
        p->has_before = gpu_rundir_load(path, &p->before, &said) == ST_OK;
        diag_fini(&said);
    }
    const char *refusal =
        p->has_before ? gpu_compare_refusal(&p->before, &p->result->run) : "unreadable";
    if (p->has_before && (refusal == NULL || p->job->is_compare_forced)) {
        gpu_compare(&p->before, &p->result->run);
    } else if (is_asked) {
        const char *why =
            p->has_before ? arena_printf(p->arena, "%s; --force-compare overrides this", refusal)
                          : refusal;
        diag_add(p->diag, SEV_WARN, "gpu.not-comparable", (struct where){.path = path},
                 "no comparison: %s", why);
        gpu_run_note(&p->result->run, "no comparison with the baseline: %s", why);
    }
}

/* The block of the report, for the terminal. */
static void show(struct profiling *p)
{
    struct text t = {0};

    gpu_report_block(&p->result->run, LANG_EN, &t);
    p->result->text = arena_str(p->arena, text_view(&t));
    text_free(&t);
}

/* Every file but for the recordings. */
static void list_files(struct profiling *p)
{
    static const struct str skip[] = {S_INIT("trace")};
    struct fs_list list;

    if (fs_walk(p->arena, p->result->folder, skip, ARRAY_LEN(skip), &list, p->diag) != ST_OK)
        return;
    for (size_t i = 0; i < list.n; i++)
        if (list.at[i].kind == FS_FILE)
            vec_push(&p->result->written, list.at[i].path);
}

/* What was measured, judged and written down. */
static enum gpu_outcome job_judge(struct profiling *p, enum gpu_outcome code)
{
    struct gpu_run *run = &p->result->run;

    gpu_run_judge(run);
    if (p->mode.measured.counting.n > 0)
        gpu_overlap_judge(run, p->mode.measured.timing.launches.at,
                          p->mode.measured.timing.launches.n);
    gpu_fill_notes(run, p->diag);
    gpu_info_write(run, &p->mode, p->begun, p->injected);
    job_compare(p);
    enum status st = gpu_rundir_write(&p->folder, run, &p->mode.pages, p->diag);
    if (st == ST_OK)
        show(p);
    if (st == ST_OK && code == GPU_DONE)
        st = gpu_rundir_finish(p->arena, &p->folder, p->diag);
    if (st == ST_OK && code == GPU_DONE && p->job->devlog != NULL)
        st = gpu_devlog_write(p->job->devlog, run, p->diag);
    if (st != ST_OK)
        return gpu_outcome_of(st);
    p->result->origin = "measured";
    p->result->folder = code == GPU_DONE ? p->folder.final : p->folder.partial;
    if (code != GPU_DONE)
        gpu_rundir_abort(&p->folder, run, p->diag);
    list_files(p);
    if (code == GPU_DONE && p->job->devlog != NULL)
        vec_push(&p->result->written, p->job->devlog);
    return code == GPU_DONE && (p->mode.is_partial || p->mode.measured.is_degraded) ? GPU_PARTIAL
                                                                                    : code;
}

enum gpu_outcome gpu_profile_run(const struct gpu_profile_job *job, struct clock_want clock,
                                 struct arena *arena, struct gpu_profile_result *result,
                                 struct diag *d)
{
    struct profiling p = {.job = job, .clock = clock, .arena = arena, .diag = d, .result = result};

    *result = (struct gpu_profile_result){0};
    gpu_run_init(&result->run);
    result->has_run = true;
    enum status st = gpu_plan_make(&p.plan, job, arena, d);
    enum gpu_outcome code = st == ST_FORMAT ? GPU_USAGE : gpu_outcome_of(st);
    if (code == GPU_DONE)
        code = gpu_outcome_of(load_baseline(&p));
    p.injected = workload_library(arena);
    p.begun = gpu_info_time(arena);
    if (code == GPU_DONE && job->is_dry) {
        code = show_plan(&p);
    } else if (code == GPU_DONE && p.injected == NULL && job->mode != PROFILE_NCU) {
        diag_fail(d, ST_TOOL, "gpu.no-inject", (struct where){0},
                  "libstrata-inject.so not found next to strata");
        diag_hint(d, "try", "STRATA_INJECT_PATH=/path/of/libstrata-inject.so");
        code = GPU_TOOL;
    } else if (code == GPU_DONE) {
        code = on_machine(&p);
        if (result->run.stages.n > 0)
            code = job_judge(&p, code);
        else if (p.folder.partial != NULL)
            gpu_rundir_abort(&p.folder, &result->run, d);
    }
    if (p.has_before)
        gpu_run_free(&p.before);
    gpu_mode_free(&p.mode);
    gpu_session_free(&p.session);
    gpu_plan_free(&p.plan);
    return code;
}

void gpu_profile_free(struct gpu_profile_result *result)
{
    if (result->has_run)
        gpu_run_free(&result->run);
    vec_free(&result->written);
}

static const struct field result_fields[] = {
    FIELD_SPLICE(struct gpu_profile_result, run, &gpu_names_record),
    FIELD(struct gpu_profile_result, folder, "folder"),
    FIELD_SPLICE(struct gpu_profile_result, run, &gpu_judged_record),
    FIELD(struct gpu_profile_result, text, "report"),
};
static const struct record result_record = RECORD(struct gpu_profile_result, result_fields);

const struct schema gpu_profile_schema = {
    .name = "strata.gpu-profile/1",
    .title = "a GPU profiling run, or its plan",
    .record = &result_record,
};
