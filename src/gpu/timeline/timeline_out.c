/*
 * A timeline for others: tables, sections of a report, a document for programs. Every device has
 * one view, whose rows are described once.
 */
#include "gpu/timeline/timeline_out.h"

#include <math.h>
#include <stdlib.h>

#include "base/text/inert.h"
#include "gpu/timeline/timeline_copies.h"
#include "gpu/timeline/timeline_in.h"
#include "report/report.h"
#include "text/gpu.h"

enum { NAMES_TOLD = 50, NAMES_SHOWN = 15, PAIRS_SHOWN = 40, CLASS_PAIRS = 3 };

struct stream_row {
    int64_t pid;
    int32_t device;
    struct str name;
    nanos first, last;
    uint64_t kernels;
    nanos busy;
    double share, percent; /* of the window */
    struct timeline_quantiles gaps;
};

/* Two streams, or two classes of work. */
struct pair_row {
    int32_t device;
    struct str a, b, a_shown, b_shown;
    nanos overlap, a_busy, b_busy;
    double share, percent; /* of the smaller one */
};

struct name_row {
    struct str name;
    uint64_t n;
    nanos sum, least, most;
    double share, mean;
};

struct cause_row {
    uint32_t cause;
    const char *name;
    struct str shown; /* in the language of the report */
    uint64_t n;
    nanos total;
    double share; /* of all gaps */
};

/* A line of a small table. */
struct fact_row {
    const char *name;
    double count, ns, median, p95, share;
};

/* A device with what is computed for the eyes of others. */
struct view {
    struct timeline_device d;
    nanos window[2], span, idle, exposed;
    uint64_t kernels;
    double concurrency, efficiency;
    struct stream_row *streams;
    struct pair_row *pairs, classes[CLASS_PAIRS];
    struct name_row *names;
    struct cause_row causes[GAP_CAUSES], bands[GAP_BANDS];
    struct str *notes;
    size_t n_streams, n_pairs, n_names, n_notes, n_causes;
};

/* ---- making a view ---- */

static double percent_of(nanos part, nanos whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : NAN;
}

struct str timeline_stream_name(const struct timeline *t, uint32_t stream)
{
    return capture_text(t->cap, t->cap->lanes.at[t->streams[stream].lane].key.name);
}

static struct pair_row pair_of(int32_t device, struct str a, struct str b, nanos overlap,
                               nanos a_busy, nanos b_busy)
{
    nanos smaller = a_busy < b_busy ? a_busy : b_busy;

    return (struct pair_row){device,
                             a,
                             b,
                             a,
                             b,
                             overlap,
                             a_busy,
                             b_busy,
                             num_ratio(overlap, smaller),
                             percent_of(overlap, smaller)};
}

static struct stream_row stream_of(const struct timeline *t, uint32_t i)
{
    const struct timeline_stream *s = &t->streams[i];
    const struct timeline_device *d = &t->devices[s->device];
    nanos span = nanos_sub(d->window.end, d->window.begin);
    int64_t pid = t->cap->lanes.at[s->lane].key.pid;

    return (struct stream_row){
        .pid = pid > 0 ? pid : -1,
        .device = d->device,
        .name = timeline_stream_name(t, i),
        .first = s->first,
        .last = s->last,
        .kernels = s->kernels,
        .busy = s->busy,
        .share = num_ratio(s->busy, span),
        .percent = percent_of(s->busy, span),
        .gaps = s->gaps,
    };
}

static void view_streams(struct view *v, const struct timeline *t, const struct timeline_device *d,
                         struct arena *arena)
{
    v->streams = ARENA_ARRAY(arena, struct stream_row, t->n_streams);
    v->pairs = ARENA_ARRAY(arena, struct pair_row, t->pairs.n);
    for (uint32_t i = 0; i < t->n_streams; i++)
        if (&t->devices[t->streams[i].device] == d && t->streams[i].first <= t->streams[i].last)
            v->streams[v->n_streams++] = stream_of(t, i);
    for (size_t i = 0; i < t->pairs.n; i++) {
        const struct timeline_pair *p = &t->pairs.at[i];
        struct str a = timeline_stream_name(t, p->a), b = timeline_stream_name(t, p->b);
        if (&t->devices[t->streams[p->a].device] != d)
            continue;
        struct pair_row *row = &v->pairs[v->n_pairs++];
        *row = pair_of(d->device, a, b, p->overlap, t->streams[p->a].busy, t->streams[p->b].busy);
        row->a_shown = MESSAGE(LANG_EN, arena, &gpu_text.stream_name, PLACE("name", a));
        row->b_shown = MESSAGE(LANG_EN, arena, &gpu_text.stream_name, PLACE("name", b));
    }
}

static void view_classes(struct view *v, const struct timeline_device *d)
{
    nanos compute = d->busy_of[TIMELINE_COMPUTE], comm = d->busy_of[TIMELINE_COMM],
          copies = d->busy_of[TIMELINE_MEMCPY];

    v->classes[0] = pair_of(d->device, S("compute"), S("comm"), d->comm_overlap, compute, comm);
    v->classes[1] =
        pair_of(d->device, S("compute"), S("memcpy"), d->memcpy_compute, compute, copies);
    v->classes[2] = pair_of(d->device, S("comm"), S("memcpy"), d->memcpy_comm, comm, copies);
}

ORDER_BY(most_time_first, struct cause_row, ORDER(y->total, x->total) ?: strcmp(x->name, y->name));

static void view_gaps(struct view *v, const struct timeline_gaps *g)
{
    for (uint32_t i = 0; i < GAP_CAUSES; i++)
        if (g->count[i] > 0)
            v->causes[v->n_causes++] =
                (struct cause_row){i,           timeline_cause_name(i),
                                   S(""),       g->count[i],
                                   g->total[i], num_ratio(g->total[i], g->all.sum)};
    if (v->n_causes > 0)
        qsort(v->causes, v->n_causes, sizeof(*v->causes), most_time_first);
    for (unsigned i = 0; i < GAP_BANDS; i++)
        v->bands[i] = (struct cause_row){.name = timeline_band_name(i), .n = g->band[i]};
}

static struct view *view_of(const struct timeline *t, const struct timeline_device *d,
                            struct arena *arena)
{
    struct view *v = ARENA_NEW(arena, struct view);

    v->d = *d;
    v->window[0] = d->window.begin;
    v->window[1] = d->window.end;
    v->span = nanos_sub(d->window.end, d->window.begin);
    v->idle = nanos_sub(v->span, d->busy);
    v->exposed = nanos_sub(d->busy_of[TIMELINE_COMM], d->comm_overlap);
    v->kernels = d->count[TIMELINE_COMPUTE] + d->count[TIMELINE_COMM];
    v->concurrency = num_ratio(d->kernel_sum, d->kernel_busy);
    v->efficiency = timeline_stream_efficiency(t, d);
    view_streams(v, t, d, arena);
    view_classes(v, d);
    view_gaps(v, &d->gaps);
    v->names = ARENA_ARRAY(arena, struct name_row, NAMES_TOLD);
    for (; v->n_names < d->names.n && v->n_names < NAMES_TOLD; v->n_names++) {
        const struct timeline_name *n = &d->names.at[v->n_names];
        v->names[v->n_names] = (struct name_row){timeline_display(t, n->slice),
                                                 n->n,
                                                 n->sum,
                                                 n->least,
                                                 n->most,
                                                 num_ratio(n->sum, d->kernel_sum),
                                                 (double)n->sum / (double)n->n};
    }
    v->notes = ARENA_ARRAY(arena, struct str, TIMELINE_NOTES);
    v->n_notes = timeline_notes(t, d, arena, v->notes);
    return v;
}

/* ---- descriptions ---- */

static const struct field stream_fields[] = {
    FIELD(struct stream_row, pid, "pid", .missing = MISSING_NEGATIVE),
    FIELD(struct stream_row, device, "device"),
    FIELD(struct stream_row, name, "stream", .head = "Stream"),
    FIELD_FIXED("priority", ""), /* no importer tells it */
    FIELD(struct stream_row, first, "first_ns"),
    FIELD(struct stream_row, last, "last_ns"),
    FIELD(struct stream_row, kernels, "kernels", .head = "Kernels"),
    FIELD(struct stream_row, busy, "busy_ns", .head = "Busy (us)", .unit = UNIT_US),
    FIELD(struct stream_row, share, NULL, .head = "Busy %", .unit = UNIT_RATIO),
    FIELD(struct stream_row, percent, "busy_pct"),
    FIELD(struct stream_row, gaps.sum, "gap_ns", .head = "Gaps (us)", .unit = UNIT_US),
    FIELD(struct stream_row, gaps.median, "median_gap_ns", .head = "Median gap (us)",
          .unit = UNIT_US),
    FIELD(struct stream_row, gaps.max, "max_gap_ns", .head = "Max gap (us)", .unit = UNIT_US,
          WHEN(struct stream_row, gaps.has_any)),
};
const struct record timeline_stream_record = RECORD(struct stream_row, stream_fields);

static const struct field pair_fields[] = {
    FIELD(struct pair_row, device, "device"),
    FIELD(struct pair_row, a_shown, NULL, .head = "A"),
    FIELD(struct pair_row, b_shown, NULL, .head = "B"),
    FIELD(struct pair_row, a, "a"),
    FIELD(struct pair_row, b, "b"),
    FIELD(struct pair_row, overlap, "overlap_ns", .head = "Overlap (us)", .unit = UNIT_US),
    FIELD(struct pair_row, a_busy, "a_busy_ns"),
    FIELD(struct pair_row, b_busy, "b_busy_ns"),
    FIELD(struct pair_row, share, NULL, .head = "% of the smaller", .unit = UNIT_RATIO),
    FIELD(struct pair_row, percent, "overlap_pct_of_smaller"),
};
const struct record timeline_pair_record = RECORD(struct pair_row, pair_fields);

static const struct field quantile_fields[] = {
    FIELD(struct timeline_quantiles, n, "count"),
    FIELD(struct timeline_quantiles, sum, "total_ns"),
    FIELD(struct timeline_quantiles, median, "median_ns"),
    FIELD(struct timeline_quantiles, p95, "p95_ns", WHEN(struct timeline_quantiles, has_any)),
    FIELD(struct timeline_quantiles, max, "max_ns", WHEN(struct timeline_quantiles, has_any)),
};
static const struct record quantile_record = RECORD(struct timeline_quantiles, quantile_fields);

static const struct field stream_json_fields[] = {
    FIELD(struct stream_row, name, "stream"),
    FIELD(struct stream_row, kernels, "kernels"),
    FIELD(struct stream_row, busy, "busy_ns"),
    FIELD_INSIDE(struct stream_row, gaps, "gaps", &quantile_record),
};
static const struct record stream_json_record = RECORD(struct stream_row, stream_json_fields);

static const struct field pair_json_fields[] = {
    FIELD(struct pair_row, a, "a"),
    FIELD(struct pair_row, b, "b"),
    FIELD(struct pair_row, overlap, "overlap_ns"),
    FIELD(struct pair_row, share, "of_smaller"),
};
static const struct record pair_json_record = RECORD(struct pair_row, pair_json_fields);

static const struct field launch_fields[] = {
    FIELD_INSIDE(struct timeline_launches, latency, "latency", &quantile_record),
    FIELD_INSIDE(struct timeline_launches, cost, "api_cost", &quantile_record),
    FIELD_INSIDE(struct timeline_launches, queue, "queue", &quantile_record),
    FIELD(struct timeline_launches, overlapped, "overlapped_api"),
    FIELD(struct timeline_launches, unlinked, "unlinked_kernels"),
    FIELD(struct timeline_launches, host_bound_gap, "host_bound_gap_ns"),
    FIELD(struct timeline_launches, host_bound, "host_bound_gaps"),
    FIELD(struct timeline_launches, in_launch_gap, "in_launch_gap_ns"),
    FIELD(struct timeline_launches, in_launch, "in_launch_gaps"),
};
static const struct record launch_record = RECORD(struct timeline_launches, launch_fields);

static const struct field cause_fields[] = {
    FIELD(struct cause_row, name, "cause"),
    FIELD(struct cause_row, shown, NULL, .head = "Cause"),
    FIELD(struct cause_row, n, "count", .head = "Gaps"),
    FIELD(struct cause_row, total, "total_ns", .head = "Total (us)", .unit = UNIT_US),
    FIELD(struct cause_row, share, NULL, .head = "% of idle", .unit = UNIT_RATIO),
};
static const struct record cause_record = RECORD(struct cause_row, cause_fields);

static const struct field band_fields[] = {
    FIELD(struct cause_row, name, "length", .head = "Length"),
    FIELD(struct cause_row, n, "count", .head = "Gaps"),
};
static const struct record band_record = RECORD(struct cause_row, band_fields);

static const struct field graph_fields[] = {
    FIELD(struct timeline_graphs, launches, "launches"),
    FIELD(struct timeline_graphs, with_nodes, "launches_with_nodes"),
    FIELD(struct timeline_graphs, rows, "graph_level_rows"),
    FIELD(struct timeline_graphs, row_busy, "graph_level_busy_ns"),
    FIELD(struct timeline_graphs, calls_without_work, "launches_without_work"),
    FIELD_INSIDE(struct timeline_graphs, span, "span", &quantile_record),
    FIELD_INSIDE(struct timeline_graphs, node_gap, "node_gap", &quantile_record),
};
static const struct record graph_record = RECORD(struct timeline_graphs, graph_fields);

static const struct field name_fields[] = {
    FIELD(struct name_row, name, "name", .head = "Kernel"),
    FIELD(struct name_row, n, "count", .head = "Count"),
    FIELD(struct name_row, sum, "total_ns", .head = "Total (us)", .unit = UNIT_US),
    FIELD(struct name_row, share, NULL, .head = "% of kernel sum", .unit = UNIT_RATIO),
    FIELD(struct name_row, mean, NULL, .head = "Mean (us)", .unit = UNIT_US),
    FIELD(struct name_row, least, "min_ns", .head = "Min (us)", .unit = UNIT_US, .drop = 2),
    FIELD(struct name_row, most, "max_ns", .head = "Max (us)", .unit = UNIT_US, .drop = 2),
};
static const struct record name_record = RECORD(struct name_row, name_fields);

static const struct field view_fields[] = {
    FIELD(struct view, d.device, "device"),
    FIELD_ARRAY_VALUES(struct view, window, "window_ns"),
    FIELD(struct view, span, "span_ns"),
    FIELD(struct view, d.busy, "busy_ns"),
    FIELD(struct view, idle, "idle_ns"),
    FIELD(struct view, kernels, "kernel_count"),
    FIELD(struct view, d.count[TIMELINE_MEMCPY], "memcpy_count"),
    FIELD(struct view, d.count[TIMELINE_MEMSET], "memset_count"),
    FIELD(struct view, d.kernel_sum, "kernel_sum_ns"),
    FIELD(struct view, d.kernel_busy, "kernel_busy_ns"),
    FIELD(struct view, d.busy_of[TIMELINE_COMPUTE], "compute_busy_ns"),
    FIELD(struct view, d.busy_of[TIMELINE_COMM], "comm_busy_ns"),
    FIELD(struct view, d.comm_overlap, "comm_compute_overlap_ns"),
    FIELD(struct view, exposed, "exposed_comm_ns"),
    FIELD(struct view, d.busy_of[TIMELINE_MEMCPY], "memcpy_busy_ns"),
    FIELD(struct view, d.memcpy_hidden, "memcpy_hidden_ns"),
    FIELD(struct view, d.busy_of[TIMELINE_MEMSET], "memset_busy_ns"),
    FIELD(struct view, concurrency, "avg_concurrency"),
    FIELD(struct view, d.most_at_once, "max_concurrency"),
    FIELD(struct view, efficiency, "stream_efficiency"),
    FIELD(struct view, d.overhead, "overhead_ns"),
    FIELD_LIST(struct view, streams, n_streams, "streams", &stream_json_record),
    FIELD_LIST(struct view, pairs, n_pairs, "overlap", &pair_json_record),
    FIELD_INSIDE(struct view, d.launches, "launches", &launch_record),
    FIELD_INSIDE(struct view, d.gaps.all, "gaps", &quantile_record),
    FIELD_ROOM(struct view, causes, n_causes, "gap_causes", &cause_record),
    FIELD_ARRAY(struct view, bands, "gap_bands", &band_record),
    FIELD_INSIDE(struct view, d.graphs, "graphs", &graph_record),
    FIELD_LIST(struct view, names, n_names, "top_kernels", &name_record),
    FIELD_VALUES(struct view, notes, n_notes, "notes"),
};
static const struct record view_record = RECORD(struct view, view_fields);

static struct field_items views_of(const void *record, const struct record_env *env)
{
    const struct timeline_set *set = record;
    size_t n = 0, k = 0;

    for (size_t i = 0; i < set->n; i++)
        n += set->list[i]->n_devices;
    struct view *views = ARENA_ARRAY(env->arena, struct view, n + 1);
    for (size_t i = 0; i < set->n; i++)
        for (size_t d = 0; d < set->list[i]->n_devices; d++)
            views[k++] = *view_of(set->list[i], &set->list[i]->devices[d], env->arena);
    return (struct field_items){views, n};
}

static struct field_value ranges_of(const void *record, const struct record_env *env)
{
    const struct timeline_set *set = record;
    uint64_t n = 0;

    (void)env;
    for (size_t i = 0; i < set->n; i++)
        n += set->list[i]->ranges.n;
    return value_uint(n);
}

static const struct field set_fields[] = {
    FIELD_MADE(FIELD_OBJECT, "devices", views_of, &view_record),
    FIELD_CALC(FIELD_U64, "ranges", ranges_of),
};
static const struct record set_record = RECORD(struct timeline_set, set_fields);

const struct schema timeline_schema = {
    .name = "strata.gpu-timeline/2",
    .title = "what GPUs did over time",
    .record = &set_record,
};

/* ---- sections of a report ---- */

#define FACT(member, head_, ...) FIELD(struct fact_row, member, NULL, .head = (head_), __VA_ARGS__)
#define FACT_TABLE(name_, ...)                                                                     \
    static const struct field name_##_fields[] = {__VA_ARGS__};                                    \
    static const struct record name_ = RECORD(struct fact_row, name_##_fields)
#define NAMED FACT(name, "Quantity", .unit = UNIT_PLAIN)
#define COUNT FACT(count, "Count", .unit = UNIT_COUNT)

FACT_TABLE(share_table, NAMED, FACT(ns, "us", .unit = UNIT_US),
           FACT(share, "% of span", .unit = UNIT_RATIO));
FACT_TABLE(launch_table, NAMED, COUNT, FACT(median, "Median (us)", .unit = UNIT_US),
           FACT(p95, "p95 (us)", .unit = UNIT_US), FACT(ns, "Total (us)", .unit = UNIT_US));
FACT_TABLE(count_table, NAMED, COUNT);
FACT_TABLE(time_table, NAMED, FACT(ns, "us", .unit = UNIT_US));

static void put_summary(struct report *r, const struct view *v)
{
    const struct timeline_device *d = &v->d;
    struct fact_row rows[] = {
        {"span", .ns = (double)v->span},
        {"busy", .ns = (double)d->busy},
        {"idle", .ns = (double)v->idle},
        {"kernel busy", .ns = (double)d->kernel_busy},
        {"kernel sum", .ns = (double)d->kernel_sum},
        {"compute", .ns = (double)d->busy_of[TIMELINE_COMPUTE]},
        {"communication", .ns = (double)d->busy_of[TIMELINE_COMM]},
        {"communication exposed", .ns = (double)v->exposed},
        {"memcpy", .ns = (double)d->busy_of[TIMELINE_MEMCPY]},
        {"memcpy hidden by kernels", .ns = (double)d->memcpy_hidden},
        {"memset", .ns = (double)d->busy_of[TIMELINE_MEMSET]},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        rows[i].share = v->span > 0 ? rows[i].ns / (double)v->span : NAN;
    report_heading(r, message_word(r->lang, S("Timeline summary")));
    report_records(r, &share_table, rows, ARRAY_LEN(rows), NULL);
    report_text(r, REPORT_MESSAGE(r, &gpu_text.at_once, PLACE("kernels", v->kernels),
                                  PLACE("copies", d->count[TIMELINE_MEMCPY]),
                                  PLACE("fills", d->count[TIMELINE_MEMSET]),
                                  PLACE("mean", isnan(v->concurrency) ? 0 : v->concurrency),
                                  PLACE("most", d->most_at_once)));
}

/* A text of the view, which is in English, in the language of the report. */
static struct str said(struct report *r, struct str english)
{
    return message_translate(r->lang, &r->arena, english, (const struct message *)&gpu_text,
                             sizeof(gpu_text) / sizeof(struct message));
}

static void put_overlap(struct report *r, const struct view *v)
{
    size_t shown = v->n_pairs < PAIRS_SHOWN ? v->n_pairs : PAIRS_SHOWN;
    struct pair_row *rows = ARENA_ARRAY(&r->arena, struct pair_row, CLASS_PAIRS + shown);

    memcpy(rows, v->classes, sizeof(v->classes));
    if (shown > 0)
        memcpy(rows + CLASS_PAIRS, v->pairs, shown * sizeof(*rows));
    for (size_t i = 0; i < CLASS_PAIRS + shown; i++) {
        rows[i].a_shown = said(r, rows[i].a_shown);
        rows[i].b_shown = said(r, rows[i].b_shown);
    }
    report_heading(r, message_word(r->lang, S("Overlap")));
    report_records(r, &timeline_pair_record, rows, CLASS_PAIRS + shown, NULL);
    report_text(r, isfinite(v->efficiency)
                       ? REPORT_MESSAGE(r, &gpu_text.efficiency, PLACE("e", v->efficiency))
                       : report_message(r, &gpu_text.one_stream));
}

static struct fact_row quantiles_row(const char *name, const struct timeline_quantiles *q)
{
    return (struct fact_row){.name = name,
                             .count = (double)q->n,
                             .ns = (double)q->sum,
                             .median = q->median,
                             .p95 = q->n > 0 ? (double)q->p95 : NAN};
}

static void put_graphs(const struct timeline *t, struct report *r, const struct timeline_graphs *g)
{
    uint64_t nodes = 0, costed = 0;
    nanos cost = 0;

    report_heading(r, message_word(r->lang, S("CUDA graphs")));
    if (g->launches == 0 && g->calls_without_work == 0) {
        report_text(r, message_word(r->lang, S("none")));
        return;
    }
    for (size_t i = 0; i < g->at.n; i++) {
        nodes += g->at.at[i].nodes;
        if (g->at.at[i].call == TIMELINE_NONE || g->at.at[i].nodes == 0)
            continue;
        cost = nanos_add(cost, t->cap->slices.dur[g->at.at[i].call]);
        costed += g->at.at[i].nodes;
    }
    const struct fact_row counts[] = {
        {"launches", .count = (double)g->launches},
        {"launches with nodes", .count = (double)g->with_nodes},
        {"nodes", .count = (double)nodes},
        {"graph-level rows", .count = (double)g->rows},
    };
    const struct fact_row times[] = {
        {"launch call per node", .ns = costed > 0 ? (double)cost / (double)costed : NAN},
        {"gap between nodes, median", .ns = g->node_gap.median},
        {"duration of a launch, median", .ns = g->span.median},
        {"duration of a launch, max", .ns = g->span.n > 0 ? (double)g->span.max : NAN},
        {"graph-level busy", .ns = (double)g->row_busy},
    };
    report_records(r, &count_table, counts, ARRAY_LEN(counts), NULL);
    if (g->with_nodes > 0)
        report_text(r, REPORT_MESSAGE(r, &gpu_text.nodes_per_launch,
                                      PLACE("mean", (double)nodes / (double)g->with_nodes)));
    report_records(r, &time_table, times, ARRAY_LEN(times), NULL);
}

static void put_view(const struct timeline *t, struct view *v, struct report *r)
{
    const struct timeline_launches *l = &v->d.launches;
    const struct fact_row launches[] = {
        quantiles_row("launch latency", &l->latency),
        quantiles_row("launch call", &l->cost),
        quantiles_row("queue", &l->queue),
        {"host-bound gaps", (double)l->host_bound, (double)l->host_bound_gap, NAN, NAN, NAN},
        {"gaps in a launch call", (double)l->in_launch, (double)l->in_launch_gap, NAN, NAN, NAN},
    };
    put_summary(r, v);
    report_heading(r, message_word(r->lang, S("Streams")));
    report_records(r, &timeline_stream_record, v->streams, v->n_streams, NULL);
    put_overlap(r, v);
    timeline_copies_put(t, &v->d, r);
    report_heading(r, message_word(r->lang, S("Launch latency")));
    report_records(r, &launch_table, launches, ARRAY_LEN(launches), NULL);
    report_text(r, REPORT_MESSAGE(r, &gpu_text.started_early, PLACE("n", l->overlapped)));
    report_heading(r, message_word(r->lang, S("Gaps")));
    for (size_t i = 0; i < v->n_causes; i++)
        v->causes[i].shown =
            report_message(r, v->causes[i].cause == GAP_OUTSIDE
                                  ? &gpu_text.outside_steps
                                  : account_class_label(ACCOUNT_IDLE + (int)v->causes[i].cause));
    report_records(r, &cause_record, v->causes, v->n_causes, NULL);
    report_records(r, &band_record, v->bands, GAP_BANDS, NULL);
    put_graphs(t, r, &v->d.graphs);
    report_heading(r, message_word(r->lang, S("Top kernels")));
    report_records(r, &name_record, v->names, v->n_names < NAMES_SHOWN ? v->n_names : NAMES_SHOWN,
                   NULL);
}

void timeline_describe_device(const struct timeline *t, const struct timeline_device *d,
                              struct report *r)
{
    put_view(t, view_of(t, d, &r->arena), r);
}

void timeline_describe(const struct timeline *t, struct report *r)
{
    struct str name = capture_text(t->cap, t->cap->facts.device_name);

    for (size_t i = 0; i < t->n_devices; i++) {
        const struct timeline_device *d = &t->devices[i];
        if (d->n == 0)
            continue;
        struct view *v = view_of(t, d, &r->arena);
        report_heading(r, message_word(r->lang, S("Device")));
        report_text(r, name.n > 0 ? inert_line(&r->arena, name)
                                  : message_word(r->lang, S("unknown (not in the recording)")));
        if (d->device > 0 || t->n_devices > 1)
            report_text(r, REPORT_MESSAGE(r, &gpu_text.device_number, PLACE("n", (int)d->device)));
        put_view(t, v, r);
        report_heading(r, message_word(r->lang, S("Notes")));
        for (size_t k = 0; k < v->n_notes; k++)
            report_text(r, said(r, v->notes[k]));
        if (v->n_notes == 0)
            report_text(r, message_word(r->lang, S("none")));
    }
}

/* ---- tables of results ---- */

void timeline_stream_rows(const struct timeline *t, struct timeline_csv *out)
{
    for (uint32_t i = 0; i < t->n_streams; i++) {
        struct stream_row row = stream_of(t, i);
        if (row.first <= row.last)
            timeline_csv_put(out, &row);
    }
}

void timeline_pair_rows(const struct timeline *t, struct timeline_csv *out)
{
    for (size_t i = 0; i < t->n_devices; i++) {
        const struct view *v = view_of(t, &t->devices[i], out->env.arena);
        for (size_t k = 0; k < v->n_pairs; k++)
            timeline_csv_put(out, &v->pairs[k]);
        for (size_t k = 0; k < CLASS_PAIRS; k++)
            timeline_csv_put(out, &v->classes[k]);
    }
}

void timeline_set_describe(const struct timeline_set *set, struct report *r)
{
    r->title = message_word(r->lang, S("GPU timeline"));
    report_summary(r, str_of(set->path));
    for (size_t i = 0; i < set->n; i++)
        timeline_describe(set->list[i], r);
}
