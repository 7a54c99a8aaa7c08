/*
 * to_kineto: the same work as PyTorch's profiler would have recorded it on a GPU.
 */
#include "synth/to.h"
#include "base/files/embedded.h"

/* One hour before the run: times stay positive and small. */
#define BASE (SYNTH_EPOCH - INT64_C(3600000000000))

struct kineto {
    struct events events;
    const struct sim *sim;
    const struct rank *rank;
    const char *name; /* traceName */
    int64_t index, external;
    nanos last;
};

/* The start of a complete event, up to its arguments. */
static void head(struct kineto *k, const char *cat, const char *name, int64_t pid, int64_t tid,
                 nanos begin, nanos dur)
{
    events_begin(&k->events);
    PUTF(&k->events.put,
         "  {\n    'ph': 'X', 'cat': '%', 'name': '%', 'pid': %, 'tid': %,\n    'ts': %, 'dur': "
         "%,\n    'args': {\n      ",
         cat, name, pid, tid, put_us(begin - BASE), put_us(dur));
}

static void tail(struct kineto *k)
{
    PUT(&k->events.put, "\n    }\n  }");
    events_end(&k->events);
}

static int64_t stream_of(enum synth_stream stream)
{
    static const int numbers[STREAM_COUNT] = {7, 20, 13, 16, 24};

    return numbers[stream];
}

static enum status open_kineto(void *self, struct outlet *to)
{
    struct kineto *k = self;
    const struct sim *s = k->sim = to->sim;
    const struct rank *r = k->rank = to->rank;

    k->name =
        arena_printf(to->arena, "rank%d.pt.trace.json%s", r->id, s->options->gzip ? ".gz" : "");
    TRY(events_open(&k->events, to, "kineto", k->name, ",\n"));
    PUTF(&k->events.put, embedded_file("synth/kineto_head.json").at, r->id % 8, s->gpu,
         s->gpu_memory, r->id, s->world, s->world, to->ranks, s->options->stacks);
    return ST_OK;
}

static const char *step_name(struct kineto *k, int64_t number)
{
    return arena_printf(&k->events.to->scratch, "ProfilerStep#%lld", (long long)number);
}

static void op_event(struct kineto *k, const struct host_event *e)
{
    struct put *p = &k->events.put;
    struct arena *a = &k->events.to->scratch;
    int64_t external = e->id > 0 ? e->id : e->launch > 0 ? e->launch : 1000000000 + ++k->external;

    head(k, "cpu_op", e->name, k->rank->pid, rank_tid(k->rank, e->thread), e->begin, e->dur);
    PUTF(p, "'External id': %,'Record function id': 0, ", external);
    if (e->parent >= 0)
        PUTF(p, "'Sequence number': %, 'Fwd thread id': %, ", e->parent,
             e->op != NULL && e->op->is_backward ? 1 : 0);
    if (e->op != NULL && e->op->in[0] != '\0')
        PUTF(p, "'Input Dims': [[%]], 'Input type': ['%'], ", to_shapes(a, e->op, "], ["),
             to_types(a, e->op, "\", \""));
    PUTF(p, "'Ev Idx': %", k->index++);
    tail(k);
}

static void flow(struct kineto *k, const char *ph, int64_t id, int64_t pid, int64_t tid, nanos at,
                 const char *cat)
{
    EVENT(&k->events,
          "  {\n    'ph': '%', 'id': %, 'pid': %, 'tid': %, 'ts': %,\n    'cat': '%', 'name': "
          "'%'%\n  }",
          ph, id, pid, tid, put_us(at - BASE), cat, cat, ph[0] == 'f' ? ", \"bp\": \"e\"" : "");
}

static void call_event(struct kineto *k, int cbid, const struct host_event *call)
{
    int64_t tid = rank_tid(k->rank, call->thread);
    bool is_driver = strncmp(call->name, "cuda", 4) != 0;

    head(k, is_driver ? "cuda_driver" : "cuda_runtime", call->name, k->rank->pid, tid, call->begin,
         call->dur);
    PUTF(&k->events.put, "'External id': %, 'cbid': %, 'correlation': %", call->parent, cbid,
         call->id);
    tail(k);
    if (call->launch > 0)
        flow(k, "s", call->id, k->rank->pid, tid, call->begin, "ac2g");
}

static void runtime_event(struct kineto *k, const char *name, int cbid, enum synth_thread thread,
                          nanos begin, nanos dur, int64_t correlation, bool has_device)
{
    call_event(k, cbid,
               &(struct host_event){.name = name,
                                    .thread = thread,
                                    .begin = begin,
                                    .dur = dur,
                                    .id = correlation,
                                    .parent = correlation,
                                    .launch = has_device});
}

/* The number CUPTI gives a call. */
static int cbid_of(const char *name)
{
    static const struct {
        const char *name;
        int cbid;
    } calls[] = {
        {"cudaLaunchKernel", 211},
        {"cuLaunchKernelEx", 652},
        {"cudaMemcpyAsync", 41},
        {"cudaMemsetAsync", 51},
        {"cudaStreamSynchronize", 131},
        {"cudaDeviceSynchronize", 165},
        {"cudaMalloc", 20},
        {"cudaFree", 22},
        {"cudaEventRecord", 135},
        {"cudaEventQuery", 136},
        {"cudaStreamWaitEvent", 147},
        {"cudaGraphLaunch", 311},
        {"cudaHostAlloc", 27},
        {"cudaStreamIsCapturing", 317},
    };

    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].cbid;
    return 0;
}

static void sync_event(struct kineto *k, const char *kind, int64_t stream, nanos begin, nanos dur,
                       int64_t correlation)
{
    head(k, "cuda_sync", kind, k->rank->id % 8, stream, begin, dur);
    PUTF(&k->events.put,
         "'cuda_sync_kind': '%', 'stream': %, 'correlation': %, 'device': %, 'context': 1", kind,
         stream, correlation, k->rank->id % 8);
    tail(k);
}

static void host_event(struct kineto *k, const struct host_event *e)
{
    int64_t tid = rank_tid(k->rank, e->thread);
    struct str name = str_of(e->name);

    switch (e->kind) {
    case HOST_OP:
        op_event(k, e);
        break;
    case HOST_STEP:
    case HOST_RANGE:
        head(k, "user_annotation", e->kind == HOST_STEP ? step_name(k, e->id) : e->name,
             k->rank->pid, tid, e->begin, e->dur);
        PUTF(&k->events.put, "'External id': %,'Record function id': 0, 'Ev Idx': %",
             1000000000 + ++k->external, k->index++);
        tail(k);
        break;
    case HOST_PYTHON:
    case HOST_GC:
        head(k, "python_function", e->kind == HOST_GC ? "<built-in function collect>" : e->name,
             k->rank->pid, tid, e->begin, e->dur);
        PUTF(&k->events.put, "'Python parent id': %, 'Python id': %, 'Ev Idx': %", e->parent, e->id,
             k->index++);
        tail(k);
        break;
    case HOST_ACL:
        if (str_equal(name, S("aclrtMemcpyAsync"))) {
            runtime_event(k, "cudaMemcpyAsync", 41, e->thread, e->begin, e->dur, e->id, true);
        } else if (str_equal(name, S("aclrtSynchronizeStream"))) {
            runtime_event(k, "cudaStreamSynchronize", 131, e->thread, e->begin, e->dur, e->id,
                          false);
            sync_event(k, "Stream Sync", 7, e->begin, e->dur, e->id);
        } else if (str_equal(name, S("aclrtStreamWaitEvent"))) {
            runtime_event(k, "cudaStreamWaitEvent", 147, e->thread, e->begin, e->dur, e->id, false);
        }
        break;
    case HOST_CUDA:
        call_event(k, cbid_of(e->name), e);
        break;
    default:
        break; /* the queue and the levels of CANN have no like on a GPU */
    }
}

static int64_t external_of(const struct synth_task *t)
{
    return t->has_call ? t->external : t->connection;
}

static void nccl_args(struct kineto *k, const struct synth_task *t)
{
    static const char *const kinds[] = {"allreduce", "reduce_scatter_tensor_coalesced",
                                        "_allgather_base", "all_to_allv"};

    PUTF(&k->events.put,
         ",\n      'Collective name': '%', 'In msg nelems': %, 'Out msg nelems': %, 'Group size': "
         "%, 'dtype': 'BFloat16', 'In split size': '[]', 'Out split size': '[]', 'Process Group "
         "Name': '0', 'Process Group Description': 'default_pg', 'Process Group Ranks': '[%]'",
         kinds[t->op->code - OP_ALLREDUCE], t->bytes / 2, t->bytes / 2, k->sim->world,
         k->events.to->ranks);
}

static void kernel_event(struct kineto *k, const struct synth_task *t)
{
    struct put *p = &k->events.put;
    int64_t device = k->rank->id % 8, stream = stream_of(t->stream);
    int64_t grid = t->kind == TASK_COMM ? 24 : (t->op->dur / 1000 + 1) * 4;

    if (!t->has_call)
        runtime_event(k, "cudaLaunchKernel", 211, t->launch_thread, t->launched + 2000, 3000,
                      t->connection, true);
    head(k, "kernel", t->op->kind->cuda, device, stream, t->begin, t->dur);
    PUTF(p,
         "'External id': %, 'queued': 0, 'device': %, 'context': 1,\n      'stream': %, "
         "'correlation': %,\n      'registers per thread': %, 'shared memory': %,\n      'blocks "
         "per SM': %, 'warps per SM': %,\n      'grid': [%, 1, 1],\n      'block': [128, 1, 1],\n  "
         "    ",
         external_of(t), device, stream, t->connection, 32 + (int)t->op->code * 4,
         t->op->kind->mac > 0 ? 213248 : 0, put_short(grid * 1000 / 132),
         put_short(grid * 4000 / 132), grid);
    PUTF(p, "'est. achieved occupancy %': %", "%",
         grid * 4 / 132 < 64 ? grid * 400 / 132 / 64 : 100);
    if (t->kind == TASK_COMM)
        nccl_args(k, t);
    tail(k);
    flow(k, "f", t->connection, device, stream, t->begin, "ac2g");
}

static const char *copy_name(const struct synth_task *t)
{
    static const char *const names[][2] = {
        [COPY_HOST_TO_DEVICE] = {"Memcpy HtoD (Pinned -> Device)",
                                 "Memcpy HtoD (Pageable -> Device)"},
        [COPY_DEVICE_TO_HOST] = {"Memcpy DtoH (Device -> Pinned)",
                                 "Memcpy DtoH (Device -> Pageable)"},
        [COPY_ON_DEVICE] = {"Memcpy DtoD (Device -> Device)", ""},
        [COPY_SET] = {"Memset (Device)", ""},
    };

    return names[t->way][t->is_pageable];
}

static void device_task(struct kineto *k, const struct synth_task *t)
{
    int64_t device = k->rank->id % 8, stream = stream_of(t->stream);

    if (t->begin + t->dur > k->last)
        k->last = t->begin + t->dur;
    if (t->kind == TASK_KERNEL || t->kind == TASK_COMM) {
        kernel_event(k, t);
    } else if (t->kind == TASK_WAIT) {
        sync_event(k, "Stream Wait Event", stream, t->begin, t->dur, t->connection);
    } else {
        head(k, t->way == COPY_SET ? "gpu_memset" : "gpu_memcpy", copy_name(t), device, stream,
             t->begin, t->dur);
        PUTF(&k->events.put,
             "'External id': %, 'device': %, 'context': 1,\n      'stream': %, 'correlation': %,\n "
             "     'bytes': %, 'memory bandwidth (GB/s)': %",
             external_of(t), device, stream, t->connection, t->bytes,
             put_short(t->bytes * 1000 / t->dur));
        tail(k);
        flow(k, "f", t->connection, device, stream, t->begin, "ac2g");
    }
}

static void kineto_write_step(void *self)
{
    struct kineto *k = self;
    const struct synth_step *step = &k->rank->step;
    const struct step_sets *sets = &k->events.to->truth->sets;

    for (size_t i = 0; i < step->host.n; i++)
        host_event(k, &step->host.at[i]);
    for (size_t i = 0; i < step->tasks.n; i++)
        device_task(k, &step->tasks.at[i]);
    for (size_t i = 0; i < step->grads.n; i++) {
        const struct grad_link *g = &step->grads.at[i];
        flow(k, "s", g->id, k->rank->pid, rank_tid(k->rank, THREAD_MAIN), g->from, "fwdbwd");
        flow(k, "f", g->id, k->rank->pid, rank_tid(k->rank, THREAD_BACKWARD), g->to, "fwdbwd");
    }
    if (step->is_marked) {
        head(k, "gpu_user_annotation", step_name(k, step->number), k->rank->id % 8,
             stream_of(STREAM_COMPUTE), sets->first, sets->last - sets->first);
        PUTF(&k->events.put, "'External id': %", 1000000000 + k->external);
        tail(k);
    }
}

/* `value` as it stands in the file. */
static void meta(struct kineto *k, const char *what, const char *key, int64_t pid, int64_t tid,
                 const char *value)
{
    EVENT(&k->events,
          "  {\n    'name': '%', 'ph': 'M', 'ts': %, 'pid': %, 'tid': %,\n    'args': {\n      "
          "'%': %\n    }\n  }",
          what, put_us(SYNTH_EPOCH - BASE), pid, tid, key, value);
}

static enum status close_kineto(void *self)
{
    struct kineto *k = self;
    int64_t pid = k->rank->pid, device = k->rank->id % 8;
    nanos end = k->last > k->rank->host ? k->last : k->rank->host;

    meta(k, "process_name", "name", pid, 0, "\"python3\"");
    meta(k, "process_labels", "labels", pid, 0, "\"CPU\"");
    meta(k, "process_sort_index", "sort_index", pid, 0,
         arena_printf(k->events.to->arena, "%lld", (long long)pid));
    meta(k, "process_name", "name", device, 0, "\"python3\"");
    meta(k, "process_labels", "labels", device, 0, device == 0 ? "\"GPU 0\"" : "\"GPU\"");
    for (int i = 0; i < k->rank->streams; i++) {
        int64_t stream = stream_of((enum synth_stream)i);
        meta(k, "thread_name", "name", device, stream,
             arena_printf(k->events.to->arena, "\"stream %lld \"", (long long)stream));
    }
    meta(k, "thread_name", "name", pid, rank_tid(k->rank, THREAD_MAIN), "\"thread (python3)\"");
    meta(k, "thread_name", "name", pid, rank_tid(k->rank, THREAD_BACKWARD),
         "\"thread (pt_autograd_0)\"");
    head(k, "Trace", "PyTorch Profiler (0)", pid, pid, SYNTH_EPOCH + k->rank->skew,
         end - SYNTH_EPOCH - k->rank->skew);
    PUT(&k->events.put, "'Op count': 0");
    tail(k);
    EVENT(&k->events,
          "  {\n    'name': 'Record Window End',\n    'ph': 'i', 's': 'g',\n    'pid': '', 'tid': "
          "'', 'ts': %\n  }",
          put_us(end - BASE));
    PUTF(&k->events.put,
         "\n  ],\n  'traceName': '%',\n  'displayTimeUnit': 'ms',\n  'baseTimeNanoseconds': %\n}\n",
         k->name, BASE);
    return events_close(&k->events);
}

const struct to_writer to_kineto = {
    .formats = SYNTH_KINETO,
    .size = sizeof(struct kineto),
    .open = open_kineto,
    .step = kineto_write_step,
    .close = close_kineto,
    .abort = events_abort,
    .bytes = events_bytes,
};
