/*
 * A part of a capture: steps, a range, some lanes.
 */
#include "capture/cut.h"

#include <fnmatch.h>

#include "capture/title.h"

/* The first window that ends after `at`; windows.n when there is none. */
static size_t first_after(struct interval_set windows, nanos at)
{
    size_t first;

    vec_bisect(first, windows.n, i, windows.at[i].end <= at);
    return first;
}

static bool touches(const struct cut_options *o, nanos begin, nanos end)
{
    if (o->nothing)
        return false;
    if (o->windows.n == 0)
        return true;
    size_t i = first_after(o->windows, begin);
    if (i == o->windows.n)
        return false;
    return end > begin ? o->windows.at[i].begin < end : o->windows.at[i].begin <= begin;
}

/* A pattern names a lane, or process/lane. */
static bool cut_fits(const struct cut_options *o, struct str process, struct str name)
{
    char both[4096];
    size_t n = process.n + 1 + name.n;

    for (size_t i = 0; i < o->lanes_n; i++)
        if (fnmatch(o->lanes[i], name.n > 0 ? name.at : "", 0) == 0)
            return true;
    if (n >= sizeof(both))
        return false;
    if (process.n > 0)
        memcpy(both, process.at, process.n);
    both[process.n] = '/';
    if (name.n > 0)
        memcpy(both + process.n + 1, name.at, name.n);
    both[n] = '\0';
    for (size_t i = 0; i < o->lanes_n; i++)
        if (fnmatch(o->lanes[i], both, 0) == 0)
            return true;
    return false;
}

static bool wants_lane(const struct cut *cut, lane_id lane)
{
    const struct capture *cap = cut->cap;
    const struct lane_key *key = &cap->lanes.at[lane].key;
    char name[TITLE_TEXT], process[TITLE_TEXT];

    if (cut->options.lanes_n == 0)
        return true;
    return cut_fits(&cut->options, capture_text(cap, key->process), capture_text(cap, key->name)) ||
           cut_fits(&cut->options, title_process(cap, lane, process), title_lane(cap, lane, name));
}

static void widen(struct interval *span, nanos begin, nanos end, bool is_first)
{
    if (is_first || begin < span->begin)
        span->begin = begin;
    if (is_first || end > span->end)
        span->end = end;
}

static void cut_lane(struct cut *cut, lane_id id)
{
    const struct lane *lane = &cut->cap->lanes.at[id];
    const struct slices *s = &cut->cap->slices;
    size_t before = cut->slices;

    if (!wants_lane(cut, id))
        return;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        if (!touches(&cut->options, s->begin[i], slices_end(s, i)))
            continue;
        struct slice slice = cut_slice(cut, i);
        widen(&cut->span, slice.begin, nanos_add(slice.begin, slice.dur), cut->slices == 0);
        cut->slices++;
        cut->kernels += slice_is_kernel((enum slice_kind)s->kind[i]);
        if (cut->bits != NULL)
            cut->bits[i / 64] |= (uint64_t)1 << i % 64;
    }
    cut->lanes[id] = cut->slices > before;
    cut->lanes_n += cut->lanes[id];
}

static void cut_series(struct cut *cut, size_t id)
{
    const struct series *series = &cut->cap->series.at[id];
    size_t before = cut->samples;

    if (cut->options.lanes_n > 0 &&
        !cut_fits(&cut->options, capture_text(cut->cap, series->process),
                  capture_text(cut->cap, series->name)))
        return;
    for (size_t i = 0; i < series->samples.n; i++) {
        nanos at = series->samples.at[i].at;
        if (!cut_has_sample(cut, at))
            continue;
        widen(&cut->span, at, at, cut->slices == 0 && cut->samples == 0);
        cut->samples++;
    }
    cut->series[id] = cut->samples > before;
    cut->series_n += cut->series[id];
}

void cut_init(struct cut *cut, const struct capture *cap, const struct cut_options *options)
{
    size_t words = (cap->slices.n + 63) / 64;

    *cut = (struct cut){.cap = cap, .options = *options};
    cut->lanes = mem_grow(NULL, sizeof(*cut->lanes), cap->lanes.n + 1);
    cut->series = mem_grow(NULL, sizeof(*cut->series), cap->series.n + 1);
    memset(cut->lanes, 0, cap->lanes.n + 1);
    memset(cut->series, 0, cap->series.n + 1);
    if (options->nothing || options->windows.n > 0) {
        cut->bits = mem_grow(NULL, sizeof(*cut->bits), words + 1);
        memset(cut->bits, 0, sizeof(*cut->bits) * (words + 1));
    }
    for (size_t i = 0; i < cap->lanes.n; i++)
        cut_lane(cut, (lane_id)i);
    for (size_t i = 0; i < cap->series.n; i++)
        cut_series(cut, i);
    for (size_t i = 0; i < cap->flows.n; i++)
        cut->flows += cut_has_flow(cut, &cap->flows.at[i]);
}

void cut_fini(struct cut *cut)
{
    mem_free(cut->bits);
    mem_free(cut->lanes);
    mem_free(cut->series);
}

bool cut_has_sample(const struct cut *cut, nanos at)
{
    return touches(&cut->options, at, at);
}

struct slice cut_slice(const struct cut *cut, size_t i)
{
    struct slice slice = slices_at(&cut->cap->slices, i);
    struct interval_set w = cut->options.windows;

    if (!cut->options.clip || w.n == 0 || slice.dur <= 0)
        return slice;
    nanos end = nanos_add(slice.begin, slice.dur);
    nanos from = w.at[first_after(w, slice.begin)].begin;
    size_t last = first_after(w, end - 1);
    nanos to = last < w.n && w.at[last].begin < end ? end : w.at[last - 1].end;
    if (from > slice.begin)
        slice.begin = from;
    slice.dur = to - slice.begin;
    return slice;
}

struct interval cut_span(const struct capture *cap)
{
    const struct slices *s = &cap->slices;
    struct interval span = {0};

    for (size_t i = 0; i < s->n; i++)
        widen(&span, s->begin[i], slices_end(s, i), i == 0);
    bool is_first = s->n == 0;
    for (size_t i = 0; s->n == 0 && i < cap->series.n; i++)
        for (size_t k = 0; k < cap->series.at[i].samples.n; k++, is_first = false) {
            nanos at = cap->series.at[i].samples.at[k].at;
            widen(&span, at, at, is_first);
        }
    return span;
}
