/*
 * The gaps of the study, as far as they are in the window: pieces with a cause each.
 */
#include "gpu/timeline/timeline_in.h"

struct taker {
    const struct timeline *t;
    struct timeline_device *d;
    size_t task;   /* the first that begins at or after the last piece */
    uint32_t last; /* slice of the work that ends last before it */
    nanos last_end;
    uint32_t next_number; /* of gaps outside of steps */
};

static uint32_t slice_or_none(uint32_t slice)
{
    return slice != NO_SLICE ? slice : TIMELINE_NONE;
}

/* A piece, cut to the window, with the work around it. */
static void gaps_take(struct taker *k, struct timeline_gap gap)
{
    const struct device_tasks *all = &k->d->account->tasks;
    struct interval w = k->d->window;

    gap.begin = gap.begin > w.begin ? gap.begin : w.begin;
    gap.end = gap.end < w.end ? gap.end : w.end;
    if (gap.begin >= gap.end)
        return;
    for (; k->task < all->n && all->at[k->task].begin < gap.end; k->task++)
        if (all->at[k->task].end >= k->last_end) {
            k->last_end = all->at[k->task].end;
            k->last = all->at[k->task].slice;
        }
    gap.prev = k->last;
    gap.next = k->task < all->n ? all->at[k->task].slice : TIMELINE_NONE;
    vec_push(&k->d->gaps.at, gap);
}

/* Idle time of the window in [begin, end), where there are no steps. */
static void gaps_take_outside(struct taker *k, nanos begin, nanos end)
{
    const struct device_tasks *all = &k->d->account->tasks;
    nanos now = k->d->window.begin > begin ? k->d->window.begin : begin;

    end = k->d->window.end < end ? k->d->window.end : end;
    for (size_t i = 0; i < all->n && all->at[i].begin < end; i++) {
        if (all->at[i].begin > now)
            gaps_take(k, (struct timeline_gap){.begin = now,
                                               .end = all->at[i].begin,
                                               .number = k->next_number++,
                                               .filled_by = TIMELINE_NONE,
                                               .cause = GAP_OUTSIDE});
        now = all->at[i].end > now ? all->at[i].end : now;
    }
    gaps_take(k, (struct timeline_gap){.begin = now,
                                       .end = end,
                                       .number = k->next_number++,
                                       .filled_by = TIMELINE_NONE,
                                       .cause = GAP_OUTSIDE});
}

static size_t band_of(nanos length)
{
    size_t band = 0;

    for (nanos limit = 1000; band < GAP_BANDS - 1 && length >= limit; limit *= 10)
        band++;
    return band;
}

static void gaps_count(struct timeline_gaps *gaps)
{
    nanos *list = mem_grow(NULL, sizeof(*list), gaps->at.n + 1);
    size_t n = 0;
    uint32_t seen = 0; /* causes of the gap at hand */

    for (size_t i = 0; i < gaps->at.n; i++) {
        const struct timeline_gap *g = &gaps->at.at[i];
        nanos length = nanos_sub(g->end, g->begin);
        bool is_next = i > 0 && g[-1].number == g->number;
        if (!is_next) {
            list[n++] = 0;
            seen = 0;
        }
        list[n - 1] = nanos_add(list[n - 1], length);
        gaps->count[g->cause] += (seen >> g->cause & 1) == 0;
        seen |= UINT32_C(1) << g->cause;
        gaps->total[g->cause] = nanos_add(gaps->total[g->cause], length);
    }
    for (size_t i = 0; i < n; i++)
        gaps->band[band_of(list[i])]++;
    gaps->all = timeline_quantiles(list, n);
    mem_free(list);
}

/* Before the first step, in the steps, behind the last one. */
void timeline_take_gaps(struct timeline *t, struct timeline_device *d)
{
    const struct accounting *a = d->account;
    struct taker k = {.t = t,
                      .d = d,
                      .last = TIMELINE_NONE,
                      .last_end = INT64_MIN,
                      .next_number = (uint32_t)a->gaps};

    if (a->n == 0 || a->tasks.n == 0)
        return;
    gaps_take_outside(&k, INT64_MIN, a->all.window.begin);
    for (size_t i = 0; i < a->pieces.n; i++) {
        const struct idle_piece *p = &a->pieces.at[i];
        gaps_take(&k, (struct timeline_gap){.begin = p->at.begin,
                                            .end = p->at.end,
                                            .number = p->gap,
                                            .filled_by = slice_or_none(p->filled_by),
                                            .cause = p->cause});
    }
    gaps_take_outside(&k, a->all.window.end, INT64_MAX);
    gaps_count(&d->gaps);
}
