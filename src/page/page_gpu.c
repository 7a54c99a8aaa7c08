/*
 * A GPU run as a page: how close each stage is to the machine's limits, why its warps wait, what
 * would help.
 */
#include <math.h>

#include "base/text/mangled.h"
#include "gpu/judge/report.h"
#include "ops/short_name.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "page/pages.h"
#include "text/gpu.h"
#include "text/page.h"

enum { HOT_SHOWN = 6 };

/* ---- texts that a run keeps in English ---- */

static struct wording said(struct page_file *page, const struct gpu_run *run, struct str english)
{
    struct str texts[LANGS];

    for (enum lang lang = 0; lang < LANGS; lang++)
        texts[lang] = arena_str(&page->arena, gpu_report_said(run, lang, english));
    return page_pair(page, texts);
}

static struct wording gpu_cause_of(struct page_file *page, const struct gpu_stage *s)
{
    struct str texts[LANGS];

    for (enum lang lang = 0; lang < LANGS; lang++) {
        struct text t = {0};
        gpu_report_cause(s, lang, &t);
        texts[lang] = arena_str(&page->arena, text_view(&t));
        text_free(&t);
    }
    return page_pair(page, texts);
}

/* ---- first screen ---- */

static struct wording verdict_of(struct page_file *page, const struct gpu_run *run,
                                 const struct gpu_stage *s)
{
    enum gpu_bound bound = gpu_class_shown(&s->class).bound;

    return PAGE_TELL(page, gpu_report_verdict(run, bound),
                     page_placed(page, "bound", wording_plain(str_of(gpu_bound_name(bound)))),
                     PLACE("stage", mangled_short(&page->arena, s->name)),
                     place_quantity("share", s->share, UNIT_RATIO),
                     place_quantity("time", gpu_run_whole(run), UNIT_NS),
                     page_placed(page, "cause", gpu_cause_of(page, s)), PLACE("action", ""));
}

/* What the main stage reaches of what it could. */
static struct wording evidence_of(struct page_file *page, const struct gpu_stage *s)
{
    struct str stall;
    double share;

    if (s->main != NULL && gpu_kernel_top_stall(s->main, &stall, &share))
        return PAGE_TELL(page, &page_text.gpu_evidence_stall, PLACE("stall", stall),
                         PLACE("share", page_share_text(&page->arena, share)));
    if (isfinite(s->roofline.pct_roof))
        return PAGE_TELL(page, &page_text.gpu_evidence_roof,
                         PLACE("share", page_share_text(&page->arena, s->roofline.pct_roof / 100)));
    return page_say(page, &page_text.gpu_evidence_none);
}

static void add_verdict(struct page_file *page, const struct gpu_run *run)
{
    bool is_mixed;
    const struct gpu_stage *s = gpu_run_main_stage(run, &is_mixed);

    page->verdict = (struct page_verdict){
        .id = "gpu",
        .text = s != NULL ? verdict_of(page, run, s) : page_say(page, &gpu_text.brief_nothing),
        .evidence = s != NULL ? evidence_of(page, s) : page_say(page, &page_text.gpu_evidence_none),
        .replay_error = -1,
    };
}

static void add_actions(struct page_file *page, const struct gpu_run *run)
{
    struct gpu_opportunity top[PAGE_ACTIONS];
    size_t n = gpu_run_top(run, top, PAGE_ACTIONS);
    double duration = gpu_run_duration(run);

    for (size_t i = 0; i < n; i++)
        page->actions[page->n_actions++] = (struct page_action){
            .id = top[i].family,
            .title = page_capital(page, said(page, run, top[i].name)),
            .evidence = said(page, run, top[i].trigger),
            .show = page_say(page, &page_text.show_opportunities),
            .saving = nanos_of(duration * top[i].gain / 100),
            .share = top[i].gain / 100,
            .bound = SAVING_AT_MOST,
            .link = S("#v=opportunities"),
        };
}

/* ---- views ---- */

static double compute_of(const struct gpu_kernel *k)
{
    const char *pipe;

    return gpu_compute_pct(k, &pipe);
}

static void put_limit(struct page_file *page, struct page_bars *bars, const struct message *label,
                      double percent, int family)
{
    if (isfinite(percent))
        page_bar_add(bars, (struct page_bar){.label = page_say(page, label),
                                             .value = percent / 100,
                                             .family = family});
}

static void add_limits_of(struct page_file *page, struct page_panel *panel,
                          const struct gpu_stage *s, bool is_first)
{
    const struct gpu_kernel *k = s->main;
    struct page_bars *bars = page_bars_add(panel, NULL, PAGE_SHARE, 1);

    page_part(panel)->title = PAGE_TELL(page, &page_text.heading_limits, PLACE("stage", s->name));
    page_part(panel)->room = is_first ? PAGE_HALF : PAGE_BELOW;
    if (k != NULL) {
        put_limit(page, bars, &page_text.limit_compute, compute_of(k), PAGE_MATRIX);
        put_limit(page, bars, &page_text.limit_tensor, k->m[GPU_M_TC_PCT], PAGE_MATRIX);
        put_limit(page, bars, &page_text.limit_issue, k->m[GPU_M_ISSUE_PCT], PAGE_MATRIX);
        put_limit(page, bars, &page_text.limit_l1, gpu_l1_pct(k), PAGE_COPY);
        put_limit(page, bars, &page_text.limit_l2, gpu_l2_pct(k), PAGE_COPY);
        put_limit(page, bars, &page_text.limit_dram, k->m[GPU_M_DRAM_PCT], PAGE_COPY);
        put_limit(page, bars, &page_text.limit_occupancy, k->m[GPU_M_OCC], PAGE_HOST);
    }
    put_limit(page, bars, &page_text.limit_roof, s->roofline.pct_roof, PAGE_VECTOR);
    if (bars->at.n == 0)
        page_part(panel)->note = page_say(page, &page_text.missing_counters);
}

static void add_limits(struct page_file *page, const struct gpu_run *run,
                       const struct gpu_stage *main)
{
    struct page_panel *panel = page_panel_add(page, "limits", &page_text.nav_limits);

    if (main != NULL)
        add_limits_of(page, panel, main, true);
    for (size_t i = 0; i < run->stages.n; i++)
        if (&run->stages.at[i] != main)
            add_limits_of(page, panel, &run->stages.at[i], false);
}

static void add_roof(struct page_chart *c, const struct gpu_run *run, const struct gpu_stage *s)
{
    double bandwidth = run->peaks.gbps * 1e9, peak = s->peak_tflops * 1e12;
    double ridge = peak / bandwidth;
    double x[] = {ridge / 1e6, ridge, ridge * 1e6}, y[] = {bandwidth * x[0], peak, peak};

    for (size_t i = 0; i < c->curves.n; i++)
        if (c->curves.at[i].y.at[2] == peak)
            return;
    page_curve_add(c, wording_plain(str_of(s->peak_name)), x, y, ARRAY_LEN(x));
}

static void put_point(struct page_file *page, struct page_chart *c, const struct gpu_stage *s,
                      size_t row, const char *level, double ai, int family)
{
    struct str name = level != NULL
                          ? arena_format(&page->arena, "%.*s (%s)", STR_ARGS(s->name), level)
                          : arena_str(&page->arena, s->name);

    if (isfinite(ai) && ai > 0 && s->roofline.tflops > 0)
        vec_push(&c->points, ((struct page_point){ai, s->roofline.tflops * 1e12, s->dur_ns,
                                                  wording_plain(name), family, row}));
}

/* A stage at the intensity of its work, and of what each level of memory moved. */
static void add_points(struct page_file *page, struct page_chart *c, const struct gpu_stage *s,
                       size_t row)
{
    static const int families[GPU_LEVELS] = {PAGE_LAYOUT, PAGE_HOST, PAGE_COPY};

    put_point(page, c, s, row, NULL, s->roofline.ai, PAGE_MATRIX);
    for (size_t i = GPU_LEVELS; i > 0; i--)
        put_point(page, c, s, row, s->levels[i - 1].name, s->levels[i - 1].ai, families[i - 1]);
}

/* Stages in the order of the time that they are away from their roofs. */
static void order_stages(const struct gpu_run *run, size_t *order)
{
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        double roof = isfinite(s->roofline.pct_roof) ? s->roofline.pct_roof / 100 : 1;
        double away = s->dur_ns * (1 - roof);
        size_t k = i;
        for (; k > 0; k--) {
            const struct gpu_stage *o = &run->stages.at[order[k - 1]];
            double other = isfinite(o->roofline.pct_roof) ? o->roofline.pct_roof / 100 : 1;
            if (o->dur_ns * (1 - other) >= away)
                break;
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

static void put_stage(struct page_file *page, struct page_table *t, const struct gpu_stage *s)
{
    page_cell_text(t, s->name);
    page_cell_number(t, s->dur_ns);
    page_cell_number(t, s->share);
    page_cell_number(t, s->roofline.pct_roof / 100);
    struct str texts[LANGS];
    for (enum lang lang = 0; lang < LANGS; lang++) {
        char buf[96];
        texts[lang] = arena_str(&page->arena, str_of(gpu_report_class(&s->class, lang, buf)));
    }
    page_cell_wording(t, page_pair(page, texts));
    page_cell_number(t, s->roofline.tflops > 0 ? s->roofline.tflops * 1e12 : NAN);
    page_cell_number(t, s->roofline.gbps > 0 ? s->roofline.gbps * 1e9 : NAN);
    page_cell_number(t, s->roofline.floor_ns);
}

static void add_roofline(struct page_file *page, const struct gpu_run *run)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_stage, PAGE_NAME, false},          {&page_text.col_time, PAGE_NS, true},
        {&page_text.col_share, PAGE_SHARE, false},         {&page_text.col_roof, PAGE_SHARE, false},
        {&page_text.col_bound, PAGE_TEXT, false},          {&page_text.col_rate, PAGE_FLOPS, false},
        {&page_text.col_bandwidth, PAGE_BANDWIDTH, false}, {&page_text.col_floor, PAGE_NS, false},
    };
    struct page_panel *panel = page_panel_add(page, "roofline", &page_text.nav_roofline);
    size_t *order = ARENA_ARRAY(&page->arena, size_t, run->stages.n + 1);
    struct page_chart *c = page_chart_add(panel, &page_text.heading_roofline);

    c->x_unit = PAGE_PLAIN;
    c->y_unit = PAGE_FLOPS;
    c->x_label = &page_text.axis_intensity;
    c->y_label = &page_text.axis_rate;
    order_stages(run, order);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[order[i]];
        if (s->peak_tflops > 0 && run->peaks.gbps > 0)
            add_roof(c, run, s);
        add_points(page, c, s, i);
    }
    page_part(panel)->room = c->points.n > 0 ? PAGE_HALF : PAGE_BELOW;
    if (c->points.n == 0)
        page_part(panel)->note = page_say(page, &page_text.missing_work);
    struct page_table *t =
        page_table_add(panel, &page_text.heading_stages, columns, ARRAY_LEN(columns));
    page_part(panel)->room = c->points.n == 0 ? PAGE_HALF : PAGE_BELOW;
    for (size_t i = 0; i < run->stages.n; i++)
        put_stage(page, t, &run->stages.at[order[i]]);
}

static double stall_sum(const struct gpu_kernel *k)
{
    double sum = 0;

    for (size_t i = 0; i < k->n_stalls; i++)
        if (!str_equal(k->stalls[i].reason, S("selected")))
            sum += k->stalls[i].ratio;
    return sum;
}

/* Longest first; a kernel has some twenty reasons. */
static void put_stalls(struct page_file *page, struct page_bars *bars, const struct gpu_kernel *k)
{
    bool is_put[GPU_STALLS] = {false};
    double sum = stall_sum(k);

    for (size_t n = 0; n < k->n_stalls; n++) {
        size_t most = SIZE_MAX;
        for (size_t i = 0; i < k->n_stalls; i++)
            if (!is_put[i] && (most == SIZE_MAX || k->stalls[i].ratio > k->stalls[most].ratio))
                most = i;
        is_put[most] = true;
        if (str_equal(k->stalls[most].reason, S("selected")) || !(k->stalls[most].ratio > 0))
            continue;
        page_bar_add(bars, (struct page_bar){.label = wording_plain(
                                                 arena_str(&page->arena, k->stalls[most].reason)),
                                             .value = k->stalls[most].ratio / sum,
                                             .family = PAGE_COMM});
    }
}

static void add_stalls(struct page_file *page, const struct gpu_run *run,
                       const struct gpu_stage *main)
{
    struct page_panel *panel = NULL;

    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        if (s->main == NULL || !(stall_sum(s->main) > 0))
            continue;
        if (panel == NULL)
            panel = page_panel_add(page, "stalls", &page_text.nav_stalls);
        struct page_bars *bars = page_bars_add(panel, NULL, PAGE_SHARE, 1);
        page_part(panel)->title =
            PAGE_TELL(page, &page_text.heading_stalls, PLACE("stage", s->name));
        page_part(panel)->room = s == main ? PAGE_HALF : PAGE_BELOW;
        put_stalls(page, bars, s->main);
    }
    if (panel == NULL)
        page_add_missing(page, page_say(page, &page_text.missing_stalls));
}

static void put_hot(struct page_file *page, struct page_table *t, const struct gpu_stage *s,
                    const struct gpu_hot *hot)
{
    page_cell_number(t, hot->share / 100);
    page_cell_text(t, arena_str(&page->arena, hot->place));
    page_cell_text(t, arena_str(&page->arena, str_trim(hot->text)));
    page_cell_text(t, arena_str(&page->arena, hot->stall));
    page_cell_number(t, hot->samples);
    page_cell_text(t, arena_str(&page->arena, s->name));
}

static void add_hot(struct page_file *page, const struct gpu_run *run)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_samples_share, PAGE_SHARE, true}, {&page_text.col_place, PAGE_NAME, false},
        {&page_text.col_code, PAGE_CODE, false},          {&page_text.col_stall, PAGE_TEXT, false},
        {&page_text.col_samples, PAGE_COUNT, false},      {&page_text.col_stage, PAGE_NAME, false},
    };
    struct page_panel *panel = NULL;

    for (int what = 0; what < 2; what++) { /* lines, then instructions */
        struct page_table *t = NULL;
        for (size_t i = 0; i < run->stages.n; i++) {
            const struct gpu_stage *s = &run->stages.at[i];
            const struct gpu_hot *hot = s->main == NULL ? NULL
                                        : what == 0     ? s->main->hot_lines.at
                                                        : s->main->hot_instructions.at;
            size_t n = s->main == NULL ? 0
                       : what == 0     ? s->main->hot_lines.n
                                       : s->main->hot_instructions.n;
            if (n == 0)
                continue;
            if (panel == NULL)
                panel = page_panel_add(page, "hot", &page_text.nav_hot);
            if (t == NULL) {
                bool is_first = panel->parts.n == 0;
                t = page_table_add(panel,
                                   what == 0 ? &page_text.heading_hot_lines
                                             : &page_text.heading_hot_instructions,
                                   columns, ARRAY_LEN(columns));
                page_part(panel)->room = is_first ? PAGE_HALF : PAGE_BELOW;
                t->shown = HOT_SHOWN;
                t->columns_shown = 4;
            }
            for (size_t k = 0; k < n; k++)
                put_hot(page, t, s, &hot[k]);
        }
    }
    if (panel == NULL)
        page_add_missing(page, page_say(page, &page_text.missing_hot));
}

static void add_opportunities(struct page_file *page, const struct gpu_run *run)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_opportunity, PAGE_TEXT, false}, {&page_text.col_gain, PAGE_SHARE, true},
        {&page_text.col_trigger, PAGE_TEXT, false},     {&page_text.col_stage, PAGE_NAME, false},
        {&page_text.col_ranked, PAGE_TEXT, false},
    };
    struct page_panel *panel = page_panel_add(page, "opportunities", &page_text.nav_opportunities);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));

    page_part(panel)->note = page_say(page, &page_text.opportunities_note);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        for (size_t k = 0; k < s->opportunities.all.n; k++) {
            const struct gpu_opportunity *o = &s->opportunities.all.at[k];
            page_cell_wording(t, said(page, run, o->name));
            page_cell_number(t, o->gain / 100);
            page_cell_wording(t, said(page, run, o->trigger));
            page_cell_text(t, arena_str(&page->arena, s->name));
            page_cell_wording(t, page_say(page, o->is_ranked ? &page_text.yes : &page_text.no));
        }
    }
}

static void add_kernels(struct page_file *page, const struct gpu_run *run)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_kernel, PAGE_NAME, false},
        {&page_text.col_time, PAGE_NS, true},
        {&page_text.limit_compute, PAGE_SHARE, false},
        {&page_text.limit_dram, PAGE_SHARE, false},
        {&page_text.limit_l1, PAGE_SHARE, false},
        {&page_text.limit_l2, PAGE_SHARE, false},
        {&page_text.col_l1_hit, PAGE_SHARE, false},
        {&page_text.col_l2_hit, PAGE_SHARE, false},
        {&page_text.limit_occupancy, PAGE_SHARE, false},
        {&page_text.col_launches, PAGE_COUNT, false},
    };
    struct page_panel *panel = page_panel_add(page, "kernels", &page_text.nav_launches);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < run->kernels.n; i++) {
        const struct gpu_kernel *k = &run->kernels.at[i];
        page_cell_text(t, arena_str(&page->arena, short_name_of(k->name)));
        page_cell_number(t, k->m[GPU_M_DUR_NS]);
        page_cell_number(t, compute_of(k) / 100);
        page_cell_number(t, k->m[GPU_M_DRAM_PCT] / 100);
        page_cell_number(t, gpu_l1_pct(k) / 100);
        page_cell_number(t, gpu_l2_pct(k) / 100);
        page_cell_number(t, k->m[GPU_M_L1_HIT] / 100);
        page_cell_number(t, k->m[GPU_M_L2_HIT] / 100);
        page_cell_number(t, k->m[GPU_M_OCC] / 100);
        page_cell_number(t, (double)gpu_kernel_launches(k));
    }
}

void page_gpu(struct page_file *page, const struct gpu_run *run)
{
    bool is_mixed;
    const struct gpu_stage *main = gpu_run_main_stage(run, &is_mixed);

    page->title = run->kernel.n > 0 ? arena_str(&page->arena, run->kernel) : S("GPU");
    if (run->version.n > 0)
        page_add_fact(page, PAGE_TELL(page, &page_text.gpu_version, PLACE("name", run->version)));
    if (run->device.name.n > 0)
        page_add_fact(page, wording_plain(run->device.name));
    page_add_fact(page, PAGE_TELL(page, &page_text.gpu_stages, PLACE("n", run->stages.n)));
    page_add_fact(page, PAGE_TELL(page, &page_text.gpu_launches, PLACE("n", run->kernels.n)));
    add_verdict(page, run);
    add_actions(page, run);
    add_limits(page, run, main);
    add_roofline(page, run);
    add_stalls(page, run, main);
    add_hot(page, run);
    add_opportunities(page, run);
    add_kernels(page, run);
    page_add_missing(page, page_say(page, &page_text.missing_timeline));
    for (size_t i = 0; i < run->notes.n && i < 3; i++)
        page_add_missing(page, said(page, run, run->notes.at[i]));
}
