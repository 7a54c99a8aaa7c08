/*
 * Idle time of each step and of the whole capture.
 */
#include "analysis/idle/bubbles.h"

#include <stdlib.h>

#include "analysis/idle/waits.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "capture/classify.h"

__extension__ typedef __int128 wide; /* products of two times */

BIT_NAMES(step_tag_name, enum step_tag, "DEVICE_IDLE_GAP_HEAVY", "PRELAUNCH_GAP_HEAVY",
          "TAIL_GAP_HEAVY", "INTERNAL_BUBBLE_HEAVY", "RECURRING_BUBBLE_PATTERN",
          "HOST_ORIGINATED_RISK", "UNTRACED_HOST_BLOCKING_RISK", "COMM_SYNC_RISK",
          "WAIT_POLLUTION_RISK", "AICPU_EXPOSED_RISK", "PARTIAL_CAPTURE_BOUNDARY",
          "VARIABLE_SHAPE_SAME_TEMPLATE")

ENUM_NAMES(bubble_scope_name, enum bubble_scope, "prelaunch", "step_internal", "tail")

static nanos length(struct interval r)
{
    return nanos_sub(r.end, r.begin);
}

bool bubble_is_heavy(nanos gap, nanos service)
{
    return gap >= 1000000 && (wide)gap * 10 >= service;
}

/* `busy` is merged and cut to the window. */
static struct step_metrics bubbles_measure(struct interval window, struct interval_set busy,
                                           nanos listed)
{
    struct step_metrics m = {.service = length(window), .busy = interval_length(busy)};

    m.underfeed = m.service > m.busy ? m.service - m.busy : 0;
    m.underfeed_ratio = num_share(m.underfeed, m.service);
    m.prelaunch = m.service;
    if (busy.n > 0) {
        m.prelaunch = nanos_sub(busy.at[0].begin, window.begin);
        m.tail = nanos_sub(window.end, busy.at[busy.n - 1].end);
        m.bubble_count = busy.n - 1;
    }
    for (size_t i = 0; i + 1 < busy.n; i++) {
        struct interval gap = {busy.at[i].end, busy.at[i + 1].begin};
        m.internal = nanos_add(m.internal, length(gap));
        m.significant_count += length(gap) >= listed;
        if (length(gap) > m.largest_internal) {
            m.largest_internal = length(gap);
            m.largest = gap;
        }
    }
    if (bubble_is_heavy(m.prelaunch, m.service))
        m.tags |= TAG_PRELAUNCH_GAP_HEAVY;
    if (bubble_is_heavy(m.tail, m.service))
        m.tags |= TAG_TAIL_GAP_HEAVY;
    if (bubble_is_heavy(m.largest_internal, m.service))
        m.tags |= TAG_INTERNAL_BUBBLE_HEAVY;
    /* Idle for 30 % of the step, or one heavy gap of any kind. */
    if (m.tags != 0 || (m.service > 0 && (wide)m.underfeed * 10 >= (wide)m.service * 3))
        m.tags |= TAG_DEVICE_IDLE_GAP_HEAVY;
    return m;
}

struct bubble_list {
    VEC_OF(struct bubble) found;
    nanos listed;
};

static void list_gap(struct bubble_list *list, enum bubble_scope scope, size_t step,
                     struct interval gap, size_t *ordinal)
{
    if (gap.end > gap.begin && length(gap) >= list->listed)
        vec_push(&list->found, ((struct bubble){.scope = scope,
                                                .step = step,
                                                .ordinal = (*ordinal)++,
                                                .at = gap,
                                                .before = NO_KERNEL,
                                                .after = NO_KERNEL}));
}

static void list_step(struct bubble_list *list, size_t step, struct interval window,
                      struct interval_set busy)
{
    size_t prelaunch = 0, internal = 0, tail = 0;

    if (busy.n == 0) {
        list_gap(list, SCOPE_PRELAUNCH, step, window, &prelaunch);
        return;
    }
    list_gap(list, SCOPE_PRELAUNCH, step, (struct interval){window.begin, busy.at[0].begin},
             &prelaunch);
    for (size_t i = 0; i + 1 < busy.n; i++)
        list_gap(list, SCOPE_INTERNAL, step,
                 (struct interval){busy.at[i].end, busy.at[i + 1].begin}, &internal);
    list_gap(list, SCOPE_TAIL, step, (struct interval){busy.at[busy.n - 1].end, window.end}, &tail);
}

ORDER_BY(longest_first, struct interval,
         ORDER(length(*y), length(*x)) ?: ORDER(x->begin, y->begin));

ORDER_BY(longest_bubble_first, struct bubble, longest_first(&x->at, &y->at));

static void find_neighbours(struct study *st, struct bubble *list, size_t n)
{
    struct kernel_order kernels = study_kernels(st);
    uint32_t *last = ARENA_ARRAY(&st->scratch, uint32_t, kernels.n);

    /* The kernel that ends last before each place of the order: last[i] among the first i + 1. No
     * kernel runs inside a gap, so for the kernels begun before it this is the one that ends it
     * off. */
    for (size_t i = 0; i < kernels.n; i++) {
        last[i] = kernels.at[i];
        if (i > 0 && slices_end(&st->cap->slices, last[i - 1]) >=
                         slices_end(&st->cap->slices, kernels.at[i]))
            last[i] = last[i - 1];
    }
    for (size_t i = 0; i < n; i++) {
        size_t before = study_first_kernel(st, list[i].at.begin);
        size_t after = study_first_kernel(st, list[i].at.end);
        if (before > 0)
            list[i].before = last[before - 1];
        if (after < kernels.n)
            list[i].after = kernels.at[after];
    }
}

static int by_text(const void *a, const void *b, void *ctx)
{
    const struct capture *cap = ctx;

    return str_compare(capture_text(cap, *(const strid *)a), capture_text(cap, *(const strid *)b));
}

/* The streams of the step at hand. */
struct stream_names {
    size_t *seen_in; /* by name: the last step that has it, counted from 1 */
    size_t step;
    VEC_OF(strid) names;
};

static void count_kernel(struct study *st, struct step_inventory *inv, struct stream_names *streams,
                         size_t kernel)
{
    const struct capture *cap = st->cap;
    size_t slice = study_kernels(st).at[kernel];
    enum slice_kind kind = (enum slice_kind)cap->slices.kind[slice];
    nanos wait = study_waits(st)->at[kernel];

    inv->kernels++;
    inv->ai_core += classify_is_core_work(cap, slice);
    inv->ai_cpu += kind == SLICE_AICPU;
    inv->comm +=
        kind == SLICE_COMM && !classify_is_device_half(capture_text(cap, cap->slices.name[slice]));
    inv->duration_sum = nanos_add(inv->duration_sum, cap->slices.dur[slice]);
    if (wait > 0)
        inv->wait_sum = nanos_add(inv->wait_sum, wait);
    strid name = cap->lanes.at[cap->slices.lane[slice]].key.name;
    if (streams->seen_in[name] == streams->step || num_is_missing(capture_text(cap, name)))
        return;
    streams->seen_in[name] = streams->step;
    vec_push(&streams->names, name);
}

static struct step_inventory take_inventory(struct study *st, size_t step,
                                            struct stream_names *streams)
{
    struct kernel_range range = study_step_kernels(st, step);
    struct step_inventory inv = {0};

    streams->step++;
    streams->names.n = 0;
    for (size_t i = range.from; i < range.to; i++)
        count_kernel(st, &inv, streams, i);
    inv.n_streams = streams->names.n;
    inv.streams = STUDY_KEEP(&st->scratch, streams->names);
    if (inv.n_streams > 0)
        qsort_r(inv.streams, inv.n_streams, sizeof(*inv.streams), by_text, (void *)st->cap);
    return inv;
}

/* Keeps the TOP_GAPS longest; they come in order, so of equals the earlier one stays in front. */
static void rank_gap(struct global_gaps *g, struct interval gap)
{
    size_t at = g->n_top;

    while (at > 0 && length(g->top[at - 1]) < length(gap))
        at--;
    if (at == TOP_GAPS)
        return;
    if (g->n_top < TOP_GAPS)
        g->n_top++;
    memmove(&g->top[at + 1], &g->top[at], sizeof(g->top[0]) * (g->n_top - at - 1));
    g->top[at] = gap;
}

static struct global_gaps measure_global(struct study *st)
{
    const struct steps *steps = study_steps(st);
    struct interval_set busy = study_busy(st);
    struct global_gaps g = {.busy = interval_length(busy)};

    if (steps->n == 0)
        return g;
    g.span = (struct interval){steps->at[0].window.begin, steps->at[steps->n - 1].window.end};
    if (busy.n > 0) {
        if (busy.at[0].begin < g.span.begin)
            g.span.begin = busy.at[0].begin;
        if (busy.at[busy.n - 1].end > g.span.end)
            g.span.end = busy.at[busy.n - 1].end;
    }
    g.length = length(g.span);
    g.gap = nanos_sub(g.length, g.busy);
    g.gap_ratio = num_share(g.gap, g.length);
    nanos at = g.span.begin;
    for (size_t i = 0; i < busy.n; i++) {
        if (busy.at[i].begin > at)
            rank_gap(&g, (struct interval){at, busy.at[i].begin});
        at = busy.at[i].end;
    }
    if (g.span.end > at)
        rank_gap(&g, (struct interval){at, g.span.end});
    g.largest = g.n_top > 0 ? length(g.top[0]) : 0;
    return g;
}

const struct bubbles *bubbles_find(struct study *st)
{
    const struct steps *steps = study_steps(st);
    struct interval_set busy = study_busy(st);
    struct bubbles *b = ARENA_NEW(&st->scratch, struct bubbles);
    struct bubble_list list = {.listed = st->options.min_bubble};
    struct interval *room = ARENA_ARRAY(&st->scratch, struct interval, busy.n);
    struct stream_names streams = {
        .seen_in = ARENA_ARRAY(&st->scratch, size_t, st->cap->strings.strings.n)};

    b->metrics = ARENA_ARRAY(&st->scratch, struct step_metrics, steps->n);
    b->inventory = ARENA_ARRAY(&st->scratch, struct step_inventory, steps->n);
    for (size_t i = 0; i < steps->n; i++) {
        struct interval window = steps->at[i].window;
        struct interval_set cut = interval_clip(busy, window, room);
        b->metrics[i] = bubbles_measure(window, cut, list.listed);
        b->inventory[i] = take_inventory(st, i, &streams);
        list_step(&list, i, window, cut);
    }
    vec_free(&streams.names);
    b->global = measure_global(st);
    if (list.found.n > 0)
        qsort(list.found.at, list.found.n, sizeof(*list.found.at), longest_bubble_first);
    b->n = list.found.n;
    b->listed = b->n < st->options.max_bubbles ? b->n : st->options.max_bubbles;
    b->list = STUDY_KEEP(&st->scratch, list.found);
    vec_free(&list.found);
    find_neighbours(st, b->list, b->n);
    return b;
}

static const struct field metrics_fields[] = {
    FIELD(struct step_metrics, service, "service_ms", .form = FORM_MS),
    FIELD(struct step_metrics, busy, "device_busy_union_ms", .form = FORM_MS),
    FIELD(struct step_metrics, underfeed, "underfeed_ms", .form = FORM_MS),
    FIELD(struct step_metrics, underfeed_ratio, "underfeed_ratio"),
    FIELD(struct step_metrics, prelaunch, "prelaunch_gap_ms", .form = FORM_MS),
    FIELD(struct step_metrics, tail, "tail_gap_ms", .form = FORM_MS),
    FIELD(struct step_metrics, internal, "internal_bubble_total_ms", .form = FORM_MS),
    FIELD(struct step_metrics, largest_internal, "largest_internal_bubble_ms", .form = FORM_MS),
    FIELD(struct step_metrics, bubble_count, "bubble_count"),
    FIELD(struct step_metrics, significant_count, "significant_bubble_count"),
};
const struct record step_metrics_record = RECORD(struct step_metrics, metrics_fields);

static const struct field inventory_fields[] = {
    FIELD(struct step_inventory, kernels, "total_kernel_count"),
    FIELD(struct step_inventory, ai_core, "ai_core_count"),
    FIELD(struct step_inventory, ai_cpu, "ai_cpu_count"),
    FIELD(struct step_inventory, comm, "comm_count"),
    FIELD(struct step_inventory, duration_sum, "kernel_duration_sum_ms", .form = FORM_MS),
    FIELD(struct step_inventory, wait_sum, "kernel_wait_sum_ms", .form = FORM_MS),
    FIELD_NAMES(struct step_inventory, streams, n_streams, "streams"),
    FIELD(struct step_inventory, n_streams, "stream_count"),
};
const struct record step_inventory_record = RECORD(struct step_inventory, inventory_fields);

static const struct field global_fields[] = {
    FIELD(struct global_gaps, length, "capture_span_ms", .form = FORM_MS),
    FIELD(struct global_gaps, busy, "device_busy_union_ms", .form = FORM_MS),
    FIELD(struct global_gaps, gap, "device_gap_ms", .form = FORM_MS),
    FIELD(struct global_gaps, gap_ratio, "device_gap_ratio"),
    FIELD(struct global_gaps, largest, "largest_gap_ms", .form = FORM_MS),
};
const struct record global_gaps_record = RECORD(struct global_gaps, global_fields);
