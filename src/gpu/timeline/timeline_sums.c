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
    uint32_t last;                                   /* the work that ends last so far */
    VEC_OF(nanos) running; /* ends of the kernels that run, a heap with the least first */
    struct hash names;
};

/* ---- one piece of work ---- */

static void add_to_stream(struct timeline_stream *s, const struct timeline_op *op, nanos dur)
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
                            const struct timeline_op *op)
{
    nanos dur = nanos_sub(op->end, op->begin);
    strid name = t->cap->slices.name[op->slice];
    uint32_t i = hash_add(&s->names, name, (uint32_t)d->names.n);

    d->kernel_sum = nanos_add(d->kernel_sum, dur);
    cover(&s->kernels, op->begin, op->end);
    add_to_stream(&t->streams[op->stream], op, dur);
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
    const struct timeline_op *op = &d->ops[i];
    struct timeline_stream *stream = &t->streams[op->stream];

    d->count[op->class]++;
    if (!timeline_is_busy(op))
        return;
    if (stream->first > stream->last)
        stream->first = stream->last = op->begin;
    stream->last = op->end > stream->last ? op->end : stream->last;
    if (op->begin > s->all.end)
        vec_push(&d->gaps.at,
                 ((struct timeline_gap){
                     .begin = s->all.end, .end = op->begin, .prev = s->last, .next = (uint32_t)i}));
    if (s->last == TIMELINE_NONE || op->end >= s->all.end)
        s->last = (uint32_t)i;
    cover(&s->all, op->begin, op->end);
    cover(&s->of[op->class], op->begin, op->end);
    if (timeline_is_kernel(op))
        sums_add_kernel(s, t, d, op);
    if (timeline_is_kernel(op) || op->class == TIMELINE_MEMCPY)
        cover(&s->with_copies, op->begin, op->end);
    for (size_t k = 0; k <= TIMELINE_COMM; k++)
        if (op->class == k || op->class == TIMELINE_MEMCPY)
            cover(&s->with[k], op->begin, op->end);
}

/* ---- afterwards ---- */

ORDER_BY(by_time_spent, struct timeline_name, ORDER(y->sum, x->sum) ?: ORDER(x->name, y->name));

/* From the first start to the last end, unless a window was chosen. Before it, nothing is busy. */
static void set_window(struct timeline_device *d, struct sweep *s)
{
    bool is_set = d->window.end > d->window.begin;

    for (size_t i = 0; i < d->n && !is_set; i++) /* the first one, by time */
        if (timeline_is_busy(&d->ops[i])) {
            d->window = (struct interval){d->ops[i].begin, d->ops[i].end};
            is_set = true;
            for (; i < d->n; i++)
                if (timeline_is_busy(&d->ops[i]) && d->ops[i].end > d->window.end)
                    d->window.end = d->ops[i].end;
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
            if (timeline_is_kernel(&t->devices[k].ops[i])) {
                kernels[t->devices[k].ops[i].stream]++;
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
    struct sweep s = {.last = TIMELINE_NONE};

    set_window(d, &s);
    for (size_t i = 0; i < d->n; i++)
        sums_add(&s, t, d, i);
    if (d->window.end > s.all.end && d->n > 0)
        vec_push(
            &d->gaps.at,
            ((struct timeline_gap){
                .begin = s.all.end, .end = d->window.end, .prev = s.last, .next = TIMELINE_NONE}));
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
