/*
 * plant_truth: windows, claims and causes of idle time.
 */
#include "synth/plant_truth.h"

#include <stdlib.h>

#include "base/tables/ranked.h"

enum {
    LEAST_WORK = 200000,  /* host work that is a cause of its own, */
    LONG_WORK = 1000000,  /* whatever else there is, */
    WORK_TIMES = 8,       /* and so many median stretches, */
    WORK_CAP = 2000000,   /* up to this */
    LATENCY_TIMES = 3,    /* median gaps that a queue needs to go on, */
    LATENCY_LEAST = 2000, /* in these bounds */
    LATENCY_MOST = 20000,
};

static const char *const work_classes[] = {
    [BUSY_LAUNCH] = "idle.launch",        [BUSY_SYNC] = "idle.sync",
    [BUSY_ALLOCATOR] = "idle.allocator",  [BUSY_COMPILE] = "idle.compile_load",
    [BUSY_STAGING] = "idle.copy_staging", [BUSY_OPERATOR] = "idle.cpu_operator",
    [BUSY_INPUT] = "idle.input",          [BUSY_PYTHON] = "idle.python",
    [BUSY_UNTRACED] = "idle.untraced",
};

static const struct {
    enum op_code first, last;
    const char *class;
} families[] = {
    {OP_P_GEMM, OP_P_GEMM_TF32, "compute.gemm_tensor"},
    {OP_P_GEMM_SIMT, OP_P_GEMM_SIMT, "compute.gemm_simt"},
    {OP_P_GEMM_ODD, OP_P_BMM, "compute.gemm_tensor"},
    {OP_P_SOFTMAX, OP_P_NORM_GRAD, "compute.norm_softmax_reduce"},
    {OP_P_GELU, OP_P_FUSED, "compute.elementwise"},
    {OP_P_COPY, OP_P_COPY, "compute.layout"},
    {OP_P_SUM, OP_P_SUM, "compute.norm_softmax_reduce"},
    {OP_P_SORT, OP_P_GATHER, "compute.index_sort"},
    {OP_P_EMBED_GRAD, OP_P_EMBED_GRAD, "compute.embedding"},
    {OP_P_LOSS, OP_P_LOSS_GRAD, "compute.norm_softmax_reduce"},
    {OP_P_FLASH, OP_P_FLASH_GRAD, "compute.attention"},
    {OP_P_ADAM_MUL, OP_P_ADAM_FUSED, "compute.optimizer"},
    {OP_P_DOUBLE, OP_P_SINGLE, "compute.elementwise"},
    {OP_P_CAST, OP_P_CAST, "compute.layout"},
    {OP_P_EMBED, OP_P_EMBED_FUSED, "compute.embedding"},
    {OP_ADD, OP_ADD, "compute.elementwise"},
    {OP_ARGMAX, OP_ARGMAX, "compute.norm_softmax_reduce"},
    {OP_AICPU, OP_AICPU, "compute.aicpu"},
};

static int rank_of(const struct machine_task *t)
{
    return t->kind == TASK_KERNEL ? 2 : t->kind == TASK_COMM ? 1 : 0;
}

struct counting {
    const struct machine *m;
    struct machine_task *tasks; /* by begin */
    size_t n;
    struct plant_run *run;
    nanos latency;    /* of a queue */
    nanos least_work; /* of the host */
};

static void truth_add(struct counting *c, nanos begin, nanos end, const char *class)
{
    for (size_t i = 0; i < c->run->steps_n; i++) {
        struct plant_step_truth *s = &c->run->steps[i];
        nanos from = begin > s->begin ? begin : s->begin, to = end < s->end ? end : s->end;
        size_t k = 0;
        if (from >= to)
            continue;
        while (k < s->n && strcmp(s->by[k].class, class) != 0)
            k++;
        if (k == s->n)
            s->by[s->n++] = (struct plant_account){class, 0};
        s->by[k].ns += to - from;
    }
}

/* ---- medians ---- */

static nanos median(nanos *values, size_t n)
{
    return n > 0 ? ranked_pick(values, n, n / 2) : 0;
}

static const struct machine_call *call_of(const struct counting *c, const struct machine_task *t)
{
    const struct machine *m = c->m;
    bool is_main = m->kind == MACHINE_GPU || t->is_graph || t->is_by_main;

    if (t->call == MACHINE_NO_CALL)
        return NULL;
    return is_main ? &m->main.calls.at[t->call] : &m->queued.calls.at[t->call];
}

static void find_latency(struct counting *c)
{
    nanos *gaps = mem_grow(NULL, sizeof *gaps, c->n + 1), last[STREAM_COUNT];
    size_t n = 0;

    for (int i = 0; i < STREAM_COUNT; i++)
        last[i] = INT64_MAX;
    for (size_t i = 0; i < c->n; i++) {
        const struct machine_task *t = &c->tasks[i];
        const struct machine_call *call = call_of(c, t);
        if (call != NULL && last[t->stream] != INT64_MAX && call->end < last[t->stream] &&
            !t->is_graph)
            gaps[n++] = t->begin - last[t->stream];
        last[t->stream] = t->end;
    }
    c->latency = LATENCY_TIMES * median(gaps, n);
    c->latency = c->latency < LATENCY_LEAST ? LATENCY_LEAST : c->latency;
    c->latency = c->latency > LATENCY_MOST ? LATENCY_MOST : c->latency;
    mem_free(gaps);
}

static nanos least_work(const struct machine_timeline *t)
{
    nanos *values = mem_grow(NULL, sizeof *values, t->calls.n + 1);

    for (size_t i = 0; i < t->calls.n; i++)
        values[i] = t->calls.at[i].begin - t->calls.at[i].stretch;
    nanos least = WORK_TIMES * median(values, t->calls.n);
    mem_free(values);
    least = least > WORK_CAP ? WORK_CAP : least;
    return least > LEAST_WORK ? least : LEAST_WORK;
}

/* ---- idle time ---- */

static void add_part(struct counting *c, nanos begin, nanos end, struct account_span gap,
                     const char *class)
{
    begin = begin > gap.begin ? begin : gap.begin;
    end = end < gap.end ? end : gap.end;
    if (begin < end)
        truth_add(c, begin, end, class);
}

/* What the host's threads did in [begin, end). */
static void add_host(struct counting *c, struct account_span gap)
{
    const struct machine_timeline *t = &c->m->main;
    size_t at;

    vec_bisect(at, t->calls.n, i, t->calls.at[i].end <= gap.begin);
    for (; at < t->calls.n && t->calls.at[at].stretch < gap.end; at++) {
        const struct machine_call *call = &t->calls.at[at];
        nanos stretch = call->begin - call->stretch;
        bool is_work = stretch >= c->least_work &&
                       (call->longest >= LEAST_WORK || stretch >= LONG_WORK) && call->longest > 0;
        add_part(c, call->stretch, call->begin, gap,
                 work_classes[is_work ? call->filler : BUSY_LAUNCH]);
        add_part(c, call->begin, call->end, gap, work_classes[call->work]);
    }
    /* After its last call the host launches no more. */
    if (at == t->calls.n)
        add_part(c, t->free, INT64_MAX, gap, work_classes[BUSY_LAUNCH]);
}

/* An NPU's queue is at work, or it waits for the host. */
static void add_queue(struct counting *c, struct account_span gap)
{
    const struct machine_timeline *t = &c->m->queued;
    nanos now = gap.begin;
    size_t at;

    vec_bisect(at, t->calls.n, i, t->calls.at[i].end <= gap.begin);
    for (; at < t->calls.n && now < gap.end; at++) {
        const struct machine_call *call = &t->calls.at[at];
        nanos until = call->stretch < gap.end ? call->stretch : gap.end;
        if (until > now)
            add_host(c, (struct account_span){now, until, 0});
        now = until > now ? until : now;
        add_part(c, now, call->end, gap, work_classes[BUSY_LAUNCH]);
        now = call->end > now ? call->end : now;
    }
}

/* The device was idle until `t` began. */
static void add_idle(struct counting *c, struct account_span gap, const struct machine_task *t)
{
    const struct machine_call *call = t != NULL ? call_of(c, t) : NULL;
    bool is_queue = c->m->kind == MACHINE_NPU && t != NULL && !t->is_by_main && !t->is_graph;

    if (call == NULL) {
        truth_add(c, gap.begin, gap.end, "idle.unknown");
        return;
    }
    if (call->end <= gap.begin) {
        bool is_long = gap.end - gap.begin > c->latency;
        truth_add(c, gap.begin, gap.end,
                  is_long && t->awaited > 0 ? "idle.device_dependency" : "idle.device_latency");
        return;
    }
    struct account_span before = {gap.begin, call->begin < gap.end ? call->begin : gap.end, 0};
    if (before.begin < before.end && is_queue)
        add_queue(c, before);
    else if (before.begin < before.end)
        add_host(c, before);
    add_part(c, call->begin, INT64_MAX, gap, work_classes[call->work]);
}

/* ---- all of it ---- */

ORDER_BY(by_begin, struct machine_task, ORDER(x->begin, y->begin));

/* The task that claims the time at a moment among those from `first` on: kernels before
 * collectives before copies, of each kind the one that began first. */
static const struct machine_task *owner_at(const struct counting *c, size_t first, nanos at)
{
    const struct machine_task *best = NULL;

    for (size_t i = first; i < c->n && c->tasks[i].begin <= at; i++) {
        const struct machine_task *t = &c->tasks[i];
        if (t->end > at && (best == NULL || rank_of(t) > rank_of(best)))
            best = t;
    }
    return best;
}

/* The next moment at which the owner may change. */
static nanos border_after(const struct counting *c, size_t first, nanos at)
{
    nanos next = INT64_MAX;

    for (size_t i = first; i < c->n && c->tasks[i].begin < next; i++) {
        const struct machine_task *t = &c->tasks[i];
        if (t->begin > at && t->begin < next)
            next = t->begin;
        else if (t->begin <= at && t->end > at && t->end < next)
            next = t->end;
    }
    return next;
}

static const struct machine_task *begins_at(const struct counting *c, size_t first, nanos at)
{
    const struct machine_task *found = NULL;

    for (size_t i = first; i < c->n && c->tasks[i].begin <= at; i++)
        if (c->tasks[i].begin == at && (found == NULL || found->call == MACHINE_NO_CALL))
            found = &c->tasks[i];
    return found;
}

static const char *truth_class_of(const struct counting *c, const struct machine_task *t)
{
    static const char *const copies[][3] = {
        {"copy_exposed.h2d", "copy_exposed.h2d_pinned", "copy_exposed.h2d_pageable"},
        {"copy_exposed.d2h", "copy_exposed.d2h_pinned", "copy_exposed.d2h_pageable"}};

    if (t->kind == TASK_COMM)
        return "comm_exposed";
    if (t->kind == TASK_COPY && t->way == COPY_ON_DEVICE)
        return "copy_exposed.d2d";
    if (t->kind == TASK_COPY && t->way == COPY_SET)
        return "copy_exposed.memset";
    if (t->kind == TASK_COPY) /* only a GPU says what memory it is */
        return copies[t->way == COPY_DEVICE_TO_HOST]
                     [c->m->kind == MACHINE_GPU ? 1 + t->is_pageable : 0];
    if (t->is_optimizer)
        return "compute.optimizer";
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (t->code >= families[i].first && t->code <= families[i].last)
            return families[i].class;
    return "compute.other";
}

/* Idle time is cut at the windows' borders, as every other time. */
static void add_gap(struct counting *c, nanos begin, nanos end, const struct machine_task *t)
{
    for (size_t i = 0; i < c->run->steps_n; i++) {
        const struct plant_step_truth *s = &c->run->steps[i];
        struct account_span part = {begin > s->begin ? begin : s->begin,
                                    end < s->end ? end : s->end, 0};
        if (part.begin < part.end)
            add_idle(c, part, t);
    }
}

static void set_windows(struct plant_run *run, const struct counting *c, const struct plant *p,
                        const nanos *marks)
{
    nanos end = marks[0];

    for (size_t i = 0; i < c->n; i++)
        if (c->tasks[i].step < 0 && c->tasks[i].end > end)
            end = c->tasks[i].end;
    for (size_t k = 0; k < run->steps_n; k++) {
        struct plant_step_truth *s = &run->steps[k];
        s->number = p->first + (int64_t)k;
        s->begin = s->end = end;
        for (size_t i = 0; i < c->n; i++)
            if (c->tasks[i].step == s->number && c->tasks[i].end > s->end)
                s->end = c->tasks[i].end;
        end = s->end;
    }
}

void plant_truth_account(struct plant_run *run, const struct machine *m, const struct plant *p,
                         const nanos *marks, struct arena *arena)
{
    struct counting c = {.m = m, .n = m->tasks.n, .run = run};
    size_t first = 0;

    run->steps_n = (size_t)p->steps;
    run->steps = ARENA_ARRAY(arena, struct plant_step_truth, run->steps_n);
    c.tasks = ARENA_ARRAY(arena, struct machine_task, c.n);
    memcpy(c.tasks, m->tasks.at, sizeof *c.tasks * c.n);
    qsort(c.tasks, c.n, sizeof *c.tasks, by_begin);
    set_windows(run, &c, p, marks);
    find_latency(&c);
    c.least_work = least_work(&m->main);
    nanos end = run->steps[run->steps_n - 1].end;
    for (nanos now = run->steps[0].begin, next; now < end; now = next) {
        while (first < c.n && c.tasks[first].end <= now)
            first++;
        const struct machine_task *owner = owner_at(&c, first, now);
        next = border_after(&c, first, now);
        next = next < end ? next : end;
        if (owner != NULL)
            truth_add(&c, now, next, truth_class_of(&c, owner));
        else
            add_gap(&c, now, next, begins_at(&c, first, next));
    }
    run->step_ns = (end - run->steps[0].end) / (nanos)(run->steps_n > 1 ? run->steps_n - 1 : 1);
}
