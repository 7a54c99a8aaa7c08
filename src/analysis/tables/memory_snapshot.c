/*
 * Memory snapshots: the allocator at their end, failures, growth by stack, and two compared.
 */
#include <stdlib.h>

#include "analysis/tables/memory.h"

/* ---- pools ---- */

size_t memory_snapshot_pools(struct study *st, struct memory_pool *out)
{
    const struct snapshot *s = st->cap->snapshot;
    size_t n = 0;

    for (size_t i = 0; s != NULL && i < s->traces.n; i++) {
        const struct snapshot_trace *t = &s->traces.at[i];
        out[n++] = (struct memory_pool){
            .name = arena_format(&st->scratch, "device %lld", (long long)t->device),
            .snapshot = s,
            .trace = t,
            .n_events = t->n,
        };
    }
    return n;
}

/* ---- steps ---- */

/* Ranges of one name, but for a number at its end: "ProfilerStep#3", "train step". */
struct range_name {
    struct str stem;
    size_t n;
};

static struct str stem_of(const struct study *st, const struct snapshot_range *r)
{
    struct str name = capture_text(st->cap, r->name);

    return str_part(name, 0, name.n - str_last_digits(name));
}

/* The name that most ranges of a device have; empty when none comes twice. */
static struct str commonest_range(struct study *st, const struct memory_pool *p)
{
    enum { NAMES_MOST = 256 };
    const struct snapshot *s = p->snapshot;
    struct range_name names[NAMES_MOST];
    size_t n = 0, best = 0;

    for (size_t i = 0; i < s->ranges.n; i++) {
        struct str stem = stem_of(st, &s->ranges.at[i]);
        size_t k = 0;
        if (s->ranges.at[i].device != p->trace->device)
            continue;
        while (k < n && !str_equal(names[k].stem, stem))
            k++;
        if (k == NAMES_MOST)
            continue;
        if (k == n)
            names[n++] = (struct range_name){stem, 0};
        names[k].n++;
        best = names[k].n > names[best].n ? k : best;
    }
    return n > 0 && names[best].n > 1 ? names[best].stem : S("");
}

ORDER_BY(by_begin, struct memory_window, ORDER(x->begin, y->begin) ?: str_compare(x->id, y->id));

/* Ranges of that name; those without a number get one. */
size_t memory_snapshot_windows(struct study *st, const struct memory_pool *p,
                               struct memory_window **out)
{
    const struct snapshot *s = p->snapshot;
    struct str stem = commonest_range(st, p);
    size_t n = 0;

    *out = ARENA_ARRAY(&st->scratch, struct memory_window, s->ranges.n);
    for (size_t i = 0; stem.n > 0 && i < s->ranges.n; i++) {
        const struct snapshot_range *r = &s->ranges.at[i];
        if (r->device == p->trace->device && str_equal(stem_of(st, r), stem))
            (*out)[n++] = (struct memory_window){capture_text(st->cap, r->name), r->begin};
    }
    if (n > 1)
        qsort(*out, n, sizeof(**out), by_begin);
    for (size_t i = 0; i < n; i++)
        if ((*out)[i].id.n == stem.n)
            (*out)[i].id = arena_format(&st->scratch, "%.*s %zu", STR_ARGS(stem), i);
    return n;
}

/* ---- the allocator at the end ---- */

/* A segment is in use when one of its blocks is. */
static void hold_segment(const struct snapshot *s, const struct snapshot_segment *segment,
                         struct memory_snapshot *h)
{
    double inactive = 0;
    bool is_used = false;

    h->segments++;
    h->blocks += segment->n;
    h->reserved += (double)segment->bytes;
    for (size_t k = segment->first; k < segment->first + segment->n; k++) {
        const struct snapshot_block *b = &s->blocks.at[k];
        if (b->state == SNAPSHOT_INACTIVE) {
            inactive += (double)b->bytes;
            if ((double)b->bytes > h->largest_inactive)
                h->largest_inactive = (double)b->bytes;
            continue;
        }
        is_used = true;
        h->requested += (double)b->requested;
        h->rounding += (double)(b->bytes - b->requested);
        h->pending += b->state == SNAPSHOT_PENDING ? (double)b->bytes : 0;
    }
    h->inactive += inactive;
    h->fragmented += is_used ? inactive : 0;
}

/* The allocation that each address has at the end, by its number plus one; frees of memory that the
 * recording did not see taken. */
static void replay_all(const struct snapshot *s, const struct snapshot_trace *t, struct hash *live,
                       size_t *unknown)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct snapshot_event *e = &s->events.at[t->first + i];
        uint32_t last = 0;
        if (e->action == SNAPSHOT_FREE)
            *unknown += !hash_get(live, e->address, &last) || last == 0;
        if (e->action == SNAPSHOT_ALLOC || e->action == SNAPSHOT_FREE)
            hash_put(live, e->address, e->action == SNAPSHOT_ALLOC ? (uint32_t)i + 1 : 0);
    }
}

/* What lives at the end by the events is what the blocks show. */
static void compare_with_blocks(const struct snapshot *s, const struct snapshot_trace *t,
                                const struct hash *live, struct memory_snapshot *h)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct snapshot_event *e = &s->events.at[t->first + i];
        uint32_t last;
        h->alive +=
            e->action == SNAPSHOT_ALLOC && hash_get(live, e->address, &last) && last == i + 1;
    }
    for (size_t k = 0; k < s->segments.n; k++) {
        const struct snapshot_segment *segment = &s->segments.at[k];
        for (size_t b = segment->first; b < segment->first + segment->n; b++) {
            const struct snapshot_block *block = &s->blocks.at[b];
            uint32_t last;
            if (segment->device == t->device && block->state != SNAPSHOT_INACTIVE &&
                hash_get(live, block->address, &last) && last > 0)
                h->matched += s->events.at[t->first + last - 1].bytes == block->requested;
        }
    }
}

/* Active blocks by stack. */
static void group_blocks(const struct capture *cap, int64_t device, struct memory_grouping *g)
{
    const struct snapshot *s = cap->snapshot;

    for (size_t k = 0; k < s->segments.n; k++) {
        const struct snapshot_segment *segment = &s->segments.at[k];
        for (size_t b = segment->first; b < segment->first + segment->n; b++)
            if ((device < 0 || segment->device == device) &&
                s->blocks.at[b].state != SNAPSHOT_INACTIVE)
                memory_group_add(g, capture_text(cap, s->blocks.at[b].stack),
                                 (double)s->blocks.at[b].requested);
    }
}

/* ---- failures ---- */

/* Of its trace; NULL with none, where the whole file may have none. */
static const struct snapshot_event *events_of(const struct memory_pool *p)
{
    return p->trace->n > 0 ? p->snapshot->events.at + p->trace->first : NULL;
}

/* What lived when an allocation failed. */
static struct memory_uses uses_at(struct study *st, const struct memory_pool *p, size_t event,
                                  double whole)
{
    const struct snapshot_event *events = events_of(p);
    struct memory_grouping g;
    struct hash live = {0};

    memory_group_begin(&g);
    for (size_t i = 0; i < event; i++)
        if (snapshot_allocates(&events[i]) != 0)
            hash_put(&live, events[i].address,
                     events[i].action == SNAPSHOT_ALLOC ? (uint32_t)i + 1 : 0);
    for (size_t i = 0; i < event; i++) {
        uint32_t last = 0;
        if (events[i].action == SNAPSHOT_ALLOC && hash_get(&live, events[i].address, &last) &&
            last == i + 1)
            memory_group_add(&g, capture_text(st->cap, events[i].stack), (double)events[i].bytes);
    }
    hash_free(&live);
    return memory_group_end(st, &g, whole);
}

/* Each failure, and of the last one what held the memory. */
static void find_failures(struct study *st, const struct memory_pool *p, struct memory_snapshot *h)
{
    enum { FAILURES_MOST = 1000 };
    struct memory_walk walk = memory_walk(st->cap, p);
    struct memory_event e;
    size_t last = 0;

    h->failures = ARENA_ARRAY(&st->scratch, struct memory_failure,
                              p->failures < FAILURES_MOST ? p->failures : FAILURES_MOST);
    while (p->failures > 0 && memory_next(&walk, &e)) {
        const struct snapshot_event *raw = &p->snapshot->events.at[p->trace->first + walk.next - 1];
        if (!e.is_failure || h->n_failures == FAILURES_MOST)
            continue;
        last = walk.next - 1;
        h->failures[h->n_failures++] = (struct memory_failure){.at = e.at,
                                                               .bytes = (double)raw->bytes,
                                                               .device_free = (double)raw->address,
                                                               .allocated = e.allocated,
                                                               .reserved = e.reserved};
    }
    if (h->n_failures > 0) {
        struct memory_failure *f = &h->failures[h->n_failures - 1];
        f->stacks = uses_at(st, p, last, f->allocated);
    }
}

/* Taken after the first step, alive at the end: what a leak is made of. */
static void find_leak(struct study *st, const struct memory_pool *p, const struct hash *live,
                      struct memory_snapshot *h)
{
    const struct snapshot_event *events = events_of(p);
    struct memory_window *windows;
    struct memory_grouping g;
    double whole = 0;

    if (p->growth <= 0 || memory_snapshot_windows(st, p, &windows) < 2)
        return;
    memory_group_begin(&g);
    for (size_t i = 0; i < p->trace->n; i++) {
        uint32_t last = 0;
        if (events[i].action == SNAPSHOT_ALLOC && events[i].at >= windows[1].begin &&
            hash_get(live, events[i].address, &last) && last == i + 1) {
            whole += (double)events[i].bytes;
            memory_group_add(&g, capture_text(st->cap, events[i].stack), (double)events[i].bytes);
        }
    }
    h->growth = memory_group_end(st, &g, whole);
}

void memory_snapshot_hold(struct study *st, struct memory_pool *p)
{
    const struct snapshot *s = p->snapshot;
    struct memory_snapshot *h = ARENA_NEW(&st->scratch, struct memory_snapshot);
    struct memory_grouping g;
    struct hash live = {0};

    p->held = h;
    for (size_t i = 0; i < s->segments.n; i++)
        if (s->segments.at[i].device == p->trace->device)
            hold_segment(s, &s->segments.at[i], h);
    h->settings = capture_text(st->cap, s->settings);
    replay_all(s, p->trace, &live, &h->unknown_frees);
    compare_with_blocks(s, p->trace, &live, h);
    memory_group_begin(&g);
    group_blocks(st->cap, p->trace->device, &g);
    h->now = memory_group_end(st, &g, h->requested);
    find_failures(st, p, h);
    find_leak(st, p, &live, h);
    hash_free(&live);
}

/* ---- two of them ---- */

ORDER_BY(largest_change_first, struct memory_change,
         ORDER(y->delta < 0 ? -y->delta : y->delta, x->delta < 0 ? -x->delta : x->delta)
             ?: str_compare(x->stack, y->stack));

static void add_side(struct memory_diff *d, struct memory_change *all, struct intern *names,
                     const struct memory_uses *uses, size_t side)
{
    for (size_t i = 0; i < uses->n; i++) {
        struct memory_change *c = &all[intern_put(names, uses->at[i].name)];
        c->stack = uses->at[i].name;
        *(side == 0 ? &c->before : &c->after) += uses->at[i].bytes;
        c->n += side == 0 ? -(int64_t)uses->at[i].n : (int64_t)uses->at[i].n;
        d->live[side] += uses->at[i].bytes;
    }
}

static struct memory_uses uses_of(struct study *st)
{
    struct memory_grouping g;

    memory_group_begin(&g);
    group_blocks(st->cap, -1, &g);
    return memory_group_end(st, &g, 0);
}

struct memory_diff *memory_compare(struct study *a, struct study *b)
{
    struct memory_diff *d = ARENA_NEW(&a->scratch, struct memory_diff);
    struct study *studies[] = {a, b};
    const struct memory_uses uses[] = {uses_of(a), uses_of(b)};
    struct memory_change *all =
        ARENA_ARRAY(&a->scratch, struct memory_change, uses[0].n + uses[1].n + 1);
    struct intern names;

    intern_init(&names);
    for (size_t side = 0; side < 2; side++) {
        const struct memory_curves *m = memory_find(studies[side]);
        add_side(d, all, &names, &uses[side], side);
        d->name[side] = str_of(studies[side]->cap->name);
        for (size_t i = 0; i < m->n; i++) {
            d->reserved[side] += m->at[i].held != NULL ? m->at[i].held->reserved : 0;
            if (m->at[i].held != NULL && m->at[i].peak > d->peak[side])
                d->peak[side] = m->at[i].peak;
        }
    }
    d->at = ARENA_ARRAY(&a->scratch, struct memory_change, uses[0].n + uses[1].n);
    for (size_t i = 1; i <= uses[0].n + uses[1].n; i++) {
        all[i].delta = all[i].after - all[i].before;
        if (all[i].delta < 0 || all[i].delta > 0)
            d->at[d->n++] = all[i];
    }
    if (d->n > 1)
        qsort(d->at, d->n, sizeof(*d->at), largest_change_first);
    intern_fini(&names);
    return d;
}
