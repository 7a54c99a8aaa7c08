/* nsys: what ran on the device. */
#include <stdio.h>
#include <stdlib.h>

#include "input/classify.h"
#include "input/nsys_in.h"

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
    char text[40];

    if (hash_get(&s->lane_of, hash, &lane))
        return lane;
    snprintf(text, sizeof(text), "%lld", (long long)stream);
    key.name = capture_intern(cap, stream == NSYS_NONE ? S("N/A") : str_of(text));
    if (process != s->main_process) {
        snprintf(text, sizeof(text), "process %lld", (long long)nsys_pid(process));
        key.process = capture_intern(cap, str_of(text));
    }
    lane = capture_lane(cap, key);
    hash_put(&s->lane_of, hash, lane);
    return lane;
}

static lane_id stream_lane(struct nsys *s, uint64_t process, int64_t stream)
{
    struct nsys_stream *met = &s->streams[(size_t)stream % NSYS_STREAMS];

    if (!met->is_known || met->process != process || met->stream != stream)
        *met = (struct nsys_stream){process, stream, find_stream(s, process, stream), true};
    return met->lane;
}

/* The columns that all tables of device work share come first. */
enum work_column {
    W_START,
    W_END,
    W_DEVICE,
    W_STREAM,
    W_CORRELATION,
    W_PROCESS,
    W_CONTEXT,
    W_GRAPH,
    W_NODE,
    W_FIRST
};

#define WORK_COLUMNS                                                                               \
    "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "contextId", "graphId",  \
        "graphNodeId"

/* False for rows of other devices and rows without times. */
static bool take_work(struct nsys *s, const struct db_rows *rows, struct work *out)
{
    int64_t device, stream = NSYS_NONE, global = 0, graph;

    if (db_i64(rows, W_DEVICE, &device) && device != s->device)
        return false;
    *out = (struct work){.link.correlation = NSYS_NONE,
                         .extra = {.bytes = NSYS_NONE, .graph = NSYS_NONE}};
    if (!nsys_times(s, rows, W_START, W_END, &out->slice.begin, &out->slice.dur))
        return false;
    db_i64(rows, W_STREAM, &stream);
    db_i64(rows, W_PROCESS, &global);
    db_i64(rows, W_CORRELATION, &out->link.correlation);
    db_i64(rows, W_NODE, &out->extra.node);
    if (db_i64(rows, W_GRAPH, &graph) && graph > 0 && graph <= INT32_MAX)
        out->extra.graph = (int32_t)graph;
    uint64_t process = (uint64_t)global & ~nsys_thread_bits;
    if (!s->has_main) {
        s->has_main = true;
        s->main_process = process;
    }
    out->link.process = nsys_number(&s->processes, (int64_t)process);
    out->slice.lane = stream_lane(s, process, stream);
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

enum kernel_column {
    K_DEMANGLED = W_FIRST,
    K_SHORT,
    K_MANGLED,
    K_GRID_X,
    K_GRID_Y,
    K_GRID_Z,
    K_BLOCK_X,
    K_BLOCK_Y,
    K_BLOCK_Z,
    K_REGISTERS,
    K_STATIC,
    K_DYNAMIC,
    K_LOCAL,
    K_CLUSTER_X,
    K_CLUSTER_Y,
    K_CLUSTER_Z,
    K_COUNT
};

static const char *const kernel_columns[K_COUNT] = {
    WORK_COLUMNS,
    "demangledName",
    "shortName",
    "mangledName",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "localMemoryPerThread",
    "clusterX",
    "clusterY",
    "clusterZ",
};

/* "16,8,1" of three columns; 0 when the first is missing. */
static strid shape_at(struct nsys *s, const struct db_rows *rows, size_t column)
{
    int64_t x, y = 1, z = 1;
    char text[72];

    if (!db_i64(rows, column, &x))
        return 0;
    db_i64(rows, column + 1, &y);
    db_i64(rows, column + 2, &z);
    struct nsys_shape *c =
        &s->shapes[((uint64_t)x * 31 ^ (uint64_t)y * 7 ^ (uint64_t)z) % NSYS_SHAPES];
    if (c->text == 0 || c->x != x || c->y != y || c->z != z) {
        snprintf(text, sizeof(text), "%lld,%lld,%lld", (long long)x, (long long)y, (long long)z);
        *c = (struct nsys_shape){x, y, z, capture_intern(s->cap, str_of(text))};
    }
    return c->text;
}

static attr_run kernel_set(struct nsys *s, const struct db_rows *rows)
{
    struct capture *cap = s->cap;
    struct attr list[10];
    int64_t number, fixed = 0, dynamic = 0;
    size_t n = 0;
    strid text;

    list[n++] = attr_text(capture_key(cap, KEY_CORE), s->name[NAME_GPU]);
    if ((text = nsys_name(s, rows, K_SHORT)) != 0)
        list[n++] = attr_text(s->name[NAME_SHORT], text);
    if ((text = shape_at(s, rows, K_GRID_X)) != 0)
        list[n++] = attr_text(s->name[NAME_GRID], text);
    if ((text = shape_at(s, rows, K_BLOCK_X)) != 0)
        list[n++] = attr_text(s->name[NAME_BLOCK], text);
    if (db_i64(rows, K_REGISTERS, &number))
        list[n++] = attr_int(s->name[NAME_REGISTERS], number);
    bool has_fixed = db_i64(rows, K_STATIC, &fixed);
    if (db_i64(rows, K_DYNAMIC, &dynamic) || has_fixed)
        list[n++] = attr_int(s->name[NAME_SHARED], nanos_add(fixed, dynamic));
    if (has_fixed)
        list[n++] = attr_int(s->name[NAME_STATIC], fixed);
    if (db_i64(rows, K_LOCAL, &number))
        list[n++] = attr_int(s->name[NAME_LOCAL], number);
    if (db_i64(rows, W_CONTEXT, &number))
        list[n++] = attr_int(s->name[NAME_CONTEXT], number);
    if (db_i64(rows, K_CLUSTER_X, &number) && number > 0)
        list[n++] = attr_text(s->name[NAME_CLUSTER], shape_at(s, rows, K_CLUSTER_X));
    return attrs_set(&cap->attrs, list, n);
}

static strid kernel_name(struct nsys *s, const struct db_rows *rows)
{
    strid name = nsys_name(s, rows, K_DEMANGLED);

    if (name == 0)
        name = nsys_name(s, rows, K_SHORT);
    if (name == 0)
        name = nsys_name(s, rows, K_MANGLED);
    if (name != 0)
        return name;
    import_tell(s->i, SEV_WARN, "nsys.no-name", "row %llu of %s has no name",
                (unsigned long long)rows->n, rows->table);
    return capture_intern(s->cap, S("unnamed kernel"));
}

static enum slice_kind kernel_kind(struct nsys *s, strid name)
{
    while (s->kernel_kind.n <= name)
        vec_push(&s->kernel_kind, 0);
    uint8_t *kind = &s->kernel_kind.at[name];
    if (*kind == 0)
        *kind = (uint8_t)(classify_gpu(capture_text(s->cap, name)) + 1);
    return (enum slice_kind)(*kind - 1);
}

static void read_kernels(struct nsys *s)
{
    struct db_rows rows;
    struct work w;

    db_rows_open(&rows, &s->db, "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, K_COUNT);
    while (db_rows_next(&rows)) {
        if (!take_work(s, &rows, &w))
            continue;
        w.slice.name = kernel_name(s, &rows);
        w.slice.kind = kernel_kind(s, w.slice.name);
        w.slice.set = kernel_set(s, &rows);
        put_work(s, &w);
    }
}

enum copy_column { C_BYTES = W_FIRST, C_KIND, C_FROM, C_TO, C_COUNT };

static const char *const copy_columns[C_COUNT] = {WORK_COLUMNS, "bytes", "copyKind", "srcKind",
                                                  "dstKind"};
static const char *const fill_columns[C_COUNT] = {WORK_COLUMNS, "bytes", "", "memKind", ""};

static const char *memory_kind(int64_t kind)
{
    static const char *const names[] = {"Pageable", "Pinned",        "Device",        "Array",
                                        "Managed",  "Device Static", "Managed Static"};

    return kind >= 0 && kind < (int64_t)ARRAY_LEN(names) ? names[kind] : "Unknown";
}

static const char *copy_kind(int64_t kind)
{
    static const char *const names[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};

    return kind >= 0 && kind < (int64_t)ARRAY_LEN(names) ? names[kind] : names[0];
}

/* Copies and fills carry the names that PyTorch gives them. */
static strid copy_name(struct nsys *s, const struct db_rows *rows, bool is_fill)
{
    int64_t kind = NSYS_NONE, from = NSYS_NONE, to = NSYS_NONE;
    char text[96];

    db_i64(rows, C_KIND, &kind);
    bool has_memory = db_i64(rows, C_FROM, &from);
    has_memory = db_i64(rows, C_TO, &to) || has_memory;
    if (is_fill)
        snprintf(text, sizeof(text), "Memset (%s)", memory_kind(from));
    else if (has_memory)
        snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)", copy_kind(kind), memory_kind(from),
                 memory_kind(to));
    else
        snprintf(text, sizeof(text), "Memcpy %s", copy_kind(kind));
    return capture_intern(s->cap, str_of(text));
}

static void read_copies(struct nsys *s, const char *table, bool is_fill)
{
    struct attr core = attr_text(capture_key(s->cap, KEY_CORE), s->name[NAME_GPU]);
    struct db_rows rows;
    struct work w;

    db_rows_open(&rows, &s->db, table, is_fill ? fill_columns : copy_columns, C_COUNT);
    while (db_rows_next(&rows)) {
        if (!take_work(s, &rows, &w))
            continue;
        db_i64(&rows, C_BYTES, &w.extra.bytes);
        w.slice.kind = SLICE_COPY;
        w.slice.name = copy_name(s, &rows, is_fill);
        w.slice.set = attrs_set(&s->cap->attrs, &core, 1);
        put_work(s, &w);
    }
}

/* A launch of a whole graph, recorded as one row: work like a kernel, but a coarse one. */
static void read_graphs(struct nsys *s)
{
    static const char *const columns[] = {WORK_COLUMNS};
    struct capture *cap = s->cap;
    struct db_rows rows;
    struct work w;
    size_t before = s->works.n;

    db_rows_open(&rows, &s->db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct attr list[2] = {
            attr_text(capture_key(cap, KEY_CORE), s->name[NAME_GPU]),
            attr_int(capture_intern(cap, S("graph_level")), 1),
        };
        int64_t graph = NSYS_NONE;
        char text[48];
        if (!take_work(s, &rows, &w))
            continue;
        db_i64(&rows, W_GRAPH, &graph);
        snprintf(text, sizeof(text), "CUDA graph %lld", (long long)graph);
        w.slice.kind = SLICE_COMPUTE;
        w.slice.name = capture_intern(cap, str_of(text));
        w.slice.set = attrs_set(&cap->attrs, list, ARRAY_LEN(list));
        put_work(s, &w);
    }
    if (s->works.n > before)
        import_tell(s->i, SEV_WARN, "nsys.graph-level",
                    "%zu launches of whole graphs; the kernels inside are not listed",
                    s->works.n - before);
}

static int by_begin(const void *a, const void *b, void *ctx)
{
    const uint32_t *x = a, *y = b;
    const nanos *begin = ctx;

    if (begin[*x] != begin[*y])
        return begin[*x] < begin[*y] ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
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

static const struct nsys_extra *find_extra(const struct nsys *s, uint32_t slice)
{
    size_t low = 0, high = s->extras.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->extras.at[middle].slice < slice)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->extras.n && s->extras.at[low].slice == slice ? &s->extras.at[low] : NULL;
}

static size_t work_attrs(const struct nsys *s, const struct nsys_link *w, nanos wait,
                         struct attr *list)
{
    const struct nsys_extra *extra = find_extra(s, w->slice);
    size_t n = 0;

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

enum sync_column { Y_START, Y_END, Y_DEVICE, Y_TYPE, Y_PROCESS, Y_FIRST };

/* What a synchronisation was about. */
static attr_run sync_own(struct nsys *s, const struct db_rows *rows)
{
    static const struct str keys[] = {S_INIT("context"), S_INIT("stream"), S_INIT("event")};
    struct capture *cap = s->cap;
    struct attr list[5];
    int64_t number;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (db_i64(rows, Y_FIRST + i, &number) && number >= 0 && number < UINT32_MAX)
            list[n++] = attr_int(capture_intern(cap, keys[i]), number);
    if (db_i64(rows, Y_FIRST + ARRAY_LEN(keys), &number))
        list[n++] = attr_int(capture_key(cap, KEY_LINK), number);
    if (db_i64(rows, Y_PROCESS, &number))
        list[n++] = attr_int(capture_intern(cap, S("pid")), nsys_pid((uint64_t)number));
    return attrs_own(&cap->attrs, list, n);
}

static void read_syncs(struct nsys *s)
{
    static const char *const columns[] = {"start",    "end",       "deviceId",
                                          "syncType", "globalPid", "contextId",
                                          "streamId", "eventId",   "correlationId"};
    static const char *const types[] = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    struct capture *cap = s->cap;
    struct db_rows rows;

    db_rows_open(&rows, &s->db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct slice slice = {.kind = SLICE_WAIT};
        int64_t device, type = 0;
        if ((db_i64(&rows, Y_DEVICE, &device) && device != s->device) ||
            !nsys_times(s, &rows, Y_START, Y_END, &slice.begin, &slice.dur))
            continue;
        db_i64(&rows, Y_TYPE, &type);
        slice.lane = capture_lane(cap, (struct lane_key){.kind = LANE_OTHER,
                                                         .device = (int32_t)s->device,
                                                         .name = capture_intern(cap, S("Sync"))});
        slice.name = capture_intern(
            cap, str_of(types[type > 0 && type < (int64_t)ARRAY_LEN(types) ? type : 0]));
        slice.own = sync_own(s, &rows);
        capture_slice(cap, &slice);
    }
}

/* Time that the profiler itself took. */
static void read_overheads(struct nsys *s)
{
    static const char *const columns[] = {"start", "end", "nameId"};
    struct capture *cap = s->cap;
    struct attr cat = attr_text(capture_key(cap, KEY_CAT), capture_intern(cap, S("overhead")));
    struct db_rows rows;

    db_rows_open(&rows, &s->db, "PROFILER_OVERHEAD", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct slice slice = {.kind = SLICE_OTHER};
        if (!nsys_times(s, &rows, 0, 1, &slice.begin, &slice.dur))
            continue;
        slice.lane = capture_lane(
            cap, (struct lane_key){
                     .kind = LANE_OTHER, .device = -1, .name = capture_intern(cap, S("Overhead"))});
        slice.name = nsys_name(s, &rows, 2);
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
