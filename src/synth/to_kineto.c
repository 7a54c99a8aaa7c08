#include "synth/to_kineto.h"

/* One hour before the run: times stay positive and small. */
#define BASE (SYNTH_EPOCH - INT64_C(3600000000000))

static void begin_event(struct to_kineto *k)
{
    if (k->events > 0)
        PUT(&k->put, ",\n");
}

static void end_event(struct to_kineto *k)
{
    k->events++;
    if (put_is_whole(&k->put))
        k->complete = k->events;
}

#define EVENT(k, format, ...)                                                                      \
    do {                                                                                           \
        begin_event(k);                                                                            \
        PUTF(&(k)->put, format, __VA_ARGS__);                                                      \
        end_event(k);                                                                              \
    } while (0)

/* The start of a complete event, up to its arguments. */
static void head(struct to_kineto *k, const char *cat, struct put_arg name, struct put_arg suffix,
                 int64_t pid, int64_t tid, nanos begin, nanos dur)
{
    begin_event(k);
    PUTF(&k->put,
         "  {\n    \"ph\": \"X\", \"cat\": \"%\", \"name\": \"%%\", \"pid\": %, \"tid\": %,\n    "
         "\"ts\": %, \"dur\": %,\n    \"args\": {\n      ",
         Z(cat), name, suffix, N(pid), N(tid), U(begin - BASE), U(dur));
}

static void tail(struct to_kineto *k)
{
    PUT(&k->put, "\n    }\n  }");
    end_event(k);
}

static int64_t stream_of(enum stream stream)
{
    static const int numbers[STREAM_COUNT] = {7, 20, 13};

    return numbers[stream];
}

enum status to_kineto_open(struct to_kineto *k, const char *path, const char *name,
                           const struct sim *s, const struct rank *r, struct diag *d)
{
    *k = (struct to_kineto){.sim = s, .rank = r, .name = name};
    TRY(put_open(&k->put, path, s->options->truncate, d));
    PUTF(&k->put,
         "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": %, \"name\": "
         "\"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 84942979072,\n      \"computeMajor\": 9, "
         "\"computeMinor\": 0,\n      \"maxThreadsPerBlock\": 1024, \"warpSize\": 32, \"numSms\": "
         "132\n    }\n  ],\n",
         N(r->id % 8));
    PUTF(&k->put,
         "  \"cuda_runtime_version\": 12040,\n  \"distributedInfo\": {\"backend\": \"nccl\", "
         "\"rank\": %, \"world_size\": %, \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", "
         "\"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", \"pg_size\": %, "
         "\"ranks\": [",
         N(r->id), N(s->world), N(s->world));
    for (int64_t i = 0; i < s->world; i++)
        PUTF(&k->put, "%%", Z(i > 0 ? ", " : ""), N(i));
    PUTF(&k->put,
         "]}], \"nccl_version\": \"2.21.5\"},\n  \"record_shapes\": 1,\n  \"with_stack\": %,\n  "
         "\"traceEvents\": [\n",
         N(s->options->stacks));
    return ST_OK;
}

/* "8192,4096;4096" as [[8192, 4096], [4096]]. */
static void put_dims(struct put *p, const char *shapes)
{
    PUT(p, "[[");
    put_list(p, shapes, "], [");
    PUT(p, "]]");
}

static void op_event(struct to_kineto *k, const struct host_event *e)
{
    struct put *p = &k->put;
    int64_t external = e->launch > 0 ? e->launch : 1000000000 + ++k->external;

    head(k, "cpu_op", Z(e->name), Z(""), k->rank->pid, rank_tid(k->rank, e->thread), e->begin,
         e->dur);
    PUTF(p, "\"External id\": %,\"Record function id\": 0, ", N(external));
    if (e->parent >= 0)
        PUTF(p, "\"Sequence number\": %, \"Fwd thread id\": %, ", N(e->parent),
             N(e->op != NULL && e->op->is_backward ? 1 : 0));
    if (e->op != NULL && e->op->in[0] != '\0') {
        PUT(p, "\"Input Dims\": ");
        put_dims(p, e->op->in);
        PUT(p, ", \"Input type\": [\"");
        put_types(p, e->op->kind->in_types, "\", \"");
        PUT(p, "\"], ");
    }
    PUTF(p, "\"Ev Idx\": %", N(k->index++));
    tail(k);
}

static void flow(struct to_kineto *k, const char *ph, int64_t id, int64_t pid, int64_t tid,
                 nanos at, const char *cat)
{
    EVENT(k,
          "  {\n    \"ph\": \"%\", \"id\": %, \"pid\": %, \"tid\": %, \"ts\": %,\n    \"cat\": "
          "\"%\", \"name\": \"%\"%\n  }",
          Z(ph), N(id), N(pid), N(tid), U(at - BASE), Z(cat), Z(cat),
          Z(ph[0] == 'f' ? ", \"bp\": \"e\"" : ""));
}

static void runtime_event(struct to_kineto *k, const char *name, int cbid, enum thread thread,
                          nanos begin, nanos dur, int64_t correlation, bool has_device)
{
    int64_t tid = rank_tid(k->rank, thread);

    head(k, "cuda_runtime", Z(name), Z(""), k->rank->pid, tid, begin, dur);
    PUTF(&k->put, "\"External id\": %, \"cbid\": %, \"correlation\": %", N(correlation), N(cbid),
         N(correlation));
    tail(k);
    if (has_device)
        flow(k, "s", correlation, k->rank->pid, tid, begin, "ac2g");
}

static void sync_event(struct to_kineto *k, const char *kind, int64_t stream, nanos begin,
                       nanos dur, int64_t correlation)
{
    head(k, "cuda_sync", Z(kind), Z(""), k->rank->id % 8, stream, begin, dur);
    PUTF(&k->put,
         "\"cuda_sync_kind\": \"%\", \"stream\": %, \"correlation\": %, \"device\": %, "
         "\"context\": 1",
         Z(kind), N(stream), N(correlation), N(k->rank->id % 8));
    tail(k);
}

static void host_event(struct to_kineto *k, const struct host_event *e)
{
    int64_t tid = rank_tid(k->rank, e->thread);
    struct str name = str_of(e->name);

    switch (e->kind) {
    case HOST_OP:
        op_event(k, e);
        break;
    case HOST_STEP:
        head(k, "user_annotation", Z("ProfilerStep#"), N(e->id), k->rank->pid, tid, e->begin,
             e->dur);
        PUTF(&k->put, "\"External id\": %,\"Record function id\": 0, \"Ev Idx\": %",
             N(1000000000 + ++k->external), N(k->index++));
        tail(k);
        break;
    case HOST_PYTHON:
    case HOST_GC:
        head(k, "python_function",
             e->kind == HOST_GC ? Z("<built-in function collect>") : Z(e->name), Z(""),
             k->rank->pid, tid, e->begin, e->dur);
        PUTF(&k->put, "\"Python parent id\": %, \"Python id\": %, \"Ev Idx\": %", N(e->parent),
             N(e->id), N(k->index++));
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
    default:
        break; /* the queue and the levels of CANN have no like on a GPU */
    }
}

static void nccl_args(struct to_kineto *k, const struct task *t)
{
    static const char *const kinds[] = {"allreduce", "reduce_scatter_tensor_coalesced",
                                        "_allgather_base", "all_to_allv"};

    PUTF(&k->put,
         ",\n      \"Collective name\": \"%\", \"In msg nelems\": %, \"Out msg nelems\": %, "
         "\"Group size\": %, \"dtype\": \"BFloat16\", \"In split size\": \"[]\", \"Out split "
         "size\": \"[]\", \"Process Group Name\": \"0\", \"Process Group Description\": "
         "\"default_pg\", \"Process Group Ranks\": \"[",
         Z(kinds[t->op->code - OP_ALLREDUCE]), N(t->bytes / 2), N(t->bytes / 2), N(k->sim->world));
    for (int64_t i = 0; i < k->sim->world; i++)
        PUTF(&k->put, "%%", Z(i > 0 ? ", " : ""), N(i));
    PUT(&k->put, "]\"");
}

static void kernel_event(struct to_kineto *k, const struct task *t)
{
    struct put *p = &k->put;
    int64_t device = k->rank->id % 8, stream = stream_of(t->stream);
    int64_t grid = t->kind == TASK_COMM ? 24 : (t->op->dur / 1000 + 1) * 4;

    runtime_event(k, "cudaLaunchKernel", 211, t->launch_thread, t->launched + 2000, 3000,
                  t->connection, true);
    head(k, "kernel", Z(t->op->kind->cuda), Z(""), device, stream, t->begin, t->dur);
    PUTF(p,
         "\"External id\": %, \"queued\": 0, \"device\": %, \"context\": 1,\n      \"stream\": %, "
         "\"correlation\": %,\n      \"registers per thread\": %, \"shared memory\": %,\n      "
         "\"blocks per SM\": %, \"warps per SM\": %,\n      \"grid\": [%, 1, 1],\n      \"block\": "
         "[128, 1, 1],\n      ",
         N(t->connection), N(device), N(stream), N(t->connection), N(32 + (int)t->op->code * 4),
         N(t->op->kind->mac > 0 ? 213248 : 0), M(grid * 1000 / 132), M(grid * 4000 / 132), N(grid));
    PUT(p, "\"est. achieved occupancy %\": ");
    PUTF(p, "%", N(grid * 4 / 132 < 64 ? grid * 400 / 132 / 64 : 100));
    if (t->kind == TASK_COMM)
        nccl_args(k, t);
    tail(k);
    flow(k, "f", t->connection, device, stream, t->begin, "ac2g");
}

static void device_task(struct to_kineto *k, const struct task *t)
{
    int64_t device = k->rank->id % 8, stream = stream_of(t->stream);
    bool is_in = t->way == COPY_HOST_TO_DEVICE;

    if (t->begin + t->dur > k->last)
        k->last = t->begin + t->dur;
    if (t->kind == TASK_KERNEL || t->kind == TASK_COMM) {
        kernel_event(k, t);
    } else if (t->kind == TASK_WAIT) {
        sync_event(k, "Stream Wait Event", stream, t->begin, t->dur, t->connection);
    } else {
        head(k, "gpu_memcpy",
             Z(is_in ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy DtoH (Device -> Pinned)"), Z(""),
             device, stream, t->begin, t->dur);
        PUTF(&k->put,
             "\"External id\": %, \"device\": %, \"context\": 1,\n      \"stream\": %, "
             "\"correlation\": %,\n      \"bytes\": %, \"memory bandwidth (GB/s)\": %",
             N(t->connection), N(device), N(stream), N(t->connection), N(t->bytes),
             M(t->bytes * 1000 / t->dur));
        tail(k);
        flow(k, "f", t->connection, device, stream, t->begin, "ac2g");
    }
}

void to_kineto_step(struct to_kineto *k, const struct step_sets *sets)
{
    const struct step *step = &k->rank->step;

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
        head(k, "gpu_user_annotation", Z("ProfilerStep#"), N(step->number), k->rank->id % 8,
             stream_of(STREAM_COMPUTE), sets->first, sets->last - sets->first);
        PUTF(&k->put, "\"External id\": %", N(1000000000 + k->external));
        tail(k);
    }
}

static void meta(struct to_kineto *k, const char *what, const char *key, struct put_arg pid,
                 int64_t tid, struct put_arg value, const char *quote)
{
    EVENT(k,
          "  {\n    \"name\": \"%\", \"ph\": \"M\", \"ts\": %, \"pid\": %, \"tid\": %,\n    "
          "\"args\": {\n      \"%\": %%%\n    }\n  }",
          Z(what), U(SYNTH_EPOCH - BASE), pid, N(tid), Z(key), Z(quote), value, Z(quote));
}

void to_kineto_end(struct to_kineto *k)
{
    int64_t pid = k->rank->pid, device = k->rank->id % 8;
    nanos end = k->last > k->rank->host ? k->last : k->rank->host;

    meta(k, "process_name", "name", N(pid), 0, Z("python3"), "\"");
    meta(k, "process_labels", "labels", N(pid), 0, Z("CPU"), "\"");
    meta(k, "process_sort_index", "sort_index", N(pid), 0, N(pid), "");
    meta(k, "process_name", "name", N(device), 0, Z("python3"), "\"");
    meta(k, "process_labels", "labels", N(device), 0, Z(device == 0 ? "GPU 0" : "GPU"), "\"");
    for (int i = 0; i < STREAM_COUNT; i++) {
        static const char *const names[] = {"stream 7 ", "stream 20 ", "stream 13 "};
        meta(k, "thread_name", "name", N(device), stream_of((enum stream)i), Z(names[i]), "\"");
    }
    for (int i = 0; i < THREAD_COUNT; i++)
        if (i != THREAD_QUEUE)
            meta(k, "thread_name", "name", N(pid), rank_tid(k->rank, (enum thread)i),
                 Z(i == THREAD_MAIN ? "thread (python3)" : "thread (pt_autograd_0)"), "\"");
    head(k, "Trace", Z("PyTorch Profiler (0)"), Z(""), pid, pid, SYNTH_EPOCH + k->rank->skew,
         end - SYNTH_EPOCH - k->rank->skew);
    PUT(&k->put, "\"Op count\": 0");
    tail(k);
    EVENT(k,
          "  {\n    \"name\": \"Record Window End\",\n    \"ph\": \"i\", \"s\": \"g\",\n    "
          "\"pid\": \"\", \"tid\": \"\", \"ts\": %\n  }",
          U(end - BASE));
    PUTF(&k->put,
         "\n  ],\n  \"traceName\": \"%\",\n  \"displayTimeUnit\": \"ms\",\n  "
         "\"baseTimeNanoseconds\": %\n}\n",
         Z(k->name), N(BASE));
}
