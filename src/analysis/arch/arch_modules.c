/*
 * Kernels put into the layers that launched them; a layer lasts to the first kernel of the next.
 */
#include "analysis/arch/arch_stacks.h"

#include <stdlib.h>

#include "analysis/study.h"

static const double least_share = 0.3; /* of the time of modules and graphs, for the main stack */

/* ---- calls and device time ---- */

/* The call of a module around a call or the call itself, or MODULE_NONE. */
static uint32_t call_of(const struct module_tree *t, uint32_t module, uint32_t call)
{
    while (call != MODULE_NONE && t->calls[call].module != module)
        call = t->calls[call].parent;
    return call;
}

/* Calls of the owner, by how many layers run in each. */
static void count_passes(const struct module_tree *t, struct arch_stacks *stacks, uint32_t number,
                         uint32_t *layers)
{
    struct arch_stack *s = &stacks->at[number];
    size_t alone = 0;

    if (s->is_plain) {
        s->calls = t->at[s->module].calls;
        return;
    }
    for (size_t i = 0; i < t->n_calls; i++) {
        layers[i] = 0;
        if (stacks->of_module[t->calls[i].module] != number)
            continue;
        uint32_t owner = call_of(t, s->module, t->calls[i].parent);
        if (owner != MODULE_NONE)
            layers[owner]++; /* stands before it: counted from 0 on */
        alone += owner == MODULE_NONE;
    }
    if (s->module == MODULE_NONE)
        s->calls = alone / s->layers;
    for (size_t i = 0; i < t->n_calls; i++)
        if (layers[i] > 0 && layers[i] % s->layers == 0)
            s->calls++;
        else if (layers[i] > 0)
            s->partial++;
}

void arch_stacks_measure(struct study *st, struct arch_stacks *stacks)
{
    const struct module_tree *t = study_module_tree(st);
    struct kernel_order kernels = study_kernels(st);
    uint32_t *layers = ARENA_ARRAY(&st->scratch, uint32_t, t->n_calls);

    for (uint32_t i = 0; i < stacks->n; i++)
        count_passes(t, stacks, i, layers);
    for (size_t i = 0; i < kernels.n; i++) {
        uint32_t stack = MODULE_NONE;
        for (uint32_t call = t->of_kernel[i]; call != MODULE_NONE && stack == MODULE_NONE;
             call = t->calls[call].parent)
            stack = stacks->of_module[t->calls[call].module];
        if (stack != MODULE_NONE)
            stacks->at[stack].device =
                nanos_add(stacks->at[stack].device, st->cap->slices.dur[kernels.at[i]]);
    }
    for (size_t k = 0; k < stacks->n; k++) {
        struct arch_stack *s = &stacks->at[k];
        if (s->is_plain)
            s->device = t->at[s->module].device;
        s->share = t->device > 0 ? (double)s->device / (double)t->device : 0;
    }
}

/* ---- modules without frames inside ---- */

struct opaque {
    uint32_t *markers; /* by call: attention kernels of its own */
    nanos *device;     /* by module: own kernels of such calls */
};

static bool is_in_layer(const struct arch_stacks *stacks, const struct module_tree *t,
                        uint32_t call)
{
    for (; call != MODULE_NONE; call = t->calls[call].parent)
        if (stacks->of_module[t->calls[call].module] != MODULE_NONE)
            return true;
    return false;
}

static void count_own(struct study *st, const struct module_tree *t,
                      const struct arch_markers *markers, const struct arch_stacks *stacks,
                      struct opaque *o)
{
    struct kernel_order kernels = study_kernels(st);

    for (size_t i = 0; i < markers->n; i++) {
        uint32_t call = t->of_kernel[markers->at[i].kernel];
        if (call != MODULE_NONE && !is_in_layer(stacks, t, call))
            o->markers[call]++;
    }
    for (size_t i = 0; i < kernels.n; i++) {
        uint32_t call = t->of_kernel[i];
        if (call == MODULE_NONE || o->markers[call] == 0)
            continue;
        nanos *sum = &o->device[t->calls[call].module];
        *sum = nanos_add(*sum, st->cap->slices.dur[kernels.at[i]]);
    }
}

void arch_modules_add_opaque(struct study *st, const struct arch_markers *markers,
                             struct arch_stacks *stacks)
{
    const struct module_tree *t = study_module_tree(st);
    struct opaque o = {
        .markers = ARENA_ARRAY(&st->scratch, uint32_t, t->n_calls),
        .device = ARENA_ARRAY(&st->scratch, nanos, t->n),
    };

    if (t->n_calls == 0)
        return;
    count_own(st, t, markers, stacks, &o);
    size_t *layers = ARENA_ARRAY(&st->scratch, size_t, t->n);
    struct arch_stack *all = ARENA_ARRAY(&st->scratch, struct arch_stack, stacks->n + t->n);
    if (stacks->n > 0)
        memcpy(all, stacks->at, sizeof(*all) * stacks->n);
    for (size_t i = 0; i < t->n_calls; i++)
        if (o.markers[i] > layers[t->calls[i].module])
            layers[t->calls[i].module] = o.markers[i];
    size_t *whole = ARENA_ARRAY(&st->scratch, size_t, t->n);
    size_t *part = ARENA_ARRAY(&st->scratch, size_t, t->n);
    for (size_t i = 0; i < t->n_calls; i++) {
        uint32_t m = t->calls[i].module;
        whole[m] += o.markers[i] > 0 && o.markers[i] == layers[m];
        part[m] += o.markers[i] > 0 && o.markers[i] != layers[m];
    }
    for (uint32_t m = 0; m < t->n; m++) {
        struct arch_stack stack = {.owner = t->at[m].class,
                                   .module = m,
                                   .layers = layers[m],
                                   .calls = whole[m],
                                   .partial = part[m],
                                   .is_opaque = true,
                                   .has_attention = true,
                                   .device = o.device[m],
                                   .share = num_share(o.device[m], t->device)};
        if (layers[m] < 2)
            continue;
        all[stacks->n++] = stack;
    }
    stacks->at = all;
}

const struct arch_stack *arch_modules_main(struct study *st, const struct arch_stacks *stacks)
{
    const struct module_tree *t = study_module_tree(st);
    nanos seen = nanos_add(nanos_sub(t->device, t->outside), t->graphs);
    const struct arch_stack *best = NULL;

    for (size_t i = 0; i < stacks->n; i++)
        if (best == NULL || stacks->at[i].device > best->device)
            best = &stacks->at[i];
    return best != NULL && best->device > 0 && num_share(best->device, seen) >= least_share ? best
                                                                                            : NULL;
}

const struct arch_stack *arch_modules_stated(const struct arch_stacks *stacks)
{
    const struct arch_stack *best = NULL;

    for (size_t i = 0; i < stacks->n; i++)
        if (best == NULL || stacks->at[i].is_range < best->is_range ||
            (stacks->at[i].is_range == best->is_range && stacks->at[i].layers > best->layers))
            best = &stacks->at[i];
    return best;
}

/* ---- passes and layers ---- */

struct layer_cut {
    size_t first, last; /* kernels; first > last: none */
    uint32_t pass, call;
};

struct finder {
    struct study *st;
    const struct arch_ops *ops;
    const struct arch_markers *m;
    const struct module_tree *t;
    const struct arch_stacks *stacks;
    const struct arch_stack *main;
    uint32_t number;   /* of the main stack */
    bool *has_experts; /* by call: modules of experts inside */
    VEC_OF(struct layer_cut) cuts;
    struct arch_layers *out;
};

static void find_experts(struct finder *f)
{
    static const struct str ends[] = {S_INIT("MoE"),      S_INIT("Moe"),      S_INIT("MoeBlock"),
                                      S_INIT("MoEBlock"), S_INIT("MoELayer"), S_INIT("MoeLayer")};

    f->has_experts = ARENA_ARRAY(&f->st->scratch, bool, f->t->n_calls);
    for (size_t i = f->t->n_calls; i-- > 0;) {
        const struct module_call *call = &f->t->calls[i];
        /* "FusedMoE", "MixtralSparseMoeBlock", "Experts"; "Qwen3MoeRMSNorm" names the model alone.
         */
        struct str class = f->t->at[call->module].class;
        f->has_experts[i] |=
            STR_ANY(str_ends, class, ends) || str_contains_nocase(class, S("experts")) ||
            str_contains_nocase(class, S("sparsemoe")) || str_contains_nocase(class, S("fusedmoe"));
        if (call->parent != MODULE_NONE && f->has_experts[i])
            f->has_experts[call->parent] = true;
    }
}

/* Is this kernel a forward one on the main stream? */
static bool counts(const struct finder *f, size_t kernel)
{
    const struct slices *s = &f->st->cap->slices;
    uint32_t slice = study_kernels(f->st).at[kernel];
    const struct arch_op *op = &f->ops->at[f->ops->of_kernel[kernel]];

    return s->lane[slice] == f->m->main_lane && !op->is_backward && !op->is_optimizer;
}

/* Kernels of the backward pass belong to the calls of their forward twins; what the host launched
 * after a layer's call ended is such a kernel. */
static bool is_forward(const struct finder *f, size_t kernel, uint32_t call)
{
    const struct slices *s = &f->st->cap->slices;
    uint32_t launch = study_op_tree(f->st)->launch[kernel];

    return launch != OP_TREE_NONE && s->begin[launch] < slices_end(s, f->t->calls[call].slice);
}

static void cut_by_calls(struct finder *f)
{
    uint32_t *cut_of = ARENA_ARRAY(&f->st->scratch, uint32_t, f->t->n_calls);

    for (size_t i = 0; i < study_kernels(f->st).n; i++) {
        /* The layer's call around a call, or MODULE_NONE. */
        uint32_t call = f->t->of_kernel[i];
        while (call != MODULE_NONE && f->stacks->of_module[f->t->calls[call].module] != f->number)
            call = f->t->calls[call].parent;
        uint32_t pass =
            f->main->module != MODULE_NONE ? call_of(f->t, f->main->module, call) : MODULE_NONE;
        if (pass == MODULE_NONE || !counts(f, i) || !is_forward(f, i, call))
            continue;
        if (cut_of[call] == 0) {
            vec_push(&f->cuts, ((struct layer_cut){i, i, pass, call}));
            cut_of[call] = (uint32_t)f->cuts.n;
        }
        f->cuts.at[cut_of[call] - 1].last = i;
    }
}

static void cut_by_markers(struct finder *f)
{
    size_t marker = 0;

    for (size_t i = 0; i < study_kernels(f->st).n; i++) {
        uint32_t call = f->t->of_kernel[i];
        bool is_marker = marker < f->m->n && f->m->at[marker].kernel == i;
        marker += is_marker;
        if (call == MODULE_NONE || f->t->calls[call].module != f->main->module)
            continue;
        if (is_marker)
            vec_push(&f->cuts, ((struct layer_cut){i, i, call, call}));
        else if (f->cuts.n > 0 && f->cuts.at[f->cuts.n - 1].call == call && counts(f, i))
            f->cuts.at[f->cuts.n - 1].last = i;
    }
}

ORDER_BY(by_first, struct layer_cut, ORDER(x->first, y->first));

static bool has_softmax_attention(const struct finder *f, const struct arch_layer *layer)
{
    for (size_t i = layer->first; i < layer->end; i++)
        if (f->ops->at[f->ops->of_kernel[i]].family == KERNEL_ROLE_ATTENTION)
            return true;
    return f->main->has_attention;
}

/* The first kernel of the pass that begins with this layer: what its outermost module launched
 * first, but nothing of the pass before. */
static size_t pass_first(const struct finder *f, const struct layer_cut *cut, size_t from)
{
    uint32_t root = module_tree_root(f->t, cut->pass);

    for (size_t i = from; i < cut->first; i++)
        if (f->t->of_kernel[i] != MODULE_NONE && module_tree_root(f->t, f->t->of_kernel[i]) == root)
            return i;
    return cut->first;
}

static void build(struct finder *f)
{
    struct arch_layers *out = f->out;
    size_t marker = 0, from = 0;

    out->at = ARENA_ARRAY(&f->st->scratch, struct arch_layer, f->cuts.n);
    out->passes = ARENA_ARRAY(&f->st->scratch, struct arch_pass, f->cuts.n);
    for (size_t i = 0; i < f->cuts.n; i++) {
        const struct layer_cut *cut = &f->cuts.at[i];
        bool is_last = i + 1 == f->cuts.n || f->cuts.at[i + 1].pass != cut->pass;
        if (i == 0 || f->cuts.at[i - 1].pass != cut->pass)
            out->passes[out->n_passes++] =
                (struct arch_pass){.first = pass_first(f, cut, from), .layer_first = out->n};
        size_t end = is_last ? cut->last + 1 : f->cuts.at[i + 1].first;
        if (end <= cut->first)
            end = cut->first + 1;
        struct arch_pass *pass = &out->passes[out->n_passes - 1];
        struct arch_layer *layer = &out->at[out->n++];
        *layer = (struct arch_layer){.pass = out->n_passes - 1,
                                     .index = pass->layers++,
                                     .first = cut->first,
                                     .end = end,
                                     .marker = SIZE_MAX};
        while (marker < f->m->n && f->m->at[marker].kernel < cut->first)
            marker++;
        if (marker < f->m->n && f->m->at[marker].kernel < end) {
            layer->marker = f->m->at[marker].kernel;
            layer->phase = f->m->at[marker].phase;
        }
        from = end;
    }
}

static void finish_passes(struct finder *f)
{
    struct arch_layers *out = f->out;

    for (size_t i = 0; i < out->n_passes; i++) {
        struct arch_pass *pass = &out->passes[i];
        const struct arch_layer *last = &out->at[pass->layer_first + pass->layers - 1];
        pass->end = i + 1 < out->n_passes ? out->passes[i + 1].first : study_kernels(f->st).n;
        pass->epilogue = arch_layers_epilogue(out, f->ops, last->end, pass->end);
        pass->is_partial = pass->layers != out->per_pass;
        pass->number = pass->is_partial ? out->partial++ : out->complete++;
        pass->at = arch_extent(f->st, pass->first, pass->end, &pass->busy);
    }
    arch_layers_measure(f->st, f->ops, f->m->main_lane, out->at, out->n);
    for (size_t i = 0; i < out->n; i++) {
        if (out->at[i].kind == LAYER_DENSE && !f->main->is_opaque &&
            f->has_experts[f->cuts.at[i].call])
            out->at[i].kind = LAYER_MOE;
        if (out->at[i].kind == LAYER_DENSE && !has_softmax_attention(f, &out->at[i]))
            out->at[i].kind = LAYER_BLOCK;
    }
    arch_layers_count_phases(out);
}

const struct arch_layers *arch_modules_layers(struct study *st, const struct arch_ops *ops,
                                              const struct arch_markers *markers,
                                              const struct arch_stacks *stacks,
                                              const struct arch_stack *main)
{
    struct arch_layers *out = ARENA_NEW(&st->scratch, struct arch_layers);
    struct finder f = {.st = st,
                       .ops = ops,
                       .m = markers,
                       .t = study_module_tree(st),
                       .stacks = stacks,
                       .main = main,
                       .out = out,
                       .number = (uint32_t)(main - stacks->at)};

    out->method = ARCH_MODULE;
    out->period_match = -1;
    out->per_pass = main->layers;
    out->is_training = arch_layers_is_training(ops, markers->n);
    if (main->is_opaque)
        cut_by_markers(&f);
    else if (!main->is_plain)
        cut_by_calls(&f);
    if (f.cuts.n > 1)
        qsort(f.cuts.at, f.cuts.n, sizeof(*f.cuts.at), by_first);
    if (f.cuts.n > 0) {
        find_experts(&f);
        build(&f);
        finish_passes(&f);
    }
    vec_free(&f.cuts);
    return out->complete > 0 ? out : NULL;
}
