/*
 * The document "strata.arch/1": keys and their order are a contract with other tools. It holds
 * every number that the Markdown report prints, and the pictures line by line.
 */
#include <math.h>
#include <stdio.h>

#include "analysis/arch.h"
#include "analysis/arch_draw.h"
#include "analysis/steps.h"
#include "analysis/study.h"
#include "base/json_write.h"

struct doc {
    struct json_writer w;
    struct study *st;
    const struct arch *a;
};

static void put_rel_us(struct doc *d, const char *name, nanos at)
{
    json_put_us(&d->w, name, nanos_sub(at, d->a->origin));
}

static void put_lines(struct doc *d, const char *name, struct drawing drawing)
{
    json_put_array(&d->w, name);
    for (size_t i = 0; i < drawing.n; i++)
        json_write_string(&d->w, drawing.lines[i]);
    json_write_end(&d->w);
}

static nanos marker_duration(const struct doc *d, const struct arch_layer *layer)
{
    return d->st->cap->slices.dur[study_kernels(d->st).at[layer->marker]];
}

static void put_layer(struct doc *d, const struct arch_layer *layer)
{
    char text[32];

    json_write_object(&d->w);
    json_put_u64(&d->w, "index", layer->index);
    json_put_text(&d->w, "phase", arch_phase_name(layer->phase));
    json_put_text(&d->w, "type", layer_kind_name(layer->kind));
    json_put_bool(&d->w, "sampling", layer->has_sampling);
    if (layer->variant != 0)
        json_put_str(&d->w, "variant", (struct str){&layer->variant, 1});
    if (layer->is_backward)
        json_put_bool(&d->w, "backward", true);
    if (layer->marker == SIZE_MAX)
        json_put_null(&d->w, "marker_duration_us");
    else
        json_put_us(&d->w, "marker_duration_us", marker_duration(d, layer));
    json_put_u64(&d->w, "kernel_count", layer->end - layer->first);
    put_rel_us(d, "start_rel_us", layer->at.begin);
    json_put_ms(&d->w, "wall_ms", arch_span(layer->at));
    json_put_ms(&d->w, "busy_union_ms", layer->busy);
    json_put_ms(&d->w, "idle_ms", nanos_sub(arch_span(layer->at), layer->busy));
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)layer->signature);
    json_put_text(&d->w, "signature", text);
    json_write_end(&d->w);
}

/* Average duration of a pass's markers of one phase, in milliseconds; null without any. */
static void put_average(struct doc *d, const char *name, const struct arch_pass *pass,
                        enum arch_phase phase)
{
    nanos sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < pass->layers; i++) {
        const struct arch_layer *layer = &d->a->layers->at[pass->layer_first + i];
        if (layer->marker == SIZE_MAX || layer->phase != phase)
            continue;
        sum = nanos_add(sum, marker_duration(d, layer));
        n++;
    }
    if (n > 0)
        json_put_f64(&d->w, name, (double)sum / (double)n / 1e6);
    else
        json_put_null(&d->w, name);
}

static void put_pass(struct doc *d, const struct arch_pass *pass)
{
    json_write_object(&d->w);
    json_put_u64(&d->w, "pass_index", pass->number);
    if (pass->markers > 0) {
        json_put_u64(&d->w, "marker_first", pass->marker_first);
        json_put_u64(&d->w, "marker_last", pass->marker_first + pass->markers - 1);
    } else {
        json_put_null(&d->w, "marker_first");
        json_put_null(&d->w, "marker_last");
    }
    put_rel_us(d, "start_rel_us", pass->at.begin);
    put_rel_us(d, "end_rel_us", pass->at.end);
    json_put_ms(&d->w, "wall_ms", arch_span(pass->at));
    json_put_ms(&d->w, "busy_union_ms", pass->busy);
    put_average(d, "avg_prefill_marker_ms", pass, PHASE_PREFILL);
    put_average(d, "avg_decode_marker_ms", pass, PHASE_DECODE);
    put_average(d, "avg_unknown_marker_ms", pass, PHASE_UNKNOWN);
    json_put_u64(&d->w, "kernel_count", pass->end - pass->first);
    size_t own = pass->layers > 0 ? d->a->layers->at[pass->layer_first].first : pass->first;
    json_put_u64(&d->w, "prologue_kernels", own - pass->first);
    json_put_u64(&d->w, "epilogue_kernels", pass->end - pass->epilogue);
    json_put_array(&d->w, "layers");
    for (size_t i = 0; i < pass->layers; i++)
        put_layer(d, &d->a->layers->at[pass->layer_first + i]);
    json_write_end(&d->w);
    json_write_end(&d->w);
}

static void put_passes(struct doc *d, const char *name, bool are_partial)
{
    json_put_array(&d->w, name);
    for (size_t i = 0; i < d->a->layers->n_passes; i++)
        if (d->a->layers->passes[i].is_partial == are_partial)
            put_pass(d, &d->a->layers->passes[i]);
    json_write_end(&d->w);
}

static void put_spread(struct doc *d, const char *name, const struct arch_spread *s, double unit)
{
    json_put_object(&d->w, name);
    json_put_f64(&d->w, "median", s->median / unit);
    json_put_f64(&d->w, "min", s->min / unit);
    json_put_f64(&d->w, "max", s->max / unit);
    json_put_f64(&d->w, "p10", s->p10 / unit);
    json_put_f64(&d->w, "p90", s->p90 / unit);
    json_put_f64(&d->w, "mean", s->mean / unit);
    json_put_f64(&d->w, "deviation", s->deviation / unit);
    json_put_f64(&d->w, "spread", s->mean > 0 ? s->deviation / s->mean : 0);
    json_write_end(&d->w);
}

static void put_role(struct doc *d, const struct arch_type *type, const struct arch_role *role)
{
    const struct arch_layer *layer = &d->a->layers->at[type->representative];
    nanos wall = arch_span(layer->at);

    json_write_object(&d->w);
    json_put_text(&d->w, "role", role_name(role->role, type->kind));
    json_put_ms(&d->w, "wall_ms", role->wall);
    json_put_f64(&d->w, "share", num_share(role->wall, wall));
    json_put_u64(&d->w, "kernels", role->kernels);
    json_put_array(&d->w, "streams");
    for (size_t i = 0; i < role->n_lanes; i++)
        json_write_string(&d->w, arch_stream_name(d->st, role->lanes[i]));
    json_write_end(&d->w);
    json_put_array(&d->w, "ops");
    for (size_t i = 0; i < role->n_ops; i++) {
        const struct arch_op *op = &d->a->ops->at[role->ops[i].op];
        json_write_object(&d->w);
        json_put_str(&d->w, "name", op->label);
        if (!str_equal(op->name, op->label))
            json_put_str(&d->w, "kernel", op->name);
        json_put_u64(&d->w, "count", role->ops[i].count);
        json_put_ms(&d->w, "total_ms", role->ops[i].total);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
    json_write_end(&d->w);
}

static void put_variants(struct doc *d, const struct arch_type *type)
{
    json_put_array(&d->w, "variants");
    for (size_t i = 0; type->n_variants > 1 && i < type->n_variants; i++) {
        const struct arch_variant *v = &type->variants[i];
        json_write_object(&d->w);
        json_put_str(&d->w, "name", (struct str){&v->name, 1});
        json_put_u64(&d->w, "count", v->count);
        json_put_str(&d->w, "layers", v->layers);
        json_put_u64(&d->w, "kernels", v->kernels);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_representative(struct doc *d, const struct arch_layer *layer)
{
    json_put_object(&d->w, "representative");
    json_put_u64(&d->w, "pass", d->a->layers->passes[layer->pass].number);
    json_put_u64(&d->w, "index", layer->index);
    json_put_ms(&d->w, "wall_ms", arch_span(layer->at));
    json_put_ms(&d->w, "busy_union_ms", layer->busy);
    json_put_ms(&d->w, "idle_ms", nanos_sub(arch_span(layer->at), layer->busy));
    double wall = (double)arch_span(layer->at);
    json_put_f64(&d->w, "busy_share", wall > 0 ? (double)layer->busy / wall : 0);
    json_put_f64(&d->w, "idle_share", wall > 0 ? 1 - (double)layer->busy / wall : 0);
    json_write_end(&d->w);
}

static void put_roles(struct doc *d, const struct arch_type *type)
{
    json_put_array(&d->w, "roles");
    for (size_t i = 0; i < type->n_roles; i++)
        put_role(d, type, &type->roles[i]);
    json_write_end(&d->w);
}

static void put_type(struct doc *d, const struct arch_type *type)
{
    const struct arch_layer *layer = &d->a->layers->at[type->representative];

    json_write_object(&d->w);
    json_put_text(&d->w, "type", layer_kind_name(type->kind));
    json_put_text(&d->w, "phase", arch_phase_name(type->phase));
    json_put_bool(&d->w, "sampling", type->has_sampling);
    json_put_bool(&d->w, "mla", type->is_mla);
    json_put_bool(&d->w, "backward", type->is_backward);
    json_put_u64(&d->w, "count_per_pass", type->count_per_pass);
    json_put_u64(&d->w, "count", type->count);
    json_put_bool(&d->w, "same_in_all_passes", type->is_even);
    json_put_str(&d->w, "layers", type->layers);
    put_representative(d, layer);
    put_spread(d, "kernels_per_layer", &type->kernels, 1);
    put_spread(d, "wall_ms", &type->wall, 1e6);
    put_spread(d, "attention_ms", &type->attention, 1e6);
    put_spread(d, "attention_share", &type->attention_share, 1);
    put_spread(d, "dispatch_ffn_combine_ms", &type->dfc, 1e6);
    put_spread(d, "post_attention_ms", &type->post, 1e6);
    json_put_str(&d->w, "dominant_op", d->a->ops->at[type->dominant].label);
    json_put_f64(&d->w, "dominant_share", type->dominant_share);
    put_roles(d, type);
    put_variants(d, type);
    json_put_array(&d->w, "anomalies");
    for (size_t i = 0; i < type->n_anomalies; i++)
        json_write_string(&d->w, type->anomalies[i]);
    json_write_end(&d->w);
    put_lines(d, "tree", arch_draw_tree(d->st, d->a, type));
    json_write_end(&d->w);
}

/* The last layer of a pass, where no type shows it. */
static void put_last(struct doc *d, const struct arch_type *last)
{
    if (last == NULL) {
        json_put_null(&d->w, "last_layer");
        return;
    }
    const struct arch_layer *layer = &d->a->layers->at[last->representative];
    json_put_object(&d->w, "last_layer");
    json_put_text(&d->w, "type", layer_kind_name(last->kind));
    json_put_text(&d->w, "phase", arch_phase_name(last->phase));
    json_put_bool(&d->w, "sampling", last->has_sampling);
    put_representative(d, layer);
    json_put_u64(&d->w, "kernels", layer->end - layer->first);
    put_roles(d, last);
    put_lines(d, "tree", arch_draw_tree(d->st, d->a, last));
    json_write_end(&d->w);
}

static void put_checks(struct doc *d)
{
    json_put_array(&d->w, "cross_check");
    for (size_t i = 0; i < d->a->n_checks; i++) {
        const struct arch_check *c = &d->a->checks[i];
        json_write_object(&d->w);
        json_put_str(&d->w, "op", c->op);
        json_put_array(&d->w, "per_pass");
        for (size_t k = 0; k < c->n; k++)
            json_write_u64(&d->w, c->per_pass[k]);
        json_write_end(&d->w);
        json_put_known(&d->w, "expected", c->expected >= 0, c->expected);
        json_put_bool(&d->w, "ok", c->is_ok);
        json_put_str(&d->w, "note", c->note);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_streams(struct doc *d)
{
    json_put_array(&d->w, "streams");
    for (size_t i = 0; i < d->a->comm->n_streams; i++) {
        const struct arch_stream *s = &d->a->comm->streams[i];
        json_write_object(&d->w);
        json_put_str(&d->w, "stream", arch_stream_name(d->st, s->lane));
        json_put_text(&d->w, "purpose", s->purpose);
        json_put_u64(&d->w, "kernels", s->kernels);
        json_put_ms(&d->w, "busy_ms", s->busy);
        json_put_f64(&d->w, "overlap_with_main", s->main_overlap < 0 ? NAN : s->main_overlap);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_comm(struct doc *d)
{
    const struct arch_comm *c = d->a->comm;

    json_put_object(&d->w, "comm");
    json_put_f64(&d->w, "hidden_fraction", c->hidden_fraction);
    json_put_f64(&d->w, "hidden_fraction_by_sum", c->hidden_by_sum);
    json_put_ms(&d->w, "exposed_ms", c->exposed);
    json_put_ms(&d->w, "hidden_ms", c->hidden);
    json_put_ms(&d->w, "union_ms", c->comm_union);
    json_put_ms(&d->w, "sum_ms", c->comm_sum);
    json_put_ms(&d->w, "compute_union_ms", c->compute_union);
    json_put_ms(&d->w, "kernel_sum_ms", c->kernel_sum);
    json_put_ms(&d->w, "wall_ms", c->wall);
    json_put_f64(&d->w, "kernel_sum_over_wall", c->sum_over_wall);
    json_put_str(&d->w, "verdict",
                 c->comm_union > 0 ? str_of(arch_hidden_name(c->hidden_fraction))
                                   : S("no communication"));
    json_put_array(&d->w, "pairs");
    for (size_t i = 0; i < c->n_streams; i++) {
        if (!c->streams[i].is_comm || c->streams[i].main_overlap < 0)
            continue;
        json_write_object(&d->w);
        json_put_str(&d->w, "comm_stream", arch_stream_name(d->st, c->streams[i].lane));
        json_put_str(&d->w, "compute_stream", arch_stream_name(d->st, d->a->markers->main_lane));
        json_put_f64(&d->w, "overlap_ratio", c->streams[i].main_overlap);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
    if (c->told_ops > 0) {
        json_put_object(&d->w, "profiler");
        json_put_u64(&d->w, "collectives", c->told_ops);
        json_put_ms(&d->w, "elapse_ms", c->told_elapse);
        json_put_f64(&d->w, "megabytes", c->told_megabytes);
        json_put_f64(&d->w, "gb_per_s", c->told_gbps);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_config(struct doc *d)
{
    const struct arch_config *c = d->a->config;

    json_put_object(&d->w, "configuration");
    json_put_str_or_null(&d->w, "parallelism", c->parallelism);
    json_put_array(&d->w, "items");
    for (size_t i = 0; i < c->n; i++) {
        json_write_object(&d->w);
        json_put_str(&d->w, "name", str_of(c->at[i].name));
        json_put_str(&d->w, "title", str_of(c->at[i].title));
        json_write_key(&d->w, S("value"));
        if (c->at[i].number >= 0)
            json_write_i64(&d->w, c->at[i].number);
        else
            json_write_string(&d->w, c->at[i].text);
        json_put_str(&d->w, "origin", c->at[i].is_inferred ? S("inferred") : S("measured"));
        json_put_f64(&d->w, "confidence", c->at[i].confidence);
        json_put_str(&d->w, "evidence", c->at[i].evidence);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
    json_write_end(&d->w);
}

static void put_evidence(struct doc *d)
{
    json_put_array(&d->w, "evidence");
    for (size_t i = 0; i < d->a->n_evidence; i++) {
        const struct arch_evidence *e = &d->a->evidence[i];
        json_write_object(&d->w);
        json_put_str(&d->w, "evidence", e->what);
        json_put_str(&d->w, "value", e->value);
        json_put_str(&d->w, "interpretation", e->meaning);
        json_put_str(&d->w, "origin", e->is_inferred ? S("inferred") : S("measured"));
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_head(struct doc *d)
{
    const struct arch_markers *m = d->a->markers;
    const struct arch_layers *l = d->a->layers;

    json_put_text(&d->w, "schema", "strata.arch/1");
    if (m->n > 0)
        json_put_str(&d->w, "marker", m->name);
    else
        json_put_null(&d->w, "marker");
    json_put_text(&d->w, "method", arch_method_name(l->method));
    json_put_str(&d->w, "main_stream",
                 study_kernels(d->st).n > 0 ? arch_stream_name(d->st, m->main_lane) : S(""));
    json_put_u64(&d->w, "total_markers", m->n);
    json_put_u64(&d->w, "prefill_markers", m->prefill);
    json_put_u64(&d->w, "decode_markers", m->decode);
    json_put_u64(&d->w, "unknown_markers", m->unknown);
    json_put_text(&d->w, "phase_rule", m->phase_rule);
    json_put_u64(&d->w, "num_passes", l->complete);
    json_put_u64(&d->w, "partial_passes", l->partial);
    json_put_u64(&d->w, "layers_per_pass", arch_layers_of_model(l));
    json_put_u64(&d->w, "decode_per_pass", l->decode_per_pass);
    json_put_f64(&d->w, "confidence", d->a->confidence);
    json_put_bool(&d->w, "training", l->is_training);
}

static void put_capture(struct doc *d)
{
    const struct steps *steps = study_steps(d->st);

    json_put_object(&d->w, "capture");
    json_put_str(&d->w, "name", str_of(d->st->cap->name));
    json_put_str(&d->w, "kind", capture_text(d->st->cap, d->st->cap->facts.kind));
    json_put_known(&d->w, "rank", d->st->cap->facts.rank >= 0, d->st->cap->facts.rank);
    json_put_u64(&d->w, "kernels", study_kernels(d->st).n);
    json_put_u64(&d->w, "streams", d->a->comm->n_streams);
    char text[NUM_TEXT];
    nanos origin = nanos_add(d->a->origin, d->st->cap->clock.to_unix);
    json_put_str(&d->w, "time_origin_us", (struct str){text, num_print_us(text, origin)});
    json_put_ms(&d->w, "device_span_ms", arch_span(d->a->device));
    json_put_u64(&d->w, "steps", steps->n);
    json_put_text(&d->w, "step_source", step_source_name(steps->source));
    json_write_end(&d->w);
}

static void put_drawings(struct doc *d)
{
    json_put_object(&d->w, "drawings");
    put_lines(d, "pipeline", arch_draw_pipeline(d->st, d->a));
    put_lines(d, "model", arch_draw_model(d->st, d->a));
    put_lines(d, "timeline", arch_draw_timeline(d->st, d->a));
    json_write_end(&d->w);
}

bool arch_write_json(struct study *st, const struct arch *a, struct sink out)
{
    struct doc d = {.st = st, .a = a};

    json_write_init(&d.w, out, JSON_INDENTED);
    json_write_object(&d.w);
    put_head(&d);
    put_capture(&d);
    put_config(&d);
    put_evidence(&d);
    put_passes(&d, "passes", false);
    put_passes(&d, "partial_pass_list", true);
    json_put_array(&d.w, "layer_types");
    for (size_t i = 0; i < a->types->n; i++)
        put_type(&d, &a->types->at[i]);
    json_write_end(&d.w);
    put_last(&d, a->types->last);
    put_checks(&d);
    put_streams(&d);
    put_comm(&d);
    if (a->layers->n > 0) {
        json_put_u64(&d.w, "structures_per_step", a->layers->per_pass);
        const struct arch_layer *layer = &a->layers->at[a->types->at[0].representative];
        json_put_u64(&d.w, "kernels_per_structure",
                     a->layers->period > 0 ? a->layers->period : layer->end - layer->first);
    } else {
        json_put_null(&d.w, "structures_per_step");
        json_put_null(&d.w, "kernels_per_structure");
    }
    put_drawings(&d);
    json_put_array(&d.w, "notes");
    for (size_t i = 0; i < a->n_notes; i++)
        json_write_string(&d.w, a->notes[i]);
    json_write_end(&d.w);
    json_write_end(&d.w);
    return json_write_finish(&d.w);
}
