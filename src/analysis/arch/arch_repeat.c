/*
 * Layers of a capture without markers: what repeats on the main stream.
 */
#include "analysis/arch/arch_repeat.h"

#include "analysis/arch/arch_layers.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/step_units.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"

struct finder {
    struct study *st;
    const struct arch_ops *ops;
    struct kernel_order kernels;
    uint32_t main_lane;
    struct arch_layers *out;
    VEC_OF(struct arch_layer) layers;
    VEC_OF(struct arch_pass) passes;
    uint32_t *text;   /* operators of the main stream in one step */
    uint32_t *kernel; /* and the kernel of each */
    size_t letters, covered;
    double noise;
    size_t blocks;
    bool has_passes; /* one window held several */
};

static void add_layer(struct finder *f, size_t first, size_t end)
{
    struct arch_pass *pass = &f->passes.at[f->passes.n - 1];

    if (first >= end)
        return;
    vec_push(&f->layers, ((struct arch_layer){.pass = f->passes.n - 1,
                                              .index = pass->layers++,
                                              .first = first,
                                              .end = end,
                                              .marker = SIZE_MAX}));
}

static bool is_softmax(const struct arch_op *op)
{
    return op->family != KERNEL_ROLE_MATMUL && (str_contains_nocase(op->name, S("softmax")) ||
                                                str_contains_nocase(op->name, S("soft_max")));
}

/* Softmax kernels of the text from one place to another. */
static size_t softmaxes_in(struct finder *f, size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        n += is_softmax(&f->ops->at[f->text[i]]);
    return n;
}

/* Whether all repeats are the same long sequence of blocks with one attention each: passes of one
 * model, whose stages would differ in length. */
static bool are_passes(struct finder *f, const struct repeats *repeats)
{
    enum { BLOCKS_LEAST = 4 };
    const struct repeat *a = &repeats->at[0];

    if (repeats->n < 2 || a->n < BLOCKS_LEAST || softmaxes_in(f, a->cut[0], a->cut[1]) != 1)
        return false;
    for (size_t r = 1; r < repeats->n; r++) {
        const struct repeat *b = &repeats->at[r];
        if (b->n != a->n || b->period != a->period ||
            memcmp(f->text + a->cut[1], f->text + b->cut[1], sizeof(*f->text) * a->period) != 0)
            return false;
    }
    return true;
}

/* Passes with their layers. A last layer that lacks something, as it works on fewer tokens, is told
 * by its own softmax behind the blocks. */
static void add_passes(struct finder *f, const struct repeats *repeats, size_t n, size_t end)
{
    for (size_t r = 0; r < repeats->n; r++) {
        const struct repeat *repeat = &repeats->at[r];
        size_t until = r + 1 < repeats->n ? repeats->at[r + 1].cut[0] : n;
        size_t last = repeat->cut[repeat->n], stop = until < n ? f->kernel[until] : end;
        for (size_t i = 0; i < repeat->n; i++) {
            size_t next = repeat->cut[i + 1];
            add_layer(f, f->kernel[repeat->cut[i]], next < n ? f->kernel[next] : end);
        }
        if (softmaxes_in(f, last, until) == 1)
            add_layer(f, f->kernel[last],
                      last + repeat->period < until ? f->kernel[last + repeat->period] : stop);
        if (r + 1 == repeats->n)
            break;
        struct arch_pass *pass = &f->passes.at[f->passes.n - 1];
        struct arch_pass more = {
            .first = stop, .end = pass->end, .epilogue = pass->end, .layer_first = f->layers.n};
        pass->end = pass->epilogue = stop;
        vec_push(&f->passes, more);
    }
    f->has_passes = true;
}

static bool by_repetition(struct finder *f, size_t first, size_t end)
{
    size_t n = 0;

    for (size_t i = first; i < end; i++)
        if (f->st->cap->slices.lane[f->kernels.at[i]] == f->main_lane) {
            f->text[n] = f->ops->of_kernel[i];
            f->kernel[n++] = (uint32_t)i;
        }
    struct repeats repeats = repeats_find(&f->st->scratch, f->text, n);
    f->letters += n;
    f->covered += repeats.covered;
    bool is_split = repeats.n > 0 && are_passes(f, &repeats);
    if (is_split)
        add_passes(f, &repeats, n, end);
    for (size_t r = 0; r < repeats.n; r++) {
        const struct repeat *repeat = &repeats.at[r];
        f->noise += repeat->noise * (double)repeat->n;
        f->blocks += repeat->n;
        if (repeat->period > f->out->period)
            f->out->period = repeat->period;
        for (size_t i = 0; i < repeat->n && !is_split; i++) {
            size_t next = repeat->cut[i + 1];
            add_layer(f, f->kernel[repeat->cut[i]], next < n ? f->kernel[next] : end);
        }
    }
    return repeats.n > 0;
}

/* Tensor parallel layers hold two collectives each. */
static bool by_collectives(struct finder *f, size_t first, size_t end)
{
    size_t seen = 0, begin = SIZE_MAX;

    for (size_t i = first; i < end; i++) {
        enum slice_kind kind = (enum slice_kind)f->st->cap->slices.kind[f->kernels.at[i]];
        if (kind != SLICE_COMM || seen++ % 2 != 0)
            continue;
        if (begin != SIZE_MAX)
            add_layer(f, begin, i);
        begin = i;
    }
    return seen >= 4;
}

static nanos gap_limit(struct finder *f, size_t first, size_t end, double *gaps)
{
    const struct slices *s = &f->st->cap->slices;
    nanos until = slices_end(s, f->kernels.at[first]);
    size_t n = 0;

    for (size_t i = first + 1; i < end; i++) {
        nanos begin = s->begin[f->kernels.at[i]], stop = slices_end(s, f->kernels.at[i]);
        if (begin > until)
            gaps[n++] = (double)nanos_sub(begin, until);
        if (stop > until)
            until = stop;
    }
    struct spread spread = spread_of(gaps, n);
    double limit = 1000000;
    if (5 * spread.median > limit)
        limit = 5 * spread.median;
    limit = 3 * spread.p95 > limit ? 3 * spread.p95 : limit;
    return limit < 9e18 ? nanos_of(limit) : INT64_MAX;
}

static bool by_gaps(struct finder *f, size_t first, size_t end)
{
    const struct slices *s = &f->st->cap->slices;
    struct arena_mark mark = arena_mark(&f->st->scratch);
    nanos limit = gap_limit(f, first, end, ARENA_ARRAY(&f->st->scratch, double, end - first));
    nanos until = slices_end(s, f->kernels.at[first]);
    size_t begin = first, blocks = 0;

    arena_rewind(&f->st->scratch, mark);
    for (size_t i = first + 1; i < end; i++) {
        nanos stop = slices_end(s, f->kernels.at[i]);
        if (nanos_sub(s->begin[f->kernels.at[i]], until) >= limit &&
            f->ops->of_kernel[i] != f->ops->of_kernel[i - 1]) {
            add_layer(f, begin, i);
            begin = i;
            blocks++;
        }
        if (stop > until)
            until = stop;
    }
    if (blocks > 0)
        add_layer(f, begin, end);
    return blocks > 0;
}

static void take_window(struct finder *f, size_t first, size_t end,
                        bool (*split)(struct finder *f, size_t first, size_t end))
{
    if (first >= end)
        return;
    vec_push(&f->passes,
             ((struct arch_pass){
                 .first = first, .end = end, .epilogue = end, .layer_first = f->layers.n}));
    if (!split(f, first, end))
        f->layers.n = f->passes.at[f->passes.n - 1].layer_first;
    struct arch_pass *pass = &f->passes.at[f->passes.n - 1];
    pass->layers = f->layers.n - pass->layer_first;
}

/* What makes a block a layer: it multiplies or attends. */
static bool has_product(struct finder *f, const struct arch_layer *layer)
{
    for (size_t i = layer->first; i < layer->end; i++) {
        const struct arch_op *op = &f->ops->at[f->ops->of_kernel[i]];
        if (op->family == KERNEL_ROLE_MATMUL || op->family == KERNEL_ROLE_ATTENTION ||
            op->family == KERNEL_ROLE_MOE_GEMM || op->family == KERNEL_ROLE_MOE_FUSED ||
            step_units_is_product(f->st, i))
            return true;
    }
    return false;
}

/* A layer updates no weights: what does is a whole step, or a part of the optimizer. */
static bool has_optimizer(struct finder *f, const struct arch_layer *layer)
{
    for (size_t i = layer->first; i < layer->end; i++)
        if (f->ops->at[f->ops->of_kernel[i]].is_optimizer)
            return true;
    return false;
}

/* Blocks that can be no layers go. The last one of a window holds what follows it, too. */
static void drop_others(struct finder *f)
{
    size_t kept = 0;

    for (size_t p = 0; p < f->passes.n; p++) {
        struct arch_pass *pass = &f->passes.at[p];
        size_t first = pass->layer_first, n = pass->layers;
        pass->layer_first = kept;
        pass->layers = 0;
        for (size_t i = 0; i < n; i++) {
            struct arch_layer layer = f->layers.at[first + i];
            bool is_last = i + 1 == n || f->layers.at[first + i + 1].first != layer.end;
            if (!has_product(f, &layer) || (!is_last && has_optimizer(f, &layer)))
                continue;
            layer.index = pass->layers++;
            f->layers.at[kept++] = layer;
        }
    }
    f->layers.n = kept;
}

/* Windows of marked steps, else of what repeats. */
static void split_windows(struct finder *f,
                          bool (*split)(struct finder *f, size_t first, size_t end))
{
    const struct steps *steps = study_steps(f->st);
    const struct step_units *units = study_step_units(f->st);
    bool is_marked = steps->source != STEPS_PSEUDO || units->n == 0;
    struct arch_launches launches = arch_launches_find(f->st);
    size_t n = is_marked ? steps->n : units->n, first = 0, end = 0;

    for (size_t i = 0; i <= n; i++) {
        nanos until = i == n ? INT64_MAX : is_marked ? steps->at[i].window.begin : units->at[i];
        while (end < f->kernels.n &&
               (is_marked ? arch_launch_time(&launches, end) : units->times[end]) < until)
            end++;
        if (i > 0)
            take_window(f, first, end, split);
        first = end;
    }
}

/* Whether windows were found that hold blocks. */
static bool try_split(struct finder *f, enum arch_method method,
                      bool (*split)(struct finder *f, size_t first, size_t end))
{
    f->layers.n = f->passes.n = 0;
    f->letters = f->covered = f->blocks = 0;
    f->noise = 0;
    split_windows(f, split);
    drop_others(f);
    f->out->method = method;
    return f->layers.n > 1;
}

static bool is_attention_like(struct finder *f, const struct arch_layer *layer)
{
    size_t matmuls = 0, softmaxes = 0;

    for (size_t i = layer->first; i < layer->end; i++) {
        const struct arch_op *op = &f->ops->at[f->ops->of_kernel[i]];
        matmuls += op->family == KERNEL_ROLE_MATMUL;
        softmaxes += is_softmax(op);
    }
    return matmuls >= 2 && softmaxes >= 1;
}

static bool runs_backward(struct finder *f, const struct arch_layer *layer)
{
    for (size_t i = layer->first; i < layer->end; i++)
        if (f->ops->at[f->ops->of_kernel[i]].is_backward)
            return true;
    return false;
}

/* Layers per pass: the most frequent number of blocks that run forward. */
static size_t usual_count(struct finder *f)
{
    size_t best = 0, votes = 0;

    for (size_t i = 0; i < f->passes.n && i < 256; i++) {
        size_t same = 0;
        for (size_t k = 0; k < f->passes.n && k < 256; k++)
            same += f->passes.at[k].layers == f->passes.at[i].layers;
        if (same > votes && f->passes.at[i].layers > 0) {
            votes = same;
            best = f->passes.at[i].layers;
        }
    }
    return best;
}

/* Forward and backward blocks of the first complete pass, when there are both. */
static void count_directions(struct arch_layers *out)
{
    size_t forward = 0, backward = 0;

    for (size_t i = 0; i < out->n_passes && forward + backward == 0; i++)
        for (size_t k = 0; !out->passes[i].is_partial && k < out->passes[i].layers; k++) {
            bool is_backward = out->at[out->passes[i].layer_first + k].is_backward;
            backward += is_backward;
            forward += !is_backward;
        }
    if (forward > 0 && backward > 0) {
        out->forward_per_pass = forward;
        out->backward_per_pass = backward;
    }
}

static void hand_over(struct finder *f)
{
    struct arch_layers *out = f->out;

    out->n = f->layers.n;
    out->at = STUDY_KEEP(&f->st->scratch, f->layers);
    out->n_passes = f->passes.n;
    out->passes = STUDY_KEEP(&f->st->scratch, f->passes);
    arch_layers_measure(f->st, f->ops, f->main_lane, out->at, out->n);
    out->per_pass = usual_count(f);
    for (size_t i = 0; i < out->n_passes; i++) {
        struct arch_pass *pass = &out->passes[i];
        pass->is_partial = pass->layers != out->per_pass;
        pass->number = pass->is_partial ? out->partial++ : out->complete++;
        pass->at = arch_extent(f->st, pass->first, pass->end, &pass->busy);
    }
    bool is_bounded = study_steps(f->st)->source != STEPS_PSEUDO || study_step_units(f->st)->n > 0;
    for (size_t i = 0; i < out->n; i++) {
        out->at[i].is_backward = out->is_training && runs_backward(f, &out->at[i]);
        if (out->at[i].kind == LAYER_DENSE && !is_attention_like(f, &out->at[i]))
            out->at[i].kind = LAYER_BLOCK;
        out->is_open |= !is_bounded && out->at[i].kind == LAYER_BLOCK;
    }
    count_directions(out);
}

void arch_repeat_find(struct study *st, const struct arch_ops *ops, uint32_t main_lane,
                      struct arch_layers *out)
{
    struct kernel_order kernels = study_kernels(st);
    struct finder f = {
        .st = st, .ops = ops, .kernels = kernels, .main_lane = main_lane, .out = out};

    f.text = ARENA_ARRAY(&st->scratch, uint32_t, kernels.n);
    f.kernel = ARENA_ARRAY(&st->scratch, uint32_t, kernels.n);
    if (try_split(&f, ARCH_REPEAT, by_repetition)) {
        out->coverage = (double)f.covered / (double)f.letters;
        out->noise = f.blocks > 0 ? f.noise / (double)f.blocks : 0;
        /* that equal sequences are passes is likely, not known */
        out->confidence = out->coverage * (1 - out->noise) * (f.has_passes ? 0.6 : 1);
    } else if (try_split(&f, ARCH_COLLECTIVE, by_collectives)) {
        out->confidence = 0.3;
    } else if (try_split(&f, ARCH_GAP, by_gaps)) {
        out->confidence = 0.2;
    } else {
        out->method = ARCH_NONE;
        f.layers.n = f.passes.n = 0;
    }
    if (f.layers.n > 0)
        hand_over(&f);
    vec_free(&f.layers);
    vec_free(&f.passes);
}
