#include "synth/to_trace.h"

enum lane {
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
static int64_t lane_pid(const struct to_trace *t, enum lane lane)
{
    int64_t host = t->rank->pid, device = t->rank->id % 8;

    if (!t->dialect.is_old)
        return host << 10 | (int64_t)lanes[lane].sort << 5 | (lane == LANE_CANN ? 31 : device);
    if (lane == LANE_HARDWARE)
        return 800 + device;
    return lane == LANE_CANN ? host * 100 + 2 : (host * 100 + lanes[lane].sort_old) * 100 + device;
}

static void begin_event(struct to_trace *t)
{
    if (t->events > 0)
        PUT(&t->put, ", ");
}

static void end_event(struct to_trace *t)
{
    t->events++;
    if (put_is_whole(&t->put))
        t->complete = t->events;
}

#define EVENT(t, format, ...)                                                                      \
    do {                                                                                           \
        begin_event(t);                                                                            \
        PUTF(&(t)->put, format, __VA_ARGS__);                                                      \
        end_event(t);                                                                              \
    } while (0)

/* A time with the quotes of its generation. */
#define STAMP(t, ns) Z((t)->dialect.quote), U(ns), Z((t)->dialect.quote)

enum status to_trace_open(struct to_trace *t, const char *path, const struct sim *s,
                          const struct rank *r, bool is_msprof, struct diag *d)
{
    *t = (struct to_trace){.sim = s, .rank = r, .is_msprof = is_msprof};
    t->dialect = dialect_of(s->options);
    arena_init(&t->scratch);
    TRY(put_open(&t->put, path, s->options->truncate, d));
    PUT(&t->put, "[");
    return ST_OK;
}

static void put_op_args(struct to_trace *t, const struct host_event *e)
{
    struct put *p = &t->put;

    PUTF(p, "{\"Sequence number\": %, \"Fwd thread id\": %", N(e->parent),
         N(e->op != NULL && e->op->is_backward ? 1 : 0));
    if (e->op != NULL && e->op->in[0] != '\0') {
        PUT(p, ", \"Input Dims\": \"");
        put_list(p, e->op->in, ";\\r\\n");
        PUT(p, "\", \"Input type\": \"");
        put_types(p, e->op->kind->in_types, ";\\r\\n");
        PUT(p, "\"");
    }
    if (t->sim->options->stacks) {
        PUT(p, ", \"Call stack\": \"");
        put_stack(p, e->op, ";\\r\\n", &t->scratch);
        PUT(p, "\"");
    }
    PUT(p, "}");
}

static void framework_event(struct to_trace *t, const struct host_event *e)
{
    static const char *const cats[] = {[HOST_OP] = "cpu_op",
                                       [HOST_STEP] = "cpu_op",
                                       [HOST_PYTHON] = "python_function",
                                       [HOST_ENQUEUE] = "enqueue",
                                       [HOST_DEQUEUE] = "dequeue"};
    struct put *p = &t->put;

    begin_event(t);
    PUTF(p, "{\"ph\": \"X\", \"name\": \"%", Z(e->name));
    if (e->kind == HOST_STEP)
        PUTF(p, "#%", N(e->id));
    PUTF(p, "\", \"pid\": %, \"tid\": %, \"ts\": %%%, \"dur\": %, \"cat\": \"%\", \"args\": ",
         N(t->rank->pid), N(rank_tid(t->rank, e->thread)), STAMP(t, e->begin), M(e->dur),
         Z(cats[e->kind]));
    if (e->kind == HOST_OP || e->kind == HOST_STEP)
        put_op_args(t, e);
    else if (e->kind == HOST_PYTHON)
        PUTF(p, "{\"Python id\": %, \"Python parent id\": %}", N(e->id), N(e->parent));
    else
        PUTF(p, "{\"correlation_id\": %}", N(e->id));
    PUT(p, "}");
    end_event(t);
    if (e->kind == HOST_ENQUEUE || e->kind == HOST_DEQUEUE)
        EVENT(t,
              "{\"ph\": \"%\", \"bp\": \"e\", \"name\": \"enqueue_to_dequeue\", \"id\": %, "
              "\"pid\": %, \"tid\": %, \"ts\": %%%, \"cat\": \"async_task_queue\"}",
              Z(e->kind == HOST_ENQUEUE ? "s" : "f"), N(e->id), N(t->rank->pid),
              N(rank_tid(t->rank, e->thread)), STAMP(t, e->begin));
}

static void cann_event(struct to_trace *t, const struct host_event *e)
{
    static const char *const levels[] = {
        [HOST_ACL] = "acl", [HOST_NODE] = "node", [HOST_HCCL] = "hccl", [HOST_RUNTIME] = "runtime"};
    bool is_acl = e->kind == HOST_ACL;
    const char *mode = is_acl ? (str_starts(str_of(e->name), S("aclrt")) ? "ACL_RTS" : "ACL_NN")
                       : e->kind == HOST_HCCL ? "master"
                                              : e->name;
    int64_t tid = rank_tid(t->rank, e->thread);

    EVENT(t,
          "{\"name\": \"%%\", \"pid\": %, \"tid\": %, \"ts\": %%%, \"dur\": %, \"args\": "
          "{\"Thread Id\": %, \"Mode\": \"%\", \"level\": \"%\", \"id\": \"%\", \"item_id\": "
          "\"%\", \"connection_id\": %}, \"ph\": \"X\"}",
          Z(level_prefix(e->kind, &t->dialect)), Z(e->name), N(lane_pid(t, LANE_CANN)), N(tid),
          STAMP(t, e->begin), M(e->dur), N(tid), Z(mode),
          Z(e->kind == HOST_HCCL && t->dialect.is_new ? "communication" : levels[e->kind]),
          Z(is_acl ? e->name : "0"), Z(e->item != NULL ? e->item : "0"), N(e->id));
}

static void host_event(struct to_trace *t, const struct host_event *e)
{
    if (e->kind >= HOST_ACL && e->kind <= HOST_RUNTIME)
        cann_event(t, e);
    else if (t->is_msprof)
        return;
    else if (e->kind == HOST_GC)
        EVENT(t,
              "{\"ph\": \"X\", \"name\": \"GC\", \"pid\": %, \"tid\": %, \"ts\": %%%, \"dur\": %}",
              N(t->rank->pid + 1), N(rank_tid(t->rank, e->thread)), STAMP(t, e->begin), M(e->dur));
    else
        framework_event(t, e);
}

/* The arrows that end at a task: one from the CANN call, one from the framework's operator. */
static void flows_to(struct to_trace *t, const struct task *task, int64_t pid, int64_t tid)
{
    int64_t id = t->dialect.is_old ? task->connection : task->connection << 32;
    int64_t api_tid = rank_tid(t->rank, task->api_thread);

    if (!t->dialect.is_old && !t->dialect.is_new)
        id |= 0xffffffff;
    EVENT(t,
          "{\"name\": \"HostToDevice%\", \"ph\": \"s\", \"cat\": \"HostToDevice\", \"id\": \"%\", "
          "\"pid\": %, \"tid\": %, \"ts\": %%%}",
          N(id), N(id), N(lane_pid(t, LANE_CANN)), N(api_tid), STAMP(t, task->api));
    EVENT(t,
          "{\"name\": \"HostToDevice%\", \"ph\": \"f\", \"id\": \"%\", \"ts\": %%%, \"cat\": "
          "\"HostToDevice\", \"pid\": %, \"tid\": %, \"bp\": \"e\"}",
          N(id), N(id), STAMP(t, task->begin), N(pid), N(tid));
    if (task->launched == 0 || t->is_msprof)
        return;
    id = t->dialect.is_new ? ++t->flows : task->begin;
    EVENT(t,
          "{\"ph\": \"s\", \"bp\": \"e\", \"name\": \"torch_to_npu\", \"id\": %, \"pid\": %, "
          "\"tid\": %, \"ts\": %%%, \"cat\": \"async_npu\"}",
          N(id), N(t->rank->pid), N(rank_tid(t->rank, task->launch_thread)),
          STAMP(t, task->launched));
    EVENT(t,
          "{\"ph\": \"f\", \"bp\": \"e\", \"name\": \"torch_to_npu\", \"id\": %, \"pid\": %, "
          "\"tid\": %, \"ts\": %%%, \"cat\": \"async_npu\"}",
          N(id), N(pid), N(tid), STAMP(t, task->begin));
}

/* "bandwidth" in GB/s with four decimals: bytes per nanosecond. */
static void put_bandwidth(struct put *p, int64_t bytes, nanos dur)
{
    int64_t v = dur > 0 ? bytes * 10000 / dur : 0;

    PUTF(p, "%.%%%%", N(v / 10000), N(v / 1000 % 10), N(v / 100 % 10), N(v / 10 % 10), N(v % 10));
}

static void comm_part(struct to_trace *t, const struct task *task, const struct comm_part *part)
{
    struct put *p = &t->put;
    bool is_wait = part->bytes == 0;

    begin_event(t);
    PUTF(p,
         "{\"name\": \"%\", \"pid\": %, \"tid\": %, \"ts\": %%%, \"dur\": %, \"args\": "
         "{\"notify_id\": \"%\", \"duration estimated(us)\": %, \"stream id\": %, \"task id\": %, "
         "\"context id\": %, \"task type\": \"%\", \"src rank\": %, \"dst rank\": %, ",
         Z(part->name), N(lane_pid(t, LANE_COMM)), N(part->plane + 1), STAMP(t, part->begin),
         M(part->dur), N(is_wait ? task->connection : 0), M(is_wait ? 0 : part->dur),
         N(stream_number(STREAM_COMM)), N(task->task_id), N(part->plane), Z(part->name),
         N(t->rank->id), N(part->peer));
    PUTF(p,
         "\"transport type\": \"%\", \"size(Byte)\": %, \"data type\": \"%\", \"link type\": "
         "\"%\", \"bandwidth(GB/s)\": ",
         Z(is_wait ? "LOCAL" : "SDMA"), N(part->bytes), Z(is_wait ? "INVALID_TYPE" : "BFP16"),
         Z(is_wait ? "INVALID_TYPE" : "HCCS"));
    put_bandwidth(p, part->bytes, part->dur);
    PUT(p, ", \"model id\": 4294967295}, \"ph\": \"X\"}");
    end_event(t);
}

static void comm_task(struct to_trace *t, const struct task *task)
{
    struct comm_part parts[COMM_PARTS];
    int64_t pid = lane_pid(t, LANE_COMM);

    EVENT(t,
          "{\"name\": \"%\", \"pid\": %, \"tid\": 0, \"ts\": %%%, \"dur\": %, \"args\": "
          "{\"connection_id\": %, \"model id\": 4294967295, \"data_type\": \"BFP16\", "
          "\"alg_type\": \"MESH-RING\", \"count\": %}, \"ph\": \"X\"}",
          Z(task->name), N(pid), STAMP(t, task->begin), M(task->dur), N(task->connection),
          N(task->bytes / 2));
    flows_to(t, task, pid, 0);
    if (t->dialect.level == 0)
        return;
    comm_parts(task, t->rank->id, t->sim->world, parts);
    for (size_t i = 0; i < COMM_PARTS; i++)
        comm_part(t, task, &parts[i]);
}

/* The timeline calls most kernels AI_CORE whatever the table says; the oldest call all Other. */
static const char *task_type(const struct to_trace *t, const struct task *task)
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

static void device_task(struct to_trace *t, const struct task *task)
{
    struct put *p = &t->put;
    int64_t pid = lane_pid(t, LANE_HARDWARE), stream = stream_number(task->stream);

    if (task->kind == TASK_COMM) {
        comm_task(t, task);
        return;
    }
    begin_event(t);
    PUTF(p,
         "{\"name\": \"%\", \"pid\": %, \"tid\": %, \"ts\": %%%, \"dur\": %, \"args\": {\"Model "
         "Id\": 4294967295, \"Task Type\": \"%\", \"%\": %, \"Task Id\": %, \"Batch Id\": 0, "
         "\"Subtask Id\": 4294967295, \"connection_id\": %",
         Z(task->name), N(pid), N(stream), STAMP(t, task->begin), M(task->dur),
         Z(task_type(t, task)), Z(t->dialect.stream_key), N(stream), N(task->task_id),
         N(task->connection));
    if (task->kind == TASK_COPY) {
        PUTF(p, ", \"size(B)\": %, \"bandwidth(GB/s)\": ", N(task->bytes));
        put_bandwidth(p, task->bytes, task->dur);
        PUTF(p, ", \"operation\": \"%\"",
             Z(task->way == COPY_HOST_TO_DEVICE ? "host to device" : "device to host"));
    }
    PUT(p, "}, \"ph\": \"X\"}");
    end_event(t);
    flows_to(t, task, pid, stream);
}

static void grad_flows(struct to_trace *t, const struct grad_link *g)
{
    EVENT(t,
          "{\"ph\": \"s\", \"bp\": \"e\", \"name\": \"fwdbwd\", \"id\": %, \"pid\": %, \"tid\": %, "
          "\"ts\": %%%, \"cat\": \"fwdbwd\"}",
          N(g->id), N(t->rank->pid), N(rank_tid(t->rank, THREAD_MAIN)), STAMP(t, g->from));
    EVENT(t,
          "{\"ph\": \"f\", \"bp\": \"e\", \"name\": \"fwdbwd\", \"id\": %, \"pid\": %, \"tid\": %, "
          "\"ts\": %%%, \"cat\": \"fwdbwd\"}",
          N(g->id), N(t->rank->pid), N(rank_tid(t->rank, THREAD_BACKWARD)), STAMP(t, g->to));
}

static void overlap(struct to_trace *t, int tid, const char *name, const struct spans *list)
{
    for (size_t i = 0; i < list->list.n; i++) {
        const struct span *s = &list->list.at[i];
        EVENT(t,
              "{\"name\": \"%\", \"pid\": %, \"tid\": %, \"ts\": %%%, \"dur\": %, \"ph\": \"X\"}",
              Z(name), N(lane_pid(t, LANE_OVERLAP)), N(tid), STAMP(t, s->begin),
              M(s->end - s->begin));
    }
}

static void counters(struct to_trace *t, const struct step *step)
{
    enum { PERIOD = 10000000 };

    if (step->number <= 0)
        EVENT(t,
              "{\"name\": \"AI Core Freq\", \"ts\": %%%, \"pid\": %, \"tid\": 0, \"args\": "
              "{\"MHz\": 1800}, \"ph\": \"C\"}",
              STAMP(t, step->begin), N(lane_pid(t, LANE_FREQ)));
    for (nanos at = step->begin; at < step->next_begin; at += PERIOD) {
        /* Values only have to move; the clock's digits do. */
        EVENT(t,
              "{\"name\": \"HBM 0/Read\", \"ts\": %%%, \"pid\": %, \"tid\": 0, \"args\": "
              "{\"Read(MB/s)\": %.%}, \"ph\": \"C\"}",
              STAMP(t, at), N(lane_pid(t, LANE_HBM)), N(600000 + at / 977 % 200000),
              N(at / 13 % 10));
        EVENT(t,
              "{\"name\": \"APP/HBM\", \"ts\": %%%, \"pid\": %, \"tid\": 0, \"args\": {\"KB\": "
              "%.0}, \"ph\": \"C\"}",
              STAMP(t, at), N(lane_pid(t, LANE_MEM)), N(48000000 + at / 4096 % 65536 * 4));
    }
}

void to_trace_step(struct to_trace *t, const struct step_sets *sets)
{
    const struct step *step = &t->rank->step;

    for (size_t i = 0; i < step->host.n; i++)
        host_event(t, &step->host.at[i]);
    for (size_t i = 0; i < step->tasks.n; i++)
        device_task(t, &step->tasks.at[i]);
    if (!t->is_msprof)
        for (size_t i = 0; i < step->grads.n; i++)
            grad_flows(t, &step->grads.at[i]);
    counters(t, step);
    overlap(t, 0, "Computing", &sets->computing);
    overlap(t, 1, "Communication", &sets->communication);
    overlap(t, 2, "Communication(Not Overlapped)", &sets->exposed);
    overlap(t, 3, "Free", &sets->free);
}

static void name_process(struct to_trace *t, int64_t pid, const char *name, const char *label,
                         int sort)
{
    EVENT(t,
          "{\"name\": \"process_name\", \"pid\": %, \"tid\": 0, \"args\": {\"name\": \"%\"}, "
          "\"ph\": \"M\"}",
          N(pid), Z(name));
    EVENT(t,
          "{\"name\": \"process_labels\", \"pid\": %, \"tid\": 0, \"args\": {\"labels\": "
          "\"%\"}, \"ph\": \"M\"}",
          N(pid), Z(label));
    EVENT(t,
          "{\"name\": \"process_sort_index\", \"pid\": %, \"tid\": 0, \"args\": "
          "{\"sort_index\": %}, \"ph\": \"M\"}",
          N(pid), N(sort));
}

static void name_thread(struct to_trace *t, int64_t pid, int64_t tid, const char *name,
                        int64_t number)
{
    begin_event(t);
    PUTF(&t->put, "{\"name\": \"thread_name\", \"pid\": %, \"tid\": %, \"args\": {\"name\": \"%",
         N(pid), N(tid), Z(name));
    if (number >= 0)
        PUTF(&t->put, " %", N(number));
    PUT(&t->put, "\"}, \"ph\": \"M\"}");
    end_event(t);
    EVENT(t,
          "{\"name\": \"thread_sort_index\", \"pid\": %, \"tid\": %, \"args\": "
          "{\"sort_index\": %}, \"ph\": \"M\"}",
          N(pid), N(tid), N(tid));
}

void to_trace_end(struct to_trace *t)
{
    bool is_training = t->sim->options->mode == SYNTH_TRAIN;

    if (!t->is_msprof) {
        name_process(t, t->rank->pid, "Python", "CPU", 0);
        for (int k = 0; k < (is_training ? THREAD_COUNT : THREAD_BACKWARD); k++) {
            int64_t tid = rank_tid(t->rank, (enum thread)k);
            name_thread(t, t->rank->pid, tid, "Thread", tid);
        }
        name_process(t, t->rank->pid + 1, "Python GC", "CPU", 0);
    }
    for (int k = 0; k < LANE_COUNT; k++)
        name_process(t, lane_pid(t, (enum lane)k),
                     k == LANE_COMM ? t->dialect.comm_lane : lanes[k].name, lanes[k].label,
                     t->dialect.is_old ? lanes[k].sort_old : lanes[k].sort);
    for (int k = 0; k < THREAD_BACKWARD; k++) {
        int64_t tid = rank_tid(t->rank, (enum thread)k);
        name_thread(t, lane_pid(t, LANE_CANN), tid, "Thread", tid);
    }
    for (int k = 0; k < STREAM_COUNT; k++) {
        int64_t stream = stream_number((enum stream)k);
        name_thread(t, lane_pid(t, LANE_HARDWARE), stream, "Stream", stream);
    }
    name_thread(
        t, lane_pid(t, LANE_COMM), 0,
        t->dialect.is_new ? "Group hccl_world_group Communication" : "Group 0 Communication", -1);
    for (int k = 0; k < COMM_PLANES; k++)
        name_thread(t, lane_pid(t, LANE_COMM), k + 1, "Plane", k);
    static const char *const overlaps[] = {"Computing", "Communication",
                                           "Communication(Not Overlapped)", "Free"};
    for (int k = 0; k < 4; k++)
        name_thread(t, lane_pid(t, LANE_OVERLAP), k, overlaps[k], -1);
    PUT(&t->put, "]");
}

void to_trace_fini(struct to_trace *t)
{
    put_abort(&t->put);
    arena_free(&t->scratch);
}
