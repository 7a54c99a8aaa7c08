/*
 * Parents by one pass over each thread with a stack of what is open.
 */
#include "analysis/ops/op_tree.h"

#include <stdlib.h>

#include "analysis/diagnose/device_tasks.h"
#include "analysis/idle/host_threads.h"

/* Without arrows: calls and work of equal correlation. */
static void launches_by_link(const struct capture *cap, uint32_t *launch)
{
    const struct slices *s = &cap->slices;
    struct hash calls = {0};
    struct attr link;

    for (size_t i = 0; i < s->n; i++)
        if (s->kind[i] == SLICE_RUNTIME &&
            (link = capture_slice_attr(cap, i, KEY_LINK)).type == ATTR_INT)
            hash_add(&calls, (uint64_t)link.number, (uint32_t)i);
    for (size_t i = 0; i < s->n && calls.n > 0; i++)
        if (slice_is_kernel((enum slice_kind)s->kind[i]) &&
            (link = capture_slice_attr(cap, i, KEY_LINK)).type == ATTR_INT)
            hash_get(&calls, (uint64_t)link.number, &launch[i]);
    hash_free(&calls);
}

uint32_t *op_tree_launches(const struct capture *cap)
{
    const struct slices *s = &cap->slices;
    uint32_t *launch = mem_grow(NULL, sizeof(*launch), s->n + 1);
    bool any = false;

    memset(launch, 0xff, sizeof(*launch) * (s->n + 1));
    for (size_t i = 0; i < cap->flows.n; i++) {
        const struct flow *f = &cap->flows.at[i];
        if (f->kind != FLOW_LAUNCH || !slice_is_kernel((enum slice_kind)cap->slices.kind[f->to]) ||
            !host_threads_is_host((enum slice_kind)s->kind[f->from]))
            continue;
        uint32_t old = launch[f->to];
        bool is_call = s->kind[f->from] == SLICE_RUNTIME;
        bool was_call = old != OP_TREE_NONE && s->kind[old] == SLICE_RUNTIME;
        if (old == OP_TREE_NONE || is_call > was_call ||
            (is_call == was_call && s->begin[f->from] > s->begin[old]))
            launch[f->to] = f->from;
        any |= launch[f->to] != OP_TREE_NONE;
    }
    if (!any)
        launches_by_link(cap, launch);
    return launch;
}

struct open_list {
    VEC_OF(uint32_t) list;
};

static void nest_lane(const struct slices *s, const struct lane *lane, struct open_list *open,
                      uint32_t *parent)
{
    open->list.n = 0;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        if (!host_threads_is_host((enum slice_kind)s->kind[i]) && s->kind[i] != SLICE_MEMORY)
            continue;
        while (open->list.n > 0 && slices_end(s, open->list.at[open->list.n - 1]) <= s->begin[i])
            open->list.n--;
        if (open->list.n > 0)
            parent[i] = open->list.at[open->list.n - 1];
        if (s->dur[i] > 0)
            vec_push(&open->list, (uint32_t)i);
    }
}

ORDER_BY(by_backward, struct op_twin,
         ORDER(x->backward, y->backward) ?: ORDER(x->forward, y->forward));

static void find_twins(struct study *st, struct op_tree *t)
{
    const struct capture *cap = st->cap;
    size_t n = 0;

    for (size_t i = 0; i < cap->flows.n; i++)
        n += cap->flows.at[i].kind == FLOW_BACKWARD;
    struct op_twin *twins = ARENA_ARRAY(&st->scratch, struct op_twin, n);
    for (size_t i = 0; i < cap->flows.n; i++)
        if (cap->flows.at[i].kind == FLOW_BACKWARD)
            twins[t->n_twins++] = (struct op_twin){cap->flows.at[i].to, cap->flows.at[i].from};
    if (n > 1)
        qsort(twins, n, sizeof(*twins), by_backward);
    t->twins = twins;
}

uint32_t op_tree_twin(const struct op_tree *t, uint32_t slice)
{
    size_t place;

    vec_bisect(place, t->n_twins, i, t->twins[i].backward < slice);
    return place < t->n_twins && t->twins[place].backward == slice ? t->twins[place].forward
                                                                   : OP_TREE_NONE;
}

const struct op_tree *op_tree_find(struct study *st)
{
    const struct slices *s = &st->cap->slices;
    struct op_tree *t = ARENA_NEW(&st->scratch, struct op_tree);
    struct kernel_order kernels = study_kernels(st);
    uint32_t *parent = ARENA_ARRAY(&st->scratch, uint32_t, s->n);
    uint32_t *launch = ARENA_ARRAY(&st->scratch, uint32_t, kernels.n);
    struct open_list open = {0};

    if (s->n > 0)
        memset(parent, 0xff, sizeof(*parent) * s->n);
    for (size_t i = 0; i < st->cap->lanes.n; i++)
        if (st->cap->lanes.at[i].key.kind == LANE_THREAD)
            nest_lane(s, &st->cap->lanes.at[i], &open, parent);
    vec_free(&open.list);
    uint32_t *of_slice = op_tree_launches(st->cap);
    for (size_t i = 0; i < kernels.n; i++) {
        launch[i] = of_slice[kernels.at[i]];
        t->linked += launch[i] != OP_TREE_NONE;
    }
    mem_free(of_slice);
    t->parent = parent;
    t->launch = launch;
    find_twins(st, t);
    return t;
}
