/*
 * Changes that need the bytes of copies or the shapes of operators.
 */
#include "analysis/diagnose/idle.h"
#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/tensor_shapes.h"
#include "analysis/diagnose/whatif_changes.h"

#include <assert.h>

static double bytes_of(const struct whatif *w, uint32_t slice)
{
    strid key = intern_find(&w->cap->strings, S("bytes"));
    struct attr own = attrs_get(&w->cap->attrs, w->cap->slices.own[slice], key);
    struct attr set = attrs_get(&w->cap->attrs, w->cap->slices.set[slice], key);
    struct attr a = own.type != ATTR_NONE ? own : set;

    return key == 0 || a.type == ATTR_NONE ? 0 : a.type == ATTR_REAL ? a.real : (double)a.number;
}

/* ---- pinned copies ---- */

/* The best rate of pinned copies of a megabyte and more in this direction, in bytes per ns. */
static double pinned_rate(const struct whatif *w, bool to_device)
{
    double best = 0;

    for (size_t i = 0; i < w->a->tasks.n; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        if (t->class != TASK_COPY || t->copy != (to_device ? COPY_H2D_PINNED : COPY_D2H_PINNED))
            continue;
        double bytes = bytes_of(w, t->slice);
        double rate = num_share(bytes, (double)(t->end - t->begin));
        if (bytes >= LIMIT_LARGE_COPY && rate > best)
            best = rate;
    }
    return best > 0 ? best : LIMIT_PINNED_GBPS;
}

/* The waits of calls that lie in the same operator as a pageable copy go with it. */
static void drop_waits(const struct whatif *w, struct replay_change *c, const uint8_t *is_pageable)
{
    const struct trace_replay *r = w->replay;
    uint32_t op = NO_SLICE;

    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind == REPLAY_TASK)
            continue;
        const struct host_call *call = &w->a->host.calls[node->ref];
        bool is_copy = is_pageable[node->ref] != 0;
        if (is_copy)
            op = call->outer;
        bool is_sync = call->kind == CALL_SYNC && call->outer != NO_SLICE && call->outer == op;
        if (node->kind == REPLAY_WAIT && (is_copy || is_sync))
            c->drop[i] |= REPLAY_GONE;
        else if (node->kind == REPLAY_HOST && is_copy && c->dur[i] > LIMIT_ASYNC_COPY)
            c->dur[i] = LIMIT_ASYNC_COPY;
    }
}

void whatif_pinned_copies(const struct whatif *w, struct str site, struct replay_change *c)
{
    double rates[2] = {pinned_rate(w, false), pinned_rate(w, true)};
    uint8_t *is_pageable = mem_grow(NULL, 1, w->a->host.n + 1);

    memset(is_pageable, 0, w->a->host.n + 1);
    for (size_t i = 0; i < w->a->tasks.n; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        if (t->class != TASK_COPY || !copy_is_pageable((enum copy_kind)t->copy) ||
            t->call == NO_CALL || !whatif_fits(w, &w->a->host.calls[t->call], site))
            continue;
        uint32_t node = w->replay->node_of_task[i];
        nanos pinned =
            (nanos)(bytes_of(w, t->slice) / rates[t->copy == COPY_H2D_PAGEABLE]) + LIMIT_COPY_START;
        if (pinned < c->dur[node])
            c->dur[node] = pinned;
        is_pageable[t->call] = 1;
    }
    drop_waits(w, c, is_pageable);
    mem_free(is_pageable);
}

/* ---- matrix products ---- */

/* What tensor cores reach for an operator, in nanoseconds; 0 when its shapes are not known. */
static double product_time(const struct whatif *w, uint32_t op)
{
    struct tensor_shapes shapes =
        tensor_shapes_read(capture_slice_text(w->cap, op, KEY_INPUT_SHAPES));
    struct tensor_product p =
        tensor_product_of(capture_text(w->cap, w->cap->slices.name[op]), &shapes);

    if (p.flops <= 0 || w->device == NULL || w->device->tflops[PEAK_TF32] <= 0)
        return 0;
    double compute = p.flops / (w->device->tflops[PEAK_TF32] * 1e3 * LIMIT_TENSOR_ROOF / 100);
    double memory = 4 * p.elements / (w->device->gbps * LIMIT_MEMORY_ROOF / 100);
    double time = compute > memory ? compute : memory;
    return time > LIMIT_LEAST_KERNEL ? time : LIMIT_LEAST_KERNEL;
}

static bool is_slow_product(const struct device_task *t)
{
    return t->class == TASK_COMPUTE && t->family == FAMILY_GEMM_SIMT && t->call != NO_CALL;
}

/* Kernels of one operator share its time as they do now; without shapes a quarter is left. */
void whatif_gemm_at_roof(const struct whatif *w, struct str site, struct replay_change *c)
{
    const struct accounting *a = w->a;
    nanos *sums = mem_grow(NULL, sizeof(*sums), a->host.n + 1);
    struct hash first = {0}; /* the first call of each operator has its sum */

    memset(sums, 0, sizeof(*sums) * (a->host.n + 1));
    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        if (is_slow_product(t) && a->host.calls[t->call].op != NO_SLICE)
            sums[hash_add(&first, a->host.calls[t->call].op, t->call)] += t->end - t->begin;
    }
    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        uint32_t call;
        if (!is_slow_product(t) || !whatif_fits(w, &a->host.calls[t->call], site))
            continue;
        uint32_t node = w->replay->node_of_task[i], op = a->host.calls[t->call].op;
        double time = op != NO_SLICE ? product_time(w, op) : 0;
        double share = op != NO_SLICE && hash_get(&first, op, &call)
                           ? num_share((double)(t->end - t->begin), (double)sums[call])
                           : 1;
        nanos after = time > 0 ? (nanos)(time * share) : c->dur[node] / LIMIT_UNSHAPED_PRODUCT;
        c->dur[node] = after < c->dur[node] ? after : c->dur[node];
    }
    hash_free(&first);
    mem_free(sums);
}

/* ---- optimizer ---- */

/* What one step of an optimizer works on: its operator that touches most elements has each
 * parameter once. */
struct parameters {
    double elements;
    size_t n;
};

static struct parameters parameters_of(const struct whatif *w, size_t first, size_t last)
{
    struct parameters best = {0, 0};
    struct hash ops = {0};
    VEC_OF(struct parameters) sums = {0};

    for (size_t i = first; i < last; i++) {
        const struct host_call *call = &w->a->host.calls[i];
        if (!call->is_optimizer || call->op == NO_SLICE || call->tasks == 0)
            continue;
        uint32_t fresh = (uint32_t)sums.n;
        uint32_t at = hash_add(&ops, w->cap->slices.name[call->op], fresh);
        if (at == fresh)
            vec_push(&sums, ((struct parameters){0, 0}));
        assert(at < sums.n && sums.at != NULL);
        struct tensor_shapes shapes =
            tensor_shapes_read(capture_slice_text(w->cap, call->op, KEY_INPUT_SHAPES));
        sums.at[at].elements += shapes.n > 0 ? tensor_shape_elements(&shapes.at[0]) : 0;
        sums.at[at].n++;
    }
    for (size_t i = 0; i < sums.n; i++)
        if (sums.at[i].elements > best.elements)
            best = sums.at[i];
    vec_free(&sums);
    hash_free(&ops);
    return best;
}

/* Replaces the calls [first, last) of one optimizer step by one kernel. */
static void fuse_step(const struct whatif *w, struct replay_change *c, size_t first, size_t last,
                      const uint32_t *node_of_call)
{
    struct parameters p = parameters_of(w, first, last);
    double gbps = w->device != NULL ? w->device->gbps * LIMIT_OPTIMIZER_ROOF / 100 : 0;
    bool is_first = true;

    if (p.n < LIMIT_OPTIMIZER_KERNELS || p.elements <= 0 || gbps <= 0)
        return;
    for (size_t i = first; i < last; i++) {
        const struct host_call *call = &w->a->host.calls[i];
        uint32_t host = node_of_call[i];
        if (!call->is_optimizer || host == REPLAY_NONE)
            continue;
        c->lead[host] = is_first ? LIMIT_FUSED_HOST + (nanos)p.n * LIMIT_FUSED_PARAMETER : 0;
        c->dur[host] = 0;
        for (size_t k = 0; k < call->tasks; k++) {
            uint32_t node = w->replay->node_of_task[call->first_task + k];
            if (is_first && k == 0)
                c->dur[node] = (nanos)(LIMIT_OPTIMIZER_BYTES * p.elements / gbps);
            else
                c->drop[node] |= REPLAY_GONE;
        }
        is_first = is_first && call->tasks == 0;
    }
}

void whatif_fuse_optimizer(const struct whatif *w, struct str site, struct replay_change *c)
{
    const struct accounting *a = w->a;
    uint32_t *node_of_call = mem_grow(NULL, sizeof(*node_of_call), a->host.n + 1);
    size_t first = SIZE_MAX;

    (void)site;
    memset(node_of_call, 0xff, sizeof(*node_of_call) * (a->host.n + 1));
    for (size_t i = 0; i < w->replay->n; i++)
        if (w->replay->nodes[i].kind == REPLAY_HOST)
            node_of_call[w->replay->nodes[i].ref] = (uint32_t)i;
    for (size_t i = 0; i <= a->host.n; i++) {
        bool is_in = i < a->host.n && a->host.calls[i].is_optimizer;
        if (is_in && first == SIZE_MAX)
            first = i;
        if (!is_in && first != SIZE_MAX) {
            fuse_step(w, c, first, i, node_of_call);
            first = SIZE_MAX;
        }
    }
    mem_free(node_of_call);
}
