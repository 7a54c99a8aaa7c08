/*
 * Kernels by entry of the dictionary.
 */
#include "page/page_kernels.h"

#include <stdlib.h>

#include "analysis/diagnose/roof.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/ops/kernel_work.h"
#include "page/page_set.h"

enum { P95 = 95 };

/* Durations of the kernels, entry by entry. */
struct durations {
    nanos *at;
    size_t *first; /* by entry; one more behind the last */
};

ORDER_BY(by_length, nanos, ORDER(*x, *y));

struct summing {
    const struct page_set *set;
    struct page_kernel *rows; /* by entry */
    struct durations durations;
    size_t *next;
    nanos all;
    size_t steps, bucket; /* steps of a bucket of the trend; 0 steps: they differ, there is none */
};

static void sum_up(struct summing *s, size_t slice)
{
    uint32_t what = s->set->what[slice];
    struct page_kernel *row = &s->rows[what];
    nanos dur = s->set->cap->slices.dur[slice] > 0 ? s->set->cap->slices.dur[slice] : 0;
    uint32_t step = s->set->step[slice];
    struct attr wait = attrs_get(&s->set->cap->attrs, s->set->cap->slices.own[slice],
                                 capture_key(s->set->cap, KEY_WAIT));

    if (row->count == 0 || dur > row->max) {
        row->max = dur;
        row->longest = (uint32_t)slice;
    }
    row->count++;
    row->total = num_most_sum(row->total, dur);
    s->all = num_most_sum(s->all, dur);
    if (wait.type == ATTR_TIME)
        row->wait = num_most_sum(row->wait > 0 ? row->wait : 0, wait.time > 0 ? wait.time : 0);
    if (step > 0 && step <= s->steps)
        row->trend[(step - 1) / s->bucket] += dur;
    s->durations.at[s->next[what]++] = dur;
}

static void sum_all(struct summing *s)
{
    const struct page_set *set = s->set;

    for (size_t i = 0; i < set->lanes.n; i++) {
        const struct lane *lane = &set->cap->lanes.at[set->lanes.at[i].lane];
        if (set->lanes.at[i].part == LANE_RANGES)
            continue;
        for (size_t k = lane->first; k < lane->first + lane->n; k++)
            if (slice_is_kernel((enum slice_kind)set->whats.at[set->what[k]].kind))
                sum_up(s, k);
    }
}

/* ---- work ---- */

/* Of all kernels of an entry. */
struct work_sums {
    double flops, bytes, peak, roof;
    nanos rated;
};

static struct work_sums *sum_work(struct page_set *set, const struct kernel_works *works)
{
    struct work_sums *sums = mem_grow(NULL, sizeof(*sums), set->whats.n + 1);
    struct kernel_order kernels = study_kernels(&set->apart);

    memset(sums, 0, (set->whats.n + 1) * sizeof(*sums));
    for (size_t i = 0; i < kernels.n; i++) {
        const struct kernel_work *w = &works->at[i];
        if (page_lane_of(set, kernels.at[i]) == UINT32_MAX)
            continue; /* of a lane that is left out */
        struct work_sums *to = &sums[set->what[kernels.at[i]]];
        to->flops += w->flops;
        to->bytes += w->bytes;
        to->peak += w->peak;
        to->roof += w->roof;
        if (w->roof > 0)
            to->rated = nanos_add(to->rated, set->cap->slices.dur[kernels.at[i]]);
    }
    return sums;
}

static void add_work(struct page_kernel *row, const struct device *device,
                     const struct work_sums *sums, size_t steps)
{
    row->flops = sums->flops / (double)row->count;
    row->bytes = sums->bytes / (double)row->count;
    if (sums->roof <= 0 || sums->rated <= 0)
        return;
    row->is_compute = device->gbps > 0 && sums->peak > sums->bytes / device->gbps;
    row->roof = sums->roof / (double)sums->rated;
    row->headroom = ((double)sums->rated - sums->roof) / (double)(steps > 0 ? steps : 1);
}

static uint32_t operator_of(const struct page_set *set, uint32_t slice)
{
    size_t task;

    vec_bisect(task, set->a->tasks.n, i, set->a->tasks.at[i].begin < set->cap->slices.begin[slice]);
    for (; task < set->a->tasks.n && set->a->tasks.at[task].begin <= set->cap->slices.begin[slice];
         task++)
        if (set->a->tasks.at[task].slice == slice && set->a->tasks.at[task].call != NO_CALL)
            return set->a->host.calls[set->a->tasks.at[task].call].op;
    return NO_SLICE;
}

ORDER_BY(by_worth, struct page_kernel,
         ORDER(y->headroom >= 0 ? y->headroom : (double)y->per_step,
               x->headroom >= 0 ? x->headroom : (double)x->per_step)
             ?: ORDER(y->total, x->total) ?: ORDER(x->what, y->what));

static void finish_row(struct summing *s, struct page_kernel *row, const struct device *device,
                       const struct work_sums *work)
{
    nanos *lengths = s->durations.at + s->durations.first[row->what];
    uint32_t op = operator_of(s->set, row->longest);

    qsort(lengths, row->count, sizeof(*lengths), by_length);
    row->p95 = lengths[(row->count - 1) * P95 / 100];
    row->mean = row->total / (nanos)row->count;
    row->per_step = row->total / (nanos)(s->steps > 0 ? s->steps : 1);
    row->share = num_share((double)row->total, (double)s->all);
    row->headroom = -1;
    row->n_trend = s->steps > 0 ? (s->steps + s->bucket - 1) / s->bucket : 0;
    if (op != NO_SLICE)
        row->op = capture_text(s->set->cap, s->set->cap->slices.name[op]);
    add_work(row, device, work, s->steps);
}

struct page_kernels page_kernels_find(struct page_set *set)
{
    size_t n = set->whats.n;
    struct summing s = {
        .set = set, .steps = set->a->is_pseudo || account_mean_of(set->a).is_mixed ? 0 : set->a->n};
    struct page_kernels out = {.device = roof_device(&set->apart, NULL)};
    struct work_sums *works = sum_work(set, kernel_works_find(&set->apart, out.device));

    s.bucket = s.steps / PAGE_TREND + 1;
    s.rows = mem_grow(NULL, sizeof(*s.rows), n + 1);
    memset(s.rows, 0, (n + 1) * sizeof(*s.rows));
    s.durations.first = mem_grow(NULL, sizeof(size_t), n + 1);
    s.next = mem_grow(NULL, sizeof(size_t), n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        s.durations.first[i] = s.next[i] = count;
        count +=
            slice_is_kernel((enum slice_kind)set->whats.at[i].kind) ? set->whats.at[i].count : 0;
        s.rows[i].what = (uint32_t)i;
        s.rows[i].wait = -1;
    }
    s.durations.at = mem_grow(NULL, sizeof(nanos), count + 1);
    sum_all(&s);
    for (size_t i = 0; i < n; i++) {
        if (s.rows[i].count == 0)
            continue;
        finish_row(&s, &s.rows[i], out.device, &works[i]);
        s.rows[out.all++] = s.rows[i];
    }
    qsort(s.rows, out.all, sizeof(*s.rows), by_worth);
    out.n = out.all < PAGE_KERNELS ? out.all : PAGE_KERNELS;
    out.at = ARENA_ARRAY(&set->apart.scratch, struct page_kernel, out.n + 1);
    memcpy(out.at, s.rows, out.n * sizeof(*out.at));
    mem_free(works);
    mem_free(s.rows);
    mem_free(s.durations.first);
    mem_free(s.durations.at);
    mem_free(s.next);
    return out;
}
