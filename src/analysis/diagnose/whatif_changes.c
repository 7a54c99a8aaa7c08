/*
 * Changes that need no more than the replay itself.
 */
#include "analysis/diagnose/whatif_changes.h"

#include "analysis/diagnose/limits.h"
#include "analysis/idle/idle.h"

static const struct host_call *call_of(const struct whatif *w, const struct replay_node *node)
{
    return &w->a->host.calls[node->ref];
}

static const struct device_task *task_of(const struct whatif *w, const struct replay_node *node)
{
    return &w->a->tasks.at[node->ref];
}

static bool is_named(const struct whatif *w, uint32_t slice, struct str name)
{
    return slice != NO_SLICE && str_equal(capture_text(w->cap, w->cap->slices.name[slice]), name);
}

bool whatif_fits(const struct whatif *w, const struct host_call *call, struct str site)
{
    return site.n == 0 || is_named(w, call->slice, site) || is_named(w, call->op, site) ||
           is_named(w, call->outer, site);
}

/* A first call costs what it costs, however its work is launched. */
static bool is_cheap_launch(const struct whatif *w, const struct host_call *call)
{
    if (call->is_start_up)
        return false;
    switch ((enum call_kind)call->kind) {
    case CALL_LAUNCH:
    case CALL_GRAPH:
    case CALL_EVENT:
    case CALL_ENQUEUE:
        return true;
    case CALL_COPY:
        return !idle_is_blocking_copy(w->a, call);
    default:
        return false;
    }
}

/* Distance of tasks whose launches cost nothing. */
static nanos dense_gap(const struct whatif *w)
{
    nanos recorded = w->a->back_to_back;

    return recorded > 0 && recorded <= LIMIT_DENSE_GAP ? recorded : LIMIT_DENSE_DEFAULT;
}

/* Launches of a step up to the next wait are one graph; recording it costs time for every node.
 * That is counted in full, before its first task, as if every graph were waited for. */
struct graph_run {
    uint32_t first; /* its first task's node, or REPLAY_NONE */
    uint32_t step;
    size_t tasks;
};

static const struct graph_run no_run = {REPLAY_NONE, TASK_NO_STEP, 0};

static void end_run(const struct whatif *w, struct replay_change *c, struct graph_run *run)
{
    if (run->first != REPLAY_NONE && !w->is_bare)
        c->lead[run->first] += (nanos)run->tasks * w->cost->graph_node;
    *run = no_run;
}

/* Calls that a graph does not replace: copies from and to the host, waits, and what puts such a
 * copy into a queue. */
static bool *find_staying(const struct whatif *w)
{
    const struct host_timelines *h = &w->a->host;
    bool *stays = mem_grow(NULL, sizeof(*stays), h->n + 1);

    for (size_t i = 0; i < h->n; i++) {
        const struct host_call *c = &h->calls[i];
        const struct device_task *t = c->tasks > 0 ? &w->a->tasks.at[c->first_task] : NULL;
        bool is_copy = t != NULL && t->class == TASK_COPY && t->copy < COPY_D2D;
        stays[i] = c->kind == CALL_SYNC || is_copy;
    }
    for (size_t i = 0; i < h->n; i++)
        if (stays[i] && h->calls[i].enqueued_by != NO_CALL)
            stays[h->calls[i].enqueued_by] = true;
    return stays;
}

/* A stretch in which a step begins holds what the loop around the steps does. */
static bool begins_step(const struct accounting *a, const struct host_call *c)
{
    size_t place;

    vec_bisect(place, a->n, i, a->steps[i].host.begin < c->begin - c->stretch);
    return place < a->n && a->steps[place].host.begin < c->begin;
}

static void no_launch_cost(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;
    struct graph_run run = no_run;
    bool *stays = find_staying(w);

    (void)site;
    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].kind == REPLAY_WAIT)
            end_run(w, c, &run);
        if (r->nodes[i].kind != REPLAY_HOST || stays[r->nodes[i].ref])
            continue;
        const struct host_call *call = call_of(w, &r->nodes[i]);
        uint32_t step = call->tasks > 0 ? w->a->tasks.at[call->first_task].step : run.step;
        if (call->class == STRETCH_LAUNCH && !begins_step(w->a, call))
            c->lead[i] = 0;
        if (!is_cheap_launch(w, call))
            continue;
        if (step != run.step)
            end_run(w, c, &run);
        if (run.first == REPLAY_NONE && call->tasks > 0)
            run.first = r->node_of_task[call->first_task];
        run.step = step;
        run.tasks += call->tasks;
        c->dur[i] = 0;
    }
    end_run(w, c, &run);
    c->gap = dense_gap(w) < c->gap ? dense_gap(w) : c->gap;
    mem_free(stays);
}

static void no_sync(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;

    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].kind != REPLAY_WAIT)
            continue;
        const struct host_call *call = call_of(w, &r->nodes[i]);
        if ((call->kind == CALL_SYNC || idle_is_read(w->a, call)) && whatif_fits(w, call, site)) {
            c->drop[i] |= REPLAY_DROP_CAUSE;
            c->dur[i] = 0;
        }
    }
}

static bool is_allocation(const struct whatif *w, const struct host_call *call, struct str site)
{
    return host_call_allocates((enum call_kind)call->kind) && !call->is_start_up &&
           whatif_fits(w, call, site);
}

/* How much of the stretch behind an allocation fills the pinned memory it was made for. */
static double share_of_pinning(const struct whatif *w, const struct host_call *alloc,
                               const struct host_call *next)
{
    if (alloc->outer == NO_SLICE || next->stretch <= 0 ||
        !str_contains(capture_text(w->cap, w->cap->slices.name[alloc->outer]), S("pin_memory")))
        return 0;
    nanos end = device_time(slices_end(&w->cap->slices, alloc->outer));
    nanos until = end < next->begin ? end : next->begin;
    return until > alloc->end ? (double)(until - alloc->end) / (double)next->stretch : 0;
}

static void no_alloc(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;

    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind == REPLAY_TASK)
            continue;
        const struct host_call *call = call_of(w, node);
        if (is_allocation(w, call, site)) {
            c->dur[i] = 0;
            c->drop[i] |= node->kind == REPLAY_WAIT ? REPLAY_DROP_CAUSE : 0;
        }
        const struct host_call *before = node->ref > 0 ? call - 1 : NULL;
        if (node->kind != REPLAY_HOST || before == NULL || before->timeline != call->timeline ||
            !is_allocation(w, before, site))
            continue;
        /* The operator around an allocation keeps books afterwards. */
        if (c->lead[i] > LIMIT_AFTER_ALLOC && call->class == STRETCH_LAUNCH)
            c->lead[i] = LIMIT_AFTER_ALLOC;
        c->lead[i] -= nanos_of((double)c->lead[i] * share_of_pinning(w, before, call));
    }
}

static void no_compile(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;

    (void)site;
    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].kind != REPLAY_HOST)
            continue;
        const struct host_call *call = call_of(w, &r->nodes[i]);
        if (call->class == STRETCH_COMPILE)
            c->lead[i] = 0;
        if (call->kind == CALL_COMPILE && !call->is_start_up)
            c->dur[i] = 0;
    }
}

static void no_start_up(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;

    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].kind == REPLAY_TASK)
            continue;
        const struct host_call *call = call_of(w, &r->nodes[i]);
        bool is_wait = r->nodes[i].kind == REPLAY_WAIT;
        if (!whatif_fits(w, call, site))
            continue;
        if (call->class == STRETCH_START_UP && !is_wait)
            c->lead[i] = 0;
        if (!call->is_start_up)
            continue;
        c->dur[i] = 0;
        c->drop[i] |= is_wait && call->tasks == 0 ? REPLAY_DROP_CAUSE : 0;
    }
}

/* Classes of host work that sites may name. */
static const char *const work_names[] = {
    [STRETCH_OPERATOR] = "cpu_operator",
    [STRETCH_INPUT] = "input",
    [STRETCH_PYTHON] = "python",
    [STRETCH_UNTRACED] = "untraced",
};

const char *whatif_work_class(size_t i)
{
    return i + STRETCH_OPERATOR < ARRAY_LEN(work_names) ? work_names[i + STRETCH_OPERATOR] : NULL;
}

static bool is_host_work(const struct whatif *w, const struct host_call *call, struct str site)
{
    if (call->class == STRETCH_LAUNCH || call->class >= STRETCH_COMPILE)
        return false;
    return site.n == 0 || str_equal(site, str_of(work_names[call->class])) ||
           is_named(w, call->filler, site);
}

/* Operators on what was just read from the device take the read with them. */
static void input_ready(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;
    uint8_t *reads = mem_grow(NULL, 1, w->a->host.n + 1);

    memset(reads, 0, w->a->host.n + 1);
    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].kind != REPLAY_HOST || !is_host_work(w, call_of(w, &r->nodes[i]), site))
            continue;
        c->lead[i] = 0;
        reads[r->nodes[i].ref] = call_of(w, &r->nodes[i])->class == STRETCH_OPERATOR;
    }
    whatif_drop_reads(w, c, reads);
    mem_free(reads);
}

/* ---- queues of their own ---- */

static bool is_transfer(const struct device_task *t)
{
    return t->class == TASK_COPY && t->copy != COPY_D2D && t->copy != COPY_MEMSET;
}

static bool is_comm(const struct device_task *t)
{
    return t->class == TASK_COMM;
}

static bool is_to_host(const struct device_task *t)
{
    return t->class == TASK_COPY && t->copy >= COPY_D2H_PAGEABLE && t->copy <= COPY_D2H;
}

/* Tasks that `moves` picks follow one another on a queue of their own; nobody waits for them but
 * the first task that does after the last collective of them in a step: copies can be made a step
 * ahead. What goes to the host still comes after the work that made it. */
static void overlap(const struct whatif *w, struct replay_change *c,
                    bool (*moves)(const struct device_task *))
{
    const struct trace_replay *r = w->replay;
    uint32_t *last = mem_grow(NULL, sizeof(*last), w->a->tasks.streams + 1);
    uint32_t own = REPLAY_NONE, waiter = REPLAY_NONE, step = TASK_NO_STEP;

    replay_change_own_prev(r, c);
    memset(last, 0xff, sizeof(*last) * (w->a->tasks.streams + 1));
    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind != REPLAY_TASK)
            continue;
        const struct device_task *t = task_of(w, node);
        if (t->step != step) { /* the last wait of the step before stays */
            if (waiter != REPLAY_NONE)
                c->drop[waiter] &= (uint8_t)~REPLAY_DROP_OTHER;
            step = t->step;
            waiter = REPLAY_NONE;
        }
        if (moves(t)) {
            uint32_t made = is_to_host(t) ? last[t->stream] : REPLAY_NONE;
            bool is_behind = made == REPLAY_NONE || (own != REPLAY_NONE && own > made);
            c->prev[i] = is_behind ? own : made;
            c->drop[i] |= REPLAY_DROP_OTHER;
            own = (uint32_t)i;
            continue;
        }
        const struct device_task *other =
            node->other != REPLAY_NONE ? task_of(w, &r->nodes[node->other]) : NULL;
        if (other != NULL && moves(other)) {
            c->drop[i] |= REPLAY_DROP_OTHER;
            waiter = is_transfer(other) ? REPLAY_NONE : (uint32_t)i;
        }
        c->prev[i] = last[t->stream];
        last[t->stream] = (uint32_t)i;
    }
    mem_free(last);
}

static void overlap_copies(struct whatif *w, struct str site, struct replay_change *c)
{
    (void)site;
    overlap(w, c, is_transfer);
}

static void overlap_comm(struct whatif *w, struct str site, struct replay_change *c)
{
    (void)site;
    overlap(w, c, is_comm);
}

/* Waits between streams go, but for the last one of a step for anything but a copy: with a second
 * buffer that one is a step ahead. */
static void no_stream_wait(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;
    uint32_t waiter = REPLAY_NONE, step = TASK_NO_STEP;

    (void)site;
    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind != REPLAY_TASK || node->other == REPLAY_NONE)
            continue;
        if (task_of(w, node)->step != step && waiter != REPLAY_NONE)
            c->drop[waiter] &= (uint8_t)~REPLAY_DROP_OTHER;
        step = task_of(w, node)->step;
        c->drop[i] |= REPLAY_DROP_OTHER;
        waiter = is_transfer(task_of(w, &r->nodes[node->other])) ? REPLAY_NONE : (uint32_t)i;
    }
    /* Calls that record events or wait for them go, if streams wait for each other at all. */
    for (size_t i = 0; w->a->tasks.streams > 1 && i < r->n; i++) {
        if (r->nodes[i].kind != REPLAY_HOST || call_of(w, &r->nodes[i])->kind != CALL_EVENT)
            continue;
        c->dur[i] = 0;
        if (call_of(w, &r->nodes[i])->class == STRETCH_LAUNCH)
            c->lead[i] = 0;
    }
}

/* ---- tasks that go ---- */

void whatif_drop_task(const struct whatif *w, struct replay_change *c, uint32_t task)
{
    const struct trace_replay *r = w->replay;
    uint32_t node = r->node_of_task[task], host = r->nodes[node].cause;

    c->drop[node] |= REPLAY_GONE;
    if (host == REPLAY_NONE || w->a->tasks.at[task].is_graph)
        return;
    /* A call, and the one that put it into a queue. */
    for (; host != REPLAY_NONE;
         host = r->nodes[host].kind == REPLAY_HOST ? r->nodes[host].cause : REPLAY_NONE) {
        if (call_of(w, &r->nodes[host])->is_start_up)
            continue; /* another kernel would pay for it */
        c->dur[host] = 0;
        if (call_of(w, &r->nodes[host])->class == STRETCH_LAUNCH)
            c->lead[host] = 0;
    }
}

static void drop_layout(struct whatif *w, struct str site, struct replay_change *c)
{
    (void)site;
    for (size_t i = 0; i < w->a->tasks.n; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        if ((t->class == TASK_COMPUTE && t->family == FAMILY_LAYOUT) ||
            (t->class == TASK_COPY && t->copy == COPY_D2D))
            whatif_drop_task(w, c, (uint32_t)i);
    }
}

/* The time of tasks goes, not what they wait for. */
static void take_no_time(struct whatif *w, struct replay_change *c,
                         bool (*picks)(const struct device_task *))
{
    for (size_t i = 0; i < w->a->tasks.n; i++)
        if (picks(&w->a->tasks.at[i]))
            c->dur[w->replay->node_of_task[i]] = 0;
}

static void no_comm(struct whatif *w, struct str site, struct replay_change *c)
{
    (void)site;
    take_no_time(w, c, is_comm);
}

static void no_transfers(struct whatif *w, struct str site, struct replay_change *c)
{
    (void)site;
    take_no_time(w, c, is_transfer);
}

static void no_aicpu(struct whatif *w, struct str site, struct replay_change *c)
{
    (void)site;
    for (size_t i = 0; i < w->a->tasks.n; i++)
        if (w->a->tasks.at[i].is_aicpu)
            c->dur[w->replay->node_of_task[i]] = 0;
}

/* ---- steps ---- */

static void even_step(struct whatif *w, struct str site, struct replay_change *c)
{
    (void)w;
    c->is_even = true;
    c->even = site;
}

const struct whatif_kind whatif_kinds[WHATIFS] = {
    [WHATIF_NO_LAUNCH_COST] = {"no_launch_cost", "launches cost the host nothing", no_launch_cost,
                               NULL},
    [WHATIF_NO_SYNC] = {"no_sync", "synchronise calls and small reads wait for nothing", no_sync,
                        "the result must not be needed at once"},
    [WHATIF_NO_ALLOC] = {"no_alloc", "no allocation and no free", no_alloc, NULL},
    [WHATIF_NO_COMPILE] = {"no_compile", "nothing is compiled or loaded", no_compile, NULL},
    [WHATIF_INPUT_READY] = {"input_ready",
                            "host work (cpu_operator, input, python, untraced) moves off "
                            "the launching thread",
                            input_ready, NULL},
    [WHATIF_PINNED_COPIES] = {"pinned_copies",
                              "pageable copies come from pinned memory, asynchronously; many "
                              "small ones are one",
                              whatif_pinned_copies, NULL},
    [WHATIF_OVERLAP_COPIES] = {"overlap_copies", "copies run on a queue of their own",
                               overlap_copies, "consumers of copies are not in the trace"},
    [WHATIF_OVERLAP_COMM] = {"overlap_comm", "collectives run on a queue of their own",
                             overlap_comm, "consumers of collectives are not in the trace"},
    [WHATIF_NO_STREAM_WAIT] = {"no_stream_wait", "streams do not wait for each other",
                               no_stream_wait, "needed waits are not marked in the trace"},
    [WHATIF_NO_COPIES] = {"no_copies", "no copies of 1 MB and more to the host", whatif_no_copies,
                          "the data may be needed on the host"},
    [WHATIF_GEMM_AT_ROOF] = {"gemm_at_roof", "matrix products and convolutions on tensor cores",
                             whatif_gemm_at_roof, NULL},
    [WHATIF_FUSE_ELEMENTWISE] = {"fuse_elementwise", "chains of elementwise kernels become one",
                                 whatif_fuse_elementwise,
                                 "which kernels depend on each other is not in the trace"},
    [WHATIF_FUSE_OPTIMIZER] = {"fuse_optimizer", "one kernel for all parameters",
                               whatif_fuse_optimizer, NULL},
    [WHATIF_DROP_LAYOUT] = {"drop_layout", "no layout copies", drop_layout,
                            "some copies may be needed"},
    [WHATIF_FUSE_ATTENTION] = {"fuse_attention", "attention made of products is one kernel",
                               whatif_fuse_attention, NULL},
    [WHATIF_EVEN_STEP] = {"even_step", "slow steps last as long as the median one", even_step,
                          NULL},
    [WHATIF_FAMILY_AT_ROOF] = {"family_at_roof",
                               "kernels of a family (gemm_tensor, conv, index_sort, gemm_simt) "
                               "reach their roof",
                               whatif_family_at_roof, NULL},
    [WHATIF_NO_AICPU] = {"no_aicpu", "work of the AICPU takes no time", no_aicpu,
                         "AI cores need some time for it"},
    [WHATIF_NO_FP64] = {"no_fp64", "doubles are floats", whatif_no_fp64, NULL},
    [WHATIF_NO_START_UP] = {"no_start_up",
                            "first calls take no time: code is loaded, contexts and "
                            "libraries are ready",
                            no_start_up, NULL},
    [WHATIF_NO_COMM] = {"no_comm", "collectives take no time", no_comm,
                        "what other ranks send may be needed"},
    [WHATIF_NO_TRANSFERS] = {"no_transfers",
                             "copies between host and device, or devices, take no time",
                             no_transfers, "the data may be needed"},
    [WHATIF_NO_NONZERO] = {"no_nonzero", "boolean indexing becomes a mask", whatif_no_nonzero,
                           "the number of elements may be needed"},
};
