#include <math.h>

#include "gpu/timeline_in.h"
#include "gpu/timeline_out.h"

enum { NAMES_TOLD = 50 }; /* kernels by time spent; the tables have all */

static void put_quantiles(struct json_writer *j, const char *key, struct timeline_quantiles q)
{
    json_put_object(j, key);
    json_put_i64(j, "count", (int64_t)q.n);
    json_put_i64(j, "total_ns", q.sum);
    json_put_f64(j, "median_ns", q.median);
    json_put_f64(j, "p95_ns", q.n > 0 ? (double)q.p95 : NAN);
    json_put_f64(j, "max_ns", q.n > 0 ? (double)q.max : NAN);
    json_write_end(j);
}

static struct str stream_name(const struct timeline *t, uint32_t stream)
{
    return capture_text(t->cap, t->cap->lanes.at[t->streams[stream].lane].key.name);
}

static void put_summary(struct json_writer *j, const struct timeline *t,
                        const struct timeline_device *d)
{
    nanos span = nanos_sub(d->window.end, d->window.begin);
    nanos comm = d->busy_of[TIMELINE_COMM];

    json_put_array(j, "window_ns");
    json_write_i64(j, d->window.begin);
    json_write_i64(j, d->window.end);
    json_write_end(j);
    json_put_i64(j, "span_ns", span);
    json_put_i64(j, "busy_ns", d->busy);
    json_put_i64(j, "idle_ns", nanos_sub(span, d->busy));
    json_put_i64(j, "kernel_count",
                 (int64_t)(d->count[TIMELINE_COMPUTE] + d->count[TIMELINE_COMM]));
    json_put_i64(j, "memcpy_count", (int64_t)d->count[TIMELINE_MEMCPY]);
    json_put_i64(j, "memset_count", (int64_t)d->count[TIMELINE_MEMSET]);
    json_put_i64(j, "kernel_sum_ns", d->kernel_sum);
    json_put_i64(j, "kernel_busy_ns", d->kernel_busy);
    json_put_i64(j, "compute_busy_ns", d->busy_of[TIMELINE_COMPUTE]);
    json_put_i64(j, "comm_busy_ns", comm);
    json_put_i64(j, "comm_compute_overlap_ns", d->comm_overlap);
    json_put_i64(j, "exposed_comm_ns", nanos_sub(comm, d->comm_overlap));
    json_put_i64(j, "memcpy_busy_ns", d->busy_of[TIMELINE_MEMCPY]);
    json_put_i64(j, "memcpy_hidden_ns", d->memcpy_hidden);
    json_put_i64(j, "memset_busy_ns", d->busy_of[TIMELINE_MEMSET]);
    json_put_f64(j, "avg_concurrency", num_ratio(d->kernel_sum, d->kernel_busy));
    json_put_i64(j, "max_concurrency", (int64_t)d->most_at_once);
    json_put_f64(j, "stream_efficiency", timeline_stream_efficiency(t, d));
    json_put_i64(j, "overhead_ns", d->overhead);
}

static void put_streams(struct json_writer *j, const struct timeline *t,
                        const struct timeline_device *d)
{
    json_put_array(j, "streams");
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const struct timeline_stream *s = &t->streams[i];
        if (&t->devices[s->device] != d || s->first > s->last)
            continue;
        json_write_object(j);
        json_put_str(j, "stream", stream_name(t, i));
        json_put_i64(j, "kernels", (int64_t)s->kernels);
        json_put_i64(j, "busy_ns", s->busy);
        put_quantiles(j, "gaps", s->gaps);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_overlap(struct json_writer *j, const struct timeline *t,
                        const struct timeline_device *d)
{
    json_put_array(j, "overlap");
    for (size_t i = 0; i < t->pairs.n; i++) {
        const struct timeline_pair *p = &t->pairs.at[i];
        nanos a = t->streams[p->a].busy, b = t->streams[p->b].busy;
        if (&t->devices[t->streams[p->a].device] != d)
            continue;
        json_write_object(j);
        json_put_str(j, "a", stream_name(t, p->a));
        json_put_str(j, "b", stream_name(t, p->b));
        json_put_i64(j, "overlap_ns", p->overlap);
        json_put_f64(j, "of_smaller", num_ratio(p->overlap, a < b ? a : b));
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_launches(struct json_writer *j, const struct timeline_launches *l)
{
    json_put_object(j, "launches");
    put_quantiles(j, "latency", l->latency);
    put_quantiles(j, "api_cost", l->cost);
    put_quantiles(j, "queue", l->queue);
    json_put_i64(j, "overlapped_api", (int64_t)l->overlapped);
    json_put_i64(j, "unlinked_kernels", (int64_t)l->unlinked);
    json_put_i64(j, "host_bound_gap_ns", l->host_bound_gap);
    json_put_i64(j, "host_bound_gaps", (int64_t)l->host_bound);
    json_put_i64(j, "in_launch_gap_ns", l->in_launch_gap);
    json_put_i64(j, "in_launch_gaps", (int64_t)l->in_launch);
    json_write_end(j);
}

static void put_gaps(struct json_writer *j, const struct timeline_gaps *g)
{
    put_quantiles(j, "gaps", g->all);
    json_put_array(j, "gap_causes");
    for (size_t i = 0; i < GAP_CAUSES; i++) {
        json_write_object(j);
        json_put_text(j, "cause", timeline_cause_name((enum timeline_cause)i));
        json_put_i64(j, "count", (int64_t)g->count[i]);
        json_put_i64(j, "total_ns", g->total[i]);
        json_write_end(j);
    }
    json_write_end(j);
    json_put_array(j, "gap_bands");
    for (size_t i = 0; i < GAP_BANDS; i++) {
        json_write_object(j);
        json_put_text(j, "length", timeline_band_name(i));
        json_put_i64(j, "count", (int64_t)g->band[i]);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_graphs(struct json_writer *j, const struct timeline_graphs *g)
{
    json_put_object(j, "graphs");
    json_put_i64(j, "launches", (int64_t)g->launches);
    json_put_i64(j, "launches_with_nodes", (int64_t)g->with_nodes);
    json_put_i64(j, "graph_level_rows", (int64_t)g->rows);
    json_put_i64(j, "graph_level_busy_ns", g->row_busy);
    json_put_i64(j, "launches_without_work", (int64_t)g->calls_without_work);
    put_quantiles(j, "span", g->span);
    put_quantiles(j, "node_gap", g->node_gap);
    json_write_end(j);
}

static void put_names(struct json_writer *j, const struct timeline *t,
                      const struct timeline_device *d)
{
    json_put_array(j, "top_kernels");
    for (size_t i = 0; i < d->names.n && i < NAMES_TOLD; i++) {
        const struct timeline_name *n = &d->names.at[i];
        json_write_object(j);
        json_put_str(j, "name", timeline_display(t, n->slice));
        json_put_i64(j, "count", (int64_t)n->n);
        json_put_i64(j, "total_ns", n->sum);
        json_put_i64(j, "min_ns", n->least);
        json_put_i64(j, "max_ns", n->most);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_notes(struct json_writer *j, const struct timeline *t,
                      const struct timeline_device *d)
{
    struct str list[TIMELINE_NOTES];
    struct arena arena;

    arena_init(&arena);
    json_put_array(j, "notes");
    for (size_t i = 0, n = timeline_notes(t, d, &arena, list); i < n; i++)
        json_write_string(j, list[i]);
    json_write_end(j);
    arena_free(&arena);
}

static void put_device(struct json_writer *j, const struct timeline *t,
                       const struct timeline_device *d)
{
    json_write_object(j);
    json_put_i64(j, "device", d->device);
    put_summary(j, t, d);
    put_streams(j, t, d);
    put_overlap(j, t, d);
    put_launches(j, &d->launches);
    put_gaps(j, &d->gaps);
    put_graphs(j, &d->graphs);
    put_names(j, t, d);
    put_notes(j, t, d);
    json_write_end(j);
}

void timeline_write_json(struct timeline *const *list, size_t n, struct json_writer *j)
{
    uint64_t ranges = 0;

    json_write_object(j);
    json_put_array(j, "devices");
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < list[k]->n_devices; i++)
            put_device(j, list[k], &list[k]->devices[i]);
        ranges += list[k]->ranges.n;
    }
    json_write_end(j);
    json_put_i64(j, "ranges", (int64_t)ranges);
    json_write_end(j);
}
