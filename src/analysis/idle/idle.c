/*
 * Causes of idle time.
 */
#include "analysis/idle/idle.h"

#include "analysis/diagnose/limits.h"
#include "analysis/idle/host_names.h"

void idle_init(struct idle_finder *f, const struct capture *cap, struct accounting *a,
               struct arena *arena)
{
    /* The gap before each task whose launch ended before its stream's previous task did. */
    nanos *gaps = mem_grow(NULL, sizeof(*gaps), a->tasks.n + 1);
    nanos *ends = mem_grow(NULL, sizeof(*ends), a->tasks.streams + 1);
    size_t n = 0;

    for (size_t i = 0; i <= a->tasks.streams; i++)
        ends[i] = INT64_MAX;
    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        nanos last = ends[t->stream];
        if (t->call != NO_CALL && last != INT64_MAX && a->host.calls[t->call].end < last &&
            t->begin >= last && !t->is_graph)
            gaps[n++] = t->begin - last;
        ends[t->stream] = t->end;
    }
    mem_free(ends);
    *f = (struct idle_finder){.cap = cap, .a = a};
    a->back_to_back = host_timeline_median(gaps, n);
    mem_free(gaps);
    nanos latency =
        a->back_to_back < LIMIT_QUEUE_MOST ? LIMIT_QUEUE_TIMES * a->back_to_back : LIMIT_QUEUE_MOST;
    latency = latency > LIMIT_QUEUE_LEAST ? latency : LIMIT_QUEUE_LEAST;
    a->queue_latency = latency < LIMIT_QUEUE_MOST ? latency : LIMIT_QUEUE_MOST;
    f->drains = ARENA_ARRAY(arena, struct idle_drain, a->host.count);
    for (size_t i = 0; i < a->host.count; i++)
        f->drains[i].call = NO_CALL;
}

void idle_fini(struct idle_finder *f)
{
    vec_free(&f->backward);
}

bool idle_is_read(const struct accounting *a, const struct host_call *call)
{
    return call->kind == CALL_COPY && call->tasks > 0 &&
           device_task_is_value(&a->tasks.at[call->first_task]);
}

bool idle_is_blocking_copy(const struct accounting *a, const struct host_call *call)
{
    if (call->kind != CALL_COPY || call->tasks == 0)
        return false;
    const struct device_task *t = &a->tasks.at[call->first_task];
    nanos begin = t->begin > call->begin ? t->begin : call->begin;
    nanos end = t->end < call->end ? t->end : call->end, length = t->end - t->begin;
    nanos late = length / LIMIT_COPY_STAGED;
    late = late > LIMIT_COPY_RETURN ? late : LIMIT_COPY_RETURN;
    return t->class == TASK_COPY && t->end <= call->end + late && end - begin > length / 2;
}

static enum idle_cause cause_of_call(const struct accounting *a, const struct host_call *call)
{
    if (call->is_start_up)
        return CAUSE_START_UP;
    switch ((enum call_kind)call->kind) {
    case CALL_SYNC:
        return CAUSE_SYNC;
    case CALL_ALLOC:
    case CALL_FREE:
        return CAUSE_ALLOCATOR;
    case CALL_COMPILE:
        return CAUSE_COMPILE;
    case CALL_COPY:
        return idle_is_blocking_copy(a, call) ? CAUSE_COPY_STAGING : CAUSE_LAUNCH;
    default:
        return CAUSE_LAUNCH;
    }
}

static enum idle_cause cause_of_stretch(const struct host_call *call)
{
    static const enum idle_cause causes[] = {
        [STRETCH_LAUNCH] = CAUSE_LAUNCH,     [STRETCH_OPERATOR] = CAUSE_OPERATOR,
        [STRETCH_INPUT] = CAUSE_INPUT,       [STRETCH_PYTHON] = CAUSE_PYTHON,
        [STRETCH_UNTRACED] = CAUSE_UNTRACED, [STRETCH_COMPILE] = CAUSE_COMPILE,
        [STRETCH_START_UP] = CAUSE_START_UP,
    };

    return causes[call->class];
}

/* Puts [begin, end) in front of what is there; like causes become one. */
static void put_before(struct idle_finder *f, struct interval at, enum idle_cause cause,
                       uint32_t filler)
{
    struct idle_piece *last = f->backward.n > 0 ? &f->backward.at[f->backward.n - 1] : NULL;

    if (at.begin >= at.end)
        return;
    if (last != NULL && last->cause == cause && last->at.begin == at.end) {
        if (at.end - at.begin > last->at.end - last->at.begin)
            last->filled_by = filler;
        last->at.begin = at.begin;
        return;
    }
    vec_push(&f->backward, ((struct idle_piece){.at = at,
                                                .cause = (uint8_t)cause,
                                                .filled_by = filler,
                                                .enabled_by = NO_SLICE,
                                                .waits_for = NO_SLICE}));
}

static struct interval cut(nanos begin, nanos end, struct interval window)
{
    return (struct interval){begin > window.begin ? begin : window.begin,
                             end < window.end ? end : window.end};
}

/* What came before a call: the one before it on its timeline, or, when its thread waited for the
 * queue, the one that put the work there. The time between the two is part of launching. NO_CALL:
 * nothing is known. */
static uint32_t call_before(struct idle_finder *f, struct interval gap, uint32_t call)
{
    const struct accounting *a = f->a;
    const struct host_call *c = &a->host.calls[call];
    uint32_t before = call > a->host.at[c->timeline].first ? call - 1 : NO_CALL;
    nanos end = before != NO_CALL ? a->host.calls[before].end : INT64_MIN;

    if (c->enqueued_by != NO_CALL && end <= a->host.calls[c->enqueued_by].end) {
        before = c->enqueued_by;
        end = a->host.calls[before].end;
    }
    if (before != NO_CALL)
        put_before(f, cut(end, c->begin - c->stretch, gap), CAUSE_LAUNCH, c->slice);
    return before;
}

uint32_t idle_awaited(const struct accounting *a, nanos begin, size_t next)
{
    const struct device_tasks *tasks = &a->tasks;
    const struct device_task *t = &tasks->at[next];
    uint32_t best = NO_SLICE;
    nanos end = INT64_MIN;

    for (size_t i = next; i-- > 0 && next - i <= LIMIT_LOOK_BACK;) {
        const struct device_task *other = &tasks->at[i];
        if (other->stream != t->stream && other->end > end && other->end <= t->begin &&
            other->end >= begin - LIMIT_AWAITED) {
            end = other->end;
            best = other->slice;
        }
    }
    return best;
}

static void fill_queued(struct idle_finder *f, struct interval gap, size_t next)
{
    const struct device_task *t = &f->a->tasks.at[next];
    uint32_t other = gap.end - gap.begin <= f->a->queue_latency || t->is_graph
                         ? NO_SLICE
                         : idle_awaited(f->a, gap.begin, next);

    put_before(f, gap, other != NO_SLICE ? CAUSE_DEVICE_DEPENDENCY : CAUSE_DEVICE_LATENCY,
               NO_SLICE);
    f->backward.at[0].waits_for = other;
}

/* The host was late: its time from the gap's start up to the launch, backwards. Gives the last
 * blocking call that returned in time to have emptied the queue, or NO_CALL. */
static uint32_t fill_late(struct idle_finder *f, struct interval gap, size_t next)
{
    const struct accounting *a = f->a;
    uint32_t launch = a->tasks.at[next].call, blocker = NO_CALL;
    const struct host_call *c = &a->host.calls[launch];
    nanos queued = c->end + LIMIT_LAUNCH_LATE;

    if (gap.end > queued) {
        fill_queued(f, (struct interval){queued, gap.end}, next);
        gap.end = queued;
    }
    put_before(f, cut(c->begin, INT64_MAX, gap), cause_of_call(a, c), c->slice);
    put_before(f, cut(c->begin - c->stretch, c->begin, gap), cause_of_stretch(c), c->filler);
    for (uint32_t i = call_before(f, gap, launch);
         i != NO_CALL && a->host.calls[i].end > gap.begin - a->queue_latency;
         i = call_before(f, gap, i)) {
        c = &a->host.calls[i];
        if (blocker == NO_CALL && (c->kind == CALL_SYNC || idle_is_blocking_copy(a, c)))
            blocker = i;
        put_before(f, cut(c->begin, c->end, gap), cause_of_call(a, c), c->slice);
        put_before(f, cut(c->begin - c->stretch, c->begin, gap), cause_of_stretch(c), c->filler);
    }
    /* Before the timeline's first call nothing is known. */
    nanos known = f->backward.n > 0 ? f->backward.at[f->backward.n - 1].at.begin : gap.end;
    put_before(f, (struct interval){gap.begin, known}, CAUSE_UNTRACED, NO_SLICE);
    return blocker;
}

/* The drain of the thread that asks for work. */
static struct idle_drain *drain_of(struct idle_finder *f, const struct host_call *c)
{
    return &f->drains[host_call_asked(&f->a->host, c)->timeline];
}

/* Moves to the task that ends the gap; tasks that had to wait their turn end a drain. */
static size_t find_next(struct idle_finder *f, nanos end)
{
    const struct accounting *a = f->a;

    for (; f->task < a->tasks.n && a->tasks.at[f->task].begin < end; f->task++) {
        const struct device_task *t = &a->tasks.at[f->task];
        if (t->call == NO_CALL)
            continue;
        const struct host_call *c = &a->host.calls[t->call];
        if (t->begin - c->end > a->queue_latency)
            drain_of(f, c)->call = NO_CALL;
    }
    for (size_t i = f->task; i < a->tasks.n && a->tasks.at[i].begin == end; i++)
        if (a->tasks.at[i].call != NO_CALL)
            return i;
    return f->task;
}

/* Charges a host gap to the call that drained the queue, up to the time it blocked. */
static void charge(struct idle_finder *f, struct idle_drain *drain, struct idle_piece *p)
{
    struct account_step *s = &f->a->steps[p->step];
    nanos all = p->at.end - p->at.begin, part = 0;

    if (drain->call != NO_CALL) {
        part = all < drain->budget ? all : drain->budget;
        drain->budget -= part;
    }
    if (part > 0) {
        p->state = GAP_DRAINED;
        p->enabled_by = f->a->host.calls[drain->call].slice;
    } else {
        p->state = GAP_HOST_SLOWER;
    }
    s->drained += part;
    s->host_slower += all - part;
}

/* Gives the pieces of a gap to the list, first one first. */
static void idle_flush(struct idle_finder *f, size_t next, enum gap_state state)
{
    struct accounting *a = f->a;
    const struct device_task *t = next < a->tasks.n ? &a->tasks.at[next] : NULL;
    const struct host_call *call = t != NULL && t->call != NO_CALL ? &a->host.calls[t->call] : NULL;

    while (f->backward.n > 0) {
        struct idle_piece p = f->backward.at[--f->backward.n];
        p.step = (uint32_t)f->step;
        p.gap = (uint32_t)a->gaps;
        p.task = t != NULL ? (uint32_t)next : UINT32_MAX;
        p.launch = call != NULL ? call->slice : NO_SLICE;
        p.state = (uint8_t)state;
        if (state == GAP_HOST_SLOWER && call != NULL)
            charge(f, drain_of(f, call), &p);
        a->steps[f->step].by[ACCOUNT_IDLE + p.cause] += p.at.end - p.at.begin;
        vec_push(&a->pieces, p);
    }
    a->gaps++;
}

/* A gap inside one window. */
static void add_gap(struct idle_finder *f, struct interval gap)
{
    const struct accounting *a = f->a;
    size_t next = find_next(f, gap.end);
    uint32_t launch = next < a->tasks.n ? a->tasks.at[next].call : NO_CALL;

    f->backward.n = 0;
    if (launch == NO_CALL) {
        put_before(f, gap, CAUSE_UNKNOWN, NO_SLICE);
        idle_flush(f, next, GAP_UNLINKED);
    } else if (a->host.calls[launch].end <= gap.begin) {
        fill_queued(f, gap, next);
        idle_flush(f, next, GAP_QUEUED);
    } else {
        uint32_t blocker = fill_late(f, gap, next);
        if (blocker != NO_CALL) {
            const struct host_call *b = &a->host.calls[blocker];
            f->drains[b->timeline] = (struct idle_drain){blocker, b->end - b->begin};
        }
        idle_flush(f, next, GAP_HOST_SLOWER);
    }
}

void idle_add(struct idle_finder *f, struct interval gap)
{
    struct accounting *a = f->a;

    for (; f->step < a->n && a->steps[f->step].window.begin < gap.end; f->step++) {
        struct interval part = cut(gap.begin, gap.end, a->steps[f->step].window);
        if (part.begin < part.end)
            add_gap(f, part);
        if (a->steps[f->step].window.end >= gap.end)
            break;
    }
}
