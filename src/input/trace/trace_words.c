/* The lists of words. */
#include "input/trace/trace_words.h"

#include "capture/classify.h"
#include "input/trace/step_name.h"

const uint8_t trace_hint_kinds[HINT_COUNT] = {
    [HINT_PLAIN] = SLICE_OTHER,
    [HINT_HOST_OP] = SLICE_HOST_OP,
    [HINT_PYTHON] = SLICE_PYTHON,
    [HINT_ANNOTATION] = SLICE_ANNOTATION,
    [HINT_RUNTIME] = SLICE_RUNTIME,
    [HINT_QUEUE] = SLICE_QUEUE,
    [HINT_STEP] = SLICE_STEP,
    [HINT_COLLECTIVE] = SLICE_OTHER,
    [HINT_COMPUTE] = SLICE_COMPUTE,
    [HINT_COMM] = SLICE_COMM,
    [HINT_COMM_PART] = SLICE_COMM_PART,
    [HINT_AICPU] = SLICE_AICPU,
    [HINT_COPY] = SLICE_COPY,
    [HINT_TASK_COPY] = SLICE_COPY,
    [HINT_WAIT] = SLICE_WAIT,
    [HINT_CONTROL] = SLICE_CONTROL,
    [HINT_GPU_ANNOTATION] = SLICE_OTHER,
    [HINT_OVERHEAD] = SLICE_OTHER,
    [HINT_MEMORY] = SLICE_MEMORY,
    [HINT_SKIP] = SLICE_OTHER,
};

enum trace_hint trace_hint_of(enum slice_kind kind)
{
    static const uint8_t hints[SLICE_KINDS] = {
        [SLICE_COMM] = HINT_COMM,   [SLICE_COMM_PART] = HINT_COMM_PART,
        [SLICE_AICPU] = HINT_AICPU, [SLICE_COPY] = HINT_TASK_COPY,
        [SLICE_WAIT] = HINT_WAIT,   [SLICE_CONTROL] = HINT_CONTROL,
    };

    return hints[kind] != 0 ? (enum trace_hint)hints[kind] : HINT_COMPUTE;
}

static const struct {
    struct str word;
    enum trace_hint hint;
} categories[] = {
    {S_INIT("cpu_op"), HINT_HOST_OP},
    {S_INIT("operator"), HINT_HOST_OP},
    {S_INIT("python_function"), HINT_PYTHON},
    {S_INIT("user_annotation"), HINT_ANNOTATION},
    {S_INIT("enqueue"), HINT_QUEUE},
    {S_INIT("dequeue"), HINT_QUEUE},
    {S_INIT("kernel"), HINT_COMPUTE},
    {S_INIT("concurrent_kernel"), HINT_COMPUTE},
    {S_INIT("gpu_memcpy"), HINT_COPY},
    {S_INIT("gpu_memset"), HINT_COPY},
    {S_INIT("memcpy"), HINT_COPY},
    {S_INIT("memset"), HINT_COPY},
    {S_INIT("cuda_runtime"), HINT_RUNTIME},
    {S_INIT("cuda_driver"), HINT_RUNTIME},
    {S_INIT("runtime"), HINT_RUNTIME},
    {S_INIT("cuda_sync"), HINT_WAIT},
    {S_INIT("gpu_user_annotation"), HINT_GPU_ANNOTATION},
    {S_INIT("overhead"), HINT_OVERHEAD},
    {S_INIT("cpu_instant_event"), HINT_MEMORY},
    {S_INIT("trace"), HINT_SKIP},
};

enum trace_hint trace_category(struct str cat)
{
    for (size_t i = 0; i < ARRAY_LEN(categories); i++)
        if (str_equal_nocase(cat, categories[i].word))
            return categories[i].hint;
    return HINT_PLAIN;
}

enum flow_kind trace_flow_kind(struct str cat)
{
    static const struct {
        struct str word;
        enum flow_kind kind;
    } flows[] = {
        {S_INIT("HostToDevice"), FLOW_LAUNCH}, {S_INIT("async_npu"), FLOW_LAUNCH},
        {S_INIT("ac2g"), FLOW_LAUNCH},         {S_INIT("async_cpu_to_gpu"), FLOW_LAUNCH},
        {S_INIT("async_gpu"), FLOW_LAUNCH},    {S_INIT("MsTx"), FLOW_LAUNCH},
        {S_INIT("DataFlow"), FLOW_LAUNCH},     {S_INIT("async_task_queue"), FLOW_QUEUE},
        {S_INIT("fwdbwd"), FLOW_BACKWARD},
    };

    for (size_t i = 0; i < ARRAY_LEN(flows); i++)
        if (str_equal_nocase(cat, flows[i].word))
            return flows[i].kind;
    return FLOW_OTHER;
}

enum trace_name trace_name(struct str name)
{
    /* Runtime calls of an Ascend host are named <level>@<call>. */
    static const struct str levels[] = {
        S_INIT("AscendCL@"), S_INIT("Model@"),         S_INIT("Node@"), S_INIT("Runtime@"),
        S_INIT("Hccl@"),     S_INIT("Communication@"), S_INIT("Api@"),
    };
    /* Of names that look like that of a step the spellings of profilers are certain. */
    static const struct str sure[] = {S_INIT("Iteration#"), S_INIT("Step#"), S_INIT("Iteration "),
                                      S_INIT("Step ")};
    enum mark_source source;
    int64_t number;

    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (str_starts(name, levels[i]))
            return NAME_CALL;
    if (classify_is_collective(name))
        return NAME_COLLECTIVE;
    if (!step_name_parse(name, &source, &number))
        return NAME_PLAIN;
    if (source == MARK_PROFILER_STEP)
        return NAME_STEP;
    return STR_ANY(str_starts, name, sure) ? NAME_ITERATION : NAME_RANGE;
}

struct word_arg {
    struct str word;
    struct trace_arg arg;
};

/* Ids that the profiler needs for itself, and what the event's own fields say already. */
static const struct word_arg shared_args[] = {
    {S_INIT("Python id"), {ARG_SKIP, 0}},
    {S_INIT("Python parent id"), {ARG_SKIP, 0}},
    {S_INIT("Python module id"), {ARG_SKIP, 0}},
    {S_INIT("Sequence number"), {ARG_SKIP, 0}},
    {S_INIT("Fwd thread id"), {ARG_SKIP_FEW, 0}},
    {S_INIT("Ev Idx"), {ARG_SKIP, 0}},
    {S_INIT("External id"), {ARG_SKIP, 0}},
    {S_INIT("Record function id"), {ARG_SKIP, 0}},
    {S_INIT("sort_index"), {ARG_SKIP, 0}},
    {S_INIT("name"), {ARG_NAME, 0}},
    {S_INIT("labels"), {ARG_LABELS, 0}},
    {S_INIT("acc_id"), {ARG_LABEL, 0}},
    {S_INIT("connection_id"), {ARG_LINK, 0}},
    {S_INIT("correlation"), {ARG_LINK, 0}},
    {S_INIT("correlation_id"), {ARG_LINK, 0}},
    {S_INIT("Call stack"), {ARG_KEY, KEY_STACK}},
    {S_INIT("Input Dims"), {ARG_KEY, KEY_INPUT_SHAPES}},
    {S_INIT("Input dims"), {ARG_KEY, KEY_INPUT_SHAPES}},
    {S_INIT("Input type"), {ARG_KEY, KEY_INPUT_DTYPES}},
    {S_INIT("Task Type"), {ARG_CORE, KEY_CORE}},
    {S_INIT("wait_ns"), {ARG_WAIT, KEY_WAIT}}, /* as strata writes it */
    {S_INIT("Task Id"), {ARG_TASK, KEY_TASK}},
    {S_INIT("task id"), {ARG_TASK, KEY_TASK}},
};

static const struct word_arg ascend_args[] = {
    {S_INIT("Thread Id"), {ARG_SKIP_FEW, 0}},
    {S_INIT("Mode"), {ARG_SKIP_FEW, 0}},
    {S_INIT("id"), {ARG_SKIP, 0}},
    {S_INIT("item_id"), {ARG_SKIP, 0}},
    {S_INIT("level"), {ARG_SKIP_FEW, 0}}, /* the name begins with it */
    {S_INIT("Physic Stream Id"), {ARG_SKIP_FEW, 0}},
    {S_INIT("Stream Id"), {ARG_SKIP_FEW, 0}},
    {S_INIT("Batch Id"), {ARG_SKIP_FEW, 0}},
    {S_INIT("Subtask Id"), {ARG_SKIP_FEW, 0}},
    {S_INIT("stream id"), {ARG_SET, 0}},
    {S_INIT("src rank"), {ARG_SET, 0}},
    {S_INIT("dst rank"), {ARG_SET, 0}},
    {S_INIT("size(Byte)"), {ARG_SET, 0}},
    {S_INIT("context id"), {ARG_SKIP, 0}},
    {S_INIT("notify_id"), {ARG_ID, 0}},
};

/* Launch parameters repeat from launch to launch of a kernel. */
static const struct word_arg kineto_args[] = {
    {S_INIT("queued"), {ARG_SKIP, 0}},       {S_INIT("finished"), {ARG_SKIP_FEW, 0}},
    {S_INIT("device"), {ARG_SKIP, 0}},       {S_INIT("stream"), {ARG_SKIP, 0}},
    {S_INIT("context"), {ARG_SET, 0}},       {S_INIT("registers per thread"), {ARG_SET, 0}},
    {S_INIT("shared memory"), {ARG_SET, 0}}, {S_INIT("blocks per SM"), {ARG_SET, 0}},
    {S_INIT("warps per SM"), {ARG_SET, 0}},  {S_INIT("est. achieved occupancy %"), {ARG_SET, 0}},
    {S_INIT("cbid"), {ARG_SET, 0}},          {S_INIT("cid"), {ARG_SET, 0}},
    {S_INIT("Group size"), {ARG_SET, 0}},    {S_INIT("Op count"), {ARG_SKIP, 0}},
};

/* Times of events are whole microseconds there; these are exact. */
static const struct word_arg rocprof_args[] = {
    {S_INIT("BeginNs"), {ARG_BEGIN, 0}},
    {S_INIT("EndNs"), {ARG_END, 0}},
    {S_INIT("DurationNs"), {ARG_SKIP, 0}},
};

static bool look_up(const struct word_arg *list, size_t n, struct str key, struct trace_arg *out)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(list[i].word, key)) {
            *out = list[i].arg;
            return true;
        }
    return false;
}

struct trace_arg trace_argument(enum trace_dialect dialect, struct str key)
{
    struct trace_arg arg = {ARG_OTHER, 0};

    if (dialect == TRACE_ASCEND && look_up(ascend_args, ARRAY_LEN(ascend_args), key, &arg))
        return arg;
    if (dialect == TRACE_KINETO && look_up(kineto_args, ARRAY_LEN(kineto_args), key, &arg))
        return arg;
    if (dialect == TRACE_ROCPROF && look_up(rocprof_args, ARRAY_LEN(rocprof_args), key, &arg))
        return arg;
    look_up(shared_args, ARRAY_LEN(shared_args), key, &arg);
    return arg;
}
