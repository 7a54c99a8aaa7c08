/*
 * The verdict on a run in a sentence, with the numbers behind it.
 */
#include "gpu/judge/report.h"

#include <math.h>

#include "base/text/mangled.h"
#include "report/report.h"
#include "text/gpu.h"

enum { SHOWN_STAGES = 8, SHOWN_ACTIONS = 3 };

const struct message *gpu_report_verdict(const struct gpu_run *run, enum gpu_bound bound)
{
    if (gpu_run_duration(run) <= 0)
        return &gpu_text.brief_untimed;
    return bound == GPU_UNPROVEN ? &gpu_text.brief_unknown : &gpu_text.brief_verdict;
}

struct str gpu_report_sentence(const struct gpu_run *run, enum lang lang, struct arena *arena)
{
    const struct gpu_stage *s = gpu_run_main_stage(run, NULL);

    if (s == NULL)
        return message_in(lang, &gpu_text.brief_nothing);
    enum gpu_bound bound = gpu_class_shown(&s->class).bound;
    struct str name = message_word(lang, str_of(gpu_bound_name(bound)));
    struct gpu_opportunity best;
    bool has_best = gpu_run_top(run, &best, 1) > 0;
    struct str action = S("");
    if (has_best)
        action = MESSAGE(lang, arena, &gpu_text.brief_action,
                         PLACE("action", gpu_report_said(run, lang, best.name)),
                         PLACE("gain", best.gain));
    struct text cause = {0};
    gpu_report_cause(s, lang, &cause);
    struct str sentence = MESSAGE(lang, arena, gpu_report_verdict(run, bound), PLACE("bound", name),
                                  PLACE("stage", mangled_short(arena, s->name)),
                                  place_quantity("share", s->share, UNIT_RATIO),
                                  place_quantity("time", gpu_run_whole(run), UNIT_NS),
                                  PLACE("cause", text_view(&cause)), PLACE("action", action));
    text_free(&cause);
    return sentence;
}

static void put_percent(struct report *r, struct table *t, double percent)
{
    table_text(r, t, isnan(percent) ? S("-") : arena_format(&r->arena, "%.1f", percent));
}

static void add_stages(struct report *r, const struct gpu_run *run)
{
    static const struct column columns[] = {
        {"stage", COLUMN_TEXT, 0},      {"us", COLUMN_NUMBER, UNIT_PLAIN},
        {"share %", COLUMN_RIGHT, 0},   {"TC%", COLUMN_RIGHT, 0},
        {"DRAM%", COLUMN_RIGHT, 0},     {"Occ%", COLUMN_RIGHT, 0},
        {"Bottleneck", COLUMN_TEXT, 0},
    };
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    char class[96];

    for (size_t i = 0; i < run->stages.n && i < SHOWN_STAGES; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        const struct gpu_kernel none = gpu_kernel_none(), *k = s->main != NULL ? s->main : &none;
        table_text(r, t, s->name);
        table_number(t, s->dur_ns > 0 ? s->dur_ns / 1e3 : NAN);
        put_percent(r, t, s->dur_ns > 0 ? 100 * s->share : NAN);
        put_percent(r, t, k->m[GPU_M_TC_PCT]);
        put_percent(r, t, k->m[GPU_M_DRAM_PCT]);
        put_percent(r, t, k->m[GPU_M_OCC]);
        table_text(r, t, str_of(gpu_report_class(&s->class, r->lang, class)));
    }
    if (run->stages.n > SHOWN_STAGES)
        report_line_text(
            r, REPORT_MESSAGE(r, &gpu_text.brief_more, PLACE("n", run->stages.n - SHOWN_STAGES)));
}

void gpu_report_brief(const struct gpu_run *run, struct report *r)
{
    static const struct column columns[] = {
        {"opportunity", COLUMN_TEXT, 0},
        {"gain %", COLUMN_RIGHT, 0},
        {"trigger", COLUMN_TEXT, 0},
    };
    struct gpu_opportunity top[SHOWN_ACTIONS];
    size_t n = gpu_run_top(run, top, SHOWN_ACTIONS);
    report_text(r, gpu_report_sentence(run, r->lang, &r->arena));
    if (run->stages.n > 0)
        add_stages(r, run);
    struct table *t = n > 0 ? report_table(r, columns, ARRAY_LEN(columns)) : NULL;
    for (size_t i = 0; i < n; i++) {
        table_text(r, t, gpu_report_said(run, r->lang, top[i].name));
        table_text(r, t, arena_format(&r->arena, "%.1f", top[i].gain));
        table_text(r, t, gpu_report_said(run, r->lang, top[i].trigger));
    }
    if (run->notes.n > 0)
        report_heading(r, report_message(r, &gpu_text.brief_notes));
    for (size_t i = 0; i < run->notes.n && i < SHOWN_STAGES; i++)
        report_line(r, "  %.*s", STR_ARGS(gpu_report_said(run, r->lang, run->notes.at[i])));
}
