/*
 * The JSON files of a run, read back.
 */
#include <math.h>

#include "base/fs.h"
#include "base/num.h"
#include "gpu/rundir.h"

static double or_zero(const struct tree *node)
{
    double value = tree_number(node);

    return isnan(value) ? 0 : value;
}

static void take_device(const struct tree *x, struct gpu_device *out)
{
    *out = (struct gpu_device){
        .name = tree_word(tree_get(x, S("name"))),
        .uuid = tree_word(tree_get(x, S("uuid"))),
        .cc = tree_word(tree_get(x, S("cc"))),
        .driver = tree_word(tree_get(x, S("driver"))),
        .cuda = tree_word(tree_get(x, S("cuda"))),
        .ecc = tree_word(tree_get(x, S("ecc"))),
        .mig = tree_word(tree_get(x, S("mig"))),
        .sm_count = or_zero(tree_get(x, S("sm_count"))),
        .l2_bytes = or_zero(tree_get(x, S("l2_bytes"))),
        .mem_bytes = or_zero(tree_get(x, S("mem_bytes"))),
        .bus_bits = or_zero(tree_get(x, S("bus_bits"))),
        .mem_clock_khz = or_zero(tree_get(x, S("mem_clock_khz"))),
        .sm_clock_khz = or_zero(tree_get(x, S("sm_clock_khz"))),
    };
}

static void take_peaks(const struct tree *x, struct gpu_peaks *out)
{
    *out = (struct gpu_peaks){
        .source = gpu_peak_source_of(tree_word(tree_get(x, S("source")))),
        .gbps = or_zero(tree_get(x, S("gbps"))),
        .l2_bytes = or_zero(tree_get(x, S("l2_bytes"))),
        .sm_count = or_zero(tree_get(x, S("sm_count"))),
        .cc = tree_word(tree_get(x, S("cc"))),
    };
    for (size_t i = 0; i < PEAK_COUNT; i++) {
        const char *name = peak_name((enum peak)i);
        out->tflops[i] = or_zero(tree_get(tree_get(x, S("tflops")), str_of(name)));
        out->datasheet[i] = or_zero(tree_get(tree_get(x, S("datasheet")), str_of(name)));
    }
}

static enum status take_params(struct gpu_run *run, const struct tree *root, struct diag *d)
{
    run->kernel = tree_word(tree_get(root, S("kernel")));
    run->version = tree_word(tree_get(root, S("version")));
    run->mode = tree_word(tree_get(root, S("mode")));
    run->runs = tree_number(tree_get(root, S("runs")));
    run->warmup = tree_number(tree_get(root, S("warmup")));
    take_device(tree_get(root, S("device")), &run->device);
    take_peaks(tree_get(root, S("peaks")), &run->peaks);
    for (const struct tree *m = root->first; m != NULL; m = m->next) {
        if (str_equal(m->key, S("kernel")))
            break; /* problem keys come first */
        if (m->kind == TREE_TEXT || tree_is_number(m))
            TRY(gpu_params_set(&run->params, &run->arena, m->key, m->text, m->kind == TREE_TEXT,
                               d));
    }
    return ST_OK;
}

static void take_dims(const struct tree *x, uint32_t out[3])
{
    const struct tree *m = x != NULL ? x->first : NULL;

    for (size_t i = 0; i < 3 && m != NULL; i++, m = m->next) {
        double v = tree_number(m);
        out[i] = v >= 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
    }
}

static uint64_t take_count(const struct tree *x)
{
    uint64_t value = 0;

    num_u64(tree_word(x), &value);
    return value;
}

static struct gpu_hot take_hot(const struct tree *m)
{
    return (struct gpu_hot){
        .place = tree_word(tree_get(m, S("place"))),
        .text = tree_word(tree_get(m, S("text"))),
        .samples = tree_number(tree_get(m, S("samples"))),
        .share = tree_number(tree_get(m, S("share"))),
        .inst = tree_number(tree_get(m, S("inst"))),
        .stall = tree_word(tree_get(m, S("stall"))),
    };
}

static void take_lists(const struct tree *x, struct gpu_kernel *k)
{
    for (const struct tree *m = tree_items(tree_get(x, S("values"))); m != NULL; m = m->next)
        vec_push(&k->values, ((struct gpu_value){.section = tree_word(tree_get(m, S("section"))),
                                                 .name = tree_word(tree_get(m, S("name"))),
                                                 .unit = tree_word(tree_get(m, S("unit"))),
                                                 .text = tree_word(tree_get(m, S("text"))),
                                                 .number = tree_number(tree_get(m, S("value")))}));
    for (const struct tree *m = tree_items(tree_get(x, S("rules"))); m != NULL; m = m->next)
        vec_push(&k->rules,
                 ((struct gpu_rule){.section = tree_word(tree_get(m, S("section"))),
                                    .name = tree_word(tree_get(m, S("name"))),
                                    .type = tree_word(tree_get(m, S("type"))),
                                    .text = tree_word(tree_get(m, S("text"))),
                                    .speedup_type = tree_word(tree_get(m, S("speedup_type"))),
                                    .speedup = tree_number(tree_get(m, S("speedup")))}));
    for (const struct tree *m = tree_items(tree_get(x, S("hot_instructions"))); m != NULL;
         m = m->next)
        vec_push(&k->hot_instructions, take_hot(m));
    for (const struct tree *m = tree_items(tree_get(x, S("hot_lines"))); m != NULL; m = m->next)
        vec_push(&k->hot_lines, take_hot(m));
}

static void take_kernel(struct gpu_run *run, const struct tree *x)
{
    struct gpu_kernel k = gpu_kernel_none();
    const struct tree *metrics = tree_get(x, S("metrics")), *stalls = tree_get(x, S("stalls"));

    k.id = take_count(tree_get(x, S("id")));
    k.name = tree_word(tree_get(x, S("name")));
    k.cc = tree_word(tree_get(x, S("cc")));
    k.context = tree_word(tree_get(x, S("context")));
    k.stream = tree_word(tree_get(x, S("stream")));
    k.device = tree_word(tree_get(x, S("device")));
    k.nvtx = tree_word(tree_get(x, S("nvtx")));
    take_dims(tree_get(x, S("grid")), k.grid);
    take_dims(tree_get(x, S("block")), k.block);
    take_dims(tree_get(x, S("cluster")), k.cluster);
    k.launches = take_count(tree_get(x, S("launches")));
    k.total_ns = tree_number(tree_get(x, S("total_ns")));
    for (const struct tree *m = metrics != NULL ? metrics->first : NULL; m; m = m->next) {
        int metric = gpu_metric_of_name(m->key);
        if (metric >= 0)
            k.m[metric] = tree_number(m);
    }
    for (const struct tree *m = stalls != NULL ? stalls->first : NULL; m; m = m->next)
        gpu_kernel_stall(&k, m->key, tree_number(m));
    take_lists(x, &k);
    vec_push(&run->kernels, k);
}

static void take_stage(struct gpu_run *run, const struct tree *x, const struct tree *work)
{
    struct gpu_stage s = {
        .name = tree_word(tree_get(x, S("name"))),
        .select = tree_word(tree_get(x, S("select"))),
        .dtype = tree_word(tree_get(x, S("dtype"))),
        .group = tree_word(tree_get(x, S("group"))),
        .event_ns = tree_number(tree_get(x, S("event_ns"))),
    };
    const struct tree *mine = tree_get(work, s.name);

    s.work = (struct gpu_work){
        .flops = tree_number(tree_get(mine, S("flops"))),
        .bytes = tree_number(tree_get(mine, S("bytes"))),
        .flops_source = gpu_work_source_of(tree_word(tree_get(mine, S("source")))),
        .bytes_source = gpu_work_source_of(tree_word(tree_get(mine, S("bytes_source")))),
    };
    for (const struct tree *m = tree_items(tree_get(x, S("kernels"))); m != NULL; m = m->next) {
        uint64_t index = take_count(m);
        if (index < run->kernels.n)
            vec_push(&s.kernels, (size_t)index);
    }
    vec_push(&run->stages, s);
}

static void take_extra(struct gpu_run *run, const struct tree *m)
{
    vec_push(&run->extra,
             ((struct gpu_opportunity){
                 .id = (int)fmin(14, fmax(1, or_zero(tree_get(m, S("id"))))),
                 .family = arena_cstr(&run->arena, tree_word(tree_get(m, S("family")))),
                 .name = tree_word(tree_get(m, S("name"))),
                 .trigger = tree_word(tree_get(m, S("trigger"))),
                 .gain = or_zero(tree_get(m, S("gain"))),
                 .confidence = or_zero(tree_get(m, S("confidence"))),
                 .is_ranked = true}));
}

static void take_kernels(struct gpu_run *run, const struct tree *root, const struct tree *params)
{
    const struct tree *is_auto = tree_get(root, S("auto_stages"));

    run->has_auto_stages = is_auto != NULL && is_auto->kind == TREE_BOOL && is_auto->i != 0;
    for (const struct tree *m = tree_items(tree_get(root, S("kernels"))); m != NULL; m = m->next)
        take_kernel(run, m);
    for (const struct tree *m = tree_items(tree_get(root, S("stages"))); m != NULL; m = m->next)
        take_stage(run, m, tree_get(params, S("work")));
    for (const struct tree *m = tree_items(tree_get(root, S("timings_ns"))); m != NULL; m = m->next)
        vec_push(&run->timings, tree_number(m));
    run->host_ns = tree_number(tree_get(root, S("host_ns")));
    for (const struct tree *m = tree_items(tree_get(root, S("changes"))); m != NULL; m = m->next)
        vec_push(&run->changes,
                 ((struct gpu_change){.metric = tree_word(tree_get(m, S("metric"))),
                                      .previous = tree_word(tree_get(m, S("previous"))),
                                      .current = tree_word(tree_get(m, S("current"))),
                                      .change = tree_word(tree_get(m, S("change")))}));
    for (const struct tree *m = tree_items(tree_get(root, S("extra"))); m != NULL; m = m->next)
        take_extra(run, m);
    for (const struct tree *m = tree_items(tree_get(root, S("sections"))); m != NULL; m = m->next)
        vec_push(&run->sections,
                 ((struct gpu_section){.heading = tree_word(tree_get(m, S("heading"))),
                                       .body = tree_word(tree_get(m, S("body")))}));
}

static void take_run(struct gpu_run *run, const struct tree *root)
{
    const struct tree *clock = tree_get(root, S("clock")), *locked = tree_get(clock, S("locked"));

    run->clock = (struct gpu_clock){
        .is_locked = locked != NULL && locked->kind == TREE_BOOL && locked->i != 0,
        .mhz = or_zero(tree_get(clock, S("target_mhz"))),
        .policy = tree_word(tree_get(clock, S("policy"))),
    };
    for (const struct tree *m = tree_items(tree_get(root, S("warnings"))); m != NULL; m = m->next)
        vec_push(&run->notes, tree_word(m));
}

static enum status load(const char *path, struct gpu_run *run, struct diag *d)
{
    const struct tree *params, *kernels, *info;

    TRY(gpu_json_load(&run->arena, fs_join(&run->arena, path, "params.json"), &params, d));
    TRY(gpu_json_load(&run->arena, fs_join(&run->arena, path, "kernels.json"), &kernels, d));
    TRY(gpu_json_load(&run->arena, fs_join(&run->arena, path, "run.json"), &info, d));
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
