/* nsys: what ran on the device. */
#include <stdlib.h>

#include "capture/classify.h"
#include "input/nsys/nsys_in.h"
#include "input/trace/gpu_names.h"

/* A piece of work as its row has it. */
struct work {
    struct slice slice;
    struct nsys_link link;
    struct nsys_extra extra;
};

/* ---- lanes ---- */

static lane_id find_stream(struct nsys *s, uint64_t process, int64_t stream)
{
    struct capture *cap = s->cap;
    struct lane_key key = {.kind = LANE_STREAM, .device = (int32_t)s->device};
    uint64_t hash = hash_mix(process, (uint64_t)stream);
    uint32_t lane;

    if (hash_get(&s->lane_of, hash, &lane))
        return lane;
    key.name = stream == NSYS_NONE ? capture_intern(cap, S("N/A"))
                                   : capture_intern_format(cap, "%lld", (long long)stream);
    if (process != s->main_process)
        key.process = capture_intern_format(cap, "process %lld", (long long)nsys_pid(process));
    lane = capture_lane(cap, key);
    hash_put(&s->lane_of, hash, lane);
    return lane;
}

/* A row of device work. What only kernels have comes first, then what only copies and fills have.
 */
struct work_row {
    int64_t start, end, device, stream, correlation, process, context, graph, node;
    int64_t demangled, plain, mangled, grid[3], block[3], cluster[3];
    int64_t registers, fixed, dynamic, local;
    int64_t bytes, kind, from, to;
};

#define WORK_COLUMNS                                                                               \
    DB_COLUMN(struct work_row, start, "start"), DB_COLUMN(struct work_row, end, "end"),            \
        DB_COLUMN(struct work_row, device, "deviceId"),                                            \
        DB_OR(struct work_row, stream, "streamId", NSYS_NONE),                                     \
        DB_OR(struct work_row, correlation, "correlationId", NSYS_NONE),                           \
        DB_OR(struct work_row, process, "globalPid", 0),                                           \
        DB_COLUMN(struct work_row, context, "contextId"),                                          \
        DB_COLUMN(struct work_row, graph, "graphId"),                                              \
        DB_OR(struct work_row, node, "graphNodeId", 0)

/* False for rows of other devices and rows without times. */
static bool take_work(struct nsys *s, const struct db_rows *rows, const struct work_row *row,
                      struct work *out)
{
    if (row->device != DB_NONE && row->device != s->device)
        return false;
    *out = (struct work){.link.correlation = row->correlation,
                         .extra = {.bytes = NSYS_NONE, .graph = NSYS_NONE, .node = row->node}};
    if (!nsys_times(s, rows, row->start, row->end, &out->slice))
        return false;
    if (row->graph > 0 && row->graph <= INT32_MAX)
        out->extra.graph = (int32_t)row->graph;
    uint64_t process = (uint64_t)row->process & ~nsys_thread_bits;
    if (!s->has_main) {
        s->has_main = true;
        s->main_process = process;
    }
    out->link.process = nsys_number(&s->processes, (int64_t)process);
    int64_t stream = row->stream;
    struct nsys_stream *met = &s->streams[(size_t)stream % NSYS_STREAMS];
    if (!met->is_known || met->process != process || met->stream != stream)
        *met = (struct nsys_stream){process, stream, find_stream(s, process, stream), true};
    out->slice.lane = met->lane;
    return true;
}

/* Its own attributes come when all work is there: one is the gap to the work before. */
static void put_work(struct nsys *s, struct work *w)
{
    w->link.slice = w->extra.slice = capture_slice(s->cap, &w->slice);
    vec_push(&s->works, w->link);
    if (w->extra.bytes != NSYS_NONE || w->extra.graph != NSYS_NONE || w->extra.node != 0)
        vec_push(&s->extras, w->extra);
}

static const struct db_column kernel_columns[] = {
    WORK_COLUMNS,
    DB_COLUMN(struct work_row, demangled, "demangledName"),
    DB_COLUMN(struct work_row, plain, "shortName"),
    DB_COLUMN(struct work_row, mangled, "mangledName"),
    DB_COLUMN(struct work_row, grid[0], "gridX"),
    DB_OR(struct work_row, grid[1], "gridY", 1),
    DB_OR(struct work_row, grid[2], "gridZ", 1),
    DB_COLUMN(struct work_row, block[0], "blockX"),
    DB_OR(struct work_row, block[1], "blockY", 1),
    DB_OR(struct work_row, block[2], "blockZ", 1),
    DB_COLUMN(struct work_row, registers, "registersPerThread"),
    DB_COLUMN(struct work_row, fixed, "staticSharedMemory"),
    DB_COLUMN(struct work_row, dynamic, "dynamicSharedMemory"),
    DB_COLUMN(struct work_row, local, "localMemoryPerThread"),
    DB_COLUMN(struct work_row, cluster[0], "clusterX"),
    DB_OR(struct work_row, cluster[1], "clusterY", 1),
    DB_OR(struct work_row, cluster[2], "clusterZ", 1),
};

/* "16,8,1"; 0 when the first is missing. */
static strid device_shape_of(struct nsys *s, const int64_t n[3])
{
    struct nsys_shape *c =
        &s->shapes[((uint64_t)n[0] * 31 ^ (uint64_t)n[1] * 7 ^ (uint64_t)n[2]) % NSYS_SHAPES];

    if (n[0] == DB_NONE)
        return 0;
    if (c->text == 0 || c->x != n[0] || c->y != n[1] || c->z != n[2])
        *c = (struct nsys_shape){n[0], n[1], n[2],
                                 capture_intern_format(s->cap, "%lld,%lld,%lld", (long long)n[0],
                                                       (long long)n[1], (long long)n[2])};
    return c->text;
}

static attr_run kernel_set(struct nsys *s, const struct work_row *row)
{
    const struct {
        enum nsys_text name;
        strid text;
    } texts[] = {{NAME_SHORT, nsys_name(s, row->plain)},
                 {NAME_GRID, device_shape_of(s, row->grid)},
                 {NAME_BLOCK, device_shape_of(s, row->block)}};
    bool has_fixed = row->fixed != DB_NONE, has_dynamic = row->dynamic != DB_NONE;
    const struct {
        enum nsys_text name;
        int64_t number;
    } numbers[] = {
        {NAME_REGISTERS, row->registers},
        {NAME_SHARED, has_fixed || has_dynamic
                          ? nanos_add(has_fixed ? row->fixed : 0, has_dynamic ? row->dynamic : 0)
                          : DB_NONE},
        {NAME_STATIC, row->fixed},
        {NAME_LOCAL, row->local},
        {NAME_CONTEXT, row->context}};
    struct capture *cap = s->cap;
    struct attr list[2 + ARRAY_LEN(texts) + ARRAY_LEN(numbers)];
    size_t n = 0;

    list[n++] = attr_text(capture_key(cap, KEY_CORE), s->name[NAME_GPU]);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].text != 0)
            list[n++] = attr_text(s->name[texts[i].name], texts[i].text);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i].number != DB_NONE)
            list[n++] = attr_int(s->name[numbers[i].name], numbers[i].number);
    if (row->cluster[0] > 0)
        list[n++] = attr_text(s->name[NAME_CLUSTER], device_shape_of(s, row->cluster));
    return attrs_set(&cap->attrs, list, n);
}

static enum slice_kind kernel_kind(struct nsys *s, strid name)
{
    while (s->kernel_kind.n <= name)
        vec_push(&s->kernel_kind, 0);
    uint8_t *kind = &s->kernel_kind.at[name];
    if (*kind == 0)
        *kind =
            (uint8_t)(classify_kernel(VENDOR_NVIDIA, S(""), capture_text(s->cap, name), S("")) + 1);
    return (enum slice_kind)(*kind - 1);
}

static void read_kernels(struct nsys *s)
{
    struct db_rows rows;
    struct work_row row;
    struct work w;

    DB_SCAN(&rows, &s->db, "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns);
    while (db_read_row(&rows, &row)) {
        if (!take_work(s, &rows, &row, &w))
            continue;
        w.slice.name = nsys_name(s, row.demangled);
        if (w.slice.name == 0)
            w.slice.name = nsys_name(s, row.plain);
        if (w.slice.name == 0)
            w.slice.name = nsys_name(s, row.mangled);
        if (w.slice.name == 0) {
            import_report(s->i, SEV_WARN, "nsys.no-name", "row %llu of %s has no name",
                          (unsigned long long)rows.n, rows.table);
            w.slice.name = capture_intern(s->cap, S("unnamed kernel"));
        }
        w.slice.kind = kernel_kind(s, w.slice.name);
        w.slice.set = kernel_set(s, &row);
        put_work(s, &w);
    }
}

static const struct db_column copy_columns[] = {
    WORK_COLUMNS,
    DB_OR(struct work_row, bytes, "bytes", NSYS_NONE),
    DB_COLUMN(struct work_row, kind, "copyKind"),
    DB_COLUMN(struct work_row, from, "srcKind|memKind"),
    DB_COLUMN(struct work_row, to, "dstKind"),
};

/* The export counts memories from 0, and has no number for one that is not known. */
static const char *memory_kind(int64_t kind)
{
    return gpu_names_memory(kind >= 0 && kind < INT64_MAX ? kind + 1 : 0);
}

/* Copies and fills carry the names that PyTorch gives them. */
static strid copy_name(struct nsys *s, const struct work_row *row, bool is_fill)
{
    if (is_fill)
        return capture_intern_format(s->cap, "Memset (%s)", memory_kind(row->from));
    const char *none = gpu_names_memory(0), *from = memory_kind(row->from);
    if (from == none && memory_kind(row->to) == none)
        return capture_intern_format(s->cap, "Memcpy %s", gpu_names_copy(row->kind));
    return capture_intern_format(s->cap, "Memcpy %s (%s -> %s)", gpu_names_copy(row->kind), from,
                                 memory_kind(row->to));
}

static void read_copies(struct nsys *s, const char *table, bool is_fill)
{
    struct attr core = attr_text(capture_key(s->cap, KEY_CORE), s->name[NAME_GPU]);
    struct db_rows rows;
    struct work_row row;
    struct work w;

    DB_SCAN(&rows, &s->db, table, copy_columns);
    while (db_read_row(&rows, &row)) {
        if (!take_work(s, &rows, &row, &w))
            continue;
        w.extra.bytes = row.bytes;
        w.slice.kind = SLICE_COPY;
        w.slice.name = copy_name(s, &row, is_fill);
        w.slice.set = attrs_set(&s->cap->attrs, &core, 1);
        put_work(s, &w);
    }
}

/* A launch of a whole graph, recorded as one row: work like a kernel, but a coarse one. */
static void read_graphs(struct nsys *s)
{
    static const struct db_column columns[] = {WORK_COLUMNS};
    struct capture *cap = s->cap;
    struct db_rows rows;
    struct work_row row;
    struct work w;
    size_t before = s->works.n;

    DB_SCAN(&rows, &s->db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns);
    while (db_read_row(&rows, &row)) {
        if (!take_work(s, &rows, &row, &w))
            continue;
        struct attr list[2] = {
            attr_text(capture_key(cap, KEY_CORE), s->name[NAME_GPU]),
            attr_int(capture_intern(cap, S("graph_level")), 1),
        };
        long long graph = row.graph != DB_NONE ? row.graph : NSYS_NONE;
        w.slice.kind = SLICE_COMPUTE;
        w.slice.name = capture_intern_format(cap, "CUDA graph %lld", graph);
        w.slice.set = attrs_set(&cap->attrs, list, ARRAY_LEN(list));
        put_work(s, &w);
    }
    if (s->works.n > before)
        import_report(s->i, SEV_WARN, "nsys.graph-level",
                      "%zu launches of whole graphs; their kernels are not listed",
                      s->works.n - before);
}

static int by_begin(const void *a, const void *b, void *ctx)
{
    const uint32_t *x = a, *y = b;
    const nanos *begin = ctx;

    return ORDER(begin[*x], begin[*y]) ?: ORDER(*x, *y);
}

/* The work by its begin, as numbers in the list; NULL: it is in order already. */
static uint32_t *order_works(const struct nsys *s, const nanos *begin)
{
    bool is_sorted = true;

    for (size_t i = 1; i < s->works.n && is_sorted; i++)
        is_sorted = begin[i - 1] <= begin[i];
    if (is_sorted)
        return NULL;
    uint32_t *order = mem_grow(NULL, sizeof(*order), s->works.n);
    for (size_t i = 0; i < s->works.n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, s->works.n, sizeof(*order), by_begin, (void *)(uintptr_t)begin);
    return order;
}

static size_t work_attrs(const struct nsys *s, const struct nsys_link *w, nanos wait,
                         struct attr *list)
{
    size_t at, n = 0;

    vec_bisect(at, s->extras.n, i, s->extras.at[i].slice < w->slice);
    const struct nsys_extra *extra =
        at < s->extras.n && s->extras.at[at].slice == w->slice ? &s->extras.at[at] : NULL;
    list[n++] = attr_time(capture_key(s->cap, KEY_WAIT), wait);
    if (w->correlation != NSYS_NONE)
        list[n++] = attr_int(capture_key(s->cap, KEY_LINK), w->correlation);
    if (extra != NULL && extra->bytes != NSYS_NONE)
        list[n++] = attr_int(s->name[NAME_BYTES], extra->bytes);
    if (extra != NULL && extra->graph != NSYS_NONE)
        list[n++] = attr_int(s->name[NAME_GRAPH], extra->graph);
    if (extra != NULL && extra->node != 0)
        list[n++] = attr_int(s->name[NAME_NODE], extra->node);
    return n;
}

/* Gives all work its own attributes. Its slices stand one after the other. */
static void finish_works(struct nsys *s)
{
    struct slices *slices = &s->cap->slices;
    size_t first = slices->n - s->works.n;

    if (s->works.n == 0)
        return;
    uint32_t *order = order_works(s, slices->begin + first);
    nanos end = 0;

    for (size_t i = 0; i < s->works.n; i++) {
        const struct nsys_link *w = &s->works.at[order != NULL ? order[i] : i];
        struct attr list[5];
        nanos begin = slices->begin[w->slice];
        nanos wait = i > 0 && begin > end ? nanos_sub(begin, end) : 0;
        slices->own[w->slice] = attrs_own(&s->cap->attrs, list, work_attrs(s, w, wait, list));
        end = slices_end(slices, w->slice);
    }
    mem_free(order);
    vec_free(&s->extras);
}

struct sync {
    int64_t start, end, device, type, process, context, stream, event, correlation;
};

static const struct db_column sync_columns[] = {
    DB_COLUMN(struct sync, start, "start"),
    DB_COLUMN(struct sync, end, "end"),
    DB_COLUMN(struct sync, device, "deviceId"),
    DB_OR(struct sync, type, "syncType", 0),
    DB_COLUMN(struct sync, process, "globalPid"),
    DB_COLUMN(struct sync, context, "contextId"),
    DB_COLUMN(struct sync, stream, "streamId"),
    DB_COLUMN(struct sync, event, "eventId"),
    DB_COLUMN(struct sync, correlation, "correlationId"),
};

/* What a synchronisation was about. */
static attr_run sync_own(struct nsys *s, const struct sync *y)
{
    const struct {
        struct str key;
        int64_t number;
    } about[] = {{S("context"), y->context}, {S("stream"), y->stream}, {S("event"), y->event}};
    struct capture *cap = s->cap;
    struct attr list[5];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(about); i++)
        if (about[i].number >= 0 && about[i].number < UINT32_MAX)
            list[n++] = attr_int(capture_intern(cap, about[i].key), about[i].number);
    if (y->correlation != DB_NONE)
        list[n++] = attr_int(capture_key(cap, KEY_LINK), y->correlation);
    if (y->process != DB_NONE)
        list[n++] = attr_int(capture_intern(cap, S("pid")), nsys_pid((uint64_t)y->process));
    return attrs_own(&cap->attrs, list, n);
}

static void read_syncs(struct nsys *s)
{
    struct db_rows rows;
    struct sync y;

    DB_SCAN(&rows, &s->db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns);
    while (db_read_row(&rows, &y)) {
        struct slice slice = {.kind = SLICE_WAIT};
        if ((y.device != DB_NONE && y.device != s->device) ||
            !nsys_times(s, &rows, y.start, y.end, &slice))
            continue;
        slice.lane = import_lane(s->cap, LANE_OTHER, s->device, S("Sync"));
        slice.name = capture_intern(s->cap, str_of(gpu_names_sync(y.type)));
        slice.own = sync_own(s, &y);
        capture_slice(s->cap, &slice);
    }
}

/* Time that the profiler itself took. */
static void read_overheads(struct nsys *s)
{
    struct overhead {
        int64_t start, end, name;
    } o;
    static const struct db_column columns[] = {
        DB_COLUMN(struct overhead, start, "start"),
        DB_COLUMN(struct overhead, end, "end"),
        DB_COLUMN(struct overhead, name, "nameId"),
    };
    struct capture *cap = s->cap;
    struct attr cat = attr_text(capture_key(cap, KEY_CAT), capture_intern(cap, S("overhead")));
    struct db_rows rows;

    DB_SCAN(&rows, &s->db, "PROFILER_OVERHEAD", columns);
    while (db_read_row(&rows, &o)) {
        struct slice slice = {.kind = SLICE_OTHER};
        if (!nsys_times(s, &rows, o.start, o.end, &slice))
            continue;
        slice.lane = import_lane(cap, LANE_OTHER, -1, S("Overhead"));
        slice.name = nsys_name(s, o.name);
        slice.set = attrs_set(&cap->attrs, &cat, 1);
        capture_slice(cap, &slice);
    }
}

void nsys_read_device(struct nsys *s)
{
    read_kernels(s);
    read_copies(s, "CUPTI_ACTIVITY_KIND_MEMCPY", false);
    read_copies(s, "CUPTI_ACTIVITY_KIND_MEMSET", true);
    read_graphs(s);
    finish_works(s);
    read_syncs(s);
    read_overheads(s);
}
