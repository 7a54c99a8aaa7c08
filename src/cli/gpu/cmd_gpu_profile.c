/*
 * strata gpu profile: run a workload and report what bounds its kernels.
 */
#include "base/files/user_settings.h"
#include "cli/session.h"
#include "gpu/collect/gpu_jobs.h"
#include "report/report.h"

struct args {
    struct gpu_profile_job job;
    const char *clock;
};

static const struct args defaults = {
    .job = {.is_checked = true, .is_sampled = true, .runs = 20, .warmup = 3}};

static const struct opt options[] = {
    OPT_CHOICE(0, "mode", gpu_profile_modes, struct args, job.mode,
               "profiling mode (default: annotation)"),
    OPT_STRING(0, "kernel", "NAME", struct args, job.ask.kernel,
               "workload name (default: from the spec file or program)"),
    OPT_STRING(0, "version", "vN", struct args, job.ask.version,
               "version label of the workload (default: base)"),
    OPT_STRING(0, "spec", "FILE", struct args, job.ask.spec,
               "spec file with stages, formulas and command (JSON)"),
    OPT_LIST('p', "param", "KEY=VALUE", struct args, job.ask.params,
             "problem size or type; repeatable"),
    OPT_GROUP("Work"),
    OPT_STRING(0, "flops", "EXPR", struct args, job.ask.flops,
               "floating-point operations per pass"),
    OPT_STRING(0, "bytes", "EXPR", struct args, job.ask.bytes, "minimum bytes moved per pass"),
    OPT_STRING(0, "dtype", "TYPE", struct args, job.ask.dtype,
               "data type: bf16, fp16, fp8, fp32, …"),
    OPT_DOUBLE(0, "peak-tflops", "X", struct args, job.ask.peaks.tflops,
               "compute peak in TFLOP/s (default: of the device)"),
    OPT_DOUBLE(0, "peak-gbps", "X", struct args, job.ask.peaks.gbps,
               "memory bandwidth in GB/s (default: of the device)"),
    OPT_GROUP("Measuring"),
    OPT_STRING(0, "select", "REGEX|nvtx:RANGE", struct args, job.select,
               "only these kernels (default: all)"),
    OPT_INT(0, "skip", "N", struct args, job.skip, 0, INT32_MAX,
            "matching launches to skip (default: 0)"),
    OPT_INT(0, "count", "N", struct args, job.count, 0, INT32_MAX,
            "launches to measure, 0: all (default: 0)"),
    OPT_INT(0, "runs", "N", struct args, job.runs, 1, 1000000,
            "timed runs in event mode (default: 20)"),
    OPT_INT(0, "warmup", "N", struct args, job.warmup, 0, 1000000,
            "warm-up runs in event mode (default: 3)"),
    OPT_STRING(0, "clock", "none|base|max|MHZ", struct args, clock,
               "lock the SM clock; needs root (default: none)"),
    OPT_CHOICE(0, "cache", gpu_caches, struct args, job.cache,
               "caches before each run; flush: event, ncu (default: keep)"),
    OPT_CHOICE(0, "clock-source", gpu_clock_sources, struct args, job.clock_source,
               "clock of the records; mono is monotonic (default: real)"),
    OPT_CHOICE(0, "backend", gpu_backends, struct args, job.backend,
               "counter source; auto falls back (default: auto)"),
    OPT_FLAG(0, "lines", struct args, job.is_sampled,
             "annotation: run once more for hot source lines (default: on)"),
    OPT_GROUP("Machine"),
    OPT_STRING(0, "device", "N|UUID", struct args, job.ask.device,
               "GPU index or UUID (default: first GPU)"),
    OPT_DOUBLE(0, "timeout", "S", struct args, job.timeout_s,
               "time limit per run in seconds, 0: none (default: 0)"),
    OPT_DOUBLE(0, "wait", "S", struct args, job.wait_s,
               "seconds to wait for another profiling run (default: 0)"),
    OPT_FLAG(0, "share", struct args, job.is_shared, "measure even if other programs use the GPU"),
    OPT_FLAG(0, "check", struct args, job.is_checked,
             "run the spec's correctness command first (default: on)"),
    OPT_GROUP("Results"),
    OPT_STRING(0, "baseline", "DIR|latest|none", struct args, job.baseline,
               "earlier run to compare with (default: latest)"),
    OPT_FLAG(0, "force-compare", struct args, job.is_compare_forced,
             "compare even if the runs do not match"),
    OPT_STRING(0, "devlog", "FILE", struct args, job.devlog, "add the result to a development log"),
};

static const struct example examples[] = {
    {"strata gpu profile --spec examples/gpu/specs/stream_copy.json --dry-run",
     "show the command and environment, run nothing"},
    {"strata gpu profile --mode ncu --dry-run -- ./my_program --size 4096",
     "a program without a spec file"},
};

/* The clock of the user's or the site's settings; none by default. */
static bool take_default_clock(struct session *s, struct clock_want *out)
{
    struct config_value value;

    if (user_settings_get(&s->arena, "gpu.clock.default", &value, &s->diag) != ST_OK)
        return false;
    if (clock_want_parse(value.text != NULL ? value.text : "none", out))
        return true;
    diag_fail(&s->diag, ST_FORMAT, "config.bad-value", value.where,
              "gpu.clock.default must be none, base, max or a number of MHz, not \"%s\"",
              value.text);
    return false;
}

/* The block that reports of runs begin with, as files have it; or the plan. */
static void profile_describe(const void *result, struct report *r)
{
    report_text(r, str_trim(((const struct gpu_profile_result *)result)->text));
}

static int profile_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct gpu_profile_job job = args->job;
    struct gpu_profile_result result = {0};
    struct clock_want clock;

    job.out = s->common.out;
    job.argv = (const char *const *)s->operands.at;
    job.argc = s->operands.n;
    job.is_dry = s->common.dry_run;
    job.progress = &s->progress;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"timeout", job.timeout_s},
                   {"wait", job.wait_s},
                   {"peak-tflops", job.ask.peaks.tflops},
                   {"peak-gbps", job.ask.peaks.gbps}};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (!(numbers[i].value >= 0 && numbers[i].value < 1e9))
            return session_usage(s, "value out of range: --%s %g (0 to 1e9)", numbers[i].name,
                                 numbers[i].value);
    if (args->clock != NULL && !clock_want_parse(args->clock, &clock))
        return session_usage(
            s, "profile: --clock must be none, base, max or a number of MHz, not \"%s\"",
            args->clock);
    if (args->clock == NULL && !take_default_clock(s, &clock))
        return GPU_FILE;
    int code = (int)gpu_profile_run(&job, clock, &s->arena, &result, &s->diag);
    if (code == GPU_USAGE)
        diag_hint(&s->diag, "try", "strata help gpu profile");
    for (size_t i = 0; i < result.written.n; i++)
        session_wrote(s, result.written.at[i]);
    if (result.text.n > 0)
        session_give(s, &(struct answer){.schema = &gpu_profile_schema,
                                         .origin = result.origin,
                                         .result = &result,
                                         .describe = profile_describe});
    gpu_profile_free(&result);
    return code;
}

const struct command command_gpu_profile = {
    .name = "profile",
    .group = GROUP_RECORD,
    .summary = "profile a workload: limiter and opportunities per kernel",
    .usage = "[OPTIONS] [-- COMMAND [ARGUMENT…]]",
    .details =
        "Runs the command (or that of the spec file) and writes a folder with the report and all "
        "data under strata-out/profiles. Modes: annotation (the default) times every kernel and "
        "collects "
        "counters in eight groups; event times runs of one stage, for comparing two versions; ncu "
        "collects everything Nsight Compute offers, including its advice and source view; nsys "
        "records the timeline: overlap, gaps, launch latency.\n"
        "\n"
        "Only one profiling run at a time may use a GPU; a second one ends with exit code 6 or "
        "waits (--wait). Clocks are measured and reported; --clock locks them for the run and "
        "always restores them afterwards. Its default is gpu.clock.default of the settings file, "
        "else none. By hand: nvidia-smi -i N -lgc MHZ,MHZ and -rgc.\n"
        "\n"
        "Without permission for hardware counters, annotation mode falls back to durations and a "
        "model and exits with 1; --backend cupti or ncu makes that an error. Other exit codes: 4 "
        "no GPU, driver or tool, 6 GPU in use by another run or profiler, 7 time limit reached, 8 "
        "the command failed.",
    .see = "docs/gpu-profile.md",
    .operands = {.kind = OPERAND_WORD, .min = 0, .max = SIZE_MAX},
    .common = COMMON_OUT | COMMON_DRY_RUN,
    .schemas = {&gpu_profile_schema},
    COMMAND_PARTS,
    .run = profile_run,
};
