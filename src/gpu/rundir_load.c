/*
 * The JSON files of a run, read back.
 */
#include <math.h>

#include "base/fs.h"
#include "base/num.h"
#include "gpu/rundir.h"

static double or_zero(const struct gpu_node *node)
{
    double value = gpu_tree_number(node);

    return isnan(value) ? 0 : value;
}

static void take_device(const struct gpu_node *x, struct gpu_device *out)
{
    *out = (struct gpu_device){
        .name = gpu_tree_text(gpu_tree_get(x, "name")),
        .uuid = gpu_tree_text(gpu_tree_get(x, "uuid")),
        .cc = gpu_tree_text(gpu_tree_get(x, "cc")),
        .driver = gpu_tree_text(gpu_tree_get(x, "driver")),
        .cuda = gpu_tree_text(gpu_tree_get(x, "cuda")),
        .ecc = gpu_tree_text(gpu_tree_get(x, "ecc")),
        .mig = gpu_tree_text(gpu_tree_get(x, "mig")),
        .sm_count = or_zero(gpu_tree_get(x, "sm_count")),
        .l2_bytes = or_zero(gpu_tree_get(x, "l2_bytes")),
        .mem_bytes = or_zero(gpu_tree_get(x, "mem_bytes")),
        .bus_bits = or_zero(gpu_tree_get(x, "bus_bits")),
        .mem_clock_khz = or_zero(gpu_tree_get(x, "mem_clock_khz")),
        .sm_clock_khz = or_zero(gpu_tree_get(x, "sm_clock_khz")),
    };
}

static void take_peaks(const struct gpu_node *x, struct gpu_peaks *out)
{
    *out = (struct gpu_peaks){
        .source = gpu_peak_source_of(gpu_tree_text(gpu_tree_get(x, "source"))),
        .gbps = or_zero(gpu_tree_get(x, "gbps")),
        .l2_bytes = or_zero(gpu_tree_get(x, "l2_bytes")),
        .sm_count = or_zero(gpu_tree_get(x, "sm_count")),
        .cc = gpu_tree_text(gpu_tree_get(x, "cc")),
    };
    for (size_t i = 0; i < PEAK_COUNT; i++) {
        const char *name = peak_name((enum peak)i);
        out->tflops[i] = or_zero(gpu_tree_get(gpu_tree_get(x, "tflops"), name));
        out->datasheet[i] = or_zero(gpu_tree_get(gpu_tree_get(x, "datasheet"), name));
    }
}

static enum status take_params(struct gpu_run *run, const struct gpu_node *root, struct diag *d)
{
    run->kernel = gpu_tree_text(gpu_tree_get(root, "kernel"));
    run->version = gpu_tree_text(gpu_tree_get(root, "version"));
    run->mode = gpu_tree_text(gpu_tree_get(root, "mode"));
    run->runs = gpu_tree_number(gpu_tree_get(root, "runs"));
    run->warmup = gpu_tree_number(gpu_tree_get(root, "warmup"));
    take_device(gpu_tree_get(root, "device"), &run->device);
    take_peaks(gpu_tree_get(root, "peaks"), &run->peaks);
    for (const struct gpu_node *m = root->first; m != NULL; m = m->next) {
        if (str_equal(m->key, S("kernel")))
            break; /* problem keys come first */
        if (m->kind == JSON_STRING || m->kind == JSON_NUMBER)
            TRY(gpu_params_set(&run->params, &run->arena, m->key, m->text, m->kind == JSON_STRING,
                               d));
    }
    return ST_OK;
}

static void take_dims(const struct gpu_node *x, uint32_t out[3])
{
    const struct gpu_node *m = x != NULL ? x->first : NULL;

    for (size_t i = 0; i < 3 && m != NULL; i++, m = m->next) {
        double v = gpu_tree_number(m);
        out[i] = v >= 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
    }
}

static uint64_t take_count(const struct gpu_node *x)
{
    uint64_t value = 0;

    num_u64(gpu_tree_text(x), &value);
    return value;
}

static struct gpu_hot take_hot(const struct gpu_node *m)
{
    return (struct gpu_hot){
        .place = gpu_tree_text(gpu_tree_get(m, "place")),
        .text = gpu_tree_text(gpu_tree_get(m, "text")),
        .samples = gpu_tree_number(gpu_tree_get(m, "samples")),
        .share = gpu_tree_number(gpu_tree_get(m, "share")),
        .inst = gpu_tree_number(gpu_tree_get(m, "inst")),
        .stall = gpu_tree_text(gpu_tree_get(m, "stall")),
    };
}

/* The first element of an array member; NULL when there is none. */
static const struct gpu_node *elements(const struct gpu_node *x, const char *key)
{
    const struct gpu_node *list = gpu_tree_get(x, key);

    return list != NULL && list->kind == JSON_ARRAY ? list->first : NULL;
}

static void take_lists(const struct gpu_node *x, struct gpu_kernel *k)
{
    for (const struct gpu_node *m = elements(x, "values"); m != NULL; m = m->next)
        vec_push(&k->values,
                 ((struct gpu_value){.section = gpu_tree_text(gpu_tree_get(m, "section")),
                                     .name = gpu_tree_text(gpu_tree_get(m, "name")),
                                     .unit = gpu_tree_text(gpu_tree_get(m, "unit")),
                                     .text = gpu_tree_text(gpu_tree_get(m, "text")),
                                     .number = gpu_tree_number(gpu_tree_get(m, "value"))}));
    for (const struct gpu_node *m = elements(x, "rules"); m != NULL; m = m->next)
        vec_push(&k->rules,
                 ((struct gpu_rule){.section = gpu_tree_text(gpu_tree_get(m, "section")),
                                    .name = gpu_tree_text(gpu_tree_get(m, "name")),
                                    .type = gpu_tree_text(gpu_tree_get(m, "type")),
                                    .text = gpu_tree_text(gpu_tree_get(m, "text")),
                                    .speedup_type = gpu_tree_text(gpu_tree_get(m, "speedup_type")),
                                    .speedup = gpu_tree_number(gpu_tree_get(m, "speedup"))}));
    for (const struct gpu_node *m = elements(x, "hot_instructions"); m != NULL; m = m->next)
        vec_push(&k->hot_instructions, take_hot(m));
    for (const struct gpu_node *m = elements(x, "hot_lines"); m != NULL; m = m->next)
        vec_push(&k->hot_lines, take_hot(m));
}

static void take_kernel(struct gpu_run *run, const struct gpu_node *x)
{
    struct gpu_kernel k = gpu_kernel_none();
    const struct gpu_node *metrics = gpu_tree_get(x, "metrics"),
                          *stalls = gpu_tree_get(x, "stalls");

    k.id = take_count(gpu_tree_get(x, "id"));
    k.name = gpu_tree_text(gpu_tree_get(x, "name"));
    k.cc = gpu_tree_text(gpu_tree_get(x, "cc"));
    k.context = gpu_tree_text(gpu_tree_get(x, "context"));
    k.stream = gpu_tree_text(gpu_tree_get(x, "stream"));
    k.device = gpu_tree_text(gpu_tree_get(x, "device"));
    k.nvtx = gpu_tree_text(gpu_tree_get(x, "nvtx"));
    take_dims(gpu_tree_get(x, "grid"), k.grid);
    take_dims(gpu_tree_get(x, "block"), k.block);
    take_dims(gpu_tree_get(x, "cluster"), k.cluster);
    k.launches = take_count(gpu_tree_get(x, "launches"));
    k.total_ns = gpu_tree_number(gpu_tree_get(x, "total_ns"));
    for (const struct gpu_node *m = metrics != NULL ? metrics->first : NULL; m; m = m->next) {
        int metric = gpu_metric_of_name(m->key);
        if (metric >= 0)
            k.m[metric] = gpu_tree_number(m);
    }
    for (const struct gpu_node *m = stalls != NULL ? stalls->first : NULL; m; m = m->next)
        gpu_kernel_stall(&k, m->key, gpu_tree_number(m));
    take_lists(x, &k);
    vec_push(&run->kernels, k);
}

static void take_stage(struct gpu_run *run, const struct gpu_node *x, const struct gpu_node *work)
{
    struct gpu_stage s = {
        .name = gpu_tree_text(gpu_tree_get(x, "name")),
        .select = gpu_tree_text(gpu_tree_get(x, "select")),
        .dtype = gpu_tree_text(gpu_tree_get(x, "dtype")),
        .group = gpu_tree_text(gpu_tree_get(x, "group")),
        .event_ns = gpu_tree_number(gpu_tree_get(x, "event_ns")),
    };
    const struct gpu_node *mine = gpu_tree_get(work, arena_cstr(&run->arena, s.name));

    s.work = (struct gpu_work){
        .flops = gpu_tree_number(gpu_tree_get(mine, "flops")),
        .bytes = gpu_tree_number(gpu_tree_get(mine, "bytes")),
        .flops_source = gpu_work_source_of(gpu_tree_text(gpu_tree_get(mine, "source"))),
        .bytes_source = gpu_work_source_of(gpu_tree_text(gpu_tree_get(mine, "bytes_source"))),
    };
    for (const struct gpu_node *m = elements(x, "kernels"); m != NULL; m = m->next) {
        uint64_t index = take_count(m);
        if (index < run->kernels.n)
            vec_push(&s.kernels, (size_t)index);
    }
    vec_push(&run->stages, s);
}

static void take_extra(struct gpu_run *run, const struct gpu_node *m)
{
    vec_push(&run->extra,
             ((struct gpu_opportunity){
                 .id = (int)fmin(14, fmax(1, or_zero(gpu_tree_get(m, "id")))),
                 .family = arena_cstr(&run->arena, gpu_tree_text(gpu_tree_get(m, "family"))),
                 .name = gpu_tree_text(gpu_tree_get(m, "name")),
                 .trigger = gpu_tree_text(gpu_tree_get(m, "trigger")),
                 .gain = or_zero(gpu_tree_get(m, "gain")),
                 .confidence = or_zero(gpu_tree_get(m, "confidence")),
                 .is_ranked = true}));
}

static void take_kernels(struct gpu_run *run, const struct gpu_node *root,
                         const struct gpu_node *params)
{
    const struct gpu_node *is_auto = gpu_tree_get(root, "auto_stages");

    run->has_auto_stages = is_auto != NULL && is_auto->kind == JSON_TRUE;
    for (const struct gpu_node *m = elements(root, "kernels"); m != NULL; m = m->next)
        take_kernel(run, m);
    for (const struct gpu_node *m = elements(root, "stages"); m != NULL; m = m->next)
        take_stage(run, m, gpu_tree_get(params, "work"));
    for (const struct gpu_node *m = elements(root, "timings_ns"); m != NULL; m = m->next)
        vec_push(&run->timings, gpu_tree_number(m));
    run->host_ns = gpu_tree_number(gpu_tree_get(root, "host_ns"));
    for (const struct gpu_node *m = elements(root, "changes"); m != NULL; m = m->next)
        vec_push(&run->changes,
                 ((struct gpu_change){.metric = gpu_tree_text(gpu_tree_get(m, "metric")),
                                      .previous = gpu_tree_text(gpu_tree_get(m, "previous")),
                                      .current = gpu_tree_text(gpu_tree_get(m, "current")),
                                      .change = gpu_tree_text(gpu_tree_get(m, "change"))}));
    for (const struct gpu_node *m = elements(root, "extra"); m != NULL; m = m->next)
        take_extra(run, m);
    for (const struct gpu_node *m = elements(root, "sections"); m != NULL; m = m->next)
        vec_push(&run->sections,
                 ((struct gpu_section){.heading = gpu_tree_text(gpu_tree_get(m, "heading")),
                                       .body = gpu_tree_text(gpu_tree_get(m, "body"))}));
}

static void take_run(struct gpu_run *run, const struct gpu_node *root)
{
    const struct gpu_node *clock = gpu_tree_get(root, "clock"),
                          *locked = gpu_tree_get(clock, "locked");

    run->clock = (struct gpu_clock){
        .is_locked = locked != NULL && locked->kind == JSON_TRUE,
        .mhz = or_zero(gpu_tree_get(clock, "target_mhz")),
        .policy = gpu_tree_text(gpu_tree_get(clock, "policy")),
    };
    for (const struct gpu_node *m = elements(root, "warnings"); m != NULL; m = m->next)
        vec_push(&run->notes, gpu_tree_text(m));
}

static enum status load(const char *path, struct gpu_run *run, struct diag *d)
{
    struct gpu_node *params, *kernels, *info;

    TRY(gpu_tree_load(&run->arena, fs_join(&run->arena, path, "params.json"), &params, d));
    TRY(gpu_tree_load(&run->arena, fs_join(&run->arena, path, "kernels.json"), &kernels, d));
    TRY(gpu_tree_load(&run->arena, fs_join(&run->arena, path, "run.json"), &info, d));
    TRY(take_params(run, params, d));
    take_kernels(run, kernels, params);
    take_run(run, info);
    gpu_run_judge(run);
    return ST_OK;
}

enum status gpu_rundir_load(const char *path, struct gpu_run *run, struct diag *d)
{
    if (fs_exists(path) && !fs_is_dir(path)) {
        diag_fail(d, ST_FORMAT, "gpu.no-run", (struct where){.path = path},
                  "a file where the folder of a run is needed");
        diag_hint(d, "try", "strata gpu import %s", path);
        return ST_FORMAT;
    }
    gpu_run_init(run);
    enum status st = load(path, run, d);
    if (st != ST_OK)
        gpu_run_free(run);
    return st;
}
