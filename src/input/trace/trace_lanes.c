/* Rows of a trace into lanes: what each is, from its process and its events. */
#include "input/trace/trace_lanes.h"

#include "input/trace/trace_ascend.h"
#include "input/trace/trace_rows.h"

void trace_lanes_fini(struct trace_lanes *t)
{
    vec_free(&t->at);
    vec_free(&t->processes);
    hash_free(&t->lane_ids);
    hash_free(&t->process_ids);
}

uint32_t trace_lanes_get(struct trace_lanes *t, strid pid, strid tid)
{
    uint32_t fresh = (uint32_t)t->at.n;
    uint32_t lane = hash_add(&t->lane_ids, (uint64_t)pid << 32 | tid, fresh);

    if (lane != fresh)
        return lane;
    uint32_t new_process = (uint32_t)t->processes.n;
    uint32_t process = hash_add(&t->process_ids, pid, new_process);
    if (process == new_process)
        vec_push(&t->processes, ((struct trace_process){.pid = pid}));
    vec_push(&t->at, ((struct trace_lane){.pid = pid, .tid = tid, .process = process}));
    return lane;
}

static uint32_t bit(enum trace_hint hint)
{
    return (uint32_t)1 << hint;
}

static enum trace_class lanes_class_of(const struct trace_lanes *t, const struct capture *cap,
                                       const struct trace_lane *lane,
                                       const struct trace_process *process)
{
    if (t->dialect == TRACE_XLA)
        return trace_rows_xla(cap, lane, process);
    if (t->dialect == TRACE_ROCPROF)
        return trace_rows_rocprof(cap, process);
    enum trace_class class = trace_ascend_class(t, cap, lane, process);

    if (class != CLASS_HOST)
        return class;
    if ((lane->hints & (bit(HINT_GPU_ANNOTATION + 1) - bit(HINT_COMPUTE))) != 0)
        return CLASS_DEVICE; /* events of a device stand on the row */
    if (process->name == 0 && (lane->hints & bit(HINT_COLLECTIVE)) != 0)
        return CLASS_GROUP;
    if (lane->hints == bit(HINT_OVERHEAD))
        return CLASS_PART;
    return CLASS_HOST;
}

/* "NPU 3" is device 3; -1 when the process has no such label. */
static int32_t labelled_device(const struct capture *cap, const struct trace_process *process)
{
    struct str labels = capture_text(cap, process->labels);
    int64_t device;

    if (str_starts(labels, S("NPU ")) && num_i64(str_part(labels, 4, labels.n), &device) &&
        device >= 0 && device <= INT32_MAX)
        return (int32_t)device;
    return -1;
}

/* The device of a label, or a pid that is the number of a GPU. */
static int32_t lanes_device_of(const struct trace_lanes *t, const struct capture *cap,
                               const struct trace_lane *lane, const struct trace_process *process)
{
    int64_t device = labelled_device(cap, process);

    if (t->dialect == TRACE_XLA || t->dialect == TRACE_ROCPROF)
        return trace_rows_device(capture_text(cap, process->name));

    if (device >= 0)
        return (int32_t)device;
    bool is_ascend = str_equal(capture_text(cap, process->name), S("Ascend Hardware"));
    if (!is_ascend && num_i64(capture_text(cap, lane->pid), &device) && device >= 0 &&
        device < 4096)
        return (int32_t)device;
    return -1;
}

static struct lane_key lanes_key_of(const struct trace_lanes *t, struct capture *cap,
                                    const struct trace_lane *lane,
                                    const struct trace_process *process)
{
    struct lane_key key = {.device = -1, .process = process->name, .name = lane->name};

    switch (lane->class) {
    case CLASS_DEVICE:
        return (struct lane_key){.kind = LANE_STREAM,
                                 .device = lanes_device_of(t, cap, lane, process),
                                 .name = lane->tid};
    case CLASS_WORK:
        return (struct lane_key){.kind = LANE_STREAM,
                                 .device = lanes_device_of(t, cap, lane, process),
                                 .name = trace_rows_stream(cap, lane, process)};
    case CLASS_GROUP:
        key.kind = LANE_COMM;
        key.device = labelled_device(cap, process);
        break;
    case CLASS_PART:
    case CLASS_STEPS:
        key.kind = LANE_OTHER;
        key.device =
            t->dialect == TRACE_ASCEND || t->dialect == TRACE_KINETO || t->dialect == TRACE_CHROME
                ? labelled_device(cap, process)
                : lanes_device_of(t, cap, lane, process);
        break;
    default:
        key.kind = LANE_THREAD;
        break;
    }
    num_i64(capture_text(cap, lane->pid), &key.pid);
    num_i64(capture_text(cap, lane->tid), &key.tid);
    if (key.name == 0)
        key.name = lane->tid;
    if (key.process == 0)
        key.process = lane->pid;
    return key;
}

/* Slices that overlap stand on several rows in traces that strata wrote: they are one lane, that of
 * the row that the others name. */
static bool continues(const struct trace_lanes *t, const struct trace_lane *lane, uint32_t *first)
{
    return lane->row_of != 0 &&
           hash_get(&t->lane_ids, (uint64_t)lane->pid << 32 | lane->row_of, first) &&
           t->at.at[*first].hints != 0 && t->at.at[*first].row_of == 0;
}

lane_id *trace_lanes_resolve(struct trace_lanes *t, struct capture *cap, bool has_table)
{
    lane_id *ids = mem_grow(NULL, sizeof(*ids), t->at.n + 1);
    struct hash streams = {0}; /* that the table has brought, by name; of equal ones the first */
    uint32_t first;

    for (size_t i = 0; i < cap->lanes.n && has_table; i++)
        if (cap->lanes.at[i].key.kind == LANE_STREAM)
            hash_add(&streams, cap->lanes.at[i].key.name, (uint32_t)i);
    if (t->dialect == TRACE_XLA)
        trace_rows_streams(t, cap);
    for (size_t i = 0; i < t->at.n; i++) {
        struct trace_lane *lane = &t->at.at[i];
        const struct trace_process *process = &t->processes.at[lane->process];
        lane->class = lanes_class_of(t, cap, lane, process);
        ids[i] = TRACE_NO_LANE;
        if (lane->hints == 0 || continues(t, lane, &first))
            continue;
        if (lane->class == CLASS_DEVICE && hash_get(&streams, lane->tid, &ids[i]))
            continue;
        ids[i] = capture_lane(cap, lanes_key_of(t, cap, lane, process));
    }
    hash_free(&streams);
    for (size_t i = 0; i < t->at.n; i++)
        if (t->at.at[i].hints != 0 && continues(t, &t->at.at[i], &first)) {
            ids[i] = ids[first];
            t->at.at[i].class = t->at.at[first].class;
        }
    return ids;
}

enum slice_kind trace_kind(enum trace_class class, enum trace_hint hint)
{
    switch (class) {
    case CLASS_PART:
        return SLICE_OTHER;
    case CLASS_STEPS: /* beside an iteration its parts */
        return hint == HINT_CONTROL ? SLICE_OTHER : SLICE_STEP;
    case CLASS_GROUP: /* each is a collective, whatever its name */
        if (hint == HINT_COMM_PART)
            return SLICE_COMM_PART;
        return hint == HINT_COLLECTIVE || hint == HINT_COMM || hint == HINT_PLAIN ? SLICE_COMM
                                                                                  : SLICE_OTHER;
    case CLASS_GC:
        return SLICE_GC;
    case CLASS_MARKS:
        return hint == HINT_STEP ? SLICE_STEP : SLICE_ANNOTATION;
    case CLASS_CANN:
        return hint == HINT_PLAIN || hint == HINT_COLLECTIVE
                   ? SLICE_RUNTIME
                   : (enum slice_kind)trace_hint_kinds[hint];
    case CLASS_DEVICE:
    case CLASS_WORK:
        return trace_hint_is_device(hint) ? (enum slice_kind)trace_hint_kinds[hint] : SLICE_OTHER;
    default:
        return (enum slice_kind)trace_hint_kinds[hint];
    }
}
