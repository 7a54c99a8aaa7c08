/*
 * The block that every report begins with. See report.h.
 */
#include "gpu/report.h"

#include <math.h>
#include <stdio.h>

enum { TOP = 3 };

static void configuration(const struct gpu_run *run, struct text *t)
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
    text_format(t, "### Configuration\n");
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

/* "Memory (dram, weak)" */
static const char *class_text(const struct gpu_class *c, char buf[64])
{
    bool is_marked = c->is_model && strcmp(c->sub, "model") != 0;

    snprintf(buf, 64, "%s (%s%s%s)", gpu_bound_name(c->bound), c->sub, c->is_weak ? ", weak" : "",
             is_marked ? ", model" : "");
    return buf;
}

static void stages(const struct gpu_run *run, struct text *t)
{
    text_put(t, S("### Stages\n"
                  "| Stage | Duration (us) | TC% | DRAM% | Occ% | Bottleneck | Key Issue |\n"
                  "|-------|---------------|-----|-------|------|------------|-----------|\n"));
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_opportunities *o = &s->opportunities;
        const struct gpu_kernel none = gpu_kernel_none(), *k = s->main != NULL ? s->main : &none;
        char class[64];
        markdown_row(t, "s2111cs", s->name, s->dur_ns / 1e3, k->m[GPU_M_TC_PCT],
                     k->m[GPU_M_DRAM_PCT], k->m[GPU_M_OCC], class_text(&s->class, class),
                     o->all.n > 0 && o->all.at[0].is_ranked ? o->all.at[0].trigger
                                                            : S(MARKDOWN_DASH));
    }
    text_char(t, '\n');
}

/* Why, in one sentence, from the rule that decided. */
static void cause(const struct gpu_stage *s, struct text *t)
{
    const struct gpu_class *c = &s->class;
    struct gpu_kernel none = gpu_kernel_none();
    const struct gpu_kernel *k = s->main != NULL ? s->main : &none;
    const char *pipe, *level;
    double comp = gpu_compute_pct(k, &pipe), chip = gpu_chip_pct(k, &level);
    const char *weak = c->is_weak ? "nearest to its limit is " : "";

    if (c->is_model && c->bound != GPU_LATENCY)
        text_format(t, "by its formulas the work does %.1f FLOP per byte against a ridge of %.1f",
                    s->roofline.ai, s->roofline.ridge);
    else if (strcmp(c->sub, "balanced") == 0)
        text_format(t, "device memory (%.1f%%) and the %s pipe (%.1f%%) are both at their limits",
                    k->m[GPU_M_DRAM_PCT], pipe, comp);
    else if (strcmp(c->sub, "dram") == 0)
        text_format(t, "%sdevice memory, busy %.1f%% of the time", weak, k->m[GPU_M_DRAM_PCT]);
    else if (strcmp(c->sub, "l1") == 0 || strcmp(c->sub, "l2") == 0)
        text_format(t, "%sthe %s cache, busy %.1f%% of the time", weak,
                    c->sub[1] == '1' ? "L1" : "L2", chip);
    else if (strcmp(c->sub, "issue") == 0)
        text_format(t, "the schedulers issue in %.1f%% of the cycles", k->m[GPU_M_ISSUE_PCT]);
    else if (strcmp(c->sub, "sm") == 0)
        text_format(t, "%sthe multiprocessors, busy %.1f%% of the time", weak, comp);
    else if (c->bound == GPU_COMPUTE)
        text_format(t, "%sthe %s pipe, busy %.1f%% of the time", weak, pipe, comp);
    else if (strcmp(c->sub, "underfill") == 0)
        text_format(t, "the grid fills %.4g of one wave, so most multiprocessors stay idle",
                    gpu_waves(k, &s->occupancy));
    else if (strcmp(c->sub, "launch") == 0)
        text_format(t, "the kernel lasts %.2f us, which is mostly launch",
                    k->m[GPU_M_DUR_NS] / 1e3);
    else if (strcmp(c->sub, "tail") == 0)
        text_format(t, "the last of %.2f waves leaves multiprocessors idle",
                    gpu_waves(k, &s->occupancy));
    else if (strcmp(c->sub, "spill") == 0)
        text_format(t, "warps wait for local memory, %.0f bytes of it", 32 * gpu_local_sectors(k));
    else if (strcmp(c->sub, "occupancy") == 0)
        text_format(t, "too few warps are resident (%.1f%%) to hide latency", k->m[GPU_M_OCC]);
    else if (strcmp(c->sub, "unknown") == 0)
        text_format(t, "nothing is near its limit, and no stall reasons were collected");
    else
        text_format(t, "nothing is near its limit, and warps wait most for a %s", c->sub);
}

/* A name inside a sentence: what ends one in it must not look like its end. */
static void name_in_sentence(struct text *t, struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        bool is_blank = (unsigned char)name.at[i] <= ' ';
        bool is_end = i > 0 && strchr(".!?", name.at[i - 1]) != NULL;
        if (!(is_blank && is_end))
            markdown_line(t, str_part(name, i, 1));
    }
}

static void bottleneck(const struct gpu_run *run, struct text *t)
{
    bool is_mixed;
    const struct gpu_stage *s = gpu_run_main_stage(run, &is_mixed);

    if (s == NULL) {
        text_format(t, "### Bottleneck: Latency-bound\nRoot cause: no kernel was measured.\n\n");
        return;
    }
    text_format(t, "### Bottleneck: %s-bound\nRoot cause: ", gpu_bound_name(s->class.bound));
    if (run->stages.n > 1) {
        text_format(t, "in ");
        name_in_sentence(t, s->name);
        text_format(t, ", %.1f%% of the time, ", 100 * s->share);
    }
    cause(s, t);
    text_format(t, ". ");
    if (is_mixed) {
        text_format(t, "Mixed: ");
        for (size_t i = 0; i < run->stages.n; i++) {
            text_format(t, "%s", i > 0 ? ", " : "");
            name_in_sentence(t, run->stages.at[i].name);
            text_format(t, " %s", gpu_bound_name(run->stages.at[i].class.bound));
        }
        text_format(t, " (confidence %.2f).", s->class.confidence);
    } else {
        text_format(t, "Confidence %.2f%s%s%s.", s->class.confidence,
                    s->class.no_compute ? ", compute pipes not collected" : "",
                    s->class.no_chip ? ", L1/L2 not collected" : "",
                    s->class.has_locality_issue ? ", with a locality issue in L2" : "");
    }
    text_format(t, "\n\n");
}

/* How near the main stage is to what is possible. */
static double roof_reached(const struct gpu_run *run)
{
    bool is_mixed;
    const struct gpu_stage *s = gpu_run_main_stage(run, &is_mixed);
    const char *name;

    if (s == NULL || s->main == NULL)
        return NAN;
    if (!isnan(s->roofline.pct_roof))
        return s->roofline.pct_roof;
    return fmax(fmax(gpu_compute_pct(s->main, &name), s->main->m[GPU_M_DRAM_PCT]),
                gpu_chip_pct(s->main, &name));
}

static void opportunities(const struct gpu_run *run, struct text *t)
{
    struct gpu_opportunity top[TOP];
    size_t n = gpu_run_top(run, top, TOP);

    text_format(t, "### Top 3 Opportunities (ranked by estimated impact)\n");
    for (size_t i = 0; i < n; i++) {
        text_format(t, "%zu. ", i + 1);
        markdown_line(t, top[i].name);
        text_format(t,
                    " " MARKDOWN_LONG " est. %.1f%% gain " MARKDOWN_LONG " trigger: ", top[i].gain);
        markdown_line(t, top[i].trigger);
        text_format(t, "\n");
    }
    if (n == 0) {
        text_format(t, "none " MARKDOWN_LONG " at ");
        markdown_number(t, roof_reached(run), 1);
        text_format(t, "%% of roof\n");
    }
}

static void changes(const struct gpu_run *run, struct text *t)
{
    if (run->changes.n == 0)
        return;
    text_format(t, "\n### vs Baseline (if applicable)\n"
                   "| Metric | Previous | Current | Change |\n"
                   "|--------|----------|---------|--------|\n");
    for (size_t i = 0; i < run->changes.n; i++) {
        const struct gpu_change *c = &run->changes.at[i];
        markdown_row(t, "ssss", c->metric, c->previous, c->current, c->change);
    }
}

void gpu_report_block(const struct gpu_run *run, struct text *t)
{
    text_format(t, "## Profile: ");
    markdown_line(t, run->kernel.n > 0 ? run->kernel : S("kernel"));
    text_format(t, " ");
    markdown_line(t, run->version.n > 0 ? run->version : S("base"));
    text_format(t, "\n\n");
    configuration(run, t);
    stages(run, t);
    bottleneck(run, t);
    opportunities(run, t);
    changes(run, t);
}

void gpu_report_write(const struct gpu_run *run, struct text *t)
{
    gpu_report_block(run, t);
    gpu_report_sections(run, t);
}
