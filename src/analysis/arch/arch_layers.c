/*
 * Passes and layers, cut where attention begins.
 */
#include "analysis/arch/arch_layers.h"

#include <stdlib.h>

#include "analysis/arch/arch_repeat.h"
#include "analysis/arch/arch_runs.h"
#include "analysis/ops/op_tree.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"

enum { GRAPH_LAYERS = 3 };

static const nanos least_gap = 1000000; /* an idle gap between passes lasts 1 ms or more */

ENUM_NAMES(arch_method_name, enum arch_method, "marker", "repeat", "collective", "gap", "none",
           "module", "range")

ENUM_NAMES(layer_kind_name, enum layer_kind, "Dense", "MoE+DFC", "MoE+GMM", "MoE+MC2", "MoE+AG",
           "MoE", "Block")

/* ---- borders between passes ---- */

struct finder {
    struct study *st;
    struct arch_ops *ops;
    const struct arch_markers *m;
    struct arch_layers *out;
    struct kernel_order kernels;
    const struct slices *s;
    uint8_t *borders;    /* mask of enum border before each marker */
    bool *is_embedding;  /* by operator: an embedding that begins passes */
    uint64_t *signature; /* of the kernels from each marker to the next */
    bool *is_border;
    nanos *step_at; /* the step mark before each marker, where BORDER_STEP is set */
    bool has_steps; /* marked by the profiler itself */
    struct arch_launches launches;
};

static struct arch_op *layers_op_of(const struct finder *f, size_t kernel)
{
    return &f->ops->at[f->ops->of_kernel[kernel]];
}

static bool is_topk(const struct arch_op *op)
{
    return op->is_topk;
}

static bool is_embedding(const struct arch_op *op)
{
    return op->family == KERNEL_ROLE_EMBEDDING && !op->is_backward;
}

/* Of each operator that is wanted: how many of the stretches between two markers it runs in. What
 * follows the last marker counts when it is `open`. */
static size_t *count_between(struct finder *f, bool (*is_wanted)(const struct arch_op *op),
                             bool open)
{
    size_t *between = ARENA_ARRAY(&f->st->scratch, size_t, f->ops->n);
    size_t *last = ARENA_ARRAY(&f->st->scratch, size_t, f->ops->n);
    size_t marker = 0;

    for (size_t i = 0; i < f->kernels.n; i++) {
        uint32_t op = f->ops->of_kernel[i];
        while (marker < f->m->n && f->m->at[marker].kernel <= i)
            marker++;
        if (marker == 0 || (marker == f->m->n && !open) || last[op] == marker ||
            !is_wanted(&f->ops->at[op]))
            continue;
        last[op] = marker;
        between[op]++;
    }
    return between;
}

static bool is_backward_attention(const struct arch_op *op)
{
    return op->is_backward_attention;
}

static bool is_sampling(const struct arch_op *op)
{
    return op->family == KERNEL_ROLE_SAMPLING && !op->is_backward;
}

/* Borders at the operators for which `is` holds, but for those inside every layer, which say
 * nothing: each is judged for itself. Whether some run outside of the layers. */
static bool borders_at(struct finder *f, bool (*is)(const struct arch_op *op), bool *wanted,
                       enum border border)
{
    const size_t *between = count_between(f, is, false);
    bool is_outside = false;
    size_t marker = 0;

    for (size_t i = 0; i < f->ops->n; i++)
        wanted[i] = is(&f->ops->at[i]) && between[i] * 2 <= f->m->n - 1;
    for (size_t i = 0; i < f->kernels.n; i++) {
        while (marker < f->m->n && f->m->at[marker].kernel <= i)
            marker++;
        if (!wanted[f->ops->of_kernel[i]])
            continue;
        if (marker > 0 && marker < f->m->n)
            f->borders[marker] |= (uint8_t)border;
        else
            is_outside = true;
    }
    return is_outside;
}

static void gap_borders(struct finder *f)
{
    struct interval_set busy = study_busy(f->st);
    nanos *idle = ARENA_ARRAY(&f->st->scratch, nanos, f->m->n);
    struct arena_mark mark = arena_mark(&f->st->scratch);
    double *values = ARENA_ARRAY(&f->st->scratch, double, f->m->n);
    size_t marker = 0;

    /* Longest idle time of the device before each marker but the first. */
    for (size_t i = 0; i + 1 < busy.n; i++) {
        nanos gap = nanos_sub(busy.at[i + 1].begin, busy.at[i].end);
        while (marker < f->m->n &&
               f->s->begin[f->kernels.at[f->m->at[marker].kernel]] < busy.at[i + 1].begin)
            marker++;
        if (marker > 0 && marker < f->m->n && gap > idle[marker])
            idle[marker] = gap;
    }
    for (size_t i = 1; i < f->m->n; i++)
        values[i - 1] = (double)idle[i];
    struct spread spread = spread_of(values, f->m->n - 1);
    double limit = (double)least_gap;
    if (5 * spread.median > limit)
        limit = 5 * spread.median;
    if (3 * spread.p95 > limit)
        limit = 3 * spread.p95;
    for (size_t i = 1; i < f->m->n; i++)
        if ((double)idle[i] >= limit)
            f->borders[i] |= BORDER_GAP;
    arena_rewind(&f->st->scratch, mark);
}

static void step_borders(struct finder *f)
{
    const struct steps *steps = study_steps(f->st);
    size_t marker = 0;

    if (steps->source == STEPS_PSEUDO)
        return;
    f->has_steps = steps->source == STEPS_PROFILER;
    f->launches = arch_launches_find(f->st);
    for (size_t i = 0; i < steps->n; i++) {
        nanos at = steps->at[i].window.begin;
        while (marker < f->m->n && arch_launch_time(&f->launches, f->m->at[marker].kernel) < at)
            marker++;
        if (marker > 0 && marker < f->m->n) {
            f->borders[marker] |= BORDER_STEP;
            f->step_at[marker] = at;
        }
    }
}

/* What is worn out by holding nearly everywhere is ignored. Gaps count only where nothing better
 * speaks and no one embedding spans all: a stall inside a pass looks just like one between two.
 * Whether anything but gaps holds. */
static bool judge_borders(struct finder *f)
{
    unsigned trusted = 0;
    bool is_any = false;

    for (unsigned rule = 0; rule < BORDER_RULES; rule++) {
        f->out->fired[rule] = 0;
        for (size_t i = 1; i < f->m->n; i++)
            f->out->fired[rule] += (f->borders[i] >> rule) & 1;
        f->out->is_ignored[rule] =
            f->out->fired[rule] * 2 > f->m->n - 1 && (rule != BORDER_RULE_STEP || !f->has_steps);
        if (!f->out->is_ignored[rule])
            trusted |= 1U << rule;
    }
    for (size_t i = 1; i < f->m->n; i++)
        is_any |= (f->borders[i] & trusted & ~(unsigned)BORDER_GAP) != 0;
    if ((is_any || f->out->is_one_pass) && (trusted & BORDER_GAP)) {
        trusted &= ~(unsigned)BORDER_GAP;
        f->out->is_ignored[BORDER_RULE_GAP] = true;
    }
    for (size_t i = 1; i < f->m->n; i++)
        f->is_border[i] = (f->borders[i] & trusted) != 0;
    return is_any;
}

/* ---- layers per pass ---- */

static void find_signatures(struct finder *f)
{
    for (size_t i = 0; i < f->m->n; i++) {
        size_t end = i + 1 < f->m->n ? f->m->at[i + 1].kernel : f->kernels.n;
        uint32_t previous = UINT32_MAX;
        uint64_t signature = 0;
        for (size_t k = f->m->at[i].kernel; k < end; k++) {
            uint32_t op = f->ops->of_kernel[k];
            size_t slice = f->kernels.at[k];
            if (f->out->is_training && f->ops->at[op].is_backward) {
                signature = 1; /* a last layer: what follows depends on the batch */
                break;
            }
            /* AICPU kernels and copies come and go between equal layers */
            if (f->s->lane[slice] != f->m->main_lane || f->s->kind[slice] != SLICE_COMPUTE ||
                op == previous)
                continue;
            signature = hash_stable_mix(signature, op + 1);
            previous = op;
        }
        f->signature[i] = signature;
    }
}

/* Share of layers that look like the one `period` later; the last layer of the capture is cut off
 * and does not count. -1 when there is nothing to compare. */
static double period_match(const struct finder *f, size_t period, size_t most)
{
    size_t same = 0, n = 0;

    for (size_t i = 0; i + period + 1 < f->m->n && i < most; i++) {
        same += f->signature[i] == f->signature[i + period];
        n++;
    }
    return n > 0 ? (double)same / (double)n : -1;
}

struct distance {
    size_t length, weight;
};

ORDER_BY(heaviest_first, struct distance,
         ORDER(y->weight, x->weight) ?: ORDER(y->length, x->length));

static void count_distance(struct distance *list, size_t *n, struct hash *seen, size_t length,
                           size_t weight)
{
    if (length == 0)
        return;
    uint32_t at = hash_add(seen, length, (uint32_t)*n);
    if (at == *n)
        list[(*n)++] = (struct distance){length, 0};
    list[at].weight += weight;
}

/* Distances between neighbouring borders count most, those over one border and those to the ends
 * of the capture least: they help when there is nothing else. */
static void from_borders(struct finder *f)
{
    struct arena_mark mark = arena_mark(&f->st->scratch);
    struct distance *list = ARENA_ARRAY(&f->st->scratch, struct distance, 2 * f->m->n + 4);
    size_t previous = 0, before = SIZE_MAX, n = 0, good = 0;
    struct hash seen = {0};

    for (size_t i = 1; i <= f->m->n; i++) {
        bool is_end = i == f->m->n;
        if (!is_end && !f->is_border[i])
            continue;
        bool is_edge = previous == 0 || is_end;
        count_distance(list, &n, &seen, i - previous, is_edge ? 2 : 4 * f->m->n);
        if (before != SIZE_MAX)
            count_distance(list, &n, &seen, i - before, before == 0 || is_end ? 1 : 3);
        before = previous;
        previous = i;
    }
    hash_free(&seen);
    qsort(list, n, sizeof(*list), heaviest_first);
    size_t *out = f->out->candidates;
    if (n > ARCH_CANDIDATES)
        n = ARCH_CANDIDATES;
    for (size_t i = 0; i < n && good < ARCH_CANDIDATES; i++)
        if (period_match(f, list[i].length, SIZE_MAX) >= 0.9)
            out[good++] = list[i].length;
    for (size_t i = 0; i < n && good < ARCH_CANDIDATES; i++)
        if (period_match(f, list[i].length, SIZE_MAX) < 0.9)
            out[good++] = list[i].length;
    f->out->n_candidates = good;
    arena_rewind(&f->st->scratch, mark);
}

enum { PERIODS_TRIED = 2048, PERIOD_LAYERS = 16384 };

/* Without borders: the period of the layers' signatures that fits best, the smallest of equals. A
 * period of one layer is a model of equal layers, not a model of one layer; neither is a period
 * that one embedding or sampler spans a model: its layers take turns. */
static void from_period(struct finder *f)
{
    double best = 0.9;
    size_t period = 0;

    for (size_t p = 1; p <= f->m->n / 2 && p <= PERIODS_TRIED; p++) {
        double match = period_match(f, p, PERIOD_LAYERS);
        if (match > best || (match == best && period == 0)) {
            best = match;
            period = p;
        }
    }
    f->out->is_period = period > 1 && !f->out->is_one_pass;
    f->out->candidates[0] = f->out->is_period ? period : f->m->n;
    f->out->n_candidates = 1;
}

/* Rounds of a loop inside a pass are passes of the model that it calls. */
static void loop_borders(struct finder *f)
{
    size_t from = 0;

    for (size_t i = 1; i <= f->m->n; i++) {
        size_t begin, round;
        if (i < f->m->n && !f->is_border[i])
            continue;
        round = arch_runs_loop(f->st, f->m, f->signature, from, i, &begin);
        for (size_t at = begin; round > 0 && at < i; at += round) {
            f->borders[at] |= BORDER_LOOP;
            f->out->fired[BORDER_RULE_LOOP] += at > 0 && !f->is_border[at];
            f->is_border[at] = at > 0;
        }
        from = i;
    }
}

/* ---- passes ---- */

/* The first kernel after the marker before that belongs to the pass that begins with `marker`: the
 * embedding, the first one of the step, or what follows the longest idle time. */
static size_t prologue_of(const struct finder *f, size_t marker)
{
    size_t own = f->m->at[marker].kernel;
    size_t from = marker > 0 ? f->m->at[marker - 1].kernel + 1 : 0;

    for (size_t i = from; i < own; i++)
        if (f->is_embedding[f->ops->of_kernel[i]])
            return i;
    if (marker == 0)
        return from;
    for (size_t i = from; i < own && (f->borders[marker] & BORDER_BACKWARD); i++)
        if (layers_op_of(f, i)->is_backward)
            from = i + 1;
    if ((f->borders[marker] & BORDER_STEP) && !f->out->is_ignored[BORDER_RULE_STEP])
        for (size_t i = from; i < own; i++)
            if (arch_launch_time(&f->launches, i) >= f->step_at[marker])
                return i;
    /* Of the kernels from `from` to `own`, the one after the longest idle time. */
    nanos longest = 0, end = slices_end(f->s, f->kernels.at[from - 1]);
    size_t start = own;
    for (size_t i = from; i <= own; i++) {
        nanos begin = f->s->begin[f->kernels.at[i]];
        if (nanos_sub(begin, end) > longest) {
            longest = nanos_sub(begin, end);
            start = i;
        }
        if (slices_end(f->s, f->kernels.at[i]) > end)
            end = slices_end(f->s, f->kernels.at[i]);
    }
    return start;
}

/* The end of the pass that begins at `from`: a whole one, or a part that ends at a border from
 * which whole ones follow. */
static size_t pass_end(const struct finder *f, size_t from, size_t length)
{
    size_t end = length < f->m->n - from ? from + length : f->m->n;

    if (end == f->m->n || f->is_border[end])
        return end;
    for (size_t i = from + 1; i < end; i++)
        if (f->is_border[i] && (i + length >= f->m->n || f->is_border[i + length]))
            return i;
    return end;
}

size_t arch_layers_epilogue(const struct arch_layers *layers, const struct arch_ops *ops,
                            size_t from, size_t end)
{
    for (size_t i = from; layers->is_training && i < end; i++) {
        const struct arch_op *op = &ops->at[ops->of_kernel[i]];
        if (op->is_backward || op->is_optimizer)
            return i;
    }
    return end;
}

/* All kernels that begin with a marker belong to its layer. */
static size_t layer_begin(const struct finder *f, size_t marker)
{
    size_t kernel = f->m->at[marker].kernel;
    nanos begin = f->s->begin[f->kernels.at[kernel]];

    while (kernel > 0 && f->s->begin[f->kernels.at[kernel - 1]] == begin &&
           (marker == 0 || kernel - 1 > f->m->at[marker - 1].kernel))
        kernel--;
    return kernel;
}

static void add_layers(struct finder *f, struct arch_pass *pass, size_t number)
{
    pass->layer_first = f->out->n;
    pass->layers = pass->markers;
    for (size_t i = 0; i < pass->markers; i++) {
        size_t marker = pass->marker_first + i;
        f->out->at[f->out->n++] = (struct arch_layer){
            .pass = number,
            .index = i,
            .phase = f->m->at[marker].phase,
            .first = layer_begin(f, marker),
            .end = i + 1 < pass->markers ? layer_begin(f, marker + 1) : pass->epilogue,
            .marker = f->m->at[marker].kernel,
        };
    }
}

static void cut_passes(struct finder *f, size_t length)
{
    struct arch_layers *out = f->out;

    out->passes = ARENA_ARRAY(&f->st->scratch, struct arch_pass, f->m->n);
    out->at = ARENA_ARRAY(&f->st->scratch, struct arch_layer, f->m->n);
    for (size_t from = 0; from < f->m->n;) {
        size_t end = pass_end(f, from, length);
        out->passes[out->n_passes++] = (struct arch_pass){
            .marker_first = from,
            .markers = end - from,
            .is_partial = end - from != length,
            .first = prologue_of(f, from),
        };
        from = end;
    }
    for (size_t i = 0; i < out->n_passes; i++) {
        struct arch_pass *pass = &out->passes[i];
        pass->number = pass->is_partial ? out->partial++ : out->complete++;
        pass->end = i + 1 < out->n_passes ? out->passes[i + 1].first : f->kernels.n;
        size_t last = f->m->at[pass->marker_first + pass->markers - 1].kernel;
        pass->epilogue = arch_layers_epilogue(out, f->ops, last + 1, pass->end);
        pass->at = arch_extent(f->st, pass->first, pass->end, &pass->busy);
        add_layers(f, pass, i);
    }
    arch_layers_measure(f->st, f->ops, f->m->main_lane, out->at, out->n);
}

/* A last layer that looks like one before it, in every pass: nothing stands between two passes, and
 * several passes of a shorter model would look the same. The capture's last layer is cut off. */
static bool is_seamless(const struct finder *f)
{
    size_t seen = 0;

    for (size_t i = 0; i < f->out->n_passes; i++) {
        const struct arch_pass *pass = &f->out->passes[i];
        size_t last = pass->marker_first + pass->markers - 1, same = 0;
        if (pass->is_partial || last + 1 == f->m->n)
            continue;
        for (size_t k = pass->marker_first; k < last; k++)
            same += f->signature[k] == f->signature[last];
        if (same == 0)
            return false;
        seen++;
    }
    return seen > 0;
}

static void find_borders(struct finder *f)
{
    bool *wanted = ARENA_ARRAY(&f->st->scratch, bool, f->ops->n);

    for (size_t i = 1; i < f->m->n; i++)
        if (f->m->at[i - 1].phase == PHASE_DECODE && f->m->at[i].phase == PHASE_PREFILL)
            f->borders[i] |= BORDER_PHASE;
    f->out->is_one_pass = borders_at(f, is_embedding, f->is_embedding, BORDER_EMBEDDING);
    if (f->m->n > 1)
        gap_borders(f);
    step_borders(f);
    /* A graph is launched once a pass when it holds several layers. */
    const uint32_t *launch = study_op_tree(f->st)->launch;
    size_t begin = 0;
    for (size_t i = 1; i < f->m->n; i++) {
        uint32_t before = launch[f->m->at[i - 1].kernel], own = launch[f->m->at[i].kernel];
        if (before == own)
            continue;
        if (before != OP_TREE_NONE && own != OP_TREE_NONE && i - begin >= GRAPH_LAYERS &&
            i + 1 < f->m->n && launch[f->m->at[i + 1].kernel] == own)
            f->borders[i] |= BORDER_GRAPH;
        begin = i;
    }
    borders_at(f, is_backward_attention, wanted, BORDER_BACKWARD);
    if (!judge_borders(f)) {
        f->out->is_one_pass |= borders_at(f, is_sampling, wanted, BORDER_SAMPLING);
        judge_borders(f);
    }
}

static void from_markers(struct finder *f, size_t choice)
{
    struct arch_layers *out = f->out;
    bool is_any = false;

    f->borders = ARENA_ARRAY(&f->st->scratch, uint8_t, f->m->n);
    f->is_border = ARENA_ARRAY(&f->st->scratch, bool, f->m->n);
    f->step_at = ARENA_ARRAY(&f->st->scratch, nanos, f->m->n);
    f->is_embedding = ARENA_ARRAY(&f->st->scratch, bool, f->ops->n);
    f->signature = ARENA_ARRAY(&f->st->scratch, uint64_t, f->m->n);
    out->method = ARCH_MARKER;
    /* A top-k that runs in more than one layer of a pass chooses experts, not tokens. Until passes
     * are known, "more than one" is "after more than three tenths of the markers". */
    const size_t *between = count_between(f, is_topk, true);
    for (size_t i = 0; i < f->ops->n; i++)
        if (f->ops->at[i].is_topk && between[i] * 10 > f->m->n * 3 && between[i] > 1)
            f->ops->at[i].family = KERNEL_ROLE_MOE_GATE;
    find_borders(f);
    find_signatures(f);
    loop_borders(f);
    for (size_t i = 1; i < f->m->n; i++)
        is_any |= f->is_border[i];
    if (is_any)
        from_borders(f);
    else
        from_period(f);
    out->per_pass = out->candidates[choice < out->n_candidates ? choice : 0];
    out->period_match = period_match(f, out->per_pass, SIZE_MAX);
    cut_passes(f, out->per_pass);
    out->is_seamless = is_seamless(f);
    arch_layers_count_phases(out);
    arch_runs_find(f->st, f->m, out);
}

bool arch_layers_is_training(const struct arch_ops *ops, size_t markers)
{
    size_t calls = 0;

    for (size_t i = 0; i < ops->n; i++)
        if (ops->at[i].is_backward && !ops->at[i].is_optimizer)
            calls += ops->at[i].calls;
    return calls > 0 && calls * 2 >= markers;
}

const struct arch_layers *arch_layers_find(struct study *st, struct arch_ops *ops,
                                           const struct arch_markers *markers, size_t choice)
{
    struct arch_layers *out = ARENA_NEW(&st->scratch, struct arch_layers);
    struct finder f = {
        .st = st,
        .ops = ops,
        .m = markers,
        .out = out,
        .kernels = study_kernels(st),
        .s = &st->cap->slices,
    };

    out->method = ARCH_NONE;
    out->period_match = -1;
    out->is_training = arch_layers_is_training(ops, markers->n);
    if (markers->n > 0)
        from_markers(&f, choice);
    else if (f.kernels.n > 0)
        arch_repeat_find(st, ops, markers->main_lane, out);
    return out;
}
