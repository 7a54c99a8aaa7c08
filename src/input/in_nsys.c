/*
 * nsys: the SQLite export of Nsight Systems.
 *
 * Tables are there when they have rows, and columns come and go with versions: only start and end
 * are asked for. Kernels, copies, fills and whole graphs are device work; runtime and driver calls
 * and NVTX ranges stand on host threads. Arrows join (process, correlation), since correlations
 * of two processes may be equal. Format reference: docs/formats/nsys.md
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/pool.h"
#include "input/classify.h"
#include "input/db_devices.h"
#include "input/db_probe.h"
#include "input/db_strings.h"
#include "input/nsys_facts.h"
#include "input/step_name.h"

enum { NOTHING = -1 };

/* Longer events are overflowed counters: 7 days. */
static const nanos longest_event = 7 * 86400 * (nanos)1000000000;

enum { RECENT_IDS = 16 };

/* Large ids, each met many times, as small numbers in the order they came. */
struct numbers {
    VEC_OF(int64_t) ids;
    struct hash numbers;         /* id -> number */
    uint32_t recent[RECENT_IDS]; /* by id: the number it may have */
};

/* A call or a piece of work, by what joins the two. */
struct link {
    int64_t correlation; /* NOTHING: none */
    uint32_t process;    /* its number among the processes */
    uint32_t slice;
};

/* A row of calls. */
struct call {
    nanos begin, dur;
    int64_t correlation;   /* NOTHING: none */
    uint32_t thread, name; /* their numbers in the lists of the calls */
};

/* A call that returned an error. */
struct failure {
    size_t row;
    int64_t result;
};

/* All rows of calls. */
struct calls {
    VEC_OF(struct call) rows;
    struct numbers threads, names; /* globalTid, nameId or NOTHING */
    VEC_OF(struct failure) failures;
};

struct links {
    struct link *at;
    size_t n, cap;
};

/* What only some work has. */
struct extra {
    uint32_t slice;
    int32_t graph;       /* NOTHING: none */
    int64_t bytes, node; /* NOTHING, 0: none */
};

/* A piece of work as its row has it. */
struct work {
    struct slice slice;
    struct link link;
    struct extra extra;
};

/* Texts that come with every row, put into the capture once. */
enum name {
    NAME_SHORT,
    NAME_GRID,
    NAME_BLOCK,
    NAME_REGISTERS,
    NAME_SHARED,
    NAME_STATIC,
    NAME_LOCAL,
    NAME_CONTEXT,
    NAME_CLUSTER,
    NAME_GRAPH,
    NAME_NODE,
    NAME_BYTES,
    NAME_RESULT,
    NAME_GPU,
    NAMES
};

static const struct str name_texts[NAMES] = {
    S_INIT("short_name"),
    S_INIT("grid"),
    S_INIT("block"),
    S_INIT("registers per thread"),
    S_INIT("shared memory"),
    S_INIT("static shared memory"),
    S_INIT("local memory per thread"),
    S_INIT("context"),
    S_INIT("cluster"),
    S_INIT("graph id"),
    S_INIT("graph node id"),
    S_INIT("bytes"),
    S_INIT("result"),
    S_INIT("GPU"),
};

enum { SHAPES = 256, STREAMS = 16 };

struct nsys {
    const struct input_file *in;
    struct capture *cap;
    struct db db;
    struct db_strings strings;
    int64_t device;
    uint64_t main_process; /* of the first work; streams of others carry their process */
    bool has_main;
    uint64_t rows, lost;
    struct links works, launches; /* of the device, of the host */
    VEC_OF(struct extra) extras;  /* by slice */
    struct calls calls;
    struct numbers processes;    /* globalPid: a globalTid without its thread */
    struct hash lane_of;         /* stream and process, or thread -> lane */
    VEC_OF(uint8_t) kernel_kind; /* by name: its kind + 1; 0: not known yet */
    struct stream {
        uint64_t process;
        int64_t stream;
        lane_id lane;
        bool is_known;
    } streams[STREAMS]; /* that were met lately */
    struct shape {
        int64_t x, y, z;
        strid text;
    } shapes[SHAPES]; /* the texts of recent grids and blocks */
    strid name[NAMES];
};

static const uint64_t thread_bits = 0xffffff;

static int64_t pid_of(uint64_t global)
{
    return (int64_t)(global >> 24 & 0xffffff);
}

static int64_t tid_of(uint64_t global)
{
    return (int64_t)(global & thread_bits);
}

static bool claims(struct str name)
{
    return str_ends(name, S(".sqlite")) || str_ends(name, S(".nsys-rep.db"));
}

static int probe(const struct probe *p)
{
    static const struct str strings = S_INIT("StringIds");
    static const struct str any[] = {
        S_INIT("CUPTI_ACTIVITY_KIND_KERNEL"),
        S_INIT("CUPTI_ACTIVITY_KIND_RUNTIME"),
        S_INIT("CUPTI_ACTIVITY_KIND_MEMCPY"),
        S_INIT("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
        S_INIT("NVTX_EVENTS"),
        S_INIT("META_DATA_EXPORT"),
        S_INIT("TARGET_INFO_SESSION_START_TIME"),
    };

    if (!db_probe(p, &strings, 1))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(any); i++)
        if (db_probe(p, &any[i], 1))
            return 90;
    return 0;
}

/* ---- numbers of large ids ---- */

/* The number of `id`: how many others were met before it. */
static uint32_t number_of(struct numbers *list, int64_t id)
{
    size_t slot = (size_t)id % RECENT_IDS;
    uint32_t fresh = (uint32_t)list->ids.n;

    if (list->recent[slot] < fresh && list->ids.at[list->recent[slot]] == id)
        return list->recent[slot];
    uint32_t number = hash_add(&list->numbers, (uint64_t)id, fresh);
    if (number == fresh)
        vec_push(&list->ids, id);
    list->recent[slot] = number;
    return number;
}

static void numbers_free(struct numbers *list)
{
    vec_free(&list->ids);
    hash_free(&list->numbers);
}

/* ---- rows ---- */

/* Begin and end of a row; false, and counted, when they are of no use. */
static bool take_times(struct nsys *s, const struct db_rows *rows, size_t begin, size_t end,
                       nanos *out, nanos *dur)
{
    struct where where = {.path = s->in->path};
    nanos until;

    s->rows++;
    if (!db_i64(rows, begin, out) || !db_i64(rows, end, &until)) {
        s->lost++;
        diag_add(s->in->diag, SEV_LOSS, "nsys.no-time", where,
                 "row %llu of %s skipped: no start or no end", (unsigned long long)rows->n,
                 rows->table);
        return false;
    }
    *dur = nanos_sub(until, *out);
    if (*dur < 0 || *dur > longest_event) {
        s->lost++;
        diag_add(s->in->diag, SEV_LOSS, "nsys.bad-duration", where,
                 "row %llu of %s skipped: its duration is negative or over 7 days",
                 (unsigned long long)rows->n, rows->table);
        return false;
    }
    return true;
}

static strid name_at(struct nsys *s, const struct db_rows *rows, size_t column)
{
    int64_t id;

    return db_i64(rows, column, &id) ? db_strings_intern(&s->strings, s->cap, id) : 0;
}

/* ---- device ---- */

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
    key.name = capture_intern(cap, stream == NOTHING ? S("N/A") : str_of(text));
    if (process != s->main_process) {
        snprintf(text, sizeof(text), "process %lld", (long long)pid_of(process));
        key.process = capture_intern(cap, str_of(text));
    }
    lane = capture_lane(cap, key);
    hash_put(&s->lane_of, hash, lane);
    return lane;
}

static lane_id stream_lane(struct nsys *s, uint64_t process, int64_t stream)
{
    struct stream *met = &s->streams[(size_t)stream % STREAMS];

    if (!met->is_known || met->process != process || met->stream != stream)
        *met = (struct stream){process, stream, find_stream(s, process, stream), true};
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
    int64_t device, stream = NOTHING, global = 0, graph;

    if (db_i64(rows, W_DEVICE, &device) && device != s->device)
        return false;
    *out =
        (struct work){.link.correlation = NOTHING, .extra = {.bytes = NOTHING, .graph = NOTHING}};
    if (!take_times(s, rows, W_START, W_END, &out->slice.begin, &out->slice.dur))
        return false;
    db_i64(rows, W_STREAM, &stream);
    db_i64(rows, W_PROCESS, &global);
    db_i64(rows, W_CORRELATION, &out->link.correlation);
    db_i64(rows, W_NODE, &out->extra.node);
    if (db_i64(rows, W_GRAPH, &graph) && graph > 0 && graph <= INT32_MAX)
        out->extra.graph = (int32_t)graph;
    uint64_t process = (uint64_t)global & ~thread_bits;
    if (!s->has_main) {
        s->has_main = true;
        s->main_process = process;
    }
    out->link.process = number_of(&s->processes, (int64_t)process);
    out->slice.lane = stream_lane(s, process, stream);
    return true;
}

/* Its own attributes come when all work is there: one is the gap to the work before. */
static void put_work(struct nsys *s, struct work *w)
{
    w->link.slice = w->extra.slice = capture_slice(s->cap, &w->slice);
    vec_push(&s->works, w->link);
    if (w->extra.bytes != NOTHING || w->extra.graph != NOTHING || w->extra.node != 0)
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
    struct shape *c = &s->shapes[((uint64_t)x * 31 ^ (uint64_t)y * 7 ^ (uint64_t)z) % SHAPES];
    if (c->text == 0 || c->x != x || c->y != y || c->z != z) {
        snprintf(text, sizeof(text), "%lld,%lld,%lld", (long long)x, (long long)y, (long long)z);
        *c = (struct shape){x, y, z, capture_intern(s->cap, str_of(text))};
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
    if ((text = name_at(s, rows, K_SHORT)) != 0)
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
    strid name = name_at(s, rows, K_DEMANGLED);

    if (name == 0)
        name = name_at(s, rows, K_SHORT);
    if (name == 0)
        name = name_at(s, rows, K_MANGLED);
    if (name != 0)
        return name;
    diag_add(s->in->diag, SEV_WARN, "nsys.no-name", (struct where){.path = s->in->path},
             "row %llu of %s has no name", (unsigned long long)rows->n, rows->table);
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
    int64_t kind = NOTHING, from = NOTHING, to = NOTHING;
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
        int64_t graph = NOTHING;
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
        diag_add(s->in->diag, SEV_WARN, "nsys.graph-level", (struct where){.path = s->in->path},
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

static const struct extra *find_extra(const struct nsys *s, uint32_t slice)
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

static size_t work_attrs(const struct nsys *s, const struct link *w, nanos wait, struct attr *list)
{
    const struct extra *extra = find_extra(s, w->slice);
    size_t n = 0;

    list[n++] = attr_time(capture_key(s->cap, KEY_WAIT), wait);
    if (w->correlation != NOTHING)
        list[n++] = attr_int(capture_key(s->cap, KEY_LINK), w->correlation);
    if (extra != NULL && extra->bytes != NOTHING)
        list[n++] = attr_int(s->name[NAME_BYTES], extra->bytes);
    if (extra != NULL && extra->graph != NOTHING)
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
    uint32_t *order = order_works(s, slices->begin + first);
    nanos end = 0;

    for (size_t i = 0; i < s->works.n; i++) {
        const struct link *w = &s->works.at[order != NULL ? order[i] : i];
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
        list[n++] = attr_int(capture_intern(cap, S("pid")), pid_of((uint64_t)number));
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
            !take_times(s, &rows, Y_START, Y_END, &slice.begin, &slice.dur))
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
        if (!take_times(s, &rows, 0, 1, &slice.begin, &slice.dur))
            continue;
        slice.lane = capture_lane(
            cap, (struct lane_key){
                     .kind = LANE_OTHER, .device = -1, .name = capture_intern(cap, S("Overhead"))});
        slice.name = name_at(s, &rows, 2);
        slice.set = attrs_set(&cap->attrs, &cat, 1);
        capture_slice(cap, &slice);
    }
}

/* ---- host ---- */

static lane_id thread_lane(struct nsys *s, uint64_t global)
{
    struct capture *cap = s->cap;
    struct lane_key key = {
        .kind = LANE_THREAD, .device = -1, .pid = pid_of(global), .tid = tid_of(global)};
    uint64_t hash = hash_mix(global, UINT64_MAX);
    uint32_t lane;
    char text[40];

    if (hash_get(&s->lane_of, hash, &lane))
        return lane;
    snprintf(text, sizeof(text), "process %lld", (long long)key.pid);
    key.process = capture_intern(cap, str_of(text));
    snprintf(text, sizeof(text), "Thread %lld", (long long)key.tid);
    key.name = capture_intern(cap, str_of(text));
    lane = capture_lane(cap, key);
    hash_put(&s->lane_of, hash, lane);
    return lane;
}

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel. */
static struct str without_version(struct str name)
{
    size_t n = name.n;

    while (n > 0 && name.at[n - 1] >= '0' && name.at[n - 1] <= '9')
        n--;
    if (n < name.n && n > 2 && name.at[n - 1] == 'v' && name.at[n - 2] == '_')
        return str_part(name, 0, n - 2);
    return name;
}

/* Only rows, no capture: another thread may be filling it. */
static void read_calls(struct nsys *s)
{
    static const char *const columns[] = {"start",         "end",    "globalTid",
                                          "correlationId", "nameId", "returnValue"};
    struct calls *calls = &s->calls;
    struct db_rows rows;

    db_rows_open(&rows, &s->db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct call call = {.correlation = NOTHING};
        int64_t global = 0, name = NOTHING, result = 0;
        if (!take_times(s, &rows, 0, 1, &call.begin, &call.dur))
            continue;
        db_i64(&rows, 2, &global);
        db_i64(&rows, 3, &call.correlation);
        db_i64(&rows, 4, &name);
        db_i64(&rows, 5, &result);
        if (result != 0)
            vec_push(&calls->failures, ((struct failure){calls->rows.n, result}));
        call.thread = number_of(&calls->threads, global);
        call.name = number_of(&calls->names, name);
        vec_push(&calls->rows, call);
    }
}

/* What the calls of a thread share. */
struct thread {
    lane_id lane;
    uint32_t process;
};

/* The threads and names of the calls, which come in the order of their first call. */
static struct thread *know_threads(struct nsys *s)
{
    const struct numbers *list = &s->calls.threads;
    struct thread *threads = mem_grow(NULL, sizeof(*threads), list->ids.n);

    for (size_t i = 0; i < list->ids.n; i++) {
        uint64_t global = (uint64_t)list->ids.at[i];
        threads[i].lane = thread_lane(s, global);
        threads[i].process = number_of(&s->processes, (int64_t)(global & ~thread_bits));
    }
    return threads;
}

static strid *know_names(struct nsys *s)
{
    const struct numbers *list = &s->calls.names;
    strid *names = mem_grow(NULL, sizeof(*names), list->ids.n);

    for (size_t i = 0; i < list->ids.n; i++)
        names[i] = capture_intern(
            s->cap, list->ids.at[i] == NOTHING
                        ? S("unnamed call")
                        : without_version(db_strings_text(&s->strings, list->ids.at[i])));
    return names;
}

static void put_calls(struct nsys *s)
{
    struct capture *cap = s->cap;
    struct thread *threads = know_threads(s);
    strid *names = know_names(s);
    size_t failed = 0;

    for (size_t i = 0; i < s->calls.rows.n; i++) {
        const struct call *call = &s->calls.rows.at[i];
        struct attr list[2];
        size_t n = 0;
        if (call->correlation != NOTHING)
            list[n++] = attr_int(capture_key(cap, KEY_LINK), call->correlation);
        if (failed < s->calls.failures.n && s->calls.failures.at[failed].row == i)
            list[n++] = attr_int(s->name[NAME_RESULT], s->calls.failures.at[failed++].result);
        uint32_t at = capture_slice(cap, &(struct slice){.begin = call->begin,
                                                         .dur = call->dur,
                                                         .lane = threads[call->thread].lane,
                                                         .name = names[call->name],
                                                         .own = attrs_own(&cap->attrs, list, n),
                                                         .kind = SLICE_RUNTIME});
        if (call->correlation != NOTHING)
            vec_push(&s->launches,
                     ((struct link){call->correlation, threads[call->thread].process, at}));
    }
    mem_free(threads);
    mem_free(names);
}

static void calls_free(struct calls *calls)
{
    vec_free(&calls->rows);
    vec_free(&calls->failures);
    numbers_free(&calls->threads);
    numbers_free(&calls->names);
}

/* NVTX_EVENTS.eventType */
enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

static bool take_range(struct nsys *s, const struct db_rows *rows, struct slice *slice)
{
    int64_t type = NVTX_PUSH_POP, end;

    db_i64(rows, 5, &type);
    if (type == NVTX_MARK && !db_i64(rows, 1, &end)) {
        s->rows++;
        return db_i64(rows, 0, &slice->begin);
    }
    if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
        return false; /* names of domains, categories and resources */
    return take_times(s, rows, 0, 1, &slice->begin, &slice->dur);
}

static void read_ranges(struct nsys *s)
{
    static const char *const columns[] = {"start",  "end",       "globalTid", "text",
                                          "textId", "eventType", "domainId"};
    struct capture *cap = s->cap;
    struct db_rows rows;

    db_rows_open(&rows, &s->db, "NVTX_EVENTS", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct slice slice = {.kind = SLICE_ANNOTATION};
        enum mark_source source;
        int64_t global = 0, number, domain;
        if (!take_range(s, &rows, &slice))
            continue;
        db_i64(&rows, 2, &global);
        struct str text = db_text(&rows, 3);
        slice.name = text.n > 0 ? capture_intern(cap, text) : name_at(s, &rows, 4);
        slice.lane = thread_lane(s, (uint64_t)global);
        if (db_i64(&rows, 6, &domain)) {
            struct attr attr = attr_int(capture_intern(cap, S("domain")), domain);
            slice.set = attrs_set(&cap->attrs, &attr, 1);
        }
        if (step_name_parse(capture_text(cap, slice.name), &source, &number)) {
            slice.kind = SLICE_STEP;
            vec_push(&cap->marks, ((struct mark){.source = source,
                                                 .name = slice.name,
                                                 .number = number,
                                                 .begin = slice.begin,
                                                 .end = nanos_add(slice.begin, slice.dur)}));
        }
        capture_slice(cap, &slice);
    }
}

/* ---- arrows ---- */

static int by_process(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    return x->slice < y->slice ? -1 : x->slice > y->slice;
}

static void sort_links(struct links *links)
{
    for (size_t i = 1; i < links->n; i++)
        if (by_process(&links->at[i], &links->at[i - 1]) < 0) {
            qsort(links->at, links->n, sizeof(*links->at), by_process);
            return;
        }
}

static bool is_before(const struct link *a, const struct link *b)
{
    return a->process != b->process ? a->process < b->process : a->correlation < b->correlation;
}

/* One arrow to every piece of work, from the first call of its correlation. */
static void join(struct nsys *s)
{
    size_t c = 0;

    sort_links(&s->launches);
    sort_links(&s->works);
    for (size_t w = 0; w < s->works.n; w++) {
        const struct link *work = &s->works.at[w];
        while (c < s->launches.n && is_before(&s->launches.at[c], work))
            c++;
        if (work->correlation != NOTHING && c < s->launches.n &&
            !is_before(work, &s->launches.at[c]))
            capture_flow(s->cap, FLOW_LAUNCH, s->launches.at[c].slice, work->slice);
    }
}

/* ---- the whole ---- */

static void read_device(struct nsys *s)
{
    read_kernels(s);
    read_copies(s, "CUPTI_ACTIVITY_KIND_MEMCPY", false);
    read_copies(s, "CUPTI_ACTIVITY_KIND_MEMSET", true);
    read_graphs(s);
    finish_works(s);
    read_syncs(s);
    read_overheads(s);
}

/* Two readers of one file, each with a connection and a diag of its own. */
struct halves {
    struct nsys *device, *host;
};

static void read_half(void *ctx, size_t i)
{
    struct halves *h = ctx;

    if (i == 0)
        read_device(h->device);
    else
        read_calls(h->host);
}

/* Device work and calls, the two large parts, side by side; the result is as if one after the
 * other. */
static void read_halves(struct nsys *s)
{
    struct pool *pool = s->in->options != NULL ? s->in->options->pool : NULL;
    struct diag own;

    diag_init(&own);
    struct input_file in = *s->in;
    in.diag = &own;
    struct nsys host = {.in = &in};
    if (db_open(&host.db, in.path, in.text, &own) == ST_OK) {
        pool_for(pool, 2, read_half, &(struct halves){s, &host});
        s->rows += host.rows;
        s->lost += host.lost + host.db.damages;
        db_close(&host.db);
    }
    diag_merge(s->in->diag, &own);
    diag_fini(&own);
    s->calls = host.calls;
    put_calls(s);
    calls_free(&s->calls);
}

static void choose_device(struct nsys *s)
{
    struct db_devices devices = {.n = 0};

    if (s->in->options == NULL || s->in->options->device < 0)
        db_devices_find(&s->db, &devices);
    s->device = db_devices_choose(&devices, s->in, "nsys.several-devices");
}

static void read_all(struct nsys *s)
{
    for (size_t i = 0; i < NAMES; i++)
        s->name[i] = capture_intern(s->cap, name_texts[i]);
    db_strings_read(&s->strings, &s->db, "StringIds");
    choose_device(s);
    nsys_facts_read(&(struct nsys_facts){&s->db, s->cap, s->in, s->device});
    read_halves(s);
    read_ranges(s);
    join(s);
    db_strings_free(&s->strings);
    vec_free(&s->works);
    vec_free(&s->launches);
    vec_free(&s->kernel_kind);
    numbers_free(&s->processes);
    hash_free(&s->lane_of);
}

static enum status read_nsys(const struct input_file *in, struct capture *cap)
{
    struct nsys s = {.in = in, .cap = cap, .device = NOTHING};
    enum status st = ST_OK;

    TRY(db_open(&s.db, in->path, in->text, in->diag));
    if (db_has_table(&s.db, S("StringIds")))
        read_all(&s);
    else
        st = diag_fail(in->diag, ST_FORMAT, "nsys.no-tables", (struct where){.path = in->path},
                       "a database without the table StringIds");
    capture_source(cap, (struct source){.path = in->path,
                                        .format = input_nsys.name,
                                        .bytes = s.db.bytes,
                                        .rows = s.rows,
                                        .lost = s.lost + s.db.damages});
    db_close(&s.db);
    return st == ST_OK && cancelled() ? ST_CANCELLED : st;
}

const struct input_format input_nsys = {
    .name = "nsys",
    .summary = "Nsight Systems profile (exported to SQLite)",
    .looks_for = "*.sqlite",
    .role = ROLE_WHOLE,
    .claims = claims,
    .streams = true,
    .probe = probe,
    .devices = db_devices_ask,
    .read = read_nsys,
};
