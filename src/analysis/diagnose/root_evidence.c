/*
 * Where in the program a cause lies: operators, calls and kernels with most of its time.
 */
#include "analysis/diagnose/root_find.h"

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/idle/idle.h"

struct site_sum {
    strid name;
    uint32_t slice; /* the first one */
    size_t count;
    nanos time;
};

struct site_sums {
    struct hash names;
    VEC_OF(struct site_sum) at;
    size_t count;
    nanos time, host; /* host: of the calls that launch tasks */
    nanos graph;      /* of tasks in graphs */
    size_t inner;     /* that do not touch the edges of the recording */
};

static bool is_wanted(const struct root_tasks *s, const struct device_task *t)
{
    if (t->class == TASK_COMPUTE)
        return (s->families & ROOT_BIT(t->family)) &&
               ((t->is_simt && !t->is_fp64) || !s->is_simt) && (t->is_fp64 || !s->is_fp64);
    if (t->class == TASK_COPY)
        return (s->copies & ROOT_BIT(t->copy)) && t->end - t->begin >= s->least &&
               !(s->is_data && device_task_is_value(t));
    return s->has_comm;
}

/* Whether something touches the first or last part of a recording without marks, where the program
 * starts or ends. */
static bool touches_edge(const struct root_finder *f, nanos begin, nanos end)
{
    struct interval all = f->a->all.window;
    nanos edge = (all.end - all.begin) / 100 * ROOT_EDGE;

    return begin < all.begin + edge || end > all.end - edge;
}

static void site_add(struct site_sums *sums, const struct capture *cap, uint32_t slice, nanos time)
{
    strid name = cap->slices.name[slice];
    uint32_t fresh = (uint32_t)sums->at.n, at = hash_add(&sums->names, name, fresh);

    if (at == fresh)
        vec_push(&sums->at, ((struct site_sum){.name = name, .slice = slice}));
    struct site_sum *s = &sums->at.at[at];
    s->count++;
    s->time = nanos_add(s->time, time);
    sums->count++;
    sums->time = nanos_add(sums->time, time);
}

static void add_tasks(const struct root_finder *f, const struct root_tasks *wanted,
                      struct site_sums *sums)
{
    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        if (!root_counts_step(f, t->step) || !is_wanted(wanted, t) ||
            (wanted->is_changed && !root_changes(f, i)))
            continue;
        sums->inner += !touches_edge(f, t->begin, t->end);
        sums->graph += t->is_graph ? nanos_sub(t->end, t->begin) : 0;
        bool has_call = t->call != NO_CALL && !t->is_graph;
        uint32_t name = has_call ? f->a->host.calls[t->call].op : NO_SLICE;
        site_add(sums, f->cap, name != NO_SLICE ? name : t->slice, nanos_sub(t->end, t->begin));
        if (has_call) {
            /* Of a call and the short stretch before it. */
            const struct host_call *call = &f->a->host.calls[t->call];
            nanos own = nanos_sub(call->end, call->begin);
            sums->host = nanos_add(
                sums->host, call->class == STRETCH_LAUNCH ? nanos_add(own, call->stretch) : own);
        }
    }
}

static const struct replay_node *node_of(const struct root_finder *f, size_t task)
{
    return &f->w->replay->nodes[f->w->replay->node_of_task[task]];
}

/* How long a task that waits for another stream could have begun before: it was launched and its
 * own stream was free. */
static nanos stream_wait(const struct root_finder *f, size_t task)
{
    const struct replay_node *nodes = f->w->replay->nodes, *node = node_of(f, task);
    nanos ready = INT64_MIN;

    if (node->other == REPLAY_NONE)
        return 0;
    if (node->prev != REPLAY_NONE)
        ready = f->a->tasks.at[nodes[node->prev].ref].end;
    if (node->cause != REPLAY_NONE && f->a->host.calls[nodes[node->cause].ref].end > ready)
        ready = f->a->host.calls[nodes[node->cause].ref].end;
    nanos begin = f->a->tasks.at[task].begin;
    return ready != INT64_MIN && begin > ready ? begin - ready : 0;
}

/* Tasks by how long they waited for another stream, or the device before them. */
static void site_add_waits(const struct root_finder *f, struct site_sums *sums)
{
    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        nanos time = root_counts_step(f, t->step) ? stream_wait(f, i) : 0;
        if (time <= 0)
            continue;
        sums->inner += !touches_edge(f, t->begin - time, t->begin);
        site_add(sums, f->cap, t->slice, time);
    }
    for (size_t i = 0; i < f->a->pieces.n; i++) {
        const struct idle_piece *p = &f->a->pieces.at[i];
        nanos time = root_long_wait(f, p);
        if (time <= 0 || p->task == UINT32_MAX || node_of(f, p->task)->other != REPLAY_NONE)
            continue;
        sums->inner += !touches_edge(f, p->at.begin, p->at.end);
        site_add(sums, f->cap, f->a->tasks.at[p->task].slice, time);
    }
}

/* The largest one left; its time is taken. `units`: that it is told of. */
static void take_largest(const struct root_finder *f, struct site_sums *sums, size_t units,
                         struct root_site *out)
{
    struct site_sum *best = &sums->at.at[0];

    for (size_t i = 1; i < sums->at.n; i++)
        if (sums->at.at[i].time > best->time)
            best = &sums->at.at[i];
    const struct lane *lane = &f->cap->lanes.at[f->cap->slices.lane[best->slice]];
    *out = (struct root_site){
        .name = capture_text(f->cap, best->name),
        .thread = capture_text(f->cap, lane->key.name),
        .count = best->count,
        .time = best->time / (nanos)units,
        .is_os = f->cap->slices.kind[best->slice] == SLICE_OS,
    };
    best->time = -1;
}

/* What fills a stretch; not a call of the operating system that is less than half of it. */
static uint32_t filler_of(const struct root_finder *f, const struct host_call *call)
{
    uint32_t slice = call->filler;

    if (slice == NO_SLICE || f->cap->slices.kind[slice] != SLICE_OS)
        return slice;
    nanos begin = device_time(f->cap->slices.begin[slice]), from = call->begin - call->stretch;
    nanos end = device_time(slices_end(&f->cap->slices, slice));
    begin = begin > from ? begin : from;
    end = end < call->begin ? end : call->begin;
    return end - begin >= call->stretch / 2 ? slice : NO_SLICE;
}

/* Puts the sums into the cause. `units`: that they are told of. */
static void put_sums(const struct root_finder *f, struct site_sums *sums, size_t units,
                     struct found_cause *c)
{
    /* What a recording begins with may wait for work that was there before it. */
    bool is_marked = !f->a->is_pseudo && c->cause != ROOT_DEVICE_DEPENDENCY;

    c->is_at_edge = !is_marked && sums->count == 1 && sums->inner == 0;
    c->count = sums->count / units;
    c->each = sums->count > 0 ? sums->time / (nanos)sums->count : 0;
    c->share = root_share(f, sums->time);
    c->graph_share = num_share((double)sums->graph, (double)sums->time);
    c->host_share = root_share(f, sums->host);
    for (c->n_sites = 0; c->n_sites < ROOT_SITES && c->n_sites < sums->at.n; c->n_sites++)
        take_largest(f, sums, units, &c->sites[c->n_sites]);
    vec_free(&sums->at);
    hash_free(&sums->names);
}

void root_evidence_tasks(const struct root_finder *f, struct found_cause *c,
                         const struct root_tasks *wanted)
{
    struct site_sums sums = {0};

    add_tasks(f, wanted, &sums);
    put_sums(f, &sums, f->units, c);
}

void root_evidence_waits(const struct root_finder *f, struct found_cause *c)
{
    struct site_sums sums = {0};

    site_add_waits(f, &sums);
    put_sums(f, &sums, f->units, c);
}

void root_evidence_calls(const struct root_finder *f, struct found_cause *c, root_call_time *time,
                         bool is_filled)
{
    struct site_sums sums = {0};
    bool is_of_run = c->cause == ROOT_START_UP && f->is_start_of_run;

    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        nanos length = time(f, call);
        if (length == 0 || !(is_of_run || root_counts_step(f, root_step_of_call(f, call))))
            continue;
        nanos begin = call->class == STRETCH_LAUNCH ? call->begin : call->begin - call->stretch;
        sums.inner += !touches_edge(f, begin, call->end);
        uint32_t site = call->outer != NO_SLICE ? call->outer : call->slice;
        if (is_filled && !(c->cause == ROOT_START_UP && call->is_start_up) &&
            filler_of(f, call) != NO_SLICE)
            site = filler_of(f, call);
        site_add(&sums, f->cap, site, length);
    }
    put_sums(f, &sums, is_of_run ? 1 : f->units, c);
}

void root_evidence_none(const struct root_finder *f, struct found_cause *c)
{
    (void)f;
    (void)c;
}
