/*
 * The host half of an Ascend database: framework operators, queue entries and Python frames, CANN
 * calls, user ranges, garbage collection and step marks; then the arrows to the device.
 */
#include <stdio.h>
#include <stdlib.h>

#include "input/ascend_db.h"
#include "input/step_name.h"

/* PYTORCH_API.type */
enum { API_OP = 50001, API_QUEUE = 50002, API_PYTHON = 50003, API_MSTX = 50004 };

/* Longer stacks are cut: the text of one is kept once, but a viewer shows all of it. */
enum { STACK_BYTES = 1 << 20 };

/* One frame of a call stack. */
struct frame {
    int64_t stack, depth, text;
};

/* What a framework operator caused: one of CONNECTION_IDS. */
struct cause {
    int64_t id, connection;
};

struct host_reader {
    struct ascend_db *a;
    struct hash lane_of; /* process and thread -> lane */
    struct hash name_of; /* call type and string -> name with its prefix */
    VEC_OF(struct cause) causes;
    bool has_causes;
    VEC_OF(struct frame) frames;
    struct hash stack_of; /* stack -> its text */
    struct arena arena;
};

/* ---- threads ---- */

static lane_id thread_lane(struct host_reader *r, struct str process, uint64_t global)
{
    struct capture *cap = r->a->cap;
    strid process_id = capture_intern(cap, process);
    uint64_t key = hash_mix(global, process_id);
    int64_t pid = (int64_t)(global >> 32), tid = (int64_t)(global & 0xffffffff);
    uint32_t lane;
    char text[32];

    if (hash_get(&r->lane_of, key, &lane) && cap->lanes.at[lane].key.tid == tid &&
        cap->lanes.at[lane].key.pid == pid && cap->lanes.at[lane].key.process == process_id)
        return lane;
    snprintf(text, sizeof(text), "Thread %lld", (long long)tid);
    lane = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                               .device = -1,
                                               .process = process_id,
                                               .name = capture_intern(cap, str_of(text)),
                                               .pid = pid,
                                               .tid = tid});
    hash_put(&r->lane_of, key, lane);
    return lane;
}

static lane_id lane_at(struct host_reader *r, struct str process, const struct db_rows *rows,
                       size_t column)
{
    int64_t global = 0;

    db_i64(rows, column, &global);
    return thread_lane(r, process, (uint64_t)global);
}

/* ---- CANN calls ---- */

static struct str call_prefix(const struct db_strings *types, int64_t type)
{
    static const struct {
        struct str name;
        int64_t type;
        struct str prefix;
    } known[] = {
        {S_INIT("acl"), 20000, S_INIT("AscendCL@")},
        {S_INIT("model"), 15000, S_INIT("Model@")},
        {S_INIT("node"), 10000, S_INIT("Node@")},
        {S_INIT("hccl"), 5500, S_INIT("Hccl@")},
        {S_INIT("communication"), 5500, S_INIT("Hccl@")},
        {S_INIT("runtime"), 5000, S_INIT("Runtime@")},
    };
    struct str name = db_strings_text(types, type);

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (name.n > 0 ? str_equal_nocase(name, known[i].name) : type == known[i].type)
            return known[i].prefix;
    return S("Api@");
}

enum call_column { A_START, A_END, A_TYPE, A_THREAD, A_CONNECTION, A_NAME, A_COUNT };

static const char *const call_columns[A_COUNT] = {
    "startNs", "endNs", "type", "globalTid", "connectionId", "name",
};

static strid call_name(struct host_reader *r, const struct db_rows *rows,
                       const struct db_strings *types)
{
    int64_t type = 0;
    strid name = ascend_db_name(r->a, rows, A_NAME);
    uint32_t full;

    db_i64(rows, A_TYPE, &type);
    struct str prefix = call_prefix(types, type);
    uint64_t key = (uint64_t)name << 8 | (unsigned char)prefix.at[0]; /* A M N H R: all differ */
    if (prefix.at[1] == 'p')                                          /* but for Api */
        key |= 0x80;
    if (hash_get(&r->name_of, key, &full))
        return full;
    struct arena_mark mark = arena_mark(&r->arena);
    struct str text = capture_text(r->a->cap, name);
    full = capture_intern(r->a->cap,
                          arena_format(&r->arena, "%.*s%.*s", STR_ARGS(prefix), STR_ARGS(text)));
    arena_rewind(&r->arena, mark);
    hash_put(&r->name_of, key, full);
    return full;
}

static void read_calls(struct host_reader *r)
{
    struct ascend_db *a = r->a;
    struct db_strings types;
    struct db_rows rows;
    int64_t connection;

    db_strings_read(&types, &a->db, "ENUM_API_TYPE");
    db_rows_open(&rows, &a->db, "CANN_API", call_columns, A_COUNT);
    while (db_rows_next(&rows)) {
        struct slice slice = {.kind = SLICE_RUNTIME};
        a->i->rows++;
        if (!ascend_db_times(a, &rows, A_START, A_END, &slice))
            continue;
        slice.name = call_name(r, &rows, &types);
        slice.lane = lane_at(r, S("CANN"), &rows, A_THREAD);
        bool is_linked = ascend_db_connection(&rows, A_CONNECTION, &connection);
        if (is_linked) {
            struct attr link = attr_int(capture_key(a->cap, KEY_LINK), connection);
            slice.own = attrs_own(&a->cap->attrs, &link, 1);
        }
        uint32_t at = capture_slice(a->cap, &slice);
        if (is_linked)
            vec_push(&a->calls, ((struct db_link){connection, at}));
    }
    db_strings_free(&types);
}

/* ---- call stacks ---- */

static int by_depth(const void *a, const void *b)
{
    const struct frame *x = a, *y = b;

    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->text < y->text ? -1 : x->text > y->text;
}

static void read_frames(struct host_reader *r)
{
    static const char *const columns[] = {"id", "stackDepth", "stack"};
    struct db_rows rows;
    struct frame f;

    db_rows_open(&rows, &r->a->db, "PYTORCH_CALLCHAINS", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows))
        if (db_i64(&rows, 0, &f.stack) && db_i64(&rows, 1, &f.depth) && db_i64(&rows, 2, &f.text))
            vec_push(&r->frames, f);
    if (r->frames.n > 0) {
        qsort(r->frames.at, r->frames.n, sizeof(*r->frames.at), by_depth);
        r->a->cap->facts.with_stack = 1;
    }
}

static size_t first_frame(const struct host_reader *r, int64_t stack)
{
    size_t low = 0, high = r->frames.n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->frames.at[mid].stack < stack)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Innermost frame first, joined as the timeline export joins them. */
static strid stack_text(struct host_reader *r, int64_t stack)
{
    struct arena_mark mark = arena_mark(&r->arena);
    size_t first = first_frame(r, stack), last = first, used = 0, room = 1;
    uint32_t id;

    if (hash_get(&r->stack_of, (uint64_t)stack, &id))
        return id;
    for (; last < r->frames.n && r->frames.at[last].stack == stack && room < STACK_BYTES; last++)
        room += db_strings_text(&r->a->strings, r->frames.at[last].text).n + 3;
    char *text = ARENA_ARRAY(&r->arena, char, room);
    for (size_t i = first; i < last; i++) {
        struct str frame = db_strings_text(&r->a->strings, r->frames.at[i].text);
        if (i > first) {
            memcpy(text + used, ";\r\n", 3);
            used += 3;
        }
        if (frame.n > 0)
            memcpy(text + used, frame.at, frame.n);
        used += frame.n;
    }
    id = capture_intern(r->a->cap, (struct str){text, used});
    arena_rewind(&r->arena, mark);
    hash_put(&r->stack_of, (uint64_t)stack, id);
    return id;
}

/* ---- framework operators ---- */

enum op_column {
    O_START,
    O_END,
    O_THREAD,
    O_CONNECTION,
    O_NAME,
    O_SEQUENCE,
    O_FORWARD,
    O_DTYPES,
    O_SHAPES,
    O_STACK,
    O_TYPE,
    O_COUNT
};

static const char *const op_columns[O_COUNT] = {
    "startNs",     "endNs",       "globalTid",   "connectionId", "name", "sequenceNumber",
    "fwdThreadId", "inputDtypes", "inputShapes", "callchainId",  "type",
};

static void add_mark(struct ascend_db *a, enum mark_source source, strid name, int64_t number,
                     const struct slice *slice)
{
    vec_push(&a->cap->marks, ((struct mark){.source = source,
                                            .name = name,
                                            .number = number,
                                            .begin = slice->begin,
                                            .end = nanos_add(slice->begin, slice->dur)}));
}

/* A range whose name says so is a step; it becomes a mark when no table has told the steps. */
static void check_step(struct host_reader *r, struct slice *slice, bool is_told)
{
    enum mark_source source;
    int64_t number;

    if (!step_name_parse(capture_text(r->a->cap, slice->name), &source, &number))
        return;
    slice->kind = SLICE_STEP;
    if (!is_told)
        add_mark(r->a, source, slice->name, number, slice);
}

static struct str op_category(int64_t type, struct str name)
{
    switch (type) {
    case API_QUEUE:
        return str_starts(name, S("Enqueue")) ? S("enqueue") : S("dequeue");
    case API_PYTHON:
        return S("python_function");
    case API_MSTX:
        return S("mstx");
    default:
        return S("cpu_op");
    }
}

static enum slice_kind op_kind(int64_t type)
{
    return type == API_QUEUE    ? SLICE_QUEUE
           : type == API_PYTHON ? SLICE_PYTHON
           : type == API_MSTX   ? SLICE_ANNOTATION
                                : SLICE_HOST_OP;
}

static attr_run op_set(struct host_reader *r, const struct db_rows *rows, struct str category)
{
    static const struct {
        enum op_column column;
        enum capture_key key;
    } texts[] = {{O_SHAPES, KEY_INPUT_SHAPES}, {O_DTYPES, KEY_INPUT_DTYPES}};
    struct ascend_db *a = r->a;
    struct capture *cap = a->cap;
    struct attr list[2 + ARRAY_LEN(texts)];
    size_t n = 0;
    int64_t id;
    strid text;

    list[n++] = attr_text(capture_key(cap, KEY_CAT), capture_intern(cap, category));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (db_i64(rows, texts[i].column, &id) &&
            (text = db_strings_intern(&a->strings, cap, id)) != 0) {
            list[n++] = attr_text(capture_key(cap, texts[i].key), text);
            cap->facts.record_shapes = 1;
        }
    if (db_i64(rows, O_STACK, &id) && (text = stack_text(r, id)) != 0)
        list[n++] = attr_text(capture_key(cap, KEY_STACK), text);
    return attrs_set(&cap->attrs, list, n);
}

static int by_id(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->connection < y->connection ? -1 : x->connection > y->connection;
}

static void read_causes(struct host_reader *r)
{
    static const char *const columns[] = {"id", "connectionId"};
    struct db_rows rows;
    struct cause c;

    r->has_causes = db_rows_open(&rows, &r->a->db, "CONNECTION_IDS", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows))
        if (db_i64(&rows, 0, &c.id) && db_i64(&rows, 1, &c.connection))
            vec_push(&r->causes, c);
    if (r->causes.n > 0)
        qsort(r->causes.at, r->causes.n, sizeof(*r->causes.at), by_id);
}

/* Where links of this row go. */
static struct db_links *links_for(struct ascend_db *a, int64_t type, struct str name)
{
    if (type != API_QUEUE)
        return &a->ops;
    return str_starts(name, S("Enqueue")) ? &a->enqueues : &a->dequeues;
}

/* An entry of CONNECTION_IDS belongs to one operator: the first that asks takes it. */
static void add_causes(struct host_reader *r, int64_t id, uint32_t slice, struct db_links *links)
{
    size_t low = 0, high = r->causes.n;

    if (!r->has_causes) {
        vec_push(links, ((struct db_link){id, slice}));
        return;
    }
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->causes.at[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < r->causes.n && r->causes.at[low].id == id; low++) {
        struct cause *c = &r->causes.at[low];
        if (c->connection == INT64_MIN)
            return;
        vec_push(links, ((struct db_link){c->connection, slice}));
        c->connection = INT64_MIN;
    }
}

static void take_op(struct host_reader *r, const struct db_rows *rows, bool is_told)
{
    struct ascend_db *a = r->a;
    struct slice slice = {0};
    int64_t type = API_OP, sequence = -1, forward = 0, id;
    struct attr list[2];
    size_t n = 0;

    a->i->rows++;
    if (!ascend_db_times(a, rows, O_START, O_END, &slice))
        return;
    db_i64(rows, O_TYPE, &type);
    slice.kind = op_kind(type);
    slice.name = ascend_db_name(a, rows, O_NAME);
    slice.lane = lane_at(r, S("Python"), rows, O_THREAD);
    struct str name = capture_text(a->cap, slice.name);
    slice.set = op_set(r, rows, op_category(type, name));
    if (type != API_PYTHON)
        check_step(r, &slice, is_told);
    if (db_i64(rows, O_SEQUENCE, &sequence) && sequence >= 0)
        list[n++] = attr_int(capture_intern(a->cap, S("Sequence number")), sequence);
    if (db_i64(rows, O_FORWARD, &forward) && forward > 0)
        list[n++] = attr_int(capture_intern(a->cap, S("Fwd thread id")), forward);
    slice.own = attrs_own(&a->cap->attrs, list, n);
    uint32_t at = capture_slice(a->cap, &slice);
    if (ascend_db_connection(rows, O_CONNECTION, &id))
        add_causes(r, id, at, links_for(a, type, name));
}

static void read_ops(struct host_reader *r, bool is_told)
{
    struct db_rows rows;

    read_causes(r);
    read_frames(r);
    db_rows_open(&rows, &r->a->db, "PYTORCH_API", op_columns, O_COUNT);
    while (db_rows_next(&rows))
        take_op(r, &rows, is_told);
}

/* ---- ranges, garbage collection, steps ---- */

static void read_ranges(struct host_reader *r, bool is_told)
{
    static const char *const columns[] = {"startNs", "endNs", "globalTid", "message", "domainId"};
    struct ascend_db *a = r->a;
    struct db_rows rows;

    db_rows_open(&rows, &a->db, "MSTX_EVENTS", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct slice slice = {.kind = SLICE_ANNOTATION};
        int64_t domain;
        strid text;
        a->i->rows++;
        if (!ascend_db_times(a, &rows, 0, 1, &slice))
            continue;
        slice.name = ascend_db_name(a, &rows, 3);
        slice.lane = lane_at(r, S("MsTx"), &rows, 2);
        if (db_i64(&rows, 4, &domain) &&
            (text = db_strings_intern(&a->strings, a->cap, domain)) != 0) {
            struct attr attr = attr_text(capture_intern(a->cap, S("domain")), text);
            slice.set = attrs_set(&a->cap->attrs, &attr, 1);
        }
        check_step(r, &slice, is_told);
        capture_slice(a->cap, &slice);
    }
}

static void read_gc(struct host_reader *r)
{
    static const char *const columns[] = {"startNs", "endNs", "globalTid"};
    struct ascend_db *a = r->a;
    struct db_rows rows;

    db_rows_open(&rows, &a->db, "GC_RECORD", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct slice slice = {.kind = SLICE_GC};
        a->i->rows++;
        if (!ascend_db_times(a, &rows, 0, 1, &slice))
            continue;
        slice.name = capture_intern(a->cap, S("GC"));
        slice.lane = lane_at(r, S("Python GC"), &rows, 2);
        capture_slice(a->cap, &slice);
    }
}

static bool read_steps(struct ascend_db *a)
{
    static const char *const columns[] = {"startNs", "endNs", "id"};
    struct db_rows rows;
    int64_t number;
    size_t before = a->cap->marks.n;

    db_rows_open(&rows, &a->db, "STEP_TIME", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct slice slice = {0};
        char text[48];
        if (!db_i64(&rows, 2, &number) || !ascend_db_times(a, &rows, 0, 1, &slice))
            continue;
        snprintf(text, sizeof(text), "ProfilerStep#%lld", (long long)number);
        add_mark(a, MARK_PROFILER_STEP, capture_intern(a->cap, str_of(text)), number, &slice);
    }
    return a->cap->marks.n > before;
}

void ascend_db_read_host(struct ascend_db *a)
{
    struct host_reader r = {.a = a};

    arena_init(&r.arena);
    bool is_told = read_steps(a);
    read_ops(&r, is_told);
    read_calls(&r);
    read_ranges(&r, is_told);
    read_gc(&r);
    vec_free(&r.causes);
    vec_free(&r.frames);
    hash_free(&r.lane_of);
    hash_free(&r.name_of);
    hash_free(&r.stack_of);
    arena_free(&r.arena);
}

/* ---- arrows ---- */

static int by_connection(const void *a, const void *b)
{
    const struct db_link *x = a, *y = b;

    if (x->connection != y->connection)
        return x->connection < y->connection ? -1 : 1;
    return x->slice < y->slice ? -1 : x->slice > y->slice;
}

static void sort_links(struct db_links *links)
{
    for (size_t i = 1; i < links->n; i++)
        if (by_connection(&links->at[i], &links->at[i - 1]) < 0) {
            qsort(links->at, links->n, sizeof(*links->at), by_connection);
            return;
        }
}

/* One arrow to every end from the first start of the same connection: never more arrows than
 * ends, whatever the file says. */
static void join(struct capture *cap, enum flow_kind kind, const struct db_links *from,
                 const struct db_links *to)
{
    size_t f = 0;

    for (size_t t = 0; t < to->n; t++) {
        while (f < from->n && from->at[f].connection < to->at[t].connection)
            f++;
        if (f < from->n && from->at[f].connection == to->at[t].connection)
            capture_flow(cap, kind, from->at[f].slice, to->at[t].slice);
    }
}

/* The table is in no order, so time tells which of the two came first. */
static void join_pair(struct capture *cap, uint32_t a, uint32_t b)
{
    if (cap->slices.begin[a] <= cap->slices.begin[b])
        capture_flow(cap, FLOW_BACKWARD, a, b);
    else
        capture_flow(cap, FLOW_BACKWARD, b, a);
}

/* Operators that share a connection no task has are a forward operator and its backward ones. */
static void join_backward(struct capture *cap, const struct db_links *ops,
                          const struct db_links *tasks)
{
    size_t t = 0, first = 0;

    for (size_t i = 1; i < ops->n; i++) {
        int64_t connection = ops->at[i].connection;
        if (ops->at[first].connection != connection) {
            first = i;
            continue;
        }
        while (t < tasks->n && tasks->at[t].connection < connection)
            t++;
        if (t == tasks->n || tasks->at[t].connection != connection)
            join_pair(cap, ops->at[first].slice, ops->at[i].slice);
    }
}

void ascend_db_link(struct ascend_db *a)
{
    sort_links(&a->tasks);
    sort_links(&a->calls);
    sort_links(&a->ops);
    sort_links(&a->enqueues);
    sort_links(&a->dequeues);
    join(a->cap, FLOW_LAUNCH, &a->calls, &a->tasks);
    join(a->cap, FLOW_LAUNCH, &a->ops, &a->tasks);
    join(a->cap, FLOW_QUEUE, &a->enqueues, &a->dequeues);
    join_backward(a->cap, &a->ops, &a->tasks);
}
