/*
 * The architecture report as Markdown: ten sections, all of them always, in a fixed order. Every
 * number here is also in the JSON twin (arch_json.c).
 */
#include <math.h>
#include <stdarg.h>

#include "analysis/arch.h"
#include "analysis/arch_draw.h"
#include "analysis/steps.h"
#include "analysis/study.h"
#include "base/markdown.h"

struct page {
    struct study *st;
    const struct arch *a;
    struct arena *arena;
    struct text *out;
};

static void say(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct page *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_put(p->out, arena_vformat(p->arena, format, args));
    va_end(args);
}

static const char *cell(struct page *p, struct str text)
{
    return markdown_plain(p->arena, text);
}

static const char *ms(struct page *p, double ns)
{
    return arch_ms(p->arena, ns).at;
}

static const char *stream(struct page *p, uint32_t lane)
{
    return cell(p, arch_stream_name(p->st, lane));
}

static void draw(struct page *p, struct drawing d)
{
    say(p, "```\n");
    for (size_t i = 0; i < d.n; i++)
        say(p, "%s\n", arena_cstr(p->arena, d.lines[i]));
    say(p, "```\n\n");
}

/* ---- 1 ---- */

static void say_config(struct page *p)
{
    const struct arch_config *c = p->a->config;

    if (c->n == 0) {
        say(p, "Sizes of the model and of the run: nothing in the capture tells them.\n\n");
        return;
    }
    say(p, "| Configuration | Value | Origin | Confidence | Evidence |\n|---|---:|---|---:|---|\n");
    for (size_t i = 0; i < c->n; i++) {
        const struct config_item *item = &c->at[i];
        say(p, "| %s | ", item->title);
        if (item->number >= 0)
            say(p, "%lld", (long long)item->number);
        else
            say(p, "`%s`", cell(p, item->text));
        say(p, " | %s | %.0f %% | %s |\n", origin_name(item->origin), 100 * item->confidence,
            arena_cstr(p->arena, item->evidence));
    }
    say(p, "\n");
}

static void section_1(struct page *p)
{
    const struct steps *steps = study_steps(p->st);
    const struct arch_layers *l = p->a->layers;
    const struct arch_markers *m = p->a->markers;

    say(p, "## 1. Configuration Context\n\n");
    say(p, "| Item | Value |\n|---|---|\n");
    say(p, "| capture | `%s` |\n", cell(p, str_of(p->st->cap->name)));
    if (p->st->cap->facts.rank >= 0)
        say(p, "| rank | %lld |\n", (long long)p->st->cap->facts.rank);
    say(p, "| parallelism | %s |\n",
        p->a->config->parallelism.n > 0 ? cell(p, p->a->config->parallelism)
                                        : "not told by the capture");
    say(p, "| scope | %zu %s (`%s`) |\n", steps->n,
        steps->source == STEPS_PSEUDO ? "pseudo-step, the whole device span" : "steps",
        step_source_name(steps->source));
    say(p, "| device span | %s ms |\n", ms(p, (double)(arch_span(p->a->device))));
    say(p, "| kernels | %zu |\n| streams | %zu |\n", study_kernels(p->st).n, p->a->comm->n_streams);
    if (l->method == ARCH_NONE)
        say(p, "| model | structure not told |\n\n");
    else
        say(p,
            "| model | %s, **%zu layers per pass**, %zu %s (%zu prefill + %zu decode "
            "markers) |\n\n",
            l->is_training ? "training run" : "inference run", arch_layers_of_model(l), l->complete,
            l->complete == 1 ? "pass" : "passes", m->prefill, m->decode);
    say_config(p);
}

/* ---- 2 ---- */

static void section_2(struct page *p)
{
    say(p, "## 2. Model Architecture Determination\n\n");
    say(p, "Method: `%s`, marker %s%s%s, main stream `%s`, **confidence %.2f**.\n\n",
        arch_method_name(p->a->layers->method), p->a->markers->n > 0 ? "`" : "",
        p->a->markers->n > 0 ? cell(p, p->a->markers->name) : "none",
        p->a->markers->n > 0 ? "`" : "",
        study_kernels(p->st).n > 0 ? stream(p, p->a->markers->main_lane) : "", p->a->confidence);
    say(p, "| Evidence | Value | Interpretation | Origin |\n|---|---:|---|---|\n");
    for (size_t i = 0; i < p->a->n_evidence; i++) {
        const struct arch_evidence *e = &p->a->evidence[i];
        say(p, "| %s | %s | %s | %s |\n", arena_cstr(p->arena, e->what),
            arena_cstr(p->arena, e->value), arena_cstr(p->arena, e->meaning),
            origin_name(e->origin));
    }
    say(p, "\n");
    for (size_t i = 0; i < p->a->n_notes; i++)
        say(p, "- %s\n", arena_cstr(p->arena, p->a->notes[i]));
    if (p->a->n_notes > 0)
        say(p, "\n");
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

    say(p, "| %s%zu | ", pass->is_partial ? "partial " : "", pass->number);
    if (pass->markers > 0)
        say(p, "#%zu–#%zu", pass->marker_first, pass->marker_first + pass->markers - 1);
    else
        say(p, "–");
    say(p, " | %.3f–%.3f | %s | %s | %s | %s | %zu |\n", from, to,
        ms(p, (double)(arch_span(pass->at))), average(p, pass, PHASE_PREFILL),
        average(p, pass, PHASE_DECODE), average(p, pass, PHASE_UNKNOWN), pass->end - pass->first);
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

    say(p, "## 3. Forward Pass Boundaries\n\n");
    if (l->n_passes == 0) {
        say(p, "No passes: the capture shows neither markers nor repetition.\n\n");
        return;
    }
    say(p, "| Pass | Marker range | Time span (s) | Wall (ms) | Avg prefill marker (ms) | Avg "
           "decode marker (ms) | Avg other marker (ms) | Kernels |\n"
           "|---|---|---|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < shown; i++)
        say_pass(p, &l->passes[i]);
    say(p, "\n");
    if (shown < l->n_passes)
        say(p, "The first passes are shown; all of them are in the JSON twin.\n\n");
    if (l->complete > 1)
        say(p, "%s\n\n",
            grows(p) ? "Marker durations grow from pass to pass: **KV cache growth likely**."
                     : "Marker durations show no steady growth from pass to pass.");
    else
        say(p, "One pass only: nothing can be said across passes.\n\n");
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

    struct str out = arena_format(p->arena, "%s%s%s%s", words[type->kind],
                                  type->is_mla ? ", latent attention" : "",
                                  type->has_sampling ? ", includes decode/sampling logic" : "",
                                  type->is_tail ? ", decode/MTP after the prefill layers" : "");
    for (size_t i = 0; type->n_variants > 1 && i < type->n_variants; i++)
        if (type->variants[i].layers.n > 0)
            out = arena_format(p->arena, "%.*s; variant %c: layers %.*s (%zu kernels)",
                               STR_ARGS(out), type->variants[i].name,
                               STR_ARGS(type->variants[i].layers), type->variants[i].kernels);
    return out.at;
}

static void section_4(struct page *p)
{
    say(p, "## 4. Layer Classification\n\n");
    if (p->a->types->n == 0) {
        say(p, "No layers were told apart.\n\n");
        return;
    }
    say(p,
        "| Layer Type | Phase | Layer range | Count | Characteristics |\n|---|---|---|---:|---|\n");
    for (size_t i = 0; i < p->a->types->n; i++) {
        const struct arch_type *type = &p->a->types->at[i];
        say(p, "| %s | %s | %s | %zu | %s |\n", layer_kind_name(type->kind),
            arch_phase_name(type->phase), arena_cstr(p->arena, type->layers), type->count_per_pass,
            traits(p, type));
    }
    say(p, "\n%s\n\n",
        p->a->layers->method == ARCH_MARKER
            ? "A layer is cut at the start of its attention: it also holds the preparation of the "
              "next layer."
            : "Layers are repeated blocks; where in a block attention begins is not known.");
}

/* ---- 5 ---- */

static void section_5(struct page *p)
{
    say(p, "## 5. Cross-Verification Table\n\n");
    if (p->a->n_checks == 0) {
        say(p, "Nothing to verify: counts are compared per complete pass of marked layers.\n\n");
        return;
    }
    say(p,
        "| Op | Per-pass count | Expected | Verdict | Interpretation |\n|---|---:|---:|---|---|\n");
    for (size_t i = 0; i < p->a->n_checks; i++) {
        const struct arch_check *c = &p->a->checks[i];
        struct str counts = arena_format(p->arena, "%zu", c->n > 0 ? c->per_pass[0] : 0);
        for (size_t k = 1; k < c->n && k < 16 && counts.n < 100; k++)
            if (c->per_pass[k] != c->per_pass[0] || !c->is_ok)
                counts = arena_format(p->arena, "%.*s, %zu", STR_ARGS(counts), c->per_pass[k]);
        say(p, "| `%s` | %s | ", cell(p, c->op), counts.at);
        if (c->expected >= 0)
            say(p, "%lld", (long long)c->expected);
        say(p, " | %s | %s |\n", c->is_ok ? "ok" : "**mismatch**", arena_cstr(p->arena, c->note));
    }
    say(p, "\n%s\n\n",
        p->a->n_failed == 0 ? "All counts agree with the layers."
                            : "**Some counts contradict the layers.**");
}

/* ---- 6 ---- */

static void say_breakdown(struct page *p, const struct arch_type *type)
{
    const struct arch_layer *layer = &p->a->layers->at[type->representative];
    nanos wall = arch_span(layer->at), idle = nanos_sub(wall, layer->busy);

    say(p, "| Component | Wall time (ms) | Share of layer | Kernels | Streams |\n"
           "|---|---:|---:|---:|---|\n");
    for (size_t i = 0; i < type->n_roles; i++) {
        const struct arch_role *role = &type->roles[i];
        say(p, "| %s | %s | %.1f %% | %zu | ", role->name, ms(p, (double)role->wall),
            wall > 0 ? 100 * (double)role->wall / (double)wall : 0, role->kernels);
        for (size_t k = 0; k < role->n_lanes && k < 8; k++)
            say(p, "%s`%s`", k > 0 ? ", " : "", cell(p, role->streams[k]));
        say(p, " |\n");
    }
    say(p, "| busy union | %s | %.1f %% | %zu | |\n", ms(p, (double)layer->busy),
        wall > 0 ? 100 * (double)layer->busy / (double)wall : 0, layer->end - layer->first);
    say(p, "| idle | %s | %.1f %% | | |\n\n", ms(p, (double)idle),
        wall > 0 ? 100 * (double)idle / (double)wall : 0);
}

static void say_type(struct page *p, const struct arch_type *type, size_t number)
{
    const struct arch_layer *layer = &p->a->layers->at[type->representative];

    say(p, "### 6.%zu %s (layers %s)\n\n", number, arch_type_title(p->arena, type).at,
        arena_cstr(p->arena, type->layers));
    say(p, "Representative: pass %zu, layer %zu.\n\n", p->a->layers->passes[layer->pass].number,
        layer->index);
    draw(p, arch_draw_tree(p->st, p->a, type));
    say(p, "- kernels per layer: median %.0f, %.0f–%.0f\n", type->kernels.median, type->kernels.min,
        type->kernels.max);
    say(p, "- wall time: median %s ms, p10–p90 %s–%s ms\n", ms(p, type->wall.median),
        ms(p, type->wall.p10), ms(p, type->wall.p90));
    say(p, "- dominant op: **`%s`**, %.1f %% of kernel time\n\n",
        cell(p, p->a->ops->at[type->dominant].label), 100 * type->dominant_share);
    say_breakdown(p, type);
    for (size_t i = 0; i < type->n_anomalies; i++)
        say(p, "- anomaly: %s\n", arena_cstr(p->arena, type->anomalies[i]));
    if (type->n_anomalies > 0)
        say(p, "\n");
}

static void say_last(struct page *p, const struct arch_type *last)
{
    const struct arch_layer *layer = &p->a->layers->at[last->representative];

    say(p, "### 6.%zu Last layer of a pass (%s, pass %zu, layer %zu)\n\n", p->a->types->n + 1,
        arch_type_title(p->arena, last).at, p->a->layers->passes[layer->pass].number, layer->index);
    say(p, "It ends with the output head%s and has no next layer to prepare.\n\n",
        last->has_sampling ? ", sampling" : "");
    draw(p, arch_draw_tree(p->st, p->a, last));
    say_breakdown(p, last);
    for (size_t i = 0; i < last->n_roles; i++)
        for (size_t k = 0; k < last->roles[i].n_ops; k++)
            if (p->a->ops->at[last->roles[i].ops[k].op].is_aicpu)
                say(p, "**AICPU**: `%s` × %zu\n\n",
                    cell(p, p->a->ops->at[last->roles[i].ops[k].op].label),
                    last->roles[i].ops[k].count);
}

static void section_6(struct page *p)
{
    say(p, "## 6. Per-Layer Sub-Structure\n\n");
    if (p->a->types->n == 0)
        say(p, "No layers, no trees: see section 2 for what was looked for.\n\n");
    for (size_t i = 0; i < p->a->types->n; i++)
        say_type(p, &p->a->types->at[i], i + 1);
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

    say(p, "## 7. Decode Phase Analysis\n\n");
    if (decode == NULL) {
        say(p, "No decode layers in this capture: the scope is %s.\n\n",
            prefill != NULL ? "prefill only" : "not told");
        return;
    }
    say(p, "Type: %s, layers %s.\n\n", arch_type_title(p->arena, decode).at,
        arena_cstr(p->arena, decode->layers));
    draw(p, arch_draw_tree(p->st, p->a, decode));
    say_breakdown(p, decode);
    if (prefill != NULL)
        say(p, "**Attention %s ms → %s ms** from prefill to decode; a layer %s ms → %s ms.\n\n",
            ms(p, prefill->attention.median), ms(p, decode->attention.median),
            ms(p, prefill->wall.median), ms(p, decode->wall.median));
    say(p,
        "What dominates: `%s` with %.1f %% of the kernel time of a layer. Prefill is bound by "
        "compute and bandwidth on long sequences; decode works on few tokens and is bound by "
        "latency, so launches, small kernels and collectives weigh more.\n\n",
        cell(p, p->a->ops->at[decode->dominant].label), 100 * decode->dominant_share);
}

/* ---- 8 ---- */

static void say_overlaps(struct page *p)
{
    const struct arch_comm *c = p->a->comm;

    if (c->comm_union == 0) {
        say(p, "No communication kernels in this capture.\n\n");
        return;
    }
    say(p,
        "Communication takes %s ms (union of all collectives); **%.1f %% of it is hidden** "
        "behind compute (%s), %s ms are exposed. Against the sum of durations (%s ms) the "
        "hidden share is %.1f %%.\n\n",
        ms(p, (double)c->comm_union), 100 * c->hidden_fraction,
        arch_hidden_name(c->hidden_fraction), ms(p, (double)c->exposed), ms(p, (double)c->comm_sum),
        100 * c->hidden_by_sum);
    if (c->told_ops > 0)
        say(p, "The profiler itself tells of %zu collectives, %s ms, %.1f MB, %.2f GB/s.\n\n",
            c->told_ops, ms(p, (double)c->told_elapse), c->told_megabytes, c->told_gbps);
    else
        say(p, "No communication.json: bandwidths are not known.\n\n");
}

static void section_8(struct page *p)
{
    const struct arch_comm *c = p->a->comm;

    say(p, "## 8. Communication Pipeline Structure\n\n");
    if (c->n_streams == 0) {
        say(p, "No streams: there is no device work.\n\n");
        return;
    }
    say(p, "| Stream | Purpose | Kernels | Busy (ms) | Under main compute "
           "|\n|---|---|---:|---:|---:|\n");
    for (size_t i = 0; i < c->n_streams && i < 64; i++) {
        const struct arch_stream *s = &c->streams[i];
        say(p, "| `%s` | %s | %zu | %s | ", cell(p, s->name), s->purpose, s->kernels,
            ms(p, (double)s->busy));
        if (s->main_overlap >= 0)
            say(p, "%.1f %%", 100 * s->main_overlap);
        say(p, " |\n");
    }
    say(p, "\n");
    say_overlaps(p);
    say(p, "Sum of all kernels over wall time: %s ms / %s ms = **%.2f**%s.\n\n",
        ms(p, (double)c->kernel_sum), ms(p, (double)c->wall), c->sum_over_wall,
        c->sum_over_wall > 1 ? ": streams run at the same time" : "");
    struct drawing pipeline = arch_draw_pipeline(p->st, p->a);
    if (pipeline.n > 0)
        draw(p, pipeline);
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
    say(p, "## 9. Layer-to-Layer Variation\n\n");
    if (p->a->types->n == 0) {
        say(p, "No layers to compare.\n\n");
        return;
    }
    say(p, "| Type | Layers | Wall median (ms) | Wall min–max (ms) | Spread | Attention share | "
           "DispatchFFNCombine (ms) | Post-attention (ms) | Kernels per layer | Likely cause |\n"
           "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < p->a->types->n; i++) {
        const struct arch_type *t = &p->a->types->at[i];
        say(p, "| %s | %zu | %s | %s–%s | %.1f %% | %.1f %% | %s | %s | %.0f (%.0f–%.0f) | %s |\n",
            arch_type_title(p->arena, t).at, t->count, ms(p, t->wall.median), ms(p, t->wall.min),
            ms(p, t->wall.max), t->wall.mean > 0 ? 100 * t->wall.deviation / t->wall.mean : 0,
            100 * t->attention_share.median, t->dfc.max > 0 ? ms(p, t->dfc.median) : "–",
            ms(p, t->post.median), t->kernels.median, t->kernels.min, t->kernels.max,
            likely_cause(t));
    }
    say(p, "\nSpread is the standard deviation of the wall time over its mean.\n\n");
}

/* ---- 10 ---- */

static void section_10(struct page *p)
{
    say(p, "## 10. Model Architecture Summary\n\n");
    draw(p, arch_draw_model(p->st, p->a));
    struct drawing timeline = arch_draw_timeline(p->st, p->a);
    if (timeline.n > 0)
        draw(p, timeline);
    else
        say(p, "No timeline: the capture shows no pass.\n");
}

void arch_write_md(struct study *st, const struct arch *a, struct text *out)
{
    static void (*const sections[])(struct page * p) = {
        section_1, section_2, section_3, section_4, section_5,
        section_6, section_7, section_8, section_9, section_10,
    };
    struct page p = {st, a, &st->scratch, out};

    say(&p, "# Model Architecture Report: %s\n\n", cell(&p, str_of(st->cap->name)));
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        sections[i](&p);
}
