/*
 * Kernels by entry of the dictionary.
 */
#include "page/page_kernels.h"
#include "analysis/diagnose/roof.h"

#include <stdlib.h>

#include "analysis/diagnose/root_limits.h"
#include "analysis/ops/operator_work.h"
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
    size_t steps, bucket; /* steps of a bucket of the trend */
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
    if (step > 0)
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

/* ---- roof ---- */

/* Clocks and data sheets differ by less. */
#define BEYOND 1.25

static void add_roof(struct page_kernel *row, const struct device *device,
                     const struct operator_work *work)
{
    enum peak kind = roof_peak(device, work->type);

    row->flops = work->flops;
    row->bytes = work->moved * work->type.bytes;
    if (device == NULL || work->flops <= 0 || row->bytes <= 0 || row->mean <= 0)
        return;
    double peak = device->tflops[kind] * 1e3, gbps = device->gbps; /* a ns */
    if (peak <= 0 || gbps <= 0)
        return;
    double compute = row->flops / peak, memory = row->bytes / gbps;
    double roof = (compute > memory ? compute : memory) / (double)row->mean;
    if (roof > BEYOND) { /* another kernel of the operator does the work */
        row->flops = row->bytes = 0;
        return;
    }
    row->is_compute = compute > memory;
    row->roof = roof < 1 ? roof : 1;
    row->headroom = (1 - row->roof) * (double)row->per_step;
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

/* As the diagnosis, which says that it is assumed. */
static const struct device *kernels_device_of(const struct capture *cap)
{
    const struct device *named =
        cap->facts.device_name != 0
            ? device_find(&device_builtin, capture_text(cap, cap->facts.device_name))
            : NULL;

    return named == NULL && capture_is_ascend(cap)
               ? device_find(&device_builtin, S(ROOT_ASSUMED_DEVICE))
               : named;
}

ORDER_BY(by_worth, struct page_kernel,
         ORDER(y->headroom >= 0 ? y->headroom : (double)y->per_step,
               x->headroom >= 0 ? x->headroom : (double)x->per_step)
             ?: ORDER(y->total, x->total) ?: ORDER(x->what, y->what));

static void finish_row(struct summing *s, struct page_kernel *row, struct operator_works *works,
                       const struct device *device)
{
    nanos *lengths = s->durations.at + s->durations.first[row->what];
    struct operator_ref ref = {operator_of(s->set, row->longest), row->longest};

    qsort(lengths, row->count, sizeof(*lengths), by_length);
    row->p95 = lengths[(row->count - 1) * P95 / 100];
    row->mean = row->total / (nanos)row->count;
    row->per_step = row->total / (nanos)(s->steps > 0 ? s->steps : 1);
    row->share = num_share((double)row->total, (double)s->all);
    row->headroom = -1;
    row->n_trend = s->steps > 0 ? (s->steps + s->bucket - 1) / s->bucket : 0;
    if (ref.op != NO_SLICE)
        row->op = capture_text(s->set->cap, s->set->cap->slices.name[ref.op]);
    if (s->set->whats.at[row->what].kind == SLICE_COMPUTE)
        add_roof(row, device, operator_work_of(works, ref));
}

struct page_kernels page_kernels_find(const struct page_set *set, struct arena *arena)
{
    size_t n = set->whats.n;
    struct summing s = {
        .set = set, .steps = set->a->is_pseudo || account_mean_of(set->a).is_mixed ? 0 : set->a->n};
    struct page_kernels out = {.device = kernels_device_of(set->cap)};
    struct operator_works works = {.cap = set->cap};

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
        finish_row(&s, &s.rows[i], &works, out.device);
        s.rows[out.all++] = s.rows[i];
    }
    qsort(s.rows, out.all, sizeof(*s.rows), by_worth);
    out.n = out.all < PAGE_KERNELS ? out.all : PAGE_KERNELS;
    out.at = ARENA_ARRAY(arena, struct page_kernel, out.n + 1);
    memcpy(out.at, s.rows, out.n * sizeof(*out.at));
    operator_works_free(&works);
    mem_free(s.rows);
    mem_free(s.durations.first);
    mem_free(s.durations.at);
    mem_free(s.next);
    return out;
}
