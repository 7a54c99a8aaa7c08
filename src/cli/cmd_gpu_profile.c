/*
 * strata gpu profile: run a workload and say what bounds its kernels.
 */
#include "cli/session.h"
#include "flow/flow_config.h"
#include "flow/flow_gpu_profile.h"

struct args {
    struct gpu_profile_job job;
    const char *clock;
};

static const struct args defaults = {.job = {.is_checked = true, .runs = 20, .warmup = 3}};

static const struct opt options[] = {
    OPT_CHOICE(0, "mode", gpu_profile_modes, struct args, job.mode,
               "what is measured (annotation)"),
    OPT_STRING(0, "kernel", "NAME", struct args, job.ask.kernel,
               "name of the workload (of the spec file, else of the program)"),
    OPT_STRING(0, "version", "vN", struct args, job.ask.version,
               "which version of it this is (base)"),
    OPT_STRING(0, "spec", "FILE", struct args, job.ask.spec,
               "stages, formulas and command as JSON"),
    OPT_LIST('p', "param", "KEY=VALUE", struct args, job.ask.params,
             "a problem size; may be repeated"),
    OPT_GROUP("Work"),
    OPT_STRING(0, "flops", "EXPR", struct args, job.ask.flops, "operations of one pass"),
    OPT_STRING(0, "bytes", "EXPR", struct args, job.ask.bytes, "bytes one pass has to move"),
    OPT_STRING(0, "dtype", "TYPE", struct args, job.ask.dtype,
               "type of the numbers: bf16, fp32, …"),
    OPT_DOUBLE(0, "peak-tflops", "X", struct args, job.ask.peaks.tflops,
               "roof to compare with, TFLOP/s"),
    OPT_DOUBLE(0, "peak-gbps", "X", struct args, job.ask.peaks.gbps, "roof to compare with, GB/s"),
    OPT_GROUP("Measuring"),
    OPT_STRING(0, "select", "REGEX|nvtx:RANGE", struct args, job.select, "only these kernels"),
    OPT_INT(0, "skip", "N", struct args, job.skip, 0, INT32_MAX,
            "matching launches passed over first"),
    OPT_INT(0, "count", "N", struct args, job.count, 0, INT32_MAX, "launches measured; 0: all (0)"),
    OPT_INT(0, "runs", "N", struct args, job.runs, 1, 1000000, "timed runs of event mode (20)"),
    OPT_INT(0, "warmup", "N", struct args, job.warmup, 0, 1000000, "runs before those (3)"),
    OPT_STRING(0, "clock", "none|base|max|MHZ", struct args, clock,
               "lock the SM clock; needs root (gpu.clock.default, else none)"),
    OPT_CHOICE(0, "cache", gpu_caches, struct args, job.cache,
               "caches before each run; flush: event and ncu mode (keep)"),
    OPT_CHOICE(0, "clock-source", gpu_clock_sources, struct args, job.clock_source,
               "clock of the records; mono never jumps (real)"),
    OPT_CHOICE(0, "backend", gpu_backends, struct args, job.backend,
               "where counters come from; auto falls back (auto)"),
    OPT_GROUP("Machine"),
    OPT_STRING(0, "device", "N|UUID", struct args, job.ask.device, "which GPU (the first)"),
    OPT_DOUBLE(0, "timeout", "S", struct args, job.timeout_s,
               "most seconds of one run; 0: no limit"),
    OPT_DOUBLE(0, "wait", "S", struct args, job.wait_s,
               "wait so long for another profiling run (0)"),
    OPT_FLAG(0, "share", struct args, job.is_shared, "measure although other programs use the GPU"),
    OPT_FLAG(0, "check", struct args, job.is_checked,
             "run the spec's correctness command first (on)"),
    OPT_GROUP("Results"),
    OPT_STRING(0, "baseline", "DIR|latest|none", struct args, job.baseline,
               "earlier run to compare with (latest)"),
    OPT_FLAG(0, "force-compare", struct args, job.is_compare_forced, "compare even unlike runs"),
    OPT_STRING(0, "devlog", "FILE", struct args, job.devlog,
               "put the result into a development log"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata gpu profile --spec examples/gpu/specs/stream_copy.json --dry-run",
     "what would be run, with which environment"},
    {"strata gpu profile --mode ncu --dry-run -- ./my_program --size 4096",
     "the same for a program without a spec file"},
    {0},
};

/* What the user's or the site's settings say; none when they say nothing. */
static bool take_default_clock(struct session *s, struct clock_want *out)
{
    struct config_value value;

    if (flow_config_get(&s->arena, "gpu.clock.default", &value, &s->diag) != ST_OK)
        return false;
    if (clock_want_parse(value.text != NULL ? value.text : "none", out))
        return true;
    diag_fail(&s->diag, ST_FORMAT, "config.bad-value", value.where,
              "gpu.clock.default is none, base, max or a number of MHz, not \"%s\"", value.text);
    return false;
}

static int run(struct session *s, const void *given)
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
            return session_usage(s, "profile: --%s is a number from 0 to 1e9, not %g",
                                 numbers[i].name, numbers[i].value);
    if (args->clock != NULL && !clock_want_parse(args->clock, &clock))
        return session_usage(
            s, "profile: --clock is none, base, max or a number of MHz, not \"%s\"", args->clock);
    if (args->clock == NULL && !take_default_clock(s, &clock))
        return GPU_FILE;
    int code = (int)flow_gpu_profile(&job, clock, &s->arena, &result, &s->diag);
    if (code == GPU_USAGE)
        diag_hint(&s->diag, "try", "strata help gpu profile");
    for (size_t i = 0; i < result.written.n; i++)
        session_wrote(s, result.written.at[i]);
    if (s->common.json && result.text.n > 0)
        session_document(s, &gpu_profile_schema, result.origin, &result,
                         &(struct record_env){.arena = &s->arena});
    else if (!s->common.quiet)
        out_bytes(&s->out, result.text);
    flow_gpu_profile_free(&result);
    return code;
}

const struct command command_gpu_profile = {
    .name = "profile",
    .group = GROUP_GPU,
    .summary = "run a workload and say what bounds its kernels and what would help",
    .usage = "[OPTIONS] [-- COMMAND [ARGUMENT…]]",
    .details =
        "Runs the command (or that of the spec file) and writes a folder with the report and all "
        "numbers under out/profiles. Modes: annotation, the first look, times every kernel and "
        "collects the counters that fit two passes; event times runs of one stage, for comparing "
        "two versions; ncu collects everything Nsight Compute has, with its advice and the source; "
        "nsys records the timeline: overlap, gaps, launch latency.\n"
        "\n"
        "One profiling run at a time has a GPU; a second one ends with exit code 6 or waits "
        "(--wait). Clocks are measured and reported; --clock locks them for the time of the run "
        "and gives them back however it ends. By hand: nvidia-smi -i N -lgc MHZ,MHZ and -rgc.\n"
        "\n"
        "Without permission for hardware counters annotation mode falls back to durations and a "
        "model and ends with 1; --backend cupti or ncu makes that an error. Other exit codes: 4 no "
        "GPU, driver or tool, 6 GPU held by another run or profiler, 7 time limit, 8 the command "
        "failed.",
    .see = "docs/gpu-profile.md",
    .operands = {.kind = OPERAND_WORD, .min = 0, .max = SIZE_MAX},
    .common = COMMON_OUT | COMMON_DRY_RUN,
    .schemas = {&gpu_profile_schema},
    COMMAND_PARTS,
};
