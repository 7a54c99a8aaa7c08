/*
 * Running a replay: when each node begins and ends, with or without a change.
 */
#include "analysis/diagnose/trace_replay.h"

#include "analysis/diagnose/limits.h"

struct replay_times replay_times_new(size_t n)
{
    return (struct replay_times){mem_grow(NULL, sizeof(nanos), n + 1),
                                 mem_grow(NULL, sizeof(nanos), n + 1), mem_grow(NULL, 1, n + 1)};
}

void replay_times_free(struct replay_times *t)
{
    mem_free(t->begin);
    mem_free(t->end);
    mem_free(t->via);
}

struct replay_change trace_replay_plain(const struct trace_replay *r)
{
    struct replay_change c = {
        .lead = mem_grow(NULL, sizeof(*c.lead), r->n + 1),
        .dur = mem_grow(NULL, sizeof(*c.dur), r->n + 1),
        .drop = mem_grow(NULL, 1, r->n + 1),
    };

    replay_change_reset(r, &c);
    return c;
}

void replay_change_reset(const struct trace_replay *r, struct replay_change *c)
{
    c->gap = INT64_MAX;
    c->prev = NULL;
    c->is_even = false;
    memset(c->drop, 0, r->n + 1);
    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        c->lead[i] = node->kind == REPLAY_HOST ? r->a->host.calls[node->ref].stretch : 0;
        c->dur[i] = node->dur - c->lead[i];
    }
}

void replay_change_own_prev(const struct trace_replay *r, struct replay_change *c)
{
    if (c->prev != NULL)
        return;
    if (c->room == NULL)
        c->room = mem_grow(NULL, sizeof(*c->room), r->n + 1);
    c->prev = c->room;
    for (size_t i = 0; i < r->n; i++)
        c->prev[i] = r->nodes[i].prev;
}

void replay_change_free(struct replay_change *c)
{
    mem_free(c->lead);
    mem_free(c->dur);
    mem_free(c->drop);
    mem_free(c->room);
}

/* When a node without any predecessor begins: as recorded. */
static nanos recorded_begin(const struct trace_replay *r, const struct replay_node *node)
{
    const struct host_call *c = &r->a->host.calls[node->ref];

    return node->kind == REPLAY_TASK ? r->a->tasks.at[node->ref].begin : c->begin - c->stretch;
}

/* From the end of the node before it to its start. */
static nanos gap_of(const struct replay_node *node, const struct replay_change *c, unsigned drop)
{
    if (node->kind != REPLAY_TASK || (drop & REPLAY_GONE) != 0)
        return 0;
    return node->is_graph || node->gap < c->gap ? node->gap : c->gap;
}

/* When a node starts, and by whom it was decided. */
static nanos start_of(const struct trace_replay *r, const struct replay_change *c,
                      const nanos *ends, size_t i, uint8_t *via)
{
    const struct replay_node *node = &r->nodes[i];
    unsigned drop = c->drop[i];
    uint32_t prev = c->prev != NULL ? c->prev[i] : node->prev;
    nanos start = INT64_MIN;

    *via = 0;
    if (prev != REPLAY_NONE) {
        start = nanos_add(ends[prev], gap_of(node, c, drop));
        *via = 1;
        if ((drop & REPLAY_GONE) != 0)
            return start;
    }
    if (node->cause != REPLAY_NONE && (drop & REPLAY_DROP_CAUSE) == 0) {
        nanos ready = nanos_add(ends[node->cause], node->lag);
        if (ready > start) {
            start = ready;
            *via = 2;
        }
    }
    if (node->other != REPLAY_NONE && (drop & REPLAY_DROP_OTHER) == 0 &&
        nanos_add(ends[node->other], r->signal) > start) {
        start = nanos_add(ends[node->other], r->signal);
        *via = 3;
    }
    return *via != 0 ? start : recorded_begin(r, node);
}

void trace_replay_run(const struct trace_replay *r, const struct replay_change *c,
                      struct replay_times *times)
{
    for (size_t i = 0; i < r->n; i++) {
        times->begin[i] = start_of(r, c, times->end, i, &times->via[i]);
        times->end[i] =
            times->begin[i] + ((c->drop[i] & REPLAY_GONE) != 0 ? 0 : c->lead[i] + c->dur[i]);
    }
}

void trace_replay_ends(const struct trace_replay *r, const struct replay_times *t, nanos *ends)
{
    const struct accounting *a = r->a;

    for (size_t i = 0; i < a->n; i++)
        ends[i] = INT64_MIN;
    for (size_t i = 0; i < a->tasks.n; i++) {
        uint32_t step = a->tasks.at[i].step;
        nanos end = t->end[r->node_of_task[i]];
        if (step != TASK_NO_STEP && end > ends[step])
            ends[step] = end;
    }
    if (a->n > 0 && ends[0] == INT64_MIN)
        ends[0] = a->steps[0].window.end; /* a step without work */
    for (size_t i = 1; i < a->n; i++)
        ends[i] = ends[i] > ends[i - 1] ? ends[i] : ends[i - 1];
}

size_t trace_replay_path(const struct trace_replay *r, const struct replay_times *t, uint32_t *out,
                         size_t room)
{
    size_t n = 0;
    uint32_t at = REPLAY_NONE;

    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].kind == REPLAY_TASK &&
            r->a->tasks.at[r->nodes[i].ref].step != TASK_NO_STEP &&
            (at == REPLAY_NONE || t->end[i] > t->end[at]))
            at = (uint32_t)i;
    while (at != REPLAY_NONE && n < room) {
        const struct replay_node *node = &r->nodes[at];
        out[n++] = at;
        at = t->via[at] == 1   ? node->prev
             : t->via[at] == 2 ? node->cause
             : t->via[at] == 3 ? node->other
                               : REPLAY_NONE;
    }
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t first = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = first;
    }
    return n;
}

uint32_t trace_replay_slice(const struct trace_replay *r, size_t node)
{
    const struct replay_node *n = &r->nodes[node];

    return n->kind == REPLAY_TASK ? r->a->tasks.at[n->ref].slice : r->a->host.calls[n->ref].slice;
}
