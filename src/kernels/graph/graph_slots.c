/*
 * One kernel of a graph: its tasks, and the arguments it has in one of them.
 */
#include <stdlib.h>

#include "base/tables/hash.h"
#include "kernels/graph/graph.h"
#include "kernels/replay/paths.h"

size_t graph_tasks_of(const struct task_graph *g, const char *source, int64_t func_id,
                      struct arena *arena, int64_t **out)
{
    bool **is_it = ARENA_ARRAY(arena, bool *, g->n_callables);
    size_t n = 0;

    source = paths_absolute(arena, source);
    for (size_t c = 0; c < g->n_callables; c++) {
        const struct graph_callable *of = &g->callables[c];
        is_it[c] = ARENA_ARRAY(arena, bool, of->n_incores + 1);
        for (size_t i = 0; i < of->n_incores; i++)
            is_it[c][i] = (func_id < 0 || of->incores[i].func_id == func_id) &&
                          strcmp(paths_absolute(arena, of->incores[i].source), source) == 0;
    }
    *out = ARENA_ARRAY(arena, int64_t, g->tasks.n + 1);
    for (size_t i = 0; i < g->tasks.n; i++) {
        const struct graph_task *task = &g->tasks.at[i];
        bool has = false;
        for (size_t k = 0; k < GRAPH_CORES; k++)
            has = has || (task->kernels[k] >= 0 &&
                          is_it[g->runs.at[task->run].callable][task->kernels[k]]);
        if (has)
            (*out)[n++] = (int64_t)i;
    }
    return n;
}

/* Types, shapes and numbers of blocks; where a shape has no element, nothing is done. */
static uint64_t form_of(const struct task_graph *g, int64_t number, bool *is_empty)
{
    const struct graph_task *task = &g->tasks.at[number];
    uint64_t h = hash_stable_mix((uint64_t)task->blocks, task->tensors.n);

    *is_empty = false;
    for (size_t i = 0; i < task->tensors.n; i++) {
        const struct graph_tensor *t = &g->tensors.at[task->tensors.first + i];
        h = hash_stable_mix(h, hash_stable_bytes(t->dtype->name));
        for (size_t k = 0; k < t->rank; k++) {
            h = hash_stable_mix(h, (uint64_t)t->shape[k]);
            *is_empty = *is_empty || t->shape[k] == 0;
        }
    }
    return h;
}

int64_t graph_usual(const struct task_graph *g, const int64_t *tasks, size_t n)
{
    struct hash counts = {0};
    uint64_t usual = 0;
    uint32_t most = 0, count;
    bool is_empty, takes_empty = true;
    size_t seen = 0;

    for (size_t i = 0; i < n; i++) {
        (void)form_of(g, tasks[i], &is_empty);
        takes_empty = takes_empty && is_empty;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t form = form_of(g, tasks[i], &is_empty);
        if (is_empty && !takes_empty)
            continue;
        count = hash_get(&counts, form, &count) ? count + 1 : 1;
        hash_put(&counts, form, count);
        if (count > most) {
            most = count;
            usual = form;
        }
    }
    hash_free(&counts);
    for (size_t i = 0; i < n; i++)
        if (form_of(g, tasks[i], &is_empty) == usual && seen++ == most / 2)
            return tasks[i];
    return n > 0 ? tasks[0] : GRAPH_NONE;
}

/* ---- slots ---- */

struct slot_maker {
    const struct task_graph *g;
    struct arena *arena;
    struct slots *out;
    struct slot_memory *memories;
    int64_t *buffers; /* of those */
    size_t n;
};

/* A name in C, for a buffer. */
static struct str name_of(const struct slot_maker *m, int64_t buffer)
{
    struct str name = m->g->buffers[buffer].name;

    if (!slot_is_identifier(name))
        name = arena_format(m->arena, "buffer%lld", (long long)buffer);
    for (size_t i = 0; i < m->n; i++)
        if (str_equal(m->memories[i].name, name))
            return arena_format(m->arena, "%.*s_%lld", STR_ARGS(name), (long long)buffer);
    return name;
}

static struct str fill_of(const struct slot_maker *m, const struct graph_buffer *b)
{
    return b->fill == 0   ? S("zero")
           : b->fill == 1 ? S("one")
                          : arena_format(m->arena, "const:%.17g", b->fill);
}

static const struct slot_memory *memory_of(struct slot_maker *m, int64_t buffer)
{
    const struct graph_buffer *b = &m->g->buffers[buffer];

    for (size_t i = 0; i < m->n; i++)
        if (m->buffers[i] == buffer)
            return &m->memories[i];
    m->memories[m->n] = (struct slot_memory){.name = name_of(m, buffer),
                                             .bytes = b->bytes > 0 ? (int64_t)b->bytes : 1,
                                             .dtype = b->dtype,
                                             .fill = fill_of(m, b),
                                             .data = b->data};
    m->buffers[m->n] = buffer;
    return &m->memories[m->n++];
}

static void add_tensor(struct slot_maker *m, const struct graph_tensor *t, int64_t index)
{
    struct slot s = {.is_tensor = true, .index = index, .dtype = t->dtype};
    int64_t *shape = ARENA_ARRAY(m->arena, int64_t, t->rank + 1);
    int64_t *strides = ARENA_ARRAY(m->arena, int64_t, t->rank + 1);

    /* A tensor without elements is one that is not read: one element stands for it. */
    for (size_t i = 0; i < t->rank; i++) {
        shape[i] = t->shape[i];
        strides[i] = t->strides[i] > 0 ? t->strides[i] : 1;
    }
    s.shape = shape;
    s.rank = t->rank;
    s.role = t->role == GRAPH_INOUT || t->role == GRAPH_NO_DEP ? ROLE_INOUT
             : t->role == GRAPH_INPUT                          ? ROLE_INPUT
                                                               : ROLE_OUTPUT;
    s.fill = S("zero");
    s.strides = strides;
    s.start = (int64_t)t->start;
    s.bytes = (int64_t)t->bytes;
    if (t->buffer >= 0) {
        s.memory = memory_of(m, t->buffer);
        s.offset = (int64_t)t->offset;
        /* It names the rest of the memory, as its buffer may be larger than the view. */
        if (s.bytes > s.memory->bytes - s.offset)
            s.bytes = s.memory->bytes - s.offset;
    }
    s.name =
        arena_format(m->arena, "%.*s", STR_ARGS(s.memory != NULL ? s.memory->name : S("none")));
    for (size_t i = 0; i < m->out->n; i++)
        if (str_equal(m->out->at[i].name, s.name)) {
            s.name = arena_format(m->arena, "%.*s_%lld", STR_ARGS(s.name), (long long)index);
            break;
        }
    vec_push(m->out, s);
}

/* The value of a slot; a communication context becomes its rank and its windows. */
static void add_scalar(struct slot_maker *m, const struct graph_scalar *v, int64_t index)
{
    struct slot s = {.index = index,
                     .name = arena_format(m->arena, "value%lld", (long long)index),
                     .dtype = slot_type_find(S("UINT64")),
                     .value = (int64_t)v->bits,
                     .is_unsigned = (int64_t)v->bits < 0};

    if (v->context >= 0) {
        const struct graph_buffer *b = &m->g->buffers[v->context];
        struct slot_context *c = ARENA_NEW(m->arena, struct slot_context);
        const struct slot_memory **windows =
            ARENA_ARRAY(m->arena, const struct slot_memory *, b->n_windows);
        struct str *names = ARENA_ARRAY(m->arena, struct str, b->n_windows);
        for (size_t i = 0; i < b->n_windows; i++) {
            windows[i] = memory_of(m, b->windows[i]);
            names[i] = windows[i]->name;
        }
        *c = (struct slot_context){b->rank, windows, names, b->n_windows};
        s.name = arena_format(m->arena, "context%lld", (long long)index);
        s.is_context = true;
        s.context = c;
    }
    vec_push(m->out, s);
}

void graph_slots(const struct task_graph *g, int64_t number, struct arena *arena, struct slots *out)
{
    const struct graph_task *task = &g->tasks.at[number];
    struct slot_maker m = {.g = g, .arena = arena, .out = out};
    size_t most = task->tensors.n;

    for (size_t i = 0; i < task->scalars.n; i++) {
        int64_t context = g->scalars.at[task->scalars.first + i].context;
        most += context >= 0 ? g->buffers[context].n_windows : 0;
    }
    m.memories = ARENA_ARRAY(arena, struct slot_memory, most + 1);
    m.buffers = ARENA_ARRAY(arena, int64_t, most + 1);
    out->n = 0;
    for (size_t i = 0; i < task->tensors.n; i++)
        add_tensor(&m, &g->tensors.at[task->tensors.first + i], (int64_t)i);
    for (size_t i = 0; i < task->scalars.n; i++)
        add_scalar(&m, &g->scalars.at[task->scalars.first + i], (int64_t)(task->tensors.n + i));
    out->memories = m.memories;
    out->n_memories = m.n;
}
