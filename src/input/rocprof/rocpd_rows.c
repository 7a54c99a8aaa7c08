/*
 * rocpd: work, calls, counters and memory of one process.
 */
#include <stdlib.h>

#include "capture/classify.h"
#include "input/rocprof/rocpd.h"
#include "input/trace/step_name.h"

/* ---- lanes ---- */

static lane_id thread_of(struct rocpd *r, int64_t pid, int64_t tid)
{
    struct rocpd_lane *met = &r->lanes[(uint64_t)tid % ROCPD_LANES];
    uint32_t place;

    if (met->is_known && met->is_thread && met->pid == pid && met->tid == tid)
        return met->lane;
    *met = (struct rocpd_lane){.pid = pid, .tid = tid, .is_known = true, .is_thread = true};
    if (hash_get(&r->thread_at, (uint64_t)tid, &place) && r->threads.at[place] != DB_NONE)
        tid = r->threads.at[place];
    met->lane = rocprof_thread(r->cap, pid, tid);
    return met->lane;
}

/* ---- counters ---- */

ORDER_BY(by_event, struct rocpd_counter,
         ORDER(x->event, y->event) ?: ORDER(x->counter, y->counter));

/* Times of samples, by their numbers. */
static void read_sample_times(struct rocpd *r, struct hash *places, int64_t **times)
{
    struct time_row {
        int64_t id, at;
    } row;
    static const struct db_column columns[] = {DB_COLUMN(struct time_row, id, "id"),
                                               DB_COLUMN(struct time_row, at, "timestamp")};
    VEC_OF(int64_t) list = {0};
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "sample", columns);
    while (db_read_row(&rows, &row)) {
        hash_put(places, (uint64_t)row.id, (uint32_t)list.n);
        vec_push(&list, row.at);
    }
    *times = list.at;
}

/* Rows of one event and counter are instances of a unit: they are added. Rows with a sample are
 * samples over time. */
static void read_counters(struct rocpd *r)
{
    struct counter_row {
        int64_t event, counter, sample;
        double value;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct counter_row, event, "event_id"),
        DB_COLUMN(struct counter_row, counter, "pmc_id"),
        DB_COLUMN(struct counter_row, sample, "sample_id"),
        DB_COLUMN(struct counter_row, value, "value"),
    };
    struct hash places = {0};
    struct db_rows rows;
    int64_t *times;
    uint32_t place;

    read_sample_times(r, &places, &times);
    db_strings_read(&r->counters, &r->db, rocpd_table(r, "info_pmc"));
    ROCPD_SCAN(r, &rows, "pmc_event", columns);
    while (db_read_row(&rows, &row)) {
        if (row.sample == DB_NONE) {
            vec_push(&r->values, ((struct rocpd_counter){row.event, row.counter, row.value}));
        } else if (hash_get(&places, (uint64_t)row.sample, &place) && times[place] != DB_NONE) {
            strid name = db_strings_intern(&r->counters, r->cap, row.counter);
            if (name != 0)
                capture_sample(r->cap, capture_series(r->cap, 0, name, 0), times[place], row.value);
        }
    }
    if (r->values.n > 1)
        qsort(r->values.at, r->values.n, sizeof(*r->values.at), by_event);
    hash_free(&places);
    mem_free(times);
}

/* Adds the counters of an event to the attributes of its work. */
static size_t put_counters(struct rocpd *r, int64_t event, struct attr *list, size_t n, size_t most)
{
    size_t at;

    vec_bisect(at, r->values.n, i, r->values.at[i].event < event);
    while (at < r->values.n && r->values.at[at].event == event) {
        int64_t counter = r->values.at[at].counter;
        double sum = 0;
        for (; at < r->values.n && r->values.at[at].event == event &&
               r->values.at[at].counter == counter;
             at++)
            sum += r->values.at[at].value;
        strid name = db_strings_intern(&r->counters, r->cap, counter);
        if (name != 0 && n < most)
            list[n++] = attr_real(name, sum);
    }
    return n;
}

/* ---- rows with times ---- */

static bool rocpd_times(struct rocpd *r, const struct db_rows *rows, int64_t begin, int64_t end,
                        struct slice *out)
{
    static const struct import_db_codes codes = {"rocpd.bad-row", "rocpd.bad-row"};

    r->i->rows++;
    return import_db_times(r->i, rows, begin, end, &codes, out);
}

static void rocpd_note(struct rocpd *r, int64_t event, uint32_t slice, bool is_work)
{
    struct rocpd_link link = {rocpd_event_of(r, event)->stack, slice};

    if (link.stack == DB_NONE || link.stack == 0)
        return;
    if (is_work)
        vec_push(&r->works, link);
    else
        vec_push(&r->calls, link);
}

/* Calls, and ranges of the program: of those the API's name is a row's name, and the text is with
 * the event. */
static void read_regions(struct rocpd *r)
{
    struct region_row {
        int64_t pid, tid, start, end, name, event;
    } row;
    static const struct db_column columns[] = {
        DB_OR(struct region_row, pid, "pid", 0),
        DB_OR(struct region_row, tid, "tid", 0),
        DB_COLUMN(struct region_row, start, "start"),
        DB_COLUMN(struct region_row, end, "end"),
        DB_COLUMN(struct region_row, name, "name_id"),
        DB_COLUMN(struct region_row, event, "event_id"),
    };
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "region", columns);
    while (db_read_row(&rows, &row)) {
        struct slice slice = {.name = db_strings_intern(&r->strings, r->cap, row.name)};
        const struct rocpd_event *e = rocpd_event_of(r, row.event);
        if (!rocpd_times(r, &rows, row.start, row.end, &slice))
            continue;
        slice.kind = rocprof_call_kind(db_strings_text(&r->strings, e->category));
        slice.lane = thread_of(r, row.pid, row.tid);
        if (slice.kind == SLICE_ANNOTATION && e->message != 0)
            slice.name = e->message;
        if (slice.name == 0)
            slice.name = capture_intern_format(r->cap, "call %lld", (long long)row.name);
        if (slice.kind == SLICE_ANNOTATION)
            step_name_mark(r->cap, &slice, true);
        struct attr link = attr_int(capture_key(r->cap, KEY_LINK), e->stack);
        if (e->stack != DB_NONE && e->stack != 0)
            slice.own = attrs_own(&r->cap->attrs, &link, 1);
        rocpd_note(r, row.event, capture_slice(r->cap, &slice), false);
    }
}

/* Calls that were sampled: their names are not kept, their track's is. */
static void read_samples(struct rocpd *r)
{
    struct track_row {
        int64_t id, pid, tid, name;
    } track;
    struct sample_row {
        int64_t track, at, event;
    } row;
    static const struct db_column track_columns[] = {
        DB_COLUMN(struct track_row, id, "id"), DB_OR(struct track_row, pid, "pid", 0),
        DB_OR(struct track_row, tid, "tid", 0), DB_COLUMN(struct track_row, name, "name_id")};
    static const struct db_column columns[] = {DB_COLUMN(struct sample_row, track, "track_id"),
                                               DB_COLUMN(struct sample_row, at, "timestamp"),
                                               DB_COLUMN(struct sample_row, event, "event_id")};
    VEC_OF(struct track_row) tracks = {0};
    struct hash places = {0};
    struct db_rows rows;
    uint32_t place;

    ROCPD_SCAN(r, &rows, "track", track_columns);
    while (db_read_row(&rows, &track)) {
        hash_put(&places, (uint64_t)track.id, (uint32_t)tracks.n);
        vec_push(&tracks, track);
    }
    ROCPD_SCAN(r, &rows, "sample", columns);
    while (db_read_row(&rows, &row)) {
        struct slice slice = {.begin = row.at, .kind = SLICE_RUNTIME};
        if (row.at == DB_NONE || !hash_get(&places, (uint64_t)row.track, &place))
            continue; /* of a counter */
        r->i->rows++;
        slice.lane = thread_of(r, tracks.at[place].pid, tracks.at[place].tid);
        slice.name = db_strings_intern(&r->strings, r->cap, tracks.at[place].name);
        capture_slice(r->cap, &slice);
    }
    vec_free(&tracks);
    hash_free(&places);
}

static lane_id stream_of(struct rocpd *r, int64_t device, int64_t stream)
{
    struct rocpd_lane *met = &r->lanes[((uint64_t)stream * 7 + (uint64_t)device) % ROCPD_LANES];

    if (met->is_known && !met->is_thread && met->device == device && met->stream == stream)
        return met->lane;
    *met = (struct rocpd_lane){.device = device, .stream = stream, .is_known = true};
    strid name = capture_intern_format(r->cap, "%lld", (long long)(stream != DB_NONE ? stream : 0));
    met->lane = capture_lane(
        r->cap, (struct lane_key){.kind = LANE_STREAM, .device = (int32_t)device, .name = name});
    return met->lane;
}

/* What a device that has work says of itself; of several the first. */
static void know_device(struct rocpd *r, int64_t agent)
{
    struct facts *facts = &r->cap->facts;
    uint32_t place;

    if (facts->device_name == 0 && agent != DB_NONE &&
        hash_get(&r->agent_at, (uint64_t)agent, &place))
        facts->device_name = r->agents.at[place].product;
}

struct dispatch_row {
    int64_t start, end, agent, kernel, queue, stream, region, event;
    int64_t grid[3], block[3], group, private;
};

/* Of a kernel: its symbol, unless a range of the program renames it. */
static strid kernel_name_of(struct rocpd *r, const struct dispatch_row *row,
                            const struct rocpd_symbol *symbol)
{
    struct str region = db_strings_text(&r->strings, row->region);

    if (region.n > 0)
        return capture_intern(r->cap, region);
    return symbol != NULL && symbol->name != 0
               ? symbol->name
               : capture_intern_format(r->cap, "kernel %lld", (long long)row->kernel);
}

static enum slice_kind kernel_kind_of(struct rocpd *r, strid name)
{
    while (r->kinds.n <= name)
        vec_push(&r->kinds, 0);
    uint8_t *kind = &r->kinds.at[name];
    if (*kind == 0)
        *kind =
            (uint8_t)(classify_kernel(VENDOR_AMD, S(""), capture_text(r->cap, name), S("")) + 1);
    return (enum slice_kind)(*kind - 1);
}

static attr_run kernel_attrs(struct rocpd *r, const struct dispatch_row *row,
                             const struct rocpd_symbol *symbol)
{
    struct attr set[6];
    size_t n = rocprof_shapes(r->cap, row->grid, row->block, set);

    if (symbol != NULL && symbol->registers != DB_NONE)
        set[n++] = attr_int(r->registers_key, symbol->registers);
    if (row->group != DB_NONE)
        set[n++] = attr_int(r->group_key, row->group);
    if (row->private > 0)
        set[n++] = attr_int(r->private_key, row->private);
    if (row->queue != DB_NONE)
        set[n++] = attr_int(r->queue_key, row->queue);
    return attrs_set(&r->cap->attrs, set, n);
}

/* A kernel; its launch is the call of the same stack. */
static void take_dispatch(struct rocpd *r, const struct db_rows *rows,
                          const struct dispatch_row *row)
{
    enum { OWN_MOST = 64 };
    int64_t device = rocpd_device_of(r, row->agent);
    struct slice slice = {0};
    struct attr own[OWN_MOST];
    uint32_t place;
    size_t n = 0;

    if (import_is_other_device(r->i, device) || !rocpd_times(r, rows, row->start, row->end, &slice))
        return;
    const struct rocpd_symbol *symbol =
        row->kernel != DB_NONE && hash_get(&r->symbol_at, (uint64_t)row->kernel, &place)
            ? &r->symbols.at[place]
            : NULL;
    know_device(r, row->agent);
    slice.lane = stream_of(r, device, row->stream);
    slice.name = kernel_name_of(r, row, symbol);
    slice.kind = kernel_kind_of(r, slice.name);
    slice.set = kernel_attrs(r, row, symbol);
    const struct rocpd_event *e = rocpd_event_of(r, row->event);
    if (e->stack != DB_NONE && e->stack != 0)
        own[n++] = attr_int(capture_key(r->cap, KEY_LINK), e->stack);
    n = put_counters(r, row->event, own, n, OWN_MOST);
    slice.own = attrs_own(&r->cap->attrs, own, n);
    rocpd_note(r, row->event, capture_slice(r->cap, &slice), true);
}

static void read_dispatches(struct rocpd *r)
{
    static const struct db_column columns[] = {
        DB_COLUMN(struct dispatch_row, start, "start"),
        DB_COLUMN(struct dispatch_row, end, "end"),
        DB_COLUMN(struct dispatch_row, agent, "agent_id"),
        DB_COLUMN(struct dispatch_row, kernel, "kernel_id"),
        DB_COLUMN(struct dispatch_row, queue, "queue_id"),
        DB_COLUMN(struct dispatch_row, stream, "stream_id"),
        DB_COLUMN(struct dispatch_row, region, "region_name_id"),
        DB_COLUMN(struct dispatch_row, event, "event_id"),
        DB_OR(struct dispatch_row, grid[0], "grid_size_x", 0),
        DB_OR(struct dispatch_row, grid[1], "grid_size_y", 1),
        DB_OR(struct dispatch_row, grid[2], "grid_size_z", 1),
        DB_OR(struct dispatch_row, block[0], "workgroup_size_x", 0),
        DB_OR(struct dispatch_row, block[1], "workgroup_size_y", 1),
        DB_OR(struct dispatch_row, block[2], "workgroup_size_z", 1),
        DB_COLUMN(struct dispatch_row, group, "group_segment_size"),
        DB_COLUMN(struct dispatch_row, private, "private_segment_size"),
    };
    struct dispatch_row row;
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "kernel_dispatch", columns);
    while (db_read_row(&rows, &row))
        take_dispatch(r, &rows, &row);
}

/* A copy is work of the GPU that is filled, or of the one that is read. */
static void read_copies(struct rocpd *r)
{
    struct copy_row {
        int64_t start, end, name, to, from, size, stream, event;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct copy_row, start, "start"),
        DB_COLUMN(struct copy_row, end, "end"),
        DB_COLUMN(struct copy_row, name, "name_id"),
        DB_COLUMN(struct copy_row, to, "dst_agent_id"),
        DB_COLUMN(struct copy_row, from, "src_agent_id"),
        DB_COLUMN(struct copy_row, size, "size"),
        DB_COLUMN(struct copy_row, stream, "stream_id"),
        DB_COLUMN(struct copy_row, event, "event_id"),
    };
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "memory_copy", columns);
    while (db_read_row(&rows, &row)) {
        struct slice slice = {.kind = SLICE_COPY};
        struct attr own[2];
        size_t n = 0;
        bool is_filled = row.to != DB_NONE && rocpd_device_of(r, row.to) >= 0;
        int64_t agent = is_filled ? row.to : row.from, device = rocpd_device_of(r, agent);
        if (import_is_other_device(r->i, device) ||
            !rocpd_times(r, &rows, row.start, row.end, &slice))
            continue;
        know_device(r, agent);
        slice.lane = stream_of(r, device, row.stream);
        slice.name = db_strings_intern(&r->strings, r->cap, row.name);
        const struct rocpd_event *e = rocpd_event_of(r, row.event);
        if (e->stack != DB_NONE && e->stack != 0)
            own[n++] = attr_int(capture_key(r->cap, KEY_LINK), e->stack);
        if (row.size != DB_NONE)
            own[n++] = attr_int(r->bytes_key, row.size);
        slice.own = attrs_own(&r->cap->attrs, own, n);
        rocpd_note(r, row.event, capture_slice(r->cap, &slice), true);
    }
}

/* Memory that was taken, and given back under the same address: what is given back names no
 * agent. */
static void read_allocations(struct rocpd *r)
{
    struct memory_row {
        int64_t agent, start, end, address, size;
        struct str type, level;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct memory_row, agent, "agent_id"),
        DB_COLUMN(struct memory_row, start, "start"),
        DB_COLUMN(struct memory_row, end, "end"),
        DB_COLUMN(struct memory_row, address, "address"),
        DB_OR(struct memory_row, size, "size", 0),
        DB_COLUMN(struct memory_row, type, "type"),
        DB_COLUMN(struct memory_row, level, "level"),
    };
    struct hash open = {0};
    struct db_rows rows;
    uint32_t place;

    ROCPD_SCAN(r, &rows, "memory_allocate", columns);
    while (db_read_row(&rows, &row)) {
        bool is_free = str_equal(row.type, S("FREE"));
        if (row.start == DB_NONE || row.end == DB_NONE)
            continue;
        if (is_free && hash_get(&open, (uint64_t)row.address, &place) && place > 0) {
            r->cap->allocations.at[place - 1].end = row.end;
            hash_put(&open, (uint64_t)row.address, 0);
        }
        if (is_free || row.agent == DB_NONE ||
            import_is_other_device(r->i, rocpd_device_of(r, row.agent)) ||
            rocpd_device_of(r, row.agent) < 0)
            continue;
        struct allocation a = {.begin = row.start,
                               .end = row.start - 1,
                               .bytes = (double)row.size,
                               .name = capture_intern_format(
                                   r->cap, "%.*s %.*s", STR_ARGS(row.type), STR_ARGS(row.level))};
        vec_push(&r->cap->allocations, a);
        hash_put(&open, (uint64_t)row.address, (uint32_t)r->cap->allocations.n);
    }
    hash_free(&open);
}

/* ---- arrows ---- */

ORDER_BY(by_stack, struct rocpd_link, ORDER(x->stack, y->stack) ?: ORDER(x->slice, y->slice));

/* From the first call of a number to all its work. */
static void join_stacks(struct rocpd *r)
{
    size_t call = 0;

    if (r->calls.n > 1)
        qsort(r->calls.at, r->calls.n, sizeof(*r->calls.at), by_stack);
    if (r->works.n > 1)
        qsort(r->works.at, r->works.n, sizeof(*r->works.at), by_stack);
    for (size_t i = 0; i < r->works.n; i++) {
        while (call < r->calls.n && r->calls.at[call].stack < r->works.at[i].stack)
            call++;
        if (call < r->calls.n && r->calls.at[call].stack == r->works.at[i].stack)
            capture_flow(r->cap, FLOW_LAUNCH, r->calls.at[call].slice, r->works.at[i].slice);
    }
}

void rocpd_read_rows(struct rocpd *r)
{
    r->queue_key = capture_intern(r->cap, S("queue"));
    r->bytes_key = capture_intern(r->cap, S("bytes"));
    r->registers_key = capture_intern(r->cap, S("registers per thread"));
    r->group_key = capture_intern(r->cap, S("shared memory"));
    r->private_key = capture_intern(r->cap, S("local memory per thread"));
    read_counters(r);
    read_dispatches(r);
    read_copies(r);
    read_regions(r);
    read_samples(r);
    read_allocations(r);
    join_stacks(r);
}
