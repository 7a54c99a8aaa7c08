/*
 * strata gpu roofline: how long work must take at least, without a GPU.
 */
#include <math.h>

#include "cli/gpu/gpu_options.h"
#include "device/user_devices.h"
#include "gpu/judge/floors.h"
#include "report/report.h"

struct args {
    struct gpu_ask ask;
};

static const struct opt options[] = {
    OPT_GPU_WORK(struct args, ask),
};

static const struct example examples[] = {
    {"strata gpu roofline --chip H200 --dtype bf16 --param m=4096 --param n=4096 --param k=4096 "
     "--flops 2*m*n*k --bytes \"2*(m*k+k*n+m*n)\"",
     "a matrix product"},
    {"strata gpu roofline --chip H200 --spec examples/gpu-rules/mla.json",
     "every stage of a spec file"},
};

static enum status make_stages(struct session *s, const struct args *args, struct gpu_run *run,
                               struct gpu_spec *spec)
{
    struct gpu_import_job job = gpu_job_of(s, &args->ask);
    struct device_table table;
    const char *path;
    size_t rows;

    if (job.ask.spec != NULL)
        TRY(gpu_spec_load(&run->arena, job.ask.spec, spec, &s->diag));
    TRY(gpu_ask_params(&job.ask, &spec->params, &run->params, &run->arena, &s->diag));
    if (job.ask.spec == NULL)
        vec_push(&spec->stages, ((struct gpu_spec_stage){.name = S("work"),
                                                         .flops = str_of(job.ask.flops),
                                                         .bytes = str_of(job.ask.bytes)}));
    TRY(user_devices(&run->arena, &table, &path, &rows, &s->diag));
    run->device.name = str_of(job.ask.device);
    run->peaks = gpu_peaks_of(&table, &run->device, job.ask.peaks);
    if (run->peaks.source == GPU_PEAKS_NONE) {
        diag_fail(&s->diag, ST_NOT_FOUND, "devices.unknown", (struct where){.path = job.ask.device},
                  "unknown device");
        diag_hint(&s->diag, "try", "strata devices");
        return ST_NOT_FOUND;
    }
    return gpu_run_stages(run, spec, (struct gpu_work_option){.dtype = str_of(job.ask.dtype)},
                          &s->diag);
}

static void roofline_describe(const void *result, struct report *r)
{
    const struct gpu_floors *f = result;
    struct arena *arena = &r->arena;

    report_records(r, &gpu_floor_record, f->at, f->n + f->n_groups, NULL);
    if (f->n_groups > 0)
        report_say(r, "  concurrent stages combined: %zu (last in the list)", f->n_groups);
    if (f->n > 1)
        report_say(r, "  total floor: %s us", gpu_floor_text(arena, 1, f->total_ns / 1e3));
    if (f->n > 0)
        report_say(r, "  %.*s: %s %s TFLOP/s, %s GB/s, ridge %s FLOP/B (%s)", STR_ARGS(f->device),
                   f->at[0].peak_name, gpu_floor_text(arena, 1, f->at[0].peak),
                   gpu_floor_text(arena, 1, f->gbps > 0 ? f->gbps : NAN),
                   gpu_floor_text(arena, 1, f->at[0].ridge), gpu_peak_source_name(f->source));
}

/* A type without a roof would silently be given another's. */
static int check_types(struct session *s, const struct gpu_run *run)
{
    enum peak peak;

    for (size_t i = 0; i < run->stages.n; i++) {
        struct str dtype = run->stages.at[i].dtype;
        if (dtype.n > 0 && !gpu_peak_of_dtype(dtype, &peak))
            return session_usage(s, "no peak known for type \"%.*s\"", STR_ARGS(dtype));
    }
    return CODE_DONE;
}

static int roofline_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct gpu_spec spec = {0};
    struct gpu_run model;

    if (args->ask.device == NULL && !(args->ask.peaks.gbps > 0 && args->ask.peaks.tflops > 0))
        return session_usage(s, "roofline needs --chip, or --peak-tflops and --peak-gbps");
    if (args->ask.spec == NULL && args->ask.flops == NULL && args->ask.bytes == NULL)
        return session_usage(s, "roofline needs --flops, --bytes or --spec");
    TRY_CODE(gpu_options_check(s, &args->ask));
    gpu_run_init(&model);
    enum status st = make_stages(s, args, &model, &spec);
    int code = st == ST_OK ? check_types(s, &model) : session_code(st);
    if (code == CODE_DONE) {
        struct gpu_floors floors = gpu_floors_of(&s->arena, &model);
        session_give(s, &(struct answer){.schema = &gpu_floors_schema,
                                         .origin = "estimated",
                                         .result = &floors,
                                         .describe = roofline_describe});
    }
    gpu_spec_free(&spec);
    gpu_run_free(&model);
    return code;
}

const struct command command_gpu_roofline = {
    .name = "roofline",
    .group = GROUP_RECORD,
    .summary = "compute the roofline floor of a workload; needs no GPU",
    .usage = "[OPTIONS] --chip NAME --flops EXPR --bytes EXPR",
    .details = "Work is given as formulas over parameters: + - * / %, brackets, max(a,b), "
               "min(a,b), ceil(x), floor(x), log2(x) and bytesof(dtype). The floor is the longer "
               "of two times: operations divided by the peak of the data type, and bytes divided "
               "by memory bandwidth. A spec file (--spec) gives several stages at once; concurrent "
               "stages get a combined row because they share both.\n"
               "\n"
               "Peaks come from --peak-tflops and --peak-gbps, else from `strata devices`.",
    .see = "docs/gpu.md",
    .schemas = {&gpu_floors_schema},
    COMMAND_PARTS_ZERO,
    .run = roofline_run,
};
