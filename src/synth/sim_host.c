/*
 * sim_host: what the hosts do: framework operators, Python frames, queue and CANN calls.
 */
#include "synth/sim.h"

enum {
    LAUNCH_BASE = 7 * US, /* a framework operator on the host, and its spread */
    LAUNCH_SPREAD = 6 * US,
    QUEUE_BASE = 5 * US, /* handing it to the device */
    QUEUE_SPREAD = 3 * US,
};

int64_t rank_tid(const struct rank *r, enum synth_thread thread)
{
    static const int offset[THREAD_COUNT] = {0, 1571, 2203, 2917};

    return r->pid + offset[thread];
}

struct host_event *sim_host(struct rank *r, enum host_kind kind, enum synth_thread thread,
                            const char *name, nanos begin, nanos dur)
{
    vec_push(&r->step.host,
             ((struct host_event){
                 .kind = kind, .thread = thread, .name = name, .begin = begin, .dur = dur}));
    return &r->step.host.at[r->step.host.n - 1];
}

void sim_cann(struct rank *r, enum host_kind kind, enum synth_thread thread, const char *name,
              nanos begin, nanos dur, int64_t connection, const char *item)
{
    struct host_event *e = sim_host(r, kind, thread, name, begin, dur);

    e->id = connection;
    e->item = item;
}

void sim_frame_push(struct sim *s, struct rank *r, const char *name)
{
    if (!s->options->stacks || r->open_n == FRAMES)
        return;
    int64_t parent = r->open_n > 0 ? r->step.host.at[r->open[r->open_n - 1]].id : 0;
    struct host_event *e = sim_host(r, HOST_PYTHON, THREAD_MAIN, name, r->host, 0);

    e->id = ++r->frame;
    e->parent = parent;
    r->open[r->open_n++] = r->step.host.n - 1;
    r->host += 400;
}

void sim_frame_pop(struct rank *r, int down_to)
{
    while (r->open_n > down_to) {
        struct host_event *e = &r->step.host.at[r->open[--r->open_n]];

        r->host += 300;
        e->dur = r->host - e->begin;
    }
}

/* Python frames follow the layer and module of what is launched: a layer's frame inside the
 * step's, a module's inside the layer's. */
static void frames_for(struct sim *s, struct rank *r, const struct synth_op *op)
{
    enum { STEP_FRAMES = 1 };

    if (op->layer != r->layer) {
        sim_frame_pop(r, STEP_FRAMES);
        if (op->layer != NO_LAYER && !op->is_backward)
            sim_frame_push(s, r, arena_printf(&s->names, "nn.Module: DecoderLayer_%d", op->layer));
        r->module = NULL;
    }
    if (r->module == NULL || strcmp(r->module, op->module) != 0) {
        sim_frame_pop(r, op->layer != NO_LAYER && !op->is_backward ? STEP_FRAMES + 1 : STEP_FRAMES);
        if (!op->is_backward)
            sim_frame_push(s, r,
                           arena_printf(&s->names, "model/%s.py(%d): forward", op->module,
                                        40 + (int)op->code));
    }
    r->layer = op->layer;
    r->module = op->module;
}

nanos sim_launch(struct sim *s, struct rank *r, const struct synth_op *op, struct synth_task *t)
{
    enum synth_thread thread = op->is_backward ? THREAD_BACKWARD : THREAD_MAIN;
    bool is_comm = op_is_comm(op->code);

    frames_for(s, r, op);
    nanos begin = r->host, dur = LAUNCH_BASE + rng_below(&r->rng, LAUNCH_SPREAD);
    nanos enqueue = begin + dur - 2 * US;
    int64_t correlation = ++r->correlation, connection = r->connection += 3;
    struct host_event *e = sim_host(r, HOST_OP, thread, op->kind->host, begin, dur);
    e->op = op;
    /* A gradient carries the number of the operator it belongs to; without training none counts. */
    e->parent = r->step.program->phase != PHASE_TRAIN ? -1
                : op->is_backward                     ? op->forward
                                                      : r->sequence;
    e->launch = connection;
    sim_host(r, HOST_ENQUEUE, thread, "Enqueue", enqueue, 1200)->id = correlation;
    nanos q = r->queue > enqueue + 1300 ? r->queue : enqueue + 1300;
    nanos work = QUEUE_BASE + rng_below(&r->rng, QUEUE_SPREAD);
    const char *dequeue = arena_printf(&s->names, "Dequeue@%s", op->kind->api);
    sim_host(r, HOST_DEQUEUE, THREAD_QUEUE, dequeue, q, work)->id = correlation;
    sim_cann(r, HOST_ACL, THREAD_QUEUE, op->kind->api, q + 200, work - 500, connection - 1, NULL);
    sim_cann(r, is_comm ? HOST_HCCL : HOST_NODE, THREAD_QUEUE, is_comm ? op->kind->api : "launch",
             q + 900, work - 1800, connection, op->kind->name);
    if (s->options->level >= 2)
        sim_cann(r, HOST_RUNTIME, THREAD_QUEUE, "KernelLaunchWithHandleV2", q + 1200, work - 2600,
                 connection + 1, NULL);
    r->host = begin + dur + 1500;
    r->queue = q + work + 150;
    t->op = op;
    t->name = op->kind->name;
    t->connection = connection;
    t->launched = begin;
    t->launch_dur = dur;
    t->launch_thread = thread;
    t->api = q + 900;
    t->api_thread = THREAD_QUEUE;
    return q + work - 700;
}
