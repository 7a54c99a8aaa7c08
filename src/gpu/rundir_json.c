/*
 * The JSON files of a run, written: params.json, run.json, kernels.json, sections.json, tiling.
 */
#include <math.h>

#include "base/fs.h"
#include "base/json_read.h"
#include "gpu/rundir.h"

/* Left out when not known. */
static void key_number(struct json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        json_put_f64(w, key, value);
}

static void open_json(struct json_writer *w, struct text *b)
{
    *b = (struct text){0};
    json_write_init(w, text_sink(b), JSON_INDENTED);
    json_write_object(w);
}

static enum status close_json(struct json_writer *w, struct text *b, const char *dir,
                              const char *name, struct diag *d)
{
    json_write_end(w);
    json_write_finish(w);
    enum status st = gpu_rundir_put(dir, name, (struct str){b->at, b->n}, d);
    text_free(b);
    return st;
}

static void put_device(struct json_writer *w, const struct gpu_device *x)
{
    json_put_object(w, "device");
    json_put_str(w, "name", x->name);
    json_put_str(w, "uuid", x->uuid);
    json_put_str(w, "cc", x->cc);
    key_number(w, "sm_count", x->sm_count);
    key_number(w, "l2_bytes", x->l2_bytes);
    key_number(w, "mem_bytes", x->mem_bytes);
    key_number(w, "bus_bits", x->bus_bits);
    key_number(w, "mem_clock_khz", x->mem_clock_khz);
    key_number(w, "sm_clock_khz", x->sm_clock_khz);
    json_put_str(w, "driver", x->driver);
    json_put_str(w, "cuda", x->cuda);
    json_put_str(w, "ecc", x->ecc);
    json_put_str(w, "mig", x->mig);
    json_write_end(w);
}

static void put_list(struct json_writer *w, const char *key, const double list[PEAK_COUNT])
{
    json_put_object(w, key);
    for (size_t i = 0; i < PEAK_COUNT; i++)
        if (list[i] > 0)
            key_number(w, peak_name((enum peak)i), list[i]);
    json_write_end(w);
}

static void put_peaks(struct json_writer *w, const struct gpu_peaks *p)
{
    double ridge[PEAK_COUNT];

    for (size_t i = 0; i < PEAK_COUNT; i++)
        ridge[i] = gpu_ridge(p, (enum peak)i);
    json_put_object(w, "peaks");
    json_put_text(w, "source", gpu_peak_source_name(p->source));
    key_number(w, "gbps", p->gbps);
    put_list(w, "tflops", p->tflops);
    put_list(w, "datasheet", p->datasheet);
    put_list(w, "ridge", ridge);
    key_number(w, "l2_bytes", p->l2_bytes);
    key_number(w, "sm_count", p->sm_count);
    json_put_str(w, "cc", p->cc);
    json_write_end(w);
}

static void put_work(struct json_writer *w, const struct gpu_run *run)
{
    json_put_object(w, "work");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        json_write_key(w, s->name);
        json_write_object(w);
        key_number(w, "flops", s->work.flops);
        key_number(w, "bytes", s->work.bytes);
        json_put_text(w, "source", gpu_work_source_name(s->work.flops_source));
        json_put_text(w, "bytes_source", gpu_work_source_name(s->work.bytes_source));
        json_write_end(w);
    }
    json_write_end(w);
}

static enum status write_params(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct json_writer w;
    struct text b;

    open_json(&w, &b);
    for (size_t i = 0; i < run->params.list.n; i++) {
        const struct gpu_param *p = &run->params.list.at[i];
        json_write_key(&w, p->name);
        if (p->is_string || !json_is_number(p->text))
            json_write_string(&w, p->text);
        else
            json_write_number(&w, p->text);
    }
    json_put_str(&w, "kernel", run->kernel);
    json_put_str(&w, "version", run->version);
    json_put_str(&w, "mode", run->mode);
    key_number(&w, "runs", run->runs);
    key_number(&w, "warmup", run->warmup);
    put_device(&w, &run->device);
    put_peaks(&w, &run->peaks);
    put_work(&w, run);
    return close_json(&w, &b, dir, "params.json", d);
}

static enum status write_run(const char *dir, const struct gpu_run *run, const char *status,
                             struct diag *d)
{
    struct json_writer w;
    struct text b;
    bool has_clock = false;

    open_json(&w, &b);
    json_put_text(&w, "status", status);
    json_put_str(&w, "strata", S(STRATA_VERSION));
    for (size_t i = 0; i < run->info.n; i++) {
        json_write_key(&w, run->info.at[i].key);
        tree_put(&w, run->info.at[i].value);
        has_clock = has_clock || str_equal(run->info.at[i].key, S("clock"));
    }
    if (!has_clock) {
        json_put_object(&w, "clock");
        json_put_str(&w, "policy", run->clock.policy);
        json_put_bool(&w, "locked", run->clock.is_locked);
        key_number(&w, "target_mhz", run->clock.mhz);
        json_write_end(&w);
    }
    json_put_array(&w, "warnings");
    for (size_t i = 0; i < run->notes.n; i++)
        json_write_string(&w, run->notes.at[i]);
    json_write_end(&w);
    return close_json(&w, &b, dir, "run.json", d);
}

void gpu_rundir_put_dims(struct json_writer *w, const char *key, const uint32_t dims[3])
{
    json_put_array(w, key);
    for (size_t i = 0; i < 3; i++)
        json_write_u64(w, dims[i]);
    json_write_end(w);
}

static void put_hot(struct json_writer *w, const char *key, const struct gpu_hot *at, size_t n)
{
    if (n == 0)
        return;
    json_put_array(w, key);
    for (size_t i = 0; i < n; i++) {
        json_write_object(w);
        json_put_str(w, "place", at[i].place);
        json_put_str(w, "text", at[i].text);
        key_number(w, "samples", at[i].samples);
        key_number(w, "share", at[i].share);
        key_number(w, "inst", at[i].inst);
        json_put_str(w, "stall", at[i].stall);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_values(struct json_writer *w, const struct gpu_kernel *k)
{
    json_put_array(w, "values");
    for (size_t i = 0; i < k->values.n; i++) {
        const struct gpu_value *v = &k->values.at[i];
        json_write_object(w);
        if (v->section.n > 0)
            json_put_str(w, "section", v->section);
        json_put_str(w, "name", v->name);
        json_put_str(w, "unit", v->unit);
        if (isnan(v->number))
            json_put_str(w, "text", v->text);
        else
            key_number(w, "value", v->number);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_rules(struct json_writer *w, const struct gpu_kernel *k)
{
    json_put_array(w, "rules");
    for (size_t i = 0; i < k->rules.n; i++) {
        const struct gpu_rule *r = &k->rules.at[i];
        json_write_object(w);
        json_put_str(w, "section", r->section);
        json_put_str(w, "name", r->name);
        json_put_str(w, "type", r->type);
        json_put_str(w, "text", r->text);
        json_put_str(w, "speedup_type", r->speedup_type);
        key_number(w, "speedup", r->speedup);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_kernel(struct json_writer *w, const struct gpu_kernel *k)
{
    json_write_object(w);
    json_put_u64(w, "id", k->id);
    json_put_str(w, "name", k->name);
    json_put_str(w, "cc", k->cc);
    json_put_str(w, "context", k->context);
    json_put_str(w, "stream", k->stream);
    json_put_str(w, "device", k->device);
    json_put_str(w, "nvtx", k->nvtx);
    gpu_rundir_put_dims(w, "grid", k->grid);
    gpu_rundir_put_dims(w, "block", k->block);
    gpu_rundir_put_dims(w, "cluster", k->cluster);
    json_put_u64(w, "launches", k->launches);
    key_number(w, "total_ns", k->total_ns);
    json_put_object(w, "metrics");
    for (size_t i = 0; i < GPU_METRICS; i++)
        key_number(w, gpu_metric_name((enum gpu_metric)i), k->m[i]);
    json_write_end(w);
    json_put_object(w, "stalls");
    for (size_t i = 0; i < k->n_stalls; i++) {
        json_write_key(w, k->stalls[i].reason);
        json_write_f64(w, k->stalls[i].ratio);
    }
    json_write_end(w);
    put_values(w, k);
    put_rules(w, k);
    put_hot(w, "hot_instructions", k->hot_instructions.at, k->hot_instructions.n);
    put_hot(w, "hot_lines", k->hot_lines.at, k->hot_lines.n);
    json_write_end(w);
}

static void put_stage(struct json_writer *w, const struct gpu_stage *s)
{
    json_write_object(w);
    json_put_str(w, "name", s->name);
    json_put_str(w, "select", s->select);
    json_put_str(w, "dtype", s->dtype);
    json_put_str(w, "group", s->group);
    key_number(w, "event_ns", s->event_ns);
    json_put_array(w, "kernels");
    for (size_t i = 0; i < s->kernels.n; i++)
        json_write_u64(w, s->kernels.at[i]);
    json_write_end(w);
    /* What the rules say, for programs; reading the folder back computes it again. */
    key_number(w, "duration_ns", s->dur_ns);
    key_number(w, "share", s->share);
    json_put_text(w, "class", gpu_bound_name(s->class.bound));
    json_put_str(w, "sub_class", str_of(s->class.sub));
    json_put_bool(w, "weak", s->class.is_weak);
    key_number(w, "confidence", s->class.confidence);
    json_put_bool(w, "locality_issue", s->class.has_locality_issue);
    key_number(w, "pct_roof", s->roofline.pct_roof);
    key_number(w, "floor_ns", s->roofline.floor_ns);
    key_number(w, "achieved_tflops", s->roofline.tflops);
    key_number(w, "achieved_gbps", s->roofline.gbps);
    json_put_f64(w, "waves", s->main != NULL ? gpu_waves(s->main, &s->occupancy) : NAN);
    json_write_end(w);
}

static void put_changes(struct json_writer *w, const struct gpu_run *run)
{
    json_put_array(w, "changes");
    for (size_t i = 0; i < run->changes.n; i++) {
        json_write_object(w);
        json_put_str(w, "metric", run->changes.at[i].metric);
        json_put_str(w, "previous", run->changes.at[i].previous);
        json_put_str(w, "current", run->changes.at[i].current);
        json_put_str(w, "change", run->changes.at[i].change);
        json_write_end(w);
    }
    json_write_end(w);
}

static enum status write_kernels(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct json_writer w;
    struct text b;

    open_json(&w, &b);
    json_put_bool(&w, "auto_stages", run->has_auto_stages);
    json_put_array(&w, "stages");
    for (size_t i = 0; i < run->stages.n; i++)
        put_stage(&w, &run->stages.at[i]);
    json_write_end(&w);
    json_put_array(&w, "kernels");
    for (size_t i = 0; i < run->kernels.n; i++)
        put_kernel(&w, &run->kernels.at[i]);
    json_write_end(&w);
    json_put_array(&w, "timings_ns");
    for (size_t i = 0; i < run->timings.n; i++)
        json_write_f64(&w, run->timings.at[i]);
    json_write_end(&w);
    key_number(&w, "host_ns", run->host_ns);
    put_changes(&w, run);
    json_put_array(&w, "extra");
    for (size_t i = 0; i < run->extra.n; i++) {
        json_write_object(&w);
        key_number(&w, "id", run->extra.at[i].id);
        json_put_str(&w, "family", str_of(run->extra.at[i].family));
        json_put_str(&w, "name", run->extra.at[i].name);
        json_put_str(&w, "trigger", run->extra.at[i].trigger);
        key_number(&w, "gain", run->extra.at[i].gain);
        key_number(&w, "confidence", run->extra.at[i].confidence);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_put_array(&w, "sections");
    for (size_t i = 0; i < run->sections.n; i++) {
        json_write_object(&w);
        json_put_str(&w, "heading", run->sections.at[i].heading);
        json_put_str(&w, "body", run->sections.at[i].body);
        json_write_end(&w);
    }
    json_write_end(&w);
    return close_json(&w, &b, dir, "kernels.json", d);
}

enum status gpu_rundir_write_json(const char *dir, const struct gpu_run *run, const char *status,
                                  struct diag *d)
{
    TRY(write_params(dir, run, d));
    TRY(write_kernels(dir, run, d));
    return write_run(dir, run, status, d);
}
