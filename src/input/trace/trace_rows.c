/* Rows, events and steps of traces by XLA and rocprof. */
#include "input/trace/trace_rows.h"

#include <stdlib.h>

#include "base/text/char.h"
#include "capture/classify.h"
#include "input/trace/step_name.h"

int32_t trace_rows_device(struct str process)
{
    static const struct str before[] = {S_INIT("/device:GPU:"), S_INIT("/device:TPU:"),
                                        S_INIT("/gpu:"), S_INIT("GPU")};
    int64_t number;

    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        size_t at = str_find(process, before[i]);
        if (at == process.n)
            continue;
        struct str rest = str_part(process, at + before[i].n, process.n);
        if (num_i64(str_part(rest, 0, str_digits(rest)), &number) && number >= 0 &&
            number <= INT32_MAX)
            return (int32_t)number;
    }
    return -1;
}

strid trace_rows_stream(struct capture *cap, const struct trace_lane *lane,
                        const struct trace_process *process)
{
    struct str name = capture_text(cap, process->name);
    size_t at = str_find(name, S("/stream:"));

    if (lane->name != 0 || at == name.n)
        return lane->name != 0 ? lane->name : lane->tid;
    name = str_part(name, at + 8, name.n);
    return capture_intern(cap, str_part(name, 0, str_digits(name)));
}

/* ---- rows ---- */

/* A device of XLA, whose rows have names; TensorFlow 1 has a process for each row instead, and
 * "/job:.../device:GPU:0 Compute" is the host's executor. */
static bool is_device(struct str process)
{
    return (str_starts(process, S("/device:GPU:")) || str_starts(process, S("/device:TPU:"))) &&
           !str_contains(process, S("/stream:"));
}

static bool is_stream(struct str row)
{
    return str_starts(row, S("Stream #")) || str_starts(row, S("stream:"));
}

void trace_rows_streams(struct trace_lanes *t, const struct capture *cap)
{
    for (size_t i = 0; i < t->at.n; i++) {
        struct trace_process *process = &t->processes.at[t->at.at[i].process];
        if (t->at.at[i].hints != 0 && is_device(capture_text(cap, process->name)) &&
            is_stream(capture_text(cap, t->at.at[i].name)))
            process->has_streams = true;
    }
}

enum trace_class trace_rows_xla(const struct capture *cap, const struct trace_lane *lane,
                                const struct trace_process *process)
{
    struct str name = capture_text(cap, process->name), row = capture_text(cap, lane->name);

    if (str_contains(name, S("/stream:all")))
        return CLASS_PART; /* all streams once more */
    if (str_contains(name, S("/stream:")))
        return CLASS_WORK;
    if (!is_device(name))
        return CLASS_HOST;
    if (is_stream(row))
        return CLASS_WORK;
    if (str_equal(row, S("Steps")))
        return CLASS_STEPS;
    if (!process->has_streams &&
        (str_equal(row, S("XLA Ops")) || str_equal(row, S("Async XLA Ops"))))
        return CLASS_WORK;
    return CLASS_PART;
}

enum trace_class trace_rows_rocprof(const struct capture *cap, const struct trace_process *process)
{
    struct str name = capture_text(cap, process->name);
    size_t digits = str_digits(name); /* "6 GPU0": its place comes first */

    if (digits > 0 && digits < name.n && name.at[digits] == ' ')
        name = str_part(name, digits + 1, name.n);
    if (str_starts(name, S("CPU ")))
        return CLASS_CANN;
    if (str_starts(name, S("Markers and Ranges")))
        return CLASS_MARKS;
    if (str_starts(name, S("COPY")) ||
        (str_starts(name, S("GPU")) && name.n > 3 && char_is_digit(name.at[3])))
        return CLASS_WORK;
    return CLASS_PART;
}

/* ---- events ---- */

/* Device work by its name: kernels, copies, and the operations of a compiled module. */
static enum trace_hint work_hint(struct str name)
{
    static const struct str copies[] = {
        S_INIT("memcpy"),    S_INIT("memset"),      S_INIT("copy-start"),
        S_INIT("copy-done"), S_INIT("slice-start"), S_INIT("slice-done"),
        S_INIT("Copy"),      S_INIT("hipMemcpy"),   S_INIT("FillBuffer"),
    };
    static const struct str collectives[] = {
        S_INIT("all-reduce"),         S_INIT("all-gather"), S_INIT("reduce-scatter"),
        S_INIT("collective-permute"), S_INIT("all-to-all"), S_INIT("collective-broadcast"),
    };

    if (STR_ANY(str_contains, name, collectives))
        return HINT_COMM;
    if (STR_ANY(str_starts_nocase, name, copies))
        return HINT_COPY;
    return classify_kernel(VENDOR_NVIDIA, S(""), name, S("")) == SLICE_COMM ? HINT_COMM
                                                                            : HINT_COMPUTE;
}

void trace_rows_hints(const struct trace_lanes *t, struct capture *cap, size_t first)
{
    struct slices *s = &cap->slices;
    uint8_t *known = mem_grow(NULL, 1, cap->strings.strings.n + 1); /* hints plus one, by name */

    memset(known, 0, cap->strings.strings.n + 1);
    for (size_t i = first; i < s->n; i++) {
        enum trace_class class = t->at.at[s->lane[i]].class;
        if (class == CLASS_HOST && t->dialect == TRACE_XLA && s->kind[i] != HINT_STEP) {
            /* "$file.py:12 function" is Python's; the driver's calls have the number of what they
             * launch. */
            if (str_starts(capture_text(cap, s->name[i]), S("$")))
                s->kind[i] = HINT_PYTHON;
            else if (capture_slice_attr(cap, i, KEY_LINK).type == ATTR_INT)
                s->kind[i] = HINT_RUNTIME;
            else
                s->kind[i] = HINT_HOST_OP;
        }
        if (class != CLASS_WORK)
            continue;
        if (known[s->name[i]] == 0)
            known[s->name[i]] = (uint8_t)(1 + work_hint(capture_text(cap, s->name[i])));
        s->kind[i] = (uint8_t)(known[s->name[i]] - 1);
    }
    mem_free(known);
}

/* ---- once sorted ---- */

/* Loops and calls stand on the row of the operations inside them. */
static void open_containers(struct capture *cap, size_t first)
{
    struct slices *s = &cap->slices;
    strid row = capture_intern(cap, S("XLA Ops"));

    for (size_t i = first; i + 1 < s->n; i++)
        if (s->lane[i] == s->lane[i + 1] && cap->lanes.at[s->lane[i]].key.name == row &&
            slice_is_kernel((enum slice_kind)s->kind[i]) && s->dur[i + 1] > 0 &&
            s->begin[i + 1] >= s->begin[i] && slices_end(s, i + 1) <= slices_end(s, i) &&
            s->dur[i + 1] < s->dur[i])
            s->kind[i] = SLICE_OTHER;
}

static bool is_wanted(const struct capture *cap, size_t slice, int64_t device)
{
    int32_t own = cap->lanes.at[cap->slices.lane[slice]].key.device;

    return device < 0 || own < 0 || own == device;
}

static void add_mark(struct capture *cap, size_t slice, int64_t number)
{
    vec_push(&cap->marks,
             ((struct mark){.source = MARK_ITERATION,
                            .name = capture_intern_format(cap, "Step %lld", (long long)number),
                            .number = number,
                            .begin = cap->slices.begin[slice],
                            .end = slices_end(&cap->slices, slice)}));
}

static bool mark_steps(struct capture *cap, size_t first, int64_t device)
{
    size_t before = cap->marks.n;

    for (size_t i = first; i < cap->slices.n; i++) {
        struct str name = capture_text(cap, cap->slices.name[i]);
        int64_t number = (int64_t)(cap->marks.n - before);
        if (cap->slices.kind[i] != SLICE_STEP || !is_wanted(cap, i, device) ||
            cap->lanes.at[cap->slices.lane[i]].key.kind != LANE_OTHER)
            continue;
        num_i64(str_part(name, name.n - str_last_digits(name), name.n), &number);
        add_mark(cap, i, number);
    }
    return cap->marks.n > before;
}

/* Ranges that the program gave a step's number. */
static bool mark_numbered(struct capture *cap, size_t first)
{
    size_t before = cap->marks.n;
    strid key = capture_intern(cap, S("step_num"));

    for (size_t i = first; i < cap->slices.n; i++) {
        struct attr attr;
        int64_t number = -1;
        if (cap->slices.kind[i] != SLICE_HOST_OP)
            continue;
        for (struct attr_walk w = attrs_walk(&cap->attrs, cap->slices.set[i]);
             attrs_next(&w, &attr);)
            if (attr.key == key && attr.type == ATTR_TEXT)
                num_i64(capture_text(cap, attr.text), &number);
        for (struct attr_walk w = attrs_walk(&cap->attrs, cap->slices.own[i]);
             attrs_next(&w, &attr);)
            if (attr.key == key && attr.type == ATTR_INT)
                number = attr.number;
        if (number >= 0)
            add_mark(cap, i, number);
    }
    return cap->marks.n > before;
}

/* The name of a module without the number of its program: "jit_step(123)". */
static strid module_of(struct capture *cap, size_t slice)
{
    struct str name = capture_text(cap, cap->slices.name[slice]);

    return capture_intern(cap, str_part(name, 0, str_find_char(name, '(')));
}

static bool is_module(const struct capture *cap, size_t slice, strid row, int64_t device)
{
    return cap->lanes.at[cap->slices.lane[slice]].key.name == row && is_wanted(cap, slice, device);
}

/* Runs of one module. */
struct module_runs {
    strid name;
    nanos total;
    size_t n;
};

ORDER_BY(longest_first, struct module_runs, ORDER(y->total, x->total) ?: ORDER(x->name, y->name));

/* The module that takes most time, if it runs more than once; else 0. */
static strid main_module(struct capture *cap, size_t first, strid row, int64_t device)
{
    VEC_OF(struct module_runs) runs = {0};
    struct hash places = {0};
    strid found = 0;

    for (size_t i = first; i < cap->slices.n; i++) {
        if (!is_module(cap, i, row, device))
            continue;
        struct module_runs one = {module_of(cap, i), cap->slices.dur[i], 1};
        uint32_t fresh = (uint32_t)runs.n, k = hash_add(&places, one.name, fresh);
        if (k == fresh) {
            vec_push(&runs, one);
        } else if (k < runs.n) {
            runs.at[k].total = nanos_add(runs.at[k].total, one.total);
            runs.at[k].n++;
        }
    }
    if (runs.n > 0)
        qsort(runs.at, runs.n, sizeof(*runs.at), longest_first);
    if (runs.n > 0 && runs.at[0].n > 1)
        found = runs.at[0].name;
    hash_free(&places);
    vec_free(&runs);
    return found;
}

/* Without steps: each run of that module is one. */
static void mark_modules(struct capture *cap, size_t first, int64_t device)
{
    strid row = capture_intern(cap, S("XLA Modules"));
    strid module = main_module(cap, first, row, device);
    int64_t n = 0;

    for (size_t i = first; i < cap->slices.n && module != 0; i++)
        if (is_module(cap, i, row, device) && module_of(cap, i) == module)
            add_mark(cap, i, n++);
}

/* Ranges of a program that are named like steps. */
static void mark_ranges(struct capture *cap, size_t first)
{
    for (size_t i = first; i < cap->slices.n; i++) {
        struct slice slice = {.name = cap->slices.name[i],
                              .begin = cap->slices.begin[i],
                              .dur = cap->slices.dur[i],
                              .kind = (enum slice_kind)cap->slices.kind[i]};
        if (slice.kind != SLICE_ANNOTATION)
            continue;
        step_name_mark(cap, &slice, true);
        cap->slices.kind[i] = (uint8_t)slice.kind;
    }
}

/* Calls of HIP are AMD's; a TPU is neither's. */
static enum vendor vendor_of(const struct trace_lanes *t, const struct capture *cap, size_t first)
{
    enum vendor vendor = VENDOR_UNKNOWN;

    for (size_t i = 0; i < t->processes.n; i++)
        if (str_contains(capture_text(cap, t->processes.at[i].name), S("GPU:")) ||
            str_contains(capture_text(cap, t->processes.at[i].name), S("/gpu:")))
            vendor = VENDOR_NVIDIA;
    for (size_t i = first; i < cap->slices.n && vendor == VENDOR_NVIDIA; i++)
        if (cap->slices.kind[i] == SLICE_RUNTIME &&
            str_starts(capture_text(cap, cap->slices.name[i]), S("hip")))
            vendor = VENDOR_AMD;
    return vendor;
}

void trace_rows_settle(const struct trace_lanes *t, struct capture *cap, size_t first,
                       int64_t device)
{
    if (t->dialect == TRACE_ROCPROF) {
        mark_ranges(cap, first);
        return;
    }
    open_containers(cap, first);
    if (!mark_steps(cap, first, device) && !mark_numbered(cap, first))
        mark_modules(cap, first, device);
    cap->facts.vendor = vendor_of(t, cap, first);
}
