#include "flow/flow_gpu_import.h"

#include <math.h>
#include <stdlib.h>

#include "base/mapfile.h"
#include "capture/capture.h"
#include "flow/flow.h"
#include "flow/flow_devices.h"
#include "gpu/text.h"

enum { TOP_KERNELS = 20, HEAD = 1 << 16 };

struct span {
    strid name;
    double ns;
};

static int by_name(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->name != y->name)
        return (x->name > y->name) - (x->name < y->name);
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static int by_total(const void *a, const void *b)
{
    const struct gpu_kernel *x = a, *y = b;

    if (x->total_ns != y->total_ns)
        return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
    return str_compare(x->name, y->name);
}

/* One kernel for each name of a trace: median, count and sum of its launches. */
static void take_capture(struct gpu_run *run, struct gpu_import *import, const struct capture *cap)
{
    struct span *spans = mem_grow(NULL, sizeof(*spans), cap->slices.n + 1);
    size_t n = 0, first = import->kernels.n;

    for (size_t i = 0; i < cap->slices.n; i++)
        if (cap->slices.kind[i] == SLICE_COMPUTE || cap->slices.kind[i] == SLICE_COMM)
            spans[n++] = (struct span){cap->slices.name[i], (double)cap->slices.dur[i]};
    qsort(spans, n, sizeof(*spans), by_name);
    for (size_t i = 0, k; i < n; i = k) {
        struct gpu_kernel kernel = gpu_kernel_none();
        kernel.total_ns = 0;
        for (k = i; k < n && spans[k].name == spans[i].name; k++)
            kernel.total_ns += spans[k].ns;
        kernel.launches = k - i;
        kernel.name = arena_str(&run->arena, capture_text(cap, spans[i].name));
        kernel.m[GPU_M_DUR_NS] = (spans[i + (k - i) / 2].ns + spans[i + (k - i - 1) / 2].ns) / 2;
        vec_push(&import->kernels, kernel);
        vec_push(&import->known, (struct gpu_known){0});
    }
    mem_free(spans);
    if (import->kernels.n > first)
        qsort(import->kernels.at + first, import->kernels.n - first, sizeof(*import->kernels.at),
              by_total);
    for (size_t i = first; i < import->kernels.n; i++)
        import->kernels.at[i].id = i;
    import->rows += n;
}

static enum status read_trace(const char *path, struct gpu_run *run, struct gpu_import *import,
                              struct diag *d)
{
    struct capture *cap = NULL;

    TRY(flow_load(path, NULL, d, &cap));
    take_capture(run, import, cap);
    capture_free(cap);
    return ST_OK;
}

static enum status read_file(const char *path, struct gpu_run *run, struct gpu_import *import,
                             bool *is_page, struct diag *d)
{
    struct mapfile map;
    size_t header;

    TRY(mapfile_open(&map, path, d));
    *is_page = gpu_page_of(str_part(map.text, 0, HEAD), &header) != GPU_PAGE_NONE;
    enum status st = *is_page ? gpu_ncu_read(import, path, map.text, d) : ST_OK;
    mapfile_close(&map);
    return *is_page ? st : read_trace(path, run, import, d);
}

/* What raw pages tell of the device. */
static void find_device(struct gpu_run *run, const struct gpu_kernel *k)
{
    const struct {
        const char *name;
        double *to;
    } numbers[] = {
        {"device__attribute_multiprocessor_count", &run->device.sm_count},
        {"device__attribute_l2_cache_size", &run->device.l2_bytes},
        {"device__attribute_global_memory_bus_width", &run->device.bus_bits},
        {"device__attribute_memory_clock_rate", &run->device.mem_clock_khz},
        {"device__attribute_clock_rate", &run->device.sm_clock_khz},
    };

    for (size_t i = 0; i < k->values.n; i++) {
        const struct gpu_value *v = &k->values.at[i];
        if (str_equal(v->name, S("device__attribute_display_name")) && run->device.name.n == 0)
            run->device.name = v->text;
        for (size_t j = 0; j < ARRAY_LEN(numbers); j++)
            if (str_equal(v->name, str_of(numbers[j].name)) && v->number > 0)
                *numbers[j].to = v->number;
    }
    if (run->device.cc.n == 0)
        run->device.cc = k->cc;
}

/* "dir/raw.csv" is called raw. */
static struct str name_of(struct arena *arena, const char *path)
{
    struct str base = str_basename(str_of(path));

    return arena_str(arena, str_part(base, 0, str_find_char(base, '.')));
}

static void put_top(struct gpu_run *run)
{
    struct gpu_text t = {0};

    gpu_put(&t, "| Kernel | Launches | Total (us) | Median (us) |\n|---|---|---|---|\n");
    for (size_t i = 0; i < run->kernels.n && i < TOP_KERNELS; i++) {
        const struct gpu_kernel *k = &run->kernels.at[i];
        gpu_put_cell(&t, str_part(k->name, 0, 160));
        gpu_put(&t, "| %llu | %.2f | %.2f |\n", (unsigned long long)k->launches, k->total_ns / 1e3,
                k->m[GPU_M_DUR_NS] / 1e3);
    }
    vec_push(&run->sections,
             ((struct gpu_section){S("Top kernels"), arena_str(&run->arena, gpu_text_view(&t))}));
    gpu_text_free(&t);
}

static enum status take_options(const struct gpu_import_job *job, struct gpu_run *run,
                                struct gpu_spec *spec, struct diag *d)
{
    if (job->spec != NULL) {
        TRY(gpu_spec_load(&run->arena, job->spec, spec, d));
        run->kernel = spec->kernel;
        run->version = spec->version;
        for (size_t i = 0; i < spec->params.list.n; i++) {
            const struct gpu_param *p = &spec->params.list.at[i];
            TRY(gpu_params_set(&run->params, &run->arena, p->name, p->text, p->is_string, d));
        }
    }
    for (size_t i = 0; i < job->n_params; i++)
        TRY(gpu_params_assign(&run->params, &run->arena, job->params[i], d));
    if (job->dtype != NULL)
        TRY(gpu_params_set(&run->params, &run->arena, S("dtype"), str_of(job->dtype), true, d));
    if (job->kernel != NULL)
        run->kernel = str_of(job->kernel);
    if (job->version != NULL)
        run->version = str_of(job->version);
    if (run->kernel.n == 0)
        run->kernel = name_of(&run->arena, job->paths[0]);
    if (job->device != NULL)
        run->device.name = str_of(job->device);
    return ST_OK;
}

static enum status judge(const struct gpu_import_job *job, struct gpu_run *run,
                         const struct gpu_spec *spec, struct diag *d)
{
    struct device_table table;
    const char *path;
    size_t rows;

    TRY(flow_devices(&run->arena, &table, &path, &rows, d));
    run->peaks = gpu_peaks_of(&table, &run->device, job->peaks);
    TRY(gpu_run_stages(run, job->spec != NULL ? spec : NULL,
                       (struct gpu_work_option){.flops = str_of(job->flops),
                                                .bytes = str_of(job->bytes),
                                                .dtype = str_of(job->dtype)},
                       d));
    gpu_run_judge(run);
    return ST_OK;
}

static enum status read_all(const struct gpu_import_job *job, struct gpu_run *run,
                            struct gpu_import *import, struct diag *d)
{
    bool has_page = false;

    for (size_t i = 0; i < job->n_paths; i++) {
        bool is_page = false;
        TRY(read_file(job->paths[i], run, import, &is_page, d));
        has_page = has_page || is_page;
        gpu_run_info_text(run, "source", str_of(job->paths[i]));
    }
    gpu_source_attach(import);
    run->kernels.at = import->kernels.at;
    run->kernels.n = import->kernels.n;
    run->kernels.cap = import->kernels.cap;
    import->kernels.at = NULL;
    import->kernels.n = import->kernels.cap = 0;
    run->mode = has_page ? S("ncu") : S("nsys");
    if (!has_page)
        put_top(run);
    if (import->lost > 0)
        gpu_run_note(run, "%llu damaged rows were skipped", (unsigned long long)import->lost);
    for (size_t i = 0; i < run->kernels.n; i++)
        find_device(run, &run->kernels.at[i]);
    return ST_OK;
}

enum status flow_gpu_import(const struct gpu_import_job *job, struct gpu_run *run,
                            struct gpu_import *import, struct diag *d)
{
    struct gpu_spec spec = {0};

    gpu_run_init(run);
    *import = (struct gpu_import){.arena = &run->arena};
    enum status st = take_options(job, run, &spec, d);
    if (st == ST_OK)
        st = read_all(job, run, import, d);
    if (st == ST_OK)
        st = judge(job, run, &spec, d);
    gpu_spec_free(&spec);
    return st;
}
