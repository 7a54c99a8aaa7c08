/*
 * Where in the program a cause lies: operators, calls and kernels with most of its time.
 */
#include "analysis/diagnose/root_find.h"

#include "analysis/diagnose/limits.h"

struct site_sum {
    strid name;
    uint32_t slice; /* the first one */
    size_t count;
    nanos time;
};

struct site_sums {
    struct hash names;
    VEC_OF(struct site_sum) at;
    size_t count;
    nanos time, host; /* host: of the calls that launch tasks */
};

typedef bool site_task(const struct device_task *t);

static bool is_copy(const struct device_task *t, enum copy_kind from, enum copy_kind to)
{
    return t->class == TASK_COPY && t->copy >= from && t->copy <= to;
}

static bool is_family(const struct device_task *t, enum kernel_family family)
{
    return t->class == TASK_COMPUTE && t->family == family;
}

static bool is_pageable(const struct device_task *t)
{
    return t->class == TASK_COPY && copy_is_pageable((enum copy_kind)t->copy) &&
           !device_task_is_value(t);
}

static bool is_transfer(const struct device_task *t)
{
    return is_copy(t, COPY_H2D_PAGEABLE, COPY_D2H) || is_copy(t, COPY_P2P, COPY_P2P);
}

static bool is_large_read(const struct device_task *t)
{
    return is_copy(t, COPY_D2H_PAGEABLE, COPY_D2H) && t->end - t->begin >= LIMIT_LARGE_READ;
}

static bool is_comm(const struct device_task *t)
{
    return t->class == TASK_COMM;
}

static bool is_product(const struct device_task *t)
{
    return is_family(t, FAMILY_GEMM_TENSOR) || is_family(t, FAMILY_CONV);
}

static bool is_slow_product(const struct device_task *t)
{
    return t->class == TASK_COMPUTE && t->is_simt;
}

static bool is_fp64(const struct device_task *t)
{
    return t->class == TASK_COMPUTE && t->is_fp64;
}

static bool is_elementwise(const struct device_task *t)
{
    return is_family(t, FAMILY_ELEMENTWISE) || is_family(t, FAMILY_LAYOUT) ||
           is_family(t, FAMILY_RANDOM);
}

static bool is_layout(const struct device_task *t)
{
    return is_family(t, FAMILY_LAYOUT) || is_copy(t, COPY_D2D, COPY_D2D);
}

static bool is_optimizer(const struct device_task *t)
{
    return is_family(t, FAMILY_OPTIMIZER);
}

static bool is_index(const struct device_task *t)
{
    return is_family(t, FAMILY_INDEX_SORT);
}

static bool is_aicpu(const struct device_task *t)
{
    return is_family(t, FAMILY_AICPU);
}

static bool is_queued(const struct device_task *t)
{
    return t->class == TASK_COMPUTE;
}

/* Causes that lie in work of the device; the others lie in the host's. */
static site_task *const tasks_of[ROOT_CAUSES] = {
    [ROOT_PAGEABLE_COPY] = is_pageable,   [ROOT_COPY_EXPOSED] = is_transfer,
    [ROOT_COPY_UNNEEDED] = is_large_read, [ROOT_NO_OVERLAP] = is_transfer,
    [ROOT_COMM_EXPOSED] = is_comm,        [ROOT_NO_TENSOR_CORE] = is_slow_product,
    [ROOT_FP64_USED] = is_fp64,           [ROOT_GEMM_INEFFICIENT] = is_product,
    [ROOT_ATTENTION_UNFUSED] = is_queued, [ROOT_ELEMENTWISE_UNFUSED] = is_elementwise,
    [ROOT_LAYOUT_COPIES] = is_layout,     [ROOT_OPTIMIZER_UNFUSED] = is_optimizer,
    [ROOT_INDEX_SORT_HEAVY] = is_index,   [ROOT_AICPU_EXPOSED] = is_aicpu,
};

static void add(struct site_sums *sums, const struct capture *cap, uint32_t slice, nanos time)
{
    strid name = cap->slices.name[slice];
    uint32_t fresh = (uint32_t)sums->at.n, at = hash_add(&sums->names, name, fresh);

    if (at == fresh)
        vec_push(&sums->at, ((struct site_sum){.name = name, .slice = slice}));
    struct site_sum *s = &sums->at.at[at];
    s->count++;
    s->time = nanos_add(s->time, time);
    sums->count++;
    sums->time = nanos_add(sums->time, time);
}

static uint32_t name_of_call(const struct host_call *call)
{
    return call->outer != NO_SLICE ? call->outer : call->slice;
}

/* Of a call and the short stretch before it. */
static nanos host_time(const struct host_call *call)
{
    nanos own = nanos_sub(call->end, call->begin);

    return call->class == STRETCH_LAUNCH ? nanos_add(own, call->stretch) : own;
}

/* `is_changed`: of these only what the last change of the replay touched. */
static void add_tasks(const struct root_finder *f, site_task *wanted, bool is_changed,
                      struct site_sums *sums)
{
    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        if (!root_counts_step(f, t->step) || !wanted(t) || (is_changed && !root_changes(f, i)))
            continue;
        bool has_call = t->call != NO_CALL && !t->is_graph;
        uint32_t name = has_call ? f->a->host.calls[t->call].op : NO_SLICE;
        add(sums, f->cap, name != NO_SLICE ? name : t->slice, nanos_sub(t->end, t->begin));
        if (has_call)
            sums->host = nanos_add(sums->host, host_time(&f->a->host.calls[t->call]));
    }
}

/* A small copy to the host, which the thread waits for. */
static bool is_read(const struct root_finder *f, const struct host_call *call)
{
    if (call->kind != CALL_COPY || call->tasks == 0)
        return false;
    return device_task_is_value(&f->a->tasks.at[call->first_task]);
}

/* Host time of a call that counts for a cause; 0: none of it. */
static nanos time_of_call(const struct root_finder *f, enum root_cause cause,
                          const struct host_call *call)
{
    static const enum stretch_class classes[ROOT_CAUSES] = {
        [ROOT_INPUT_PIPELINE] = STRETCH_INPUT,   [ROOT_CPU_OPERATOR] = STRETCH_OPERATOR,
        [ROOT_HOST_UNTRACED] = STRETCH_UNTRACED, [ROOT_PYTHON_OVERHEAD] = STRETCH_PYTHON,
        [ROOT_COMPILATION] = STRETCH_COMPILE,
    };
    nanos own = nanos_sub(call->end, call->begin);
    nanos stretch = call->class == classes[cause] ? call->stretch : 0;

    switch (cause) {
    case ROOT_LAUNCH_BOUND:
        return call->tasks > 0 ? nanos_add(own, stretch) : 0;
    case ROOT_HOST_SYNC:
        return call->kind == CALL_SYNC || is_read(f, call) ? own : 0;
    case ROOT_ALLOCATOR:
        return host_call_allocates((enum call_kind)call->kind) ? own : 0;
    case ROOT_COMPILATION:
        return nanos_add(call->kind == CALL_COMPILE ? own : 0, stretch);
    default:
        return classes[cause] != STRETCH_LAUNCH ? stretch : 0;
    }
}

static void add_calls(const struct root_finder *f, enum root_cause cause, struct site_sums *sums)
{
    bool is_stretch = cause >= ROOT_INPUT_PIPELINE && cause <= ROOT_PYTHON_OVERHEAD;

    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        nanos time = time_of_call(f, cause, call);
        if (time == 0 || !root_counts_step(f, root_step_of_call(f, call)))
            continue;
        bool has_filler = (is_stretch || cause == ROOT_COMPILATION) && call->filler != NO_SLICE;
        add(sums, f->cap, has_filler ? call->filler : name_of_call(call), time);
    }
}

static const struct replay_node *node_of(const struct root_finder *f, size_t task)
{
    return &f->w->replay->nodes[f->w->replay->node_of_task[task]];
}

/* How long a task that waits for another stream could have begun before: it was launched and its
 * own stream was free. */
static nanos stream_wait(const struct root_finder *f, size_t task)
{
    const struct replay_node *nodes = f->w->replay->nodes, *node = node_of(f, task);
    nanos ready = INT64_MIN;

    if (node->other == REPLAY_NONE)
        return 0;
    if (node->prev != REPLAY_NONE)
        ready = f->a->tasks.at[nodes[node->prev].ref].end;
    if (node->cause != REPLAY_NONE && f->a->host.calls[nodes[node->cause].ref].end > ready)
        ready = f->a->host.calls[nodes[node->cause].ref].end;
    nanos begin = f->a->tasks.at[task].begin;
    return ready != INT64_MIN && begin > ready ? begin - ready : 0;
}

/* Tasks by how long they waited for another stream, or the device before them. */
static void add_waits(const struct root_finder *f, struct site_sums *sums)
{
    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        nanos time = root_counts_step(f, t->step) ? stream_wait(f, i) : 0;
        if (time > 0)
            add(sums, f->cap, t->slice, time);
    }
    for (size_t i = 0; i < f->a->pieces.n; i++) {
        const struct idle_piece *p = &f->a->pieces.at[i];
        nanos time = root_long_wait(f, p);
        if (time > 0 && p->task != UINT32_MAX && node_of(f, p->task)->other == REPLAY_NONE)
            add(sums, f->cap, f->a->tasks.at[p->task].slice, time);
    }
}

/* The largest one left; its time is taken. */
static void take_largest(const struct root_finder *f, struct site_sums *sums, struct root_site *out)
{
    struct site_sum *best = &sums->at.at[0];

    for (size_t i = 1; i < sums->at.n; i++)
        if (sums->at.at[i].time > best->time)
            best = &sums->at.at[i];
    const struct lane *lane = &f->cap->lanes.at[f->cap->slices.lane[best->slice]];
    *out = (struct root_site){
        .name = capture_text(f->cap, best->name),
        .thread = capture_text(f->cap, lane->key.name),
        .count = best->count,
        .time = best->time / (nanos)f->steps,
    };
    best->time = -1;
}

void root_find_sites(const struct root_finder *f, struct found_cause *c)
{
    struct site_sums sums = {0};
    site_task *wanted = tasks_of[c->cause];

    if (wanted != NULL)
        add_tasks(f, wanted, c->cause == ROOT_ATTENTION_UNFUSED, &sums);
    else if (c->cause == ROOT_DEVICE_DEPENDENCY)
        add_waits(f, &sums);
    else
        add_calls(f, c->cause, &sums);
    c->count = sums.count / f->steps;
    c->each = sums.count > 0 ? sums.time / (nanos)sums.count : 0;
    c->share = num_share((double)sums.time, (double)f->window);
    c->host_share = num_share((double)sums.host, (double)f->window);
    for (c->n_sites = 0; c->n_sites < ROOT_SITES && c->n_sites < sums.at.n; c->n_sites++)
        take_largest(f, &sums, &c->sites[c->n_sites]);
    vec_free(&sums.at);
    hash_free(&sums.names);
}
