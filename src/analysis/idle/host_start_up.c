/*
 * Start-up: a first call is slow because the driver loads code or makes a context, or a library
 * sets itself up. A call is one when it lasts many times what calls of its name usually do, and
 * what the device gets next from its thread is work of a name that it never had before.
 *
 * What a library does before it launches for the first time has few events of its own. It shows by
 * what is in it or around it: the driver's entry points are looked up one by one, code is loaded
 * at its end, or an operator's first call lasts many times what its others do.
 */
#include "analysis/diagnose/limits.h"
#include "analysis/idle/host_timeline.h"
#include "base/tables/ranked.h"

/* What calls of a runtime, or operators, of one name have in common, by string number. */
struct start_name {
    nanos usual, first; /* how long they last, and when the first one begins */
    size_t n, at;       /* where its durations lie while they are collected */
};

struct start_up {
    const struct capture *cap;
    const struct device_tasks *tasks;
    struct start_name *names;
    uint8_t *is_fresh; /* by call: it launches work of a name that is new */
    nanos *ends;       /* by task: when it and all before it have ended */
};

static bool start_is_runtime(const struct capture *cap, size_t slice)
{
    return cap->slices.kind[slice] == SLICE_RUNTIME;
}

/* Whose durations are compared by name. */
static bool start_is_named(const struct capture *cap, size_t slice)
{
    return start_is_runtime(cap, slice) || cap->slices.kind[slice] == SLICE_HOST_OP;
}

static nanos start_length(const struct capture *cap, size_t slice)
{
    return device_time(slices_end(&cap->slices, slice)) - device_time(cap->slices.begin[slice]);
}

/* The median, but where half of the calls may be first ones: then no more than is usual elsewhere,
 * `most`, unless three quarters of several calls last longer, as those that map memory do. */
static nanos usual_of(nanos *times, size_t n, nanos most)
{
    nanos median = ranked_pick(times, n, n / 2), low = ranked_pick(times, n, n / 4);

    if (n >= LIMIT_START_CALLS && low > most)
        return low;
    return median < most ? median : most;
}

/* What calls of a name last at most where there are too few to tell. Operators differ too much. */
static nanos most_usual(const struct capture *cap, strid name, size_t n, bool is_runtime)
{
    if (!is_runtime)
        return n >= LIMIT_START_CALLS ? 0 : INT64_MAX / LIMIT_START_TIMES;
    return n < LIMIT_START_CALLS && host_call_kind(capture_text(cap, name)) == CALL_LAUNCH
               ? LIMIT_START_LAUNCH
               : LIMIT_START_USUAL;
}

/* How long calls of each name usually take, and when the first was. Two passes, so that the times
 * of all names lie in one array. */
static struct start_name *find_names(const struct capture *cap)
{
    size_t strings = cap->strings.strings.n + 1, at = 0;
    struct start_name *names = mem_grow(NULL, sizeof(*names), strings);
    bool *is_runtime = mem_grow(NULL, sizeof(*is_runtime), strings);
    const struct slices *s = &cap->slices;

    memset(is_runtime, 0, strings * sizeof(*is_runtime));
    for (size_t i = 0; i < strings; i++)
        names[i] = (struct start_name){.usual = LIMIT_START_USUAL, .first = INT64_MAX};
    for (size_t i = 0; i < s->n; i++) {
        names[s->name[i]].n += start_is_named(cap, i);
        is_runtime[s->name[i]] |= start_is_runtime(cap, i);
    }
    for (size_t i = 0; i < strings; i++) {
        names[i].at = at;
        at += names[i].n;
        names[i].n = 0;
    }
    nanos *times = mem_grow(NULL, sizeof(*times), at + 1);
    for (size_t i = 0; i < s->n; i++) {
        struct start_name *name = &names[s->name[i]];
        if (!start_is_named(cap, i))
            continue;
        times[name->at + name->n++] = start_length(cap, i);
        name->first = s->begin[i] < name->first ? s->begin[i] : name->first;
    }
    for (size_t i = 0; i < strings; i++)
        if (names[i].n > 0)
            names[i].usual = usual_of(times + names[i].at, names[i].n,
                                      most_usual(cap, (strid)i, names[i].n, is_runtime[i]));
    mem_free(times);
    mem_free(is_runtime);
    return names;
}

/* Calls that launch work of a name that the device never had. */
static uint8_t *find_fresh(const struct capture *cap, const struct device_tasks *tasks, size_t n)
{
    uint8_t *fresh = mem_grow(NULL, 1, n + 1);
    struct hash seen = {0};

    memset(fresh, 0, n + 1);
    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        bool is_new = hash_add(&seen, cap->slices.name[t->slice], (uint32_t)i) == i;
        if (is_new && t->call != NO_CALL && t->call < n)
            fresh[t->call] = 1;
    }
    hash_free(&seen);
    return fresh;
}

/* Far longer than calls of this name are. */
static bool is_outlier(const struct start_up *s, uint32_t slice, nanos length)
{
    nanos least = s->names[s->cap->slices.name[slice]].usual * LIMIT_START_TIMES;

    return length >= (least > LIMIT_START_LEAST ? least : LIMIT_START_LEAST);
}

static bool is_first_of_name(const struct start_up *s, uint32_t slice)
{
    return s->cap->slices.begin[slice] <= s->names[s->cap->slices.name[slice]].first;
}

/* When all tasks up to each have ended. */
static nanos *find_ends(const struct device_tasks *tasks)
{
    nanos *ends = mem_grow(NULL, sizeof(*ends), tasks->n + 1);
    nanos end = INT64_MIN;

    for (size_t i = 0; i < tasks->n; i++)
        ends[i] = end = tasks->at[i].end > end ? tasks->at[i].end : end;
    return ends;
}

/* How long the device idles inside the call until the task begins that it launches; 0: the task
 * waits for something else behind it. A copy may wait for what the device does before it. */
static nanos head_of(const struct start_up *s, const struct host_call *c)
{
    const struct device_task *t = &s->tasks->at[c->first_task];
    nanos end = t->begin < c->end ? t->begin : c->end, begin = c->begin;

    if (c->first_task > 0 && s->ends[c->first_task - 1] > begin)
        begin = s->ends[c->first_task - 1];
    nanos late = nanos_sub(c->end, c->begin) / LIMIT_START_LATE; /* code goes to the device, too */
    late = late > LIMIT_QUEUE_MOST ? late : LIMIT_QUEUE_MOST;
    return t->begin > c->end + late || end < begin ? 0 : nanos_sub(end, begin);
}

static bool is_loader(const struct start_up *s, const struct host_call *c)
{
    struct str name = capture_text(s->cap, s->cap->slices.name[c->slice]);

    return c->class != STRETCH_COMPILE &&
           (str_contains(name, S("ModuleLoad")) || str_contains(name, S("LibraryLoad")));
}

/* `is_new`: what the thread launches with this call, or next, is new. */
static bool is_first_call(const struct start_up *s, const struct host_call *c, bool is_new)
{
    nanos length = nanos_sub(c->end, c->begin);

    switch ((enum call_kind)c->kind) {
    case CALL_LAUNCH:
    case CALL_GRAPH:
    case CALL_COPY:
        if (c->tasks > 0) {
            nanos head = head_of(s, c), least = c->kind == CALL_COPY ? length / 2 : 0;
            return is_new && head >= least && is_outlier(s, c->slice, head);
        }
        return is_new && is_outlier(s, c->slice, length);
    case CALL_ALLOC:
    case CALL_FREE:
        return (is_new || is_first_of_name(s, c->slice)) && is_outlier(s, c->slice, length);
    case CALL_COMPILE: /* each loads something else: none is usual */
        return is_new && is_loader(s, c) && length >= LIMIT_START_LEAST;
    default:
        return false;
    }
}

/* A stretch that one long first call of a runtime fills, which touches the device by no work. */
static bool is_filled_by_call(const struct start_up *s, const struct host_call *c, bool is_new)
{
    if (c->filler == NO_SLICE || !start_is_runtime(s->cap, c->filler))
        return false;
    nanos length = start_length(s->cap, c->filler);
    return (is_new || is_first_of_name(s, c->filler)) && length >= c->stretch / 2 &&
           is_outlier(s, c->filler, length);
}

/* Inside the first call of an operator, which lasts many times what its others do. */
static bool is_in_first_operator(const struct start_up *s, const struct host_call *c)
{
    if (c->op == NO_SLICE || !is_first_of_name(s, c->op) ||
        device_time(s->cap->slices.begin[c->op]) > c->begin - c->stretch / 2)
        return false;
    return is_outlier(s, c->op, start_length(s->cap, c->op));
}

/* A stretch in which a library sets itself up, or the first of its calls in it. */
static bool is_first_stretch(const struct start_up *s, const struct host_call *c, bool is_new)
{
    if (c->stretch <= 0 || c->class == STRETCH_COMPILE || c->class == STRETCH_INPUT)
        return false;
    if (is_filled_by_call(s, c, is_new))
        return true;
    if (c->class == STRETCH_LAUNCH || !is_new)
        return false;
    return c->lookups >= LIMIT_START_LOOKUPS || (c->is_start_up && is_loader(s, c)) ||
           is_in_first_operator(s, c);
}

void host_start_up_mark(const struct capture *cap, const struct device_tasks *tasks,
                        struct host_timelines *out)
{
    struct start_up s = {cap, tasks, find_names(cap), find_fresh(cap, tasks, out->n),
                         find_ends(tasks)};
    bool is_new = false;

    /* From the last call to the first: what comes next is known. */
    for (size_t i = out->n; i-- > 0;) {
        struct host_call *c = &out->calls[i];
        if (i + 1 < out->n && out->calls[i + 1].timeline != c->timeline)
            is_new = false;
        if (c->tasks > 0)
            is_new = s.is_fresh[i] != 0;
        c->is_start_up = is_first_call(&s, c, is_new);
        if (is_first_stretch(&s, c, is_new))
            c->class = STRETCH_START_UP;
    }
    mem_free(s.ends);
    mem_free(s.is_fresh);
    mem_free(s.names);
}
