/*
 * The diagnosis for people: at most 30 lines of 100 columns.
 */
#include "analysis/diagnose/diagnosis.h"

#include <math.h>

#include "analysis/analysis.h"
#include "analysis/diagnose/root_limits.h"
#include "text/diagnosis.h"

enum { MAX_CLASSES = 6, MAX_CAUSES = 5, SITE_MOST = 60, SERIES_LEAST = 3, MAX_GROUPS = 4 };

static const struct column class_columns[] = {
    {"class", COLUMN_TEXT, UNIT_PLAIN},
    {"ms", COLUMN_NUMBER, UNIT_MS},
    {"share %", COLUMN_NUMBER, UNIT_RATIO},
    {"", COLUMN_BAR, UNIT_RATIO},
};

static const struct column group_columns[] = {
    {"steps", COLUMN_NUMBER, UNIT_COUNT},  {"kernels each", COLUMN_NUMBER, UNIT_COUNT},
    {"median ms", COLUMN_NUMBER, UNIT_MS}, {"in all ms", COLUMN_NUMBER, UNIT_MS},
    {"idle %", COLUMN_NUMBER, UNIT_RATIO}, {"first step", COLUMN_TEXT, UNIT_PLAIN},
};

static const struct column cause_columns[] = {
    {"cause", COLUMN_TEXT, UNIT_PLAIN},     {"saves ms", COLUMN_NUMBER, UNIT_MS},
    {"saves %", COLUMN_NUMBER, UNIT_RATIO}, {"of ms", COLUMN_NUMBER, UNIT_MS},
    {"saving is", COLUMN_TEXT, UNIT_PLAIN}, {"confidence", COLUMN_TEXT, UNIT_PLAIN},
    {"where", COLUMN_TEXT, UNIT_PLAIN},
};

/* How far steps are from their mean, where that is worth a word. */
static struct str tell_range(const struct diagnosis *d, struct report *r)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < d->n_step_times; i++) {
        least = d->step_times[i] < least ? d->step_times[i] : least;
        most = d->step_times[i] > most ? d->step_times[i] : most;
    }
    if (d->n_step_times < 2 || most - least < ROOT_PERIODS / 100.0 * (double)d->device_period)
        return S("");
    return REPORT_MESSAGE(r, &diagnosis_text.step_range, place_quantity("least", least, UNIT_NS),
                          place_quantity("most", most, UNIT_NS));
}

bool diagnosis_is_host_ahead(const struct diagnosis *d)
{
    double apart = num_share((double)d->time - (double)d->host_period, (double)d->time);

    return d->host_period > 0 && fabs(apart) > ROOT_PERIODS / 100.0;
}

static void tell_time(const struct diagnosis *d, struct report *r)
{
    double time = (double)d->device_period;
    struct str range = tell_range(d, r);
    struct str count = REPORT_MESSAGE(
        r, d->steps < d->all_steps ? &diagnosis_text.steps_of : &diagnosis_text.steps,
        PLACE("n", d->steps), PLACE("all", d->all_steps));

    if (d->is_mixed)
        report_line_text(r, REPORT_MESSAGE(r, &diagnosis_text.mixed_time, PLACE("count", count),
                                           place_quantity("time", time, UNIT_NS)));
    else if (d->is_pseudo)
        report_line_text(r, REPORT_MESSAGE(r, &diagnosis_text.whole_time,
                                           place_quantity("time", time, UNIT_NS)));
    else if (d->is_calibrated && d->identity_error <= ROOT_POOR_REPLAY / 100.0)
        report_line_text(r, REPORT_MESSAGE(r, &diagnosis_text.step_time_bare, PLACE("count", count),
                                           PLACE("range", range),
                                           place_quantity("time", time, UNIT_NS),
                                           place_quantity("bare", (double)d->bare, UNIT_NS)));
    else
        report_line_text(r, REPORT_MESSAGE(r, &diagnosis_text.step_time, PLACE("count", count),
                                           PLACE("range", range),
                                           place_quantity("time", time, UNIT_NS)));
    if (!d->is_mixed && diagnosis_is_host_ahead(d))
        report_line_text(r, REPORT_MESSAGE(r, &diagnosis_text.host_ahead,
                                           place_quantity("host", (double)d->host_period, UNIT_NS),
                                           place_quantity("device", (double)d->time, UNIT_NS)));
}

/* Steps of different work, such as prefill and decode, the longest in all first. */
static void describe_groups(const struct diagnosis *d, struct report *r)
{
    const struct diagnosis_group *order[MAX_GROUPS + 1] = {0};
    size_t n = 0;

    if (d->n_groups < 2 || d->n_groups > d->steps / 2)
        return; /* one kind of step, or each its own */
    for (size_t i = 0; i < d->n_groups; i++) {
        size_t at = n < MAX_GROUPS ? n++ : MAX_GROUPS;
        for (; at > 0 && order[at - 1]->time < d->groups[i].time; at--)
            order[at] = order[at - 1];
        order[at] = &d->groups[i];
    }
    struct table *table = report_table(r, group_columns, ARRAY_LEN(group_columns));
    for (size_t i = 0; i < n; i++) {
        table_number(table, (double)order[i]->steps);
        table_number(table, (double)order[i]->kernels);
        table_number(table, (double)order[i]->median);
        table_number(table, (double)order[i]->time);
        table_number(table, order[i]->idle_share);
        table_text(r, table, order[i]->first);
    }
}

static void describe_causes(const struct diagnosis *d, struct report *r)
{
    if (d->n_causes == 0)
        return;
    struct table *table = report_table(r, cause_columns, ARRAY_LEN(cause_columns));
    for (size_t i = 0; i < d->n_causes && i < MAX_CAUSES; i++) {
        const struct diagnosis_cause *c = &d->causes[i];
        table_text(r, table, root_cause_label(r->lang, c->found.cause));
        table_number(table, (double)c->saving);
        table_number(table, c->saving_share);
        table_number(table, (double)c->base_time);
        table_word(r, table, saving_bound_word(c->bound));
        table_word(r, table, confidence_name(c->confidence));
        table_text(r, table,
                   c->found.n_sites > 0 ? str_fit(c->found.sites[0].name, SITE_MOST) : S(""));
    }
}

static void describe_steps(const struct diagnosis *d, struct report *r)
{
    if (d->slow.step != SIZE_MAX && !(root_causes[d->verdict.found.cause].flags & ROOT_OF_STEP))
        report_text(r, REPORT_MESSAGE(
                           r, &diagnosis_text.slow_clause, PLACE("step", d->slow_id),
                           place_quantity("time", (double)d->slow.time, UNIT_NS),
                           place_quantity("median", (double)d->slow.median, UNIT_NS),
                           place_quantity("grown", (double)d->slow.grown_by, UNIT_NS),
                           PLACE("class", report_message(r, account_class_label(d->slow.grown)))));
    if (d->profiler_saving >= ROOT_PROFILER / 100.0 && d->verdict.found.cause == ROOT_HEALTHY)
        report_text(r, REPORT_MESSAGE(r, &diagnosis_text.profiler_hides,
                                      place_quantity("profiled", d->profiler_saving, UNIT_RATIO)));
}

static void tell_missing(const struct diagnosis *d, struct report *r)
{
    if (d->n_missing == 0)
        return;
    report_text(r, report_message(r, &diagnosis_text.heading_missing));
    for (size_t i = 0; i < d->n_missing; i++) {
        struct str text = wording_text(r->lang, &r->arena, d->missing[i]);
        report_line(r, "  %.*s", STR_ARGS(text));
    }
}

void diagnosis_describe(const struct diagnosis *d, struct report *r)
{
    report_text(r, wording_text(r->lang, &r->arena, d->text));
    if (d->why_first.english.n > 0)
        report_line_text(r, wording_text(r->lang, &r->arena, d->why_first));
    if (d->n_classes == 0)
        return;
    tell_time(d, r);
    for (size_t i = 0; i < d->n_groups; i++)
        if (d->groups[i].text.english.n > 0)
            report_line_text(r, wording_text(r->lang, &r->arena, d->groups[i].text));
    if (d->n_step_times >= SERIES_LEAST)
        report_series(r, report_message(r, &diagnosis_text.step_times),
                      (struct report_values){d->step_times, d->n_step_times});
    describe_groups(d, r);
    struct table *table = report_table(r, class_columns, ARRAY_LEN(class_columns));
    for (size_t i = 0; i < d->n_classes && i < MAX_CLASSES; i++) {
        table_text(r, table, report_message(r, d->classes[i].label));
        table_number(table, (double)d->classes[i].time);
        table_number(table, d->classes[i].share);
        table_number(table, d->classes[i].share);
    }
    describe_causes(d, r);
    describe_steps(d, r);
    tell_missing(d, r);
}

static const void *text_find(struct study *st)
{
    return study_diagnosis(st);
}

static void text_describe(struct study *st, struct report *r)
{
    diagnosis_describe(study_diagnosis(st), r);
}

const struct analysis analysis_diagnosis = {
    .name = "diagnosis",
    .summary = "what limits the run, what that costs, what to do",
    .needs = HAS_KERNELS,
    .schema = &diagnosis_schema,
    .find = text_find,
    .run = text_describe,
};
