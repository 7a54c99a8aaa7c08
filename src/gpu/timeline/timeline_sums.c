/*
 * Sums of a device: one pass over its work by time, with the end of each union so far.
 *
 * Of two unions the overlap is |A| + |B| - |A or B|, so three ends give each overlap of classes.
 */
#include <stdlib.h>

#include "base/tables/heap.h"
#include "base/tables/ranked.h"
#include "gpu/timeline/timeline_in.h"

/* A union that grows by ranges in order of their begin. */
struct run {
    nanos end, length;
};

static void cover(struct run *u, nanos begin, nanos end)
{
    if (begin < u->end)
        begin = u->end;
    if (end <= begin)
        return;
    u->length = nanos_add(u->length, nanos_sub(end, begin));
    u->end = end;
}

struct sweep {
    struct run all, kernels, of[TIMELINE_CLASSES];
    struct run with_copies, with[TIMELINE_COMM + 1]; /* copies and kernels; and one sort of them */
    VEC_OF(nanos) running; /* ends of the kernels that run, a heap with the least first */
    struct hash names;
};

/* ---- one piece of work ---- */

static void add_to_stream(struct timeline_stream *s, const struct device_task *op, nanos dur)
{
    struct interval *last = s->set.n > 0 ? &s->set.at[s->set.n - 1] : NULL;

    s->kernels++;
    s->sum = nanos_add(s->sum, dur);
    s->longest = dur > s->longest ? dur : s->longest;
    if (op->end <= op->begin)
        return;
    if (last != NULL && op->begin <= last->end)
        last->end = op->end > last->end ? op->end : last->end;
    else
        s->set.at[s->set.n++] = (struct interval){op->begin, op->end};
}

static void sums_add_kernel(struct sweep *s, struct timeline *t, struct timeline_device *d,
                            const struct device_task *op)
{
    nanos dur = nanos_sub(op->end, op->begin);
    strid name = t->cap->slices.name[op->slice];
    uint32_t i = hash_add(&s->names, name, (uint32_t)d->names.n);

    d->kernel_sum = nanos_add(d->kernel_sum, dur);
    cover(&s->kernels, op->begin, op->end);
    add_to_stream(&t->streams[timeline_stream_of(t, op)], op, dur);
    /* How many at once: at equal times ends come before starts. */
    while (s->running.n > 0 && s->running.at[0] <= op->begin) {
        s->running.at[0] = s->running.at[--s->running.n];
        heap_sink(s->running.at, s->running.n, sizeof(nanos), 0, ranked_order);
    }
    if (op->end > op->begin) {
        vec_push(&s->running, op->end);
        heap_rise(s->running.at, sizeof(nanos), s->running.n - 1, ranked_order);
    }
    if (s->running.n > d->most_at_once)
        d->most_at_once = s->running.n;
    if (i == d->names.n)
        vec_push(&d->names, ((struct timeline_name){
                                .name = name, .slice = op->slice, .least = dur, .most = dur}));
    struct timeline_name *n = &d->names.at[i];
    n->n++;
    n->sum = nanos_add(n->sum, dur);
    n->least = dur < n->least ? dur : n->least;
    n->most = dur > n->most ? dur : n->most;
}

static void sums_add(struct sweep *s, struct timeline *t, struct timeline_device *d, size_t i)
{
    const struct device_task *op = &d->tasks[i];
    enum timeline_class class = timeline_class_of(op);
    struct timeline_stream *stream = &t->streams[timeline_stream_of(t, op)];

    d->count[class]++;
    if (stream->first > stream->last)
        stream->first = stream->last = op->begin;
    stream->last = op->end > stream->last ? op->end : stream->last;
    cover(&s->all, op->begin, op->end);
    cover(&s->of[class], op->begin, op->end);
    if (timeline_is_kernel(op))
        sums_add_kernel(s, t, d, op);
    if (timeline_is_kernel(op) || class == TIMELINE_MEMCPY)
        cover(&s->with_copies, op->begin, op->end);
    for (size_t k = 0; k <= TIMELINE_COMM; k++)
        if (class == k || class == TIMELINE_MEMCPY)
            cover(&s->with[k], op->begin, op->end);
}

/* ---- afterwards ---- */

ORDER_BY(by_time_spent, struct timeline_name, ORDER(y->sum, x->sum) ?: ORDER(x->name, y->name));

/* From the first start to the last end, unless a window was chosen. Before it, nothing is busy. */
static void set_window(struct timeline_device *d, struct sweep *s)
{
    bool is_set = d->window.end > d->window.begin;

    if (!is_set && d->n > 0) {
        d->window = (struct interval){d->tasks[0].begin, d->tasks[0].end};
        for (size_t i = 0; i < d->n; i++)
            d->window.end = d->tasks[i].end > d->window.end ? d->tasks[i].end : d->window.end;
    }
    s->all.end = s->kernels.end = s->with_copies.end = d->window.begin;
    for (size_t i = 0; i < TIMELINE_CLASSES; i++)
        s->of[i].end = d->window.begin;
    for (size_t i = 0; i <= TIMELINE_COMM; i++)
        s->with[i].end = d->window.begin;
}

void timeline_place_sets(struct timeline *t)
{
    size_t n = 0, *kernels = mem_grow(NULL, sizeof(*kernels), t->n_streams + 1);

    for (size_t i = 0; i < t->n_streams; i++)
        kernels[i] = 0;
    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].n; i++)
            if (timeline_is_kernel(&t->devices[k].tasks[i])) {
                kernels[timeline_stream_of(t, &t->devices[k].tasks[i])]++;
                n++;
            }
    t->spans = mem_grow(NULL, sizeof(*t->spans), n + 1);
    n = 0;
    for (size_t i = 0; i < t->n_streams; i++) {
        t->streams[i].set.at = t->spans + n;
        t->streams[i].first = 1; /* after `last`: none yet */
        n += kernels[i];
    }
    mem_free(kernels);
}

/* Overlap by sums: both busy times less the time that either is busy. */
void timeline_sum(struct timeline *t, struct timeline_device *d)
{
    struct sweep s = {0};

    set_window(d, &s);
    for (size_t i = 0; i < d->n; i++)
        sums_add(&s, t, d, i);
    d->count[TIMELINE_GRAPH] += d->account->tasks.n_rows;
    d->busy = s.all.length;
    d->kernel_busy = s.kernels.length;
    for (size_t i = 0; i < TIMELINE_CLASSES; i++)
        d->busy_of[i] = s.of[i].length;
    d->comm_overlap = d->busy_of[TIMELINE_COMM] + d->busy_of[TIMELINE_COMPUTE] - d->kernel_busy;
    nanos copies = d->busy_of[TIMELINE_MEMCPY];
    d->memcpy_hidden = copies + d->kernel_busy - s.with_copies.length;
    d->memcpy_compute = copies + d->busy_of[TIMELINE_COMPUTE] - s.with[TIMELINE_COMPUTE].length;
    d->memcpy_comm = copies + d->busy_of[TIMELINE_COMM] - s.with[TIMELINE_COMM].length;
    if (d->names.n > 0)
        qsort(d->names.at, d->names.n, sizeof(*d->names.at), by_time_spent);
    vec_free(&s.running);
    hash_free(&s.names);
}

/* ---- streams ---- */

/* The busiest streams of a device, at most TIMELINE_PAIRED, in the order of streams. */
static size_t sums_choose(const struct timeline *t, uint32_t device, uint32_t *list)
{
    size_t n = 0;

    for (uint32_t i = 0; i < t->n_streams; i++) {
        if (t->streams[i].device != device || t->streams[i].kernels == 0)
            continue;
        if (n < TIMELINE_PAIRED) {
            list[n++] = i;
            continue;
        }
        size_t least = 0;
        for (size_t k = 1; k < n; k++)
            if (t->streams[list[k]].busy < t->streams[list[least]].busy)
                least = k;
        if (t->streams[i].busy <= t->streams[list[least]].busy)
            continue;
        for (size_t k = least; k + 1 < n; k++)
            list[k] = list[k + 1];
        list[n - 1] = i;
    }
    return n;
}

void timeline_pair_streams(struct timeline *t)
{
    uint32_t list[TIMELINE_PAIRED];

    for (size_t k = 0; k < t->n_streams; k++) {
        struct timeline_stream *s = &t->streams[k];
        nanos *gaps = mem_grow(NULL, sizeof(*gaps), s->set.n + 1);
        for (size_t i = 1; i < s->set.n; i++)
            gaps[i - 1] = nanos_sub(s->set.at[i].begin, s->set.at[i - 1].end);
        s->gaps = timeline_quantiles(gaps, s->set.n > 0 ? s->set.n - 1 : 0);
        s->busy = interval_length(s->set);
        mem_free(gaps);
    }
    for (uint32_t d = 0; d < t->n_devices; d++) {
        size_t n = sums_choose(t, d, list);
        for (size_t a = 0; a < n; a++)
            for (size_t b = a + 1; b < n; b++)
                vec_push(&t->pairs, ((struct timeline_pair){
                                        .a = list[a],
                                        .b = list[b],
                                        .overlap = interval_overlap(t->streams[list[a]].set,
                                                                    t->streams[list[b]].set)}));
    }
}

double timeline_stream_efficiency(const struct timeline *t, const struct timeline_device *d)
{
    nanos *list = mem_grow(NULL, sizeof(*list), t->n_streams + 1);
    size_t n = 0;

    for (size_t i = 0; i < t->n_streams; i++)
        if (&t->devices[t->streams[i].device] == d && t->streams[i].kernels > 0)
            list[n++] = t->streams[i].busy;
    double e = timeline_efficiency(list, n, d->kernel_busy);
    mem_free(list);
    return e;
}
