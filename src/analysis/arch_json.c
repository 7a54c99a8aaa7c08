/*
 * The document "strata.arch/1": keys and their order are a contract with other tools. It holds
 * every number that the Markdown report prints, and the pictures line by line.
 */
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

static void key(struct doc *d, const char *name)
{
    json_write_key(&d->w, str_of(name));
}

static void open_object(struct doc *d, const char *name)
{
    if (name != NULL)
        key(d, name);
    json_write_object(&d->w);
}

static void open_array(struct doc *d, const char *name)
{
    key(d, name);
    json_write_array(&d->w);
}

static void end(struct doc *d)
{
    json_write_end(&d->w);
}

static void put_text(struct doc *d, const char *name, struct str text)
{
    key(d, name);
    json_write_string(&d->w, text);
}

static void put_count(struct doc *d, const char *name, size_t count)
{
    key(d, name);
    json_write_u64(&d->w, count);
}

static void put_number(struct doc *d, const char *name, double value)
{
    key(d, name);
    json_write_f64(&d->w, value);
}

static void put_bool(struct doc *d, const char *name, bool value)
{
    key(d, name);
    json_write_bool(&d->w, value);
}

static void put_us(struct doc *d, const char *name, nanos ns)
{
    key(d, name);
    json_write_us(&d->w, ns);
}

/* Milliseconds with all six decimals that nanoseconds have, less the trailing zeros. */
static void put_ms(struct doc *d, const char *name, nanos ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char text[NUM_TEXT];
    int n = snprintf(text, sizeof(text), "%s%llu.%06llu", ns < 0 ? "-" : "",
                     (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));

    while (text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    key(d, name);
    json_write_number(&d->w, (struct str){text, (size_t)n});
}

static void put_rel_us(struct doc *d, const char *name, nanos at)
{
    put_us(d, name, nanos_sub(at, d->a->origin));
}

static void put_null(struct doc *d, const char *name)
{
    key(d, name);
    json_write_null(&d->w);
}

static void put_lines(struct doc *d, const char *name, struct drawing drawing)
{
    open_array(d, name);
    for (size_t i = 0; i < drawing.n; i++)
        json_write_string(&d->w, drawing.lines[i]);
    end(d);
}

static nanos marker_duration(const struct doc *d, const struct arch_layer *layer)
{
    return d->st->cap->slices.dur[study_kernels(d->st).at[layer->marker]];
}

static void put_layer(struct doc *d, const struct arch_layer *layer)
{
    char text[32];

    open_object(d, NULL);
    put_count(d, "index", layer->index);
    put_text(d, "phase", str_of(arch_phase_name(layer->phase)));
    put_text(d, "type", str_of(layer_kind_name(layer->kind)));
    put_bool(d, "sampling", layer->has_sampling);
    if (layer->variant != 0)
        put_text(d, "variant", (struct str){&layer->variant, 1});
    if (layer->is_backward)
        put_bool(d, "backward", true);
    if (layer->marker == SIZE_MAX)
        put_null(d, "marker_duration_us");
    else
        put_us(d, "marker_duration_us", marker_duration(d, layer));
    put_count(d, "kernel_count", layer->end - layer->first);
    put_rel_us(d, "start_rel_us", layer->at.begin);
    put_ms(d, "wall_ms", arch_span(layer->at));
    put_ms(d, "busy_union_ms", layer->busy);
    put_ms(d, "idle_ms", nanos_sub(arch_span(layer->at), layer->busy));
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)layer->signature);
    put_text(d, "signature", str_of(text));
    end(d);
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
        put_number(d, name, (double)sum / (double)n / 1e6);
    else
        put_null(d, name);
}

static void put_pass(struct doc *d, const struct arch_pass *pass)
{
    open_object(d, NULL);
    put_count(d, "pass_index", pass->number);
    if (pass->markers > 0) {
        put_count(d, "marker_first", pass->marker_first);
        put_count(d, "marker_last", pass->marker_first + pass->markers - 1);
    } else {
        put_null(d, "marker_first");
        put_null(d, "marker_last");
    }
    put_rel_us(d, "start_rel_us", pass->at.begin);
    put_rel_us(d, "end_rel_us", pass->at.end);
    put_ms(d, "wall_ms", arch_span(pass->at));
    put_ms(d, "busy_union_ms", pass->busy);
    put_average(d, "avg_prefill_marker_ms", pass, PHASE_PREFILL);
    put_average(d, "avg_decode_marker_ms", pass, PHASE_DECODE);
    put_average(d, "avg_unknown_marker_ms", pass, PHASE_UNKNOWN);
    put_count(d, "kernel_count", pass->end - pass->first);
    size_t own = pass->layers > 0 ? d->a->layers->at[pass->layer_first].first : pass->first;
    put_count(d, "prologue_kernels", own - pass->first);
    put_count(d, "epilogue_kernels", pass->end - pass->epilogue);
    open_array(d, "layers");
    for (size_t i = 0; i < pass->layers; i++)
        put_layer(d, &d->a->layers->at[pass->layer_first + i]);
    end(d);
    end(d);
}

static void put_passes(struct doc *d, const char *name, bool are_partial)
{
    open_array(d, name);
    for (size_t i = 0; i < d->a->layers->n_passes; i++)
        if (d->a->layers->passes[i].is_partial == are_partial)
            put_pass(d, &d->a->layers->passes[i]);
    end(d);
}

static void put_spread(struct doc *d, const char *name, const struct arch_spread *s, double unit)
{
    open_object(d, name);
    put_number(d, "median", s->median / unit);
    put_number(d, "min", s->min / unit);
    put_number(d, "max", s->max / unit);
    put_number(d, "p10", s->p10 / unit);
    put_number(d, "p90", s->p90 / unit);
    put_number(d, "mean", s->mean / unit);
    put_number(d, "deviation", s->deviation / unit);
    put_number(d, "spread", s->mean > 0 ? s->deviation / s->mean : 0);
    end(d);
}

static void put_role(struct doc *d, const struct arch_type *type, const struct arch_role *role)
{
    const struct arch_layer *layer = &d->a->layers->at[type->representative];
    nanos wall = arch_span(layer->at);

    open_object(d, NULL);
    put_text(d, "role", str_of(role_name(role->role, type->kind)));
    put_ms(d, "wall_ms", role->wall);
    put_number(d, "share", wall > 0 ? (double)role->wall / (double)wall : 0);
    put_count(d, "kernels", role->kernels);
    open_array(d, "streams");
    for (size_t i = 0; i < role->n_lanes; i++)
        json_write_string(&d->w, arch_stream_name(d->st, role->lanes[i]));
    end(d);
    open_array(d, "ops");
    for (size_t i = 0; i < role->n_ops; i++) {
        const struct arch_op *op = &d->a->ops->at[role->ops[i].op];
        open_object(d, NULL);
        put_text(d, "name", op->label);
        if (!str_equal(op->name, op->label))
            put_text(d, "kernel", op->name);
        put_count(d, "count", role->ops[i].count);
        put_ms(d, "total_ms", role->ops[i].total);
        end(d);
    }
    end(d);
    end(d);
}

static void put_variants(struct doc *d, const struct arch_type *type)
{
    open_array(d, "variants");
    for (size_t i = 0; type->n_variants > 1 && i < type->n_variants; i++) {
        const struct arch_variant *v = &type->variants[i];
        open_object(d, NULL);
        put_text(d, "name", (struct str){&v->name, 1});
        put_count(d, "count", v->count);
        put_text(d, "layers", v->layers);
        put_count(d, "kernels", v->kernels);
        end(d);
    }
    end(d);
}

static void put_representative(struct doc *d, const struct arch_layer *layer)
{
    open_object(d, "representative");
    put_count(d, "pass", d->a->layers->passes[layer->pass].number);
    put_count(d, "index", layer->index);
    put_ms(d, "wall_ms", arch_span(layer->at));
    put_ms(d, "busy_union_ms", layer->busy);
    put_ms(d, "idle_ms", nanos_sub(arch_span(layer->at), layer->busy));
    double wall = (double)arch_span(layer->at);
    put_number(d, "busy_share", wall > 0 ? (double)layer->busy / wall : 0);
    put_number(d, "idle_share", wall > 0 ? 1 - (double)layer->busy / wall : 0);
    end(d);
}

static void put_roles(struct doc *d, const struct arch_type *type)
{
    open_array(d, "roles");
    for (size_t i = 0; i < type->n_roles; i++)
        put_role(d, type, &type->roles[i]);
    end(d);
}

static void put_type(struct doc *d, const struct arch_type *type)
{
    const struct arch_layer *layer = &d->a->layers->at[type->representative];

    open_object(d, NULL);
    put_text(d, "type", str_of(layer_kind_name(type->kind)));
    put_text(d, "phase", str_of(arch_phase_name(type->phase)));
    put_bool(d, "sampling", type->has_sampling);
    put_bool(d, "mla", type->is_mla);
    put_bool(d, "backward", type->is_backward);
    put_count(d, "count_per_pass", type->count_per_pass);
    put_count(d, "count", type->count);
    put_bool(d, "same_in_all_passes", type->is_even);
    put_text(d, "layers", type->layers);
    put_representative(d, layer);
    put_spread(d, "kernels_per_layer", &type->kernels, 1);
    put_spread(d, "wall_ms", &type->wall, 1e6);
    put_spread(d, "attention_ms", &type->attention, 1e6);
    put_spread(d, "attention_share", &type->attention_share, 1);
    put_spread(d, "dispatch_ffn_combine_ms", &type->dfc, 1e6);
    put_spread(d, "post_attention_ms", &type->post, 1e6);
    put_text(d, "dominant_op", d->a->ops->at[type->dominant].label);
    put_number(d, "dominant_share", type->dominant_share);
    put_roles(d, type);
    put_variants(d, type);
    open_array(d, "anomalies");
    for (size_t i = 0; i < type->n_anomalies; i++)
        json_write_string(&d->w, type->anomalies[i]);
    end(d);
    put_lines(d, "tree", arch_draw_tree(d->st, d->a, type));
    end(d);
}

/* The last layer of a pass, where no type shows it. */
static void put_last(struct doc *d, const struct arch_type *last)
{
    if (last == NULL) {
        put_null(d, "last_layer");
        return;
    }
    const struct arch_layer *layer = &d->a->layers->at[last->representative];
    open_object(d, "last_layer");
    put_text(d, "type", str_of(layer_kind_name(last->kind)));
    put_text(d, "phase", str_of(arch_phase_name(last->phase)));
    put_bool(d, "sampling", last->has_sampling);
    put_representative(d, layer);
    put_count(d, "kernels", layer->end - layer->first);
    put_roles(d, last);
    put_lines(d, "tree", arch_draw_tree(d->st, d->a, last));
    end(d);
}

static void put_checks(struct doc *d)
{
    open_array(d, "cross_check");
    for (size_t i = 0; i < d->a->n_checks; i++) {
        const struct arch_check *c = &d->a->checks[i];
        open_object(d, NULL);
        put_text(d, "op", c->op);
        open_array(d, "per_pass");
        for (size_t k = 0; k < c->n; k++)
            json_write_u64(&d->w, c->per_pass[k]);
        end(d);
        if (c->expected < 0)
            put_null(d, "expected");
        else
            put_count(d, "expected", (size_t)c->expected);
        put_bool(d, "ok", c->is_ok);
        put_text(d, "note", c->note);
        end(d);
    }
    end(d);
}

static void put_streams(struct doc *d)
{
    open_array(d, "streams");
    for (size_t i = 0; i < d->a->comm->n_streams; i++) {
        const struct arch_stream *s = &d->a->comm->streams[i];
        open_object(d, NULL);
        put_text(d, "stream", arch_stream_name(d->st, s->lane));
        put_text(d, "purpose", str_of(s->purpose));
        put_count(d, "kernels", s->kernels);
        put_ms(d, "busy_ms", s->busy);
        if (s->main_overlap < 0)
            put_null(d, "overlap_with_main");
        else
            put_number(d, "overlap_with_main", s->main_overlap);
        end(d);
    }
    end(d);
}

static void put_comm(struct doc *d)
{
    const struct arch_comm *c = d->a->comm;

    open_object(d, "comm");
    put_number(d, "hidden_fraction", c->hidden_fraction);
    put_number(d, "hidden_fraction_by_sum", c->hidden_by_sum);
    put_ms(d, "exposed_ms", c->exposed);
    put_ms(d, "hidden_ms", c->hidden);
    put_ms(d, "union_ms", c->comm_union);
    put_ms(d, "sum_ms", c->comm_sum);
    put_ms(d, "compute_union_ms", c->compute_union);
    put_ms(d, "kernel_sum_ms", c->kernel_sum);
    put_ms(d, "wall_ms", c->wall);
    put_number(d, "kernel_sum_over_wall", c->sum_over_wall);
    put_text(d, "verdict",
             c->comm_union > 0 ? str_of(arch_hidden_name(c->hidden_fraction))
                               : S("no communication"));
    open_array(d, "pairs");
    for (size_t i = 0; i < c->n_streams; i++) {
        if (!c->streams[i].is_comm || c->streams[i].main_overlap < 0)
            continue;
        open_object(d, NULL);
        put_text(d, "comm_stream", arch_stream_name(d->st, c->streams[i].lane));
        put_text(d, "compute_stream", arch_stream_name(d->st, d->a->markers->main_lane));
        put_number(d, "overlap_ratio", c->streams[i].main_overlap);
        end(d);
    }
    end(d);
    if (c->told_ops > 0) {
        open_object(d, "profiler");
        put_count(d, "collectives", c->told_ops);
        put_ms(d, "elapse_ms", c->told_elapse);
        put_number(d, "megabytes", c->told_megabytes);
        put_number(d, "gb_per_s", c->told_gbps);
        end(d);
    }
    end(d);
}

static void put_config(struct doc *d)
{
    const struct arch_config *c = d->a->config;

    open_object(d, "configuration");
    if (c->parallelism.n > 0)
        put_text(d, "parallelism", c->parallelism);
    else
        put_null(d, "parallelism");
    open_array(d, "items");
    for (size_t i = 0; i < c->n; i++) {
        open_object(d, NULL);
        put_text(d, "name", str_of(c->at[i].name));
        put_text(d, "title", str_of(c->at[i].title));
        key(d, "value");
        if (c->at[i].number >= 0)
            json_write_i64(&d->w, c->at[i].number);
        else
            json_write_string(&d->w, c->at[i].text);
        put_text(d, "origin", c->at[i].is_inferred ? S("inferred") : S("measured"));
        put_number(d, "confidence", c->at[i].confidence);
        put_text(d, "evidence", c->at[i].evidence);
        end(d);
    }
    end(d);
    end(d);
}

static void put_evidence(struct doc *d)
{
    open_array(d, "evidence");
    for (size_t i = 0; i < d->a->n_evidence; i++) {
        const struct arch_evidence *e = &d->a->evidence[i];
        open_object(d, NULL);
        put_text(d, "evidence", e->what);
        put_text(d, "value", e->value);
        put_text(d, "interpretation", e->meaning);
        put_text(d, "origin", e->is_inferred ? S("inferred") : S("measured"));
        end(d);
    }
    end(d);
}

static void put_head(struct doc *d)
{
    const struct arch_markers *m = d->a->markers;
    const struct arch_layers *l = d->a->layers;

    put_text(d, "schema", S("strata.arch/1"));
    if (m->n > 0)
        put_text(d, "marker", m->name);
    else
        put_null(d, "marker");
    put_text(d, "method", str_of(arch_method_name(l->method)));
    put_text(d, "main_stream",
             study_kernels(d->st).n > 0 ? arch_stream_name(d->st, m->main_lane) : S(""));
    put_count(d, "total_markers", m->n);
    put_count(d, "prefill_markers", m->prefill);
    put_count(d, "decode_markers", m->decode);
    put_count(d, "unknown_markers", m->unknown);
    put_text(d, "phase_rule", str_of(m->phase_rule));
    put_count(d, "num_passes", l->complete);
    put_count(d, "partial_passes", l->partial);
    put_count(d, "layers_per_pass", arch_layers_of_model(l));
    put_count(d, "decode_per_pass", l->decode_per_pass);
    put_number(d, "confidence", d->a->confidence);
    put_bool(d, "training", l->is_training);
}

static void put_capture(struct doc *d)
{
    const struct steps *steps = study_steps(d->st);

    open_object(d, "capture");
    put_text(d, "name", str_of(d->st->cap->name));
    put_text(d, "kind", capture_text(d->st->cap, d->st->cap->facts.kind));
    if (d->st->cap->facts.rank >= 0)
        put_count(d, "rank", (size_t)d->st->cap->facts.rank);
    else
        put_null(d, "rank");
    put_count(d, "kernels", study_kernels(d->st).n);
    put_count(d, "streams", d->a->comm->n_streams);
    char text[NUM_TEXT];
    nanos origin = nanos_add(d->a->origin, d->st->cap->clock.to_unix);
    put_text(d, "time_origin_us", (struct str){text, num_print_us(text, origin)});
    put_ms(d, "device_span_ms", arch_span(d->a->device));
    put_count(d, "steps", steps->n);
    put_text(d, "step_source", str_of(step_source_name(steps->source)));
    end(d);
}

static void put_drawings(struct doc *d)
{
    open_object(d, "drawings");
    put_lines(d, "pipeline", arch_draw_pipeline(d->st, d->a));
    put_lines(d, "model", arch_draw_model(d->st, d->a));
    put_lines(d, "timeline", arch_draw_timeline(d->st, d->a));
    end(d);
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
    open_array(&d, "layer_types");
    for (size_t i = 0; i < a->types->n; i++)
        put_type(&d, &a->types->at[i]);
    end(&d);
    put_last(&d, a->types->last);
    put_checks(&d);
    put_streams(&d);
    put_comm(&d);
    if (a->layers->n > 0) {
        put_count(&d, "structures_per_step", a->layers->per_pass);
        const struct arch_layer *layer = &a->layers->at[a->types->at[0].representative];
        put_count(&d, "kernels_per_structure",
                  a->layers->period > 0 ? a->layers->period : layer->end - layer->first);
    } else {
        put_null(&d, "structures_per_step");
        put_null(&d, "kernels_per_structure");
    }
    put_drawings(&d);
    open_array(&d, "notes");
    for (size_t i = 0; i < a->n_notes; i++)
        json_write_string(&d.w, a->notes[i]);
    end(&d);
    json_write_end(&d.w);
    return json_write_finish(&d.w);
}
