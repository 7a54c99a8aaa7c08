/*
 * The tables of a timeline; columns as docs/analyses/gpu-timeline.md lists them. A value that was
 * not recorded is an empty cell.
 */
#include <math.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/csv_write.h"
#include "base/mangled.h"
#include "gpu/timeline_in.h"
#include "gpu/timeline_out.h"

static bool is_interrupted(size_t row)
{
    return row % 65536 == 0 && cancelled();
}

static void put_header(struct csv_write *out, const char *columns)
{
    struct str rest = str_of(columns), name;

    while (str_split(&rest, ',', &name))
        csv_write_cell(out, name);
    csv_write_row(out);
}

static void put_empty(struct csv_write *out, size_t n)
{
    while (n-- > 0)
        csv_write_cell(out, S(""));
}

/* A number that is -1 when it was not recorded. */
static void put_known(struct csv_write *out, int64_t value)
{
    if (value < 0)
        csv_write_cell(out, S(""));
    else
        csv_write_i64(out, value);
}

static void put_times(struct csv_write *out, nanos begin, nanos end)
{
    csv_write_i64(out, begin);
    csv_write_i64(out, end);
    csv_write_i64(out, nanos_sub(end, begin));
}

/* "16,8,1", also in brackets, as three cells. */
static void put_shape(struct csv_write *out, struct str text)
{
    struct str part;

    if (str_starts(text, S("[")) && str_ends(text, S("]")))
        text = str_part(text, 1, text.n - 2);
    for (size_t i = 0; i < 3; i++)
        csv_write_cell(out, text.n > 0 && str_split(&text, ',', &part) ? str_trim(part) : S(""));
}

static int64_t link_of(const struct timeline *t, uint32_t slice)
{
    struct attr link = capture_slice_attr(t->cap, slice, KEY_LINK);

    return link.type == ATTR_INT ? link.number : -1;
}

static struct str name_of(const struct timeline *t, uint32_t slice)
{
    return capture_text(t->cap, t->cap->slices.name[slice]);
}

static const struct lane_key *lane_of(const struct timeline *t, uint32_t slice)
{
    return &t->cap->lanes.at[t->cap->slices.lane[slice]].key;
}

/* The process that launched a piece of work. */
static void put_pid(struct csv_write *out, const struct timeline *t, const struct timeline_op *op)
{
    put_known(out, op->call != TIMELINE_NONE ? lane_of(t, op->call)->pid : -1);
}

static struct str stream_name(const struct timeline *t, uint32_t stream)
{
    return capture_text(t->cap, t->cap->lanes.at[t->streams[stream].lane].key.name);
}

/* "vectorized_add" of "void at::native::vectorized_add<4>(int)". */
static struct str short_name(const struct timeline *t, uint32_t slice)
{
    struct str text = timeline_text(t, slice, S("short_name")), name = name_of(t, slice);
    size_t end, from;

    if (text.n > 0)
        return text;
    end = str_find_char(name, '(');
    end = str_find_char(str_part(name, 0, end), '<');
    for (from = end; from > 0 && name.at[from - 1] != ' ' && name.at[from - 1] != ':';)
        from--;
    return end > from ? str_part(name, from, end - from) : name;
}

/* ---- device work ---- */

static void put_launch(struct csv_write *out, const struct timeline *t,
                       const struct timeline_op *op, nanos free_at)
{
    struct timeline_launch l = timeline_launch_of(t, op, free_at);

    if (!l.is_known) {
        put_empty(out, 5);
        return;
    }
    csv_write_i64(out, l.begin);
    csv_write_i64(out, l.end);
    put_known(out, lane_of(t, op->call)->tid);
    csv_write_i64(out, l.latency);
    csv_write_i64(out, l.queue);
}

static struct str stage_of(const struct timeline_device *d, const struct timeline_op *op)
{
    uint32_t sort = d->stage_of != NULL ? d->sort_of[op - d->ops] : TIMELINE_NONE;

    return sort != TIMELINE_NONE ? d->stage_of[sort] : S("");
}

static void put_kernel(struct csv_write *out, const struct timeline *t,
                       const struct timeline_device *d, const struct timeline_op *op, nanos free_at)
{
    int64_t shared = timeline_number(t, op->slice, S("shared memory"));
    int64_t fixed = timeline_number(t, op->slice, S("static shared memory"));
    uint32_t range =
        t->range_of != NULL && op->call != TIMELINE_NONE ? t->range_of[op->call] : TIMELINE_NONE;

    put_pid(out, t, op);
    csv_write_i64(out, d->device);
    put_known(out, timeline_number(t, op->slice, S("context")));
    csv_write_cell(out, stream_name(t, op->stream));
    put_times(out, op->begin, op->end);
    csv_write_cell(out, name_of(t, op->slice));
    csv_write_cell(out, short_name(t, op->slice));
    put_known(out, link_of(t, op->slice));
    put_shape(out, timeline_text(t, op->slice, S("grid")));
    put_shape(out, timeline_text(t, op->slice, S("block")));
    put_shape(out, timeline_text(t, op->slice, S("cluster")));
    put_known(out, timeline_number(t, op->slice, S("registers per thread")));
    put_known(out, fixed);
    put_known(out, shared >= 0 && fixed >= 0 ? shared - fixed : shared);
    put_known(out, timeline_number(t, op->slice, S("local memory per thread")));
    put_known(out, timeline_number(t, op->slice, S("graph id")));
    put_known(out, timeline_number(t, op->slice, S("graph node id")));
    put_launch(out, t, op, free_at);
    csv_write_cell(out, stage_of(d, op));
    csv_write_cell(out, range != TIMELINE_NONE ? name_of(t, t->ranges.at[range].slice) : S(""));
    csv_write_row(out);
}

static void put_all_kernels(const struct timeline *t, struct csv_write *out)
{
    nanos *free_at = mem_grow(NULL, sizeof(*free_at), t->n_streams + 1);

    for (size_t i = 0; i < t->n_streams; i++)
        free_at[i] = INT64_MIN;
    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].n && !is_interrupted(i); i++) {
            const struct timeline_op *op = &t->devices[k].ops[i];
            if (timeline_is_kernel(op))
                put_kernel(out, t, &t->devices[k], op, free_at[op->stream]);
            if (op->end > free_at[op->stream])
                free_at[op->stream] = op->end;
        }
    mem_free(free_at);
}

/* Copies do not wait on the host when their call says so; unknown without a call. */
static struct str async_of(const struct timeline *t, const struct timeline_op *op)
{
    int64_t flags = timeline_number(t, op->slice, S("async"));

    if (flags >= 0)
        return flags != 0 ? S("1") : S("0");
    if (op->call == TIMELINE_NONE)
        return S("");
    struct str call = name_of(t, op->call);
    bool is_async = str_contains_nocase(call, S("Async")) ||
                    (timeline_says(t, t->cap->slices.name[op->call]) & NAME_GRAPH) != 0;
    return is_async ? S("1") : S("0");
}

static void put_memop(struct csv_write *out, const struct timeline *t,
                      const struct timeline_device *d, const struct timeline_op *op)
{
    struct str name = name_of(t, op->slice);
    int64_t bytes = timeline_number(t, op->slice, S("bytes"));
    nanos dur = nanos_sub(op->end, op->begin);

    put_pid(out, t, op);
    csv_write_i64(out, d->device);
    csv_write_cell(out, stream_name(t, op->stream));
    put_times(out, op->begin, op->end);
    csv_write_cell(out, timeline_copy_kind(name));
    csv_write_cell(out, timeline_copy_from(name));
    csv_write_cell(out, timeline_copy_to(name));
    put_known(out, bytes);
    csv_write_f64(out, bytes >= 0 ? num_ratio(bytes, dur) : NAN);
    csv_write_cell(out, async_of(t, op));
    put_known(out, link_of(t, op->slice));
    put_known(out, timeline_number(t, op->slice, S("graph node id")));
    csv_write_row(out);
}

static void put_all_memops(const struct timeline *t, struct csv_write *out)
{
    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].n && !is_interrupted(i); i++) {
            const struct timeline_op *op = &t->devices[k].ops[i];
            if (op->class == TIMELINE_MEMCPY || op->class == TIMELINE_MEMSET)
                put_memop(out, t, &t->devices[k], op);
        }
}

static void put_all_graphs(const struct timeline *t, struct csv_write *out)
{
    const struct slices *s = &t->cap->slices;

    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].graphs.at.n && !is_interrupted(i); i++) {
            const struct timeline_graph *g = &t->devices[k].graphs.at.at[i];
            put_pid(out, t, &t->devices[k].ops[g->first]);
            csv_write_i64(out, t->devices[k].device);
            put_known(out, g->id);
            put_known(out, g->correlation);
            csv_write_i64(out, g->begin);
            csv_write_i64(out, g->end);
            csv_write_i64(out, (int64_t)g->nodes);
            csv_write_i64(out, g->node_busy);
            put_known(out, g->call != TIMELINE_NONE ? s->dur[g->call] : -1);
            csv_write_cell(out, g->nodes > 0 ? S("node") : S("graph"));
            csv_write_row(out);
        }
}

/* ---- host ---- */

/* Slices of a kind by time over all lanes would need a sort; lanes in order, by time in each. */
static void put_all_api(const struct timeline *t, struct csv_write *out)
{
    const struct capture *cap = t->cap;

    for (size_t i = 0; i < cap->slices.n && !is_interrupted(i); i++) {
        uint32_t slice = (uint32_t)i;
        if (cap->slices.kind[i] != SLICE_RUNTIME)
            continue;
        bool is_driver = (timeline_says(t, cap->slices.name[i]) & NAME_DRIVER) != 0;
        csv_write_i64(out, lane_of(t, slice)->pid);
        csv_write_i64(out, lane_of(t, slice)->tid);
        put_times(out, cap->slices.begin[i], slices_end(&cap->slices, i));
        csv_write_cell(out, is_driver ? S("driver") : S("runtime"));
        csv_write_cell(out, name_of(t, slice));
        put_known(out, link_of(t, slice));
        put_known(out, timeline_number(t, slice, S("result")));
        csv_write_row(out);
    }
}

static struct str sync_type(struct str name)
{
    static const struct {
        struct str word, type;
    } types[] = {
        {S_INIT("Wait"), S_INIT("stream_wait")},
        {S_INIT("Event"), S_INIT("event")},
        {S_INIT("Stream"), S_INIT("stream")},
        {S_INIT("Context"), S_INIT("context")},
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_contains_nocase(name, types[i].word))
            return types[i].type;
    return S("");
}

static void put_all_syncs(const struct timeline *t, struct csv_write *out)
{
    const struct capture *cap = t->cap;

    for (size_t i = 0; i < cap->slices.n && !is_interrupted(i); i++) {
        uint32_t slice = (uint32_t)i;
        const struct lane_key *lane = lane_of(t, slice);
        if (cap->slices.kind[i] != SLICE_WAIT)
            continue;
        put_known(out, timeline_number(t, slice, S("pid")));
        csv_write_i64(out, cap->slices.begin[i]);
        csv_write_i64(out, slices_end(&cap->slices, i));
        csv_write_cell(out, sync_type(name_of(t, slice)));
        put_known(out, timeline_number(t, slice, S("context")));
        if (lane->kind == LANE_STREAM)
            csv_write_cell(out, capture_text(cap, lane->name));
        else
            put_known(out, timeline_number(t, slice, S("stream")));
        put_known(out, timeline_number(t, slice, S("event")));
        put_known(out, link_of(t, slice));
        csv_write_row(out);
    }
}

static void put_all_nvtx(const struct timeline *t, struct csv_write *out)
{
    const struct slices *s = &t->cap->slices;

    for (size_t i = 0; i < t->ranges.n && !is_interrupted(i); i++) {
        const struct timeline_range *r = &t->ranges.at[i];
        csv_write_i64(out, lane_of(t, r->slice)->pid);
        csv_write_i64(out, lane_of(t, r->slice)->tid);
        struct str domain = timeline_text(t, r->slice, S("domain"));
        if (domain.n > 0)
            csv_write_cell(out, domain);
        else
            put_known(out, timeline_number(t, r->slice, S("domain")));
        csv_write_cell(out, name_of(t, r->slice));
        csv_write_i64(out, s->begin[r->slice]);
        csv_write_i64(out, slices_end(s, r->slice));
        if (r->begin <= r->end) {
            csv_write_i64(out, r->begin);
            csv_write_i64(out, r->end);
        } else {
            put_empty(out, 2);
        }
        csv_write_i64(out, (int64_t)r->kernels);
        csv_write_i64(out, r->depth);
        csv_write_row(out);
    }
}

/* ---- results ---- */

static double percent(nanos part, nanos whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : NAN;
}

static void put_all_streams(const struct timeline *t, struct csv_write *out)
{
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const struct timeline_stream *s = &t->streams[i];
        const struct timeline_device *d = &t->devices[s->device];
        const struct lane *lane = &t->cap->lanes.at[s->lane];
        if (s->first > s->last)
            continue;
        put_known(out, lane->key.pid > 0 ? lane->key.pid : -1);
        csv_write_i64(out, d->device);
        csv_write_cell(out, stream_name(t, i));
        put_empty(out, 1); /* no importer tells the priority */
        csv_write_i64(out, s->first);
        csv_write_i64(out, s->last);
        csv_write_i64(out, (int64_t)s->kernels);
        csv_write_i64(out, s->busy);
        csv_write_f64(out, percent(s->busy, nanos_sub(d->window.end, d->window.begin)));
        csv_write_i64(out, s->gaps.sum);
        csv_write_f64(out, s->gaps.median);
        csv_write_f64(out, s->gaps.n > 0 ? (double)s->gaps.max : NAN);
        csv_write_row(out);
    }
}

static void put_pair(struct csv_write *out, int32_t device, struct str a, struct str b,
                     nanos overlap, nanos a_busy, nanos b_busy)
{
    csv_write_i64(out, device);
    csv_write_cell(out, a);
    csv_write_cell(out, b);
    csv_write_i64(out, overlap);
    csv_write_i64(out, a_busy);
    csv_write_i64(out, b_busy);
    csv_write_f64(out, percent(overlap, a_busy < b_busy ? a_busy : b_busy));
    csv_write_row(out);
}

static void put_all_overlap(const struct timeline *t, struct csv_write *out)
{
    for (size_t k = 0; k < t->n_devices; k++) {
        const struct timeline_device *d = &t->devices[k];
        for (size_t i = 0; i < t->pairs.n; i++) {
            const struct timeline_pair *p = &t->pairs.at[i];
            if (&t->devices[t->streams[p->a].device] == d)
                put_pair(out, d->device, stream_name(t, p->a), stream_name(t, p->b), p->overlap,
                         t->streams[p->a].busy, t->streams[p->b].busy);
        }
        put_pair(out, d->device, S("compute"), S("comm"), d->comm_overlap,
                 d->busy_of[TIMELINE_COMPUTE], d->busy_of[TIMELINE_COMM]);
        put_pair(out, d->device, S("compute"), S("memcpy"), d->memcpy_compute,
                 d->busy_of[TIMELINE_COMPUTE], d->busy_of[TIMELINE_MEMCPY]);
        put_pair(out, d->device, S("comm"), S("memcpy"), d->memcpy_comm, d->busy_of[TIMELINE_COMM],
                 d->busy_of[TIMELINE_MEMCPY]);
    }
}

static void put_all_gaps(const struct timeline *t, struct csv_write *out)
{
    for (size_t k = 0; k < t->n_devices; k++) {
        const struct timeline_device *d = &t->devices[k];
        for (size_t i = 0; i < d->gaps.at.n && !is_interrupted(i); i++) {
            const struct timeline_gap *g = &d->gaps.at.at[i];
            bool has_next = g->next != TIMELINE_NONE, has_prev = g->prev != TIMELINE_NONE;
            csv_write_i64(out, d->device);
            csv_write_cell(out, has_next ? stream_name(t, d->ops[g->next].stream) : S(""));
            put_times(out, g->begin, g->end);
            csv_write_cell(out, str_of(timeline_cause_name((enum timeline_cause)g->cause)));
            csv_write_cell(out,
                           has_prev ? mangled_plain(name_of(t, d->ops[g->prev].slice)) : S(""));
            csv_write_cell(out,
                           has_next ? mangled_plain(name_of(t, d->ops[g->next].slice)) : S(""));
            csv_write_cell(out, capture_text(t->cap, g->host_api));
            csv_write_row(out);
        }
    }
}

const struct timeline_table timeline_tables[] = {
    {"kernels.csv",
     "pid,device,context,stream,start_ns,end_ns,dur_ns,name,short_name,correlation,"
     "grid_x,grid_y,grid_z,block_x,block_y,block_z,cluster_x,cluster_y,cluster_z,"
     "regs,smem_static,smem_dynamic,local_per_thread,graph_id,graph_node,"
     "launch_start_ns,launch_end_ns,launch_tid,launch_latency_ns,queue_ns,stage,"
     "nvtx",
     put_all_kernels},
    {"memops.csv",
     "pid,device,stream,start_ns,end_ns,dur_ns,kind,src_kind,dst_kind,bytes,gbps,"
     "async,correlation,graph_node",
     put_all_memops},
    {"api.csv", "pid,tid,start_ns,end_ns,dur_ns,api,name,correlation,result", put_all_api},
    {"sync.csv", "pid,start_ns,end_ns,type,context,stream,event_id,correlation", put_all_syncs},
    {"nvtx.csv",
     "pid,tid,domain,name,start_ns,end_ns,gpu_start_ns,gpu_end_ns,kernel_count,"
     "depth",
     put_all_nvtx},
    {"graphs.csv",
     "pid,device,graph_id,launch_correlation,start_ns,end_ns,nodes,node_busy_ns,"
     "api_ns,level",
     put_all_graphs},
    {"streams.csv",
     "pid,device,stream,priority,first_ns,last_ns,kernels,busy_ns,busy_pct,gap_ns,"
     "median_gap_ns,max_gap_ns",
     put_all_streams},
    {"overlap.csv", "device,a,b,overlap_ns,a_busy_ns,b_busy_ns,overlap_pct_of_smaller",
     put_all_overlap},
    {"gaps.csv", "device,stream,start_ns,end_ns,dur_ns,cause,prev_kernel,next_kernel,host_api",
     put_all_gaps},
};

const size_t timeline_tables_n = ARRAY_LEN(timeline_tables);

bool timeline_table_write(const struct timeline_table *table, struct timeline *const *list,
                          size_t n, struct sink sink)
{
    struct csv_write out;

    csv_write_open(&out, sink);
    put_header(&out, table->columns);
    for (size_t i = 0; i < n; i++)
        table->rows(list[i], &out);
    return csv_write_close(&out) && !cancelled();
}
