/*
 * sim: one step of all ranks, operator by operator, with idle times of known cause.
 */
#include "synth/sim.h"

#include <stdlib.h>

enum {
    FIRST_STREAM_GAP = 200, /* between two kernels of a stream */
    GAP_SPREAD = 700,
};

static nanos gap(struct rank *r)
{
    return FIRST_STREAM_GAP + rng_below(&r->rng, GAP_SPREAD);
}

static void sim_place(struct rank *r, struct synth_task t)
{
    t.task_id = r->task_id++ % 65536;
    vec_push(&r->step.tasks, t);
    r->end[t.stream] = t.begin + t.dur;
}

static nanos later(nanos a, nanos b)
{
    return a > b ? a : b;
}

static nanos jitter(struct rank *r, nanos dur)
{
    nanos out = dur * r->slow / 1000 * rng_between(&r->rng, 940, 1060) / 1000;

    return out > 600 ? out : 600;
}

static struct synth_task *sim_compute(struct sim *s, struct rank *r, const struct synth_op *op)
{
    struct synth_task t = {.kind = TASK_KERNEL, .stream = STREAM_COMPUTE};
    nanos ready = sim_launch(s, r, op, &t);

    t.begin = later(ready, r->end[STREAM_COMPUTE] + gap(r));
    if (op->is_join) {
        t.begin = later(t.begin, r->pending);
        r->pending = 0;
    }
    t.dur = jitter(r, op->dur);
    sim_place(r, t);
    return &r->step.tasks.at[r->step.tasks.n - 1];
}

/* An AICPU operator: on the compute stream, where nothing hides it, or beside the kernel that was
 * launched last and inside its time when that is long enough. */
static void aicpu(struct sim *s, struct rank *r, const struct synth_op *op,
                  const struct synth_task *under)
{
    struct synth_task t = {.kind = TASK_KERNEL, .stream = STREAM_COMPUTE};
    nanos begin = under != NULL ? under->begin : 0, dur = under != NULL ? under->dur : 0;
    nanos ready = sim_launch(s, r, op, &t);

    t.dur = jitter(r, op->dur);
    if (under != NULL) {
        t.stream = STREAM_AICPU;
        t.begin = later(later(ready, begin + 300), r->end[STREAM_AICPU] + 200);
        if (t.begin + t.dur > begin + dur)
            t.dur = later(begin + dur - t.begin, 1500);
    } else {
        t.begin = later(later(ready, r->end[STREAM_COMPUTE] + gap(r)), r->end[STREAM_COMM]);
    }
    sim_place(r, t);
}

/* All ranks arrive, and leave together. */
static void collective(struct sim *s, const struct synth_op *op)
{
    nanos latest = INT64_MIN;

    for (int i = 0; i < s->ranks_n; i++) {
        struct rank *r = &s->ranks[i];
        r->comm = (struct synth_task){.kind = TASK_COMM, .stream = STREAM_COMM, .bytes = op->bytes};
        nanos ready = sim_launch(s, r, op, &r->comm);
        /* One after the other: the order of calls within an expression is the compiler's. */
        nanos after_compute = r->end[STREAM_COMPUTE] + gap(r);
        nanos after_comm = r->end[STREAM_COMM] + gap(r);
        r->comm.begin = later(later(ready, after_comm), after_compute);
        latest = later(latest, r->comm.begin - r->skew);
    }
    if (s->ranks_n < s->world) /* ranks outside the capture are late at times, too */
        latest += rng_below(&s->rng, op->dur / 3 + 1);
    nanos transit = op->dur * rng_between(&s->rng, 900, 1100) / 1000;
    for (int i = 0; i < s->ranks_n; i++) {
        struct rank *r = &s->ranks[i];
        struct synth_task *t = &r->comm;
        t->waited = latest - (t->begin - r->skew);
        t->transit = transit;
        t->dur = t->waited + transit;
        t->name = arena_printf(&s->names, "%s_%s_%lld_1", op->kind->name,
                               s->group + strlen(s->group) - 3, (long long)r->comm_n[op->code]++);
        sim_place(r, *t);
        nanos end = t->begin + t->dur;
        if (op->is_async)
            r->pending = later(r->pending, end);
        else
            r->end[STREAM_COMPUTE] = later(r->end[STREAM_COMPUTE], end);
    }
}

static void sim_copy(struct rank *r, enum copy_way way, nanos call, nanos ready, nanos dur,
                     int64_t bytes)
{
    int64_t connection = r->connection += 3;

    sim_cann(r, HOST_ACL, THREAD_MAIN, "aclrtMemcpyAsync", call, 4 * US, connection, NULL);
    sim_place(r, (struct synth_task){.kind = TASK_COPY,
                                     .stream = STREAM_COMPUTE,
                                     .name = "MEMCPY_ASYNC",
                                     .begin = later(ready, r->end[STREAM_COMPUTE] + 200),
                                     .dur = dur,
                                     .connection = connection,
                                     .api = call,
                                     .api_thread = THREAD_MAIN,
                                     .bytes = bytes,
                                     .way = way});
}

static void host_op(struct rank *r, const char *name, nanos begin, nanos dur)
{
    sim_host(r, HOST_OP, THREAD_MAIN, name, begin, dur)->parent = -1;
}

/* The host activity that explains, or fails to explain, an idle device in [begin, begin + dur). */
static void stall_host(struct rank *r, enum stall_kind kind, nanos begin, nanos dur)
{
    switch (kind) {
    case STALL_SYNC:
        sim_cann(r, HOST_ACL, THREAD_MAIN, "aclrtSynchronizeStream", begin, dur / 10 * 9,
                 r->connection += 3, NULL);
        break;
    case STALL_H2D:
        host_op(r, "aten::to", begin, dur / 10 * 8);
        sim_copy(r, COPY_HOST_TO_DEVICE, begin + dur / 20, begin + dur / 10, dur / 10 * 6,
                 dur / 10 * 24);
        break;
    case STALL_COMM:
        sim_cann(r, HOST_ACL, THREAD_MAIN, "aclrtStreamWaitEvent", begin, dur / 10 * 6,
                 r->connection += 3, NULL);
        sim_place(r, (struct synth_task){.kind = TASK_WAIT,
                                         .stream = STREAM_COMPUTE,
                                         .name = "EVENT_WAIT",
                                         .begin = begin + 900,
                                         .dur = dur / 2,
                                         .connection = r->connection,
                                         .api = begin,
                                         .api_thread = THREAD_MAIN});
        break;
    case STALL_LAUNCH:
        for (int k = 0; k < 6; k++)
            host_op(r, "prepare_inputs", begin + dur / 6 * k, dur / 6 / 2);
        break;
    case STALL_GC:
        sim_host(r, HOST_GC, THREAD_MAIN, "GC", begin + dur / 2, dur / 100 * 7);
        break;
    default:
        break; /* untraced: nothing to see */
    }
}

/* Lets the device run dry and then keeps it waiting for about `dur`. */
static void stall(struct rank *r, enum stall_kind kind, enum stall_place where, int layer,
                  nanos dur)
{
    nanos dry = r->host;

    for (int i = 0; i < STREAM_COUNT; i++)
        dry = later(dry, r->end[i]);
    dry = later(dry, r->queue);
    nanos begin = dry + 200;
    sim_frame_pop(r, 1);
    r->layer = NO_LAYER - 1;
    r->module = NULL;
    begin = later(begin, r->host);
    stall_host(r, kind, begin, dur);
    r->host = begin + dur;
    r->queue = later(r->queue, r->host);
    vec_push(&r->step.stalls, ((struct stall){kind, where, layer, begin}));
}

static void begin_step(struct sim *s, struct rank *r, const struct synth_program *p, int64_t number)
{
    struct synth_step *step = &r->step;

    step->host.n = step->tasks.n = step->grads.n = step->stalls.n = 0;
    step->number = number;
    step->is_marked = number >= 0;
    step->is_cut = false;
    step->program = p;
    step->begin = r->host;
    r->layer = NO_LAYER - 1;
    r->module = NULL;
    r->open_n = 0;
    r->sequence = 0;
    /* The outermost frame spans the step from its first to its last moment. */
    sim_frame_push(s, r,
                   p->phase == PHASE_TRAIN ? "train.py(112): train_step"
                                           : "model/runner.py(204): execute_model");
    r->host += 1500;
    for (int k = 0; k < 3; k++) {
        host_op(r, k == 1 ? "aten::empty" : "aten::slice", r->host, 3 * US);
        r->host += 4 * US;
    }
    sim_copy(r, COPY_HOST_TO_DEVICE, r->host, r->host + 9 * US, 7 * US, 8 * s->options->batch);
    r->host += 6 * US;
}

/* The host reads back what was sampled or the loss; what is still on the way between ranks may
 * go on into the next step. */
static void end_step(struct rank *r, bool is_cut, nanos tail)
{
    struct synth_step *step = &r->step;

    sim_frame_pop(r, 1);
    if (!is_cut) {
        nanos call = r->host;
        nanos done = later(r->end[STREAM_COMPUTE], r->end[STREAM_AICPU]);
        if (r->pending == 0)
            done = later(done, r->end[STREAM_COMM]);
        else
            done = later(done, r->comm.begin + US);
        sim_copy(r, COPY_DEVICE_TO_HOST, call, later(done + 300, call + 5 * US), 3 * US, 512);
        nanos back = r->end[STREAM_COMPUTE] + 4 * US;
        sim_cann(r, HOST_ACL, THREAD_MAIN, "aclrtSynchronizeStream", call + 5 * US,
                 back - call - 5 * US, r->connection += 3, NULL);
        r->host = later(back, r->queue) + 2 * US;
        host_op(r, "sample_tokens", r->host, 12 * US);
        r->host += 15 * US;
        if (tail > 0) {
            vec_push(&step->stalls, ((struct stall){STALL_UNTRACED, PLACE_TAIL, NO_LAYER, 0}));
            r->host += tail;
        }
    }
    r->pending = 0;
    step->is_cut = is_cut;
    step->mark_end = r->host;
    if (step->is_marked) {
        struct host_event *e = sim_host(r, HOST_STEP, THREAD_MAIN, "ProfilerStep", step->begin,
                                        step->mark_end - step->begin);
        e->parent = -1;
        e->id = step->number;
    }
    r->host += 2 * US;
    sim_frame_pop(r, 0);
    r->queue = later(r->queue, r->host);
    step->next_begin = r->host;
}

ORDER_BY(by_begin, struct synth_task,
         ORDER(x->begin, y->begin) ?: ORDER(x->connection, y->connection));

void sim_order_tasks(struct rank *r)
{
    struct synth_step *step = &r->step;

    qsort(step->tasks.at, step->tasks.n, sizeof *step->tasks.at, by_begin);
    for (size_t i = 0; i < step->tasks.n; i++) {
        struct synth_task *t = &step->tasks.at[i];
        if (t->kind != TASK_KERNEL && t->kind != TASK_COMM)
            continue;
        t->wait = r->row_end > 0 && t->begin > r->row_end ? t->begin - r->row_end : 0;
        r->row_end = t->begin + t->dur;
    }
}

/* Layers at which device idle time is injected, and those that get an AICPU operator. */
struct sim_plan {
    bool *stall_at; /* by layer */
    int *aicpu_at;  /* by layer: 0 none, 1 exposed, 2 masked */
    int victim;
    nanos prelaunch, tail;
};

static struct sim_plan make_plan(struct sim *s)
{
    const struct synth_options *o = s->options;
    int layers = s->model.layers;
    struct sim_plan plan = {.stall_at = ARENA_ARRAY(&s->names, bool, (size_t)layers + 1),
                            .aicpu_at = ARENA_ARRAY(&s->names, int, (size_t)layers + 1)};
    int64_t first = layers > 1, room = layers - first; /* not before the first of several */

    for (int64_t k = 0; k < o->bubbles && k < room; k++) {
        int64_t at = rng_below(&s->rng, room);
        while (plan.stall_at[first + at])
            at = (at + 1) % room;
        plan.stall_at[first + at] = true;
    }
    for (int64_t k = 0; k < o->aicpu; k++)
        plan.aicpu_at[rng_below(&s->rng, layers)] = k % 2 == 0 ? 1 : 2;
    plan.victim = (int)rng_below(&s->rng, s->ranks_n);
    if (o->bubbles > 0 && s->step % 5 == 3)
        plan.prelaunch = o->bubble * 2;
    if (o->bubbles > 0 && s->step % 7 == 4)
        plan.tail = o->bubble * 2;
    return plan;
}

/* The operator that AICPU cores run now and then, in the layer and module of `beside`. */
static void aicpu_in(struct sim *s, const struct synth_op *beside, bool is_masked)
{
    struct synth_op *op = ARENA_NEW(&s->names, struct synth_op);
    const char *shape = arena_printf(&s->names, "%lld", (long long)s->options->batch);

    *op = (struct synth_op){.code = OP_AICPU,
                            .kind = &op_kinds[OP_AICPU],
                            .dur = 70 * US,
                            .in = shape,
                            .out = shape,
                            .in_formats = "ND",
                            .out_formats = "ND",
                            .in_formats_old = "FORMAT_ND",
                            .out_formats_old = "FORMAT_ND",
                            .module = beside->module,
                            .layer = beside->layer,
                            .forward = NO_OP};
    for (int i = 0; i < s->ranks_n; i++) {
        struct rank *r = &s->ranks[i];
        struct synth_task under = r->step.tasks.at[r->step.tasks.n - 1];
        aicpu(s, r, op, is_masked ? &under : NULL);
    }
}

static void run_op(struct sim *s, const struct synth_program *p, size_t i,
                   const struct sim_plan *plan)
{
    const struct synth_op *op = &p->ops[i];
    bool is_attention = op->code == OP_ATTENTION || op->code == OP_FLASH;

    for (int k = 0; k < s->ranks_n; k++) {
        struct rank *r = &s->ranks[k];
        r->sequence = (int64_t)i;
        r->begun[i] = r->host;
    }
    if (op_is_comm(op->code)) {
        collective(s, op);
    } else {
        for (int k = 0; k < s->ranks_n; k++) {
            struct rank *r = &s->ranks[k];
            const struct synth_task *t = sim_compute(s, r, op);
            r->begun[i] = t->launched;
            if (op->forward != NO_OP)
                vec_push(&r->step.grads,
                         ((struct grad_link){r->begun[op->forward], t->launched,
                                             (r->step.number + 1) * 100000 + (int64_t)i}));
        }
    }
    if (is_attention && !op->is_backward && plan->aicpu_at[op->layer] > 0)
        aicpu_in(s, op, plan->aicpu_at[op->layer] == 2);
}

static const struct synth_program *program_of(const struct sim *s)
{
    const struct synth_options *o = s->options;
    bool is_prefill = o->prefill_every > 0 && s->step % o->prefill_every == 0;

    switch (o->mode) {
    case SYNTH_PREFILL:
        return &s->programs[PHASE_PREFILL];
    case SYNTH_DECODE:
        return &s->programs[PHASE_DECODE];
    case SYNTH_TRAIN:
        return &s->programs[PHASE_TRAIN];
    default:
        return &s->programs[is_prefill ? PHASE_PREFILL : PHASE_DECODE];
    }
}

/* The operators [from, to) of a step on all ranks. */
static void run_step(struct sim *s, int64_t number, const struct sim_plan *plan, size_t from,
                     size_t to, bool is_cut)
{
    const struct synth_program *p = program_of(s);

    for (int i = 0; i < s->ranks_n; i++) {
        begin_step(s, &s->ranks[i], p, number);
        if (plan->prelaunch > 0)
            stall(&s->ranks[i], STALL_UNTRACED, PLACE_PRELAUNCH, NO_LAYER, plan->prelaunch);
    }
    int layer = NO_LAYER;
    for (size_t i = from; i < to; i++) {
        const struct synth_op *op = &p->ops[i];
        if (op->layer != layer && op->layer >= 0 && !op->is_backward && plan->stall_at[op->layer]) {
            enum stall_kind kind = (enum stall_kind)(s->stalls++ % STALL_KINDS);
            nanos dur = s->options->bubble * rng_between(&s->rng, 700, 1300) / 1000;
            stall(&s->ranks[plan->victim], kind, PLACE_INTERNAL, op->layer, dur);
        }
        layer = op->layer;
        run_op(s, p, i, plan);
    }
    for (int i = 0; i < s->ranks_n; i++) {
        end_step(&s->ranks[i], is_cut, plan->tail);
        sim_order_tasks(&s->ranks[i]);
    }
}

void sim_warm_up(struct sim *s)
{
    struct sim_plan none = {.stall_at = ARENA_ARRAY(&s->names, bool, (size_t)s->model.layers + 1),
                            .aicpu_at = ARENA_ARRAY(&s->names, int, (size_t)s->model.layers + 1)};
    size_t n = program_of(s)->n;

    run_step(s, -1, &none, n - (n < 12 ? n : 12), n, false);
}

void sim_step(struct sim *s, bool is_cut)
{
    size_t n = program_of(s)->n;

    arena_free(&s->names);
    arena_init(&s->names);
    struct sim_plan plan = make_plan(s);
    run_step(s, s->step, &plan, 0, is_cut ? n * 3 / 5 : n, is_cut);
    s->step++;
}

void sim_init(struct sim *s, const struct synth_options *o, struct arena *arena)
{
    struct load load = {o->tokens, o->batch, o->context, 8, 16};
    size_t most = 0;

    *s = (struct sim){.options = o,
                      .arena = arena,
                      .gpu = "NVIDIA H100 80GB HBM3",
                      .gpu_memory = INT64_C(84942979072),
                      .npu = "Ascend910B",
                      .model = models[o->model]};
    arena_init(&s->names);
    s->rng = rng_seed(o->seed, 0);
    if (o->layers >= 0)
        s->model.layers = (int)o->layers;
    if (o->dense_layers >= 0)
        s->model.dense_layers = (int)o->dense_layers;
    if (s->model.dense_layers > s->model.layers)
        s->model.dense_layers = s->model.layers;
    for (int p = 0; p < PHASE_COUNT; p++) {
        s->programs[p] = model_program(arena, &s->model, &load, (enum phase)p);
        most = s->programs[p].n > most ? s->programs[p].n : most;
    }
    s->ranks_n = (int)o->ranks;
    s->world = o->ranks > 8 ? o->ranks : 8;
    s->group = arena_printf(arena, "174%014llu%03llu",
                            (unsigned long long)(rng_next(&s->rng) % 100000000000000u),
                            (unsigned long long)(o->seed % 1000));
    s->ranks = ARENA_ARRAY(arena, struct rank, (size_t)o->ranks);
    for (int i = 0; i < s->ranks_n; i++) {
        struct rank *r = &s->ranks[i];
        *r = (struct rank){.id = i,
                           .rng = rng_seed(o->seed, 1 + (uint64_t)i),
                           .skew = o->skew * i,
                           .slow = i == o->straggler ? o->slow : 1000,
                           .pid = 51200 + 977 * i,
                           .threads = o->mode == SYNTH_TRAIN ? THREAD_HELPER : THREAD_BACKWARD,
                           .streams = STREAM_USUAL,
                           .connection = 900,
                           .correlation = 7000,
                           .task_id = 10};
        r->host = r->queue = SYNTH_EPOCH + r->skew;
        for (int k = 0; k < STREAM_COUNT; k++)
            r->end[k] = r->host;
        r->begun = ARENA_ARRAY(arena, nanos, most);
    }
}

void sim_fini(struct sim *s)
{
    for (int i = 0; i < s->ranks_n; i++) {
        struct synth_step *step = &s->ranks[i].step;
        vec_free(&step->host);
        vec_free(&step->tasks);
        vec_free(&step->grads);
        vec_free(&step->stalls);
    }
    arena_free(&s->names);
}
