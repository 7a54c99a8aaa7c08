/*
 * truth: counts what each step of a rank did, exactly.
 */
#include "synth/truth.h"

#include <stdlib.h>

void truth_init(struct truth *t, const struct rank *r, int64_t level)
{
    *t = (struct truth){.rank = r, .id = r->id, .skew = r->skew, .slow = r->slow, .level = level};
}

void truth_fini(struct truth *t)
{
    vec_free(&t->steps);
    vec_free(&t->bubbles);
    vec_free(&t->aicpu);
    vec_free(&t->files);
    vec_free(&t->before.list);
    vec_free(&t->now.list);
    vec_free(&t->scratch.list);
    vec_free(&t->sets.busy.list);
    vec_free(&t->sets.computing.list);
    vec_free(&t->sets.communication.list);
    vec_free(&t->sets.exposed.list);
    vec_free(&t->sets.free.list);
}

static unsigned bits_of(const struct synth_task *task)
{
    if (task->kind == TASK_COPY)
        return WORK_COPY;
    if (task->kind == TASK_COMM)
        return WORK_KERNEL | WORK_COMM;
    if (task->kind == TASK_KERNEL)
        return WORK_KERNEL | WORK_COMPUTE | (op_is_core(task->op->code) ? WORK_CORE : 0);
    return 0;
}

/* Adds to a union of work that comes in the order of its begins. */
static void extend_union(nanos *sum, nanos *union_end, const struct synth_task *task)
{
    nanos end = task->begin + task->dur;
    nanos from = task->begin > *union_end ? task->begin : *union_end;

    *sum += end > from ? end - from : 0;
    *union_end = end > *union_end ? end : *union_end;
}

static void count_tasks(struct truth *t, struct truth_step *out)
{
    const struct synth_step *step = &t->rank->step;

    t->now.list.n = 0;
    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct synth_task *task = &step->tasks.at[i];
        unsigned bits = bits_of(task);
        vec_push(&t->now.list, ((struct account_span){task->begin, task->begin + task->dur, bits}));
        out->copies += task->kind == TASK_COPY;
        if ((bits & (WORK_KERNEL | WORK_COPY)) != 0)
            extend_union(&t->busy_copies, &t->busy_copies_end, task);
        if ((bits & WORK_KERNEL) == 0)
            continue;
        extend_union(&t->busy, &t->busy_end, task);
        t->first = t->kernels == 0 ? task->begin : t->first;
        t->last = t->busy_end;
        t->kernels++;
        struct truth_total *total = &t->totals[task->op->code];
        if (total->count == 0 || task->dur < total->shortest)
            total->shortest = task->dur;
        if (task->dur > total->longest)
            total->longest = task->dur;
        total->count++;
        total->dur += task->dur;
        total->wait += task->wait;
        out->kernels++;
        out->cores += (bits & WORK_CORE) != 0;
        out->aicpus += task->op->code == OP_AICPU;
        out->comms += task->kind == TASK_COMM;
        out->dur += task->dur;
        out->wait += task->wait;
    }
}

static void make_sets(struct truth *t, struct truth_step *out)
{
    struct step_sets *sets = &t->sets;
    const struct account_span *at = t->now.list.at;
    size_t n = t->now.list.n;

    account_sweep(at, n, WORK_KERNEL, 0, &sets->busy);
    account_sweep(at, n, WORK_COMPUTE, 0, &sets->computing);
    account_sweep(at, n, WORK_COMM, 0, &sets->communication);
    account_sweep(at, n, WORK_COMM, WORK_COMPUTE, &sets->exposed);
    sets->free.list.n = 0;
    sets->first = sets->last = 0;
    for (size_t i = 0; i + 1 < sets->busy.list.n; i++)
        vec_push(&sets->free.list, ((struct account_span){sets->busy.list.at[i].end,
                                                          sets->busy.list.at[i + 1].begin, 0}));
    if (sets->busy.list.n > 0) {
        sets->first = sets->busy.list.at[0].begin;
        sets->last = sets->busy.list.at[sets->busy.list.n - 1].end;
    }
    out->computing = account_length(&sets->computing);
    out->communication = account_length(&sets->communication);
    out->exposed = account_length(&sets->exposed);
    out->overlapped = out->communication - out->exposed;
    out->free = account_length(&sets->free);
}

/* AICPU work and how much of it AI core kernels hide. */
static void count_aicpu(struct truth *t)
{
    const struct synth_step *step = &t->rank->step;

    account_sweep(t->now.list.at, t->now.list.n, WORK_CORE, 0, &t->scratch);
    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct synth_task *task = &step->tasks.at[i];
        if (task->kind != TASK_KERNEL || task->op->code != OP_AICPU)
            continue;
        nanos hidden = account_length_in(&t->scratch, task->begin, task->begin + task->dur);
        vec_push(&t->aicpu, ((struct truth_aicpu){step->number, task->begin, task->dur, hidden}));
    }
}

/* Bits of host spans: any host event, a copy or synchronisation, communication; then a bit for
 * each thread. */
enum { SEEN = 1, SYNC = 2, COMM = 4, THREAD = 8 };

static unsigned evidence_of(const struct host_event *e)
{
    struct str name = str_of(e->name);
    unsigned bits = SEEN | (unsigned)THREAD << e->thread;

    if (e->kind == HOST_OP &&
        (str_equal(name, S("aten::to")) || str_equal(name, S("aten::_to_copy")) ||
         str_equal(name, S("aten::copy_"))))
        bits |= SYNC;
    if (str_contains_nocase(name, S("aclrtMemcpy")) ||
        str_contains_nocase(name, S("aclrtSynchronize")))
        bits |= SYNC;
    if (e->kind == HOST_HCCL || str_contains_nocase(name, S("c10d")) ||
        str_contains_nocase(name, S("hccl")) || str_contains_nocase(name, S("hcom")) ||
        str_contains_nocase(name, S("StreamWaitEvent")))
        bits |= COMM;
    return bits;
}

/* What host and device show inside an idle window. A Python frame around the whole window that
 * lasts nine tenths of the step or more says nothing and is left out. */
static void collect_evidence(struct truth *t, struct account_span win, nanos service,
                             struct spans *out)
{
    const struct synth_step *step = &t->rank->step;

    out->list.n = 0;
    for (size_t i = 0; i < step->host.n; i++) {
        const struct host_event *e = &step->host.at[i];
        nanos begin = e->begin, end = e->begin + e->dur;
        bool is_scope = e->kind == HOST_PYTHON && begin <= win.begin && end >= win.end &&
                        e->dur * 10 >= service * 9;
        if (end <= win.begin || begin >= win.end || e->kind == HOST_STEP || is_scope)
            continue;
        vec_push(&out->list,
                 ((struct account_span){begin > win.begin ? begin : win.begin,
                                        end < win.end ? end : win.end, evidence_of(e)}));
    }
    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct synth_task *task = &step->tasks.at[i];
        nanos begin = task->begin, end = task->begin + task->dur;
        unsigned bits = task->kind == TASK_COPY ? SYNC : task->kind == TASK_WAIT ? COMM : 0;
        if (bits == 0 || end <= win.begin || begin >= win.end)
            continue;
        vec_push(&out->list, ((struct account_span){begin > win.begin ? begin : win.begin,
                                                    end < win.end ? end : win.end, bits}));
    }
}

enum {
    LABEL_SYNC = 1,
    LABEL_COMM = 2,
    LABEL_UNTRACED = 4,
    LABEL_LAG = 8,
    LABEL_PYTHON = 16,
    LABEL_NONE = 32
};

static unsigned labels_of(const struct truth_bubble *b)
{
    nanos length = b->end - b->begin;
    unsigned labels = 0;

    if (b->sync * 5 >= length)
        labels |= LABEL_SYNC;
    if (b->comm * 5 >= length)
        labels |= LABEL_COMM;
    if (b->host * 20 < length)
        labels |= LABEL_UNTRACED;
    if (labels == 0 && b->host * 10 >= length)
        labels |= LABEL_LAG;
    if (labels == 0 && b->host > 0 && b->threads * 10 < b->host * 12)
        labels |= LABEL_PYTHON;
    return labels != 0 ? labels : LABEL_NONE;
}

static void truth_judge(struct truth *t, const struct stall *stall, struct account_span win,
                        nanos service)
{
    struct truth_bubble b = {t->rank->step.number, *stall, win.begin, win.end, 0, 0, 0, 0, 0};
    struct spans evidence = {0};

    if (win.end <= win.begin)
        return;
    collect_evidence(t, win, service, &evidence);
    account_sweep(evidence.list.at, evidence.list.n, SEEN, 0, &t->scratch);
    b.host = account_length(&t->scratch);
    account_sweep(evidence.list.at, evidence.list.n, SYNC, 0, &t->scratch);
    b.sync = account_length(&t->scratch);
    account_sweep(evidence.list.at, evidence.list.n, COMM, 0, &t->scratch);
    b.comm = account_length(&t->scratch);
    for (int k = 0; k < THREAD_COUNT; k++) {
        account_sweep(evidence.list.at, evidence.list.n, (unsigned)THREAD << k, 0, &t->scratch);
        b.threads += account_length(&t->scratch);
    }
    b.labels = labels_of(&b);
    vec_free(&evidence.list);
    vec_push(&t->bubbles, b);
}

/* Work of this step and of what the step before left running. */
static void join_work(const struct truth *t, struct spans *out)
{
    out->list.n = 0;
    for (size_t i = 0; i < t->before.list.n; i++)
        vec_push(&out->list, t->before.list.at[i]);
    for (size_t i = 0; i < t->now.list.n; i++)
        vec_push(&out->list, t->now.list.at[i]);
}

/* The last step of a capture ends with its last kernel, so no pause behind that counts. */
static void count_bubbles(struct truth *t, bool is_last)
{
    const struct synth_step *step = &t->rank->step;
    nanos end = is_last ? t->sets.last : step->next_begin;
    struct spans all = {0}, busy = {0};

    if (step->stalls.n == 0)
        return;
    join_work(t, &all);
    account_sweep(all.list.at, all.list.n, WORK_KERNEL, 0, &busy);
    for (size_t i = 0; i < step->stalls.n; i++) {
        const struct stall *stall = &step->stalls.at[i];
        nanos at = stall->place == PLACE_TAIL ? step->next_begin - 1 : stall->at;
        struct account_span win;
        if ((!is_last || stall->place != PLACE_TAIL) &&
            account_gap(&busy, step->begin, end, at, &win))
            truth_judge(t, stall, win, end - step->begin);
    }
    vec_free(&all.list);
    vec_free(&busy.list);
}

/* The windows of the step before the current one are known once the current one has begun. */
static void settle(struct truth *t, nanos next_begin, nanos next_first)
{
    if (t->steps.n == 0)
        return;
    struct truth_step *s = &t->steps.at[t->steps.n - 1];
    struct spans all = {0};

    join_work(t, &all);
    nanos last = 0, last_copy = 0;
    for (size_t i = 0; i < t->now.list.n; i++) {
        const struct account_span *w = &t->now.list.at[i];
        if ((w->bits & WORK_KERNEL) != 0)
            last = w->end > last ? w->end : last;
        if ((w->bits & (WORK_KERNEL | WORK_COPY)) != 0)
            last_copy = w->end > last_copy ? w->end : last_copy;
    }
    last = last > 0 ? last : s->mark_end;
    last_copy = last_copy > 0 ? last_copy : s->mark_end;
    account_sweep(all.list.at, all.list.n, WORK_KERNEL, 0, &t->scratch);
    s->views[VIEW_HOST] = account_window(&t->scratch, s->begin, next_begin > 0 ? next_begin : last);
    s->views[VIEW_TABLE] =
        account_window(&t->scratch, t->sets.first, next_first > 0 ? next_first : last);
    account_sweep(all.list.at, all.list.n, WORK_KERNEL | WORK_COPY, 0, &t->scratch);
    s->views[VIEW_COPIES] =
        account_window(&t->scratch, s->begin, next_begin > 0 ? next_begin : last_copy);
    vec_free(&all.list);
}

static nanos first_kernel(const struct synth_step *step)
{
    for (size_t i = 0; i < step->tasks.n; i++)
        if (step->tasks.at[i].kind == TASK_KERNEL || step->tasks.at[i].kind == TASK_COMM)
            return step->tasks.at[i].begin;
    return step->begin;
}

void truth_step(struct truth *t)
{
    const struct synth_step *step = &t->rank->step;
    struct truth_step s = {
        .number = step->number,
        .phase = step->program->phase,
        .dense = step->program->dense,
        .moe = step->program->moe,
        .is_cut = step->is_cut,
        .begin = step->begin,
        .mark_end = step->mark_end,
    };

    settle(t, step->begin, first_kernel(step));
    struct spans swap = t->before;
    t->before = t->now;
    t->now = swap;
    count_tasks(t, &s);
    make_sets(t, &s);
    t->copies += s.copies;
    for (size_t i = 0; i < step->host.n; i++)
        if (step->host.at[i].kind <= HOST_GC)
            t->host_events[step->host.at[i].kind]++;
    if (!step->is_marked) {
        t->early += s.kernels;
        return;
    }
    count_aicpu(t);
    count_bubbles(t, false);
    vec_push(&t->steps, s);
}

void truth_finish(struct truth *t)
{
    if (t->steps.n == 0)
        return;
    settle(t, 0, 0);
    int64_t last = t->steps.at[t->steps.n - 1].number;
    while (t->bubbles.n > 0 && t->bubbles.at[t->bubbles.n - 1].step == last)
        t->bubbles.n--;
    count_bubbles(t, true);
}

/* Sums and counts are far below 2^63 each, their products are not. */
__extension__ typedef __int128 wide;

ORDER_BY(by_total, struct truth_sum, ORDER(y->total.dur, x->total.dur) ?: strcmp(x->name, y->name));

static int by_mean_cost(const void *a, const void *b)
{
    const struct truth_sum *x = *(const struct truth_sum *const *)a;
    const struct truth_sum *y = *(const struct truth_sum *const *)b;
    wide left = (wide)(x->total.dur + x->total.wait) * y->total.count;
    wide right = (wide)(y->total.dur + y->total.wait) * x->total.count;

    return ORDER(right, left) ?: strcmp(x->name, y->name);
}

/* More than 95 % waiting, under 10 us of work on average, among the ten costliest by mean. */
static void flag_anchors(struct truth_sum *sums, size_t n)
{
    struct truth_sum *order[OP_COUNT] = {NULL};

    for (size_t i = 0; i < n; i++)
        order[i] = &sums[i];
    qsort(order, n, sizeof order[0], by_mean_cost);
    for (size_t i = 0; i < n && i < 10; i++) {
        const struct truth_total *total = &order[i]->total;
        order[i]->is_anchor = total->wait * 100 > (total->dur + total->wait) * 95 &&
                              total->dur < total->count * 10000;
    }
}

size_t truth_sums(const struct truth *t, bool by_type, struct truth_sum *out)
{
    size_t n = 0;

    for (int code = 0; code < OP_COUNT; code++) {
        const struct truth_total *total = &t->totals[code];
        const char *name = by_type ? op_kinds[code].type : op_kinds[code].name;
        size_t i = 0;
        if (total->count == 0)
            continue;
        while (i < n && strcmp(out[i].name, name) != 0)
            i++;
        if (i == n)
            out[n++] = (struct truth_sum){
                .name = name, .core = op_kinds[code].core, .is_judged = by_type && t->level > 0};
        struct truth_total *sum = &out[i].total;
        if (sum->count == 0 || total->shortest < sum->shortest)
            sum->shortest = total->shortest;
        if (total->longest > sum->longest)
            sum->longest = total->longest;
        out[i].total.count += total->count;
        out[i].total.dur += total->dur;
        out[i].total.wait += total->wait;
    }
    qsort(out, n, sizeof *out, by_total);
    flag_anchors(out, n);
    return n;
}
