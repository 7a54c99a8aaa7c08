/*
 * machine: launches, copies and graphs, and when the device runs them.
 */
#include "synth/machine.h"

enum { QUEUE_DEPTH = 1024, ENQUEUE = 1200, GRAPH_CALL = 10000, GRAPH_NODE = 130 };

/* A launch on its way: the call that makes it, and where it was recorded. */
struct sending {
    nanos ready; /* the device may begin */
    uint32_t call;
    int64_t connection;
    nanos api;
    enum synth_thread thread;
};

/* The device takes a task up some time after its launch's end, or a little before. */
static nanos latency(struct machine *m)
{
    if (m->kind == MACHINE_NPU)
        return machine_cost(m, m->costs.latency);
    return m->costs.latency + machine_draw(m, -1200, 1200);
}

/* A stream in order, behind the event it waits for. Gives the task's begin. */
static nanos begin_on(struct machine *m, enum synth_stream stream, nanos ready, nanos *awaited)
{
    struct machine_stream *s = &m->streams[stream];
    nanos mean = m->graph_call != 0 ? m->costs.gap / 2 : m->costs.gap;
    nanos begin = s->end + mean * machine_draw(m, 800, 1200) / 1000;

    begin = ready > begin ? ready : begin;
    *awaited = s->ready > begin ? s->awaited : 0;
    begin = s->ready > begin ? s->ready : begin;
    s->ready = s->awaited = 0;
    return begin;
}

/* A full queue lets a launch go on when the task that was launched so many before has begun. */
static nanos wait_for_room(const struct machine *m, nanos now)
{
    if (m->tasks.n < QUEUE_DEPTH)
        return now;
    nanos begun = m->tasks.at[m->tasks.n - QUEUE_DEPTH].begin;
    return begun > now ? begun : now;
}

static void device_place(struct machine *m, struct synth_task t, const struct sending *from,
                         nanos awaited)
{
    struct rank *r = m->rank;

    t.task_id = r->task_id++ % 65536;
    t.connection = from->connection;
    t.api = from->api;
    t.api_thread = from->thread;
    t.external = m->external;
    t.has_call = m->kind == MACHINE_GPU;
    vec_push(&r->step.tasks, t);
    m->streams[t.stream].end = t.begin + t.dur;
    vec_push(&m->tasks, ((struct machine_task){
                            .begin = t.begin,
                            .end = t.begin + t.dur,
                            .call = from->call,
                            .step = m->step,
                            .kind = t.kind,
                            .code = t.op != NULL ? t.op->code : OP_COUNT,
                            .way = t.way,
                            .stream = t.stream,
                            .awaited = awaited,
                            .is_pageable = t.is_pageable,
                            .is_optimizer = m->is_optimizer,
                            .is_graph = m->graph_call != 0,
                            .is_by_main = from->thread != THREAD_QUEUE,
                        }));
}

/* ---- launches ---- */

static struct sending send_gpu(struct machine *m, const char *name)
{
    struct host_event *e = machine_record_call(m, name, "");
    size_t at = m->rank->step.host.n - 1;
    struct sending s = {.connection = e->id, .api = m->host, .thread = m->thread};
    nanos end = wait_for_room(m, m->host + machine_call_cost(m, m->costs.call));

    m->rank->step.host.at[at].dur = end - m->host;
    m->rank->step.host.at[at].launch = 1;
    s.call = machine_add_call(&m->main, m->host, end, BUSY_LAUNCH);
    s.ready = end + latency(m);
    m->host = end;
    return s;
}

/* Through the queue: the operator's thread enqueues, the queue's thread calls. */
static struct sending send_npu(struct machine *m, const char *api, enum host_kind kind,
                               const char *item)
{
    struct rank *r = m->rank;
    int64_t correlation = ++r->correlation;

    sim_host(r, HOST_ENQUEUE, m->thread, "Enqueue", m->host, ENQUEUE)->id = correlation;
    m->host += ENQUEUE + 300;
    nanos work = machine_call_cost(m, m->costs.queue);
    nanos q = m->queue > m->host ? m->queue : m->host;
    nanos end = wait_for_room(m, q + work - 700);
    work = end + 700 - q;
    struct sending s = {.connection = r->connection += 3, .thread = THREAD_QUEUE};
    machine_add_call(&m->main, m->host - ENQUEUE - 300, m->host, BUSY_LAUNCH);
    const char *dequeue = arena_printf(m->names, "Dequeue@%s", api);
    bool is_node = kind == HOST_NODE || kind == HOST_HCCL;
    sim_host(r, HOST_DEQUEUE, THREAD_QUEUE, dequeue, q, work)->id = correlation;
    if (is_node)
        sim_cann(r, HOST_ACL, THREAD_QUEUE, api, q + 200, work - 500, s.connection - 1, NULL);
    s.api = q + 900;
    sim_cann(r, kind, THREAD_QUEUE, kind == HOST_NODE ? "launch" : api, s.api, end - s.api,
             s.connection, item);
    m->queued.free = q; /* before, it waited for work */
    s.call = machine_add_call(&m->queued, s.api, end, BUSY_LAUNCH);
    s.ready = end + latency(m);
    m->queue = q + work + 150;
    return s;
}

static struct sending send(struct machine *m, const struct op_kind *kind, bool is_comm)
{
    if (m->graph_call != 0) {
        const struct machine_timeline *t = &m->main;
        return (struct sending){.connection = m->graph_call,
                                .api = t->calls.at[t->calls.n - 1].begin,
                                .thread = m->thread,
                                .call = (uint32_t)t->calls.n - 1,
                                .ready = m->graph_ready};
    }
    if (m->kind == MACHINE_NPU)
        return send_npu(m, kind->api, is_comm ? HOST_HCCL : HOST_NODE, kind->name);
    return send_gpu(m,
                    strncmp(kind->cuda, "nvjet", 5) == 0 ? "cuLaunchKernelEx" : "cudaLaunchKernel");
}

/* The operator a kernel is of, and the innermost one on the host. */
static const struct synth_op *device_op_of(struct machine *m, const struct machine_kernel *k)
{
    struct synth_op *op = ARENA_NEW(m->names, struct synth_op);

    *op = (struct synth_op){.code = k->code,
                            .kind = &op_kinds[k->code],
                            .dur = k->dur,
                            .in = k->in != NULL ? k->in : "",
                            .out = k->out != NULL ? k->out : "",
                            .in_formats = "ND",
                            .out_formats = "ND",
                            .in_formats_old = "FORMAT_ND",
                            .out_formats_old = "FORMAT_ND",
                            .bytes = k->bytes,
                            .module = "block",
                            .layer = NO_LAYER,
                            .forward = NO_OP,
                            .is_backward = m->thread == THREAD_BACKWARD};
    return op;
}

static void set_operator(const struct machine *m, struct synth_task *t)
{
    for (int i = m->graph_call != 0 ? 0 : m->open_n; i-- > 0;) {
        const struct host_event *e = &m->rank->step.host.at[m->open[i]];
        if (e->kind != HOST_OP)
            continue;
        t->launched = e->begin;
        t->launch_dur = m->host - e->begin;
        t->launch_thread = e->thread;
        return;
    }
}

void machine_launch(struct machine *m, const struct machine_kernel *k)
{
    const struct op_kind *kind = &op_kinds[k->code];
    bool is_comm = op_is_comm(k->code);
    struct sending from = send(m, kind, is_comm);
    nanos awaited, dur = k->dur * m->clock / 1000 * machine_draw(m, 980, 1020) / 1000;
    struct synth_task t = {
        .kind = is_comm ? TASK_COMM : TASK_KERNEL,
        .stream = k->stream,
        .op = device_op_of(m, k),
        .name = kind->name,
        .begin = begin_on(m, k->stream, from.ready, &awaited),
        .dur = dur > 900 ? dur : 900 + machine_draw(m, 0, 200),
        .bytes = k->bytes,
    };

    if (is_comm) {
        t.transit = t.dur * 97 / 100;
        t.waited = t.dur - t.transit;
        t.name = arena_printf(m->names, "%s_174_%lld_1", kind->name,
                              (long long)m->rank->comm_n[k->code]++);
    }
    set_operator(m, &t);
    device_place(m, t, &from, awaited);
}

void machine_earlier(struct machine *m, const struct machine_kernel *k)
{
    struct sending from = {.connection = m->rank->connection += 3, .call = MACHINE_NO_CALL};
    int step = m->step;
    nanos awaited;
    struct synth_task t = {
        .kind = TASK_KERNEL,
        .op = device_op_of(m, k),
        .name = op_kinds[k->code].name,
        .begin = begin_on(m, STREAM_COMPUTE, INT64_MIN, &awaited),
        .dur = k->dur,
    };

    m->step = -1;
    device_place(m, t, &from, 0);
    m->step = step;
}

void machine_memset(struct machine *m)
{
    nanos awaited;

    if (m->kind == MACHINE_NPU || m->graph_call != 0)
        return;
    struct sending from = send_gpu(m, "cudaMemsetAsync");
    struct synth_task t = {.kind = TASK_COPY,
                           .stream = STREAM_COMPUTE,
                           .name = "Memset",
                           .begin = begin_on(m, STREAM_COMPUTE, from.ready, &awaited),
                           .dur = machine_draw(m, 700, 1300),
                           .bytes = 4,
                           .way = COPY_SET};
    set_operator(m, &t);
    device_place(m, t, &from, awaited);
}

/* ---- copies ---- */

/* A copy whose call waits for it: it moves through a buffer of the driver, so it begins while the
 * call runs and the call returns right after it. */
static void copy_blocking(struct machine *m, const struct machine_copy *c, struct synth_task *t)
{
    nanos call = m->host, head = machine_draw(m, 9000, 22000), awaited;
    struct sending from = {.api = call, .thread = m->thread};
    nanos drained = m->queue > call ? m->queue : call; /* an NPU's queue is emptied first */

    from.connection = machine_record_call(m, "cudaMemcpyAsync", "aclrtMemcpy")->id;
    size_t at = m->rank->step.host.n - 1;
    m->rank->step.host.at[at].launch = 1;
    t->begin = begin_on(m, c->stream, (m->kind == MACHINE_NPU ? drained : call) + head, &awaited);
    m->host = t->begin + t->dur + machine_call_cost(m, m->costs.sync_return / 2);
    m->rank->step.host.at[at].dur = m->host - call;
    from.call = machine_add_call(&m->main, call, m->host, BUSY_STAGING);
    m->main.calls.at[from.call].is_alike = true;
    device_place(m, *t, &from, awaited);
}

void machine_copy(struct machine *m, const struct machine_copy *c)
{
    struct synth_task t = {.kind = TASK_COPY,
                           .stream = c->stream,
                           .name = "MEMCPY_ASYNC",
                           .dur = c->dur,
                           .bytes = c->bytes,
                           .way = c->way,
                           .is_pageable = c->is_pageable};
    nanos awaited;

    set_operator(m, &t);
    if (c->blocks) {
        copy_blocking(m, c, &t);
        return;
    }
    struct sending from = m->kind == MACHINE_NPU ? send_npu(m, "aclrtMemcpyAsync", HOST_ACL, NULL)
                                                 : send_gpu(m, "cudaMemcpyAsync");
    t.begin = begin_on(m, c->stream, from.ready, &awaited);
    device_place(m, t, &from, awaited);
}

/* ---- graphs ---- */

void machine_graph_begin(struct machine *m, int64_t nodes)
{
    struct host_event *e = machine_record_call(m, "cudaGraphLaunch", "aclmdlRIExecuteAsync");
    size_t at = m->rank->step.host.n - 1;
    nanos begin = m->host, node = GRAPH_NODE + (m->is_bare ? 0 : m->costs.recorded_node);

    m->graph_call = e->id;
    m->host += machine_cost(m, GRAPH_CALL) + nodes * node;
    m->rank->step.host.at[at].dur = m->host - begin;
    m->rank->step.host.at[at].launch = 1;
    machine_add_call(&m->main, begin, m->host, BUSY_LAUNCH);
    m->graph_ready = m->host + latency(m);
}

void machine_graph_end(struct machine *m)
{
    m->graph_call = 0;
}
