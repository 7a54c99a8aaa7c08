/*
 * A timeline as sections of a report.
 */
#include <math.h>
#include <stdio.h>

#include "gpu/timeline_in.h"
#include "gpu/timeline_out.h"
#include "report/report.h"

enum { NAMES_TOLD = 15, PAIRS_TOLD = 40 };

static struct str stream_name(const struct timeline *t, uint32_t stream)
{
    return capture_text(t->cap, t->cap->lanes.at[t->streams[stream].lane].key.name);
}

static void put_number(struct report *r, struct table *t, const char *name, double value)
{
    table_text(r, t, str_of(name));
    table_number(t, value);
}

static void put_device(const struct timeline *t, struct report *r)
{
    const struct facts *f = &t->cap->facts;
    struct str name = capture_text(t->cap, f->device_name);

    report_heading(r, S("Device"));
    report_text(r, name.n > 0 ? name : S("not told by the recording"));
}

static void put_summary(struct report *r, const struct timeline_device *d)
{
    static const struct column columns[] = {
        {"Quantity", COLUMN_TEXT, UNIT_PLAIN},
        {"us", COLUMN_NUMBER, UNIT_US},
        {"% of span", COLUMN_NUMBER, UNIT_RATIO},
    };
    nanos span = nanos_sub(d->window.end, d->window.begin);
    const struct {
        const char *name;
        nanos value;
    } rows[] = {
        {"span", span},
        {"busy", d->busy},
        {"idle", nanos_sub(span, d->busy)},
        {"kernel busy", d->kernel_busy},
        {"kernel sum", d->kernel_sum},
        {"compute", d->busy_of[TIMELINE_COMPUTE]},
        {"communication", d->busy_of[TIMELINE_COMM]},
        {"communication exposed", nanos_sub(d->busy_of[TIMELINE_COMM], d->comm_overlap)},
        {"memcpy", d->busy_of[TIMELINE_MEMCPY]},
        {"memcpy hidden by kernels", d->memcpy_hidden},
        {"memset", d->busy_of[TIMELINE_MEMSET]},
    };

    report_heading(r, S("Timeline summary"));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        table_text(r, t, str_of(rows[i].name));
        table_number(t, (double)rows[i].value);
        table_number(t, num_ratio(rows[i].value, span));
    }
    char text[160];
    snprintf(text, sizeof(text),
             "%llu kernels, %llu copies, %llu fills; %.2f kernels at once on average while any "
             "runs, at most %llu.",
             (unsigned long long)d->count[TIMELINE_COMPUTE] + d->count[TIMELINE_COMM],
             (unsigned long long)d->count[TIMELINE_MEMCPY],
             (unsigned long long)d->count[TIMELINE_MEMSET],
             num_share(d->kernel_sum, d->kernel_busy), (unsigned long long)d->most_at_once);
    report_text(r, str_of(text));
}

static void put_streams(const struct timeline *t, struct report *r, const struct timeline_device *d)
{
    static const struct column columns[] = {
        {"Stream", COLUMN_TEXT, UNIT_PLAIN},      {"Kernels", COLUMN_NUMBER, UNIT_COUNT},
        {"Busy (us)", COLUMN_NUMBER, UNIT_US},    {"Busy %", COLUMN_NUMBER, UNIT_RATIO},
        {"Gaps (us)", COLUMN_NUMBER, UNIT_US},    {"Median gap (us)", COLUMN_NUMBER, UNIT_US},
        {"Max gap (us)", COLUMN_NUMBER, UNIT_US},
    };

    report_heading(r, S("Streams"));
    struct table *table = report_table(r, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const struct timeline_stream *s = &t->streams[i];
        if (&t->devices[s->device] != d || s->first > s->last)
            continue;
        table_text(r, table, stream_name(t, i));
        table_number(table, (double)s->kernels);
        table_number(table, (double)s->busy);
        table_number(table, num_ratio(s->busy, nanos_sub(d->window.end, d->window.begin)));
        table_number(table, (double)s->gaps.sum);
        table_number(table, s->gaps.median);
        table_number(table, s->gaps.n > 0 ? (double)s->gaps.max : NAN);
    }
}

static void put_pair(struct report *r, struct table *table, struct str a, struct str b,
                     nanos overlap, nanos a_busy, nanos b_busy)
{
    table_text(r, table, a);
    table_text(r, table, b);
    table_number(table, (double)overlap);
    table_number(table, num_ratio(overlap, a_busy < b_busy ? a_busy : b_busy));
}

static void put_overlap(const struct timeline *t, struct report *r, const struct timeline_device *d)
{
    static const struct column columns[] = {
        {"A", COLUMN_TEXT, UNIT_PLAIN},
        {"B", COLUMN_TEXT, UNIT_PLAIN},
        {"Overlap (us)", COLUMN_NUMBER, UNIT_US},
        {"% of the smaller", COLUMN_NUMBER, UNIT_RATIO},
    };
    double e = timeline_stream_efficiency(t, d);
    size_t told = 0;

    report_heading(r, S("Overlap"));
    struct table *table = report_table(r, columns, ARRAY_LEN(columns));
    put_pair(r, table, S("compute"), S("comm"), d->comm_overlap, d->busy_of[TIMELINE_COMPUTE],
             d->busy_of[TIMELINE_COMM]);
    put_pair(r, table, S("compute"), S("memcpy"), d->memcpy_compute, d->busy_of[TIMELINE_COMPUTE],
             d->busy_of[TIMELINE_MEMCPY]);
    put_pair(r, table, S("comm"), S("memcpy"), d->memcpy_comm, d->busy_of[TIMELINE_COMM],
             d->busy_of[TIMELINE_MEMCPY]);
    for (size_t i = 0; i < t->pairs.n && told < PAIRS_TOLD; i++) {
        const struct timeline_pair *p = &t->pairs.at[i];
        if (&t->devices[t->streams[p->a].device] != d)
            continue;
        put_pair(r, table, arena_format(&r->arena, "stream %.*s", STR_ARGS(stream_name(t, p->a))),
                 arena_format(&r->arena, "stream %.*s", STR_ARGS(stream_name(t, p->b))), p->overlap,
                 t->streams[p->a].busy, t->streams[p->b].busy);
        told++;
    }
    report_text(r, isfinite(e)
                       ? arena_format(&r->arena,
                                      "Efficiency of the streams as a group: E = %.3f (1: what "
                                      "could run side by side did; 0: one after the other).",
                                      e)
                       : S("Efficiency of the streams as a group: – (one stream)."));
}

static void put_launches(struct report *r, const struct timeline_device *d)
{
    static const struct column columns[] = {
        {"Quantity", COLUMN_TEXT, UNIT_PLAIN},   {"Count", COLUMN_NUMBER, UNIT_COUNT},
        {"Median (us)", COLUMN_NUMBER, UNIT_US}, {"p95 (us)", COLUMN_NUMBER, UNIT_US},
        {"Total (us)", COLUMN_NUMBER, UNIT_US},
    };
    const struct timeline_launches *l = &d->launches;
    const struct {
        const char *name;
        const struct timeline_quantiles *q;
    } rows[] = {{"launch latency", &l->latency}, {"launch call", &l->cost}, {"queue", &l->queue}};

    report_heading(r, S("Launch latency"));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        put_number(r, t, rows[i].name, (double)rows[i].q->n);
        table_number(t, rows[i].q->median);
        table_number(t, rows[i].q->n > 0 ? (double)rows[i].q->p95 : NAN);
        table_number(t, (double)rows[i].q->sum);
    }
    put_number(r, t, "host-bound gaps", (double)l->host_bound);
    table_number(t, NAN);
    table_number(t, NAN);
    table_number(t, (double)l->host_bound_gap);
    put_number(r, t, "gaps in a launch call", (double)l->in_launch);
    table_number(t, NAN);
    table_number(t, NAN);
    table_number(t, (double)l->in_launch_gap);
    report_text(r,
                arena_format(&r->arena, "%llu kernels started before their launch call returned.",
                             (unsigned long long)l->overlapped));
}

static void put_gaps(struct report *r, const struct timeline_device *d)
{
    static const struct column causes[] = {
        {"Cause", COLUMN_TEXT, UNIT_PLAIN},
        {"Gaps", COLUMN_NUMBER, UNIT_COUNT},
        {"Total (us)", COLUMN_NUMBER, UNIT_US},
        {"% of idle", COLUMN_NUMBER, UNIT_RATIO},
    };
    static const struct column bands[] = {
        {"Length", COLUMN_TEXT, UNIT_PLAIN},
        {"Gaps", COLUMN_NUMBER, UNIT_COUNT},
    };
    const struct timeline_gaps *g = &d->gaps;

    report_heading(r, S("Gaps"));
    struct table *t = report_table(r, causes, ARRAY_LEN(causes));
    for (size_t i = 0; i < GAP_CAUSES; i++) {
        put_number(r, t, timeline_cause_name((enum timeline_cause)i), (double)g->count[i]);
        table_number(t, (double)g->total[i]);
        table_number(t, num_ratio(g->total[i], g->all.sum));
    }
    t = report_table(r, bands, ARRAY_LEN(bands));
    for (size_t i = 0; i < GAP_BANDS; i++)
        put_number(r, t, timeline_band_name(i), (double)g->band[i]);
}

static void put_graphs(const struct timeline *t, struct report *r, const struct timeline_device *d)
{
    static const struct column counts[] = {
        {"Quantity", COLUMN_TEXT, UNIT_PLAIN},
        {"Count", COLUMN_NUMBER, UNIT_COUNT},
    };
    static const struct column times[] = {
        {"Quantity", COLUMN_TEXT, UNIT_PLAIN},
        {"us", COLUMN_NUMBER, UNIT_US},
    };
    const struct timeline_graphs *g = &d->graphs;
    uint64_t nodes = 0, costed = 0;
    nanos cost = 0;

    report_heading(r, S("CUDA graphs"));
    if (g->launches == 0 && g->calls_without_work == 0) {
        report_text(r, S("none"));
        return;
    }
    for (size_t i = 0; i < g->at.n; i++) {
        nodes += g->at.at[i].nodes;
        if (g->at.at[i].call == TIMELINE_NONE || g->at.at[i].nodes == 0)
            continue;
        cost = nanos_add(cost, t->cap->slices.dur[g->at.at[i].call]);
        costed += g->at.at[i].nodes;
    }
    struct table *table = report_table(r, counts, ARRAY_LEN(counts));
    put_number(r, table, "launches", (double)g->launches);
    put_number(r, table, "launches with nodes", (double)g->with_nodes);
    put_number(r, table, "nodes", (double)nodes);
    put_number(r, table, "graph-level rows", (double)g->rows);
    if (g->with_nodes > 0)
        report_text(r, arena_format(&r->arena, "Nodes per launch: %.4g on average.",
                                    (double)nodes / (double)g->with_nodes));
    table = report_table(r, times, ARRAY_LEN(times));
    put_number(r, table, "launch call per node", num_ratio(cost, costed));
    put_number(r, table, "gap between nodes, median", g->node_gap.median);
    put_number(r, table, "duration of a launch, median", g->span.median);
    put_number(r, table, "duration of a launch, max", g->span.n > 0 ? (double)g->span.max : NAN);
    put_number(r, table, "graph-level busy", (double)g->row_busy);
}

static void put_names(const struct timeline *t, struct report *r, const struct timeline_device *d)
{
    static const struct column columns[] = {
        {"Kernel", COLUMN_TEXT, UNIT_PLAIN},    {"Count", COLUMN_NUMBER, UNIT_COUNT},
        {"Total (us)", COLUMN_NUMBER, UNIT_US}, {"% of kernel sum", COLUMN_NUMBER, UNIT_RATIO},
        {"Mean (us)", COLUMN_NUMBER, UNIT_US},  {"Min (us)", COLUMN_NUMBER, UNIT_US},
        {"Max (us)", COLUMN_NUMBER, UNIT_US},
    };

    report_heading(r, S("Top kernels"));
    struct table *table = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < d->names.n && i < NAMES_TOLD; i++) {
        const struct timeline_name *n = &d->names.at[i];
        table_text(r, table, timeline_display(t, n->slice));
        table_number(table, (double)n->n);
        table_number(table, (double)n->sum);
        table_number(table, num_ratio(n->sum, d->kernel_sum));
        table_number(table, (double)n->sum / (double)n->n);
        table_number(table, (double)n->least);
        table_number(table, (double)n->most);
    }
}

static void put_notes(const struct timeline *t, struct report *r, const struct timeline_device *d)
{
    struct str list[TIMELINE_NOTES];
    size_t n = timeline_notes(t, d, &r->arena, list);

    report_heading(r, S("Notes"));
    for (size_t i = 0; i < n; i++)
        report_text(r, list[i]);
    if (n == 0)
        report_text(r, S("none"));
}

void timeline_describe_device(const struct timeline *t, const struct timeline_device *d,
                              struct report *r)
{
    put_summary(r, d);
    put_streams(t, r, d);
    put_overlap(t, r, d);
    put_launches(r, d);
    put_gaps(r, d);
    put_graphs(t, r, d);
    put_names(t, r, d);
}

void timeline_describe(const struct timeline *t, struct report *r)
{
    for (size_t i = 0; i < t->n_devices; i++) {
        const struct timeline_device *d = &t->devices[i];
        if (d->n == 0)
            continue;
        put_device(t, r);
        if (d->device > 0 || t->n_devices > 1)
            report_text(r, arena_format(&r->arena, "device %d", (int)d->device));
        timeline_describe_device(t, d, r);
        put_notes(t, r, d);
    }
}
