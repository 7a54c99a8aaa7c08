/*
 * What each cause is worth: by a changed replay, by shares of one, or by the accounting.
 */
#include "analysis/diagnose/root_find.h"

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/study.h"

enum { ROOT_CHANGES = 2 };

bool root_counts_step(const struct root_finder *f, uint32_t step)
{
    return step != TASK_NO_STEP && step >= f->first;
}

uint32_t root_step_of_call(const struct root_finder *f, const struct host_call *call)
{
    size_t place;

    if (call->tasks > 0)
        return f->a->tasks.at[call->first_task].step;
    vec_bisect(place, f->a->n, i, f->a->steps[i].host.begin <= call->begin);
    return place > 0 ? (uint32_t)place - 1 : TASK_NO_STEP;
}

const struct found_cause *root_found(const struct root_finder *f, enum root_cause cause)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].cause == cause)
            return &f->found[i];
    return NULL;
}

bool root_changes(const struct root_finder *f, size_t task)
{
    const struct replay_change *c = &f->w->change;
    uint32_t node = f->w->replay->node_of_task[task];

    return (c->drop[node] & REPLAY_GONE) != 0 || c->dur[node] < f->w->replay->nodes[node].dur;
}

static double share_of(const struct root_finder *f, nanos time)
{
    return num_share((double)time, (double)f->window);
}

double root_least(const struct root_finder *f, enum root_cause cause, int percent)
{
    nanos start = cause == ROOT_START_UP ? 0 : f->by[ACCOUNT_IDLE + CAUSE_START_UP];

    return percent / 100.0 * (1 - share_of(f, start));
}

nanos root_copies_alone(const struct root_finder *f)
{
    nanos sum = f->by[ACCOUNT_COPY + COPY_P2P];

    for (int kind = COPY_H2D_PAGEABLE; kind <= COPY_D2H; kind++)
        sum += f->by[ACCOUNT_COPY + kind];
    return sum;
}

static double copies_share(const struct root_finder *f)
{
    return share_of(f, root_copies_alone(f));
}

/* Share of a change's saving that lies in the slow step. */
static double in_slow_step(struct root_finder *f, const struct whatif_change *changes, size_t n)
{
    size_t slow = f->slow.step;
    double all = 0, there = 0;

    if (slow == SIZE_MAX)
        return 0;
    whatif_times(f->w, changes, n);
    nanos before = whatif_begin(f->w);
    trace_replay_ends(f->w->replay, &f->w->times, f->w->ends);
    for (size_t i = 0; i < f->a->n; i++) {
        if (f->a->steps[i].tasks == 0)
            continue;
        double took = (double)f->w->ends[i] - (double)before;
        double saved =
            (double)f->a->steps[i].window.end - (double)f->a->steps[i].window.begin - took;
        all += saved > 0 ? saved : 0;
        there += saved > 0 && i == slow ? saved : 0;
        before = f->w->ends[i];
    }
    return num_share(there, all);
}

nanos root_long_wait(const struct root_finder *f, const struct idle_piece *p)
{
    nanos length = p->at.end - p->at.begin;
    bool is_wait = p->cause == CAUSE_DEVICE_DEPENDENCY ||
                   (p->cause == CAUSE_DEVICE_LATENCY && length > LIMIT_QUEUE_MOST);

    return is_wait && root_counts_step(f, p->step) ? length : 0;
}

static double at_most(double x, double most)
{
    return x < most ? x : most;
}

/* No cause saves more than its tasks and their launches take, or its host work, and what the host
 * does saves no more than the device idles or copies. As a share of the recorded step. */
static double most_saved(const struct root_finder *f, const struct found_cause *c)
{
    static const enum idle_cause work[] = {CAUSE_OPERATOR, CAUSE_INPUT, CAUSE_PYTHON,
                                           CAUSE_UNTRACED, CAUSE_COMPILE};
    unsigned flags = root_causes[c->cause].flags;
    nanos idle = 0, filled = 0;

    for (int cause = 0; cause < IDLE_CAUSES; cause++)
        idle += f->by[ACCOUNT_IDLE + cause];
    double waiting = share_of(f, idle) + copies_share(f);
    if (flags & (ROOT_OF_STEP | ROOT_BETWEEN_STREAMS))
        return 1;
    if (c->cause == ROOT_START_UP)
        return share_of(f, f->by[ACCOUNT_IDLE + CAUSE_START_UP]); /* not what waits behind it */
    if (flags & ROOT_OF_TASKS)
        return c->share + c->host_share; /* the host is spared their launches too */
    if (flags & ROOT_OF_LAUNCHES) {
        /* Idle time that long host work fills: launches and waits that go let the host begin with
         * it sooner, which is a matter of that work. */
        for (size_t i = 0; i < ARRAY_LEN(work); i++)
            filled += f->by[ACCOUNT_IDLE + work[i]];
        return waiting - share_of(f, filled);
    }
    return (flags & ROOT_OF_STRETCHES) && c->share < waiting ? c->share : waiting;
}

/* Whatever is worth listing is kept. */
static struct found_cause *find_keep(struct root_finder *f, enum root_cause cause, double saving,
                                     double profiled)
{
    double least = root_least(f, cause, ROOT_LISTED);
    struct found_cause *c = &f->found[f->n];

    if (saving < least && profiled < least)
        return NULL;
    *c = (struct found_cause){.cause = cause};
    root_find_sites(f, c);
    /* Slow steps and changing shapes are seen by comparing steps; every other cause is made of
     * tasks or calls. */
    if (c->n_sites == 0 && c->cause != ROOT_VARIABLE_SHAPES &&
        (root_causes[c->cause].flags & ROOT_OF_STEP) == 0)
        return NULL;
    if (c->is_at_edge && !root_has(c, ROOT_OF_TASKS) && c->cause != ROOT_START_UP)
        return NULL;
    double most = most_saved(f, c);
    double faster = num_share((double)f->w->profiled, (double)f->w->bare);
    c->profiled_saving = at_most(profiled, at_most(most, 1));
    c->saving = at_most(saving, at_most(faster > 1 ? most * faster : most, 1));
    if (c->saving < least && c->profiled_saving < least)
        return NULL;
    f->n++;
    return c;
}

/* The changes of a cause; gives how many, 0 when one of them is not known. */
static size_t changes_of(enum root_cause cause, struct whatif_change out[ROOT_CHANGES])
{
    struct str left = str_of(root_causes[cause].whatif), one;
    size_t n = 0;

    while (n < ROOT_CHANGES && left.n > 0 && str_split(&left, ' ', &one))
        if (!whatif_parse(one, &out[n++]))
            return 0;
    return n;
}

double root_run(struct root_finder *f, enum root_cause cause, enum root_cause other)
{
    struct whatif_change changes[2 * ROOT_CHANGES];
    size_t n = changes_of(cause, changes);

    n += root_causes[other].whatif != NULL ? changes_of(other, changes + n) : 0;
    struct whatif_result r = whatif_run(f->w, changes, n);
    return r.is_calibrated ? r.saving : r.profiled_saving;
}

/* Whether many launches hold up the device, and not one or two of them. */
static bool is_spread(const struct root_finder *f)
{
    nanos most[ROOT_FEW_LAUNCHES] = {0}, all = 0;

    for (size_t i = 0; i < f->a->pieces.n; i++) {
        const struct idle_piece *p = &f->a->pieces.at[i];
        nanos length = p->at.end - p->at.begin;
        if (p->cause != CAUSE_LAUNCH || !root_counts_step(f, p->step))
            continue;
        all = nanos_add(all, length);
        for (size_t k = 0; k < ROOT_FEW_LAUNCHES; k++)
            if (length > most[k]) {
                nanos less = most[k];
                most[k] = length;
                length = less;
            }
    }
    nanos few = 0;
    for (size_t k = 0; k < ROOT_FEW_LAUNCHES; k++)
        few = nanos_add(few, most[k]);
    return few < all / 2;
}

/* Whether steps allocate again and again: at least half of them do, or, where none are marked,
 * half of what is allocated is given back. Memory that is taken once is part of a start. */
static bool allocates_steadily(const struct root_finder *f)
{
    uint32_t last = TASK_NO_STEP;
    size_t steps = 0, allocs = 0, frees = 0;

    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        uint32_t step = root_step_of_call(f, call);
        if (!host_call_allocates((enum call_kind)call->kind) || call->is_start_up ||
            !root_counts_step(f, step))
            continue;
        steps += step != last;
        last = step;
        bool is_free =
            call->kind == CALL_FREE ||
            str_contains_nocase(capture_text(f->cap, f->cap->slices.name[call->slice]), S("free"));
        frees += is_free;
        allocs += !is_free;
    }
    return f->steps > 1 ? steps * 2 >= f->steps : frees * 2 >= allocs;
}

/* Whether the accounting shows enough time that a cause could have taken. */
static bool is_supported(const struct root_finder *f, enum root_cause cause)
{
    if (cause == ROOT_LAUNCH_BOUND)
        return share_of(f, f->by[ACCOUNT_IDLE + CAUSE_LAUNCH]) >=
                   root_least(f, cause, ROOT_LISTED) &&
               is_spread(f);
    if (cause == ROOT_ALLOCATOR)
        return allocates_steadily(f);
    if (cause == ROOT_COMM_EXPOSED)
        return share_of(f, f->by[ACCOUNT_COMM]) >= root_least(f, cause, ROOT_NOT_HEALTHY);
    return true;
}

/* What the changes of a cause save. */
static void value(struct root_finder *f, enum root_cause cause)
{
    struct whatif_change changes[ROOT_CHANGES];
    size_t n = changes_of(cause, changes);

    if (n == 0 || !is_supported(f, cause))
        return;
    struct whatif_result r = whatif_run(f->w, changes, n);
    struct found_cause *c =
        find_keep(f, cause, r.is_calibrated ? r.saving : r.profiled_saving, r.profiled_saving);
    if (c != NULL)
        c->in_slow_step = in_slow_step(f, changes, n);
}

/* Copies that streams wait for are a matter of the waits; others of the stream they run in. Waits
 * for collectives are a matter of those. */
static void value_copies(struct root_finder *f)
{
    const struct trace_replay *r = f->w->replay;
    size_t waits = 0, of_comm = 0; /* that collectives wait or are waited for */
    bool has_event = false;

    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].other == REPLAY_NONE)
            continue;
        waits++;
        of_comm += f->a->tasks.at[r->nodes[i].ref].class == TASK_COMM ||
                   f->a->tasks.at[r->nodes[r->nodes[i].other].ref].class == TASK_COMM;
    }
    for (size_t i = 0; i < f->a->host.n; i++)
        has_event |= f->a->host.calls[i].kind == CALL_EVENT;
    value(f, ROOT_PAGEABLE_COPY);
    value(f, ROOT_COPY_UNNEEDED);
    if (copies_share(f) >= ROOT_COPY_SHARE / 100.0) {
        double pageable = share_of(f, f->by[ACCOUNT_COPY + COPY_H2D_PAGEABLE] +
                                          f->by[ACCOUNT_COPY + COPY_D2H_PAGEABLE]);
        bool is_pinned = pageable < ROOT_PAGEABLE / 100.0 * copies_share(f);
        value(f, has_event && waits > 0 && is_pinned ? ROOT_NO_OVERLAP : ROOT_COPY_EXPOSED);
    } else if (of_comm * 2 < waits) {
        value(f, ROOT_DEVICE_DEPENDENCY);
    }
}

/* What runs alone for long, though no change hides it: an upper bound. The profiler has no part in
 * its time. */
static void value_share(struct root_finder *f, enum root_cause cause, double share)
{
    const struct found_cause *before = root_found(f, cause);
    bool is_bare = profiler_cost_is_known(f->w->cost) && f->w->bare > 0;
    double more = is_bare ? (double)f->w->profiled / (double)f->w->bare : 1;

    if (share < root_least(f, cause, ROOT_NOT_HEALTHY) ||
        (before != NULL && before->saving >= root_least(f, cause, ROOT_NAMED)))
        return;
    struct found_cause *c =
        before != NULL ? &f->found[before - f->found] : find_keep(f, cause, share, share);
    if (c == NULL)
        return;
    c->profiled_saving = share;
    c->saving = at_most(share * more, 1);
    c->is_share = true;
}

static void value_accounts(struct root_finder *f)
{
    double aicpu = share_of(f, f->by[ACCOUNT_COMPUTE + FAMILY_AICPU]);

    find_keep(f, ROOT_AICPU_EXPOSED, aicpu, aicpu);
    value_share(f, ROOT_COMM_EXPOSED, share_of(f, f->by[ACCOUNT_COMM]));
    if (root_found(f, ROOT_NO_OVERLAP) == NULL)
        value_share(f, ROOT_COPY_EXPOSED, copies_share(f));
    value_share(f, ROOT_DEVICE_DEPENDENCY, share_of(f, f->waits));
    if (f->clock.step != SIZE_MAX)
        find_keep(f, ROOT_CLOCK_DROP, f->clock.share, f->clock.share);
    if (f->slow.step == SIZE_MAX)
        return;
    struct found_cause *c = find_keep(f, f->slow.cause, f->slow.share, f->slow.share);
    if (c != NULL)
        c->in_slow_step = 1;
}

bool root_waits_for_interpreter(const struct root_finder *f)
{
    size_t n = 0, near = 0;

    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *c = &f->a->host.calls[i];
        bool is_untraced = c->class == STRETCH_UNTRACED && c->filler == NO_SLICE;
        if (!is_untraced || !root_counts_step(f, root_step_of_call(f, c)))
            continue;
        nanos times = (c->stretch + ROOT_SWITCH / 2) / ROOT_SWITCH;
        nanos off = c->stretch - times * ROOT_SWITCH;
        n++;
        near += times >= 1 && times <= ROOT_SWITCH_MOST &&
                (off < 0 ? -off : off) * 100 <= (nanos)ROOT_SWITCH * ROOT_SWITCH_NEAR;
    }
    return near >= ROOT_SWITCH_STRETCHES && near * 100 >= n * ROOT_SWITCH_SHARE;
}

void root_find(struct root_finder *f)
{
    static const enum root_cause changes[] = {
        ROOT_LAUNCH_BOUND,      ROOT_HOST_SYNC,           ROOT_INPUT_PIPELINE,
        ROOT_CPU_OPERATOR,      ROOT_HOST_UNTRACED,       ROOT_PYTHON_OVERHEAD,
        ROOT_ALLOCATOR,         ROOT_COMPILATION,         ROOT_COMM_EXPOSED,
        ROOT_NO_TENSOR_CORE,    ROOT_FP64_USED,           ROOT_GEMM_INEFFICIENT,
        ROOT_ATTENTION_UNFUSED, ROOT_ELEMENTWISE_UNFUSED, ROOT_LAYOUT_COPIES,
        ROOT_OPTIMIZER_UNFUSED, ROOT_INDEX_SORT_HEAVY,
    };

    value(f, ROOT_START_UP);

    /* Queued work that begins later than any queue's latency explains, though no other stream
     * ended. */
    f->waits = 0;
    for (size_t i = 0; i < f->a->pieces.n; i++)
        if (f->a->pieces.at[i].cause == CAUSE_DEVICE_LATENCY)
            f->waits += root_long_wait(f, &f->a->pieces.at[i]);
    root_find_slow_step(f);
    root_find_slow_clock(f);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++)
        value(f, changes[i]);
    value_copies(f);
    value_accounts(f);
    /* Sizes that change make memory anew; what compilers do with them names itself. */
    const struct found_cause *memory = root_found(f, ROOT_ALLOCATOR);
    if (memory != NULL && root_shape_sets(f) >= ROOT_SHAPE_SETS)
        find_keep(f, ROOT_VARIABLE_SHAPES, memory->saving, memory->profiled_saving);
}
