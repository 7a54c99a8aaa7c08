/*
 * Idle time at the edges of the recording.
 */
#include "analysis/steps/boundary.h"

#include "analysis/idle/bubbles.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"

static bool touches(struct interval gap, struct interval span, nanos epsilon)
{
    return gap.end > gap.begin &&
           (nanos_sub(gap.begin, span.begin) <= epsilon || nanos_sub(span.end, gap.end) <= epsilon);
}

/* The longest of a step's gaps, whatever its kind. */
static struct interval largest_gap(const struct step *step, const struct step_metrics *m)
{
    struct interval gap = m->largest;
    nanos most = m->largest_internal;

    if (m->prelaunch > most) {
        gap = (struct interval){step->window.begin, nanos_add(step->window.begin, m->prelaunch)};
        most = m->prelaunch;
    }
    if (m->tail > most)
        gap = (struct interval){nanos_sub(step->window.end, m->tail), step->window.end};
    return gap;
}

/* Fewer than 80 % of the median number of kernels of the other steps. */
static bool is_cut_short(struct study *st, const struct bubbles *b, size_t n_steps)
{
    size_t n = n_steps - 1;
    int64_t *counts = ARENA_ARRAY(&st->scratch, int64_t, n_steps);

    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        counts[i] = (int64_t)b->inventory[i].kernels;
    return (double)b->inventory[n].kernels * 5 < ranked_pick_middle(counts, n) * 4;
}

const struct boundary *boundary_find(struct study *st)
{
    const struct bubbles *b = study_bubbles(st);
    const struct steps *steps = study_steps(st);
    struct interval span = b->global.span;
    struct boundary *out = ARENA_NEW(&st->scratch, struct boundary);
    bool *bubbles = ARENA_ARRAY(&st->scratch, bool, b->n);
    bool *partial = ARENA_ARRAY(&st->scratch, bool, steps->n);

    out->epsilon = nanos_sub(span.end, span.begin) / 200;
    if (out->epsilon > 1000000)
        out->epsilon = 1000000;
    for (size_t i = 0; i < b->n; i++)
        bubbles[i] = touches(b->list[i].at, span, out->epsilon);
    for (size_t i = 0; i < steps->n; i++) {
        bool is_end = i == 0 || i + 1 == steps->n;
        partial[i] = touches(largest_gap(&steps->at[i], &b->metrics[i]), span, out->epsilon) ||
                     (is_end && b->inventory[i].kernels == 0) ||
                     (i + 1 == steps->n && is_cut_short(st, b, steps->n));
    }
    out->is_bubble = bubbles;
    out->is_partial = partial;
    return out;
}
