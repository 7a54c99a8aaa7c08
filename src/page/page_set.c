/*
 * Lanes, dictionary and steps of a page.
 */
#include "page/page_set.h"

#include <stdlib.h>

#include "capture/title.h"
#include "text/page.h"

enum { OPEN_LANES = 12 };

enum page_family page_family_of(enum kernel_family family)
{
    static const uint8_t of[KERNEL_FAMILIES] = {
        [FAMILY_GEMM_TENSOR] = PAGE_MATRIX, [FAMILY_GEMM_SIMT] = PAGE_MATRIX,
        [FAMILY_CONV] = PAGE_MATRIX,        [FAMILY_ATTENTION] = PAGE_ATTENTION,
        [FAMILY_REDUCE] = PAGE_VECTOR,      [FAMILY_ELEMENTWISE] = PAGE_VECTOR,
        [FAMILY_EMBEDDING] = PAGE_VECTOR,   [FAMILY_OPTIMIZER] = PAGE_VECTOR,
        [FAMILY_RANDOM] = PAGE_VECTOR,      [FAMILY_LAYOUT] = PAGE_LAYOUT,
        [FAMILY_INDEX_SORT] = PAGE_LAYOUT,  [FAMILY_AICPU] = PAGE_OTHER,
        [FAMILY_OTHER] = PAGE_OTHER,
    };

    return of[family];
}

/* ---- lanes ---- */

static uint32_t set_group_of(struct page_set *set, lane_id lane)
{
    char buf[TITLE_TEXT];
    struct str name = title_process(set->cap, lane, buf);
    static const uint8_t of[LANE_KINDS] = {
        [LANE_STREAM] = GROUP_DEVICE, [LANE_COMM] = GROUP_COMM,   [LANE_THREAD] = GROUP_HOST,
        [LANE_PIPE] = GROUP_PIPES,    [LANE_OTHER] = GROUP_OTHER,
    };

    enum page_group_kind kind = of[set->cap->lanes.at[lane].key.kind];
    for (size_t i = 0; i < set->groups.n; i++)
        if (set->groups.at[i].kind == kind && str_equal(set->groups.at[i].name, name))
            return (uint32_t)i;
    vec_push(&set->groups, ((struct page_group){arena_str(set->arena, name), kind, false}));
    return (uint32_t)(set->groups.n - 1);
}

struct lane_order {
    struct page_lane lane;
    enum page_group_kind kind;
    int64_t number; /* that the lane is called by */
};

ORDER_BY(by_place, struct lane_order,
         ORDER(x->kind, y->kind) ?: ORDER(x->lane.group, y->lane.group)
                                       ?: ORDER(x->lane.part == LANE_RANGES,
                                                y->lane.part == LANE_RANGES)
                                       ?: ORDER(x->number, y->number)
                                       ?: ORDER(x->lane.lane, y->lane.lane));

/* Pipes in the order that data takes through a core. */
static int64_t place_of_pipe(struct str pipe)
{
    static const char *const order[] = {"MTE2", "MTE1", "CUBE", "FIXP", "VECTOR", "MTE3"};

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (str_equal(pipe, str_of(order[i])))
            return (int64_t)i;
    return ARRAY_LEN(order) + str_equal(pipe, S("SCALAR"));
}

static struct lane_order set_lane_of(struct page_set *set, lane_id i)
{
    const struct lane *lane = &set->cap->lanes.at[i];
    uint32_t group = set_group_of(set, i);
    char buf[TITLE_TEXT];
    int64_t number;

    if (lane->key.kind == LANE_PIPE)
        number = place_of_pipe(capture_text(set->cap, lane->key.name));
    else if (lane->key.kind != LANE_STREAM ||
             !num_i64(capture_text(set->cap, lane->key.name), &number))
        number = INT64_MAX;
    return (struct lane_order){{.lane = i,
                                .name = arena_str(set->arena, title_lane(set->cap, i, buf)),
                                .group = group,
                                .slices = lane->n},
                               set->groups.at[group].kind,
                               number};
}

/* The lane of the work, and one of the ranges over it. */
static size_t split(struct page_set *set, struct lane_order *out, size_t ranges)
{
    struct page_lane *work = &out[0].lane;

    if (ranges == 0 || ranges == work->slices)
        return 1;
    out[1] = out[0];
    out[1].lane.part = LANE_RANGES;
    out[1].lane.slices = ranges;
    out[1].lane.name = MESSAGE(LANG_EN, set->arena, &page_text.ranges, PLACE("name", work->name));
    work->part = LANE_WORK;
    work->slices -= ranges;
    return 2;
}

ORDER_BY(most_first, size_t, ORDER(*y, *x));

/* Of too many lanes those with the most slices, in their order. */
static size_t keep_lanes(struct page_set *set, struct lane_order *all, size_t n)
{
    size_t most = set->most_lanes, kept = 0;

    if (most == 0 || n <= most)
        return n;
    size_t *counts = ARENA_ARRAY(set->arena, size_t, n);
    for (size_t i = 0; i < n; i++)
        counts[i] = all[i].lane.slices;
    qsort(counts, n, sizeof(*counts), most_first);
    size_t least = counts[most - 1], equal = 1; /* of those with as many as the last that fits */
    while (equal < most && counts[most - 1 - equal] == least)
        equal++;
    for (size_t i = 0; i < n; i++) {
        size_t count = all[i].lane.slices;
        if (count > least || (count == least && equal > 0 && equal--))
            all[kept++] = all[i];
    }
    set->left_out = n - kept;
    return kept;
}

static void find_lanes(struct page_set *set)
{
    const struct capture *cap = set->cap;
    struct lane_order *all = ARENA_ARRAY(set->arena, struct lane_order, 2 * cap->lanes.n + 1);
    size_t n = 0;

    for (lane_id i = 0; i < cap->lanes.n; i++) {
        const struct lane *lane = &cap->lanes.at[i];
        /* The profiler's own summary repeats what other lanes show. */
        if (lane->n == 0 || str_equal(capture_text(cap, lane->key.process), S("Overlap Analysis")))
            continue;
        all[n] = set_lane_of(set, i);
        size_t ranges = 0;
        for (size_t k = lane->first; k < lane->first + lane->n; k++)
            ranges += page_is_range(lane->key.kind, cap->slices.kind[k]);
        n += split(set, &all[n], ranges);
    }
    qsort(all, n, sizeof(*all), by_place);
    n = keep_lanes(set, all, n);
    set->lane_of = ARENA_ARRAY(set->arena, uint32_t, 2 * cap->lanes.n + 1);
    memset(set->lane_of, 0xff, 2 * cap->lanes.n * sizeof(*set->lane_of));
    for (size_t i = 0; i < n; i++) {
        const struct page_lane *lane = &all[i].lane;
        if (lane->part != LANE_RANGES)
            set->lane_of[2 * lane->lane] = (uint32_t)i;
        if (lane->part != LANE_WORK)
            set->lane_of[2 * lane->lane + 1] = (uint32_t)i;
        vec_push(&set->lanes, *lane);
        set->n_slices += lane->slices;
    }
}

/* Groups in the order of their first lane. */
static void order_groups(struct page_set *set)
{
    uint32_t *place = ARENA_ARRAY(set->arena, uint32_t, set->groups.n + 1);
    struct page_group *old = ARENA_ARRAY(set->arena, struct page_group, set->groups.n + 1);
    uint32_t n = 0;

    for (size_t i = 0; i < set->groups.n; i++) {
        old[i] = set->groups.at[i];
        place[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < set->lanes.n; i++) {
        uint32_t *group = &set->lanes.at[i].group;
        if (place[*group] == UINT32_MAX) {
            set->groups.at[n] = old[*group];
            place[*group] = n++;
        }
        *group = place[*group];
    }
}

static void open_lane(struct page_set *set, size_t lane)
{
    set->lanes.at[lane].is_open = true;
    set->groups.at[set->lanes.at[lane].group].is_open = true;
}

/* Open at the start: the first device, or cores, and the thread that launches. */
static void open_lanes(struct page_set *set)
{
    const struct host_timelines *host = &set->a->host;
    size_t n = 0;

    for (size_t i = 0; i < set->lanes.n && n < OPEN_LANES; i++)
        if (set->groups.at[set->lanes.at[i].group].kind <= GROUP_PIPES &&
            (set->lanes.at[i].group == set->lanes.at[0].group ||
             set->groups.at[0].kind == GROUP_PIPES) &&
            set->lanes.at[i].part != LANE_RANGES) {
            open_lane(set, i);
            n++;
        }
    uint32_t place = host->n > 0 ? page_lane_of(set, host->calls[0].slice) : UINT32_MAX;
    if (place != UINT32_MAX)
        open_lane(set, place);
    if (n == 0 && set->lanes.n > 0)
        open_lane(set, 0);
}

/* ---- what slices are ---- */

/* What the last slice of a name was, of those that are no tasks. */
struct last_what {
    attr_run attrs;
    uint32_t entry;
    uint8_t kind, lane;
    bool is_known;
};

struct page_naming {
    strid name, shapes, types;
};

struct dictionary {
    struct page_set *set;
    struct last_what *last;  /* by name */
    const uint32_t *task_of; /* by slice; UINT32_MAX: none */
    struct hash named;       /* name and run of attributes -> number of a naming */
    struct hash entries;     /* naming, kind and family -> entry */
    struct hash texts;       /* content -> entry */
    struct hash has_shapes;  /* by run: 0 or 1 */
    VEC_OF(struct page_naming) namings;
};

/* What a slice is: of a task what the accounting takes it for. */
static uint8_t kind_of_slice(const struct dictionary *d, size_t slice)
{
    static const uint8_t kinds[TASK_CLASSES] = {
        [TASK_COMPUTE] = SLICE_COMPUTE, [TASK_COMM] = SLICE_COMM, [TASK_COPY] = SLICE_COPY};
    uint8_t kind = d->set->cap->slices.kind[slice];
    uint32_t task = d->task_of[slice];

    return task == UINT32_MAX || kind <= SLICE_COPY ? kind : kinds[d->set->a->tasks.at[task].class];
}

enum page_family page_family_of_pipe(struct str pipe)
{
    static const struct {
        const char *begin;
        enum page_family family;
    } of[] = {{"CUBE", PAGE_MATRIX}, {"M", PAGE_MATRIX},  {"FIX", PAGE_ATTENTION},
              {"V", PAGE_VECTOR},    {"RV", PAGE_VECTOR}, {"MTE1", PAGE_LAYOUT},
              {"MTE2", PAGE_COPY},   {"MTE3", PAGE_COMM}, {"SCALAR", PAGE_HOST},
              {"ALL", PAGE_HOST}};
    enum page_family family = PAGE_OTHER;
    size_t longest = 0;

    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        struct str begin = str_of(of[i].begin);
        if (begin.n > longest && str_starts(pipe, begin)) {
            family = of[i].family;
            longest = begin.n;
        }
    }
    return family;
}

static enum page_family family_of_slice(const struct dictionary *d, size_t slice, uint8_t kind)
{
    const struct capture *cap = d->set->cap;
    const struct lane_key *lane = &cap->lanes.at[cap->slices.lane[slice]].key;
    uint32_t task = d->task_of[slice];

    if (lane->kind == LANE_PIPE && task == UINT32_MAX)
        return kind == SLICE_WAIT || kind == SLICE_CONTROL
                   ? PAGE_HOST
                   : page_family_of_pipe(capture_text(cap, lane->name));
    switch (kind) {
    case SLICE_COMM:
    case SLICE_COMM_PART:
        return PAGE_COMM;
    case SLICE_COPY:
        return PAGE_COPY;
    case SLICE_AICPU:
        return PAGE_OTHER;
    case SLICE_COMPUTE:
        break;
    default:
        return kind >= SLICE_HOST_OP && kind <= SLICE_STEP ? PAGE_HOST : PAGE_OTHER;
    }
    if (task != UINT32_MAX)
        return page_family_of((enum kernel_family)d->set->a->tasks.at[task].family);
    return page_family_of(kernel_family_of_name(capture_text(cap, cap->slices.name[slice])).family);
}

static bool run_has_shapes(struct dictionary *d, attr_run run)
{
    const struct capture *cap = d->set->cap;
    uint32_t has;

    if (run == 0)
        return false;
    if (!hash_get(&d->has_shapes, run, &has)) {
        struct attr a = attrs_get(&cap->attrs, run, capture_key(cap, KEY_INPUT_SHAPES));
        has = a.type == ATTR_TEXT;
        hash_put(&d->has_shapes, run, has);
    }
    return has;
}

/* The attributes that tell shapes: the kernel's own, or its operator's. */
static attr_run run_of(struct dictionary *d, size_t slice)
{
    const struct capture *cap = d->set->cap;
    const struct accounting *a = d->set->a;
    uint32_t task = d->task_of[slice];
    attr_run run = cap->slices.set[slice];

    if (run_has_shapes(d, run))
        return run;
    if (task == UINT32_MAX || a->tasks.at[task].call == NO_CALL)
        return 0;
    uint32_t op = a->host.calls[a->tasks.at[task].call].op;
    run = op != NO_SLICE ? cap->slices.set[op] : 0;
    return run_has_shapes(d, run) ? run : 0;
}

static strid text_attr(const struct capture *cap, attr_run run, enum capture_key key)
{
    struct attr a = attrs_get(&cap->attrs, run, capture_key(cap, key));

    return a.type == ATTR_TEXT ? a.text : 0;
}

static uint32_t naming_of(struct dictionary *d, strid name, attr_run run)
{
    const struct capture *cap = d->set->cap;
    uint32_t fresh = (uint32_t)d->namings.n;
    uint32_t n = hash_add(&d->named, (uint64_t)name << 32 | run, fresh);

    if (n == fresh)
        vec_push(&d->namings, ((struct page_naming){name, text_attr(cap, run, KEY_INPUT_SHAPES),
                                                    text_attr(cap, run, KEY_INPUT_DTYPES)}));
    return n;
}

/* The entry of this content; other content with the same hash is stepped over. */
static uint32_t entry_of(struct dictionary *d, const struct page_naming *n, uint8_t kind,
                         uint8_t family)
{
    struct page_set *set = d->set;
    uint64_t key = hash_mix(hash_mix((uint64_t)n->name << 32 | n->shapes, n->types),
                            (uint64_t)kind << 8 | family);

    for (;; key++) {
        uint32_t fresh = (uint32_t)set->whats.n, at = hash_add(&d->texts, key, fresh);
        if (at == fresh)
            vec_push(&set->whats,
                     ((struct page_what){n->name, n->shapes, n->types, kind, family, 0}));
        const struct page_what *w = &set->whats.at[at];
        if (w->name == n->name && w->shapes == n->shapes && w->types == n->types &&
            w->kind == kind && w->family == family)
            return at;
    }
}

static uint32_t what_of(struct dictionary *d, size_t slice)
{
    const struct slices *s = &d->set->cap->slices;
    uint8_t kind = kind_of_slice(d, slice);
    uint8_t family = (uint8_t)family_of_slice(d, slice, kind);
    uint32_t naming = naming_of(d, s->name[slice], run_of(d, slice));
    uint64_t key = (uint64_t)naming << 16 | (uint64_t)kind << 8 | family;
    uint32_t entry;

    if (!hash_get(&d->entries, key, &entry)) {
        entry = entry_of(d, &d->namings.at[naming], kind, family);
        hash_put(&d->entries, key, entry);
    }
    return entry;
}

/* Most slices are what the one before with their name was. */
static uint32_t what_again(struct dictionary *d, size_t slice, uint8_t lane)
{
    const struct slices *s = &d->set->cap->slices;
    struct last_what *last = &d->last[s->name[slice]];

    if (d->task_of[slice] != UINT32_MAX || lane == LANE_PIPE)
        return what_of(d, slice);
    if (!last->is_known || last->attrs != s->set[slice] || last->kind != s->kind[slice] ||
        last->lane != lane)
        *last = (struct last_what){s->set[slice], what_of(d, slice), s->kind[slice], lane, true};
    return last->entry;
}

struct what_order {
    struct page_what what;
    uint32_t was;
};

ORDER_BY(by_count, struct what_order, ORDER(y->what.count, x->what.count) ?: ORDER(x->was, y->was));

static void order_whats(struct page_set *set)
{
    struct what_order *all = mem_grow(NULL, sizeof(*all), set->whats.n + 1);
    uint32_t *place = mem_grow(NULL, sizeof(*place), set->whats.n + 1);

    for (size_t i = 0; i < set->whats.n; i++)
        all[i] = (struct what_order){set->whats.at[i], (uint32_t)i};
    qsort(all, set->whats.n, sizeof(*all), by_count);
    for (size_t i = 0; i < set->whats.n; i++) {
        set->whats.at[i] = all[i].what;
        place[all[i].was] = (uint32_t)i;
    }
    for (size_t i = 0; i < set->lanes.n; i++) {
        const struct lane *lane = &set->cap->lanes.at[set->lanes.at[i].lane];
        if (set->lanes.at[i].part == LANE_RANGES)
            continue; /* with the work */
        for (size_t k = lane->first; k < lane->first + lane->n; k++)
            set->what[k] = place[set->what[k]];
    }
    mem_free(all);
    mem_free(place);
}

static void find_whats(struct page_set *set, const uint32_t *task_of)
{
    struct dictionary d = {.set = set, .task_of = task_of};
    size_t names = set->cap->strings.strings.n;

    d.last = mem_grow(NULL, sizeof(*d.last), names + 1);
    memset(d.last, 0, (names + 1) * sizeof(*d.last));
    for (size_t i = 0; i < set->lanes.n; i++) {
        const struct lane *lane = &set->cap->lanes.at[set->lanes.at[i].lane];
        if (set->lanes.at[i].part == LANE_RANGES)
            continue; /* with the work */
        for (size_t k = lane->first; k < lane->first + lane->n; k++) {
            set->what[k] = what_again(&d, k, (uint8_t)lane->key.kind);
            set->whats.at[set->what[k]].count++;
        }
    }
    mem_free(d.last);
    hash_free(&d.named);
    hash_free(&d.entries);
    hash_free(&d.texts);
    hash_free(&d.has_shapes);
    vec_free(&d.namings);
    order_whats(set);
}

/* ---- steps ---- */

/* The step whose host time, or device window, a time lies in, looking on from `*from`; 0: none. */
static uint32_t step_at(const struct accounting *a, nanos t, bool is_host, size_t *from)
{
    for (; *from < a->n; ++*from) {
        const struct account_step *s = &a->steps[*from];
        struct interval at = is_host && !a->is_pseudo ? s->host : s->window;
        if (t < at.begin)
            return 0;
        if (t < at.end)
            return (uint32_t)*from + 1;
    }
    return 0;
}

static void set_find_steps(struct page_set *set, const uint32_t *task_of)
{
    const struct slices *s = &set->cap->slices;

    for (size_t i = 0; i < set->lanes.n; i++) {
        const struct lane *lane = &set->cap->lanes.at[set->lanes.at[i].lane];
        if (set->lanes.at[i].part == LANE_RANGES)
            continue; /* with the work */
        size_t from = 0;
        for (size_t k = lane->first; k < lane->first + lane->n; k++) {
            uint32_t task = task_of[k];
            if (task != UINT32_MAX)
                set->step[k] = set->a->tasks.at[task].step != TASK_NO_STEP
                                   ? set->a->tasks.at[task].step + 1
                                   : 0;
            else
                set->step[k] = step_at(set->a, s->begin[k], lane->key.kind == LANE_THREAD, &from);
        }
    }
}

/* ---- all of it ---- */

static void find_span(struct page_set *set)
{
    const struct slices *s = &set->cap->slices;

    for (size_t i = 0; i < set->lanes.n; i++) {
        nanos begin = s->begin[set->cap->lanes.at[set->lanes.at[i].lane].first];
        if (i == 0 || begin < set->origin)
            set->origin = begin;
    }
    for (size_t i = 0; i < set->lanes.n; i++) {
        const struct lane *lane = &set->cap->lanes.at[set->lanes.at[i].lane];
        if (set->lanes.at[i].part == LANE_RANGES)
            continue; /* with the work */
        for (size_t k = lane->first; k < lane->first + lane->n; k++) {
            nanos end = page_time(set, slices_end(s, k));
            set->to = end > set->to ? end : set->to;
        }
    }
}

void page_set_init(struct page_set *set, struct study *st, struct pool *pool)
{
    *set = (struct page_set){.st = st, .cap = st->cap, .pool = pool};
    study_begin(&set->apart, st->cap, st->options);
    set->arena = &set->apart.scratch;
}

void page_set_fill(struct page_set *set)
{
    const struct capture *cap = set->cap;

    find_lanes(set);
    order_groups(set);
    open_lanes(set);
    find_span(set);
    uint32_t *task_of = mem_grow(NULL, sizeof(*task_of), cap->slices.n + 1);
    memset(task_of, 0xff, (cap->slices.n + 1) * sizeof(*task_of));
    for (size_t i = 0; i < set->a->tasks.n; i++)
        task_of[set->a->tasks.at[i].slice] = (uint32_t)i;
    set->what = mem_grow(NULL, sizeof(*set->what), cap->slices.n + 1);
    set->step = mem_grow(NULL, sizeof(*set->step), cap->slices.n + 1);
    find_whats(set, task_of);
    set_find_steps(set, task_of);
    mem_free(task_of);
    set->items = ARENA_ARRAY(set->arena, struct page_items, set->lanes.n + 1);
    memset(set->items, 0, (set->lanes.n + 1) * sizeof(*set->items));
}

void page_set_reset(struct page_set *set)
{
    for (size_t i = 0; i < set->lanes.n; i++) {
        struct page_items *items = &set->items[i];
        mem_free(items->begin);
        mem_free(items->dur);
        mem_free(items->what);
        mem_free(items->step);
        mem_free(items->more);
        mem_free(items->slack);
        vec_free(&items->mixes);
        *items = (struct page_items){0};
    }
    mem_free(set->item_of);
    set->item_of = NULL;
}

void page_set_fini(struct page_set *set)
{
    page_set_reset(set);
    study_end(&set->apart);
    mem_free(set->what);
    mem_free(set->step);
    vec_free(&set->groups);
    vec_free(&set->lanes);
    vec_free(&set->whats);
    vec_free(&set->slices.at);
    vec_free(&set->arrows.at);
    vec_free(&set->gaps.at);
    vec_free(&set->path);
}
