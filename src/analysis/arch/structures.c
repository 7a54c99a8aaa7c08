/*
 * The layers of each step as blocks with four clocks.
 */
#include "analysis/arch/structures.h"

#include <stdlib.h>

#include "analysis/arch/arch.h"
#include "analysis/idle/waits.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "capture/classify.h"

__extension__ typedef __int128 wide; /* products of times and small numbers */

static const nanos small_below = 10000; /* kernels under 10 us are small */

ENUM_NAMES(structure_type_name, enum structure_type, "transformer_block", "prologue", "epilogue",
           "unknown")

ENUM_NAMES(structure_part_name, enum structure_part, "block", "side:comm", "side:aicpu",
           "side:small", "side:other")

BIT_NAMES(clocks_meaning_text, enum clocks_meaning, "streams overlap", "gaps inside",
          "wait heavy, check anchors", "sequential")

/* a > q/10 · b on integers, so that exact hits are told apart. */
static bool exceeds(nanos a, int q, nanos b)
{
    return (wide)a * 10 > (wide)b * q;
}

const struct structure *structures_at(const struct structures *all, size_t step, nanos t)
{
    const struct structure *found = NULL;

    for (size_t i = 0; i < all->n && all->at[i].step <= step; i++)
        if (all->at[i].step == step && all->at[i].at.begin <= t)
            found = &all->at[i];
    return found;
}

unsigned clocks_read(const struct clocks *c)
{
    nanos low = c->wall, high = low;
    const nanos others[] = {c->busy, c->sum, c->cost};
    unsigned meaning = 0;

    if (exceeds(c->sum, 12, c->wall))
        meaning |= CLOCKS_OVERLAP;
    if (exceeds(c->wall, 12, c->busy))
        meaning |= CLOCKS_GAPS;
    if (exceeds(c->cost, 15, c->sum))
        meaning |= CLOCKS_WAIT_HEAVY;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        low = others[i] < low ? others[i] : low;
        high = others[i] > high ? others[i] : high;
    }
    if ((wide)high * 100 <= (wide)low * 105)
        meaning |= CLOCKS_SEQUENTIAL;
    return meaning;
}

struct finder {
    struct study *st;
    const struct arch *a;
    struct structures *out;
    struct kernel_order kernels;
    const struct slices *s;
    const struct waits *waits;
};

static enum structure_part structures_part_of(const struct finder *f, size_t slice)
{
    bool is_main = f->s->lane[slice] == f->a->markers->main_lane;
    enum slice_kind kind = (enum slice_kind)f->s->kind[slice];

    if (is_main && f->s->dur[slice] >= small_below && classify_is_core_work(f->st->cap, slice))
        return PART_BLOCK;
    if (slice_is_comm(kind))
        return PART_COMM;
    if (kind == SLICE_AICPU)
        return PART_AICPU;
    if (f->s->dur[slice] < small_below)
        return PART_SMALL;
    return is_main ? PART_BLOCK : PART_OTHER;
}

/* A running union: kernels come by begin. */
struct sweep {
    nanos first, until, busy;
    bool is_begun;
};

/* Adds a kernel; gives the idle time before it. */
static nanos sweep_add(struct sweep *w, nanos begin, nanos end)
{
    nanos gap = 0;

    if (!w->is_begun) {
        *w = (struct sweep){begin, begin, 0, true};
    } else if (begin > w->until) {
        gap = nanos_sub(begin, w->until);
    }
    if (end > w->until) {
        w->busy = nanos_add(w->busy, nanos_sub(end, begin > w->until ? begin : w->until));
        w->until = end;
    }
    return gap;
}

static void clock_add(struct clocks *c, const struct finder *f, size_t kernel)
{
    nanos dur = f->s->dur[f->kernels.at[kernel]], wait = f->waits->at[kernel];

    c->kernels++;
    c->sum = nanos_add(c->sum, dur);
    c->cost = nanos_add(c->cost, nanos_add(dur, wait > 0 ? wait : 0));
}

static void clock_close(struct clocks *c, const struct sweep *w)
{
    c->busy = w->busy;
    c->wall = w->is_begun ? nanos_sub(w->until, w->first) : 0;
}

/* Length of the communication that runs while the block does: two running unions, by begin. */
static nanos under_block(const struct finder *f, const struct structure *s,
                         struct interval_set comm, struct interval_set block)
{
    for (size_t i = s->first; i < s->end; i++) {
        size_t slice = f->kernels.at[i];
        struct interval at = {f->s->begin[slice], slices_end(f->s, slice)};
        enum structure_part part = structures_part_of(f, slice);
        if (part == PART_COMM)
            comm.at[comm.n++] = at;
        else if (part == PART_BLOCK)
            block.at[block.n++] = at;
    }
    interval_merge(&comm);
    interval_merge(&block);
    return interval_overlap(comm, block);
}

static void structures_measure(struct finder *f, struct structure *s, struct interval *room)
{
    struct sweep all = {0}, parts[PARTS] = {0};

    for (size_t i = s->first; i < s->end; i++) {
        size_t slice = f->kernels.at[i];
        nanos begin = f->s->begin[slice], end = slices_end(f->s, slice);
        enum structure_part part = structures_part_of(f, slice);
        enum slice_kind kind = (enum slice_kind)f->s->kind[slice];
        nanos gap = sweep_add(&all, begin, end);
        if (gap > 0) {
            s->bubbles++;
            s->bubble_total = nanos_add(s->bubble_total, gap);
            s->bubble_largest = gap > s->bubble_largest ? gap : s->bubble_largest;
        }
        sweep_add(&parts[part], begin, end);
        clock_add(&s->all, f, i);
        clock_add(&s->parts[part], f, i);
        if (slice_is_comm(kind))
            s->comm = nanos_add(s->comm, f->s->dur[slice]);
        else if (kind == SLICE_AICPU)
            s->aicpu = nanos_add(s->aicpu, f->s->dur[slice]);
        else if (classify_is_core_work(f->st->cap, slice))
            s->core = nanos_add(s->core, f->s->dur[slice]);
    }
    clock_close(&s->all, &all);
    for (size_t i = 0; i < PARTS; i++)
        clock_close(&s->parts[i], &parts[i]);
    s->at = (struct interval){all.first, all.until};
    size_t n = s->end - s->first;
    if (s->parts[PART_COMM].kernels > 0 && s->parts[PART_BLOCK].kernels > 0)
        s->comm_under_block =
            under_block(f, s, (struct interval_set){room, 0}, (struct interval_set){room + n, 0});
}

static void structures_add(struct finder *f, size_t first, size_t end, enum structure_type type)
{
    if (first < end)
        f->out->at[f->out->n++] =
            (struct structure){.type = type, .first = first, .end = end, .step = SIZE_MAX};
}

/* Layers, and what is left between them. */
static void from_layers(struct finder *f)
{
    const struct arch_layers *l = f->a->layers;
    size_t done = 0;

    f->out->source = arch_method_name(l->method);
    for (size_t i = 0; i < l->n_passes; i++) {
        const struct arch_pass *pass = &l->passes[i];
        size_t first = pass->layers > 0 ? l->at[pass->layer_first].first : pass->end;
        structures_add(f, done, pass->first, STRUCTURE_UNKNOWN); /* before the first pass */
        structures_add(f, pass->first, first, STRUCTURE_PROLOGUE);
        done = first;
        for (size_t k = 0; k < pass->layers; k++) {
            const struct arch_layer *layer = &l->at[pass->layer_first + k];
            structures_add(f, done, layer->first, STRUCTURE_UNKNOWN);
            structures_add(f, layer->first, layer->end,
                           layer->kind == LAYER_BLOCK ? STRUCTURE_UNKNOWN
                                                      : STRUCTURE_TRANSFORMER_BLOCK);
            done = layer->end;
        }
        structures_add(f, done, pass->end, STRUCTURE_EPILOGUE);
        done = pass->end;
    }
    structures_add(f, done, f->kernels.n, STRUCTURE_UNKNOWN);
}

static void assign_steps(struct finder *f)
{
    const struct steps *steps = study_steps(f->st);
    size_t step = SIZE_MAX, number = 0;
    nanos until = INT64_MIN;

    for (size_t i = 0; i < f->out->n; i++) {
        struct structure *s = &f->out->at[i];
        size_t before = step;
        while (steps->n > 0 && step + 1 < steps->n &&
               steps->at[step + 1].window.begin <= s->at.begin)
            step++;
        if (step != before)
            number = 0;
        s->step = step;
        s->number = number++;
        if (step != SIZE_MAX)
            s->share = num_share(s->all.wall, arch_span(steps->at[step].window));
        if (until != INT64_MIN && s->at.begin > until)
            s->gap_before = nanos_sub(s->at.begin, until);
        if (s->at.end > until)
            until = s->at.end;
    }
}

static int by_wall(const void *a, const void *b, void *ctx)
{
    const struct structure *s = ctx;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return ORDER(s[y].all.wall, s[x].all.wall) ?: ORDER(x, y);
}

/* The ranking within the first step of the dominant group. */
static void find_ranking(struct finder *f)
{
    const struct groups *groups = study_groups(f->st);
    struct structures *out = f->out;
    size_t step = SIZE_MAX, first = 0;

    if (groups->dominant != SIZE_MAX && groups->at[groups->dominant].n > 0)
        step = groups->at[groups->dominant].steps[0];
    out->dominant_step = step;
    while (first < out->n && out->at[first].step != step)
        first++;
    while (first + out->n_ranked < out->n && out->at[first + out->n_ranked].step == step)
        out->n_ranked++;
    out->by_wall = ARENA_ARRAY(&f->st->scratch, size_t, out->n_ranked);
    for (size_t i = 0; i < out->n_ranked; i++)
        out->by_wall[i] = first + i;
    if (out->n_ranked > 0)
        qsort_r(out->by_wall, out->n_ranked, sizeof(*out->by_wall), by_wall, out->at);
}

const struct structures *structures_find(struct study *st, const struct arch *a)
{
    size_t steps = study_steps(st)->n;
    size_t most = 2 * a->layers->n + 3 * a->layers->n_passes + steps + 2;
    struct finder f = {
        .st = st,
        .a = a,
        .out = ARENA_NEW(&st->scratch, struct structures),
        .kernels = study_kernels(st),
        .s = &st->cap->slices,
        .waits = study_waits(st),
    };

    f.out->at = ARENA_ARRAY(&st->scratch, struct structure, most);
    f.out->source = "step";
    if (a->layers->n >= 2)
        from_layers(&f);
    for (size_t i = 0; a->layers->n < 2 && i < steps; i++) {
        struct kernel_range range = study_step_kernels(st, i);
        structures_add(&f, range.from, range.to, STRUCTURE_UNKNOWN);
    }
    size_t largest = 0;
    for (size_t i = 0; i < f.out->n; i++)
        if (f.out->at[i].end - f.out->at[i].first > largest)
            largest = f.out->at[i].end - f.out->at[i].first;
    struct interval *room = ARENA_ARRAY(&st->scratch, struct interval, 2 * largest);
    for (size_t i = 0; i < f.out->n; i++)
        structures_measure(&f, &f.out->at[i], room);
    assign_steps(&f);
    find_ranking(&f);
    return f.out;
}
