#include "analysis/anomaly.h"

#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/bubbles.h"
#include "analysis/steps.h"

enum { MAX_STEP_ROWS = 20, MAX_FINDINGS = 10 };

static const struct column step_columns[] = {
    {"step", COLUMN_TEXT, UNIT_PLAIN},          {"service ms", COLUMN_NUMBER, UNIT_MS},
    {"busy ms", COLUMN_NUMBER, UNIT_MS},        {"underfeed %", COLUMN_NUMBER, UNIT_RATIO},
    {"prelaunch ms", COLUMN_NUMBER, UNIT_MS},   {"internal ms", COLUMN_NUMBER, UNIT_MS},
    {"largest gap ms", COLUMN_NUMBER, UNIT_MS}, {"tail ms", COLUMN_NUMBER, UNIT_MS},
    {"kernels", COLUMN_NUMBER, UNIT_COUNT},
};

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void summarise(struct study *st, const struct steps *steps, struct report *r)
{
    const struct capture *cap = st->cap;
    struct kernel_order kernels = study_kernels(st);
    size_t streams = 0;

    for (size_t i = 0; i < cap->lanes.n; i++)
        streams += cap->lanes.at[i].key.kind == LANE_STREAM && cap->lanes.at[i].n > 0;
    report_summary(r, arena_format(&st->scratch, "%zu %s%s · %zu kernel%s · %zu stream%s · %s",
                                   steps->n, steps->source == STEPS_PSEUDO ? "pseudo-step" : "step",
                                   plural(steps->n), kernels.n, plural(kernels.n), streams,
                                   plural(streams), origin_name(cap->origin)));
}

static void add_step(struct report *r, struct table *t, const struct step *step,
                     const struct step_metrics *m, const struct step_inventory *inv)
{
    table_text(r, t, step->id);
    table_number(t, (double)m->service);
    table_number(t, (double)m->busy);
    table_number(t, m->underfeed_ratio);
    table_number(t, (double)m->prelaunch);
    table_number(t, (double)m->internal);
    table_number(t, (double)m->largest_internal);
    table_number(t, (double)m->tail);
    table_number(t, (double)inv->kernels);
}

static void tell_steps(struct study *st, const struct steps *steps, const struct bubbles *b,
                       struct report *r)
{
    struct table *t = report_table(r, step_columns, ARRAY_LEN(step_columns));

    for (size_t i = 0; i < steps->n && i < MAX_STEP_ROWS; i++)
        add_step(r, t, &steps->at[i], &b->metrics[i], &b->inventory[i]);
    if (steps->n > MAX_STEP_ROWS)
        report_text(r, arena_format(&st->scratch, "  and %zu more steps, all of them in the JSON",
                                    steps->n - MAX_STEP_ROWS));
}

/* One heavy gap, ready to be ranked. */
struct heavy {
    enum step_tag tag;
    const struct step *step;
    nanos length, at;
};

static int longest_first(const void *a, const void *b)
{
    const struct heavy *x = a, *y = b;

    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static size_t heavy_gaps(const struct step *step, const struct step_metrics *m, struct heavy *out)
{
    const struct heavy gaps[] = {
        {TAG_PRELAUNCH_GAP_HEAVY, step, m->prelaunch, step->window.begin},
        {TAG_INTERNAL_BUBBLE_HEAVY, step, m->largest_internal, m->largest.begin},
        {TAG_TAIL_GAP_HEAVY, step, m->tail, nanos_sub(step->window.end, m->tail)},
    };
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(gaps); i++)
        if (m->tags & gaps[i].tag)
            out[n++] = gaps[i];
    /* Idle all over, though no single gap stands out. */
    if (n == 0 && (m->tags & TAG_DEVICE_IDLE_GAP_HEAVY))
        out[n++] =
            (struct heavy){TAG_DEVICE_IDLE_GAP_HEAVY, step, m->underfeed, step->window.begin};
    return n;
}

static void tell_gap(struct study *st, const struct heavy *gap, nanos origin, struct report *r)
{
    char length[QUANTITY_TEXT], at[QUANTITY_TEXT];
    const char *what = "idle in many small gaps, from";

    if (gap->tag == TAG_PRELAUNCH_GAP_HEAVY)
        what = "idle before the first kernel, at";
    else if (gap->tag == TAG_INTERNAL_BUBBLE_HEAVY)
        what = "idle between two kernels, at";
    else if (gap->tag == TAG_TAIL_GAP_HEAVY)
        what = "idle after the last kernel, at";
    quantity_print(length, (struct quantity){(double)gap->length, UNIT_NS});
    quantity_print(at, (struct quantity){(double)nanos_sub(gap->at, origin), UNIT_NS});
    report_finding(r, step_tag_name(gap->tag), PRIORITY_P3, gap->step->id,
                   arena_format(&st->scratch, "%s %s %s", length, what, at));
}

static void tell_gaps(struct study *st, const struct steps *steps, const struct bubbles *b,
                      struct report *r)
{
    struct heavy *list = ARENA_ARRAY(&st->scratch, struct heavy, steps->n * 3);
    size_t n = 0;

    for (size_t i = 0; i < steps->n; i++)
        n += heavy_gaps(&steps->at[i], &b->metrics[i], list + n);
    if (n == 0) {
        report_text(r, S("No heavy gap: no step idles for 30 % of its time, and no single gap "
                         "lasts 1 ms and a tenth of its step."));
        return;
    }
    qsort(list, n, sizeof(*list), longest_first);
    for (size_t i = 0; i < n && i < MAX_FINDINGS; i++)
        tell_gap(st, &list[i], b->global.span.begin, r);
    if (n > MAX_FINDINGS)
        report_text(r, arena_format(&st->scratch, "  and %zu more heavy gaps, in the JSON",
                                    n - MAX_FINDINGS));
    if (!(st->cap->has & HAS_HOST))
        report_text(r, S("Why the device idled cannot be told from a kernel table: "
                         "that needs host events, and none were read."));
}

void anomaly_describe(struct study *st, struct report *r)
{
    const struct steps *steps = study_steps(st);
    const struct bubbles *b = study_bubbles(st);

    summarise(st, steps, r);
    if (steps->n == 0) {
        report_text(r, S("No kernels: the capture holds no device work to judge."));
        return;
    }
    tell_steps(st, steps, b, r);
    tell_gaps(st, steps, b, r);
}

const struct analysis analysis_anomaly = {
    .name = "anomaly",
    .level = LEVEL_STEP,
    .summary = "where the device sat idle",
    .needs = HAS_KERNELS,
    .run = anomaly_describe,
};
