/*
 * The architecture report as Markdown: ten sections, all of them always, in a fixed order. Every
 * number here is also in the JSON twin (arch_json.c).
 */
#include <math.h>
#include <stdarg.h>

#include "analysis/arch/arch.h"
#include "analysis/arch/arch_draw.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "base/formats/markdown.h"
#include "base/text/inert.h"
#include "text/arch.h"

struct page {
    struct study *st;
    const struct arch *a;
    struct arena *arena;
    enum lang lang;
    struct text *out;
};

static void md_say(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void md_say(struct page *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_put(p->out, arena_vformat(p->arena, format, args));
    va_end(args);
}

/* A text of the catalogue, without places and with them. */
static void md_put(struct page *p, const struct message *m)
{
    text_put(p->out, message_in(p->lang, m));
}

#define PUT(page_, message_, ...)                                                                  \
    message_put((page_)->out, (page_)->lang, (message_), PLACES(__VA_ARGS__))

/* One that the analysis told, and one of a fixed list, in the page's language. */
static const char *wording_in(struct page *p, struct wording w)
{
    return markdown_safe(p->arena, wording_text(p->lang, p->arena, w));
}

static const char *md_word(struct page *p, const char *english)
{
    return message_word(p->lang, str_of(english)).at;
}

static const char *title(struct page *p, const struct arch_type *type)
{
    return arch_type_title(p->arena, type, p->lang).at;
}

static const char *md_cell(struct page *p, struct str text)
{
    return markdown_plain(p->arena, text);
}

static const char *ms(struct page *p, double ns)
{
    return arch_ms(p->arena, ns).at;
}

static void md_draw(struct page *p, struct drawing d)
{
    md_say(p, "```\n");
    for (size_t i = 0; i < d.n; i++)
        md_say(p, "%s\n", arena_cstr(p->arena, inert_line(p->arena, d.lines[i])));
    md_say(p, "```\n\n");
}

/* ---- 1 ---- */

static void say_config(struct page *p)
{
    const struct arch_config *c = p->a->config;

    if (c->n == 0) {
        md_put(p, &arch_text.no_config);
        return;
    }
    md_put(p, &arch_text.config_head);
    md_say(p, "|---|---:|---|---:|---|\n");
    for (size_t i = 0; i < c->n; i++) {
        const struct config_item *item = &c->at[i];
        md_say(p, "| %s | ", md_word(p, item->title));
        if (item->number >= 0)
            md_say(p, "%lld", (long long)item->number);
        else
            md_say(p, "`%s`", md_cell(p, item->text));
        md_say(p, " | %s | %.0f %% | %s |\n", md_word(p, origin_name(item->origin)),
               100 * item->confidence, wording_in(p, item->evidence));
    }
    md_say(p, "\n");
}

static void section_1(struct page *p)
{
    const struct steps *steps = study_steps(p->st);
    const struct arch_layers *l = p->a->layers;
    const struct arch_markers *m = p->a->markers;

    md_put(p, &arch_text.section_1);
    md_put(p, &arch_text.item_head);
    md_say(p, "|---|---|\n");
    PUT(p, &arch_text.item_capture, PLACE("name", md_cell(p, str_of(p->st->cap->name))));
    if (p->st->cap->facts.rank >= 0)
        PUT(p, &arch_text.item_rank, PLACE("rank", p->st->cap->facts.rank));
    PUT(p, &arch_text.item_parallelism,
        PLACE("value", p->a->config->parallelism.n > 0
                           ? md_cell(p, p->a->config->parallelism)
                           : md_word(p, "unknown (not in the capture)")));
    PUT(p, steps->source == STEPS_PSEUDO ? &arch_text.item_scope_pseudo : &arch_text.item_scope,
        PLACE("n", steps->n), PLACE("source", step_source_name(steps->source)));
    PUT(p, &arch_text.item_span, PLACE("ms", ms(p, (double)(arch_span(p->a->device)))));
    PUT(p, &arch_text.item_kernels, PLACE("kernels", study_kernels(p->st).n),
        PLACE("streams", p->a->comm->n_streams));
    if (l->method == ARCH_NONE)
        md_put(p, &arch_text.item_no_model);
    else
        PUT(p, l->is_training ? &arch_text.item_training : &arch_text.item_inference,
            PLACE("layers", arch_layers_of_model(l)), PLACE("passes", l->complete),
            PLACE("prefill", m->prefill), PLACE("decode", m->decode));
    say_config(p);
}

/* ---- 2 ---- */

static void section_2(struct page *p)
{
    md_put(p, &arch_text.section_2);
    struct str marker = p->a->markers->n > 0
                            ? arena_format(p->arena, "`%s`", md_cell(p, p->a->markers->name))
                            : str_of(md_word(p, "none"));
    PUT(p, &arch_text.method, PLACE("method", arch_method_name(p->a->layers->method)),
        PLACE("marker", marker),
        PLACE("stream", study_kernels(p->st).n > 0
                            ? md_cell(p, arch_stream_name(p->st, p->a->markers->main_lane))
                            : (const char *)""),
        PLACE("confidence", p->a->confidence));
    md_put(p, &arch_text.evidence_head);
    md_say(p, "|---|---:|---|---|\n");
    for (size_t i = 0; i < p->a->n_evidence; i++) {
        const struct arch_evidence *e = &p->a->evidence[i];
        md_say(p, "| %s | %s | %s | %s |\n", wording_in(p, e->what), wording_in(p, e->value),
               wording_in(p, e->meaning), md_word(p, origin_name(e->origin)));
    }
    md_say(p, "\n");
    for (size_t i = 0; i < p->a->n_notes; i++)
        md_say(p, "- %s\n", wording_in(p, p->a->notes[i]));
    if (p->a->n_notes > 0)
        md_say(p, "\n");
}

/* ---- 3 ---- */

static const char *average(struct page *p, const struct arch_pass *pass, enum arch_phase phase)
{
    double ns = arch_marker_average(p->st, p->a, pass, phase);

    return isfinite(ns) ? ms(p, ns) : "–";
}

enum { PASSES_SHOWN = 64 };

static void say_pass(struct page *p, const struct arch_pass *pass)
{
    double from = (double)nanos_sub(pass->at.begin, p->a->origin) / 1e9;
    double to = (double)nanos_sub(pass->at.end, p->a->origin) / 1e9;

    PUT(p, pass->is_partial ? &arch_text.partial_pass : &arch_text.whole_pass,
        PLACE("n", pass->number));
    if (pass->markers > 0)
        md_say(p, "#%zu–#%zu", pass->marker_first, pass->marker_first + pass->markers - 1);
    else
        md_say(p, "–");
    md_say(p, " | %.3f–%.3f | %s | %s | %s | %s | %zu |\n", from, to,
           ms(p, (double)(arch_span(pass->at))), average(p, pass, PHASE_PREFILL),
           average(p, pass, PHASE_DECODE), average(p, pass, PHASE_UNKNOWN),
           pass->end - pass->first);
}

/* Whether the markers of a phase grow from pass to pass, by more than 2 % in all. */
static bool grows(struct page *p)
{
    double first = 0, last = 0;

    for (size_t i = 0; i < p->a->layers->n_passes; i++) {
        const struct arch_pass *pass = &p->a->layers->passes[i];
        double sum = 0;
        if (pass->is_partial || pass->markers == 0)
            continue;
        for (size_t k = 0; k < pass->layers; k++)
            sum += (double)arch_marker_duration(p->st, &p->a->layers->at[pass->layer_first + k]);
        if (first > 0 && sum < last)
            return false;
        if (first <= 0)
            first = sum;
        last = sum;
    }
    return last > 1.02 * first && first > 0;
}

static void section_3(struct page *p)
{
    const struct arch_layers *l = p->a->layers;
    size_t shown = l->n_passes < PASSES_SHOWN ? l->n_passes : PASSES_SHOWN;

    md_put(p, &arch_text.section_3);
    if (l->n_passes == 0) {
        md_put(p, &arch_text.no_passes);
        return;
    }
    md_put(p, &arch_text.pass_head);
    md_say(p, "|---|---|---|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < shown; i++)
        say_pass(p, &l->passes[i]);
    md_say(p, "\n");
    if (shown < l->n_passes)
        md_put(p, &arch_text.first_passes);
    if (l->complete > 1)
        md_put(p, grows(p) ? &arch_text.markers_grow : &arch_text.markers_even);
    else
        md_put(p, &arch_text.one_pass);
}

/* ---- 4 ---- */

static const char *traits(struct page *p, const struct arch_type *type)
{
    static const char *const words[LAYER_KINDS] = {
        "attention and feed-forward, no experts",
        "fused dispatch, expert FFN and combine",
        "grouped expert GEMMs with all-to-all",
        "dispatch and combine in MC2 kernels",
        "grouped expert GEMMs with all-gather",
        "experts with grouped or looped GEMMs",
        "repeated block",
    };

    struct str out =
        arena_format(p->arena, "%s%s%s%s", md_word(p, words[type->kind]),
                     type->is_mla ? md_word(p, ", latent attention") : "",
                     type->has_sampling ? md_word(p, ", includes decode/sampling logic") : "",
                     type->is_tail ? md_word(p, ", decode/MTP after the prefill layers") : "");
    for (size_t i = 0; type->n_variants > 1 && i < type->n_variants; i++)
        if (type->variants[i].layers.n > 0)
            out = MESSAGE(p->lang, p->arena, &arch_text.variant, PLACE("traits", out),
                          PLACE("name", arena_format(p->arena, "%c", type->variants[i].name)),
                          PLACE("layers", type->variants[i].layers),
                          PLACE("kernels", type->variants[i].kernels));
    return arena_cstr(p->arena, out);
}

static void section_4(struct page *p)
{
    md_put(p, &arch_text.section_4);
    if (p->a->types->n == 0) {
        md_put(p, &arch_text.no_layers);
        return;
    }
    md_put(p, &arch_text.type_head);
    md_say(p, "|---|---|---|---:|---|\n");
    for (size_t i = 0; i < p->a->types->n; i++) {
        const struct arch_type *type = &p->a->types->at[i];
        md_say(p, "| %s | %s | %s | %zu | %s |\n", md_word(p, layer_kind_name(type->kind)),
               md_word(p, arch_phase_name(type->phase)), arena_cstr(p->arena, type->layers),
               type->count_per_pass, traits(p, type));
    }
    md_put(p, p->a->layers->method == ARCH_MARKER ? &arch_text.cut_at_attention
                                                  : &arch_text.cut_at_repeats);
}

/* ---- 5 ---- */

static void section_5(struct page *p)
{
    md_put(p, &arch_text.section_5);
    if (p->a->n_checks == 0) {
        md_put(p, &arch_text.no_checks);
        return;
    }
    md_put(p, &arch_text.check_head);
    md_say(p, "|---|---:|---:|---|---|\n");
    for (size_t i = 0; i < p->a->n_checks; i++) {
        const struct arch_check *c = &p->a->checks[i];
        struct str counts = arena_format(p->arena, "%zu", c->n > 0 ? c->per_pass[0] : 0);
        for (size_t k = 1; k < c->n && k < 16 && counts.n < 100; k++)
            if (c->per_pass[k] != c->per_pass[0] || !c->is_ok)
                counts = arena_format(p->arena, "%.*s, %zu", STR_ARGS(counts), c->per_pass[k]);
        md_say(p, "| `%s` | %s | ", md_cell(p, c->op), counts.at);
        if (c->expected >= 0)
            md_say(p, "%lld", (long long)c->expected);
        md_say(p, " | %s | %s |\n", md_word(p, c->is_ok ? "ok" : "**mismatch**"),
               wording_in(p, c->note));
    }
    md_put(p, p->a->n_failed == 0 ? &arch_text.checks_agree : &arch_text.checks_contradict);
}

/* ---- 6 ---- */

static void say_breakdown(struct page *p, const struct arch_type *type)
{
    const struct arch_layer *layer = &p->a->layers->at[type->representative];
    nanos wall = arch_span(layer->at), idle = nanos_sub(wall, layer->busy);

    md_put(p, &arch_text.role_head);
    md_say(p, "|---|---:|---:|---:|---|\n");
    for (size_t i = 0; i < type->n_roles; i++) {
        const struct arch_role *role = &type->roles[i];
        md_say(p, "| %s | %s | %.1f %% | %zu | ", md_word(p, role->name), ms(p, (double)role->wall),
               wall > 0 ? 100 * (double)role->wall / (double)wall : 0, role->kernels);
        for (size_t k = 0; k < role->n_lanes && k < 8; k++)
            md_say(p, "%s`%s`", k > 0 ? ", " : "", md_cell(p, role->streams[k]));
        md_say(p, " |\n");
    }
    md_say(p, "| %s | %s | %.1f %% | %zu | |\n", md_word(p, "busy union"),
           ms(p, (double)layer->busy), wall > 0 ? 100 * (double)layer->busy / (double)wall : 0,
           layer->end - layer->first);
    md_say(p, "| %s | %s | %.1f %% | | |\n\n", md_word(p, "idle"), ms(p, (double)idle),
           wall > 0 ? 100 * (double)idle / (double)wall : 0);
}

static void say_last(struct page *p, const struct arch_type *last)
{
    const struct arch_layer *layer = &p->a->layers->at[last->representative];

    PUT(p, &arch_text.last_title, PLACE("n", p->a->types->n + 1), PLACE("type", title(p, last)),
        PLACE("pass", p->a->layers->passes[layer->pass].number), PLACE("layer", layer->index));
    md_put(p, last->has_sampling ? &arch_text.last_samples : &arch_text.last_ends);
    md_draw(p, arch_draw_tree(p->st, p->a, last, p->lang));
    say_breakdown(p, last);
    for (size_t i = 0; i < last->n_roles; i++)
        for (size_t k = 0; k < last->roles[i].n_ops; k++)
            if (p->a->ops->at[last->roles[i].ops[k].op].is_aicpu)
                md_say(p, "**AICPU**: `%s` × %zu\n\n",
                       md_cell(p, p->a->ops->at[last->roles[i].ops[k].op].label),
                       last->roles[i].ops[k].count);
}

static void section_6(struct page *p)
{
    md_put(p, &arch_text.section_6);
    if (p->a->types->n == 0)
        md_put(p, &arch_text.no_trees);
    for (size_t i = 0; i < p->a->types->n; i++) {
        const struct arch_type *type = &p->a->types->at[i];
        const struct arch_layer *layer = &p->a->layers->at[type->representative];
        PUT(p, &arch_text.type_title, PLACE("n", i + 1), PLACE("type", title(p, type)),
            PLACE("layers", type->layers));
        PUT(p, &arch_text.representative, PLACE("pass", p->a->layers->passes[layer->pass].number),
            PLACE("layer", layer->index));
        md_draw(p, arch_draw_tree(p->st, p->a, type, p->lang));
        PUT(p, &arch_text.type_kernels, PLACE("median", type->kernels.median),
            PLACE("min", type->kernels.min), PLACE("max", type->kernels.max));
        PUT(p, &arch_text.type_wall, PLACE("median", ms(p, type->wall.median)),
            PLACE("p10", ms(p, type->wall.p10)), PLACE("p90", ms(p, type->wall.p90)));
        PUT(p, &arch_text.dominant, PLACE("op", md_cell(p, p->a->ops->at[type->dominant].label)),
            PLACE("share", 100 * type->dominant_share));
        say_breakdown(p, type);
        for (size_t k = 0; k < type->n_anomalies; k++)
            PUT(p, &arch_text.anomaly, PLACE("text", wording_in(p, type->anomalies[k])));
        if (type->n_anomalies > 0)
            md_say(p, "\n");
    }
    if (p->a->types->last != NULL)
        say_last(p, p->a->types->last);
}

/* ---- 7 ---- */

static const struct arch_type *biggest(const struct arch *a, enum arch_phase phase)
{
    const struct arch_type *found = NULL;

    for (size_t i = 0; i < a->types->n; i++)
        if (a->types->at[i].phase == phase &&
            (found == NULL || a->types->at[i].count > found->count))
            found = &a->types->at[i];
    return found;
}

static void section_7(struct page *p)
{
    const struct arch_type *decode = biggest(p->a, PHASE_DECODE);
    const struct arch_type *prefill = biggest(p->a, PHASE_PREFILL);

    md_put(p, &arch_text.section_7);
    if (decode == NULL) {
        md_put(p, prefill != NULL ? &arch_text.prefill_only : &arch_text.no_decode);
        return;
    }
    PUT(p, &arch_text.decode_type, PLACE("type", title(p, decode)),
        PLACE("layers", decode->layers));
    md_draw(p, arch_draw_tree(p->st, p->a, decode, p->lang));
    say_breakdown(p, decode);
    if (prefill != NULL)
        PUT(p, &arch_text.prefill_to_decode, PLACE("from", ms(p, prefill->attention.median)),
            PLACE("to", ms(p, decode->attention.median)),
            PLACE("layer_from", ms(p, prefill->wall.median)),
            PLACE("layer_to", ms(p, decode->wall.median)));
    PUT(p, &arch_text.what_dominates,
        PLACE("op", md_cell(p, p->a->ops->at[decode->dominant].label)),
        PLACE("share", 100 * decode->dominant_share));
}

/* ---- 8 ---- */

static void say_overlaps(struct page *p)
{
    const struct arch_comm *c = p->a->comm;

    if (c->comm_union == 0) {
        md_put(p, &arch_text.no_comm);
        return;
    }
    PUT(p, &arch_text.comm_hidden, PLACE("union", ms(p, (double)c->comm_union)),
        PLACE("hidden", 100 * c->hidden_fraction),
        PLACE("how", md_word(p, arch_hidden_name(c->hidden_fraction))),
        PLACE("exposed", ms(p, (double)c->exposed)), PLACE("sum", ms(p, (double)c->comm_sum)),
        PLACE("by_sum", 100 * c->hidden_by_sum));
    if (c->told_ops > 0)
        PUT(p, &arch_text.comm_told, PLACE("n", c->told_ops),
            PLACE("time", ms(p, (double)c->told_elapse)), PLACE("size", c->told_megabytes),
            PLACE("rate", c->told_gbps));
    else
        md_put(p, &arch_text.comm_not_told);
}

static void section_8(struct page *p)
{
    const struct arch_comm *c = p->a->comm;

    md_put(p, &arch_text.section_8);
    if (c->n_streams == 0) {
        md_put(p, &arch_text.no_streams);
        return;
    }
    md_put(p, &arch_text.stream_head);
    md_say(p, "|---|---|---:|---:|---:|\n");
    for (size_t i = 0; i < c->n_streams && i < 64; i++) {
        const struct arch_stream *s = &c->streams[i];
        md_say(p, "| `%s` | %s | %zu | %s | ", md_cell(p, s->name), md_word(p, s->purpose),
               s->kernels, ms(p, (double)s->busy));
        if (s->main_overlap >= 0)
            md_say(p, "%.1f %%", 100 * s->main_overlap);
        md_say(p, " |\n");
    }
    md_say(p, "\n");
    say_overlaps(p);
    PUT(p, c->sum_over_wall > 1 ? &arch_text.sum_above_wall : &arch_text.sum_over_wall,
        PLACE("sum", ms(p, (double)c->kernel_sum)), PLACE("wall", ms(p, (double)c->wall)),
        PLACE("ratio", c->sum_over_wall));
    struct drawing pipeline = arch_draw_pipeline(p->st, p->a, p->lang);
    if (pipeline.n > 0)
        md_draw(p, pipeline);
}

/* ---- 9 ---- */

static const char *likely_cause(const struct arch_type *type)
{
    if (type->count < 2)
        return "one layer only";
    if (type->wall.ratio < 0.05)
        return "even";
    if (type->dfc.mean > 0 && type->dfc.deviation > 0.5 * type->wall.deviation)
        return "expert load differs from layer to layer (inferred)";
    if (type->attention.deviation > 0.5 * type->wall.deviation)
        return "attention length differs (inferred)";
    if (type->kernels.max > type->kernels.min)
        return "extra kernels in some layers";
    return "gaps or communication differ (inferred)";
}

static void section_9(struct page *p)
{
    md_put(p, &arch_text.section_9);
    if (p->a->types->n == 0) {
        md_put(p, &arch_text.no_variation);
        return;
    }
    md_put(p, &arch_text.variation_head);
    md_say(p, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < p->a->types->n; i++) {
        const struct arch_type *t = &p->a->types->at[i];
        md_say(p,
               "| %s | %zu | %s | %s–%s | %.1f %% | %.1f %% | %s | %s | %.0f (%.0f–%.0f) | %s |\n",
               title(p, t), t->count, ms(p, t->wall.median), ms(p, t->wall.min), ms(p, t->wall.max),
               t->wall.mean > 0 ? 100 * t->wall.deviation / t->wall.mean : 0,
               100 * t->attention_share.median, t->dfc.max > 0 ? ms(p, t->dfc.median) : "–",
               ms(p, t->post.median), t->kernels.median, t->kernels.min, t->kernels.max,
               md_word(p, likely_cause(t)));
    }
    md_put(p, &arch_text.spread);
}

/* ---- 10 ---- */

static void section_10(struct page *p)
{
    md_put(p, &arch_text.section_10);
    md_draw(p, arch_draw_model(p->st, p->a, p->lang));
    struct drawing timeline = arch_draw_timeline(p->st, p->a, p->lang);
    if (timeline.n > 0)
        md_draw(p, timeline);
    else
        md_put(p, &arch_text.no_timeline);
}

void arch_write_md(struct study *st, const struct arch *a, enum lang lang, struct text *out)
{
    static void (*const sections[])(struct page * p) = {
        section_1, section_2, section_3, section_4, section_5,
        section_6, section_7, section_8, section_9, section_10,
    };
    struct page p = {st, a, &st->scratch, lang, out};

    PUT(&p, &arch_text.title, PLACE("name", md_cell(&p, str_of(st->cap->name))));
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        sections[i](&p);
}
