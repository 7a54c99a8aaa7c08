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
    struct str name, group; /* group: of stages that run at the same time; empty: alone */
    struct gpu_work work;
    double peak, ridge, ai; /* peak 0: not known */
    double compute_ns, memory_ns, floor_ns;
    const char *peak_name, *bound;
};

struct rows {
    struct row *at; /* stages, then groups */
    size_t n, n_groups;
    double total_ns;
};

static enum status make_rows(struct session *s, const struct args *args, struct gpu_run *run,
                             struct gpu_spec *spec)
{
    struct gpu_import_job job = gpu_job_of(s, &args->gpu);
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
    TRY(flow_devices(&run->arena, &table, &path, &rows, &s->diag));
    run->device.name = str_of(job.ask.device);
    run->peaks = gpu_peaks_of(&table, &run->device, job.ask.peaks);
    if (run->peaks.source == GPU_PEAKS_NONE) {
        diag_fail(&s->diag, ST_NOT_FOUND, "devices.unknown", (struct where){.path = job.ask.device},
                  "no such device in the table");
        diag_hint(&s->diag, "try", "strata devices");
        return ST_NOT_FOUND;
    }
    TRY(gpu_run_stages(run, spec, (struct gpu_work_option){.dtype = str_of(job.ask.dtype)},
                       &s->diag));
    return ST_OK;
}

/* A prediction: the floor is the duration. */
static struct row row_of(const struct gpu_run *run, const struct gpu_stage *stage)
{
    enum peak peak = PEAK_BF16;
    struct row row = {.name = stage->name, .group = stage->group, .work = stage->work};

    gpu_peak_of_dtype(stage->dtype, &peak);
    row.peak = run->peaks.tflops[peak];
    row.peak_name = peak_name(peak);
    row.compute_ns = row.peak > 0 ? row.work.flops / row.peak / 1e3 : NAN;
    row.memory_ns = row.work.bytes / run->peaks.gbps;
    row.floor_ns = gpu_floor_ns(stage->work, row.peak, run->peaks.gbps, 1, 1);
    struct gpu_roofline r = gpu_roofline_of(row.floor_ns, stage->work, NAN, row.peak, &run->peaks);
    row.ai = r.ai;
    row.ridge = r.ridge;
    row.bound = r.bound;
    return row;
}

/* Stages that run at the same time share the device: their work is added up. */
static struct row group_of(const struct rows *rows, size_t first)
{
    struct row group = rows->at[first];

    group.name = group.group;
    for (size_t i = first + 1; i < rows->n; i++)
        if (str_equal(rows->at[i].group, group.group)) {
            group.work.flops += rows->at[i].work.flops;
            group.work.bytes += rows->at[i].work.bytes;
            group.compute_ns += rows->at[i].compute_ns;
            group.memory_ns += rows->at[i].memory_ns;
        }
    group.floor_ns = fmax(group.compute_ns, group.memory_ns);
    group.ai = group.work.flops / group.work.bytes;
    group.bound = isnan(group.compute_ns + group.memory_ns) ? ""
                  : group.memory_ns > group.compute_ns      ? "memory"
                                                            : "compute";
    return group;
}

static bool is_new_group(const struct rows *rows, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (str_equal(rows->at[k].group, rows->at[i].group))
            return false;
    return rows->at[i].group.n > 0;
}

/* Rows of stages, then of groups, and what all of them take one after the other. */
static struct rows all_rows(struct arena *arena, const struct gpu_run *run)
{
    struct rows rows = {.at = ARENA_ARRAY(arena, struct row, 2 * run->stages.n + 1)};

    rows.n = run->stages.n;
    for (size_t i = 0; i < rows.n; i++) {
        rows.at[i] = row_of(run, &run->stages.at[i]);
        if (rows.at[i].group.n == 0)
            rows.total_ns += rows.at[i].floor_ns;
    }
    for (size_t i = 0; i < rows.n; i++)
        if (is_new_group(&rows, i)) {
            rows.at[rows.n + rows.n_groups] = group_of(&rows, i);
            rows.total_ns += rows.at[rows.n + rows.n_groups++].floor_ns;
        }
    return rows;
}

static void put_row(struct json_writer *j, const struct row *row, bool is_stage)
{
    json_write_object(j);
    json_put_str(j, "name", row->name);
    if (is_stage && row->group.n > 0) {
        json_put_str(j, "group", row->group);
    }
    json_put_f64(j, "flops", row->work.flops);
    json_put_f64(j, "bytes", row->work.bytes);
    json_put_f64(j, "intensity_flop_per_byte", row->ai);
    if (is_stage) {
        json_put_f64(j, "ridge_flop_per_byte", row->ridge);
        json_put_text(j, "peak_type", row->peak_name);
        json_put_f64(j, "peak_tflops", row->peak > 0 ? row->peak : NAN);
    }
    json_put_f64(j, "compute_us", row->compute_ns / 1e3);
    json_put_f64(j, "memory_us", row->memory_ns / 1e3);
    json_put_f64(j, "floor_us", row->floor_ns / 1e3);
    json_put_text(j, "bound", row->bound);
    json_write_end(j);
}

static void print_json(struct session *s, const struct gpu_run *run, const struct rows *rows)
{
    struct json_writer *j = session_json_begin(s, "strata.gpu-roofline/1", "estimated");

    json_write_object(j);
    json_put_str(j, "device", run->device.name);
    json_put_f64(j, "gbps", run->peaks.gbps);
    json_put_text(j, "peaks_from", gpu_peak_source_name(run->peaks.source));
    json_put_array(j, "stages");
    for (size_t i = 0; i < rows->n; i++)
        put_row(j, &rows->at[i], true);
    json_write_end(j);
    json_put_array(j, "groups");
    for (size_t i = 0; i < rows->n_groups; i++)
        put_row(j, &rows->at[rows->n + i], false);
    json_write_end(j);
    json_put_f64(j, "floor_us", rows->total_ns / 1e3);
    json_write_end(j);
    session_json_end(s);
}

static const char *cell(struct session *s, bool is_short, double value)
{
    if (!isfinite(value))
        return "-";
    return (is_short ? arena_format(&s->arena, "%.4g", value)
                     : arena_format(&s->arena, "%.1f", value))
        .at;
}

enum { COLUMNS = 8 };

static void fill_cells(struct session *s, const struct row *row, const char **cells)
{
    cells[0] = out_clean(&s->arena, row->name);
    cells[1] = cell(s, true, row->work.flops);
    cells[2] = cell(s, true, row->work.bytes);
    cells[3] = cell(s, false, row->ai);
    cells[4] = cell(s, false, row->compute_ns / 1e3);
    cells[5] = cell(s, false, row->memory_ns / 1e3);
    cells[6] = cell(s, false, row->floor_ns / 1e3);
    cells[7] = row->bound[0] != '\0' ? row->bound : "-";
}

static void print_text(struct session *s, const struct gpu_run *run, const struct rows *rows)
{
    static const struct out_column columns[COLUMNS] = {
        {"stage", false},     {"FLOP", true},      {"bytes", true},    {"FLOP/B", true},
        {"compute us", true}, {"memory us", true}, {"floor us", true}, {"bound", false},
    };
    size_t n = rows->n + rows->n_groups;
    const char **cells = ARENA_ARRAY(&s->arena, const char *, n *COLUMNS + 1);

    for (size_t i = 0; i < n; i++)
        fill_cells(s, &rows->at[i], cells + i * COLUMNS);
    out_table(&s->out, columns, COLUMNS, cells, n);
    if (rows->n_groups > 0)
        out_printf(&s->out, "\n  the last %zu: stages that run at the same time, together\n",
                   rows->n_groups);
    if (rows->n > 1)
        out_printf(&s->out, "\n  floor of all: %s us\n", cell(s, false, rows->total_ns / 1e3));
    if (rows->n > 0)
        out_printf(&s->out, "\n  %.*s: %s %s TFLOP/s, %s GB/s, ridge %s FLOP/B (%s)\n",
                   STR_ARGS(run->device.name), rows->at[0].peak_name,
                   cell(s, false, rows->at[0].peak > 0 ? rows->at[0].peak : NAN),
                   cell(s, false, run->peaks.gbps > 0 ? run->peaks.gbps : NAN),
                   cell(s, false, rows->at[0].ridge), gpu_peak_source_name(run->peaks.source));
}

/* A type without a roof would silently be given another's. */
static int check_types(struct session *s, const struct gpu_run *run)
{
    enum peak peak;

    for (size_t i = 0; i < run->stages.n; i++) {
        struct str dtype = run->stages.at[i].dtype;
        if (dtype.n > 0 && !gpu_peak_of_dtype(dtype, &peak))
            return session_usage(s, "no roof is known for the type \"%.*s\"", STR_ARGS(dtype));
    }
    return CODE_DONE;
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct gpu_spec spec = {0};
    struct gpu_run model;

    if (args->gpu.ask.device == NULL &&
        !(args->gpu.ask.peaks.gbps > 0 && args->gpu.ask.peaks.tflops > 0))
        return session_usage(s, "roofline needs --device, or --peak-tflops and --peak-gbps");
    if (args->gpu.ask.spec == NULL && args->gpu.ask.flops == NULL && args->gpu.ask.bytes == NULL)
        return session_usage(s, "roofline needs --flops, --bytes or --spec");
    int code = gpu_options_check(s, &args->gpu);
    if (code != CODE_DONE)
        return code;
    gpu_run_init(&model);
    enum status st = make_rows(s, args, &model, &spec);
    code = st == ST_OK ? check_types(s, &model) : session_code(st);
    if (code == CODE_DONE) {
        struct rows rows = all_rows(&s->arena, &model);
        s->common.json ? print_json(s, &model, &rows) : print_text(s, &model, &rows);
    }
    gpu_spec_free(&spec);
    gpu_run_free(&model);
    return code;
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
        "(--spec) gives several stages at once; stages that run at the same time get a row "
        "together, because they share both.\n"
        "\n"
        "Peaks come from --peak-tflops and --peak-gbps, else from the table that `strata devices` "
        "prints.",
    .see = "docs/gpu.md",
    .options = options,
    .args_size = sizeof(struct args),
    .examples = examples,
    .run = run,
};
