/*
 * The block that every report begins with. See report.h.
 */
#include "gpu/judge/report.h"

#include <math.h>
#include <stdio.h>

#include "text/gpu.h"

enum { TOP = 3 };

struct str gpu_report_said(const struct gpu_run *run, enum lang lang, struct str english)
{
    /* The arena grows by what is said; a report is written once or twice. */
    return message_translate(lang, (struct arena *)&run->arena, english,
                             (const struct message *)&gpu_text,
                             sizeof(gpu_text) / sizeof(struct message));
}

static void report_put(struct text *t, enum lang lang, const struct message *m)
{
    text_put(t, message_in(lang, m));
}

#define PUT(text_, lang_, message_, ...)                                                           \
    message_put((text_), (lang_), (message_), PLACES(__VA_ARGS__))

static void configuration(const struct gpu_run *run, enum lang lang, struct text *t)
{
    static const char *const usual[] = {"b", "s", "t"};
    const struct gpu_param *dtype = gpu_params_get(&run->params, "dtype");
    const struct gpu_param *shown[64];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (gpu_params_get(&run->params, usual[i]) != NULL)
            shown[n++] = gpu_params_get(&run->params, usual[i]);
    for (size_t i = 0; n == 0 && i < run->params.list.n && i < ARRAY_LEN(shown) - 1; i++)
        if (&run->params.list.at[i] != dtype)
            shown[n++] = &run->params.list.at[i];
    report_put(t, lang, &gpu_text.configuration);
    for (size_t i = 0; i < n; i++)
        markdown_cell(t, shown[i]->name);
    text_format(t, "| dtype |\n");
    for (size_t i = 0; i < n; i++)
        text_format(t, "|---");
    text_format(t, "|-------|\n");
    for (size_t i = 0; i < n; i++)
        markdown_cell(t, shown[i]->text);
    markdown_cell(t, dtype != NULL ? dtype->text : S(MARKDOWN_DASH));
    text_format(t, "|\n\n");
}

const char *gpu_report_class(const struct gpu_class *given, enum lang lang, char buf[96])
{
    const struct gpu_class shown = gpu_class_shown(given), *c = &shown;
    bool is_marked = c->is_model && c->bound != GPU_UNPROVEN && strcmp(c->sub, "model") != 0;
    struct str bound = message_word(lang, str_of(gpu_bound_name(c->bound)));
    struct str sub = message_word(lang, str_of(c->sub));

    snprintf(buf, 96, "%.*s (%.*s%s%s)", STR_ARGS(bound), STR_ARGS(sub),
             c->is_weak ? message_word(lang, S(", weak")).at : "",
             is_marked ? message_word(lang, S(", model")).at : "");
    return buf;
}

/* What stands in the way first; or that a unit is as busy as it gets. */
static struct str key_issue(const struct gpu_run *run, const struct gpu_stage *s, enum lang lang)
{
    const struct gpu_opportunities *o = &s->opportunities;
    const char *unit;

    if (o->all.n > 0 && o->all.at[0].is_ranked)
        return gpu_report_said(run, lang, o->all.at[0].trigger);
    const char *lacks = s->main != NULL ? gpu_kernel_lacks(s->main) : NULL;
    if (lacks != NULL) /* what was not counted is not ruled out */
        return MESSAGE(lang, (struct arena *)&run->arena, &gpu_text.lacks,
                       PLACE("what", message_word(lang, str_of(lacks))));
    double busy = gpu_stage_limit(s, &unit);
    if (isnan(busy))
        return S(MARKDOWN_DASH);
    return MESSAGE(lang, (struct arena *)&run->arena, &gpu_text.at_limit, PLACE("unit", unit),
                   PLACE("busy", busy));
}

static void stages(const struct gpu_run *run, enum lang lang, struct text *t)
{
    report_put(t, lang, &gpu_text.stages);
    text_put(t, S("|-------|---------------|-----|-------|------|------------|-----------|\n"));
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_kernel none = gpu_kernel_none(), *k = s->main != NULL ? s->main : &none;
        char class[96];
        markdown_row(t, "s2111cs", s->name, s->dur_ns / 1e3, k->m[GPU_M_TC_PCT],
                     k->m[GPU_M_DRAM_PCT], k->m[GPU_M_OCC],
                     gpu_report_class(&s->class, lang, class), key_issue(run, s, lang));
    }
    text_char(t, '\n');
}

/* Why warps wait: too few of them, or what they wait for. */
static void latency_cause(const struct gpu_stage *s, const struct gpu_kernel *k, const char *sub,
                          enum lang lang, struct text *t)
{
    if (strcmp(sub, "underfill") == 0)
        PUT(t, lang, &gpu_text.cause_underfill, PLACE("waves", gpu_waves(k, &s->occupancy)));
    else if (strcmp(sub, "launch") == 0)
        PUT(t, lang, &gpu_text.cause_launch, PLACE("us", k->m[GPU_M_DUR_NS] / 1e3));
    else if (strcmp(sub, "tail") == 0)
        PUT(t, lang, &gpu_text.cause_tail, PLACE("waves", gpu_waves(k, &s->occupancy)));
    else if (strcmp(sub, "spill") == 0)
        PUT(t, lang, &gpu_text.cause_spill, PLACE("bytes", 32 * gpu_local_sectors(k)));
    else if (strcmp(sub, "occupancy") == 0)
        PUT(t, lang, &gpu_text.cause_occupancy, PLACE("occ", k->m[GPU_M_OCC]));
    else if (strcmp(sub, "unknown") == 0)
        report_put(t, lang, k->n_stalls > 1 ? &gpu_text.cause_hidden : &gpu_text.cause_unknown);
    else
        PUT(t, lang, &gpu_text.cause_stall, PLACE("stall", sub));
}

void gpu_report_cause(const struct gpu_stage *s, enum lang lang, struct text *t)
{
    const struct gpu_class shown = gpu_class_shown(&s->class), *c = &shown;
    struct gpu_kernel none = gpu_kernel_none();
    const struct gpu_kernel *k = s->main != NULL ? s->main : &none;
    const char *pipe, *level;
    double comp = gpu_compute_pct(k, &pipe), chip = gpu_chip_pct(k, &level);
    struct str weak = c->is_weak ? message_in(lang, &gpu_text.nearest) : S("");

    if (c->bound == GPU_UNPROVEN)
        report_put(t, lang,
                   c->is_model                           ? &gpu_text.cause_no_counters
                   : strcmp(c->sub, "few counters") == 0 ? &gpu_text.cause_few_counters
                                                         : &gpu_text.cause_borderline);
    else if (c->is_model && c->bound != GPU_LATENCY)
        PUT(t, lang, &gpu_text.cause_model, PLACE("ai", s->roofline.ai),
            PLACE("ridge", s->roofline.ridge));
    else if (strcmp(c->sub, "balanced") == 0)
        PUT(t, lang, &gpu_text.cause_balanced, PLACE("dram", k->m[GPU_M_DRAM_PCT]),
            PLACE("pipe", pipe), PLACE("busy", comp));
    else if (strcmp(c->sub, "dram") == 0)
        PUT(t, lang, &gpu_text.cause_dram, PLACE("weak", weak),
            PLACE("busy", k->m[GPU_M_DRAM_PCT]));
    else if (strcmp(c->sub, "l1") == 0 || strcmp(c->sub, "l2") == 0)
        PUT(t, lang, &gpu_text.cause_cache, PLACE("weak", weak),
            PLACE("cache", c->sub[1] == '1' ? "L1" : "L2"), PLACE("busy", chip));
    else if (strcmp(c->sub, "issue") == 0)
        PUT(t, lang, &gpu_text.cause_issue, PLACE("share", k->m[GPU_M_ISSUE_PCT]));
    else if (strcmp(c->sub, "sm") == 0)
        PUT(t, lang, &gpu_text.cause_sm, PLACE("weak", weak), PLACE("busy", comp));
    else if (c->bound == GPU_COMPUTE)
        PUT(t, lang, &gpu_text.cause_pipe, PLACE("weak", weak), PLACE("pipe", pipe),
            PLACE("busy", comp));
    else
        latency_cause(s, k, c->sub, lang, t);
}

/* A name inside a sentence: what ends one in it must not look like its end. */
static void name_in_sentence(struct text *t, struct str name)
{
    char *kept = mem_grow(NULL, 1, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        bool is_blank = (unsigned char)name.at[i] <= ' ';
        bool is_end = i > 0 && strchr(".!?", name.at[i - 1]) != NULL;
        if (!(is_blank && is_end))
            kept[n++] = name.at[i];
    }
    markdown_line(t, (struct str){kept, n});
    mem_free(kept);
}

static const struct message *const bound_heads[GPU_BOUNDS] = {
    &gpu_text.memory_bound, &gpu_text.compute_bound, &gpu_text.latency_bound, &gpu_text.unknown};

static void bottleneck(const struct gpu_run *run, enum lang lang, struct text *t)
{
    bool is_mixed;
    const struct gpu_stage *s = gpu_run_main_stage(run, &is_mixed);

    if (s == NULL) {
        report_put(t, lang, &gpu_text.not_measured);
        return;
    }
    struct text name = {0};
    name_in_sentence(&name, s->name);
    enum gpu_bound bound = gpu_class_shown(&s->class).bound;
    report_put(t, lang, bound_heads[bound]);
    if (run->stages.n > 1)
        PUT(t, lang, s->dur_ns > 0 ? &gpu_text.in_stage : &gpu_text.in_stage_untimed,
            PLACE("stage", text_view(&name)), PLACE("share", 100 * s->share));
    text_free(&name);
    gpu_report_cause(s, lang, t);
    bool is_end = !is_mixed && bound == GPU_UNPROVEN;
    report_put(t, lang, is_end ? &gpu_text.end : &gpu_text.full_stop);
    if (is_mixed) {
        report_put(t, lang, &gpu_text.mixed);
        for (size_t i = 0; i < run->stages.n; i++) {
            text_format(t, "%s", i > 0 ? ", " : "");
            name_in_sentence(t, run->stages.at[i].name);
            enum gpu_bound one = gpu_class_shown(&run->stages.at[i].class).bound;
            text_format(t, " %.*s", STR_ARGS(message_word(lang, str_of(gpu_bound_name(one)))));
        }
        if (bound != GPU_UNPROVEN)
            PUT(t, lang, &gpu_text.mixed_confidence, PLACE("confidence", s->class.confidence));
        else
            report_put(t, lang, &gpu_text.end);
    } else if (bound != GPU_UNPROVEN) {
        PUT(t, lang, &gpu_text.confidence, PLACE("confidence", s->class.confidence),
            PLACE("compute", s->class.no_compute ? message_in(lang, &gpu_text.no_compute) : S("")),
            PLACE("chip", s->class.no_chip ? message_in(lang, &gpu_text.no_chip) : S("")),
            PLACE("locality",
                  s->class.has_locality_issue ? message_in(lang, &gpu_text.locality) : S("")));
    }
    text_format(t, "\n\n");
}

static void opportunities(const struct gpu_run *run, enum lang lang, struct text *t)
{
    struct gpu_opportunity top[TOP];
    size_t n = gpu_run_top(run, top, TOP);

    report_put(t, lang, &gpu_text.top);
    for (size_t i = 0; i < n; i++) {
        struct text name = {0}, trigger = {0};
        markdown_line(&name, gpu_report_said(run, lang, top[i].name));
        markdown_line(&trigger, gpu_report_said(run, lang, top[i].trigger));
        PUT(t, lang, &gpu_text.opportunity, PLACE("n", i + 1), PLACE("name", text_view(&name)),
            PLACE("gain", top[i].gain), PLACE("trigger", text_view(&trigger)));
        text_free(&name);
        text_free(&trigger);
    }
    if (n == 0) { /* how near the main stage is to what is possible */
        const struct gpu_stage *s = gpu_run_main_stage(run, NULL);
        double reached = s != NULL && s->main != NULL ? s->roofline.pct_roof : NAN;
        struct text roof = {0};
        const char *unit;
        if (s != NULL && s->main != NULL && isnan(reached))
            reached = gpu_kernel_limit(s->main, &unit);
        markdown_number(&roof, reached, 1);
        PUT(t, lang, &gpu_text.no_opportunity, PLACE("roof", text_view(&roof)));
        text_free(&roof);
    }
}

static void changes(const struct gpu_run *run, enum lang lang, struct text *t)
{
    if (run->changes.n == 0)
        return;
    report_put(t, lang, &gpu_text.vs_baseline);
    text_format(t, "|--------|----------|---------|--------|\n");
    for (size_t i = 0; i < run->changes.n; i++) {
        const struct gpu_change *c = &run->changes.at[i];
        markdown_row(t, "ssss", message_word(lang, c->metric),
                     gpu_report_said(run, lang, c->previous),
                     gpu_report_said(run, lang, c->current), gpu_report_said(run, lang, c->change));
    }
}

void gpu_report_block(const struct gpu_run *run, enum lang lang, struct text *t)
{
    report_put(t, lang, &gpu_text.profile);
    markdown_line(t, run->kernel.n > 0 ? run->kernel : S("kernel"));
    text_format(t, " ");
    markdown_line(t, run->version.n > 0 ? run->version : S("base"));
    text_format(t, "\n\n");
    configuration(run, lang, t);
    stages(run, lang, t);
    bottleneck(run, lang, t);
    opportunities(run, lang, t);
    changes(run, lang, t);
}

void gpu_report_write(const struct gpu_run *run, enum lang lang, struct text *t)
{
    gpu_report_block(run, lang, t);
    gpu_report_sections(run, lang, t);
}
