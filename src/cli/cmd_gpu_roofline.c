/*
 * strata gpu roofline: how long work must take at least, without a GPU.
 */
#include <math.h>

#include "cli/gpu_options.h"
#include "flow/flow_devices.h"

struct args {
    struct gpu_args gpu;
};

static const struct opt options[] = {
    OPT_GPU_WORK(struct args, gpu),
    OPT_END,
};

static const struct example examples[] = {
    {"strata gpu roofline --device H200 --dtype bf16 --param m=4096 --param n=4096 --param k=4096 "
     "--flops 2*m*n*k --bytes \"2*(m*k+k*n+m*n)\"",
     "a matrix product"},
    {"strata gpu roofline --device H200 --spec examples/gpu-rules/mla.json",
     "every stage of a plan"},
    {0},
};

struct row {
    struct str name;
    struct gpu_work work;
    double peak;
    struct gpu_roofline r;
    const char *peak_name;
};

static enum status make_rows(struct session *s, const struct args *args, struct gpu_run *run,
                             struct gpu_spec *spec)
{
    struct gpu_import_job job = gpu_job_of(s, &args->gpu);
    struct device_table table;
    const char *path;
    size_t rows;

    if (job.spec != NULL) {
        TRY(gpu_spec_load(&run->arena, job.spec, spec, &s->diag));
        for (size_t i = 0; i < spec->params.list.n; i++) {
            const struct gpu_param *p = &spec->params.list.at[i];
            TRY(gpu_params_set(&run->params, &run->arena, p->name, p->text, p->is_string,
                               &s->diag));
        }
    } else {
        vec_push(&spec->stages,
                 ((struct gpu_spec_stage){
                     .name = S("work"), .flops = str_of(job.flops), .bytes = str_of(job.bytes)}));
    }
    for (size_t i = 0; i < job.n_params; i++)
        TRY(gpu_params_assign(&run->params, &run->arena, job.params[i], &s->diag));
    if (job.dtype != NULL)
        TRY(gpu_params_set(&run->params, &run->arena, S("dtype"), str_of(job.dtype), true,
                           &s->diag));
    TRY(flow_devices(&run->arena, &table, &path, &rows, &s->diag));
    run->device.name = str_of(job.device);
    run->peaks = gpu_peaks_of(&table, &run->device, job.peaks);
    if (run->peaks.source == GPU_PEAKS_NONE) {
        diag_fail(&s->diag, ST_NOT_FOUND, "devices.unknown", (struct where){.path = job.device},
                  "no such device in the table");
        diag_hint(&s->diag, "try", "strata devices");
        return ST_NOT_FOUND;
    }
    TRY(gpu_run_stages(run, spec, (struct gpu_work_option){.dtype = str_of(job.dtype)}, &s->diag));
    return ST_OK;
}

/* A prediction: the floor is the duration. */
static struct row row_of(const struct gpu_run *run, const struct gpu_stage *stage)
{
    enum peak peak = PEAK_BF16;
    struct row row = {.name = stage->name, .work = stage->work};

    gpu_peak_of_dtype(stage->dtype, &peak);
    row.peak = run->peaks.tflops[peak];
    row.peak_name = peak_name(peak);
    double floor_ns = gpu_floor_ns(stage->work, row.peak, run->peaks.gbps, 1, 1);
    row.r = gpu_roofline_of(floor_ns, stage->work, NAN, row.peak, &run->peaks);
    return row;
}

static double compute_ns(const struct row *row)
{
    return row->peak > 0 ? row->work.flops / row->peak / 1e3 : NAN;
}

static void put(struct json_writer *j, const char *key, double value)
{
    json_write_key(j, str_of(key));
    json_write_f64(j, value);
}

static void print_json(struct session *s, const struct gpu_run *run)
{
    struct json_writer *j = session_json_begin(s, "strata.gpu-roofline/1", "estimated");

    json_write_object(j);
    json_write_key(j, S("device"));
    json_write_string(j, run->device.name);
    put(j, "gbps", run->peaks.gbps);
    json_write_key(j, S("peaks_from"));
    session_json_text(j, gpu_peak_source_name(run->peaks.source));
    json_write_key(j, S("stages"));
    json_write_array(j);
    for (size_t i = 0; i < run->stages.n; i++) {
        struct row row = row_of(run, &run->stages.at[i]);
        json_write_object(j);
        json_write_key(j, S("name"));
        json_write_string(j, row.name);
        put(j, "flops", row.work.flops);
        put(j, "bytes", row.work.bytes);
        put(j, "intensity_flop_per_byte", row.r.ai);
        put(j, "ridge_flop_per_byte", row.r.ridge);
        json_write_key(j, S("peak_type"));
        session_json_text(j, row.peak_name);
        put(j, "peak_tflops", row.peak);
        put(j, "compute_us", compute_ns(&row) / 1e3);
        put(j, "memory_us", row.work.bytes / run->peaks.gbps / 1e3);
        put(j, "floor_us", row.r.floor_ns / 1e3);
        json_write_key(j, S("bound"));
        session_json_text(j, row.r.bound);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
    session_json_end(s);
}

static const char *cell(struct session *s, const char *format, double value)
{
    if (!isfinite(value))
        return "-";
    return strcmp(format, "%.4g") == 0 ? arena_format(&s->arena, "%.4g", value).at
                                       : arena_format(&s->arena, "%.1f", value).at;
}

static void print_text(struct session *s, const struct gpu_run *run)
{
    static const struct out_column columns[] = {
        {"stage", false},     {"FLOP", true},      {"bytes", true},    {"FLOP/B", true},
        {"compute us", true}, {"memory us", true}, {"floor us", true}, {"bound", false},
    };
    enum { COLUMNS = ARRAY_LEN(columns) };
    const char **cells = ARENA_ARRAY(&s->arena, const char *, run->stages.n *COLUMNS + 1);

    for (size_t i = 0; i < run->stages.n; i++) {
        struct row row = row_of(run, &run->stages.at[i]);
        const char *const list[COLUMNS] = {
            out_clean(&s->arena, row.name),
            cell(s, "%.4g", row.work.flops),
            cell(s, "%.4g", row.work.bytes),
            cell(s, "%.1f", row.r.ai),
            cell(s, "%.1f", compute_ns(&row) / 1e3),
            cell(s, "%.1f", row.work.bytes / run->peaks.gbps / 1e3),
            cell(s, "%.1f", row.r.floor_ns / 1e3),
            row.r.bound[0] != '\0' ? row.r.bound : "-",
        };
        memcpy(cells + i * COLUMNS, list, sizeof(list));
    }
    out_table(&s->out, columns, COLUMNS, cells, run->stages.n);
    if (run->stages.n > 0) {
        struct row row = row_of(run, &run->stages.at[0]);
        out_printf(&s->out, "\n  %.*s: %s %.1f TFLOP/s, %.1f GB/s, ridge %.1f FLOP/B (%s)\n",
                   STR_ARGS(run->device.name), row.peak_name, row.peak, run->peaks.gbps,
                   row.r.ridge, gpu_peak_source_name(run->peaks.source));
    }
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct gpu_spec spec = {0};
    struct gpu_run model;

    if (args->gpu.device == NULL && !(args->gpu.peak_gbps > 0 && args->gpu.peak_tflops > 0))
        return session_usage(s, "roofline needs --device, or --peak-tflops and --peak-gbps");
    if (args->gpu.spec == NULL && args->gpu.flops == NULL && args->gpu.bytes == NULL)
        return session_usage(s, "roofline needs --flops, --bytes or --spec");
    gpu_run_init(&model);
    enum status st = make_rows(s, args, &model, &spec);
    if (st == ST_OK)
        s->common.json ? print_json(s, &model) : print_text(s, &model);
    gpu_spec_free(&spec);
    gpu_run_free(&model);
    return session_code(st);
}

const struct command command_gpu_roofline = {
    .name = "roofline",
    .group = GROUP_GPU,
    .summary = "how long work must take at least on a device; needs no GPU",
    .usage = "[OPTIONS] --device NAME --flops EXPR --bytes EXPR",
    .details =
        "Work is given as formulas over parameters: + - * / %, brackets, max(a,b), min(a,b), "
        "ceil(x), floor(x), log2(x) and bytesof(dtype). The floor is the longer of two times: "
        "operations over the peak of the type, and bytes over the memory bandwidth. A plan "
        "(--spec) gives several stages at once.\n"
        "\n"
        "Peaks come from --peak-tflops and --peak-gbps, else from the table that `strata devices` "
        "prints.",
    .see = "docs/gpu.md",
    .options = options,
    .args_size = sizeof(struct args),
    .examples = examples,
    .run = run,
};
