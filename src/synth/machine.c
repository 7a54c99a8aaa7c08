/*
 * machine: what the host does, and what it costs.
 */
#include "synth/machine.h"

#include <assert.h>

enum { SPEED_LOW = 800, SPEED_HIGH = 1300 }; /* of a host, per mille */

/* Host times in ns as recordings of PyTorch show them, less what the profiler adds to them. */
static struct machine_costs draw_costs(enum machine_kind kind, uint64_t seed)
{
    struct rng r = rng_seed(seed, 0xc057);
    int64_t speed = rng_between(&r, SPEED_LOW, SPEED_HIGH);
    bool is_npu = kind == MACHINE_NPU;
    struct machine_costs c = {
        .op = 3600 * speed / 1000,
        .leaf = 700 * speed / 1000,
        .python = 6000 * speed / 1000,
        .call = 4200 * speed / 1000,
        .event = 900 * speed / 1000,
        .switching = 24000 * speed / 1000,
        .recorded_op = rng_between(&r, 1500, 2300),
        .recorded_call = rng_between(&r, 1200, 2400),
        .recorded_node = is_npu ? 0 : rng_between(&r, 900, 1300), /* not known of an NPU */
        .latency = is_npu ? rng_between(&r, 4000, 9000) : rng_between(&r, 600, 1600),
        .gap = is_npu ? rng_between(&r, 300, 900) : rng_between(&r, 800, 1500),
        .event_latency = is_npu ? rng_between(&r, 2000, 4000) : rng_between(&r, 1000, 2200),
        .sync_return = rng_between(&r, 4000, 8000),
        .queue = is_npu ? 5200 * speed / 1000 : 0,
    };

    return c;
}

void machine_init(struct machine *m, enum machine_kind kind, uint64_t seed, struct rank *rank,
                  struct arena *names)
{
    *m = (struct machine){.kind = kind, .seed = seed, .rank = rank, .names = names, .clock = 1000};
    m->device = device_find(&device_builtin, kind == MACHINE_GPU ? S("H200") : S("910B3"));
    m->costs = draw_costs(kind, seed);
    m->host = m->queue = m->quiet = m->main.free = m->queued.free = rank->host;
    m->step = -1;
    for (int i = 0; i < STREAM_COUNT; i++)
        m->streams[i].end = m->host - 1000000;
}

void machine_fini(struct machine *m)
{
    hash_free(&m->counts);
    vec_free(&m->main.calls);
    vec_free(&m->queued.calls);
    vec_free(&m->tasks);
}

/* ---- numbers ---- */

void machine_site(struct machine *m, const char *name)
{
    uint64_t key = hash_stable_bytes(str_of(name));
    uint32_t count = hash_add(&m->counts, key, 0);

    hash_put(&m->counts, key, count + 1);
    m->rng = rng_seed(m->seed ^ key, (uint64_t)(m->step + 1) << 24 | count);
}

int64_t machine_draw(struct machine *m, int64_t low, int64_t high)
{
    return rng_between(&m->rng, low, high);
}

/* A host time: mostly near its mean, now and then a multiple of it. */
nanos machine_cost(struct machine *m, nanos mean)
{
    int64_t share = machine_draw(m, 820, 1180);

    if (machine_draw(m, 0, 99) == 0)
        share *= machine_draw(m, 2, 4);
    return mean * share / 1000;
}

nanos machine_flops(const struct machine *m, enum peak peak, int64_t flops, int64_t share)
{
    int64_t tenths = (int64_t)(m->device->tflops[peak] * 10);

    return flops / share * 10 / (tenths > 0 ? tenths : 1);
}

nanos machine_bytes(const struct machine *m, int64_t bytes, int64_t share)
{
    return bytes * 1000 / ((int64_t)m->device->gbps * share);
}

/* ---- host ---- */

static nanos recorded(const struct machine *m, nanos cost)
{
    return m->is_bare ? 0 : cost;
}

static struct host_event *machine_add(struct machine *m, enum host_kind kind, const char *name)
{
    struct host_event *e = sim_host(m->rank, kind, m->thread, name, m->host, 0);

    e->parent = -1;
    return e;
}

/* Host time of which nothing is recorded; of a long one nobody can say what it was. */
static void end_quiet(struct machine *m)
{
    nanos quiet = m->host - m->quiet;

    if (m->busy == 0 && quiet > m->main.longest) {
        m->main.longest = quiet;
        m->main.filler = m->is_input ? BUSY_INPUT : BUSY_UNTRACED;
    }
    m->quiet = m->host;
}

static void open_busy(struct machine *m)
{
    end_quiet(m);
    m->busy++;
}

static void close_busy(struct machine *m)
{
    m->busy--;
    m->quiet = m->host;
}

static void open_event(struct machine *m)
{
    assert(m->open_n < MACHINE_DEPTH);
    m->open[m->open_n++] = m->rank->step.host.n - 1;
}

void machine_op(struct machine *m, const char *name, const char *shapes, const char *types)
{
    static const struct op_kind plain = {.host = ""};
    struct synth_op *op = ARENA_NEW(m->names, struct synth_op);

    machine_site(m, name);
    open_busy(m);
    *op = (struct synth_op){.kind = &plain,
                            .in = shapes,
                            .types = types,
                            .module = "block",
                            .layer = NO_LAYER,
                            .forward = NO_OP,
                            .is_backward = m->thread == THREAD_BACKWARD};
    struct host_event *e = machine_add(m, HOST_OP, name);
    e->op = op;
    e->id = ++m->external;
    open_event(m);
    m->host += machine_cost(m, m->costs.op) + recorded(m, m->costs.recorded_op) / 2;
}

void machine_end(struct machine *m)
{
    struct host_event *e = &m->rank->step.host.at[m->open[--m->open_n]];

    if (e->kind == HOST_OP)
        m->host += machine_cost(m, m->costs.op / 3) + recorded(m, m->costs.recorded_op) / 2;
    e->dur = m->host - e->begin;
    if (e->kind == HOST_OP || e->kind == HOST_PYTHON)
        close_busy(m);
    else
        end_quiet(m);
}

void machine_leaf(struct machine *m, const char *name)
{
    open_busy(m);
    struct host_event *e = machine_add(m, HOST_OP, name);
    e->id = ++m->external;
    m->host += machine_cost(m, m->costs.leaf) + recorded(m, m->costs.recorded_op);
    close_busy(m);
    m->rank->step.host.at[m->rank->step.host.n - 1].dur = m->host - e->begin;
    m->host += recorded(m, m->costs.recorded_op) / 4;
}

void machine_range(struct machine *m, const char *name)
{
    end_quiet(m);
    machine_add(m, HOST_RANGE, name);
    open_event(m);
    m->host += recorded(m, m->costs.recorded_op);
}

void machine_frame(struct machine *m, const char *name)
{
    open_busy(m);
    struct host_event *e = machine_add(m, HOST_PYTHON, name);
    const struct host_event *parent =
        m->open_n > 0 ? &m->rank->step.host.at[m->open[m->open_n - 1]] : NULL;

    e->id = ++m->rank->frame;
    e->parent = parent != NULL && parent->kind == HOST_PYTHON ? parent->id : 0;
    open_event(m);
    m->host += recorded(m, m->costs.recorded_op) / 4;
}

void machine_python(struct machine *m)
{
    m->host += machine_cost(m, m->costs.python);
}

void machine_switch(struct machine *m, enum synth_thread thread)
{
    machine_site(m, "switch");
    m->host += machine_cost(m, m->costs.switching);
    m->thread = thread;
}

void machine_work(struct machine *m, enum host_work work, nanos dur)
{
    if (dur > m->main.longest) {
        m->main.longest = dur;
        m->main.filler = work;
    }
    m->host += dur;
}

/* ---- calls ---- */

uint32_t machine_add_call(struct machine_timeline *t, nanos begin, nanos end, enum host_work work)
{
    vec_push(&t->calls, ((struct machine_call){
                            .begin = begin,
                            .end = end,
                            .stretch = t->free,
                            .longest = t->longest,
                            .filler = t->filler,
                            .work = work,
                        }));
    t->free = end;
    t->longest = 0;
    t->filler = BUSY_LAUNCH;
    return (uint32_t)t->calls.n - 1;
}

nanos machine_call_cost(struct machine *m, nanos mean)
{
    return machine_cost(m, mean) + recorded(m, m->costs.recorded_call);
}

struct host_event *machine_record_call(struct machine *m, const char *gpu, const char *npu)
{
    end_quiet(m);
    struct host_event *e = machine_add(m, m->kind == MACHINE_GPU ? HOST_CUDA : HOST_ACL,
                                       m->kind == MACHINE_GPU ? gpu : npu);

    e->id = m->rank->connection += 3;
    e->parent = m->external;
    return e;
}

/* End of a stream's work; STREAM_COUNT: of all. */
static nanos end_of_work(const struct machine *m, enum synth_stream stream)
{
    nanos done = INT64_MIN;

    for (int i = 0; i < STREAM_COUNT; i++)
        if ((stream == STREAM_COUNT || (int)stream == i) && m->streams[i].end > done)
            done = m->streams[i].end;
    return done;
}

/* The names of one call on both machines. */
static const char *const call_names[][2] = {
    {"cudaMalloc", "aclrtMalloc"},
    {"cudaFree", "aclrtFree"},
    {"cudaStreamSynchronize", "aclrtSynchronizeStream"},
    {"cudaDeviceSynchronize", "aclrtSynchronizeDevice"},
    {"cudaEventRecord", "aclrtRecordEvent"},
    {"cudaStreamWaitEvent", "aclrtStreamWaitEvent"},
    {"cudaEventQuery", "aclrtQueryEventStatus"},
    {"cuModuleLoadData", "aclopCompileAndExecuteV2"},
};

/* Makes a call of `dur` that returns no earlier than `until`. */
static void plain_call(struct machine *m, const char *name, enum host_work work, nanos dur,
                       nanos until)
{
    const char *npu = name;
    for (size_t i = 0; i < ARRAY_LEN(call_names); i++)
        if (strcmp(call_names[i][0], name) == 0)
            npu = call_names[i][1];
    struct host_event *e = machine_record_call(m, name, npu);
    size_t at = m->rank->step.host.n - 1;
    nanos begin = e->begin, end = begin + dur > until ? begin + dur : until;

    m->rank->step.host.at[at].dur = end - begin;
    machine_add_call(&m->main, begin, end, work);
    m->host = m->quiet = end;
}

void machine_call(struct machine *m, const char *name, enum host_work work, nanos dur, bool waits)
{
    nanos done = waits ? end_of_work(m, STREAM_COUNT) : INT64_MIN;

    done = waits && m->queue > done ? m->queue : done;
    plain_call(m, name, work, dur + recorded(m, m->costs.recorded_call),
               waits && done > m->host ? done + dur : INT64_MIN);
}

void machine_sync(struct machine *m, enum synth_stream stream)
{
    nanos dur = machine_call_cost(m, m->costs.call), back = machine_cost(m, m->costs.sync_return);
    nanos done = end_of_work(m, stream);

    done = m->kind == MACHINE_NPU && m->queue > done ? m->queue : done;
    plain_call(m, stream == STREAM_COUNT ? "cudaDeviceSynchronize" : "cudaStreamSynchronize",
               BUSY_SYNC, dur, done > m->host ? done + back : INT64_MIN);
}

void machine_wait(struct machine *m, enum synth_stream waiter, enum synth_stream other)
{
    struct machine_stream *w = &m->streams[waiter];
    const struct machine_stream *o = &m->streams[other];
    nanos ready = o->end + machine_cost(m, m->costs.event_latency);

    plain_call(m, "cudaEventRecord", BUSY_LAUNCH, machine_call_cost(m, m->costs.event), 0);
    m->host += machine_cost(m, m->costs.leaf);
    plain_call(m, "cudaStreamWaitEvent", BUSY_LAUNCH, machine_call_cost(m, m->costs.event), 0);
    if (ready > w->ready) {
        w->ready = ready;
        w->awaited = o->end;
    }
}

/* ---- steps ---- */

void machine_step_begin(struct machine *m, int number)
{
    struct synth_step *step = &m->rank->step;

    step->host.n = step->tasks.n = step->grads.n = step->stalls.n = 0;
    hash_clear(&m->counts);
    m->step = number;
    machine_site(m, "step");
    step->number = number;
    step->is_marked = true;
    step->begin = m->host;
    end_quiet(m);
    machine_add(m, HOST_STEP, "ProfilerStep")->id = number;
    open_event(m);
    m->host += machine_cost(m, 2 * m->costs.python);
}

void machine_step_end(struct machine *m)
{
    struct synth_step *step = &m->rank->step;

    machine_site(m, "step end");
    machine_end(m);
    step->mark_end = m->host;
    m->host += machine_cost(m, 2 * m->costs.python) + recorded(m, 60000);
    step->next_begin = m->rank->host = m->host;
}
