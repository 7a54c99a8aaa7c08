#include "cli/gpu_json.h"

#include <math.h>

enum { TOP = 3 };

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
    json_put_str(j, "name", stage->name);
    json_put_f64(j, "duration_us", stage->dur_ns / 1000);
    json_put_f64(j, "uninstrumented_us", stage->event_ns / 1000);
    json_put_f64(j, "share", stage->share);
    json_put_text(j, "class", gpu_bound_name(stage->class.bound));
    json_put_str(j, "sub_class", str_of(stage->class.sub));
    json_put_bool(j, "weak", stage->class.is_weak);
    json_put_bool(j, "model", stage->class.is_model);
    json_put_f64(j, "confidence", stage->class.confidence);
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
        json_put_f64(j, metrics[i].key,
                     stage->main != NULL ? stage->main->m[metrics[i].metric] : NAN);
    json_put_f64(j, "tflops", stage->roofline.tflops);
    json_put_f64(j, "gbps", stage->roofline.gbps);
    json_put_f64(j, "roof_pct", stage->roofline.pct_roof);
    json_write_end(j);
}

static void put_opportunities(struct json_writer *j, const struct gpu_run *run)
{
    struct gpu_opportunity top[TOP];
    size_t n = gpu_run_top(run, top, TOP);

    json_put_array(j, "opportunities");
    for (size_t i = 0; i < n; i++) {
        json_write_object(j);
        json_put_i64(j, "id", top[i].id);
        json_put_str(j, "name", top[i].name);
        json_put_f64(j, "gain_pct", top[i].gain);
        json_put_str(j, "trigger", top[i].trigger);
        json_write_end(j);
    }
    json_write_end(j);
}

void gpu_json_names(struct json_writer *j, const struct gpu_run *run)
{
    json_put_str(j, "mode", run->mode);
    json_put_str(j, "kernel", run->kernel);
    json_put_str(j, "version", run->version);
}

void gpu_json_judged(struct json_writer *j, const struct gpu_run *run)
{
    json_put_f64(j, "duration_us", gpu_run_duration(run) / 1000);
    json_put_array(j, "stages");
    for (size_t i = 0; i < run->stages.n; i++)
        put_stage(j, &run->stages.at[i]);
    json_write_end(j);
    put_opportunities(j, run);
}

void gpu_json_changes(struct json_writer *j, const struct gpu_run *run)
{
    json_put_array(j, "changes");
    for (size_t i = 0; i < run->changes.n; i++) {
        const struct gpu_change *c = &run->changes.at[i];
        json_write_object(j);
        json_put_str(j, "metric", c->metric);
        json_put_str(j, "previous", c->previous);
        json_put_str(j, "current", c->current);
        json_put_str(j, "change", c->change);
        json_write_end(j);
    }
    json_write_end(j);
}
