/*
 * What a task comes after, by the rules of the runtime.
 */
#include "base/tables/hash.h"
#include "kernels/graph/graph.h"

/* A tensor that a task wrote, as long as nobody wrote over all of it. */
struct last_writer {
    int64_t task;
    size_t tensor;
    int64_t next; /* of the same memory; -1 */
};

struct order {
    struct task_graph *g;
    VEC_OF(struct last_writer) writers;
    struct hash first;              /* memory -> its last writer */
    VEC_OF(struct graph_dep) found; /* of the task at hand */
    VEC_OF(struct graph_dep) all;
};

static uint64_t memory_key(const struct graph_tensor *t)
{
    return hash_mix(hash_mix(0, (uint64_t)t->buffer), t->offset);
}

static void add_dep(struct order *o, int64_t task, unsigned reason)
{
    for (size_t i = 0; i < o->found.n; i++)
        if (o->found.at[i].task == task) {
            o->found.at[i].reasons |= reason;
            return;
        }
    vec_push(&o->found, ((struct graph_dep){task, reason}));
}

/* ---- common elements ---- */

enum overlap { OVERLAP_NONE, OVERLAP_PART, OVERLAP_COVERED };

static uint64_t extent_of(const struct graph_tensor *t)
{
    uint64_t n = 1;

    for (size_t i = 0; i < t->rank; i++) {
        if (t->shape[i] == 0)
            return 0;
        n += (uint64_t)(t->shape[i] - 1) * (uint64_t)t->strides[i];
    }
    return n;
}

/* Are both boxes of one row-major tensor? Then its dimensions are those that the strides tell. */
static bool is_box(const struct graph_tensor *a, const struct graph_tensor *b)
{
    bool is_one =
        a->rank == b->rank && a->rank > 0 && a->dtype == b->dtype && a->strides[a->rank - 1] == 1;

    for (size_t i = 0; is_one && i < a->rank; i++)
        is_one = a->strides[i] == b->strides[i] && a->strides[i] > 0 &&
                 (i == 0 || a->strides[i - 1] % a->strides[i] == 0);
    return is_one;
}

/* How the elements that `now` uses lie to those that were written before. */
static enum overlap overlap_of(const struct graph_tensor *now, const struct graph_tensor *before)
{
    uint64_t a = now->start, b = before->start;
    bool is_covered = true;

    if (a + extent_of(now) <= b || b + extent_of(before) <= a)
        return OVERLAP_NONE;
    if (!is_box(now, before))
        return OVERLAP_PART;
    for (size_t i = 0; i < now->rank; i++) {
        uint64_t step = (uint64_t)now->strides[i];
        uint64_t x = a / step, y = b / step;
        uint64_t room = i == 0 ? UINT64_MAX : (uint64_t)(now->strides[i - 1] / now->strides[i]);
        uint64_t nx = (uint64_t)now->shape[i], ny = (uint64_t)before->shape[i];
        if (x + nx > room || y + ny > room)
            return OVERLAP_PART; /* it goes round the end of a row */
        if (x + nx <= y || y + ny <= x)
            return OVERLAP_NONE;
        is_covered = is_covered && x <= y && y + ny <= x + nx;
        a %= step;
        b %= step;
    }
    return is_covered ? OVERLAP_COVERED : OVERLAP_PART;
}

/* ---- tasks ---- */

enum { NO_WRITER = -1 };

static int64_t last_writer(const struct order *o, const struct graph_tensor *t)
{
    uint32_t head;

    return hash_get(&o->first, memory_key(t), &head) && head != UINT32_MAX ? (int64_t)head
                                                                           : NO_WRITER;
}

/* Those that wrote what it uses; what it writes over in full is forgotten. */
static void after_writers(struct order *o, const struct graph_tensor *t)
{
    int64_t *link = NULL, next;

    for (int64_t at = last_writer(o, t); at >= 0; at = next) {
        struct last_writer *w = &o->writers.at[at];
        const struct graph_tensor *before = &o->g->tensors.at[w->tensor];
        enum overlap how = before->buffer == t->buffer && before->offset == t->offset
                               ? overlap_of(t, before)
                               : OVERLAP_NONE;
        next = w->next;
        if (how != OVERLAP_NONE)
            add_dep(o, w->task, GRAPH_WROTE);
        if (how != OVERLAP_COVERED || t->role != GRAPH_INOUT)
            link = &w->next;
        else if (link != NULL)
            *link = next;
        else
            hash_put(&o->first, memory_key(t), (uint32_t)next);
    }
}

static void note_writer(struct order *o, int64_t task, size_t tensor)
{
    const struct graph_tensor *t = &o->g->tensors.at[tensor];
    int64_t next = last_writer(o, t);

    hash_put(&o->first, memory_key(t), (uint32_t)o->writers.n);
    vec_push(&o->writers, ((struct last_writer){task, tensor, next}));
}

static void order_task(struct order *o, int64_t number)
{
    struct task_graph *g = o->g;
    struct graph_task *task = &g->tasks.at[number];

    o->found.n = 0;
    for (size_t i = 0; i < task->after.n; i++)
        add_dep(o, g->deps.at[task->after.first + i].task,
                g->deps.at[task->after.first + i].reasons);
    for (size_t i = 0; i < task->tensors.n && !task->is_manual_scope; i++) {
        const struct graph_tensor *t = &g->tensors.at[task->tensors.first + i];
        if (t->role == GRAPH_OUTPUT)
            continue;
        if (t->creator >= 0)
            add_dep(o, t->creator, GRAPH_CREATED);
        if ((t->role == GRAPH_INPUT || t->role == GRAPH_INOUT) && !t->is_manual && t->buffer >= 0)
            after_writers(o, t);
    }
    for (size_t i = 0; i < task->tensors.n && !task->is_manual_scope; i++) {
        const struct graph_tensor *t = &g->tensors.at[task->tensors.first + i];
        if ((t->role == GRAPH_INOUT || t->role == GRAPH_WRITTEN) && !t->is_manual && t->buffer >= 0)
            note_writer(o, number, task->tensors.first + i);
    }
    task->after = (struct graph_part){o->all.n, o->found.n};
    for (size_t i = 1; i < o->found.n; i++) /* few: by number */
        for (size_t k = i; k > 0 && o->found.at[k].task < o->found.at[k - 1].task; k--) {
            struct graph_dep other = o->found.at[k];
            o->found.at[k] = o->found.at[k - 1];
            o->found.at[k - 1] = other;
        }
    for (size_t i = 0; i < o->found.n; i++)
        vec_push(&o->all, o->found.at[i]);
}

void graph_order(struct task_graph *g)
{
    struct order o = {.g = g};

    for (size_t r = 0; r < g->runs.n; r++) {
        const struct graph_called *run = &g->runs.at[r];
        hash_free(&o.first); /* each chip has a runtime of its own */
        o.first = (struct hash){0};
        o.writers.n = 0;
        for (size_t i = 0; i < run->tasks.n; i++)
            order_task(&o, (int64_t)(run->tasks.first + i));
    }
    hash_free(&o.first);
    vec_free(&o.writers);
    vec_free(&o.found);
    vec_free(&g->deps);
    g->deps.at = o.all.at;
    g->deps.n = o.all.n;
    g->deps.cap = o.all.cap;
}
