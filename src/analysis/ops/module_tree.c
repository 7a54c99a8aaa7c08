/*
 * Module frames picked out of the operator tree, and kernels put into them.
 */
#include "analysis/ops/module_tree.h"

struct finder {
    struct study *st;
    const struct op_tree *ops;
    struct module_tree *out;
    uint32_t *module_of; /* by name: number of the module + 1 */
    struct hash call_of; /* by slice */
    VEC_OF(struct module_call) calls;
};

struct str module_class_of(struct str name)
{
    struct str prefix = S("nn.Module: ");

    if (!str_starts(name, prefix))
        return (struct str){0};
    name = str_part(name, prefix.n, name.n);
    size_t n = name.n - str_last_digits(name);
    return n > 1 && n < name.n && name.at[n - 1] == '_' ? str_part(name, 0, n - 1) : name;
}

/* The call of the innermost module frame around an event, itself included. */
static uint32_t call_around(const struct finder *f, uint32_t slice)
{
    const struct slices *s = &f->st->cap->slices;
    uint32_t call = MODULE_NONE;

    while (slice != OP_TREE_NONE &&
           (s->kind[slice] != SLICE_PYTHON || f->module_of[s->name[slice]] == 0))
        slice = f->ops->parent[slice];
    if (slice != OP_TREE_NONE)
        hash_get(&f->call_of, slice, &call);
    return call;
}

static void find_calls(struct finder *f)
{
    const struct slices *s = &f->st->cap->slices;

    for (size_t i = 0; i < s->n; i++) {
        if (s->kind[i] != SLICE_PYTHON || f->module_of[s->name[i]] == 0)
            continue;
        struct module_call call = {
            .slice = (uint32_t)i,
            .module = f->module_of[s->name[i]] - 1,
            .first_child = MODULE_NONE,
            .next = MODULE_NONE,
            .size = 1,
        };
        call.parent = call_around(f, f->ops->parent[i]);
        hash_put(&f->call_of, i, (uint32_t)f->calls.n);
        vec_push(&f->calls, call);
        struct module_node *module = &f->out->at[call.module];
        module->calls++;
        module->host = nanos_add(module->host, s->dur[i]);
    }
    f->out->n_calls = f->calls.n;
    f->out->calls = STUDY_KEEP(&f->st->scratch, f->calls);
}

/* Children stand after their parents, so the last of them come first here. */
static void join_calls(struct module_tree *t)
{
    for (size_t i = t->n_calls; i-- > 0;) {
        struct module_call *call = &t->calls[i];
        if (call->parent == MODULE_NONE)
            continue;
        struct module_call *parent = &t->calls[call->parent];
        call->next = parent->first_child;
        parent->first_child = (uint32_t)i;
        parent->size += call->size;
    }
}

/* The call of a kernel's launch, by way of the forward operator where it runs backward. */
static uint32_t call_of_launch(const struct finder *f, uint32_t launch)
{
    uint32_t call = call_around(f, launch);

    for (uint32_t at = launch; call == MODULE_NONE && at != OP_TREE_NONE; at = f->ops->parent[at]) {
        uint32_t twin = op_tree_twin(f->ops, at);
        if (twin != OP_TREE_NONE)
            return call_around(f, twin);
    }
    return call;
}

static struct str frame_class(const struct capture *cap, const struct op_tree *ops, uint32_t slice)
{
    const struct slices *s = &cap->slices;

    for (; slice != OP_TREE_NONE; slice = ops->parent[slice]) {
        struct str class = s->kind[slice] == SLICE_PYTHON
                               ? module_class_of(capture_text(cap, s->name[slice]))
                               : (struct str){0};
        if (class.n > 0)
            return class;
    }
    return (struct str){0};
}

struct str module_class_around(const struct capture *cap, const struct op_tree *ops, uint32_t slice)
{
    struct str class = frame_class(cap, ops, slice);

    for (; class.n == 0 && slice != OP_TREE_NONE; slice = ops->parent[slice]) {
        uint32_t twin = op_tree_twin(ops, slice);
        if (twin != OP_TREE_NONE)
            return frame_class(cap, ops, twin);
    }
    return class;
}

static void tree_add_kernel(struct module_tree *t, uint32_t call, nanos duration, uint32_t *seen,
                            uint32_t stamp)
{
    struct module_node *own = &t->at[t->calls[call].module];

    own->own_kernels++;
    own->own_device = nanos_add(own->own_device, duration);
    for (; call != MODULE_NONE; call = t->calls[call].parent) {
        uint32_t number = t->calls[call].module;
        if (seen[number] == stamp)
            continue; /* a module inside itself counts once */
        seen[number] = stamp;
        t->at[number].kernels++;
        t->at[number].device = nanos_add(t->at[number].device, duration);
    }
}

/* A launch of many kernels is one of a graph. */
static bool is_graph(const struct finder *f, size_t kernel)
{
    uint32_t launch = f->ops->launch[kernel];

    return launch != OP_TREE_NONE &&
           ((kernel > 0 && f->ops->launch[kernel - 1] == launch) ||
            (kernel + 1 < study_kernels(f->st).n && f->ops->launch[kernel + 1] == launch));
}

static void add_kernels(struct finder *f)
{
    struct kernel_order kernels = study_kernels(f->st);
    struct module_tree *t = f->out;
    uint32_t *seen = ARENA_ARRAY(&f->st->scratch, uint32_t, t->n);

    t->of_kernel = ARENA_ARRAY(&f->st->scratch, uint32_t, kernels.n);
    for (size_t i = 0; i < kernels.n; i++) {
        nanos duration = f->st->cap->slices.dur[kernels.at[i]];
        uint32_t call = t->n_calls > 0 ? call_of_launch(f, f->ops->launch[i]) : MODULE_NONE;
        t->of_kernel[i] = call;
        t->device = nanos_add(t->device, duration);
        if (call == MODULE_NONE) {
            t->outside_kernels++;
            t->outside = nanos_add(t->outside, duration);
            if (is_graph(f, i))
                t->graphs = nanos_add(t->graphs, duration);
        } else {
            tree_add_kernel(t, call, duration, seen, (uint32_t)i + 1);
        }
    }
}

uint32_t module_tree_root(const struct module_tree *t, uint32_t call)
{
    while (t->calls[call].parent != MODULE_NONE)
        call = t->calls[call].parent;
    return call;
}

const struct module_tree *module_tree_find(struct study *st)
{
    struct module_tree *t = ARENA_NEW(&st->scratch, struct module_tree);
    struct finder f = {.st = st, .ops = study_op_tree(st), .out = t};
    const struct intern *names = &st->cap->strings;
    VEC_OF(struct module_node) found = {0};

    f.module_of = ARENA_ARRAY(&st->scratch, uint32_t, names->strings.n);
    for (strid i = 0; i < names->strings.n; i++) {
        struct str class = module_class_of(names->strings.at[i]);
        if (class.n == 0)
            continue;
        vec_push(&found, ((struct module_node){.name = i, .class = class}));
        f.module_of[i] = (uint32_t)found.n;
    }
    t->n = found.n;
    t->at = STUDY_KEEP(&st->scratch, found);
    vec_free(&found);
    if (t->n > 0)
        find_calls(&f);
    join_calls(t);
    add_kernels(&f);
    vec_free(&f.calls);
    hash_free(&f.call_of);
    return t;
}
