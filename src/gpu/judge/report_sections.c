/*
 * The sections of report.md behind the block, by mode.
 */
#include <math.h>
#include <stdio.h>

#include "gpu/judge/report.h"
#include "text/gpu.h"

enum { HOT = 10, HOT_OF_SAMPLES = 5 };

static const char *sections_word(enum lang lang, const char *english)
{
    return message_word(lang, str_of(english)).at;
}

/* A heading, and the head of its table. */
static void head(struct text *t, enum lang lang, const struct message *title,
                 const struct message *heads)
{
    text_format(t, "\n## %.*s\n", STR_ARGS(message_in(lang, title)));
    markdown_head(t, message_in(lang, heads).at);
}

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

#define PUT(text_, lang_, message_, ...)                                                           \
    message_put((text_), (lang_), (message_), PLACES(__VA_ARGS__))

/* Slowest and fastest clock during the kernels. */
static void clock_row(const struct gpu_run *run, enum lang lang, struct text *t)
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
        PUT(t, lang, &gpu_text.clock_measured, PLACE("low", low / 1e6), PLACE("high", high / 1e6));
    if (run->clock.is_locked)
        PUT(t, lang, &gpu_text.clock_locked, PLACE("mhz", run->clock.mhz));
    else if (run->clock.policy.n > 0)
        text_row(t, sections_word(lang, "Clock policy"), run->clock.policy);
}

static void device(const struct gpu_run *run, enum lang lang, struct text *t)
{
    const struct gpu_stage *s = gpu_run_main_stage(run, NULL);
    double hz = s != NULL && s->main != NULL ? s->main->m[GPU_M_SM_CLOCK_HZ] : NAN;
    head(t, lang, &gpu_text.device, &gpu_text.device_head);
    text_row(t, sections_word(lang, "Name"), run->device.name);
    text_row(t, sections_word(lang, "Compute capability"), run->peaks.cc);
    number_row(t, sections_word(lang, "Multiprocessors"), run->peaks.sm_count, "c0");
    text_row(t, sections_word(lang, "Driver"), run->device.driver);
    clock_row(run, lang, t);
    number_row(t, sections_word(lang, "L2 (bytes)"), run->peaks.l2_bytes, "c0");
    number_row(t, sections_word(lang, "Peak GB/s"), run->peaks.gbps, "c1");
    for (size_t i = 0; i < PEAK_COUNT; i++) {
        if (!(run->peaks.tflops[i] > 0))
            continue;
        bool differs = run->peaks.datasheet[i] > 0 &&
                       fabs(run->peaks.datasheet[i] - run->peaks.tflops[i]) >= 0.1;
        PUT(t, lang, differs ? &gpu_text.peak_datasheet : &gpu_text.peak,
            PLACE("type", peak_name((enum peak)i)), PLACE("unit", peak_unit((enum peak)i)),
            PLACE("peak", run->peaks.tflops[i]), PLACE("datasheet", run->peaks.datasheet[i]),
            PLACE("ridge", gpu_ridge(&run->peaks, (enum peak)i)));
    }
    /* The compute roof at the clock that the main kernel really had. */
    if (run->peaks.source == GPU_PEAKS_DEVICE && run->device.sm_clock_khz > 0 && hz > 0)
        PUT(t, lang, &gpu_text.peak_at_clock, PLACE("type", s->peak_name),
            PLACE("peak", s->peak_tflops * hz / (run->device.sm_clock_khz * 1e3)));
    PUT(t, lang, &gpu_text.peaks_from,
        PLACE("source", sections_word(lang, gpu_peak_source_name(run->peaks.source))));
}

static void roofline_row(struct text *t, enum lang lang, struct str name, double dur_ns,
                         struct gpu_work w, const struct gpu_roofline *r)
{
    markdown_row(t, "s2gg121111c", name, dur_ns / 1e3, w.flops, w.bytes, r->ai, r->tflops, r->gbps,
                 r->pct_compute, r->pct_memory, r->pct_roof, sections_word(lang, r->bound));
}

static void roofline(const struct gpu_run *run, enum lang lang, struct text *t)
{
    head(t, lang, &gpu_text.roofline, &gpu_text.roofline_head);
    for (size_t i = 0; i < run->stages.n; i++)
        roofline_row(t, lang, run->stages.at[i].name, run->stages.at[i].dur_ns,
                     run->stages.at[i].work, &run->stages.at[i].roofline);
    if (run->stages.n > 1 && !run->has_auto_stages) {
        struct gpu_work all = {0}; /* where all of it is known */
        for (size_t i = 0; i < run->stages.n; i++) {
            all.flops += run->stages.at[i].work.flops;
            all.bytes += run->stages.at[i].work.bytes;
        }
        double dur = gpu_run_duration(run);
        struct gpu_roofline r =
            gpu_roofline_of(dur, all, NAN, run->stages.at[0].peak_tflops, &run->peaks);
        roofline_row(t, lang, message_word(lang, S("all")), dur, all, &r);
    }
}

/* What each level of memory moved, and at which intensity that puts the main kernel. */
static void levels(const struct gpu_run *run, enum lang lang, struct text *t)
{
    bool is_open = false;

    for (size_t i = 0; i < run->stages.n; i++)
        for (size_t k = 0; k < GPU_LEVELS; k++) {
            const struct gpu_level *level = &run->stages.at[i].levels[k];
            if (isnan(level->gbps))
                continue;
            if (!is_open)
                head(t, lang, &gpu_text.levels, &gpu_text.levels_head);
            is_open = true;
            markdown_row(t, "scg1112", run->stages.at[i].name, level->name, level->bytes,
                         level->gbps, level->peak_gbps, level->pct, level->ai);
        }
}

/* Operations of the main kernel by type, where there are any. */
static void operations(const struct gpu_run *run, enum lang lang, struct text *t)
{
    bool is_open = false;

    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        for (size_t k = 0; k < GPU_FLOP_TYPES; k++) {
            if (!(s->flops.of[k] > 0))
                continue;
            if (!is_open)
                head(t, lang, &gpu_text.operations, &gpu_text.operations_head);
            is_open = true;
            double peak = run->peaks.tflops[gpu_flop_peak((enum gpu_flop_type)k)];
            double rate = s->flops.of[k] / s->main->m[GPU_M_DUR_NS] / 1e3;
            markdown_row(t, "scg21", s->name, gpu_flop_name((enum gpu_flop_type)k), s->flops.of[k],
                         rate, peak > 0 ? 100 * rate / peak : NAN);
        }
    }
}

static void health_row(const struct gpu_health_row *h, enum lang lang, struct text *t)
{
    struct text value = {0};
    char state[96];

    markdown_number(&value, h->value, strcmp(h->unit, "bytes") == 0 ? 0 : h->unit[0] ? 1 : 2);
    if (isfinite(h->value) && h->unit[0] == '%')
        text_put(&value, S(" %"));
    snprintf(state, sizeof(state), "%s%s%s", sections_word(lang, gpu_health_name(h->state)),
             h->note[0] != '\0' ? ": " : "", sections_word(lang, h->note));
    markdown_row(t, "cscccc", sections_word(lang, h->metric), text_view(&value),
                 sections_word(lang, h->healthy), state, sections_word(lang, h->if_not),
                 sections_word(lang, h->hint));
    text_free(&value);
}

static void health(const struct gpu_run *run, enum lang lang, struct text *t)
{
    text_format(t, "\n## %.*s\n", STR_ARGS(message_in(lang, &gpu_text.kernel_metrics)));
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        text_format(t, "\n### ");
        markdown_line(t, s->name);
        text_format(t, "\n");
        if (s->main != NULL) {
            text_format(t, "`");
            markdown_line(t, s->main->name);
            text_format(t, "`");
            PUT(t, lang, &gpu_text.launches, PLACE("n", s->kernels.n));
        }
        if (!isnan(s->event_ns))
            PUT(t, lang, &gpu_text.without_counters, PLACE("us", s->event_ns / 1e3));
        text_put(t, S("\n\n"));
        markdown_head(t, message_in(lang, &gpu_text.health_head).at);
        for (size_t k = 0; k < GPU_HEALTH_ROWS; k++)
            health_row(&s->health[k], lang, t);
    }
}

static struct str dims_of(const uint32_t dims[3], char buf[40])
{
    int n = snprintf(buf, 40, "%ux%ux%u", dims[0], dims[1], dims[2]);

    return dims[0] == 0 ? S(MARKDOWN_DASH) : (struct str){buf, (size_t)n};
}

static void tiling(const struct gpu_run *run, enum lang lang, struct text *t)
{
    char grid[40], block[40], cluster[40];

    head(t, lang, &gpu_text.tiling, &gpu_text.tiling_head);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_kernel *k = s->main;
        const struct gpu_occupancy *o = &s->occupancy;
        if (k == NULL)
            continue;
        markdown_row(t, "ssss00000c1g", s->name, dims_of(k->grid, grid), dims_of(k->block, block),
                     dims_of(k->cluster, cluster), k->m[GPU_M_REGS], k->m[GPU_M_SMEM_STATIC],
                     k->m[GPU_M_SMEM_DYNAMIC], k->m[GPU_M_LOCAL_PER_THREAD],
                     o->is_known ? o->blocks_per_sm : NAN, sections_word(lang, o->limiter),
                     isnan(o->theory_pct) ? k->m[GPU_M_OCC_THEORY] : o->theory_pct,
                     gpu_waves(k, o));
    }
}

static const char *const bounds[GPU_BOUNDS] = {"Memory-bound", "Compute-bound", "Latency-bound",
                                               "Unknown"};

static void comparison(const struct gpu_run *run, enum lang lang, struct text *t)
{
    head(t, lang, &gpu_text.comparison, &gpu_text.comparison_head);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        markdown_row(t, "s21zc2", s->name, s->dur_ns / 1e3, 100 * s->share, s->kernels.n,
                     sections_word(lang, bounds[gpu_class_shown(&s->class).bound]),
                     s->roofline.gap);
    }
}

static void timing(const struct gpu_run *run, enum lang lang, struct text *t)
{
    struct gpu_timing x = gpu_timing_of(run->timings.at, run->timings.n);
    struct text interval = {0};

    markdown_number(&interval, x.low / 1e3, 2);
    text_put(&interval, message_word(lang, S(" to ")));
    markdown_number(&interval, x.high / 1e3, 2);
    head(t, lang, &gpu_text.timing, &gpu_text.timing_head);
    markdown_row(t, "z22224s2", x.n, x.median / 1e3, x.p10 / 1e3, x.p90 / 1e3, x.min / 1e3, x.cv,
                 text_view(&interval), run->host_ns / 1e3);
    text_free(&interval);
}

static void diagnosis(const struct gpu_run *run, enum lang lang, struct text *t)
{
    head(t, lang, &gpu_text.diagnosis, &gpu_text.diagnosis_head);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_kernel *k = s->main;
        struct str reason = S(MARKDOWN_DASH);
        const char *pipe;
        char class[96];
        double share;
        if (k == NULL)
            continue;
        gpu_kernel_top_stall(k, &reason, &share);
        const struct gpu_class shown = gpu_class_shown(&s->class);
        snprintf(class, sizeof(class), "%s / %s%s", sections_word(lang, bounds[shown.bound]),
                 sections_word(lang, shown.sub),
                 shown.is_weak ? sections_word(lang, " (weak)") : "");
        markdown_row(t, "sc211111gcs", s->name, class, s->class.confidence,
                     gpu_compute_pct(k, &pipe), k->m[GPU_M_DRAM_PCT], gpu_l1_pct(k), gpu_l2_pct(k),
                     k->m[GPU_M_OCC], gpu_waves(k, &s->occupancy),
                     sections_word(lang, s->occupancy.limiter), reason);
    }
}

/* Everything found, ranked or not: the block shows three. */
static void recommendations(const struct gpu_run *run, enum lang lang, struct text *t)
{
    head(t, lang, &gpu_text.recommendations, &gpu_text.recommendations_head);
    for (size_t i = 0; i < run->stages.n; i++)
        for (size_t k = 0; k < run->stages.at[i].opportunities.all.n; k++) {
            const struct gpu_opportunity *o = &run->stages.at[i].opportunities.all.at[k];
            char id[16];
            snprintf(id, sizeof(id), "O%d", o->id);
            markdown_row(t, "scs1sc", run->stages.at[i].name, id,
                         gpu_report_said(run, lang, o->name), o->gain,
                         gpu_report_said(run, lang, o->trigger),
                         sections_word(lang, o->is_ranked ? "yes" : "no"));
        }
}

static void hot(const struct gpu_run *run, enum lang lang, struct text *t, bool is_lines,
                size_t most)
{
    head(t, lang, is_lines ? &gpu_text.hot_lines : &gpu_text.hot_instructions, &gpu_text.hot_head);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_kernel *k = run->stages.at[i].main;
        size_t n = k == NULL ? 0 : is_lines ? k->hot_lines.n : k->hot_instructions.n;
        for (size_t j = 0; j < n && j < most; j++) {
            const struct gpu_hot *h = is_lines ? &k->hot_lines.at[j] : &k->hot_instructions.at[j];
            markdown_row(t, "ss100ss", run->stages.at[i].name, h->place, h->share, h->samples,
                         h->inst, h->stall, str_part(h->text, 0, 120));
        }
    }
}

static bool has_lines(const struct gpu_run *run)
{
    for (size_t i = 0; i < run->stages.n; i++)
        if (run->stages.at[i].main != NULL && run->stages.at[i].main->hot_lines.n > 0)
            return true;
    return false;
}

static void notes(const struct gpu_run *run, enum lang lang, struct text *t)
{
    text_format(t, "\n## %.*s\n", STR_ARGS(message_in(lang, &gpu_text.notes)));
    for (size_t i = 0; i < run->notes.n; i++) {
        text_format(t, "- ");
        markdown_line(t, gpu_report_said(run, lang, run->notes.at[i]));
        text_format(t, "\n");
    }
    if (run->notes.n == 0)
        text_format(t, "- %s\n", sections_word(lang, "none"));
}

/* A line of a section that was made before: the cells of a row, or the whole. */
static void sections_put_line(const struct gpu_run *run, enum lang lang, struct text *t,
                              struct str line)
{
    struct str cell, rest = str_part(line, 1, line.n);

    if (!str_starts(line, S("|")) || str_starts(line, S("|---"))) {
        text_put(t, gpu_report_said(run, lang, line));
        return;
    }
    while (str_split(&rest, '|', &cell) && rest.at != NULL) {
        struct str said = gpu_report_said(run, lang, str_trim(cell));
        text_format(t, "| %.*s%s", STR_ARGS(said), said.n > 0 ? " " : "");
    }
    text_char(t, '|');
}

static void sections(const struct gpu_run *run, enum lang lang, struct text *t)
{
    for (size_t i = 0; i < run->sections.n; i++) {
        const struct gpu_section *section = &run->sections.at[i];
        struct str rest = section->body, line;
        text_format(t, "\n## %.*s\n", STR_ARGS(gpu_report_said(run, lang, section->heading)));
        if (lang == LANG_EN) {
            text_put(t, section->body);
            continue;
        }
        while (rest.n > 0 && str_split(&rest, '\n', &line)) {
            sections_put_line(run, lang, t, line);
            text_char(t, '\n');
        }
    }
}

void gpu_report_sections(const struct gpu_run *run, enum lang lang, struct text *t)
{
    device(run, lang, t);
    if (str_equal(run->mode, S("event"))) {
        timing(run, lang, t);
        roofline(run, lang, t);
    } else if (str_equal(run->mode, S("ncu"))) {
        diagnosis(run, lang, t);
        recommendations(run, lang, t);
        hot(run, lang, t, false, HOT);
        hot(run, lang, t, true, HOT);
        sections(run, lang, t); /* Files */
        notes(run, lang, t);
        return;
    } else if (!str_equal(run->mode, S("nsys"))) {
        roofline(run, lang, t);
        levels(run, lang, t);
        operations(run, lang, t);
        health(run, lang, t);
        tiling(run, lang, t);
        comparison(run, lang, t);
        if (has_lines(run))
            hot(run, lang, t, true, HOT_OF_SAMPLES);
    }
    sections(run, lang, t);
    notes(run, lang, t);
}

void gpu_report_verbose(const struct gpu_run *run, struct text *t)
{
    struct arena arena;

    arena_init(&arena);
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
            text_format(t, "\n- %s %s: %s\n", markdown_safe(&arena, k->rules.at[j].type),
                        markdown_safe(&arena, k->rules.at[j].name),
                        markdown_safe(&arena, k->rules.at[j].text));
    }
    arena_free(&arena);
}
