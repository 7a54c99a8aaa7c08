/*
 * What a cause is worth: by a changed replay, by the share that runs alone, or by the accounting.
 */
#include "analysis/diagnose/root_find.h"

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/steps/steps.h"
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

double root_share(const struct root_finder *f, nanos time)
{
    return num_share((double)time, (double)f->window);
}

nanos root_start_up(const struct root_finder *f)
{
    const nanos *by = f->is_start_of_run ? f->a->all.by : f->by;

    return by[ACCOUNT_IDLE + CAUSE_START_UP];
}

nanos root_start_base(const struct root_finder *f)
{
    const struct interval *all = &f->a->all.window;

    return f->is_start_of_run ? nanos_sub(all->end, all->begin) : f->window;
}

double root_least(const struct root_finder *f, enum root_cause cause, int percent)
{
    nanos start = cause == ROOT_START_UP ? 0 : f->by[ACCOUNT_IDLE + CAUSE_START_UP];

    return percent / 100.0 * (1 - root_share(f, start));
}

double root_copies_alone(const struct root_finder *f)
{
    nanos sum = f->by[ACCOUNT_COPY + COPY_P2P];

    for (int kind = COPY_H2D_PAGEABLE; kind <= COPY_D2H; kind++)
        sum += f->by[ACCOUNT_COPY + kind];
    return root_share(f, sum);
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
    double waiting = root_share(f, idle) + root_copies_alone(f);
    if (flags & (ROOT_BY_STEPS | ROOT_BETWEEN_STREAMS))
        return 1;
    if (c->cause == ROOT_START_UP) /* not what waits behind it */
        return num_share((double)root_start_up(f), (double)root_start_base(f));
    if (flags & ROOT_OF_TASKS) /* the host is spared their launches too, if it holds up anything */
        return c->share + at_most(c->host_share, waiting);
    if (flags & ROOT_OF_LAUNCHES) {
        /* Idle time that long host work fills: launches and waits that go let the host begin with
         * it sooner, which is a matter of that work. */
        for (size_t i = 0; i < ARRAY_LEN(work); i++)
            filled += f->by[ACCOUNT_IDLE + work[i]];
        return waiting - root_share(f, filled);
    }
    return (flags & ROOT_OF_STRETCHES) && c->share < waiting ? c->share : waiting;
}

struct found_cause *root_keep(struct root_finder *f, enum root_cause cause, double saving,
                              double profiled)
{
    double least = root_least(f, cause, ROOT_LISTED);
    struct found_cause *c = &f->found[f->n];

    if (saving < least && profiled < least)
        return NULL;
    *c = (struct found_cause){.cause = cause, .told = -1};
    root_causes[cause].evidence(f, c);
    if (c->n_sites == 0 && !root_has(c, ROOT_BY_STEPS)) /* made of tasks or calls, but of none */
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

struct found_cause *root_value_changes(struct root_finder *f, enum root_cause cause)
{
    struct whatif_change changes[ROOT_CHANGES];
    size_t n = changes_of(cause, changes);

    if (n == 0)
        return NULL;
    struct whatif_result r = whatif_run(f->w, changes, n);
    struct found_cause *c =
        root_keep(f, cause, r.is_calibrated ? r.saving : r.profiled_saving, r.profiled_saving);
    if (c != NULL)
        c->in_slow_step = in_slow_step(f, changes, n);
    return c;
}

static struct found_cause *listed(struct root_finder *f, enum root_cause cause)
{
    const struct found_cause *c = root_found(f, cause);

    return c != NULL ? &f->found[c - f->found] : NULL;
}

static bool is_trusted(const struct root_finder *f, const struct found_cause *c)
{
    return c->saving >= root_least(f, c->cause, ROOT_NAMED) &&
           root_confidence(f, c) >= ROOT_POSSIBLE / 100.0;
}

struct found_cause *root_value_share(struct root_finder *f, enum root_cause cause, double share)
{
    struct found_cause *c = listed(f, cause);

    if (share < root_least(f, cause, ROOT_NOT_HEALTHY) || (c != NULL && is_trusted(f, c)))
        return c;
    if (c == NULL)
        c = root_keep(f, cause, share, share);
    if (c != NULL) {
        c->saving = c->profiled_saving = share;
        c->is_share = true;
    }
    return c;
}

const struct found_cause *root_valued(struct root_finder *f, enum root_cause cause)
{
    if (!f->is_valued[cause] && root_causes[cause].value != NULL) {
        f->is_valued[cause] = true;
        root_causes[cause].value(f, cause);
    }
    return root_found(f, cause);
}

void root_find(struct root_finder *f)
{
    /* The first of steps that nobody marked counts for nothing else. */
    f->is_start_of_run = study_steps(f->st)->found != FOUND_NOT;
    /* Queued work that begins later than any queue's latency explains, though no other stream
     * ended. */
    f->waits = 0;
    for (size_t i = 0; i < f->a->pieces.n; i++)
        if (f->a->pieces.at[i].cause == CAUSE_DEVICE_LATENCY)
            f->waits += root_long_wait(f, &f->a->pieces.at[i]);
    root_find_slow_step(f);
    root_find_slow_clock(f);
    for (enum root_cause cause = 0; cause < ROOT_CAUSES; cause++)
        root_valued(f, cause);
}
