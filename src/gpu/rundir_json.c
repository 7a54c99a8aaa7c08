/*
 * The JSON files of a run, written: params.json, run.json, kernels.json, sections.json, tiling.
 */
#include <math.h>

#include "base/fs.h"
#include "gpu/rundir.h"

static void key_text(struct json_writer *w, const char *key, struct str text)
{
    json_write_key(w, str_of(key));
    json_write_string(w, text);
}

/* Left out when not known. */
static void key_number(struct json_writer *w, const char *key, double value)
{
    if (!isfinite(value))
        return;
    json_write_key(w, str_of(key));
    json_write_f64(w, value);
}

static void open_json(struct json_writer *w, struct json_buffer *b)
{
    *b = (struct json_buffer){0};
    json_write_init(w, json_buffer_sink(b), JSON_INDENTED);
    json_write_object(w);
}

static enum status close_json(struct json_writer *w, struct json_buffer *b, const char *dir,
                              const char *name, struct diag *d)
{
    json_write_end(w);
    json_write_finish(w);
    enum status st = gpu_rundir_put(dir, name, (struct str){b->at, b->n}, d);
    json_buffer_free(b);
    return st;
}

static void put_device(struct json_writer *w, const struct gpu_device *x)
{
    json_write_key(w, S("device"));
    json_write_object(w);
    key_text(w, "name", x->name);
    key_text(w, "uuid", x->uuid);
    key_text(w, "cc", x->cc);
    key_number(w, "sm_count", x->sm_count);
    key_number(w, "l2_bytes", x->l2_bytes);
    key_number(w, "mem_bytes", x->mem_bytes);
    key_number(w, "bus_bits", x->bus_bits);
    key_number(w, "mem_clock_khz", x->mem_clock_khz);
    key_number(w, "sm_clock_khz", x->sm_clock_khz);
    key_text(w, "driver", x->driver);
    key_text(w, "cuda", x->cuda);
    key_text(w, "ecc", x->ecc);
    key_text(w, "mig", x->mig);
    json_write_end(w);
}

static void put_list(struct json_writer *w, const char *key, const double list[PEAK_COUNT])
{
    json_write_key(w, str_of(key));
    json_write_object(w);
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
    json_write_key(w, S("peaks"));
    json_write_object(w);
    key_text(w, "source", str_of(gpu_peak_source_name(p->source)));
    key_number(w, "gbps", p->gbps);
    put_list(w, "tflops", p->tflops);
    put_list(w, "datasheet", p->datasheet);
    put_list(w, "ridge", ridge);
    key_number(w, "l2_bytes", p->l2_bytes);
    key_number(w, "sm_count", p->sm_count);
    key_text(w, "cc", p->cc);
    json_write_end(w);
}

static void put_work(struct json_writer *w, const struct gpu_run *run)
{
    json_write_key(w, S("work"));
    json_write_object(w);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        json_write_key(w, s->name);
        json_write_object(w);
        key_number(w, "flops", s->work.flops);
        key_number(w, "bytes", s->work.bytes);
        key_text(w, "source", str_of(gpu_work_source_name(s->work.flops_source)));
        key_text(w, "bytes_source", str_of(gpu_work_source_name(s->work.bytes_source)));
        json_write_end(w);
    }
    json_write_end(w);
}

static enum status write_params(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct json_writer w;
    struct json_buffer b;

    open_json(&w, &b);
    for (size_t i = 0; i < run->params.list.n; i++) {
        const struct gpu_param *p = &run->params.list.at[i];
        json_write_key(&w, p->name);
        if (p->is_string || !json_is_number(p->text))
            json_write_string(&w, p->text);
        else
            json_write_number(&w, p->text);
    }
    key_text(&w, "kernel", run->kernel);
    key_text(&w, "version", run->version);
    key_text(&w, "mode", run->mode);
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
    struct json_buffer b;
    bool has_clock = false;

    open_json(&w, &b);
    key_text(&w, "status", str_of(status));
    key_text(&w, "strata", S(STRATA_VERSION));
    for (size_t i = 0; i < run->info.n; i++) {
        json_write_key(&w, run->info.at[i].key);
        gpu_tree_put(&w, run->info.at[i].value);
        has_clock = has_clock || str_equal(run->info.at[i].key, S("clock"));
    }
    if (!has_clock) {
        json_write_key(&w, S("clock"));
        json_write_object(&w);
        key_text(&w, "policy", run->clock.policy);
        json_write_key(&w, S("locked"));
        json_write_bool(&w, run->clock.is_locked);
        key_number(&w, "target_mhz", run->clock.mhz);
        json_write_end(&w);
    }
    json_write_key(&w, S("warnings"));
    json_write_array(&w);
    for (size_t i = 0; i < run->notes.n; i++)
        json_write_string(&w, run->notes.at[i]);
    json_write_end(&w);
    return close_json(&w, &b, dir, "run.json", d);
}

static void put_dims(struct json_writer *w, const char *key, const uint32_t dims[3])
{
    json_write_key(w, str_of(key));
    json_write_array(w);
    for (size_t i = 0; i < 3; i++)
        json_write_u64(w, dims[i]);
    json_write_end(w);
}

static void put_hot(struct json_writer *w, const char *key, const struct gpu_hot *at, size_t n)
{
    if (n == 0)
        return;
    json_write_key(w, str_of(key));
    json_write_array(w);
    for (size_t i = 0; i < n; i++) {
        json_write_object(w);
        key_text(w, "place", at[i].place);
        key_text(w, "text", at[i].text);
        key_number(w, "samples", at[i].samples);
        key_number(w, "share", at[i].share);
        key_number(w, "inst", at[i].inst);
        key_text(w, "stall", at[i].stall);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_values(struct json_writer *w, const struct gpu_kernel *k)
{
    json_write_key(w, S("values"));
    json_write_array(w);
    for (size_t i = 0; i < k->values.n; i++) {
        const struct gpu_value *v = &k->values.at[i];
        json_write_object(w);
        if (v->section.n > 0)
            key_text(w, "section", v->section);
        key_text(w, "name", v->name);
        key_text(w, "unit", v->unit);
        if (isnan(v->number))
            key_text(w, "text", v->text);
        else
            key_number(w, "value", v->number);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_rules(struct json_writer *w, const struct gpu_kernel *k)
{
    json_write_key(w, S("rules"));
    json_write_array(w);
    for (size_t i = 0; i < k->rules.n; i++) {
        const struct gpu_rule *r = &k->rules.at[i];
        json_write_object(w);
        key_text(w, "section", r->section);
        key_text(w, "name", r->name);
        key_text(w, "type", r->type);
        key_text(w, "text", r->text);
        key_text(w, "speedup_type", r->speedup_type);
        key_number(w, "speedup", r->speedup);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_kernel(struct json_writer *w, const struct gpu_kernel *k)
{
    json_write_object(w);
    json_write_key(w, S("id"));
    json_write_u64(w, k->id);
    key_text(w, "name", k->name);
    key_text(w, "cc", k->cc);
    key_text(w, "context", k->context);
    key_text(w, "stream", k->stream);
    key_text(w, "device", k->device);
    key_text(w, "nvtx", k->nvtx);
    put_dims(w, "grid", k->grid);
    put_dims(w, "block", k->block);
    put_dims(w, "cluster", k->cluster);
    json_write_key(w, S("launches"));
    json_write_u64(w, k->launches);
    key_number(w, "total_ns", k->total_ns);
    json_write_key(w, S("metrics"));
    json_write_object(w);
    for (size_t i = 0; i < GPU_METRICS; i++)
        key_number(w, gpu_metric_name((enum gpu_metric)i), k->m[i]);
    json_write_end(w);
    json_write_key(w, S("stalls"));
    json_write_object(w);
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
    key_text(w, "name", s->name);
    key_text(w, "select", s->select);
    key_text(w, "dtype", s->dtype);
    key_text(w, "group", s->group);
    key_number(w, "event_ns", s->event_ns);
    json_write_key(w, S("kernels"));
    json_write_array(w);
    for (size_t i = 0; i < s->kernels.n; i++)
        json_write_u64(w, s->kernels.at[i]);
    json_write_end(w);
    /* What the rules say, for programs; reading the folder back computes it again. */
    key_number(w, "duration_ns", s->dur_ns);
    key_number(w, "share", s->share);
    key_text(w, "class", str_of(gpu_bound_name(s->class.bound)));
    key_text(w, "sub_class", str_of(s->class.sub != NULL ? s->class.sub : ""));
    json_write_key(w, S("weak"));
    json_write_bool(w, s->class.is_weak);
    key_number(w, "confidence", s->class.confidence);
    json_write_key(w, S("locality_issue"));
    json_write_bool(w, s->class.has_locality_issue);
    key_number(w, "pct_roof", s->roofline.pct_roof);
    key_number(w, "floor_ns", s->roofline.floor_ns);
    key_number(w, "achieved_tflops", s->roofline.tflops);
    key_number(w, "achieved_gbps", s->roofline.gbps);
    json_write_key(w, S("waves"));
    json_write_f64(w, s->main != NULL ? gpu_waves(s->main, &s->occupancy) : NAN);
    json_write_end(w);
}

static void put_changes(struct json_writer *w, const struct gpu_run *run)
{
    json_write_key(w, S("changes"));
    json_write_array(w);
    for (size_t i = 0; i < run->changes.n; i++) {
        json_write_object(w);
        key_text(w, "metric", run->changes.at[i].metric);
        key_text(w, "previous", run->changes.at[i].previous);
        key_text(w, "current", run->changes.at[i].current);
        key_text(w, "change", run->changes.at[i].change);
        json_write_end(w);
    }
    json_write_end(w);
}

static enum status write_kernels(const char *dir, const struct gpu_run *run, struct diag *d)
{
    struct json_writer w;
    struct json_buffer b;

    open_json(&w, &b);
    json_write_key(&w, S("auto_stages"));
    json_write_bool(&w, run->has_auto_stages);
    json_write_key(&w, S("stages"));
    json_write_array(&w);
    for (size_t i = 0; i < run->stages.n; i++)
        put_stage(&w, &run->stages.at[i]);
    json_write_end(&w);
    json_write_key(&w, S("kernels"));
    json_write_array(&w);
    for (size_t i = 0; i < run->kernels.n; i++)
        put_kernel(&w, &run->kernels.at[i]);
    json_write_end(&w);
    json_write_key(&w, S("timings_ns"));
    json_write_array(&w);
    for (size_t i = 0; i < run->timings.n; i++)
        json_write_f64(&w, run->timings.at[i]);
    json_write_end(&w);
    key_number(&w, "host_ns", run->host_ns);
    put_changes(&w, run);
    json_write_key(&w, S("extra"));
    json_write_array(&w);
    for (size_t i = 0; i < run->extra.n; i++) {
        json_write_object(&w);
        key_number(&w, "id", run->extra.at[i].id);
        key_text(&w, "family", str_of(run->extra.at[i].family));
        key_text(&w, "name", run->extra.at[i].name);
        key_text(&w, "trigger", run->extra.at[i].trigger);
        key_number(&w, "gain", run->extra.at[i].gain);
        key_number(&w, "confidence", run->extra.at[i].confidence);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_key(&w, S("sections"));
    json_write_array(&w);
    for (size_t i = 0; i < run->sections.n; i++) {
        json_write_object(&w);
        key_text(&w, "heading", run->sections.at[i].heading);
        key_text(&w, "body", run->sections.at[i].body);
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
