/*
 * How a predicted saving is to be read: as it is, as the most or the least that a repair gives.
 */
#include "analysis/diagnose/root_find.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/diagnose/whatif_changes.h"
#include "analysis/idle/idle.h"

ENUM_NAMES(saving_bound_name, enum saving_bound, "about", "at_most", "at_least", "in_recording")
ENUM_NAMES(saving_bound_word, enum saving_bound, "about", "at most", "at least", "once")

/* ---- what no graph can hold ---- */

static bool is_read(const struct root_finder *f, const struct host_call *call)
{
    const struct device_task *t = call->tasks > 0 ? &f->a->tasks.at[call->first_task] : NULL;

    return t != NULL && t->class == TASK_COPY && t->copy >= COPY_D2H_PAGEABLE &&
           t->copy <= COPY_D2H && idle_is_blocking_copy(f->a, call);
}

/* Steps in which the host waits between two launches. */
static size_t steps_with_waits(const struct root_finder *f)
{
    uint32_t waits_in = TASK_NO_STEP, counted = TASK_NO_STEP;
    size_t n = 0;

    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        uint32_t step = root_step_of_call(f, call);
        if (!root_counts_step(f, step))
            continue;
        bool is_launch = call->tasks > 0 && f->a->tasks.at[call->first_task].class == TASK_COMPUTE;
        if (call->kind == CALL_SYNC || is_read(f, call)) {
            waits_in = step;
        } else if (is_launch && waits_in == step && counted != step) {
            counted = step;
            n++;
        }
    }
    return n;
}

/* Kernels of several streams, ordered by events. */
static bool has_stream_waits(const struct root_finder *f)
{
    uint32_t stream = UINT32_MAX;
    bool has_two = false;
    size_t events = 0;

    for (size_t i = 0; i < f->a->tasks.n; i++) {
        const struct device_task *t = &f->a->tasks.at[i];
        if (t->class != TASK_COMPUTE || !root_counts_step(f, t->step))
            continue;
        has_two |= stream != UINT32_MAX && t->stream != stream;
        stream = t->stream;
    }
    for (size_t i = 0; i < f->a->host.n; i++)
        events += f->a->host.calls[i].kind == CALL_EVENT;
    return has_two && events >= f->steps;
}

/* ---- what could be one launch ---- */

/* Equal products, one after the other. */
struct product_run {
    uint64_t key;
    size_t calls, tasks;
};

static size_t tasks_of_run(const struct product_run *run)
{
    return run->calls >= ROOT_EQUAL_PRODUCTS ? run->tasks : 0;
}

/* ---- causes that are repaired together ---- */

/* Another cause of the same tasks, which saves more on top of this one. */
static bool has_more(struct root_finder *f, const struct found_cause *c)
{
    const struct device_tasks *tasks = &f->a->tasks;
    uint8_t *own = mem_grow(NULL, 1, tasks->n + 1);
    bool is_more = false;

    root_run(f, c->cause, ROOT_HEALTHY);
    for (size_t i = 0; i < tasks->n; i++)
        own[i] = root_changes(f, i);
    for (size_t k = 0; k < f->n && !is_more; k++) {
        double all = 0, both = 0;
        if (&f->found[k] == c || !root_has(&f->found[k], ROOT_OF_TASKS) ||
            root_causes[f->found[k].cause].whatif == NULL)
            continue;
        root_run(f, f->found[k].cause, ROOT_HEALTHY);
        for (size_t i = 0; i < tasks->n; i++) {
            double time = root_changes(f, i) ? (double)(tasks->at[i].end - tasks->at[i].begin) : 0;
            all += time;
            both += own[i] != 0 ? time : 0;
        }
        /* A fused kernel of floats is valued as one of floats. */
        bool is_type = f->found[k].cause == ROOT_NO_TENSOR_CORE;
        is_more =
            all > 0 && both * 100 >= all * ROOT_SPECIFIC &&
            (is_type || root_run(f, c->cause, f->found[k].cause) >= c->saving + ROOT_NAMED / 100.0);
    }
    mem_free(own);
    return is_more;
}

static bool is_listed(const struct root_finder *f, enum root_cause cause)
{
    const struct found_cause *c = root_found(f, cause);

    return c != NULL && c->saving >= ROOT_LISTED / 100.0;
}

static enum saving_bound bound_of_launches(const struct root_finder *f)
{
    if (steps_with_waits(f) * 2 >= f->steps || has_stream_waits(f))
        return SAVING_AT_MOST; /* not one graph */
    /* Whether most launches are of equal products in a row, which could be one product. */
    struct product_run run = {0};
    size_t all = 0, equal = 0;
    uint32_t op = NO_SLICE;
    for (size_t i = 0; i < f->a->host.n; i++) {
        const struct host_call *call = &f->a->host.calls[i];
        if (call->tasks == 0 || f->a->tasks.at[call->first_task].class != TASK_COMPUTE)
            continue;
        const struct operator_work *work =
            operator_work_of(&f->w->works, whatif_operator(f->w, call));
        all += call->tasks;
        if (work->is.flops <= 0 || work->key != run.key) {
            equal += tasks_of_run(&run);
            run = (struct product_run){.key = work->is.flops > 0 ? work->key : 0};
            op = NO_SLICE;
        }
        run.calls += call->op != op;
        run.tasks += call->tasks;
        op = call->op;
    }
    equal += tasks_of_run(&run);
    return (equal * 100 >= all * ROOT_SPECIFIC && equal > 0) ? SAVING_AT_LEAST : SAVING_ABOUT;
}

enum saving_bound root_bound(struct root_finder *f, const struct found_cause *c)
{
    const struct found_cause *launches = root_found(f, ROOT_LAUNCH_BOUND);

    if (root_has(c, ROOT_OF_STEP) || c->cause == ROOT_START_UP)
        return SAVING_IN_RECORDING;
    if (root_may_be_profiler(c)) /* without the profiler there may be nothing to save */
        return SAVING_AT_MOST;
    if (c->cause == ROOT_LAUNCH_BOUND)
        return bound_of_launches(f);
    if (c->cause == ROOT_HOST_SYNC) /* what is read less often is launched less often */
        return launches != NULL && launches->saving > c->saving ? SAVING_AT_LEAST : SAVING_AT_MOST;
    if (c->is_share || root_has(c, ROOT_UPPER_BOUND))
        return SAVING_AT_MOST;
    /* Data that the host works on is carried by copies, which go with the work. */
    if (root_has(c, ROOT_OF_STRETCHES) &&
        (is_listed(f, ROOT_PAGEABLE_COPY) || is_listed(f, ROOT_COPY_UNNEEDED) ||
         is_listed(f, ROOT_COPY_EXPOSED)))
        return SAVING_AT_LEAST;
    bool is_first = f->n > 0 && c == &f->found[0];
    return is_first && root_has(c, ROOT_OF_TASKS) && has_more(f, c) ? SAVING_AT_LEAST
                                                                    : SAVING_ABOUT;
}
