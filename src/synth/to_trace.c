/*
 * to_trace: the Ascend timeline, trace_view.json of torch_npu, or msprof_*.json without the
 * framework's half. One JSON array on one line; lane names come at the end, behind the events that
 * use them.
 */
#include "synth/to.h"

struct trace {
    struct events events;
    const struct sim *sim;
    const struct rank *rank;
    struct dialect dialect;
    bool is_msprof;
    int64_t flows;
};

enum to_lane {
    LANE_CANN,
    LANE_HARDWARE,
    LANE_FREQ,
    LANE_COMM,
    LANE_HBM,
    LANE_MEM,
    LANE_OVERLAP,
    LANE_COUNT
};

static const struct {
    const char *name, *label;
    int sort, sort_old;
} lanes[LANE_COUNT] = {
    [LANE_CANN] = {"CANN", "CPU", 7, 2},
    [LANE_HARDWARE] = {"Ascend Hardware", "NPU", 13, 8},
    [LANE_FREQ] = {"AI Core Freq", "NPU", 14, 9},
    [LANE_COMM] = {"", "NPU", 15, 10},
    [LANE_HBM] = {"HBM", "NPU", 17, 12},
    [LANE_MEM] = {"NPU MEM", "NPU", 19, 13},
    [LANE_OVERLAP] = {"Overlap Analysis", "NPU", 23, 11},
};

/* Newer exports pack host process, lane and device into bits; old ones string decimals together. */
static int64_t lane_pid(const struct trace *t, enum to_lane lane)
{
    int64_t host = t->rank->pid, device = t->rank->id % 8;

    if (!t->dialect.is_old)
        return host << 10 | (int64_t)lanes[lane].sort << 5 | (lane == LANE_CANN ? 31 : device);
    if (lane == LANE_HARDWARE)
        return 800 + device;
    return lane == LANE_CANN ? host * 100 + 2 : (host * 100 + lanes[lane].sort_old) * 100 + device;
}

/* A time with the quotes of its generation. */
static struct put_arg stamp(const struct trace *t, nanos ns)
{
    return put_stamp(ns, t->dialect.quote);
}

/* One end of an arrow of the framework: ph is s or f. */
static void arrow(struct trace *t, const char *ph, const char *name, int64_t id, int64_t pid,
                  int64_t tid, nanos at, const char *cat)
{
    EVENT(&t->events,
          "{'ph': '%', 'bp': 'e', 'name': '%', 'id': %, 'pid': %, 'tid': %, 'ts': %, 'cat': '%'}",
          ph, name, id, pid, tid, stamp(t, at), cat);
}

static enum status open_trace(struct trace *t, struct outlet *to, const char *folder,
                              const char *name)
{
    t->sim = to->sim;
    t->rank = to->rank;
    t->dialect = to->dialect;
    TRY(events_open(&t->events, to, folder, name, ", "));
    PUT(&t->events.put, "[");
    return ST_OK;
}

static enum status open_view(void *self, struct outlet *to)
{
    return open_trace(self, to, to_output_folder(to), "trace_view.json");
}

static enum status open_msprof(void *self, struct outlet *to)
{
    ((struct trace *)self)->is_msprof = true;
    return open_trace(self, to, to_msprof_folder(to), "msprof_20260101000000.json");
}

static void put_op_args(struct trace *t, const struct host_event *e)
{
    struct put *p = &t->events.put;
    struct arena *a = &t->events.to->scratch;

    PUTF(p, "{'Sequence number': %, 'Fwd thread id': %", e->parent,
         e->op != NULL && e->op->is_backward ? 1 : 0);
    if (e->op != NULL && e->op->in[0] != '\0')
        PUTF(p, ", 'Input Dims': '%', 'Input type': '%'", to_shapes(a, e->op, ";\\r\\n"),
             to_types(a, e->op, ";\\r\\n"));
    if (t->sim->options->stacks)
        PUTF(p, ", 'Call stack': '%'", to_stack(a, e->op, ";\\r\\n"));
    PUT(p, "}");
}

static void framework_event(struct trace *t, const struct host_event *e)
{
    static const char *const cats[] = {
        [HOST_OP] = "cpu_op",       [HOST_STEP] = "cpu_op",     [HOST_PYTHON] = "python_function",
        [HOST_ENQUEUE] = "enqueue", [HOST_DEQUEUE] = "dequeue", [HOST_RANGE] = "cpu_op"};
    struct put *p = &t->events.put;

    events_begin(&t->events);
    PUTF(p, "{'ph': 'X', 'name': '%", e->name);
    if (e->kind == HOST_STEP)
        PUTF(p, "#%", e->id);
    PUTF(p, "', 'pid': %, 'tid': %, 'ts': %, 'dur': %, 'cat': '%', 'args': ", t->rank->pid,
         rank_tid(t->rank, e->thread), stamp(t, e->begin), put_short(e->dur), cats[e->kind]);
    if (e->kind == HOST_OP || e->kind == HOST_STEP || e->kind == HOST_RANGE)
        put_op_args(t, e);
    else if (e->kind == HOST_PYTHON)
        PUTF(p, "{'Python id': %, 'Python parent id': %}", e->id, e->parent);
    else
        PUTF(p, "{'correlation_id': %}", e->id);
    PUT(p, "}");
    events_end(&t->events);
    if (e->kind == HOST_ENQUEUE || e->kind == HOST_DEQUEUE)
        arrow(t, e->kind == HOST_ENQUEUE ? "s" : "f", "enqueue_to_dequeue", e->id, t->rank->pid,
              rank_tid(t->rank, e->thread), e->begin, "async_task_queue");
}

static void cann_event(struct trace *t, const struct host_event *e)
{
    static const char *const levels[] = {
        [HOST_ACL] = "acl", [HOST_NODE] = "node", [HOST_HCCL] = "hccl", [HOST_RUNTIME] = "runtime"};
    bool is_acl = e->kind == HOST_ACL;
    const char *mode = is_acl ? (str_starts(str_of(e->name), S("aclrt")) ? "ACL_RTS" : "ACL_NN")
                       : e->kind == HOST_HCCL ? "master"
                                              : e->name;
    int64_t tid = rank_tid(t->rank, e->thread);

    EVENT(&t->events,
          "{'name': '%%', 'pid': %, 'tid': %, 'ts': %, 'dur': %, 'args': {'Thread Id': %, 'Mode': "
          "'%', 'level': '%', 'id': '%', 'item_id': '%', 'connection_id': %}, 'ph': 'X'}",
          to_level(e->kind, &t->dialect), e->name, lane_pid(t, LANE_CANN), tid, stamp(t, e->begin),
          put_short(e->dur), tid, mode,
          e->kind == HOST_HCCL && t->dialect.is_new ? "communication" : levels[e->kind],
          is_acl ? e->name : "0", e->item != NULL ? e->item : "0", e->id);
}

static void host_event(struct trace *t, const struct host_event *e)
{
    if (e->kind >= HOST_ACL && e->kind <= HOST_RUNTIME)
        cann_event(t, e);
    else if (t->is_msprof)
        return;
    else if (e->kind == HOST_GC)
        EVENT(&t->events, "{'ph': 'X', 'name': 'GC', 'pid': %, 'tid': %, 'ts': %, 'dur': %}",
              t->rank->pid + 1, rank_tid(t->rank, e->thread), stamp(t, e->begin),
              put_short(e->dur));
    else
        framework_event(t, e);
}

/* The arrows that end at a task: one from the CANN call, one from the framework's operator. */
static void flows_to(struct trace *t, const struct synth_task *task, int64_t pid, int64_t tid)
{
    int64_t id = t->dialect.is_old ? task->connection : task->connection << 32;
    int64_t api_tid = rank_tid(t->rank, task->api_thread);

    if (!t->dialect.is_old && !t->dialect.is_new)
        id |= 0xffffffff;
    EVENT(&t->events,
          "{'name': 'HostToDevice%', 'ph': 's', 'cat': 'HostToDevice', 'id': '%', 'pid': %, 'tid': "
          "%, 'ts': %}",
          id, id, lane_pid(t, LANE_CANN), api_tid, stamp(t, task->api));
    EVENT(&t->events,
          "{'name': 'HostToDevice%', 'ph': 'f', 'id': '%', 'ts': %, 'cat': 'HostToDevice', 'pid': "
          "%, 'tid': %, 'bp': 'e'}",
          id, id, stamp(t, task->begin), pid, tid);
    if (task->launched == 0 || t->is_msprof)
        return;
    id = t->dialect.is_new ? ++t->flows : task->begin;
    arrow(t, "s", "torch_to_npu", id, t->rank->pid, rank_tid(t->rank, task->launch_thread),
          task->launched, "async_npu");
    arrow(t, "f", "torch_to_npu", id, pid, tid, task->begin, "async_npu");
}

/* GB/s with four decimals: bytes per nanosecond. */
static struct put_arg bandwidth(int64_t bytes, nanos dur)
{
    return put_fixed(dur > 0 ? bytes * 10000 / dur : 0, 4);
}

static void comm_part(struct trace *t, const struct synth_task *task, const struct comm_part *part)
{
    struct put *p = &t->events.put;
    bool is_wait = part->bytes == 0;

    events_begin(&t->events);
    PUTF(p,
         "{'name': '%', 'pid': %, 'tid': %, 'ts': %, 'dur': %, 'args': {'notify_id': '%', "
         "'duration estimated(us)': %, ",
         part->name, lane_pid(t, LANE_COMM), part->plane + 1, stamp(t, part->begin),
         put_short(part->dur), is_wait ? task->connection : 0, put_short(is_wait ? 0 : part->dur));
    PUTF(p,
         "'stream id': %, 'task id': %, 'context id': %, 'task type': '%', 'src rank': %, 'dst "
         "rank': %, ",
         to_stream(STREAM_COMM), task->task_id, part->plane, part->name, t->rank->id, part->peer);
    PUTF(p,
         "'transport type': '%', 'size(Byte)': %, 'data type': '%', 'link type': '%', "
         "'bandwidth(GB/s)': %, 'model id': 4294967295}, 'ph': 'X'}",
         is_wait ? "LOCAL" : "SDMA", part->bytes, is_wait ? "INVALID_TYPE" : "BFP16",
         is_wait ? "INVALID_TYPE" : "HCCS", bandwidth(part->bytes, part->dur));
    events_end(&t->events);
}

static void comm_task(struct trace *t, const struct synth_task *task)
{
    struct comm_part parts[COMM_PARTS];
    int64_t pid = lane_pid(t, LANE_COMM);

    EVENT(
        &t->events,
        "{'name': '%', 'pid': %, 'tid': 0, 'ts': %, 'dur': %, 'args': {'connection_id': %, 'model "
        "id': 4294967295, 'data_type': 'BFP16', 'alg_type': 'MESH-RING', 'count': %}, 'ph': 'X'}",
        task->name, pid, stamp(t, task->begin), put_short(task->dur), task->connection,
        task->bytes / 2);
    flows_to(t, task, pid, 0);
    if (t->dialect.level == 0)
        return;
    comm_parts(task, t->rank->id, t->sim->world, parts);
    for (size_t i = 0; i < COMM_PARTS; i++)
        comm_part(t, task, &parts[i]);
}

/* The timeline calls most kernels AI_CORE whatever the table says; the oldest call all Other. */
static const char *task_type(const struct trace *t, const struct synth_task *task)
{
    if (task->kind == TASK_COPY)
        return "PCIE_DMA_SQE";
    if (task->kind == TASK_WAIT)
        return "EVENT_WAIT_SQE";
    if (t->dialect.is_old && task->op->code != OP_AICPU)
        return "Other";
    if (strcmp(task->op->kind->core, "AI_VECTOR_CORE") == 0 && !t->dialect.is_new)
        return "AI_CORE";
    return task->op->kind->core;
}

static void device_task(struct trace *t, const struct synth_task *task)
{
    static const char *const ways[] = {"host to device", "device to host", "device to device",
                                       "device to device"};
    struct put *p = &t->events.put;
    int64_t pid = lane_pid(t, LANE_HARDWARE), stream = to_stream(task->stream);

    if (task->kind == TASK_COMM) {
        comm_task(t, task);
        return;
    }
    events_begin(&t->events);
    PUTF(p,
         "{'name': '%', 'pid': %, 'tid': %, 'ts': %, 'dur': %, 'args': {'Model Id': 4294967295, "
         "'Task Type': '%', '%': %, 'Task Id': %, 'Batch Id': 0, 'Subtask Id': 4294967295, "
         "'connection_id': %",
         task->name, pid, stream, stamp(t, task->begin), put_short(task->dur), task_type(t, task),
         t->dialect.stream_key, stream, task->task_id, task->connection);
    if (task->kind == TASK_COPY)
        PUTF(p, ", 'size(B)': %, 'bandwidth(GB/s)': %, 'operation': '%'", task->bytes,
             bandwidth(task->bytes, task->dur), ways[task->way]);
    PUT(p, "}, 'ph': 'X'}");
    events_end(&t->events);
    flows_to(t, task, pid, stream);
}

/* How computing and communicating share the time. */
static const char *const overlaps[] = {"Computing", "Communication",
                                       "Communication(Not Overlapped)", "Free"};

static void overlap(struct trace *t, int tid, const struct spans *list)
{
    for (size_t i = 0; i < list->list.n; i++) {
        const struct account_span *s = &list->list.at[i];
        EVENT(&t->events, "{'name': '%', 'pid': %, 'tid': %, 'ts': %, 'dur': %, 'ph': 'X'}",
              overlaps[tid], lane_pid(t, LANE_OVERLAP), tid, stamp(t, s->begin),
              put_short(s->end - s->begin));
    }
}

static void counters(struct trace *t, const struct synth_step *step)
{
    enum { PERIOD = 10000000 };

    if (step->number <= 0)
        EVENT(&t->events,
              "{'name': 'AI Core Freq', 'ts': %, 'pid': %, 'tid': 0, 'args': {'MHz': 1800}, 'ph': "
              "'C'}",
              stamp(t, step->begin), lane_pid(t, LANE_FREQ));
    for (nanos at = step->begin; at < step->next_begin; at += PERIOD) {
        /* Values only have to move; the clock's digits do. */
        EVENT(&t->events,
              "{'name': 'HBM 0/Read', 'ts': %, 'pid': %, 'tid': 0, 'args': {'Read(MB/s)': %.%}, "
              "'ph': 'C'}",
              stamp(t, at), lane_pid(t, LANE_HBM), 600000 + at / 977 % 200000, at / 13 % 10);
        EVENT(&t->events,
              "{'name': 'APP/HBM', 'ts': %, 'pid': %, 'tid': 0, 'args': {'KB': %.0}, 'ph': 'C'}",
              stamp(t, at), lane_pid(t, LANE_MEM), 48000000 + at / 4096 % 65536 * 4);
    }
}

static void trace_write_step(void *self)
{
    struct trace *t = self;
    const struct synth_step *step = &t->rank->step;
    const struct step_sets *sets = &t->events.to->truth->sets;
    int64_t pid = t->rank->pid;

    for (size_t i = 0; i < step->host.n; i++)
        host_event(t, &step->host.at[i]);
    for (size_t i = 0; i < step->tasks.n; i++)
        device_task(t, &step->tasks.at[i]);
    if (!t->is_msprof)
        for (size_t i = 0; i < step->grads.n; i++) {
            const struct grad_link *g = &step->grads.at[i];
            arrow(t, "s", "fwdbwd", g->id, pid, rank_tid(t->rank, THREAD_MAIN), g->from, "fwdbwd");
            arrow(t, "f", "fwdbwd", g->id, pid, rank_tid(t->rank, THREAD_BACKWARD), g->to,
                  "fwdbwd");
        }
    counters(t, step);
    overlap(t, 0, &sets->computing);
    overlap(t, 1, &sets->communication);
    overlap(t, 2, &sets->exposed);
    overlap(t, 3, &sets->free);
}

static void meta(struct trace *t, const char *what, int64_t pid, int64_t tid, const char *key,
                 struct put_arg value)
{
    EVENT(&t->events, "{'name': '%', 'pid': %, 'tid': %, 'args': {'%': %}, 'ph': 'M'}", what, pid,
          tid, key, value);
}

static struct put_arg quoted(struct trace *t, const char *text, int64_t number)
{
    struct arena *arena = t->events.to->arena;

    return PUT_ARG(number >= 0 ? arena_format(arena, "\"%s %lld\"", text, (long long)number)
                               : arena_format(arena, "\"%s\"", text));
}

static void name_process(struct trace *t, int64_t pid, const char *name, const char *label,
                         int sort)
{
    meta(t, "process_name", pid, 0, "name", quoted(t, name, -1));
    meta(t, "process_labels", pid, 0, "labels", quoted(t, label, -1));
    meta(t, "process_sort_index", pid, 0, "sort_index", PUT_ARG(sort));
}

static void name_thread(struct trace *t, int64_t pid, int64_t tid, const char *name, int64_t number)
{
    meta(t, "thread_name", pid, tid, "name", quoted(t, name, number));
    meta(t, "thread_sort_index", pid, tid, "sort_index", PUT_ARG(tid));
}

static enum status close_trace(void *self)
{
    struct trace *t = self;

    if (!t->is_msprof) {
        name_process(t, t->rank->pid, "Python", "CPU", 0);
        for (int k = 0; k < t->rank->threads; k++) {
            int64_t tid = rank_tid(t->rank, (enum synth_thread)k);
            name_thread(t, t->rank->pid, tid, "Thread", tid);
        }
        name_process(t, t->rank->pid + 1, "Python GC", "CPU", 0);
    }
    for (int k = 0; k < LANE_COUNT; k++)
        name_process(t, lane_pid(t, (enum to_lane)k),
                     k == LANE_COMM ? t->dialect.comm_lane : lanes[k].name, lanes[k].label,
                     t->dialect.is_old ? lanes[k].sort_old : lanes[k].sort);
    for (int k = 0; k < THREAD_BACKWARD; k++) {
        int64_t tid = rank_tid(t->rank, (enum synth_thread)k);
        name_thread(t, lane_pid(t, LANE_CANN), tid, "Thread", tid);
    }
    for (int k = 0; k < t->rank->streams; k++) {
        int64_t stream = to_stream((enum synth_stream)k);
        name_thread(t, lane_pid(t, LANE_HARDWARE), stream, "Stream", stream);
    }
    name_thread(
        t, lane_pid(t, LANE_COMM), 0,
        t->dialect.is_new ? "Group hccl_world_group Communication" : "Group 0 Communication", -1);
    for (int k = 0; k < COMM_PLANES; k++)
        name_thread(t, lane_pid(t, LANE_COMM), k + 1, "Plane", k);
    for (int k = 0; k < 4; k++)
        name_thread(t, lane_pid(t, LANE_OVERLAP), k, overlaps[k], -1);
    PUT(&t->events.put, "]");
    return events_close(&t->events);
}

const struct to_writer to_trace = {
    .formats = SYNTH_TEXT,
    .size = sizeof(struct trace),
    .open = open_view,
    .step = trace_write_step,
    .close = close_trace,
    .abort = events_abort,
    .bytes = events_bytes,
};

const struct to_writer to_msprof = {
    .formats = SYNTH_MSPROF,
    .size = sizeof(struct trace),
    .open = open_msprof,
    .step = trace_write_step,
    .close = close_trace,
    .abort = events_abort,
    .bytes = events_bytes,
};
