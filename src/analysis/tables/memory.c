/*
 * Events gathered by pool, replayed up to the peak.
 */
#include "analysis/tables/memory.h"

#include <stdlib.h>

#include "analysis/ops/module_tree.h"
#include "analysis/steps/steps.h"
#include "base/tables/ranked.h"
#include "capture/cut.h"
#include "device/device.h"

struct finder {
    struct study *st;
    const struct capture *cap;
    VEC_OF(struct memory_event) events;
    strid bytes, address, allocated, reserved, device, device_type;
};

/* ---- events ---- */

static int64_t memory_number_of(const struct finder *f, size_t slice, strid key, int64_t otherwise)
{
    struct attr a = study_attr(f->cap, slice, key);

    return a.type == ATTR_INT ? a.number : otherwise;
}

static struct str op_around(const struct finder *f, const struct op_tree *ops, uint32_t slice)
{
    const struct slices *s = &f->cap->slices;
    struct str found = {0};

    for (uint32_t at = ops->parent[slice]; at != OP_TREE_NONE; at = ops->parent[at]) {
        if (s->kind[at] != SLICE_HOST_OP)
            continue;
        found = capture_text(f->cap, s->name[at]);
        /* Operators that do nothing but take memory: those around them want it. */
        if (!str_starts(found, S("aten::empty")) && !str_starts(found, S("aten::resize_")))
            break;
    }
    return found;
}

enum { DEVICE_CPU = 0 };

static void memory_add_slice(struct finder *f, const struct op_tree *ops, uint32_t slice)
{
    const struct slices *s = &f->cap->slices;

    if (memory_number_of(f, slice, f->device_type, -1) == DEVICE_CPU)
        return;
    struct memory_event e = {
        .at = s->begin[slice],
        .bytes = (double)memory_number_of(f, slice, f->bytes, 0),
        .allocated = (double)memory_number_of(f, slice, f->allocated, -1),
        .reserved = (double)memory_number_of(f, slice, f->reserved, -1),
        .address = (uint64_t)memory_number_of(f, slice, f->address, 0),
        .order = slice,
        .op = op_around(f, ops, slice),
        .module = module_class_around(f->cap, ops, ops->parent[slice]),
        .pool = arena_format(&f->st->scratch, "device %lld",
                             (long long)memory_number_of(f, slice, f->device, 0)),
        .is_failure = str_contains(capture_text(f->cap, s->name[slice]), S("OutOfMemory")),
    };
    if (e.is_failure)
        e.bytes = 0;
    vec_push(&f->events, e);
}

static void add_slices(struct finder *f)
{
    const struct slices *s = &f->cap->slices;
    const struct intern *names = &f->cap->strings;
    const struct op_tree *ops = NULL;

    f->bytes = intern_find(names, S("Bytes"));
    f->address = intern_find(names, S("Addr"));
    f->allocated = intern_find(names, S("Total Allocated"));
    f->reserved = intern_find(names, S("Total Reserved"));
    f->device = intern_find(names, S("Device Id"));
    f->device_type = intern_find(names, S("Device Type"));
    for (size_t i = 0; i < s->n; i++)
        if (s->kind[i] == SLICE_MEMORY) {
            ops = ops != NULL ? ops : study_op_tree(f->st);
            memory_add_slice(f, ops, (uint32_t)i);
        }
}

static const struct str operators = S_INIT("operators");

static void add_allocations(struct finder *f)
{
    for (size_t i = 0; i < f->cap->allocations.n; i++) {
        const struct allocation *a = &f->cap->allocations.at[i];
        struct memory_event e = {.at = a->begin,
                                 .bytes = a->bytes,
                                 .allocated = -1,
                                 .reserved = -1,
                                 .address = i + 1,
                                 .order = (uint32_t)i,
                                 .op = capture_text(f->cap, a->name),
                                 .pool = operators};
        vec_push(&f->events, e);
        e.at = a->end;
        e.bytes = -e.bytes;
        if (a->end >= a->begin)
            vec_push(&f->events, e);
    }
}

static const double megabyte = 1048576;

/* Counters of memory tables. Samples of one time tell of both totals. */
static void add_counters(struct finder *f)
{
    for (size_t i = 0; i < f->cap->series.n; i++) {
        const struct series *s = &f->cap->series.at[i];
        struct str name = capture_text(f->cap, s->name);
        bool is_allocated = str_equal(name, S("Total Allocated"));
        if (!str_equal(capture_text(f->cap, s->unit), S("MB")) ||
            (!is_allocated && !str_equal(name, S("Total Reserved"))))
            continue;
        for (size_t k = 0; k < s->samples.n; k++) {
            double bytes = s->samples.at[k].value * megabyte;
            vec_push(&f->events, ((struct memory_event){.at = s->samples.at[k].at,
                                                        .allocated = is_allocated ? bytes : -1,
                                                        .reserved = is_allocated ? -1 : bytes,
                                                        .order = UINT32_MAX - is_allocated,
                                                        .pool = capture_text(f->cap, s->process)}));
        }
    }
}

ORDER_BY(by_pool, struct memory_event,
         str_compare(x->pool, y->pool) ?: ORDER(x->at, y->at) ?: ORDER(x->order, y->order)
                                                              ?: ORDER(x->bytes, y->bytes));

/* ---- the curve ---- */

/* What the curve is of: allocated bytes, or reserved ones where nothing else is known. */
static double level_of(const struct memory_event *e, bool is_allocated)
{
    return is_allocated ? e->allocated : e->reserved;
}

static double next_level(const struct memory_event *e, bool is_allocated, double level)
{
    return level_of(e, is_allocated) >= 0 ? level_of(e, is_allocated) : level;
}

static bool has_allocated(const struct memory_pool *p)
{
    return p->snapshot != NULL || (p->n_events > 0 && p->events[p->n_events - 1].allocated >= 0);
}

struct memory_walk memory_walk(const struct capture *cap, const struct memory_pool *pool)
{
    struct memory_walk walk = {.cap = cap, .pool = pool};

    if (pool->snapshot != NULL)
        snapshot_before(pool->snapshot, pool->trace, &walk.allocated, &walk.reserved);
    return walk;
}

bool memory_next(struct memory_walk *walk, struct memory_event *out)
{
    const struct memory_pool *p = walk->pool;

    if (walk->next == p->n_events)
        return false;
    size_t i = walk->next++;
    if (p->snapshot == NULL) {
        *out = p->events[i];
        return true;
    }
    const struct snapshot_event *e = &p->snapshot->events.at[p->trace->first + i];
    int64_t bytes = snapshot_allocates(e);
    walk->allocated = nanos_add(walk->allocated, bytes);
    walk->reserved = nanos_add(walk->reserved, snapshot_reserves(e));
    *out = (struct memory_event){.at = e->at,
                                 .bytes = (double)bytes,
                                 .allocated = (double)walk->allocated,
                                 .reserved = (double)walk->reserved,
                                 .address = e->address,
                                 .order = (uint32_t)i,
                                 .stack = capture_text(walk->cap, e->stack),
                                 .pool = p->name,
                                 .is_failure = e->action == SNAPSHOT_OOM};
    return true;
}

/* Before the first event of a snapshot there is a level, too. */
static void begin_peak(struct memory_pool *p, const struct memory_walk *walk)
{
    p->first = p->peak = p->peak_reserved = p->reserved_at_peak = p->unused = -1;
    p->peak_event = 0;
    if (p->snapshot == NULL)
        return;
    p->first = p->last = p->peak = (double)walk->allocated;
    p->reserved_at_peak = p->peak_reserved = (double)walk->reserved;
    p->peak_at = p->trace->n > 0 ? p->snapshot->events.at[p->trace->first].at : 0;
    p->unused = p->reserved_at_peak - p->peak;
}

static void find_peak(struct study *st, struct memory_pool *p)
{
    struct memory_walk walk = memory_walk(st->cap, p);
    bool is_allocated = has_allocated(p);
    struct memory_event e;

    begin_peak(p, &walk);
    while (memory_next(&walk, &e)) {
        double level = level_of(&e, is_allocated);
        p->allocations += e.bytes > 0;
        p->failures += e.is_failure;
        if (level < 0)
            continue;
        if (p->first < 0)
            p->first = level - e.bytes;
        p->last = level;
        if (level > p->peak) {
            p->peak = level;
            p->peak_at = e.at;
            p->peak_event = walk.next;
            p->reserved_at_peak = e.reserved;
        }
        if (e.reserved > p->peak_reserved)
            p->peak_reserved = e.reserved;
        if (is_allocated && e.reserved >= 0 && e.reserved - e.allocated > p->unused)
            p->unused = e.reserved - e.allocated;
    }
}

/* ---- what lives at the peak ---- */

ORDER_BY(most_bytes_first, struct memory_use,
         ORDER(y->bytes, x->bytes) ?: str_compare(x->name, y->name));

void memory_group_begin(struct memory_grouping *g)
{
    *g = (struct memory_grouping){.at = {0}};
    intern_init(&g->names);
}

void memory_group_add(struct memory_grouping *g, struct str name, double bytes)
{
    strid id = intern_put(&g->names, name.n > 0 ? name : S("unknown"));

    while (g->at.n <= id)
        vec_push(&g->at, ((struct memory_use){0}));
    g->at.at[id].name = name.n > 0 ? name : S("unknown");
    g->at.at[id].bytes += bytes;
    g->at.at[id].n++;
}

struct memory_uses memory_group_end(struct study *st, struct memory_grouping *g, double whole)
{
    struct memory_uses out = {.at = ARENA_ARRAY(&st->scratch, struct memory_use, g->at.n)};

    for (size_t i = 0; i < g->at.n; i++)
        if (g->at.at[i].n > 0) {
            g->at.at[i].share = num_share(g->at.at[i].bytes, whole);
            out.at[out.n++] = g->at.at[i];
        }
    if (out.n > 1)
        qsort(out.at, out.n, sizeof(*out.at), most_bytes_first);
    vec_free(&g->at);
    intern_fini(&g->names);
    return out;
}

/* The last allocation of each address, by its number plus one, among the events up to the peak; 0
 * where it was given back. */
static void replay(const struct study *st, const struct memory_pool *p, struct hash *live)
{
    struct memory_walk walk = memory_walk(st->cap, p);
    struct memory_event e;

    while (walk.next < p->peak_event && memory_next(&walk, &e))
        if (e.bytes != 0)
            hash_put(live, e.address, e.bytes > 0 ? (uint32_t)walk.next : 0);
}

/* Allocations that were not given back before the peak. */
static void find_uses(struct study *st, struct memory_pool *p)
{
    struct memory_walk walk = memory_walk(st->cap, p);
    struct hash live = {0};
    struct memory_grouping ops, modules, stacks;
    struct memory_event e;
    double known = 0;

    if (p->allocations == 0) {
        p->before = p->snapshot != NULL ? p->peak : 0;
        return;
    }
    memory_group_begin(&ops);
    memory_group_begin(&modules);
    memory_group_begin(&stacks);
    replay(st, p, &live);
    while (walk.next < p->peak_event && memory_next(&walk, &e)) {
        uint32_t last = 0;
        if (e.bytes <= 0 || !hash_get(&live, e.address, &last) || last != walk.next)
            continue;
        if (p->snapshot != NULL) {
            memory_group_add(&stacks, e.stack, e.bytes);
        } else {
            memory_group_add(&ops, e.op, e.bytes);
            memory_group_add(&modules, e.module, e.bytes);
        }
        known += e.bytes;
    }
    p->before = p->peak > known ? p->peak - known : 0;
    p->ops = memory_group_end(st, &ops, p->peak);
    p->modules = memory_group_end(st, &modules, p->peak);
    p->stacks = memory_group_end(st, &stacks, p->peak);
    hash_free(&live);
}

/* ---- steps ---- */

static bool is_driver_call(struct str name)
{
    static const struct str calls[] = {
        S_INIT("cudaMalloc"),  S_INIT("cudaFree"),  S_INIT("cuMemAlloc"), S_INIT("cuMemFree"),
        S_INIT("cuMemCreate"), S_INIT("cuMemMap"),  S_INIT("hipMalloc"),  S_INIT("hipFree"),
        S_INIT("aclrtMalloc"), S_INIT("aclrtFree"),
    };

    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        if (str_starts(name, calls[i]))
            return !str_contains(name, S("Host"));
    return false;
}

static void add_driver_calls(struct study *st, struct memory_pool *p)
{
    const struct slices *s = &st->cap->slices;
    const struct steps *steps = study_steps(st);
    uint8_t *known = ARENA_ARRAY(&st->scratch, uint8_t, st->cap->strings.strings.n);

    for (size_t i = 0; i < s->n; i++) {
        strid name = s->name[i];
        if (s->kind[i] != SLICE_RUNTIME)
            continue;
        if (known[name] == 0)
            known[name] = is_driver_call(capture_text(st->cap, name)) ? 2 : 1;
        if (known[name] == 1)
            continue;
        size_t place;
        vec_bisect(place, steps->n, k, steps->at[k].window.begin <= s->begin[i]);
        if (place == 0 || s->begin[i] >= steps->at[place - 1].window.end)
            continue;
        p->steps[place - 1].driver_calls++;
        p->steps[place - 1].driver_time = nanos_add(p->steps[place - 1].driver_time, s->dur[i]);
    }
}

/* How the level moves through windows that follow each other. */
static void follow_steps(struct study *st, struct memory_pool *p, const struct memory_window *at,
                         size_t n)
{
    struct memory_walk walk = memory_walk(st->cap, p);
    bool is_allocated = has_allocated(p), is_there;
    double level = p->first > 0 ? p->first : 0;
    struct memory_event e;

    p->steps = ARENA_ARRAY(&st->scratch, struct memory_step, n);
    p->n_steps = n;
    is_there = memory_next(&walk, &e);
    for (size_t i = 0; i < n; i++) {
        struct memory_step *step = &p->steps[i];
        for (; is_there && e.at < at[i].begin; is_there = memory_next(&walk, &e))
            level = next_level(&e, is_allocated, level);
        *step = (struct memory_step){.id = at[i].id, .begin = level, .peak = level};
        nanos end = i + 1 < n ? at[i + 1].begin : INT64_MAX;
        for (; is_there && e.at < end; is_there = memory_next(&walk, &e)) {
            level = next_level(&e, is_allocated, level);
            step->peak = level > step->peak ? level : step->peak;
            step->allocations += e.bytes > 0;
            step->taken += e.bytes > 0 ? e.bytes : 0;
        }
        step->end = level;
        step->growth = step->end - step->begin;
    }
}

static void memory_find_steps(struct study *st, struct memory_pool *p)
{
    const struct steps *steps = study_steps(st);
    struct memory_window *windows = ARENA_ARRAY(&st->scratch, struct memory_window, steps->n);
    size_t n = 0;

    if (p->snapshot != NULL)
        n = memory_snapshot_windows(st, p, &windows);
    for (size_t i = 0; i < steps->n && p->snapshot == NULL; i++)
        windows[n++] = (struct memory_window){steps->at[i].id, steps->at[i].window.begin};
    follow_steps(st, p, windows, n);
    if (p->snapshot == NULL)
        add_driver_calls(st, p);
}

enum { GROWING_STEPS = 3 };

/* The first step may fill caches. */
static void find_growth(struct study *st, struct memory_pool *p)
{
    double *growth = ARENA_ARRAY(&st->scratch, double, p->n_steps + 1);
    size_t n = 0;

    for (size_t i = 1; i < p->n_steps; i++) {
        if (p->steps[i].growth <= 0)
            return;
        growth[n++] = p->steps[i].growth;
    }
    if (n < GROWING_STEPS)
        return;
    ranked_sort(growth, n);
    p->growth = growth[n / 2];
}

/* ---- the result ---- */

static void fill_pool(struct study *st, struct memory_pool *p)
{
    find_peak(st, p);
    find_uses(st, p);
    memory_find_steps(st, p);
    find_growth(st, p);
    if (p->snapshot != NULL)
        memory_snapshot_hold(st, p);
}

static void add_pool(struct study *st, struct memory_curves *m, struct memory_event *events,
                     size_t n)
{
    struct memory_pool *p = &m->at[m->n++];
    double allocated = -1, reserved = -1;
    bool has_totals = false;

    *p = (struct memory_pool){.name = events[0].pool, .events = events, .n_events = n};
    for (size_t i = 0; i < n; i++)
        has_totals = has_totals || events[i].allocated >= 0 || events[i].reserved >= 0;
    /* A total that is not known at an event is that of the one before; where none is known it is
     * the sum of what was taken. */
    for (size_t i = 0; i < n; i++) {
        struct memory_event *e = &events[i];
        if (!has_totals)
            e->allocated = (i == 0 ? 0 : allocated) + e->bytes;
        e->allocated = e->allocated >= 0 ? e->allocated : allocated;
        e->reserved = e->reserved >= 0 ? e->reserved : reserved;
        allocated = e->allocated;
        reserved = e->reserved;
    }
    fill_pool(st, p);
}

static double capacity_of(const struct capture *cap)
{
    const struct device *d =
        device_find(&device_builtin, capture_text(cap, cap->facts.device_name));

    if (cap->facts.device_memory > 0)
        return (double)cap->facts.device_memory;
    return d != NULL ? d->memory_gb * 1024 * megabyte : 0;
}

struct memory_curves *memory_find(struct study *st)
{
    struct memory_curves *m = ARENA_NEW(&st->scratch, struct memory_curves);
    struct finder f = {.st = st, .cap = st->cap};
    size_t pools = 0;

    add_slices(&f);
    add_allocations(&f);
    add_counters(&f);
    *m = (struct memory_curves){.begin = cut_span(st->cap).begin, .capacity = capacity_of(st->cap)};
    struct memory_event *events = STUDY_KEEP(&st->scratch, f.events);
    if (f.events.n > 1)
        qsort(events, f.events.n, sizeof(*events), by_pool);
    for (size_t i = 0; i < f.events.n; i++)
        pools += i == 0 || !str_equal(events[i].pool, events[i - 1].pool);
    size_t devices = st->cap->snapshot != NULL ? st->cap->snapshot->traces.n : 0;
    m->at = ARENA_ARRAY(&st->scratch, struct memory_pool, pools + devices);
    m->events = events;
    m->n_events = f.events.n;
    for (size_t i = 0, first = 0; i < f.events.n; i++)
        if (i + 1 == f.events.n || !str_equal(events[i].pool, events[i + 1].pool)) {
            add_pool(st, m, events + first, i + 1 - first);
            first = i + 1;
        }
    vec_free(&f.events);
    for (size_t n = memory_snapshot_pools(st, m->at + m->n); n > 0; n--) {
        struct memory_pool *p = &m->at[m->n++];
        fill_pool(st, p);
        if (p->n_events > 0 && p->snapshot->events.at[p->trace->first].at < m->begin)
            m->begin = p->snapshot->events.at[p->trace->first].at;
    }
    return m;
}

void memory_list_events(struct study *st, struct memory_curves *m)
{
    size_t all = m->n_events, at = m->n_events;

    for (size_t i = 0; i < m->n; i++)
        all += m->at[i].snapshot != NULL ? m->at[i].n_events : 0;
    if (m->has_all || all == at)
        return;
    struct memory_event *list = ARENA_ARRAY(&st->scratch, struct memory_event, all);
    if (at > 0)
        memcpy(list, m->events, at * sizeof(*list));
    for (size_t i = 0; i < m->n; i++) {
        struct memory_walk walk = memory_walk(st->cap, &m->at[i]);
        while (m->at[i].snapshot != NULL && memory_next(&walk, &list[at]))
            at++;
    }
    m->events = list;
    m->n_events = all;
    m->has_all = true;
}
