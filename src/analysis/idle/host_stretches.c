/*
 * Which stretches are host work: a stretch is judged by the median of its timeline; one that ends
 * in a copy of what it made is input, one beside a compiler's call or a new kernel compilation.
 */
#include "analysis/idle/host_timeline.h"

#include "analysis/diagnose/limits.h"
#include "base/tables/ranked.h"

nanos host_timeline_median(nanos *values, size_t n)
{
    return n > 0 ? ranked_pick(values, n, n / 2) : 0;
}

/* The first copy to the device that a call makes, or that follows with no launch before it. */
static const struct device_task *next_write(const struct host_timelines *out,
                                            const struct device_tasks *tasks, size_t call)
{
    for (size_t i = call; i < out->n && i <= call + LIMIT_WRITE_CALLS; i++) {
        const struct host_call *c = &out->calls[i];
        if (c->timeline != out->calls[call].timeline || c->kind == CALL_LAUNCH ||
            c->kind == CALL_GRAPH)
            return NULL;
        if (c->kind == CALL_COPY && c->tasks > 0 && tasks->at[c->first_task].class == TASK_COPY)
            return tasks->at[c->first_task].copy <= COPY_H2D ? &tasks->at[c->first_task] : NULL;
    }
    return NULL;
}

/* Host work that ends in a copy to the device made the input. */
static bool is_input(const struct capture *cap, const struct host_timelines *out,
                     const struct device_tasks *tasks, size_t call)
{
    uint8_t class = out->calls[call].class;

    if (class != STRETCH_OPERATOR && class != STRETCH_PYTHON && class != STRETCH_UNTRACED)
        return false;
    const struct device_task *t = next_write(out, tasks, call);
    return t != NULL && device_task_bytes(cap, t) >=
                            (class == STRETCH_UNTRACED ? LIMIT_INPUT_UNSEEN : LIMIT_INPUT_BYTES);
}

/* What a call does for the first time. */
enum { NEW_KERNEL = 1, NEW_SHAPES = 2 };

/* Calls that launch a generated kernel for the first time. */
static uint8_t *find_new_kernels(const struct capture *cap, const struct host_timelines *out,
                                 const struct device_tasks *tasks)
{
    uint8_t *fresh = mem_grow(NULL, 1, out->n + 1);
    struct hash seen = {0};

    memset(fresh, 0, out->n + 1);
    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        strid name = cap->slices.name[t->slice];
        if (hash_add(&seen, name, (uint32_t)i) == i && t->call != NO_CALL &&
            str_contains(capture_text(cap, name), S("triton_")))
            fresh[t->call] = NEW_KERNEL;
    }
    hash_free(&seen);
    return fresh;
}

/* Whether a call's operator had been running for long when it launched. */
static bool is_slow_operator(const struct capture *cap, const struct host_call *c)
{
    return c->op != NO_SLICE && c->stretch >= LIMIT_COMPILE_LONG &&
           c->begin - device_time(cap->slices.begin[c->op]) >= LIMIT_COMPILE_LONG;
}

/* Libraries choose or build a kernel when an operator meets new shapes, and launch it at once when
 * it meets them again: marks slow calls where the operator's shapes are new. */
static void find_new_shapes(const struct capture *cap, const struct host_timelines *out,
                            uint8_t *fresh)
{
    struct hash names = {0}, seen = {0}; /* names of such operators, and their shapes */

    for (size_t i = 0; i < out->n; i++)
        if (is_slow_operator(cap, &out->calls[i]))
            hash_put(&names, cap->slices.name[out->calls[i].op], 0);
    for (size_t i = 0; i < out->n && names.n > 0; i++) {
        uint32_t op = out->calls[i].op, any;
        if (op == NO_SLICE || out->calls[i].tasks == 0 ||
            !hash_get(&names, cap->slices.name[op], &any))
            continue;
        struct attr shapes = capture_slice_attr(cap, op, KEY_INPUT_SHAPES);
        if (shapes.type == ATTR_TEXT &&
            hash_add(&seen, hash_mix(cap->slices.name[op], shapes.text), (uint32_t)i) == i &&
            is_slow_operator(cap, &out->calls[i]))
            fresh[i] |= NEW_SHAPES;
    }
    hash_free(&names);
    hash_free(&seen);
}

/* A long stretch beside a call that loads or compiles, inside an operator that meets new shapes, or
 * before a kernel that is new. */
static bool is_compilation(const struct host_timelines *out, const uint8_t *fresh, size_t call)
{
    const struct host_call *c = &out->calls[call];

    if (c->class == STRETCH_LAUNCH || c->class == STRETCH_INPUT || c->stretch < LIMIT_COMPILE_LONG)
        return false;
    if (c->kind == CALL_COMPILE ||
        (call > 0 && c[-1].timeline == c->timeline && c[-1].kind == CALL_COMPILE))
        return true;
    if ((fresh[call] & NEW_SHAPES) != 0)
        return true;
    size_t launches = 0;
    for (size_t i = call; i < out->n && launches < LIMIT_NEW_KERNEL; i++) {
        if (out->calls[i].timeline != c->timeline)
            break;
        if ((fresh[i] & NEW_KERNEL) != 0)
            return true;
        launches += out->calls[i].tasks > 0;
    }
    return false;
}

static bool is_named(const struct capture *cap, const struct host_call *c, struct str part)
{
    return c->kind == CALL_COMPILE &&
           str_contains(capture_text(cap, cap->slices.name[c->slice]), part);
}

/* While a graph is captured the device gets nothing: that time is compilation. */
static void mark_captures(const struct capture *cap, struct host_timelines *out)
{
    bool is_inside = false;

    for (size_t i = 0; i < out->n; i++) {
        struct host_call *c = &out->calls[i];
        if ((i > 0 && c[-1].timeline != c->timeline) || c->tasks > 0)
            is_inside = false;
        bool was_inside = is_inside;
        is_inside = is_named(cap, c, S("BeginCapture")) ||
                    (is_inside && !is_named(cap, c, S("EndCapture")));
        if (was_inside) {
            c->kind = CALL_COMPILE;
            c->class = STRETCH_COMPILE;
        }
    }
}

size_t host_stretch_switches(nanos piece)
{
    nanos times = (piece + LIMIT_SWITCH / 100) / LIMIT_SWITCH;
    nanos late = piece - times * LIMIT_SWITCH; /* each time a little */
    bool is_near = late <= times * (LIMIT_SWITCH / 100) * LIMIT_SWITCH_LATE;

    return times <= LIMIT_SWITCH_MOST && is_near ? (size_t)times : 0;
}

/* A thread that computes in Python keeps the interpreter for a switch interval, and others wait
 * for it wherever they come back from a library: inside operators, too. Some waits are one interval
 * and some are several; a wait of each step that happens to be near a multiple is always the same.
 */
static void mark_locked(struct host_timelines *out)
{
    size_t pieces = 0, switches = 0, longer = 0;

    for (size_t i = 0; i < out->n; i++) {
        pieces += out->calls[i].pieces;
        switches += out->calls[i].switches;
        longer += out->calls[i].longer;
    }
    out->is_locked = switches >= LIMIT_SWITCH_PIECES &&
                     switches * 100 >= pieces * LIMIT_SWITCH_SHARE &&
                     longer * 100 >= switches * LIMIT_SWITCH_LONGER &&
                     (switches - longer) * 100 >= switches * LIMIT_SWITCH_LONGER;
    for (size_t i = 0; i < out->n && out->is_locked; i++)
        if (out->calls[i].held > 0 && out->calls[i].held >= out->calls[i].stretch / 2)
            out->calls[i].class = STRETCH_UNTRACED;
}

void host_stretches_judge(const struct capture *cap, const struct device_tasks *tasks,
                          struct host_timelines *out)
{
    uint8_t *fresh = find_new_kernels(cap, out, tasks);

    find_new_shapes(cap, out, fresh);
    for (size_t i = 0; i < out->count; i++) {
        /* The median stretch decides which candidates are host work. */
        struct host_call *calls = out->calls;
        struct host_timeline *t = &out->at[i];
        nanos *values = mem_grow(NULL, sizeof(*values), t->n + 1);
        for (size_t k = 0; k < t->n; k++)
            values[k] = calls[t->first + k].stretch;
        t->median = host_timeline_median(values, t->n);
        mem_free(values);
        nanos least = t->median < LIMIT_STRETCH_CAP / LIMIT_STRETCH_TIMES
                          ? LIMIT_STRETCH_TIMES * t->median
                          : LIMIT_STRETCH_CAP;
        least = least > LIMIT_LONG_SLICE ? least : LIMIT_LONG_SLICE;
        for (size_t k = t->first; k < t->first + t->n; k++)
            if (!calls[k].is_candidate || calls[k].stretch < least)
                calls[k].class = STRETCH_LAUNCH;
    }
    for (size_t i = 0; i < out->n; i++)
        if (is_compilation(out, fresh, i))
            out->calls[i].class = STRETCH_COMPILE;
        else if (is_input(cap, out, tasks, i))
            out->calls[i].class = STRETCH_INPUT;
    mark_locked(out);
    mark_captures(cap, out);
    host_start_up_mark(cap, tasks, out);
    mem_free(fresh);
}
