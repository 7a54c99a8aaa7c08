#include "cli/gpu_json.h"

#include <math.h>

enum { TOP = 3 };

void gpu_json_number(struct json_writer *j, const char *key, double value)
{
    json_write_key(j, str_of(key));
    json_write_f64(j, value);
}

void gpu_json_text(struct json_writer *j, const char *key, struct str text)
{
    json_write_key(j, str_of(key));
    json_write_string(j, text);
}

static void put_stage(struct json_writer *j, const struct gpu_stage *stage)
{
    static const struct {
        const char *key;
        enum gpu_metric metric;
    } metrics[] = {{"tc_pct", GPU_M_TC_PCT},
                   {"dram_pct", GPU_M_DRAM_PCT},
                   {"occ_pct", GPU_M_OCC},
                   {"l2_hit_pct", GPU_M_L2_HIT}};

    json_write_object(j);
    gpu_json_text(j, "name", stage->name);
    gpu_json_number(j, "duration_us", stage->dur_ns / 1000);
    gpu_json_number(j, "uninstrumented_us", stage->event_ns / 1000);
    gpu_json_number(j, "share", stage->share);
    gpu_json_text(j, "class", str_of(gpu_bound_name(stage->class.bound)));
    gpu_json_text(j, "sub_class", str_of(stage->class.sub));
    json_write_key(j, S("weak"));
    json_write_bool(j, stage->class.is_weak);
    json_write_key(j, S("model"));
    json_write_bool(j, stage->class.is_model);
    gpu_json_number(j, "confidence", stage->class.confidence);
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
        gpu_json_number(j, metrics[i].key,
                        stage->main != NULL ? stage->main->m[metrics[i].metric] : NAN);
    gpu_json_number(j, "tflops", stage->roofline.tflops);
    gpu_json_number(j, "gbps", stage->roofline.gbps);
    gpu_json_number(j, "roof_pct", stage->roofline.pct_roof);
    json_write_end(j);
}

static void put_opportunities(struct json_writer *j, const struct gpu_run *run)
{
    struct gpu_opportunity top[TOP];
    size_t n = gpu_run_top(run, top, TOP);

    json_write_key(j, S("opportunities"));
    json_write_array(j);
    for (size_t i = 0; i < n; i++) {
        json_write_object(j);
        json_write_key(j, S("id"));
        json_write_i64(j, top[i].id);
        gpu_json_text(j, "name", top[i].name);
        gpu_json_number(j, "gain_pct", top[i].gain);
        gpu_json_text(j, "trigger", top[i].trigger);
        json_write_end(j);
    }
    json_write_end(j);
}

void gpu_json_names(struct json_writer *j, const struct gpu_run *run)
{
    gpu_json_text(j, "mode", run->mode);
    gpu_json_text(j, "kernel", run->kernel);
    gpu_json_text(j, "version", run->version);
}

void gpu_json_judged(struct json_writer *j, const struct gpu_run *run)
{
    gpu_json_number(j, "duration_us", gpu_run_duration(run) / 1000);
    json_write_key(j, S("stages"));
    json_write_array(j);
    for (size_t i = 0; i < run->stages.n; i++)
        put_stage(j, &run->stages.at[i]);
    json_write_end(j);
    put_opportunities(j, run);
}

void gpu_json_changes(struct json_writer *j, const struct gpu_run *run)
{
    json_write_key(j, S("changes"));
    json_write_array(j);
    for (size_t i = 0; i < run->changes.n; i++) {
        const struct gpu_change *c = &run->changes.at[i];
        json_write_object(j);
        gpu_json_text(j, "metric", c->metric);
        gpu_json_text(j, "previous", c->previous);
        gpu_json_text(j, "current", c->current);
        gpu_json_text(j, "change", c->change);
        json_write_end(j);
    }
    json_write_end(j);
}
