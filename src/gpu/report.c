#include "gpu/report.h"

#include <math.h>

enum { TOP = 3 };

static void configuration(const struct gpu_run *run, struct gpu_text *t)
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
    gpu_put(t, "### Configuration\n");
    for (size_t i = 0; i < n; i++)
        gpu_put_cell(t, shown[i]->name);
    gpu_put(t, "| dtype |\n");
    for (size_t i = 0; i < n; i++)
        gpu_put(t, "|---");
    gpu_put(t, "|-------|\n");
    for (size_t i = 0; i < n; i++)
        gpu_put_cell(t, shown[i]->text);
    gpu_put_cell(t, dtype != NULL ? dtype->text : S(GPU_DASH));
    gpu_put(t, "|\n\n");
}

/* "Memory (dram, weak)" */
static void class_cell(const struct gpu_class *c, struct gpu_text *t)
{
    bool is_marked = c->is_model && strcmp(c->sub, "model") != 0;

    gpu_put(t, "| %s (%s%s%s) ", gpu_bound_name(c->bound), c->sub, c->is_weak ? ", weak" : "",
            is_marked ? ", model" : "");
}

static void stages(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "### Stages\n"
               "| Stage | Duration (us) | TC%% | DRAM%% | Occ%% | Bottleneck | Key Issue |\n"
               "|-------|---------------|-----|-------|------|------------|-----------|\n");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_opportunities *o = &s->opportunities;
        gpu_put_cell(t, s->name);
        gpu_put(t, "| ");
        gpu_put_number(t, s->dur_ns / 1e3, 2);
        static const enum gpu_metric metrics[] = {GPU_M_TC_PCT, GPU_M_DRAM_PCT, GPU_M_OCC};
        for (size_t k = 0; k < ARRAY_LEN(metrics); k++) {
            gpu_put(t, " | ");
            gpu_put_number(t, s->main != NULL ? s->main->m[metrics[k]] : NAN, 1);
        }
        gpu_put(t, " ");
        class_cell(&s->class, t);
        gpu_put_cell(t,
                     o->all.n > 0 && o->all.at[0].is_ranked ? o->all.at[0].trigger : S(GPU_DASH));
        gpu_put(t, "|\n");
    }
    gpu_put(t, "\n");
}

/* Why, in one sentence, from the rule that decided. */
static void cause(const struct gpu_stage *s, struct gpu_text *t)
{
    const struct gpu_class *c = &s->class;
    struct gpu_kernel none = gpu_kernel_none();
    const struct gpu_kernel *k = s->main != NULL ? s->main : &none;
    const char *pipe, *level;
    double comp = gpu_compute_pct(k, &pipe), chip = gpu_chip_pct(k, &level);
    const char *weak = c->is_weak ? "nearest to its limit is " : "";

    if (c->is_model && c->bound != GPU_LATENCY)
        gpu_put(t, "by its formulas the work does %.1f FLOP per byte against a ridge of %.1f",
                s->roofline.ai, s->roofline.ridge);
    else if (strcmp(c->sub, "balanced") == 0)
        gpu_put(t, "device memory (%.1f%%) and the %s pipe (%.1f%%) are both at their limits",
                k->m[GPU_M_DRAM_PCT], pipe, comp);
    else if (strcmp(c->sub, "dram") == 0)
        gpu_put(t, "%sdevice memory, busy %.1f%% of the time", weak, k->m[GPU_M_DRAM_PCT]);
    else if (strcmp(c->sub, "l1") == 0 || strcmp(c->sub, "l2") == 0)
        gpu_put(t, "%sthe %s cache, busy %.1f%% of the time", weak, c->sub[1] == '1' ? "L1" : "L2",
                chip);
    else if (strcmp(c->sub, "issue") == 0)
        gpu_put(t, "the schedulers issue in %.1f%% of the cycles", k->m[GPU_M_ISSUE_PCT]);
    else if (strcmp(c->sub, "sm") == 0)
        gpu_put(t, "%sthe multiprocessors, busy %.1f%% of the time", weak, comp);
    else if (c->bound == GPU_COMPUTE)
        gpu_put(t, "%sthe %s pipe, busy %.1f%% of the time", weak, pipe, comp);
    else if (strcmp(c->sub, "underfill") == 0)
        gpu_put(t, "the grid fills %.4g of one wave, so most multiprocessors stay idle",
                gpu_waves(k, &s->occupancy));
    else if (strcmp(c->sub, "launch") == 0)
        gpu_put(t, "the kernel lasts %.2f us, which is mostly launch", k->m[GPU_M_DUR_NS] / 1e3);
    else if (strcmp(c->sub, "tail") == 0)
        gpu_put(t, "the last of %.2f waves leaves multiprocessors idle",
                gpu_waves(k, &s->occupancy));
    else if (strcmp(c->sub, "spill") == 0)
        gpu_put(t, "warps wait for local memory, %.0f bytes of it", 32 * gpu_local_sectors(k));
    else if (strcmp(c->sub, "occupancy") == 0)
        gpu_put(t, "too few warps are resident (%.1f%%) to hide latency", k->m[GPU_M_OCC]);
    else if (strcmp(c->sub, "unknown") == 0)
        gpu_put(t, "nothing is near its limit, and no stall reasons were collected");
    else
        gpu_put(t, "nothing is near its limit, and warps wait most for a %s", c->sub);
}

/* A name inside a sentence: what ends one in it must not look like its end. */
static void name_in_sentence(struct gpu_text *t, struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        bool is_blank = (unsigned char)name.at[i] <= ' ';
        bool is_end = i > 0 && strchr(".!?", name.at[i - 1]) != NULL;
        if (!(is_blank && is_end))
            gpu_put_plain(t, str_part(name, i, 1));
    }
}

static void bottleneck(const struct gpu_run *run, struct gpu_text *t)
{
    bool is_mixed;
    const struct gpu_stage *s = gpu_run_main_stage(run, &is_mixed);

    if (s == NULL) {
        gpu_put(t, "### Bottleneck: Latency-bound\nRoot cause: no kernel was measured.\n\n");
        return;
    }
    gpu_put(t, "### Bottleneck: %s-bound\nRoot cause: ", gpu_bound_name(s->class.bound));
    if (run->stages.n > 1) {
        gpu_put(t, "in ");
        name_in_sentence(t, s->name);
        gpu_put(t, ", %.1f%% of the time, ", 100 * s->share);
    }
    cause(s, t);
    gpu_put(t, ". ");
    if (is_mixed) {
        gpu_put(t, "Mixed: ");
        for (size_t i = 0; i < run->stages.n; i++) {
            gpu_put(t, "%s", i > 0 ? ", " : "");
            name_in_sentence(t, run->stages.at[i].name);
            gpu_put(t, " %s", gpu_bound_name(run->stages.at[i].class.bound));
        }
        gpu_put(t, " (confidence %.2f).", s->class.confidence);
    } else {
        gpu_put(t, "Confidence %.2f%s%s%s.", s->class.confidence,
                s->class.no_compute ? ", compute pipes not collected" : "",
                s->class.no_chip ? ", L1/L2 not collected" : "",
                s->class.has_locality_issue ? ", with a locality issue in L2" : "");
    }
    gpu_put(t, "\n\n");
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

static void opportunities(const struct gpu_run *run, struct gpu_text *t)
{
    struct gpu_opportunity top[TOP];
    size_t n = gpu_run_top(run, top, TOP);

    gpu_put(t, "### Top 3 Opportunities (ranked by estimated impact)\n");
    for (size_t i = 0; i < n; i++) {
        gpu_put(t, "%zu. ", i + 1);
        gpu_put_plain(t, top[i].name);
        gpu_put(t, " " GPU_LONG " est. %.1f%% gain " GPU_LONG " trigger: ", top[i].gain);
        gpu_put_plain(t, top[i].trigger);
        gpu_put(t, "\n");
    }
    if (n == 0) {
        gpu_put(t, "none " GPU_LONG " at ");
        gpu_put_number(t, roof_reached(run), 1);
        gpu_put(t, "%% of roof\n");
    }
}

static void changes(const struct gpu_run *run, struct gpu_text *t)
{
    if (run->changes.n == 0)
        return;
    gpu_put(t, "\n### vs Baseline (if applicable)\n"
               "| Metric | Previous | Current | Change |\n"
               "|--------|----------|---------|--------|\n");
    for (size_t i = 0; i < run->changes.n; i++) {
        const struct gpu_change *c = &run->changes.at[i];
        gpu_put_cell(t, c->metric);
        gpu_put_cell(t, c->previous);
        gpu_put_cell(t, c->current);
        gpu_put_cell(t, c->change);
        gpu_put(t, "|\n");
    }
}

void gpu_report_block(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "## Profile: ");
    gpu_put_plain(t, run->kernel.n > 0 ? run->kernel : S("kernel"));
    gpu_put(t, " ");
    gpu_put_plain(t, run->version.n > 0 ? run->version : S("base"));
    gpu_put(t, "\n\n");
    configuration(run, t);
    stages(run, t);
    bottleneck(run, t);
    opportunities(run, t);
    changes(run, t);
}

void gpu_report_write(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_report_block(run, t);
    gpu_report_sections(run, t);
}
