/*
 * The tables of a timeline; columns as docs/analyses/gpu-timeline.md lists them. A value that was
 * not recorded is an empty cell.
 */
#include <math.h>

#include "base/run/cancel.h"
#include "base/text/mangled.h"
#include "gpu/timeline/timeline_in.h"
#include "gpu/timeline/timeline_out.h"

/* A row of any table; each uses a part of it. Numbers that were not recorded are -1. */
struct row {
    const struct timeline *t;
    uint32_t slice;
    int64_t pid, tid, device, correlation, id;
    nanos begin, end, dur;
    struct str stream, name, kind, from, to, stage, range;
    struct str grid[3], block[3], cluster[3];
    int64_t dynamic, api;
    uint64_t count, depth;
    nanos busy;
    double gbps;
    bool has_launch, has_work;
    struct timeline_launch launch;
    nanos work_begin, work_end;
};

static struct str csv_name_of(const struct timeline *t, uint32_t slice)
{
    return capture_text(t->cap, t->cap->slices.name[slice]);
}

static const struct lane_key *csv_lane_of(const struct timeline *t, uint32_t slice)
{
    return &t->cap->lanes.at[t->cap->slices.lane[slice]].key;
}

static struct row csv_row_of(const struct timeline *t, uint32_t slice, nanos begin, nanos end)
{
    return (struct row){
        .t = t,
        .slice = slice,
        .pid = csv_lane_of(t, slice)->pid,
        .tid = csv_lane_of(t, slice)->tid,
        .begin = begin,
        .end = end,
        .dur = nanos_sub(end, begin),
        .name = csv_name_of(t, slice),
        .correlation = timeline_link(t, slice),
    };
}

/* Of device work: the process is the one that launched it. */
static struct row row_of_op(const struct timeline *t, const struct timeline_device *d,
                            const struct device_task *op)
{
    struct row row = csv_row_of(t, op->slice, op->begin, op->end);
    uint32_t call = timeline_call(d, op);

    row.pid = call != TIMELINE_NONE ? csv_lane_of(t, call)->pid : -1;
    row.device = d->device;
    row.stream = timeline_stream_name(t, timeline_stream_of(t, op));
    return row;
}

/* A number of the slice under a name of the importers. */
static struct field_value csv_number_of(const void *record, const char *text,
                                        const struct record_env *env)
{
    const struct row *row = record;

    (void)env;
    return value_int(timeline_number(row->t, row->slice, str_of(text)));
}

#define TEXT(key, member)  FIELD(struct row, member, key)
#define KNOWN(key, member) FIELD(struct row, member, key, .missing = MISSING_NEGATIVE)
#define ASKED(key, text)                                                                           \
    FIELD_LOOKED_UP(FIELD_I64, key, csv_number_of, text, .missing = MISSING_NEGATIVE)
#define TIMES               TEXT("start_ns", begin), TEXT("end_ns", end), TEXT("dur_ns", dur)
#define LAUNCH(key, member) FIELD(struct row, launch.member, key, WHEN(struct row, launch.is_known))
#define DIMS(word)          TEXT(#word "_x", word[0]), TEXT(#word "_y", word[1]), TEXT(#word "_z", word[2])

/* ---- device work ---- */

/* "vectorized_add" of "void at::native::vectorized_add<4>(int)". */
static struct str short_name(const struct timeline *t, uint32_t slice)
{
    struct str text = timeline_attr_text(t, slice, S("short_name")), name = csv_name_of(t, slice);
    size_t end, from;

    if (text.n > 0)
        return text;
    end = str_find_char(name, '(');
    end = str_find_char(str_part(name, 0, end), '<');
    for (from = end; from > 0 && name.at[from - 1] != ' ' && name.at[from - 1] != ':';)
        from--;
    return end > from ? str_part(name, from, end - from) : name;
}

/* "16,8,1", also in brackets, as three cells. */
static void split_shape(const struct row *row, struct str key, struct str out[3])
{
    struct str text = timeline_attr_text(row->t, row->slice, key), part;

    if (str_starts(text, S("[")) && str_ends(text, S("]")))
        text = str_part(text, 1, text.n - 2);
    for (size_t i = 0; i < 3 && text.n > 0 && str_split(&text, ',', &part); i++)
        out[i] = str_trim(part);
}

static const struct field kernel_fields[] = {
    KNOWN("pid", pid),
    TEXT("device", device),
    ASKED("context", "context"),
    TEXT("stream", stream),
    TIMES,
    TEXT("name", name),
    TEXT("short_name", kind),
    KNOWN("correlation", correlation),
    DIMS(grid),
    DIMS(block),
    DIMS(cluster),
    ASKED("regs", "registers per thread"),
    ASKED("smem_static", "static shared memory"),
    KNOWN("smem_dynamic", dynamic),
    ASKED("local_per_thread", "local memory per thread"),
    ASKED("graph_id", "graph id"),
    ASKED("graph_node", "graph node id"),
    LAUNCH("launch_start_ns", begin),
    LAUNCH("launch_end_ns", end),
    KNOWN("launch_tid", tid),
    LAUNCH("launch_latency_ns", latency),
    LAUNCH("queue_ns", queue),
    TEXT("stage", stage),
    TEXT("nvtx", range),
};

static void csv_put_kernel(struct timeline_csv *out, const struct timeline *t,
                           const struct timeline_device *d, const struct device_task *op,
                           nanos free_at)
{
    uint32_t call = timeline_call(d, op);
    struct row row = row_of_op(t, d, op);
    int64_t shared = timeline_number(t, op->slice, S("shared memory"));
    int64_t fixed = timeline_number(t, op->slice, S("static shared memory"));
    bool is_called = call != TIMELINE_NONE;
    uint32_t range = t->range_of != NULL && is_called ? t->range_of[call] : TIMELINE_NONE;
    uint32_t sort = d->stage_of != NULL ? d->sort_of[op - d->tasks] : TIMELINE_NONE;

    row.kind = short_name(t, op->slice);
    split_shape(&row, S("grid"), row.grid);
    split_shape(&row, S("block"), row.block);
    split_shape(&row, S("cluster"), row.cluster);
    row.dynamic = shared >= 0 && fixed >= 0 ? shared - fixed : shared;
    row.launch = timeline_launch_of(t, d, op, free_at);
    row.tid = is_called ? csv_lane_of(t, call)->tid : -1;
    if (sort != TIMELINE_NONE)
        row.stage = d->stage_of[sort];
    if (range != TIMELINE_NONE)
        row.range = csv_name_of(t, t->ranges.at[range].slice);
    timeline_csv_put(out, &row);
}

static void put_all_kernels(const struct timeline *t, struct timeline_csv *out)
{
    nanos *free_at = mem_grow(NULL, sizeof(*free_at), t->n_streams + 1);

    for (size_t i = 0; i < t->n_streams; i++)
        free_at[i] = INT64_MIN;
    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].n && !out->is_over; i++) {
            const struct device_task *op = &t->devices[k].tasks[i];
            nanos *end = &free_at[timeline_stream_of(t, op)];
            if (timeline_is_kernel(op))
                csv_put_kernel(out, t, &t->devices[k], op, *end);
            *end = op->end > *end ? op->end : *end;
        }
    mem_free(free_at);
}

/* Copies do not wait on the host when their call says so; unknown without a call. */
static struct str async_of(const struct timeline *t, const struct timeline_device *d,
                           const struct device_task *op)
{
    uint32_t call_slice = timeline_call(d, op);
    int64_t flags = timeline_number(t, op->slice, S("async"));

    if (flags >= 0)
        return flags != 0 ? S("1") : S("0");
    if (call_slice == TIMELINE_NONE)
        return S("");
    struct str call = csv_name_of(t, call_slice);
    bool is_async = str_contains_nocase(call, S("Async")) ||
                    (timeline_says(t, t->cap->slices.name[call_slice]) & NAME_GRAPH) != 0;
    return is_async ? S("1") : S("0");
}

static const struct field memop_fields[] = {
    KNOWN("pid", pid),
    TEXT("device", device),
    TEXT("stream", stream),
    TIMES,
    TEXT("kind", kind),
    TEXT("src_kind", from),
    TEXT("dst_kind", to),
    ASKED("bytes", "bytes"),
    TEXT("gbps", gbps),
    TEXT("async", stage),
    KNOWN("correlation", correlation),
    ASKED("graph_node", "graph node id"),
};

static void put_all_memops(const struct timeline *t, struct timeline_csv *out)
{
    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].n && !out->is_over; i++) {
            const struct device_task *op = &t->devices[k].tasks[i];
            enum timeline_class class = timeline_class_of(op);
            if (class != TIMELINE_MEMCPY && class != TIMELINE_MEMSET)
                continue;
            struct row row = row_of_op(t, &t->devices[k], op);
            int64_t bytes = timeline_number(t, op->slice, S("bytes"));
            row.kind = timeline_copy_kind(row.name);
            row.from = timeline_copy_from(row.name);
            row.to = timeline_copy_to(row.name);
            row.gbps = bytes >= 0 ? num_ratio(bytes, row.dur) : NAN;
            row.stage = async_of(t, &t->devices[k], op);
            timeline_csv_put(out, &row);
        }
}

static const struct field graph_fields[] = {
    KNOWN("pid", pid),       TEXT("device", device),
    KNOWN("graph_id", id),   KNOWN("launch_correlation", correlation),
    TEXT("start_ns", begin), TEXT("end_ns", end),
    TEXT("nodes", count),    TEXT("node_busy_ns", busy),
    KNOWN("api_ns", api),    TEXT("level", kind),
};

static void put_all_graphs(const struct timeline *t, struct timeline_csv *out)
{
    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].graphs.at.n && !out->is_over; i++) {
            const struct timeline_graph *g = &t->devices[k].graphs.at.at[i];
            struct row row = csv_row_of(t, g->first, g->begin, g->end);
            row.pid = g->call != TIMELINE_NONE ? csv_lane_of(t, g->call)->pid : -1;
            row.device = t->devices[k].device;
            row.id = g->id;
            row.correlation = g->correlation;
            row.count = g->nodes;
            row.busy = g->node_busy;
            row.api = g->call != TIMELINE_NONE ? t->cap->slices.dur[g->call] : -1;
            row.kind = g->nodes > 0 ? S("node") : S("graph");
            timeline_csv_put(out, &row);
        }
}

/* ---- host ---- */

static const struct field api_fields[] = {
    TEXT("pid", pid),          TEXT("tid", tid),   TIMES,
    TEXT("api", kind),         TEXT("name", name), KNOWN("correlation", correlation),
    ASKED("result", "result"),
};

/* Slices of a kind by time over all lanes would need a sort; lanes in order, by time in each. */
static void put_all_api(const struct timeline *t, struct timeline_csv *out)
{
    const struct slices *s = &t->cap->slices;

    for (uint32_t i = 0; i < s->n && !out->is_over; i++) {
        if (s->kind[i] != SLICE_RUNTIME)
            continue;
        struct row row = csv_row_of(t, i, s->begin[i], slices_end(s, i));
        bool is_driver = (timeline_says(t, s->name[i]) & NAME_DRIVER) != 0;
        row.kind = is_driver ? S("driver") : S("runtime");
        timeline_csv_put(out, &row);
    }
}

/* A name, or else the number that the slice gives. */
static struct field_value name_or_number(struct str name, const struct row *row, struct str key)
{
    int64_t number = timeline_number(row->t, row->slice, key);

    return name.n > 0 ? value_text(name) : number >= 0 ? value_int(number) : value_none();
}

static struct field_value stream_of_sync(const void *record, const struct record_env *env)
{
    const struct row *row = record;
    const struct lane_key *lane = csv_lane_of(row->t, row->slice);

    (void)env;
    return lane->kind == LANE_STREAM ? value_text(capture_text(row->t->cap, lane->name))
                                     : name_or_number(S(""), row, S("stream"));
}

static const struct field sync_fields[] = {
    ASKED("pid", "pid"),         TEXT("start_ns", begin),
    TEXT("end_ns", end),         TEXT("type", kind),
    ASKED("context", "context"), FIELD_CALC(FIELD_STR, "stream", stream_of_sync),
    ASKED("event_id", "event"),  KNOWN("correlation", correlation),
};

static void put_all_syncs(const struct timeline *t, struct timeline_csv *out)
{
    static const struct {
        struct str word, type; /* the first word of a name counts */
    } types[] = {
        {S_INIT("Wait"), S_INIT("stream_wait")},
        {S_INIT("Event"), S_INIT("event")},
        {S_INIT("Stream"), S_INIT("stream")},
        {S_INIT("Context"), S_INIT("context")},
    };
    const struct slices *s = &t->cap->slices;

    for (uint32_t i = 0; i < s->n && !out->is_over; i++) {
        if (s->kind[i] != SLICE_WAIT)
            continue;
        struct row row = csv_row_of(t, i, s->begin[i], slices_end(s, i));
        for (size_t k = ARRAY_LEN(types); k-- > 0;)
            if (str_contains_nocase(row.name, types[k].word))
                row.kind = types[k].type;
        timeline_csv_put(out, &row);
    }
}

static struct field_value domain_of(const void *record, const struct record_env *env)
{
    const struct row *row = record;

    (void)env;
    return name_or_number(timeline_attr_text(row->t, row->slice, S("domain")), row, S("domain"));
}

static const struct field nvtx_fields[] = {
    TEXT("pid", pid),
    TEXT("tid", tid),
    FIELD_CALC(FIELD_STR, "domain", domain_of),
    TEXT("name", name),
    TEXT("start_ns", begin),
    TEXT("end_ns", end),
    FIELD(struct row, work_begin, "gpu_start_ns", WHEN(struct row, has_work)),
    FIELD(struct row, work_end, "gpu_end_ns", WHEN(struct row, has_work)),
    TEXT("kernel_count", count),
    TEXT("depth", depth),
};

static void put_all_nvtx(const struct timeline *t, struct timeline_csv *out)
{
    const struct slices *s = &t->cap->slices;

    for (size_t i = 0; i < t->ranges.n && !out->is_over; i++) {
        const struct timeline_range *r = &t->ranges.at[i];
        struct row row = csv_row_of(t, r->slice, s->begin[r->slice], slices_end(s, r->slice));
        row.has_work = r->begin <= r->end;
        row.work_begin = r->begin;
        row.work_end = r->end;
        row.count = r->kernels;
        row.depth = r->depth;
        timeline_csv_put(out, &row);
    }
}

static const struct field gap_fields[] = {
    TEXT("device", device), TEXT("stream", stream),    TIMES,
    TEXT("cause", kind),    TEXT("prev_kernel", from), TEXT("next_kernel", to),
    TEXT("host_api", name),
};

/* A row for each piece; the call or activity that filled it is the host's part. */
static void put_all_gaps(const struct timeline *t, struct timeline_csv *out)
{
    for (const struct timeline_device *d = t->devices; d < t->devices + t->n_devices; d++)
        for (size_t i = 0; i < d->gaps.at.n && !out->is_over; i++) {
            const struct timeline_gap *g = &d->gaps.at.at[i];
            struct row row = {
                .device = d->device,
                .begin = g->begin,
                .end = g->end,
                .dur = nanos_sub(g->end, g->begin),
                .kind = str_of(timeline_cause_name(g->cause)),
            };
            if (g->filled_by != TIMELINE_NONE)
                row.name = csv_name_of(t, g->filled_by);
            if (g->prev != TIMELINE_NONE)
                row.from = mangled_plain(csv_name_of(t, g->prev));
            if (g->next != TIMELINE_NONE) {
                row.stream = timeline_stream_name(t, t->stream_of[t->cap->slices.lane[g->next]]);
                row.to = mangled_plain(csv_name_of(t, g->next));
            }
            timeline_csv_put(out, &row);
        }
}

/* ---- all ---- */

static const struct record kernel_record = RECORD(struct row, kernel_fields),
                           memop_record = RECORD(struct row, memop_fields),
                           api_record = RECORD(struct row, api_fields),
                           sync_record = RECORD(struct row, sync_fields),
                           nvtx_record = RECORD(struct row, nvtx_fields),
                           graph_record = RECORD(struct row, graph_fields),
                           gap_record = RECORD(struct row, gap_fields);

const struct timeline_table timeline_tables[TIMELINE_TABLES] = {
    {"kernels.csv", &kernel_record, put_all_kernels},
    {"memops.csv", &memop_record, put_all_memops},
    {"api.csv", &api_record, put_all_api},
    {"sync.csv", &sync_record, put_all_syncs},
    {"nvtx.csv", &nvtx_record, put_all_nvtx},
    {"graphs.csv", &graph_record, put_all_graphs},
    {"streams.csv", &timeline_stream_record, timeline_stream_rows},
    {"overlap.csv", &timeline_pair_record, timeline_pair_rows},
    {"gaps.csv", &gap_record, put_all_gaps},
};

void timeline_csv_put(struct timeline_csv *out, const void *row)
{
    record_csv_row(&out->csv, out->record, row, &out->env);
    out->is_over = ++out->n % 65536 == 0 && cancelled();
}

bool timeline_table_write(const struct timeline_table *table, struct timeline *const *list,
                          size_t n, struct sink sink)
{
    struct timeline_csv out = {.record = table->record};
    struct arena arena;

    arena_init(&arena);
    out.env.arena = &arena;
    csv_write_open(&out.csv, sink);
    record_csv_heads(&out.csv, table->record);
    for (size_t i = 0; i < n && !out.is_over; i++)
        table->rows(list[i], &out);
    bool ok = csv_write_close(&out.csv) && !cancelled();
    arena_free(&arena);
    return ok;
}
