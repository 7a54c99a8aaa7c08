/*
 * Changes of copies between host and device.
 */
#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/whatif_changes.h"
#include "analysis/idle/idle.h"

/* ---- pinned copies ---- */

/* The best rate of pinned copies of a megabyte and more in this direction, in bytes per ns; without
 * any what the device's bus reaches, but no less than the best copy of another kind. */
static double pinned_rate(const struct whatif *w, bool to_device)
{
    double best = 0, other = 0, bus = device_bus_gbps(w->device);

    for (size_t i = 0; i < w->a->tasks.n; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        bool is_ours =
            to_device ? t->copy <= COPY_H2D : t->copy >= COPY_D2H_PAGEABLE && t->copy <= COPY_D2H;
        if (t->class != TASK_COPY || !is_ours)
            continue;
        double bytes = device_task_bytes(w->cap, t);
        double rate = num_share(bytes, (double)(t->end - t->begin));
        if (bytes < LIMIT_LARGE_COPY)
            continue;
        bool is_pinned = t->copy == COPY_H2D_PINNED || t->copy == COPY_D2H_PINNED;
        if (is_pinned && rate > best)
            best = rate;
        if (!is_pinned && rate > other)
            other = rate;
    }
    if (best > 0)
        return best;
    bus = bus > 0 ? bus : LIMIT_PINNED_GBPS;
    return other > bus ? other : bus;
}

/* What becomes of the calls of copies. */
enum copy_mark { COPY_STAYS, COPY_PINNED, COPY_SHRUNK, COPY_GONE, COPY_BATCHED };

/* The part of a stretch that lies in the operator around its call goes. */
static void drop_operator_time(const struct whatif *w, struct replay_change *c, size_t node,
                               const struct host_call *call)
{
    if (call->outer == NO_SLICE || call->stretch <= 0)
        return;
    nanos begin = device_time(w->cap->slices.begin[call->outer]);
    nanos from = call->begin - call->stretch;
    double inside = (double)(call->begin - (begin > from ? begin : from));
    double share = inside / (double)call->stretch;
    c->lead[node] -= nanos_of((double)c->lead[node] * (share < 1 ? share : 1));
}

/* Calls of copies that do not block any more or go; so do waits in the same operator. */
static void change_calls(const struct whatif *w, struct replay_change *c, const uint8_t *marks)
{
    const struct trace_replay *r = w->replay;
    uint32_t op = NO_SLICE;
    uint8_t last = COPY_STAYS;

    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind == REPLAY_TASK)
            continue;
        const struct host_call *call = &w->a->host.calls[node->ref];
        uint8_t mark = marks[node->ref];
        if (mark != COPY_STAYS) {
            op = call->outer;
            last = mark;
        } else if (call->kind == CALL_SYNC && call->outer != NO_SLICE && call->outer == op) {
            mark = last;
        }
        if (mark == COPY_STAYS || call->is_start_up)
            continue;
        if (node->kind == REPLAY_WAIT && mark == COPY_SHRUNK) {
            c->dur[i] = 0; /* what is left is still waited for */
        } else if (node->kind == REPLAY_WAIT) {
            c->drop[i] |= REPLAY_GONE;
        } else if (mark == COPY_BATCHED) { /* the pass of the loop around it goes too */
            c->lead[i] = call->class == STRETCH_LAUNCH ? 0 : c->lead[i];
            c->dur[i] = 0;
        } else if (mark == COPY_GONE || mark == COPY_SHRUNK) {
            drop_operator_time(w, c, i, call);
            c->dur[i] = 0;
        } else if (call->kind == CALL_COPY && c->dur[i] > LIMIT_ASYNC_COPY) {
            c->dur[i] = LIMIT_ASYNC_COPY;
        }
    }
}

static uint8_t *new_marks(const struct whatif *w)
{
    uint8_t *marks = mem_grow(NULL, 1, w->a->host.n + 1);

    memset(marks, COPY_STAYS, w->a->host.n + 1);
    return marks;
}

static bool is_small_write(const struct whatif *w, const struct device_task *t)
{
    return t->class == TASK_COPY && t->copy <= COPY_H2D && t->call != NO_CALL &&
           device_task_bytes(w->cap, t) <= LIMIT_BATCH_BYTES;
}

/* Many small copies of a step become one: the first stays. */
static void batch_copies(const struct whatif *w, struct replay_change *c, uint8_t *marks)
{
    const struct device_tasks *tasks = &w->a->tasks;
    size_t *n = mem_grow(NULL, sizeof(*n), w->a->n + 1);

    memset(n, 0, sizeof(*n) * (w->a->n + 1));
    for (size_t i = 0; i < tasks->n; i++)
        if (tasks->at[i].step != TASK_NO_STEP && is_small_write(w, &tasks->at[i]))
            n[tasks->at[i].step]++;
    uint32_t step = TASK_NO_STEP;
    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        if (t->step == TASK_NO_STEP || !is_small_write(w, t) || n[t->step] < LIMIT_BATCH)
            continue;
        if (t->step != step) {
            step = t->step;
            continue;
        }
        c->drop[w->replay->node_of_task[i]] |= REPLAY_GONE;
        marks[t->call] = COPY_BATCHED;
    }
    mem_free(n);
}

/* A value that is read is waited for whatever memory it goes to. */
void whatif_pinned_copies(struct whatif *w, struct str site, struct replay_change *c)
{
    double rates[2] = {pinned_rate(w, false), pinned_rate(w, true)};
    uint8_t *marks = new_marks(w);
    bool has_pageable = false;

    for (size_t i = 0; i < w->a->tasks.n; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        if (t->class != TASK_COPY || !copy_is_pageable((enum copy_kind)t->copy) ||
            device_task_is_value(t) || t->call == NO_CALL ||
            !whatif_fits(w, &w->a->host.calls[t->call], site))
            continue;
        uint32_t node = w->replay->node_of_task[i];
        nanos pinned =
            nanos_of(device_task_bytes(w->cap, t) / rates[t->copy == COPY_H2D_PAGEABLE]) +
            LIMIT_COPY_START;
        if (pinned < c->dur[node])
            c->dur[node] = pinned;
        marks[t->call] = COPY_PINNED;
        has_pageable = true;
    }
    if (has_pageable)
        batch_copies(w, c, marks);
    change_calls(w, c, marks);
    mem_free(marks);
}

/* ---- copies that go ---- */

static bool is_read(const struct device_task *t)
{
    return t->copy >= COPY_D2H_PAGEABLE && t->copy <= COPY_D2H;
}

/* Large reads, or every copy of a site. */
static bool is_unneeded(const struct whatif *w, const struct device_task *t, struct str site)
{
    if (t->class != TASK_COPY || t->copy == COPY_MEMSET || t->call == NO_CALL)
        return false;
    if (site.n > 0)
        return whatif_fits(w, &w->a->host.calls[t->call], site);
    double bytes = device_task_bytes(w->cap, t);
    return is_read(t) &&
           (bytes > 0 ? bytes >= LIMIT_LARGE_COPY : t->end - t->begin >= LIMIT_LARGE_READ);
}

/* The copy becomes one of a few bytes, which the host waits for as before. */
void whatif_no_copies(struct whatif *w, struct str site, struct replay_change *c)
{
    uint8_t *marks = new_marks(w);

    for (size_t i = 0; i < w->a->tasks.n; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        uint32_t node = w->replay->node_of_task[i];
        if (!is_unneeded(w, t, site))
            continue;
        c->dur[node] = c->dur[node] < LIMIT_COPY_START ? c->dur[node] : LIMIT_COPY_START;
        marks[t->call] = COPY_SHRUNK;
    }
    change_calls(w, c, marks);
    mem_free(marks);
}

void whatif_drop_reads(struct whatif *w, struct replay_change *c, const uint8_t *before)
{
    uint8_t *marks = new_marks(w);

    for (size_t i = 0; i < w->a->host.n; i++) {
        const struct host_call *call = &w->a->host.calls[i];
        for (size_t k = 1; before[i] != 0 && k <= 2 && k <= i; k++) {
            const struct host_call *copy = call - k;
            if (copy->timeline != call->timeline || copy->kind != CALL_COPY || copy->tasks == 0 ||
                !is_read(&w->a->tasks.at[copy->first_task]) ||
                call->stretch < (copy->end - copy->begin) / LIMIT_STRETCH_OF_READ)
                continue;
            c->drop[w->replay->node_of_task[copy->first_task]] |= REPLAY_GONE;
            marks[i - k] = COPY_GONE;
        }
    }
    change_calls(w, c, marks);
    mem_free(marks);
}
