/*
 * What repeats in a recording without marks.
 */
#include "analysis/steps/step_units.h"

#include <stdlib.h>

#include "analysis/arch/arch_repeat.h"
#include "analysis/idle/host_names.h"
#include "analysis/ops/op_tree.h"
#include "analysis/study.h"
#include "ops/kernel_family.h"

enum {
    LEAST_UNITS = 3, /* what happens twice may be chance */
    UNITS_MOST = 1 << 20,
    COVERED = 90,     /* of all launches, %; fewer, and the units are not what the program does */
    OPERATORS_UP = 8, /* operators looked at around a launch */
    ALIKE = 80,       /* of the parts between copies, %, that run as many kernels */
};

struct finder {
    struct study *st;
    const struct slices *s;
    struct arena *arena;
    nanos *times;  /* of kernels, by place */
    nanos *sorted; /* the same in order */
    size_t n;
    bool has_launches;
    struct step_units *out;
};

struct moments {
    VEC_OF(nanos) at;
};

ORDER_BY(launched_first, nanos, ORDER(*x, *y));

static void units_take_times(struct finder *f)
{
    const struct op_tree *tree = study_op_tree(f->st);
    struct kernel_order kernels = study_kernels(f->st);

    f->n = kernels.n;
    f->times = ARENA_ARRAY(f->arena, nanos, kernels.n + 1);
    f->sorted = ARENA_ARRAY(f->arena, nanos, kernels.n + 1);
    for (size_t i = 0; i < kernels.n; i++) {
        bool is_linked = tree->launch[i] != OP_TREE_NONE;
        f->has_launches |= is_linked;
        f->times[i] = f->s->begin[is_linked ? tree->launch[i] : kernels.at[i]];
        f->sorted[i] = f->times[i];
    }
    if (f->n > 0)
        qsort(f->sorted, f->n, sizeof(*f->sorted), launched_first);
}

static size_t launches_before(const struct finder *f, nanos t)
{
    size_t place;

    vec_bisect(place, f->n, i, f->sorted[i] < t);
    return place;
}

static bool has_launch(const struct finder *f, nanos from, nanos to)
{
    return launches_before(f, to) > launches_before(f, from);
}

/* Takes what was found unless it leaves too much outside, or rarer units are known. The loader is
 * asked once more after the last input: units at the end without work are none. */
static void offer(struct finder *f, const struct moments *m, enum step_found by, size_t least)
{
    size_t n = m->at.n, empty = 0;

    while (n > 0 && !has_launch(f, m->at.at[n - 1], INT64_MAX))
        n--;
    for (size_t i = 0; i + 1 < n; i++)
        empty += !has_launch(f, m->at.at[i], m->at.at[i + 1]);
    if (n < least || n > UNITS_MOST || empty * 10 > n ||
        (f->n - launches_before(f, m->at.at[0])) * 100 < f->n * COVERED ||
        (f->out->n > 0 && f->out->n <= n))
        return;
    f->out->at = study_keep(f->arena, m->at.at, sizeof(*m->at.at), n);
    f->out->n = n;
    f->out->by = by;
}

/* ---- calls of the framework ---- */

static bool is_host_range(const struct finder *f, size_t slice)
{
    enum slice_kind kind = (enum slice_kind)f->s->kind[slice];

    return kind >= SLICE_HOST_OP && kind <= SLICE_STEP &&
           f->st->cap->lanes.at[f->s->lane[slice]].key.kind == LANE_THREAD;
}

/* Kinds of ranges by name; RANGE_PLAIN for all that are none of a framework's own. */
static enum range_kind framework_range(struct str name)
{
    if (str_starts(name, S("Optimizer.step#")))
        return RANGE_OPTIMIZER;
    return str_starts(name, S("enumerate(DataLoader)#")) ? RANGE_INPUT : RANGE_PLAIN;
}

/* One call, by its range. */
struct call {
    nanos begin, end;
    strid name;
};

struct calls {
    VEC_OF(struct call) at;
};

/* The ranges of one kind on the thread that has most of them. */
static void gather_calls(struct finder *f, enum range_kind wanted, struct calls *out)
{
    const struct capture *cap = f->st->cap;
    size_t *counts = ARENA_ARRAY(f->arena, size_t, cap->lanes.n + 1);
    uint8_t *known = ARENA_ARRAY(f->arena, uint8_t, cap->strings.strings.n + 1);
    size_t best = 0;
    nanos end = INT64_MIN;

    for (strid i = 0; i < cap->strings.strings.n; i++)
        known[i] = framework_range(capture_text(cap, i)) == wanted;
    for (size_t i = 0; i < f->s->n; i++)
        if (known[f->s->name[i]] && is_host_range(f, i))
            counts[f->s->lane[i]]++;
    for (size_t i = 0; i < cap->lanes.n; i++)
        best = counts[i] > counts[best] ? i : best;
    for (size_t i = 0; i < f->s->n; i++) {
        if (!known[f->s->name[i]] || f->s->lane[i] != best || !is_host_range(f, i) ||
            f->s->begin[i] < end)
            continue;
        end = slices_end(f->s, i);
        vec_push(&out->at, ((struct call){f->s->begin[i], end, f->s->name[i]}));
    }
}

static void try_loader(struct finder *f)
{
    struct calls calls = {0};
    struct moments begins = {0};

    gather_calls(f, RANGE_INPUT, &calls);
    for (size_t i = 0; i < calls.at.n; i++)
        vec_push(&begins.at, calls.at.at[i].begin);
    offer(f, &begins, FOUND_LOADER, 2);
    vec_free(&calls.at);
    vec_free(&begins.at);
}

/* Whether optimizers take turns with this period, told by names and, with `has_work`, by their
 * launches. The first round may be a warm-up. */
static bool takes_turns(const struct finder *f, const struct calls *c, size_t period, bool has_work)
{
    bool is_same = true;

    for (size_t i = c->at.n >= 3 * period ? period : 0; i + period < c->at.n && is_same; i++) {
        const struct call *x = &c->at.at[i], *y = &c->at.at[i + period];
        size_t of_x = launches_before(f, x->end) - launches_before(f, x->begin);
        size_t of_y = launches_before(f, y->end) - launches_before(f, y->begin);
        is_same = x->name == y->name && (!has_work || of_x == of_y);
    }
    return is_same;
}

/* Calls of optimizers to a step: several of them for parts of a model, or for two models. */
static size_t calls_per_step(const struct finder *f, const struct calls *c)
{
    enum { OPTIMIZERS_MOST = 8 };

    for (int has_work = 1; has_work >= 0; has_work--)
        for (size_t p = 1; p <= OPTIMIZERS_MOST && p * 2 <= c->at.n; p++)
            if ((p == 1 || has_work == 0 || p * LEAST_UNITS <= c->at.n) &&
                takes_turns(f, c, p, has_work == 1))
                return p;
    return 1;
}

/* A step ends with the optimizer. What follows the last one is a step of its own if it is as much
 * as half a step. */
static void try_optimizer(struct finder *f)
{
    struct calls calls = {0};
    struct moments ends = {0}, steps = {0};

    gather_calls(f, RANGE_OPTIMIZER, &calls);
    size_t turns = calls_per_step(f, &calls);
    for (size_t i = turns; i <= calls.at.n; i += turns)
        vec_push(&ends.at, calls.at.at[i - 1].end);
    if (f->n > 0 && ends.at.n > 1) {
        size_t first = launches_before(f, ends.at.at[0]);
        size_t all = launches_before(f, ends.at.at[ends.at.n - 1]);
        size_t usual = (all - first) / (ends.at.n - 1);
        bool has_rest = (f->n - all) * 2 >= usual && usual > 0;
        vec_push(&steps.at, f->sorted[0]);
        for (size_t i = 0; i + 1 < ends.at.n + has_rest; i++)
            if (ends.at.at[i] > f->sorted[0])
                vec_push(&steps.at, ends.at.at[i]);
    }
    offer(f, &steps, FOUND_OPTIMIZER, 2);
    vec_free(&calls.at);
    vec_free(&ends.at);
    vec_free(&steps.at);
}

/* ---- ranges of the program ---- */

/* Ranges of one name, but for the number at its end, on one thread. */
struct range_group {
    nanos end;      /* of the last one */
    size_t n, work; /* launches inside */
    bool is_nested;
};

/* Parts of a model, epochs, and what libraries mark. */
static bool is_unit_name(struct str name)
{
    static const struct str others[] = {
        S_INIT("layer"), S_INIT("block"),     S_INIT("attn"),       S_INIT("attention"),
        S_INIT("mlp"),   S_INIT("expert"),    S_INIT("epoch"),      S_INIT("nccl:"),
        S_INIT("## "),   S_INIT("Optimizer"), S_INIT("DataLoader"), S_INIT("DistributedData"),
        S_INIT("FSDP"),  S_INIT("aten::"),    S_INIT("autograd::"),
    };

    return name.n > 0 && !STR_ANY(str_contains_nocase, name, others);
}

static struct str range_stem(struct str name)
{
    return str_part(name, 0, name.n - str_last_digits(name));
}

struct range_groups {
    struct finder *f;
    struct intern stems;
    struct hash places; /* by thread and stem */
    VEC_OF(struct range_group) at;
};

static uint32_t range_group_of(struct range_groups *g, size_t slice, bool adds)
{
    const struct finder *f = g->f;
    struct str name = capture_text(f->st->cap, f->s->name[slice]);
    uint32_t fresh = (uint32_t)g->at.n, place = UINT32_MAX;

    if (f->s->kind[slice] != SLICE_ANNOTATION || !is_host_range(f, slice) || !is_unit_name(name))
        return UINT32_MAX;
    uint64_t key = (uint64_t)f->s->lane[slice] << 32 | intern_put(&g->stems, range_stem(name));
    if (!adds)
        return hash_get(&g->places, key, &place) ? place : UINT32_MAX;
    place = hash_add(&g->places, key, fresh);
    if (place == fresh)
        vec_push(&g->at, ((struct range_group){.end = INT64_MIN}));
    return place;
}

/* Ranges of one name, of which each iteration has one: the rarest that holds most of the launches,
 * since rarer ones lie outside. */
static void try_ranges(struct finder *f)
{
    struct range_groups g = {.f = f};
    size_t best = SIZE_MAX;
    struct moments begins = {0};

    intern_init(&g.stems);
    for (size_t i = 0; i < f->s->n; i++) {
        uint32_t k = range_group_of(&g, i, true);
        if (k == UINT32_MAX)
            continue;
        struct range_group *group = &g.at.at[k];
        nanos end = slices_end(f->s, i);
        group->is_nested |= f->s->begin[i] < group->end;
        group->end = end > group->end ? end : group->end;
        group->work += launches_before(f, end) - launches_before(f, f->s->begin[i]);
        group->n++;
    }
    for (size_t k = 0; k < g.at.n; k++)
        if (g.at.at[k].n >= LEAST_UNITS && !g.at.at[k].is_nested &&
            g.at.at[k].work * 100 >= f->n * COVERED &&
            (best == SIZE_MAX || g.at.at[k].n < g.at.at[best].n))
            best = k;
    for (size_t i = 0; i < f->s->n && best != SIZE_MAX; i++)
        if (range_group_of(&g, i, false) == best)
            vec_push(&begins.at, f->s->begin[i]);
    offer(f, &begins, FOUND_RANGES, LEAST_UNITS);
    intern_fini(&g.stems);
    hash_free(&g.places);
    vec_free(&g.at);
    vec_free(&begins.at);
}

/* ---- launches of graphs ---- */

/* One launch of a graph: what it ran, and what was launched until the next one. */
struct graph_launch {
    uint32_t slice;
    uint64_t work, whole;
    bool is_piece; /* a product follows outside, so the graph is a part of a pass */
};

struct graph_launches {
    VEC_OF(struct graph_launch) at;
};

static int graphs_by_begin(const void *a, const void *b, void *slices)
{
    const struct graph_launch *x = a, *y = b;
    const struct slices *s = slices;

    return ORDER(s->begin[x->slice], s->begin[y->slice]) ?: ORDER(x->slice, y->slice);
}

/* The launches in order, with hashes of the kernels of each; returns how many kernels they ran.
 * Kernels of a graph may run in any order. */
static size_t gather_graphs(struct finder *f, struct graph_launches *out)
{
    const struct capture *cap = f->st->cap;
    const struct op_tree *tree = study_op_tree(f->st);
    struct kernel_order kernels = study_kernels(f->st);
    size_t inside = 0;

    for (size_t i = 0; i < f->s->n; i++)
        if (f->s->kind[i] == SLICE_RUNTIME &&
            host_call_kind(capture_text(cap, f->s->name[i])) == CALL_GRAPH)
            vec_push(&out->at, ((struct graph_launch){.slice = (uint32_t)i}));
    if (out->at.n > 0)
        qsort_r(out->at.at, out->at.n, sizeof(*out->at.at), graphs_by_begin, (void *)f->s);
    for (size_t i = 0; i < f->n; i++) {
        size_t place;
        vec_bisect(place, out->at.n, k, f->s->begin[out->at.at[k].slice] <= f->times[i]);
        if (tree->launch[i] == OP_TREE_NONE || place == 0)
            continue;
        struct graph_launch *launch = &out->at.at[place - 1];
        uint64_t kernel = hash_mix(1, f->s->name[kernels.at[i]] + 1);
        bool is_inside = tree->launch[i] == launch->slice;
        launch->whole += kernel;
        launch->work += is_inside ? kernel : 0;
        launch->is_piece |= !is_inside && step_units_is_product(f->st, i);
        inside += is_inside;
    }
    return inside;
}

/* The shortest sequence of graphs that repeats from `*first` on, after a few that warm up; 0: none.
 * With `is_whole` what is launched between graphs repeats, too: graphs of equal layers are parts of
 * a longer sequence then. The work after the last graph may be cut off. */
static size_t graph_period(const struct graph_launches *g, bool is_whole, size_t *first)
{
    enum { PERIOD_MOST = 64, WARM_UP = 10 };
    size_t n = g->at.n - (is_whole && g->at.n > 0);

    for (size_t p = 1; p * LEAST_UNITS <= g->at.n && p <= PERIOD_MOST; p++) {
        size_t from = n; /* everything from here on repeats */
        for (; from > p; from--) {
            const struct graph_launch *x = &g->at.at[from - 1 - p], *y = &g->at.at[from - 1];
            if (is_whole ? x->whole != y->whole : x->work != y->work)
                break;
        }
        *first = from > p ? from - p : 0;
        if (*first * WARM_UP <= g->at.n && *first + p * LEAST_UNITS <= g->at.n)
            return p;
    }
    return 0;
}

static bool are_pieces(const struct graph_launches *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->at.n; i++)
        n += g->at.at[i].is_piece;
    return n * 2 > g->at.n;
}

static void try_graphs(struct finder *f)
{
    struct graph_launches launches = {0};
    struct moments begins = {0};
    size_t inside = gather_graphs(f, &launches), first = 0;

    if (launches.at.n >= LEAST_UNITS && inside * 2 >= f->n) {
        size_t period = graph_period(&launches, true, &first);
        if (period == 0 && !are_pieces(&launches))
            period = graph_period(&launches, false, &first);
        for (size_t i = first; period > 0 && i < launches.at.n; i += period)
            vec_push(&begins.at, f->s->begin[launches.at.at[i].slice]);
    }
    offer(f, &begins, FOUND_GRAPHS, LEAST_UNITS);
    vec_free(&launches.at);
    vec_free(&begins.at);
}

/* ---- loops of kernels ---- */

static bool is_product_family(enum kernel_family family)
{
    return family == FAMILY_GEMM_TENSOR || family == FAMILY_GEMM_SIMT ||
           family == FAMILY_ATTENTION || family == FAMILY_CONV;
}

/* By its type, its name, or the operators that launched it. */
bool step_units_is_product(struct study *st, size_t kernel)
{
    const struct capture *cap = st->cap;
    const struct op_tree *tree = study_op_tree(st);
    uint32_t slice = study_kernels(st).at[kernel], call = tree->launch[kernel];
    struct str name = capture_text(cap, cap->slices.name[slice]);

    if (is_product_family(kernel_family_of_type(capture_slice_text(cap, slice, KEY_TYPE))) ||
        is_product_family(kernel_family_of_type(name)) ||
        is_product_family(kernel_family_of_name(name).family) ||
        str_contains_nocase(name, S("conv")))
        return true;
    for (int up = 0; call != OP_TREE_NONE && up < OPERATORS_UP; up++, call = tree->parent[call])
        if (is_product_family(kernel_family_of_operator(capture_text(cap, cap->slices.name[call]))))
            return true;
    return false;
}

/* A round begins with its first copy from the host; copies in a row are one. */
static void try_copies(struct finder *f)
{
    static const struct str words[] = {S_INIT("HtoD"), S_INIT("HostToDevice")};
    const struct capture *cap = f->st->cap;
    struct kernel_order kernels = study_kernels(f->st);
    struct moments begins = {0};
    VEC_OF(size_t) works = {0}; /* kernels of each round */
    size_t alike = 0;
    bool was_copy = false;

    for (size_t i = 0; i < kernels.n; i++) {
        bool is_copy = f->s->kind[kernels.at[i]] == SLICE_COPY;
        if (is_copy && !STR_ANY(str_contains, capture_text(cap, f->s->name[kernels.at[i]]), words))
            continue;
        if (is_copy && !was_copy) {
            vec_push(&begins.at, f->times[i]);
            vec_push(&works, 0);
        } else if (!is_copy && works.n > 0) {
            works.at[works.n - 1]++;
        }
        was_copy = is_copy;
    }
    for (size_t i = 1; i + 1 < works.n; i++) /* the first may warm up, the last be cut */
        alike += works.at[i] > 1 && works.at[i] == works.at[works.n / 2];
    if (works.n > LEAST_UNITS && alike * 100 >= (works.n - 2) * ALIKE)
        offer(f, &begins, FOUND_LOOP, LEAST_UNITS);
    vec_free(&works);
    vec_free(&begins.at);
}

/* The repeat that holds nearly all of a text, of blocks of several kernels; without blocks: none.
 */
static struct repeat whole_repeat(struct finder *f, const uint32_t *text, size_t n)
{
    struct repeats repeats = repeats_find(f->arena, text, n);
    struct repeat found = {0};

    for (size_t i = 0; i < repeats.n && found.n == 0; i++) {
        struct repeat r = repeats.at[i];
        size_t end = r.cut[r.n];
        if (r.period > 1 && (end - r.cut[0]) * 100 >= n * COVERED && n - end <= r.period)
            found = r;
    }
    return found;
}

/* Kernels that repeat throughout and multiply nothing: no layers of a model. */
static void try_loop(struct finder *f)
{
    struct kernel_order kernels = study_kernels(f->st);
    uint32_t *text = ARENA_ARRAY(f->arena, uint32_t, kernels.n + 1);
    size_t *place = ARENA_ARRAY(f->arena, size_t, kernels.n + 1), n = 0;
    struct moments begins = {0};

    for (size_t i = 0; i < kernels.n; i++) {
        if (f->s->kind[kernels.at[i]] != SLICE_COMPUTE)
            continue;
        if (step_units_is_product(f->st, i))
            return;
        text[n] = f->s->name[kernels.at[i]];
        place[n++] = i;
    }
    struct repeat r = whole_repeat(f, text, n);
    for (size_t i = 0; i < r.n; i++)
        vec_push(&begins.at, f->times[place[r.cut[i]]]);
    offer(f, &begins, FOUND_LOOP, LEAST_UNITS);
    vec_free(&begins.at);
}

const struct step_units *step_units_find(struct study *st)
{
    static void (*const others[])(struct finder * f) = {try_ranges, try_graphs, try_copies,
                                                        try_loop};
    struct step_units *out = ARENA_NEW(&st->scratch, struct step_units);
    struct finder f = {.st = st, .s = &st->cap->slices, .arena = &st->scratch, .out = out};

    units_take_times(&f);
    out->times = f.times;
    if (f.n == 0)
        return out;
    try_loader(&f);
    try_optimizer(&f);
    for (size_t i = 0; i < ARRAY_LEN(others) && out->n == 0; i++)
        others[i](&f);
    return out;
}
