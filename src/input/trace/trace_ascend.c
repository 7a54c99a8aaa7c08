/* Rows of timelines of Ascend devices: what they are, and what the file says of itself. */
#include "input/trace/trace_ascend.h"

#include "base/tables/interval.h"
#include "base/text/char.h"
#include "capture/classify.h"
#include "input/trace/step_name.h"

/* ---- rows ---- */

/* Processes of MindSpore by label, or by number where there is none. */
static const struct {
    struct str label, pid;
    enum trace_class class;
} parts[] = {
    {S_INIT("AICPU OP"), S_INIT("9000"), CLASS_DEVICE},
    {S_INIT("Communication Op"), S_INIT("10000"), CLASS_GROUP},
    {S_INIT("Host CPU OP"), S_INIT("11000"), CLASS_HOST},
    {S_INIT("Op Overlap Analyse"), S_INIT("12000"), CLASS_PART},
    {S_INIT("Activity Op"), S_INIT("13000"), CLASS_PART},
};

static bool is_cores_label(struct str label)
{
    return str_equal(label, S("AICORE OP")) || str_equal(label, S("Ascend Op"));
}

static bool is_part(size_t i, struct str label, struct str pid)
{
    return label.n > 0 ? str_equal(label, parts[i].label) : str_equal(pid, parts[i].pid);
}

/* Kernels of a graph have its node's number: "Conv2D-op12". */
static bool is_node(struct str name)
{
    size_t digits = str_last_digits(name);

    return digits > 0 && str_ends(str_part(name, 0, name.n - digits), S("-op"));
}

/* A row without a process name on which most events are nodes of a graph. */
static bool has_nodes(const struct trace_lanes *t, const struct capture *cap, size_t first)
{
    const struct slices *s = &cap->slices;
    int64_t *balance = mem_grow(NULL, sizeof(*balance), t->at.n + 1);
    bool found = false;

    memset(balance, 0, sizeof(*balance) * (t->at.n + 1));
    for (size_t i = first; i < s->n; i++)
        if (s->kind[i] == HINT_PLAIN && t->processes.at[t->at.at[s->lane[i]].process].name == 0)
            balance[s->lane[i]] += is_node(capture_text(cap, s->name[i])) ? 1 : -1;
    for (size_t i = 0; i < t->at.n; i++)
        found = found || balance[i] > 0;
    mem_free(balance);
    return found;
}

static bool is_plane(const struct capture *cap, const struct trace_lane *lane)
{
    return str_starts(capture_text(cap, lane->name), S("Plane"));
}

void trace_ascend_detect(struct trace_lanes *t, const struct capture *cap, size_t first,
                         bool has_groups)
{
    for (size_t i = 0; i < t->processes.n; i++) {
        struct trace_process *p = &t->processes.at[i];
        p->has_groups = has_groups;
        t->is_mindspore = t->is_mindspore || is_cores_label(capture_text(cap, p->labels));
    }
    for (size_t i = 0; i < t->at.n; i++)
        if (t->at.at[i].name != 0 && !is_plane(cap, &t->at.at[i]))
            t->processes.at[t->at.at[i].process].has_groups = true;
    t->is_mindspore = t->is_mindspore || has_nodes(t, cap, first);
}

static enum trace_class mindspore_class(const struct capture *cap, const struct trace_lane *lane,
                                        const struct trace_process *process)
{
    struct str label = capture_text(cap, process->labels), pid = capture_text(cap, process->pid);
    struct str row = capture_text(cap, lane->name != 0 ? lane->name : lane->tid);

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (is_part(i, label, pid))
            return parts[i].class;
    if (label.n > 0 && !is_cores_label(label))
        return CLASS_HOST;
    if (str_equal(row, S("Steps")))
        return CLASS_STEPS;
    return str_equal(row, S("Scope Name")) ? CLASS_PART : CLASS_DEVICE;
}

enum trace_class trace_ascend_class(const struct trace_lanes *t, const struct capture *cap,
                                    const struct trace_lane *lane,
                                    const struct trace_process *process)
{
    static const struct {
        struct str process;
        enum trace_class class;
    } known[] = {
        {S_INIT("Overlap Analysis"), CLASS_PART}, {S_INIT("CANN"), CLASS_CANN},
        {S_INIT("Python GC"), CLASS_GC},          {S_INIT("MsTx"), CLASS_MARKS},
        {S_INIT("Step Trace"), CLASS_STEPS},
    };
    struct str name = capture_text(cap, process->name);

    if (str_equal(name, S("Ascend Hardware")))
        return str_starts(capture_text(cap, lane->name), S("Step Trace")) ? CLASS_STEPS
                                                                          : CLASS_DEVICE;
    if (str_equal(name, S("HCCL")) || str_equal(name, S("Communication")))
        return is_plane(cap, lane) && process->has_groups ? CLASS_PART : CLASS_GROUP;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_equal(name, known[i].process))
            return known[i].class;
    return t->is_mindspore && process->name == 0 ? mindspore_class(cap, lane, process) : CLASS_HOST;
}

/* ---- events ---- */

/* The number of an iteration: "Iteration 6", "Model ID: 1 Iteration ID: 6", "6". */
static bool iteration_of(struct str name, int64_t *number)
{
    struct str digits = str_part(name, name.n - str_last_digits(name), name.n);
    enum mark_source source;

    if (step_name_parse(name, &source, number))
        return true;
    return (digits.n == name.n || str_contains(name, S("Iteration ID"))) && num_i64(digits, number);
}

static enum trace_hint hint_on_row(const struct trace_lanes *t, const struct capture *cap,
                                   const struct trace_lane *lane, struct str name,
                                   enum trace_hint hint)
{
    struct str core =
        str_equal(capture_text(cap, lane->pid), parts[0].pid) ? S("AI_CPU") : S("AI_CORE");
    int64_t number;

    switch (lane->class) {
    case CLASS_STEPS:
        return iteration_of(name, &number) ? HINT_STEP : HINT_CONTROL;
    case CLASS_GROUP: /* without whole collectives their parts have to do */
        if (is_plane(cap, lane))
            return HINT_COMM_PART;
        return str_contains(name, S("_parallel_")) ? HINT_CONTROL : hint;
    case CLASS_DEVICE:
        if (!t->is_mindspore || hint != HINT_PLAIN)
            return hint;
        return trace_hint_of(classify_kernel(VENDOR_ASCEND, core, name, S("")));
    default:
        return hint;
    }
}

void trace_ascend_hints(const struct trace_lanes *t, struct capture *cap, size_t first)
{
    struct slices *s = &cap->slices;

    for (size_t i = first; i < s->n; i++)
        s->kind[i] =
            (uint8_t)hint_on_row(t, cap, &t->at.at[s->lane[i]], capture_text(cap, s->name[i]),
                                 (enum trace_hint)s->kind[i]);
}

void trace_ascend_marks(struct capture *cap, size_t first)
{
    const struct slices *s = &cap->slices;
    struct mark mark = {.source = MARK_STEP_TRACE, .name = capture_intern(cap, S("Iteration"))};

    for (size_t i = first; i < s->n; i++) {
        if (s->kind[i] != SLICE_STEP || cap->lanes.at[s->lane[i]].key.kind != LANE_OTHER ||
            !iteration_of(capture_text(cap, s->name[i]), &mark.number))
            continue;
        mark.begin = s->begin[i];
        mark.end = slices_end(s, i);
        vec_push(&cap->marks, mark);
    }
}

/* ---- what the file says of itself ---- */

enum overlap { OVERLAP_COMPUTE, OVERLAP_COMM, OVERLAP_EXPOSED, OVERLAP_FREE, OVERLAPS };

static const struct {
    struct str name, mindspore;
} overlaps[OVERLAPS] = {
    [OVERLAP_COMPUTE] = {S_INIT("Computing"), S_INIT("computation_op")},
    [OVERLAP_COMM] = {S_INIT("Communication"), S_INIT("communication")},
    [OVERLAP_EXPOSED] = {S_INIT("Communication(Not Overlapped)"),
                         S_INIT("communication_not_overlapped")},
    [OVERLAP_FREE] = {S_INIT("Free"), S_INIT("free_time")},
};

/* Sums of the file, by overlap; false when it has none, or those of several devices. */
static bool told_overlaps(const struct capture *cap, size_t first, nanos told[OVERLAPS])
{
    const struct slices *s = &cap->slices;
    bool has_one = false;
    int32_t device = -1;

    for (size_t i = first; i < s->n; i++) {
        const struct lane_key *key = &cap->lanes.at[s->lane[i]].key;
        struct str name = capture_text(cap, s->name[i]);
        if (key->kind != LANE_OTHER)
            continue;
        for (int k = 0; k < OVERLAPS; k++) {
            if (!str_equal(name, overlaps[k].name) && !str_equal(name, overlaps[k].mindspore))
                continue;
            if (has_one && key->device != device)
                return false;
            device = key->device;
            has_one = true;
            told[k] = nanos_add(told[k], s->dur[i]);
        }
    }
    return has_one;
}

static bool is_computing(enum slice_kind kind)
{
    return kind == SLICE_COMPUTE || kind == SLICE_AICPU;
}

static struct interval_set ascend_gather(const struct capture *cap, bool (*wanted)(enum slice_kind))
{
    const struct slices *s = &cap->slices;
    struct interval_set set = {mem_grow(NULL, sizeof(*set.at), s->n + 1), 0};

    for (size_t i = 0; i < s->n; i++)
        if (wanted((enum slice_kind)s->kind[i]))
            set.at[set.n++] = (struct interval){s->begin[i], slices_end(s, i)};
    interval_merge(&set);
    return set;
}

/* More than 2 % of what the file says, and seen at all: 0.1 % of the whole time. */
static bool deviates(nanos own, nanos told, nanos whole)
{
    double off = (double)own - (double)told;

    off = off < 0 ? -off : off;
    return off > 0.02 * (double)told && off > 0.001 * (double)whole;
}

void trace_ascend_compare(const struct capture *cap, size_t first, const char *path, struct diag *d)
{
    nanos told[OVERLAPS] = {0};

    if (!told_overlaps(cap, first, told))
        return;
    struct interval_set compute = ascend_gather(cap, is_computing),
                        comm = ascend_gather(cap, slice_is_comm);
    nanos in_comm = interval_length(comm);
    nanos own[OVERLAPS] = {
        [OVERLAP_COMPUTE] = interval_length(compute),
        [OVERLAP_COMM] = in_comm,
        [OVERLAP_EXPOSED] = in_comm - interval_overlap(comm, compute),
    };
    nanos whole =
        nanos_add(nanos_add(told[OVERLAP_COMPUTE], told[OVERLAP_EXPOSED]), told[OVERLAP_FREE]);
    for (int k = 0; k < OVERLAP_FREE; k++)
        if (told[k] > 0 && deviates(own[k], told[k], whole))
            diag_add(d, SEV_WARN, "trace.overlap-analysis", (struct where){.path = path},
                     "the file's own Overlap Analysis has %.3f ms of %.*s, its events %.3f ms",
                     (double)told[k] / 1e6, STR_ARGS(overlaps[k].name), (double)own[k] / 1e6);
    mem_free(compute.at);
    mem_free(comm.at);
}
