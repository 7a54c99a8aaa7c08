/*
 * Device work by time, and all that is made of it. See timeline.h.
 */
#include "gpu/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/ranked.h"
#include "gpu/timeline/timeline_in.h"

/* ---- words ---- */

const char *timeline_cause_name(uint32_t cause)
{
    return cause < IDLE_CAUSES ? idle_cause_name((enum idle_cause)cause) : "outside_steps";
}

ENUM_NAMES(timeline_band_name, size_t, "< 1 us", "1-10 us", "10-100 us", "100-1000 us", "> 1000 us")

uint8_t timeline_says(const struct timeline *t, strid name)
{
    if (t->names[name] == 0)
        t->names[name] = timeline_name_says(capture_text(t->cap, name)) | NAME_KNOWN;
    return t->names[name];
}

static struct attr attr_of(const struct timeline *t, uint32_t slice, struct str key)
{
    const struct capture *cap = t->cap;
    strid id = intern_find(&cap->strings, key);
    struct attr a = {0};

    if (id != 0)
        a = attrs_get(&cap->attrs, cap->slices.own[slice], id);
    if (id != 0 && a.type == ATTR_NONE)
        a = attrs_get(&cap->attrs, cap->slices.set[slice], id);
    return a;
}

int64_t timeline_number(const struct timeline *t, uint32_t slice, struct str key)
{
    struct attr a = attr_of(t, slice, key);

    return a.type == ATTR_INT ? a.number : -1;
}

int64_t timeline_link(const struct timeline *t, uint32_t slice)
{
    struct attr link = capture_slice_attr(t->cap, slice, KEY_LINK);

    return link.type == ATTR_INT ? link.number : -1;
}

struct str timeline_attr_text(const struct timeline *t, uint32_t slice, struct str key)
{
    struct attr a = attr_of(t, slice, key);

    return a.type == ATTR_TEXT ? capture_text(t->cap, a.text) : S("");
}

struct str timeline_display(const struct timeline *t, uint32_t slice)
{
    struct str name = capture_text(t->cap, t->cap->slices.name[slice]);
    struct str plain =
        str_starts(name, S("_Z")) ? timeline_attr_text(t, slice, S("short_name")) : name;

    return plain.n > 0 ? plain : name;
}

struct timeline_quantiles timeline_quantiles(nanos *list, size_t n)
{
    struct timeline_quantiles q = {.n = n, .has_any = n > 0, .median = NAN};

    if (n == 0)
        return q;
    q.max = list[0];
    for (size_t i = 0; i < n; i++) {
        q.sum = nanos_add(q.sum, list[i]);
        q.max = list[i] > q.max ? list[i] : q.max;
    }
    q.median = ranked_pick_middle(list, n);
    q.p95 = ranked_pick_nearest(list, n, 95);
    return q;
}

double timeline_efficiency(const nanos *durations, size_t n, nanos busy)
{
    nanos sum = 0, longest = 0;

    for (size_t i = 0; i < n; i++) {
        sum = nanos_add(sum, durations[i]);
        longest = durations[i] > longest ? durations[i] : longest;
    }
    if (n < 2 || sum <= longest)
        return NAN;
    return (double)nanos_sub(sum, busy) / (double)nanos_sub(sum, longest);
}

/* ---- device work ---- */

/* Streams in the order of lanes: those with work. */
static void find_streams(struct timeline *t)
{
    const struct capture *cap = t->cap;

    t->stream_of = ARENA_ARRAY(&t->arena, uint32_t, cap->lanes.n);
    memset(t->stream_of, 0xff, cap->lanes.n * sizeof(*t->stream_of));
    t->streams = ARENA_ARRAY(&t->arena, struct timeline_stream, cap->lanes.n);
    for (uint32_t d = 0; d < t->n_devices; d++) {
        const struct device_tasks *all = &t->devices[d].account->tasks;
        for (size_t i = 0; i < all->n; i++)
            t->stream_of[cap->slices.lane[all->at[i].slice]] = d;
        for (size_t i = 0; i < all->n_rows; i++)
            t->stream_of[cap->slices.lane[all->rows[i].slice]] = d;
    }
    for (lane_id i = 0; i < cap->lanes.n; i++) {
        if (t->stream_of[i] == TIMELINE_NONE)
            continue;
        t->streams[t->n_streams] = (struct timeline_stream){.lane = i, .device = t->stream_of[i]};
        t->stream_of[i] = (uint32_t)t->n_streams++;
    }
}

/* The work of a device, cut to a window that was chosen. */
static void take_tasks(struct timeline *t, struct timeline_device *d, struct interval window)
{
    const struct device_tasks *all = &d->account->tasks;
    struct device_task *own;

    d->tasks = all->at;
    d->n = all->n;
    d->window = window;
    if (window.end > window.begin) {
        own = ARENA_ARRAY(&t->arena, struct device_task, all->n);
        d->n = 0;
        for (size_t i = 0; i < all->n; i++) {
            struct device_task task = all->at[i];
            if (task.begin >= window.end || task.end <= window.begin)
                continue;
            task.begin = task.begin < window.begin ? window.begin : task.begin;
            task.end = task.end > window.end ? window.end : task.end;
            own[d->n++] = task;
        }
        d->tasks = own;
    }
    d->flags = arena_array(&t->arena, 1, d->n + 1);
    memset(d->flags, 0, d->n + 1);
}

/* ---- overhead ---- */

static void add_overhead(struct timeline *t, strid overhead, lane_id lane, size_t i,
                         struct interval_set *out)
{
    const struct capture *cap = t->cap;
    const struct slices *s = &cap->slices;
    bool is_loading =
        s->kind[i] == SLICE_RUNTIME && (timeline_says(t, s->name[i]) & NAME_LOADING) != 0;
    bool is_own = s->kind[i] == SLICE_OTHER &&
                  (str_equal(capture_text(cap, cap->lanes.at[lane].key.name), S("Overhead")) ||
                   (overhead != 0 && capture_slice_attr(cap, i, KEY_CAT).text == overhead));

    if (is_loading || is_own)
        out->at[out->n++] = (struct interval){s->begin[i], slices_end(s, i)};
}

/* What the profiler, and loading and compiling of device code, took of each window. */
static void find_overhead(struct timeline *t)
{
    const struct capture *cap = t->cap;
    strid overhead = intern_find(&cap->strings, S("overhead"));
    struct interval_set all = {mem_grow(NULL, sizeof(*all.at), cap->slices.n + 1), 0};

    for (lane_id k = 0; k < cap->lanes.n; k++)
        for (size_t i = cap->lanes.at[k].first, n = i + cap->lanes.at[k].n; i < n; i++)
            add_overhead(t, overhead, k, i, &all);
    interval_merge(&all);
    for (size_t d = 0; d < t->n_devices; d++)
        t->devices[d].overhead =
            interval_overlap(all, (struct interval_set){&t->devices[d].window, 1});
    mem_free(all.at);
}

/* ---- the whole ---- */

/* Two long looks at the same work. */
static void find_part(void *ctx, size_t number)
{
    struct timeline *t = ctx;

    for (size_t i = 0; i < t->n_devices && number == 0; i++)
        timeline_find_launches(t, &t->devices[i]);
    if (number == 0)
        return;
    timeline_place_sets(t);
    for (size_t i = 0; i < t->n_devices; i++)
        timeline_sum(t, &t->devices[i]);
    timeline_pair_streams(t);
}

enum { DEVICES = 1024 };

struct timeline *timeline_new(const struct capture *cap, const struct timeline_choice *choice)
{
    struct timeline *t = mem_grow(NULL, sizeof(*t), 1);
    int32_t devices[DEVICES];

    *t = (struct timeline){.cap = cap};
    arena_init(&t->arena);
    study_begin(&t->study, cap, study_with_passes());
    t->names = mem_grow(NULL, sizeof(*t->names), cap->strings.strings.n + 1);
    memset(t->names, 0, cap->strings.strings.n + 1);
    t->n_devices = device_tasks_devices(cap, devices, DEVICES);
    t->devices = ARENA_ARRAY(&t->arena, struct timeline_device, t->n_devices);
    for (size_t i = 0; i < t->n_devices; i++) {
        t->devices[i].device = devices[i];
        t->devices[i].account = study_account(&t->study, devices[i]);
    }
    if (t->n_devices == 1 && t->devices[0].account->tasks.n == 0)
        t->n_devices = 0; /* no work on any */
    find_streams(t);
    for (size_t i = 0; i < t->n_devices; i++) {
        struct timeline_device *d = &t->devices[i];
        take_tasks(t, d, choice->window);
        timeline_find_graphs(t, d);
        timeline_mark_first(t, d);
    }
    if (choice->window.end == choice->window.begin) /* a window parts calls from their work */
        timeline_count_empty_graphs(&t, 1);
    pool_for(choice->pool, 2, find_part, t);
    for (size_t i = 0; i < t->n_devices; i++)
        timeline_take_gaps(t, &t->devices[i]);
    find_overhead(t);
    timeline_find_ranges(t);
    return t;
}

void timeline_free(struct timeline *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->n_devices; i++) {
        vec_free(&t->devices[i].gaps.at);
        vec_free(&t->devices[i].graphs.at);
        vec_free(&t->devices[i].names);
        mem_free(t->devices[i].sort_of);
    }
    vec_free(&t->ranges);
    vec_free(&t->pairs);
    mem_free(t->range_of);
    mem_free(t->names);
    mem_free(t->spans);
    study_end(&t->study);
    arena_free(&t->arena);
    mem_free(t);
}
