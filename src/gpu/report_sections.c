/*
 * The sections of report.md behind the block, by mode.
 */
#include <math.h>
#include <stdio.h>

#include "gpu/report.h"

enum { HOT = 10 };

static void text_row(struct text *t, const char *label, struct str text)
{
    if (text.n > 0)
        markdown_row(t, "cs", label, text);
}

static void number_row(struct text *t, const char *label, double value, const char *form)
{
    if (value > 0)
        markdown_row(t, form, label, value);
}

/* Slowest and fastest clock during the kernels. */
static void clock_row(const struct gpu_run *run, struct text *t)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < run->kernels.n; i++) {
        double hz = run->kernels.at[i].m[GPU_M_SM_CLOCK_HZ];
        if (hz > 0) {
            low = fmin(low, hz);
            high = fmax(high, hz);
        }
    }
    if (high > 0)
        text_format(t, "| SM clock measured (MHz) | %.0f to %.0f |\n", low / 1e6, high / 1e6);
    if (run->clock.is_locked)
        text_format(t, "| SM clock locked (MHz) | %.0f |\n", run->clock.mhz);
    else if (run->clock.policy.n > 0)
        text_row(t, "Clock policy", run->clock.policy);
}

/* The compute roof at the clock that the main kernel really had. */
static void measured_roof(const struct gpu_run *run, struct text *t)
{
    bool is_mixed;
    const struct gpu_stage *s = gpu_run_main_stage(run, &is_mixed);

    if (s == NULL || s->main == NULL)
        return;
    double hz = s->main->m[GPU_M_SM_CLOCK_HZ];
    if (run->peaks.source != GPU_PEAKS_DEVICE || !(run->device.sm_clock_khz > 0) || !(hz > 0))
        return;
    text_format(t, "| Peak %s at the measured clock (TFLOP/s) | %.1f |\n", s->peak_name,
                s->peak_tflops * hz / (run->device.sm_clock_khz * 1e3));
}

static void device(const struct gpu_run *run, struct text *t)
{
    text_put(t, S("\n## Device\n"));
    markdown_head(t, "Item|Value");
    text_row(t, "Name", run->device.name);
    text_row(t, "Compute capability", run->peaks.cc);
    number_row(t, "Multiprocessors", run->peaks.sm_count, "c0");
    text_row(t, "Driver", run->device.driver);
    clock_row(run, t);
    number_row(t, "L2 (bytes)", run->peaks.l2_bytes, "c0");
    number_row(t, "Peak GB/s", run->peaks.gbps, "c1");
    for (size_t i = 0; i < PEAK_COUNT; i++) {
        if (!(run->peaks.tflops[i] > 0))
            continue;
        text_format(t, "| Peak %s (%s) | %.1f", peak_name((enum peak)i), peak_unit((enum peak)i),
                    run->peaks.tflops[i]);
        if (run->peaks.datasheet[i] > 0 &&
            fabs(run->peaks.datasheet[i] - run->peaks.tflops[i]) >= 0.1)
            text_format(t, " (datasheet %.1f)", run->peaks.datasheet[i]);
        text_format(t, ", ridge %.1f FLOP/B |\n", gpu_ridge(&run->peaks, (enum peak)i));
    }
    measured_roof(run, t);
    text_format(t, "| Peaks from | %s |\n", gpu_peak_source_name(run->peaks.source));
}

static void roofline_row(struct text *t, struct str name, double dur_ns, struct gpu_work w,
                         const struct gpu_roofline *r)
{
    markdown_row(t, "s2gg121111c", name, dur_ns / 1e3, w.flops, w.bytes, r->ai, r->tflops, r->gbps,
                 r->pct_compute, r->pct_memory, r->pct_roof, r->bound);
}

/* Work of all stages together, where all of it is known. */
static struct gpu_work work_of_all(const struct gpu_run *run)
{
    struct gpu_work all = {0};

    for (size_t i = 0; i < run->stages.n; i++) {
        all.flops += run->stages.at[i].work.flops;
        all.bytes += run->stages.at[i].work.bytes;
    }
    return all;
}

static void roofline(const struct gpu_run *run, struct text *t)
{
    text_put(t, S("\n## Roofline\n"));
    markdown_head(t, "Stage|Duration (us)|FLOPs|Bytes|AI|Achieved TFLOPs/s|Achieved GB/s|"
                     "% Compute peak|% Memory peak|% Roof|Bound");
    for (size_t i = 0; i < run->stages.n; i++)
        roofline_row(t, run->stages.at[i].name, run->stages.at[i].dur_ns, run->stages.at[i].work,
                     &run->stages.at[i].roofline);
    if (run->stages.n > 1 && !run->has_auto_stages) {
        struct gpu_work all = work_of_all(run);
        double dur = gpu_run_duration(run);
        struct gpu_roofline r =
            gpu_roofline_of(dur, all, NAN, run->stages.at[0].peak_tflops, &run->peaks);
        roofline_row(t, S("all"), dur, all, &r);
    }
}

static void health_row(const struct gpu_health_row *h, struct text *t)
{
    struct text value = {0};
    char state[64];

    markdown_number(&value, h->value, strcmp(h->unit, "bytes") == 0 ? 0 : h->unit[0] ? 1 : 2);
    if (isfinite(h->value) && h->unit[0] == '%')
        text_put(&value, S(" %"));
    snprintf(state, sizeof(state), "%s%s%s", gpu_health_name(h->state),
             h->note[0] != '\0' ? ": " : "", h->note);
    markdown_row(t, "cscccc", h->metric, text_view(&value), h->healthy, state, h->if_not, h->hint);
    text_free(&value);
}

static void health(const struct gpu_run *run, struct text *t)
{
    text_format(t, "\n## Kernel metrics\n");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        text_format(t, "\n### ");
        markdown_line(t, s->name);
        text_format(t, "\n");
        if (s->main != NULL) {
            text_format(t, "`");
            markdown_line(t, s->main->name);
            text_format(t, "`, %zu launches", s->kernels.n);
        }
        if (!isnan(s->event_ns))
            text_format(t, ", %.2f us without counters", s->event_ns / 1e3);
        text_put(t, S("\n\n"));
        markdown_head(t, "Metric|Value|Healthy|State|If not|Hint");
        for (size_t k = 0; k < GPU_HEALTH_ROWS; k++)
            health_row(&s->health[k], t);
    }
}

static struct str dims_of(const uint32_t dims[3], char buf[40])
{
    int n = snprintf(buf, 40, "%ux%ux%u", dims[0], dims[1], dims[2]);

    return dims[0] == 0 ? S(MARKDOWN_DASH) : (struct str){buf, (size_t)n};
}

static void tiling(const struct gpu_run *run, struct text *t)
{
    char grid[40], block[40], cluster[40];

    text_put(t, S("\n## Tiling\n"));
    markdown_head(t, "Stage|Grid|Block|Cluster|Registers|Static smem|Dynamic smem|Local B/thread|"
                     "Blocks/SM|Limiter|Theoretical occ%|Waves");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_kernel *k = s->main;
        const struct gpu_occupancy *o = &s->occupancy;
        if (k == NULL)
            continue;
        markdown_row(t, "ssss00000c1g", s->name, dims_of(k->grid, grid), dims_of(k->block, block),
                     dims_of(k->cluster, cluster), k->m[GPU_M_REGS], k->m[GPU_M_SMEM_STATIC],
                     k->m[GPU_M_SMEM_DYNAMIC], k->m[GPU_M_LOCAL_PER_THREAD],
                     o->is_known ? o->blocks_per_sm : NAN, o->limiter,
                     isnan(o->theory_pct) ? k->m[GPU_M_OCC_THEORY] : o->theory_pct,
                     gpu_waves(k, o));
    }
}

static void comparison(const struct gpu_run *run, struct text *t)
{
    text_put(t, S("\n## Comparison\n"));
    markdown_head(t, "Stage|Duration (us)|Share %|Launches|Bottleneck|Gap to floor");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        char class[32];
        snprintf(class, sizeof(class), "%s-bound", gpu_bound_name(s->class.bound));
        markdown_row(t, "s21zc2", s->name, s->dur_ns / 1e3, 100 * s->share, s->kernels.n, class,
                     s->roofline.gap);
    }
}

static void timing(const struct gpu_run *run, struct text *t)
{
    double *copy = mem_grow(NULL, sizeof(*copy), run->timings.n + 1);
    struct text interval = {0};

    if (run->timings.n > 0)
        memcpy(copy, run->timings.at, run->timings.n * sizeof(*copy));
    struct gpu_timing x = gpu_timing_of(copy, run->timings.n);
    mem_free(copy);
    markdown_number(&interval, x.low / 1e3, 2);
    text_put(&interval, S(" to "));
    markdown_number(&interval, x.high / 1e3, 2);
    text_put(t, S("\n## Timing\n"));
    markdown_head(t, "Runs|Median (us)|p10 (us)|p90 (us)|Min (us)|cv|95% interval (us)|"
                     "Host per iteration (us)");
    markdown_row(t, "z22224s2", x.n, x.median / 1e3, x.p10 / 1e3, x.p90 / 1e3, x.min / 1e3, x.cv,
                 text_view(&interval), run->host_ns / 1e3);
    text_free(&interval);
}

static void diagnosis(const struct gpu_run *run, struct text *t)
{
    text_put(t, S("\n## Diagnosis\n"));
    markdown_head(t, "Stage|Class|Confidence|Compute%|DRAM%|L1%|L2%|Occ%|Waves|Limiter|Top stall");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_kernel *k = s->main;
        struct str reason = S(MARKDOWN_DASH);
        const char *pipe;
        char class[64];
        double share;
        if (k == NULL)
            continue;
        gpu_kernel_top_stall(k, &reason, &share);
        snprintf(class, sizeof(class), "%s-bound / %s%s", gpu_bound_name(s->class.bound),
                 s->class.sub, s->class.is_weak ? " (weak)" : "");
        markdown_row(t, "sc211111gcs", s->name, class, s->class.confidence,
                     gpu_compute_pct(k, &pipe), k->m[GPU_M_DRAM_PCT], gpu_l1_pct(k), gpu_l2_pct(k),
                     k->m[GPU_M_OCC], gpu_waves(k, &s->occupancy), s->occupancy.limiter, reason);
    }
}

/* Everything found, ranked or not: the block shows three. */
static void recommendations(const struct gpu_run *run, struct text *t)
{
    text_put(t, S("\n## Recommendations\n"));
    markdown_head(t, "Stage|Id|Name|Est. gain %|Trigger|Ranked");
    for (size_t i = 0; i < run->stages.n; i++)
        for (size_t k = 0; k < run->stages.at[i].opportunities.all.n; k++) {
            const struct gpu_opportunity *o = &run->stages.at[i].opportunities.all.at[k];
            char id[16];
            snprintf(id, sizeof(id), "O%d", o->id);
            markdown_row(t, "scs1sc", run->stages.at[i].name, id, o->name, o->gain, o->trigger,
                         o->is_ranked ? "yes" : "no");
        }
}

static void hot(const struct gpu_run *run, struct text *t, const char *heading, bool is_lines)
{
    text_format(t, "\n## %s\n", heading);
    markdown_head(t, "Stage|Place|Samples %|Samples|Instructions|Stall|Text");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_kernel *k = run->stages.at[i].main;
        size_t n = k == NULL ? 0 : is_lines ? k->hot_lines.n : k->hot_instructions.n;
        for (size_t j = 0; j < n && j < HOT; j++) {
            const struct gpu_hot *h = is_lines ? &k->hot_lines.at[j] : &k->hot_instructions.at[j];
            markdown_row(t, "ss100ss", run->stages.at[i].name, h->place, h->share, h->samples,
                         h->inst, h->stall, str_part(h->text, 0, 120));
        }
    }
}

static void notes(const struct gpu_run *run, struct text *t)
{
    text_format(t, "\n## Notes\n");
    for (size_t i = 0; i < run->notes.n; i++) {
        text_format(t, "- ");
        markdown_line(t, run->notes.at[i]);
        text_format(t, "\n");
    }
    if (run->notes.n == 0)
        text_format(t, "- none\n");
}

static void sections(const struct gpu_run *run, struct text *t)
{
    for (size_t i = 0; i < run->sections.n; i++)
        text_format(t, "\n## %.*s\n%.*s", STR_ARGS(run->sections.at[i].heading),
                    STR_ARGS(run->sections.at[i].body));
}

void gpu_report_sections(const struct gpu_run *run, struct text *t)
{
    device(run, t);
    if (str_equal(run->mode, S("event"))) {
        timing(run, t);
        roofline(run, t);
    } else if (str_equal(run->mode, S("ncu"))) {
        diagnosis(run, t);
        recommendations(run, t);
        hot(run, t, "Hot instructions", false);
        hot(run, t, "Hot source lines", true);
        sections(run, t); /* Files */
        notes(run, t);
        return;
    } else if (!str_equal(run->mode, S("nsys"))) {
        roofline(run, t);
        health(run, t);
        tiling(run, t);
        comparison(run, t);
    }
    sections(run, t);
    notes(run, t);
}

void gpu_report_verbose(const struct gpu_run *run, struct text *t)
{
    for (size_t i = 0; i < run->kernels.n; i++) {
        const struct gpu_kernel *k = &run->kernels.at[i];
        struct str section = {NULL, 0};
        text_format(t, "%s## ", i > 0 ? "\n" : "");
        markdown_line(t, k->name);
        text_format(t, "\n");
        for (size_t j = 0; j < k->values.n; j++) {
            const struct gpu_value *v = &k->values.at[j];
            if (section.at == NULL || !str_equal(section, v->section)) {
                section = v->section.at != NULL ? v->section : S("");
                text_format(t, "\n### ");
                markdown_line(t, section.n > 0 ? section : S("Metrics"));
                text_char(t, '\n');
                markdown_head(t, "Metric|Unit|Value");
            }
            markdown_cell(t, v->name);
            markdown_cell(t, v->unit);
            isnan(v->number) ? markdown_cell(t, v->text) : text_format(t, "| %.10g ", v->number);
            text_format(t, "|\n");
        }
        for (size_t j = 0; j < k->rules.n; j++)
            text_format(t, "\n- %.*s %.*s: %.*s\n", STR_ARGS(k->rules.at[j].type),
                        STR_ARGS(k->rules.at[j].name), STR_ARGS(k->rules.at[j].text));
    }
}
