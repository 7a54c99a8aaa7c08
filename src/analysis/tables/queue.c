/*
 * Launches and kernels of each stream put in order of time.
 */
#include "analysis/tables/queue.h"

#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/ops/op_tree.h"
#include "base/tables/ranked.h"
#include "text/queue.h"

ENUM_NAMES(queue_gap_name, enum queue_gap, "under_2us", "2_to_10us", "10_to_100us", "100us_to_1ms",
           "over_1ms")

static const nanos gap_ends[] = {2000, 10000, 100000, 1000000};

struct queue_launch {
    nanos call, call_end, begin, end;
};

/* +1 when a launch is made, -1 when its kernel ends. */
struct queue_change {
    nanos at;
    int by;
};

struct queue_lane {
    VEC_OF(struct queue_launch) launches;
    size_t kernels;
    nanos last_end;
    bool has_last;
    size_t gaps[QUEUE_GAPS];
    nanos gap_time[QUEUE_GAPS];
};

static void add_gap(struct queue_lane *s, nanos begin)
{
    int class = 0;

    if (!s->has_last || begin <= s->last_end)
        return;
    nanos gap = nanos_sub(begin, s->last_end);
    while (class < QUEUE_GAP_LONGER && gap >= gap_ends[class])
        class ++;
    s->gaps[class]++;
    s->gap_time[class] = nanos_add(s->gap_time[class], gap);
}

static void queue_add_kernel(struct study *st, struct queue_lane *s, size_t kernel)
{
    const struct slices *slices = &st->cap->slices;
    uint32_t slice = study_kernels(st).at[kernel], call = study_op_tree(st)->launch[kernel];
    struct queue_launch l = {.begin = slices->begin[slice], .end = slices_end(slices, slice)};

    add_gap(s, l.begin);
    s->kernels++;
    if (call != OP_TREE_NONE) {
        l.call = slices->begin[call];
        l.call_end = slices_end(slices, call);
        vec_push(&s->launches, l);
    }
    s->last_end = s->has_last && s->last_end > l.end ? s->last_end : l.end;
    s->has_last = true;
}

static struct queue_spread spread_of(nanos *times, size_t n)
{
    if (n == 0)
        return (struct queue_spread){0};
    qsort(times, n, sizeof(*times), ranked_order);
    return (struct queue_spread){.median = times[n / 2],
                                 .p90 = times[n * 9 / 10],
                                 .p99 = times[n * 99 / 100],
                                 .most = times[n - 1],
                                 .n = n};
}

/* A launch counts from its call on; one that was noted after its kernel began has no wait. */
static void find_spreads(const struct queue_lane *s, struct queue_stream *out)
{
    size_t n = s->launches.n, idle = 0;
    nanos *ahead = mem_grow(NULL, sizeof(*ahead), n + 1),
          *latency = mem_grow(NULL, sizeof(*ahead), n + 1);
    nanos end = INT64_MIN;

    for (size_t i = 0; i < n; i++) {
        const struct queue_launch *l = &s->launches.at[i];
        ahead[i] = l->begin > l->call_end ? nanos_sub(l->begin, l->call_end) : 0;
        if (end <= l->call)
            latency[idle++] = l->begin > l->call ? nanos_sub(l->begin, l->call) : 0;
        end = l->end > end ? l->end : end;
    }
    out->ahead = spread_of(ahead, n);
    out->latency = spread_of(latency, idle);
    mem_free(ahead);
    mem_free(latency);
}

ORDER_BY(by_change, struct queue_change, ORDER(x->at, y->at) ?: ORDER(x->by, y->by));

static void find_depth(const struct queue_lane *s, struct queue_stream *out)
{
    size_t n = 0, most = 2 * s->launches.n;
    struct queue_change *list = mem_grow(NULL, sizeof(*list), most + 1);
    double area = 0, empty = 0;
    long depth = 0;

    for (size_t i = 0; i < s->launches.n; i++) {
        const struct queue_launch *l = &s->launches.at[i];
        list[n++] = (struct queue_change){l->call < l->begin ? l->call : l->begin, 1};
        list[n++] = (struct queue_change){l->end, -1};
    }
    if (n > 0)
        qsort(list, n, sizeof(*list), by_change);
    for (size_t i = 0; i < n; i++) {
        double time = i + 1 < n ? (double)nanos_sub(list[i + 1].at, list[i].at) : 0;
        depth += list[i].by;
        depth = depth > 0 ? depth : 0; /* a kernel of no length ends first */
        out->most = (size_t)depth > out->most ? (size_t)depth : out->most;
        area += time * (double)depth;
        empty += depth == 0 ? time : 0;
    }
    double whole = n > 0 ? (double)nanos_sub(list[n - 1].at, list[0].at) : 0;
    out->mean = num_share(area, whole);
    out->empty = num_share(empty, whole);
    mem_free(list);
}

ORDER_BY(busiest_first, struct queue_stream,
         ORDER(y->kernels, x->kernels) ?: str_compare(x->name, y->name));

const struct queue *queue_find(struct study *st)
{
    const struct capture *cap = st->cap;
    struct kernel_order kernels = study_kernels(st);
    struct queue *out = ARENA_NEW(&st->scratch, struct queue);
    struct queue_lane *streams = mem_grow(NULL, sizeof(*streams), cap->lanes.n + 1);

    memset(streams, 0, sizeof(*streams) * (cap->lanes.n + 1));
    for (size_t i = 0; i < kernels.n; i++)
        queue_add_kernel(st, &streams[cap->slices.lane[kernels.at[i]]], i);
    *out = (struct queue){.at = ARENA_ARRAY(&st->scratch, struct queue_stream, cap->lanes.n)};
    for (size_t i = 0; i < cap->lanes.n; i++) {
        struct queue_lane *s = &streams[i];
        if (s->kernels > 0) {
            struct queue_stream *q = &out->at[out->n++];
            *q = (struct queue_stream){.name = capture_text(cap, cap->lanes.at[i].key.name),
                                       .kernels = s->kernels,
                                       .linked = s->launches.n};
            memcpy(q->gaps, s->gaps, sizeof(q->gaps));
            memcpy(q->gap_time, s->gap_time, sizeof(q->gap_time));
            find_spreads(s, q);
            find_depth(s, q);
        }
        vec_free(&s->launches);
    }
    mem_free(streams);
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), busiest_first);
    return out;
}

/* ---- described ---- */

static const struct field spread_fields[] = {
    FIELD(struct queue_spread, n, "count"),     FIELD(struct queue_spread, median, "median_ns"),
    FIELD(struct queue_spread, p90, "p90_ns"),  FIELD(struct queue_spread, p99, "p99_ns"),
    FIELD(struct queue_spread, most, "max_ns"),
};
static const struct record spread_record = RECORD(struct queue_spread, spread_fields);

static const struct field stream_fields[] = {
    FIELD(struct queue_stream, name, "stream", .head = "stream"),
    FIELD(struct queue_stream, kernels, "kernels", .head = "kernels"),
    FIELD(struct queue_stream, linked, "linked_kernels", .head = "linked"),
    FIELD(struct queue_stream, most, "outstanding_max", .head = "most queued"),
    FIELD(struct queue_stream, mean, "outstanding_mean", .head = "mean queued", .unit = UNIT_PLAIN),
    FIELD(struct queue_stream, empty, "empty_share", .head = "empty %", .unit = UNIT_RATIO),
    FIELD(struct queue_stream, ahead.median, NULL, .head = "ahead us", .unit = UNIT_US),
    FIELD(struct queue_stream, ahead.p90, NULL, .head = "p90 us", .unit = UNIT_US),
    FIELD(struct queue_stream, latency.median, NULL, .head = "latency us", .unit = UNIT_US),
    FIELD_INSIDE(struct queue_stream, ahead, "host_ahead", &spread_record),
    FIELD_INSIDE(struct queue_stream, latency, "launch_latency", &spread_record),
    FIELD_BY_ENUM(struct queue_stream, gaps, "gaps", queue_gap_name),
    FIELD_BY_ENUM(struct queue_stream, gap_time, "gaps_ns", queue_gap_name),
};
static const struct record stream_record = RECORD(struct queue_stream, stream_fields);

static const struct field gap_fields[] = {
    FIELD(struct queue_stream, name, NULL, .head = "stream"),
    FIELD(struct queue_stream, gap_time[QUEUE_GAP_2US], NULL, .head = "gaps <2 us ms",
          .unit = UNIT_MS),
    FIELD(struct queue_stream, gap_time[QUEUE_GAP_10US], NULL, .head = "2-10 us ms",
          .unit = UNIT_MS),
    FIELD(struct queue_stream, gap_time[QUEUE_GAP_100US], NULL, .head = "10-100 us ms",
          .unit = UNIT_MS),
    FIELD(struct queue_stream, gap_time[QUEUE_GAP_1MS], NULL, .head = "0.1-1 ms ms",
          .unit = UNIT_MS),
    FIELD(struct queue_stream, gap_time[QUEUE_GAP_LONGER], NULL, .head = ">1 ms ms",
          .unit = UNIT_MS),
};
static const struct record gap_record = RECORD(struct queue_stream, gap_fields);

static const struct field queue_fields[] = {
    FIELD_LIST(struct queue, at, n, "streams", &stream_record),
};
static const struct record queue_record = RECORD(struct queue, queue_fields);

const struct schema queue_schema = {
    .name = "strata.queue/1",
    .title = "launches outstanding, launch latency and gaps of each stream",
    .record = &queue_record,
};

enum { ROWS_SHOWN = 16 };

static void queue_describe(struct study *st, struct report *r)
{
    const struct queue *q = queue_find(st);
    size_t n = q->n < ROWS_SHOWN ? q->n : ROWS_SHOWN;

    if (q->n == 0) {
        report_text(r, report_message(r, &queue_text.none));
        return;
    }
    report_records(r, &stream_record, q->at, n, NULL);
    report_text(r, report_message(r, &queue_text.about));
    report_records(r, &gap_record, q->at, n, NULL);
    if (n < q->n)
        report_text(r, REPORT_MESSAGE(r, &queue_text.more, PLACE("n", q->n - n)));
}

static const void *tables_queue_find(struct study *st)
{
    return queue_find(st);
}

const struct analysis analysis_queue = {
    .name = "queue",
    .summary = "launches that wait, launch latency and gaps of each stream",
    .needs = HAS_KERNELS | HAS_HOST,
    .schema = &queue_schema,
    .find = tables_queue_find,
    .run = queue_describe,
};
