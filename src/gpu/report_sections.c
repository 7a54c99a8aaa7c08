/*
 * The sections of report.md behind the block, by mode.
 */
#include <math.h>

#include "gpu/report.h"

enum { HOT = 10 };

static void text_row(struct gpu_text *t, const char *label, struct str text)
{
    if (text.n == 0)
        return;
    gpu_put_cell(t, str_of(label));
    gpu_put_cell(t, text);
    gpu_put(t, "|\n");
}

static void number_row(struct gpu_text *t, const char *label, double value, int decimals)
{
    if (!(value > 0))
        return;
    gpu_put(t, "| %s | ", label);
    gpu_put_number(t, value, decimals);
    gpu_put(t, " |\n");
}

/* Slowest and fastest clock during the kernels. */
static void clock_row(const struct gpu_run *run, struct gpu_text *t)
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
        gpu_put(t, "| SM clock measured (MHz) | %.0f to %.0f |\n", low / 1e6, high / 1e6);
    if (run->clock.is_locked)
        gpu_put(t, "| SM clock locked (MHz) | %.0f |\n", run->clock.mhz);
    else if (run->clock.policy.n > 0)
        text_row(t, "Clock policy", run->clock.policy);
}

/* The compute roof at the clock that the main kernel really had. */
static void measured_roof(const struct gpu_run *run, struct gpu_text *t)
{
    bool is_mixed;
    const struct gpu_stage *s = gpu_run_main_stage(run, &is_mixed);

    if (s == NULL || s->main == NULL)
        return;
    double hz = s->main->m[GPU_M_SM_CLOCK_HZ];
    if (run->peaks.source != GPU_PEAKS_DEVICE || !(run->device.sm_clock_khz > 0) || !(hz > 0))
        return;
    gpu_put(t, "| Peak %s at the measured clock (TFLOP/s) | %.1f |\n", s->peak_name,
            s->peak_tflops * hz / (run->device.sm_clock_khz * 1e3));
}

static void device(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "\n## Device\n| Item | Value |\n|---|---|\n");
    text_row(t, "Name", run->device.name);
    text_row(t, "Compute capability", run->peaks.cc);
    number_row(t, "Multiprocessors", run->peaks.sm_count, 0);
    text_row(t, "Driver", run->device.driver);
    clock_row(run, t);
    number_row(t, "L2 (bytes)", run->peaks.l2_bytes, 0);
    number_row(t, "Peak GB/s", run->peaks.gbps, 1);
    for (size_t i = 0; i < PEAK_COUNT; i++) {
        if (!(run->peaks.tflops[i] > 0))
            continue;
        gpu_put(t, "| Peak %s (%s) | %.1f", peak_name((enum peak)i), peak_unit((enum peak)i),
                run->peaks.tflops[i]);
        if (run->peaks.datasheet[i] > 0 &&
            fabs(run->peaks.datasheet[i] - run->peaks.tflops[i]) >= 0.1)
            gpu_put(t, " (datasheet %.1f)", run->peaks.datasheet[i]);
        gpu_put(t, ", ridge %.1f FLOP/B |\n", gpu_ridge(&run->peaks, (enum peak)i));
    }
    measured_roof(run, t);
    gpu_put(t, "| Peaks from | %s |\n", gpu_peak_source_name(run->peaks.source));
}

static void cell_g(struct gpu_text *t, double value)
{
    if (isfinite(value))
        gpu_put(t, "| %.4g ", value);
    else
        gpu_put(t, "| " GPU_DASH " ");
}

static void cell_f(struct gpu_text *t, double value, int decimals)
{
    gpu_put(t, "| ");
    gpu_put_number(t, value, decimals);
    gpu_put(t, " ");
}

static void roofline_row(struct gpu_text *t, struct str name, double dur_ns, struct gpu_work w,
                         const struct gpu_roofline *r)
{
    gpu_put_cell(t, name);
    cell_f(t, dur_ns / 1e3, 2);
    cell_g(t, w.flops);
    cell_g(t, w.bytes);
    cell_f(t, r->ai, 1);
    cell_f(t, r->tflops, 2);
    cell_f(t, r->gbps, 1);
    cell_f(t, r->pct_compute, 1);
    cell_f(t, r->pct_memory, 1);
    cell_f(t, r->pct_roof, 1);
    gpu_put(t, "| %s |\n", r->bound[0] != '\0' ? r->bound : GPU_DASH);
}

static void roofline_head(struct gpu_text *t)
{
    gpu_put(t, "\n## Roofline\n"
               "| Stage | Duration (us) | FLOPs | Bytes | AI | Achieved TFLOPs/s | Achieved GB/s | "
               "%% Compute peak | %% Memory peak | %% Roof | Bound |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n");
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

static void roofline(const struct gpu_run *run, struct gpu_text *t)
{
    roofline_head(t);
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

static void health(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "\n## Kernel metrics\n");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        gpu_put(t, "\n### ");
        gpu_put_plain(t, s->name);
        gpu_put(t, "\n");
        if (s->main != NULL) {
            gpu_put(t, "`");
            gpu_put_plain(t, s->main->name);
            gpu_put(t, "`, %zu launches", s->kernels.n);
        }
        if (!isnan(s->event_ns))
            gpu_put(t, ", %.2f us without counters", s->event_ns / 1e3);
        gpu_put(t, "\n\n| Metric | Value | Healthy | State | If not | Hint |\n"
                   "|---|---|---|---|---|---|\n");
        for (size_t k = 0; k < GPU_HEALTH_ROWS; k++) {
            const struct gpu_health_row *h = &s->health[k];
            gpu_put(t, "| %s | ", h->metric);
            gpu_put_number(t, h->value, strcmp(h->unit, "bytes") == 0 ? 0 : h->unit[0] ? 1 : 2);
            gpu_put(t, "%s | %s | %s%s%s | %s | %s |\n",
                    isfinite(h->value) && h->unit[0] == '%' ? " %" : "", h->healthy,
                    gpu_health_name(h->state), h->note[0] != '\0' ? ": " : "", h->note, h->if_not,
                    h->hint);
        }
    }
}

static void dims_cell(struct gpu_text *t, const uint32_t dims[3])
{
    if (dims[0] == 0)
        gpu_put(t, "| " GPU_DASH " ");
    else
        gpu_put(t, "| %ux%ux%u ", dims[0], dims[1], dims[2]);
}

static void tiling(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "\n## Tiling\n| Stage | Grid | Block | Cluster | Registers | Static smem | "
               "Dynamic smem | Local B/thread | Blocks/SM | Limiter | Theoretical occ%% | Waves "
               "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_kernel *k = s->main;
        if (k == NULL)
            continue;
        double theory =
            isnan(s->occupancy.theory_pct) ? k->m[GPU_M_OCC_THEORY] : s->occupancy.theory_pct;
        gpu_put_cell(t, s->name);
        dims_cell(t, k->grid);
        dims_cell(t, k->block);
        dims_cell(t, k->cluster);
        cell_f(t, k->m[GPU_M_REGS], 0);
        cell_f(t, k->m[GPU_M_SMEM_STATIC], 0);
        cell_f(t, k->m[GPU_M_SMEM_DYNAMIC], 0);
        cell_f(t, k->m[GPU_M_LOCAL_PER_THREAD], 0);
        cell_f(t, s->occupancy.is_known ? s->occupancy.blocks_per_sm : NAN, 0);
        gpu_put(t, "| %s ", s->occupancy.limiter[0] != '\0' ? s->occupancy.limiter : GPU_DASH);
        cell_f(t, theory, 1);
        cell_g(t, gpu_waves(k, &s->occupancy));
        gpu_put(t, "|\n");
    }
}

static void comparison(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "\n## Comparison\n| Stage | Duration (us) | Share %% | Launches | Bottleneck | Gap "
               "to floor |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        gpu_put_cell(t, s->name);
        cell_f(t, s->dur_ns / 1e3, 2);
        cell_f(t, 100 * s->share, 1);
        gpu_put(t, "| %zu | %s-bound ", s->kernels.n, gpu_bound_name(s->class.bound));
        cell_f(t, s->roofline.gap, 2);
        gpu_put(t, "|\n");
    }
}

static void timing(const struct gpu_run *run, struct gpu_text *t)
{
    double *copy = mem_grow(NULL, sizeof(*copy), run->timings.n + 1);

    if (run->timings.n > 0)
        memcpy(copy, run->timings.at, run->timings.n * sizeof(*copy));
    struct gpu_timing x = gpu_timing_of(copy, run->timings.n);
    mem_free(copy);
    gpu_put(t, "\n## Timing\n| Runs | Median (us) | p10 (us) | p90 (us) | Min (us) | cv | 95%% "
               "interval (us) | Host per iteration (us) |\n|---|---|---|---|---|---|---|---|\n");
    gpu_put(t, "| %zu ", x.n);
    cell_f(t, x.median / 1e3, 2);
    cell_f(t, x.p10 / 1e3, 2);
    cell_f(t, x.p90 / 1e3, 2);
    cell_f(t, x.min / 1e3, 2);
    cell_f(t, x.cv, 4);
    gpu_put(t, "| ");
    gpu_put_number(t, x.low / 1e3, 2);
    gpu_put(t, " to ");
    gpu_put_number(t, x.high / 1e3, 2);
    gpu_put(t, " ");
    cell_f(t, run->host_ns / 1e3, 2);
    gpu_put(t, "|\n");
}

static void diagnosis(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(
        t,
        "\n## Diagnosis\n| Stage | Class | Confidence | Compute%% | DRAM%% | L1%% | L2%% | "
        "Occ%% | Waves | Limiter | Top stall |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const char *pipe;
        struct str reason = S(GPU_DASH);
        double share;
        if (s->main == NULL)
            continue;
        gpu_kernel_top_stall(s->main, &reason, &share);
        gpu_put_cell(t, s->name);
        gpu_put(t, "| %s-bound / %s%s ", gpu_bound_name(s->class.bound), s->class.sub,
                s->class.is_weak ? " (weak)" : "");
        cell_f(t, s->class.confidence, 2);
        cell_f(t, gpu_compute_pct(s->main, &pipe), 1);
        cell_f(t, s->main->m[GPU_M_DRAM_PCT], 1);
        cell_f(t, gpu_l1_pct(s->main), 1);
        cell_f(t, gpu_l2_pct(s->main), 1);
        cell_f(t, s->main->m[GPU_M_OCC], 1);
        cell_g(t, gpu_waves(s->main, &s->occupancy));
        gpu_put(t, "| %s ", s->occupancy.limiter[0] != '\0' ? s->occupancy.limiter : GPU_DASH);
        gpu_put_cell(t, reason);
        gpu_put(t, "|\n");
    }
}

/* Everything found, ranked or not: the block shows three. */
static void recommendations(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "\n## Recommendations\n| Stage | Id | Name | Est. gain %% | Trigger | Ranked "
               "|\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < run->stages.n; i++)
        for (size_t k = 0; k < run->stages.at[i].opportunities.all.n; k++) {
            const struct gpu_opportunity *o = &run->stages.at[i].opportunities.all.at[k];
            gpu_put_cell(t, run->stages.at[i].name);
            gpu_put(t, "| O%d ", o->id);
            gpu_put_cell(t, o->name);
            gpu_put(t, "| %.1f ", o->gain);
            gpu_put_cell(t, o->trigger);
            gpu_put(t, "| %s |\n", o->is_ranked ? "yes" : "no");
        }
}

static void hot(const struct gpu_run *run, struct gpu_text *t, const char *heading, bool is_lines)
{
    gpu_put(t,
            "\n## %s\n| Stage | Place | Samples %% | Samples | Instructions | Stall | Text "
            "|\n|---|---|---|---|---|---|---|\n",
            heading);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_kernel *k = run->stages.at[i].main;
        size_t n = k == NULL ? 0 : is_lines ? k->hot_lines.n : k->hot_instructions.n;
        for (size_t j = 0; j < n && j < HOT; j++) {
            const struct gpu_hot *h = is_lines ? &k->hot_lines.at[j] : &k->hot_instructions.at[j];
            gpu_put_cell(t, run->stages.at[i].name);
            gpu_put_cell(t, h->place);
            cell_f(t, h->share, 1);
            cell_f(t, h->samples, 0);
            cell_f(t, h->inst, 0);
            gpu_put_cell(t, h->stall);
            gpu_put_cell(t, str_part(h->text, 0, 120));
            gpu_put(t, "|\n");
        }
    }
}

static void notes(const struct gpu_run *run, struct gpu_text *t)
{
    gpu_put(t, "\n## Notes\n");
    for (size_t i = 0; i < run->notes.n; i++) {
        gpu_put(t, "- ");
        gpu_put_plain(t, run->notes.at[i]);
        gpu_put(t, "\n");
    }
    if (run->notes.n == 0)
        gpu_put(t, "- none\n");
}

static void sections(const struct gpu_run *run, struct gpu_text *t)
{
    for (size_t i = 0; i < run->sections.n; i++)
        gpu_put(t, "\n## %.*s\n%.*s", STR_ARGS(run->sections.at[i].heading),
                STR_ARGS(run->sections.at[i].body));
}

void gpu_report_sections(const struct gpu_run *run, struct gpu_text *t)
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

void gpu_report_verbose(const struct gpu_run *run, struct gpu_text *t)
{
    for (size_t i = 0; i < run->kernels.n; i++) {
        const struct gpu_kernel *k = &run->kernels.at[i];
        struct str section = {NULL, 0};
        gpu_put(t, "%s## ", i > 0 ? "\n" : "");
        gpu_put_plain(t, k->name);
        gpu_put(t, "\n");
        for (size_t j = 0; j < k->values.n; j++) {
            const struct gpu_value *v = &k->values.at[j];
            if (section.at == NULL || !str_equal(section, v->section)) {
                section = v->section.at != NULL ? v->section : S("");
                gpu_put(t, "\n### ");
                gpu_put_plain(t, section.n > 0 ? section : S("Metrics"));
                gpu_put(t, "\n| Metric | Unit | Value |\n|---|---|---|\n");
            }
            gpu_put_cell(t, v->name);
            gpu_put_cell(t, v->unit);
            isnan(v->number) ? gpu_put_cell(t, v->text) : gpu_put(t, "| %.10g ", v->number);
            gpu_put(t, "|\n");
        }
        for (size_t j = 0; j < k->rules.n; j++)
            gpu_put(t, "\n- %.*s %.*s: %.*s\n", STR_ARGS(k->rules.at[j].type),
                    STR_ARGS(k->rules.at[j].name), STR_ARGS(k->rules.at[j].text));
    }
}
