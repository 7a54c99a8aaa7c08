/* Rows, events and steps of traces by XLA and rocprof. */
#include "input/trace/trace_rows.h"

#include <stdlib.h>

#include "base/text/char.h"
#include "input/trace/step_name.h"
#include "input/xla/xla_steps.h"

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

/* Device work by its name. */
static enum trace_hint work_hint(struct str name)
{
    enum slice_kind kind = xla_work_kind(name);

    return kind == SLICE_COPY ? HINT_COPY : kind == SLICE_COMM ? HINT_COMM : HINT_COMPUTE;
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
    xla_steps_settle(cap, first, device);
    cap->facts.vendor = vendor_of(t, cap, first);
}
