/*
 * Building the model and running it.
 */
#include "analysis/diagnose/trace_replay.h"

#include "analysis/diagnose/limits.h"
#include "analysis/idle/idle.h"
#include "base/tables/heap.h"

/* ---- constants of the trace ---- */

/* Latency: median start after the launch's end, of tasks that found their stream idle. Gap: mean
 * distance of tasks that were queued behind another one. */
static void find_constants(struct trace_replay *r)
{
    const struct accounting *a = r->a;
    nanos *ends = mem_grow(NULL, sizeof(*ends), a->tasks.streams + 1);
    nanos *starts = mem_grow(NULL, sizeof(*starts), a->tasks.n + 1);
    size_t n = 0, pairs = 0;
    nanos gaps = 0;

    for (size_t i = 0; i <= a->tasks.streams; i++)
        ends[i] = INT64_MIN;
    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        nanos last = ends[t->stream];
        ends[t->stream] = t->end;
        if (t->call == NO_CALL || t->is_graph)
            continue;
        const struct host_call *c = &a->host.calls[t->call];
        nanos gap = nanos_sub(t->begin, last);
        if (last < c->end - LIMIT_REPLAY_IDLE) {
            starts[n++] = t->begin - c->end;
        } else if (last > c->end && gap < LIMIT_UNEXPLAINED && gap > -LIMIT_UNEXPLAINED) {
            gaps += gap;
            pairs++;
        }
    }
    r->latency = host_timeline_median(starts, n);
    r->gap = pairs > 0 ? gaps / (nanos)pairs : LIMIT_GAP_DEFAULT;
    mem_free(starts);
    mem_free(ends);
}

/* Median time from putting work into a queue to taking it out, of threads that waited for it. */
static nanos find_handover(const struct accounting *a)
{
    nanos *values = mem_grow(NULL, sizeof(*values), a->host.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < a->host.n; i++) {
        const struct host_call *c = &a->host.calls[i];
        if (c->enqueued_by == NO_CALL)
            continue;
        nanos put = a->host.calls[c->enqueued_by].end;
        if (i == a->host.at[c->timeline].first || c[-1].end <= put)
            values[n++] = c->begin - c->stretch - put;
    }
    nanos median = host_timeline_median(values, n);
    mem_free(values);
    return median;
}

/* Mean gap between nodes of graphs, by the classes of the two; from every other step. */
struct graph_gaps {
    nanos sum[TASK_CLASSES][TASK_CLASSES];
    nanos n[TASK_CLASSES][TASK_CLASSES];
};

static bool is_next_in_graph(const struct device_task *last, const struct device_task *t)
{
    return last != NULL && t->is_graph && last->is_graph && last->call == t->call;
}

static void find_graph_gaps(const struct accounting *a, struct graph_gaps *g)
{
    const struct device_task **last = mem_grow(NULL, sizeof(*last), a->tasks.streams + 1);

    *g = (struct graph_gaps){0};
    memset(last, 0, sizeof(*last) * (a->tasks.streams + 1));
    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i], *before = last[t->stream];
        if (is_next_in_graph(before, t) && t->step % 2 == 0) {
            g->sum[before->class][t->class] += t->begin - before->end;
            g->n[before->class][t->class]++;
        }
        last[t->stream] = t;
    }
    mem_free(last);
}

/* The gap before a task: the graph's own inside a graph. */
static nanos gap_before(const struct graph_gaps *g, const struct device_task *last,
                        const struct device_task *t, nanos otherwise)
{
    if (last == NULL || !is_next_in_graph(last, t) || g->n[last->class][t->class] == 0)
        return otherwise;
    return g->sum[last->class][t->class] / g->n[last->class][t->class];
}

/* ---- building ---- */

/* When the next call of a timeline begins. */
struct turn {
    nanos begin;
    uint32_t timeline;
};

struct builder {
    struct trace_replay *r;
    struct graph_gaps gaps;
    uint32_t *last_of_stream;   /* nodes */
    uint32_t *last_of_timeline; /* nodes */
    size_t *next_call;          /* by timeline */
    struct turn *turns;         /* a heap: the earliest next call on top */
    size_t n_turns;
    size_t next_task;
    uint32_t *node_of_call; /* the node a launched task follows */
    bool is_nested;         /* a wait emits what it waits for: nothing waits in between */
};

static uint32_t add_node(struct builder *b, struct replay_node node)
{
    struct trace_replay *r = b->r;

    r->edges +=
        (node.prev != REPLAY_NONE) + (node.cause != REPLAY_NONE) + (node.other != REPLAY_NONE);
    r->nodes[r->n] = node;
    return (uint32_t)r->n++;
}

static int32_t clamp(nanos ns)
{
    return ns > INT32_MAX ? INT32_MAX : ns < INT32_MIN ? INT32_MIN : (int32_t)ns;
}

/* The task of another stream that ended right before this one began and was launched earlier; else
 * one that was about to end, and left it no room until then. */
static uint32_t find_other(const struct builder *b, size_t task)
{
    const struct accounting *a = b->r->a;
    const struct device_task *t = &a->tasks.at[task];
    uint32_t best = REPLAY_NONE, room = REPLAY_NONE;
    nanos end = t->begin - LIMIT_AWAITED, until = t->begin + LIMIT_AWAITED;

    for (size_t i = task; i-- > 0 && task - i <= LIMIT_LOOK_BACK;) {
        const struct device_task *o = &a->tasks.at[i];
        if (o->stream == t->stream || o->end < end)
            continue;
        if (o->end <= t->begin && (o->call == NO_CALL || t->call == NO_CALL ||
                                   a->host.calls[o->call].begin <= a->host.calls[t->call].begin)) {
            end = o->end;
            best = b->r->node_of_task[i];
        } else if (o->end > t->begin && o->end <= until) {
            until = o->end;
            room = b->r->node_of_task[i];
        }
    }
    return best != REPLAY_NONE ? best : room;
}

static void emit_task(struct builder *b)
{
    struct trace_replay *r = b->r;
    const struct accounting *a = r->a;
    size_t i = b->next_task++;
    const struct device_task *t = &a->tasks.at[i];
    uint32_t prev = b->last_of_stream[t->stream];
    const struct device_task *last = prev != REPLAY_NONE ? &a->tasks.at[r->nodes[prev].ref] : NULL;
    struct replay_node node = {
        .dur = t->end - t->begin,
        .prev = prev,
        .cause = t->call != NO_CALL ? b->node_of_call[t->call] : REPLAY_NONE,
        .other = REPLAY_NONE,
        .ref = (uint32_t)i,
        .lag = clamp(r->latency),
        .gap = clamp(gap_before(&b->gaps, last, t, r->gap)),
        .kind = REPLAY_TASK,
        .is_graph = is_next_in_graph(last, t),
    };
    nanos explained = last != NULL ? last->end + node.gap : INT64_MIN;

    if (t->call != NO_CALL) {
        const struct host_call *c = &a->host.calls[t->call];
        nanos through = idle_is_blocking_copy(a, c) ? t->begin : c->end + node.lag;
        if (idle_is_blocking_copy(a, c))
            node.lag = 0;
        explained = through > explained ? through : explained;
    } else if (last != NULL) {
        node.gap = clamp(t->begin - last->end);
        explained = t->begin;
    }
    if (nanos_sub(t->begin, explained) > LIMIT_UNEXPLAINED && !t->is_graph)
        node.other = find_other(b, i);
    r->node_of_task[i] = b->last_of_stream[t->stream] = add_node(b, node);
}

/* The latest task launched before the call that had ended when the call returned. */
static uint32_t find_awaited(const struct builder *b, const struct host_call *call)
{
    const struct accounting *a = b->r->a;
    nanos until = call->end + LIMIT_SYNC_RETURN, end = INT64_MIN;
    uint32_t best = REPLAY_NONE;
    size_t place;

    vec_bisect(place, a->tasks.n, i, a->tasks.at[i].begin <= until);
    for (size_t i = place; i-- > 0 && place - i <= LIMIT_LOOK_BACK;) {
        const struct device_task *t = &a->tasks.at[i];
        if (t->call != NO_CALL && t->end <= until && t->end > end &&
            host_call_asked(&a->host, &a->host.calls[t->call])->begin < call->begin) {
            end = t->end;
            best = (uint32_t)i;
        }
    }
    return best;
}

/* A launch that blocked because its queue was full. */
static bool is_queue_full(const struct accounting *a, const struct host_call *c)
{
    size_t begun;

    if (c->tasks == 0 || c->kind == CALL_GRAPH || c->end - c->begin < LIMIT_QUEUE_FULL_CALL)
        return false;
    vec_bisect(begun, a->tasks.n, i, a->tasks.at[i].begin <= c->begin);
    return c->first_task > begun + LIMIT_QUEUE_FULL;
}

static void emit_call(struct builder *b, size_t timeline);

/* Calls of another thread up to the one that launches a task. */
static void emit_launch(struct builder *b, size_t task)
{
    const struct accounting *a = b->r->a;
    uint32_t call = a->tasks.at[task].call;

    if (call == NO_CALL || b->is_nested)
        return;
    b->is_nested = true;
    for (size_t timeline = a->host.calls[call].timeline; b->next_call[timeline] <= call;)
        emit_call(b, timeline);
    b->is_nested = false;
}

/* How long a blocking copy takes to begin, when it need not wait for its stream. */
static nanos head_of_copy(const struct accounting *a, const struct host_call *c)
{
    const struct device_task *t = &a->tasks.at[c->first_task];
    nanos head = t->begin - c->begin;

    for (size_t i = c->first_task; i-- > 0 && c->first_task - i <= LIMIT_LOOK_BACK;)
        if (a->tasks.at[i].stream == t->stream) {
            if (a->tasks.at[i].end > c->begin && head > LIMIT_COPY_HEAD)
                head = LIMIT_COPY_HEAD; /* it waited for its stream */
            break;
        }
    return head > 0 ? head : 0;
}

static void emit_wait(struct builder *b, const struct host_call *c, uint32_t task, uint32_t head,
                      size_t ref)
{
    const struct accounting *a = b->r->a;
    nanos done = a->tasks.at[task].end, from = c->begin + (b->r->nodes[head].dur - c->stretch);
    nanos since = done > from ? done : from;

    /* Tasks up to this one; a task's launch comes first. */
    while (b->next_task <= task && b->next_task < a->tasks.n) {
        emit_launch(b, b->next_task);
        emit_task(b);
    }
    b->last_of_timeline[c->timeline] =
        add_node(b, (struct replay_node){.dur = c->end > since ? c->end - since : 0,
                                         .prev = head,
                                         .cause = b->r->node_of_task[task],
                                         .other = REPLAY_NONE,
                                         .ref = (uint32_t)ref,
                                         .kind = REPLAY_WAIT});
}

static void emit_call(struct builder *b, size_t timeline)
{
    const struct accounting *a = b->r->a;
    size_t ref = b->next_call[timeline]++;
    const struct host_call *c = &a->host.calls[ref];
    bool is_copy = idle_is_blocking_copy(a, c), is_full = is_queue_full(a, c);
    uint32_t task = is_copy                                                   ? c->first_task
                    : c->kind == CALL_SYNC || c->kind == CALL_FREE || is_full ? find_awaited(b, c)
                                                                              : REPLAY_NONE;

    if (b->is_nested && task != REPLAY_NONE && task >= b->next_task)
        task = REPLAY_NONE;
    nanos body = task != REPLAY_NONE && is_copy ? head_of_copy(a, c)
                 : task != REPLAY_NONE          ? 0
                                                : c->end - c->begin;
    uint32_t queue = c->enqueued_by != NO_CALL ? b->node_of_call[c->enqueued_by] : REPLAY_NONE;
    body = body < c->end - c->begin ? body : c->end - c->begin;
    uint32_t head = add_node(b, (struct replay_node){.dur = c->stretch + body,
                                                     .prev = b->last_of_timeline[timeline],
                                                     .cause = queue,
                                                     .other = REPLAY_NONE,
                                                     .ref = (uint32_t)ref,
                                                     .lag = clamp(b->r->handover),
                                                     .kind = REPLAY_HOST});
    b->node_of_call[ref] = b->last_of_timeline[timeline] = head;
    if (task == REPLAY_NONE)
        return;
    emit_wait(b, c, task, head, ref);
    if (is_full)
        b->node_of_call[ref] = b->last_of_timeline[timeline];
}

/* When the next call of a timeline begins; INT64_MAX after the last. */
static nanos next_begin(const struct builder *b, uint32_t timeline)
{
    const struct host_timelines *h = &b->r->a->host;
    size_t next = b->next_call[timeline];

    return next < h->at[timeline].first + h->at[timeline].n ? h->calls[next].begin : INT64_MAX;
}

ORDER_BY(by_begin, struct turn, ORDER(x->begin, y->begin) ?: ORDER(x->timeline, y->timeline));

/* The timeline whose next call began first; SIZE_MAX when none has one. Calls may have been taken
 * since: begins in the heap are at most too early. */
static size_t next_timeline(struct builder *b, nanos *begin)
{
    while (b->n_turns > 0) {
        struct turn *first = &b->turns[0];
        nanos now = next_begin(b, first->timeline);
        *begin = now;
        if (now == first->begin && now != INT64_MAX)
            return first->timeline;
        first->begin = now;
        if (now == INT64_MAX)
            *first = b->turns[--b->n_turns];
        heap_sink(b->turns, b->n_turns, sizeof(*b->turns), 0, by_begin);
    }
    *begin = INT64_MAX;
    return SIZE_MAX;
}

/* Whether the next task is launched and begins by then. */
static bool comes_before(const struct builder *b, nanos begin)
{
    const struct device_task *t = &b->r->a->tasks.at[b->next_task];

    return (t->call == NO_CALL || b->node_of_call[t->call] != REPLAY_NONE) && t->begin <= begin;
}

/* Calls and tasks by begin; a task never before its launch. */
static void emit_all(struct builder *b)
{
    const struct accounting *a = b->r->a;

    for (;;) {
        nanos begin;
        size_t timeline = next_timeline(b, &begin);
        bool has_call = timeline != SIZE_MAX;
        if (b->next_task == a->tasks.n && !has_call)
            return;
        if (b->next_task == a->tasks.n || (has_call && !comes_before(b, begin)))
            emit_call(b, timeline);
        else
            emit_task(b);
    }
}

/* Median time from the end of a task to the start of one that waited for it on another stream. */
static nanos find_signal(const struct trace_replay *r)
{
    nanos *values = mem_grow(NULL, sizeof(*values), r->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind != REPLAY_TASK || node->other == REPLAY_NONE)
            continue;
        nanos late =
            r->a->tasks.at[node->ref].begin - r->a->tasks.at[r->nodes[node->other].ref].end;
        if (late >= 0)
            values[n++] = late;
    }
    nanos median = n > 0 ? host_timeline_median(values, n) : r->gap;
    mem_free(values);
    return median;
}

static uint32_t *filled(size_t n)
{
    uint32_t *at = mem_grow(NULL, sizeof(*at), n + 1);

    memset(at, 0xff, sizeof(*at) * (n + 1));
    return at;
}

/* When the work of the only step begins in a run; a marked one begins at its mark. */
static nanos begin_of(const struct trace_replay *r, const struct replay_times *times)
{
    const struct accounting *a = r->a;
    nanos begin = INT64_MAX;

    for (size_t i = 0; i < a->tasks.n && a->is_pseudo; i++)
        if (a->tasks.at[i].step == 0 && times->begin[r->node_of_task[i]] < begin)
            begin = times->begin[r->node_of_task[i]];
    return begin < INT64_MAX ? begin : a->steps[0].window.begin;
}

/* Of the steps after the first: how far their sum is off, as a share. */
static double identity_of(const struct trace_replay *r)
{
    const struct accounting *a = r->a;
    struct replay_change plain = trace_replay_plain(r);
    struct replay_times times = replay_times_new(r->n);
    nanos *ends = mem_grow(NULL, sizeof(*ends), a->n + 1);
    double error = 0;

    trace_replay_run(r, &plain, &times);
    trace_replay_ends(r, &times, ends);
    if (a->n > 0) {
        size_t first = a->n > 1;
        nanos told = a->steps[a->n - 1].window.end - a->steps[first].window.begin;
        nanos begin = first > 0 ? ends[0] : begin_of(r, &times);
        error = num_share(fabs((double)nanos_sub(nanos_sub(ends[a->n - 1], begin), told)),
                          (double)told);
    }
    mem_free(ends);
    replay_times_free(&times);
    replay_change_free(&plain);
    return error;
}

struct trace_replay *trace_replay_build(const struct accounting *a, struct arena *arena)
{
    struct trace_replay *r = ARENA_NEW(arena, struct trace_replay);
    struct builder b = {.r = r};

    r->a = a;
    r->nodes = ARENA_ARRAY(arena, struct replay_node, 2 * a->host.n + a->tasks.n);
    r->node_of_task = ARENA_ARRAY(arena, uint32_t, a->tasks.n);
    find_constants(r);
    r->handover = find_handover(a);
    find_graph_gaps(a, &b.gaps);
    b.last_of_stream = filled(a->tasks.streams);
    b.last_of_timeline = filled(a->host.count);
    b.node_of_call = filled(a->host.n);
    b.next_call = mem_grow(NULL, sizeof(*b.next_call), a->host.count + 1);
    for (size_t i = 0; i < a->host.count; i++)
        b.next_call[i] = a->host.at[i].first;
    b.n_turns = a->host.count;
    b.turns = mem_grow(NULL, sizeof(*b.turns), b.n_turns + 1);
    for (size_t i = 0; i < b.n_turns; i++)
        b.turns[i] = (struct turn){next_begin(&b, (uint32_t)i), (uint32_t)i};
    for (size_t i = b.n_turns / 2; i-- > 0;)
        heap_sink(b.turns, b.n_turns, sizeof(*b.turns), i, by_begin);
    emit_all(&b);
    r->signal = find_signal(r);
    mem_free(b.turns);
    mem_free(b.last_of_stream);
    mem_free(b.last_of_timeline);
    mem_free(b.node_of_call);
    mem_free(b.next_call);
    r->identity_error = identity_of(r);
    return r;
}
