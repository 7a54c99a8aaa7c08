/*
 * The host half of an Ascend database: framework operators, queue entries and Python frames, CANN
 * calls, user ranges, garbage collection and step marks; then the arrows to the device.
 */
#include <stdlib.h>

#include "input/ascend/ascend_db.h"
#include "input/trace/step_name.h"

/* PYTORCH_API.type */
enum { API_OP = 50001, API_QUEUE = 50002, API_PYTHON = 50003, API_MSTX = 50004 };

/* Longer stacks are cut: the text of one is kept once, but a viewer shows all of it. */
enum { STACK_BYTES = 1 << 20 };

/* One frame of a call stack. */
struct frame {
    int64_t stack, depth, text;
};

/* What a framework operator caused: one of CONNECTION_IDS. */
struct host_cause {
    int64_t id, connection;
};

struct host_reader {
    struct ascend_db *a;
    struct hash lane_of; /* process and thread -> lane */
    struct hash name_of; /* call type and string -> name with its prefix */
    VEC_OF(struct host_cause) causes;
    bool has_causes;
    VEC_OF(struct frame) frames;
    struct hash stack_of; /* stack -> its text */
    struct arena arena;
};

/* ---- threads ---- */

static lane_id thread_lane(struct host_reader *r, struct str process, int64_t thread)
{
    uint64_t global = (uint64_t)thread;
    struct capture *cap = r->a->cap;
    strid process_id = capture_intern(cap, process);
    uint64_t key = hash_mix(global, process_id);
    int64_t pid = (int64_t)(global >> 32), tid = (int64_t)(global & 0xffffffff);
    uint32_t lane;

    if (hash_get(&r->lane_of, key, &lane) && cap->lanes.at[lane].key.tid == tid &&
        cap->lanes.at[lane].key.pid == pid && cap->lanes.at[lane].key.process == process_id)
        return lane;
    lane = capture_lane(
        cap, (struct lane_key){.kind = LANE_THREAD,
                               .device = -1,
                               .process = process_id,
                               .name = capture_intern_format(cap, "Thread %lld", (long long)tid),
                               .pid = pid,
                               .tid = tid});
    hash_put(&r->lane_of, key, lane);
    return lane;
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

struct call {
    int64_t start, end, type, thread, connection;
    struct db_name name;
};

static const struct db_column call_columns[] = {
    DB_COLUMN(struct call, start, "startNs"),
    DB_COLUMN(struct call, end, "endNs"),
    DB_OR(struct call, type, "type", 0),
    DB_OR(struct call, thread, "globalTid", 0),
    DB_COLUMN(struct call, connection, "connectionId"),
    DB_COLUMN(struct call, name, "name"),
};

static strid call_name(struct host_reader *r, const struct db_rows *rows, const struct call *c,
                       const struct db_strings *types)
{
    strid name = ascend_db_name(r->a, rows, c->name);
    struct str prefix = call_prefix(types, c->type);
    uint64_t key = (uint64_t)name << 8 | (unsigned char)prefix.at[0]; /* A M N H R: all differ */
    uint32_t full;

    if (prefix.at[1] == 'p') /* but for Api */
        key |= 0x80;
    if (hash_get(&r->name_of, key, &full))
        return full;
    full = capture_intern_format(r->a->cap, "%.*s%.*s", STR_ARGS(prefix),
                                 STR_ARGS(capture_text(r->a->cap, name)));
    hash_put(&r->name_of, key, full);
    return full;
}

static void read_calls(struct host_reader *r)
{
    struct ascend_db *a = r->a;
    struct db_strings types;
    struct db_rows rows;
    struct call c;

    db_strings_read(&types, &a->db, "ENUM_API_TYPE");
    DB_SCAN(&rows, &a->db, "CANN_API", call_columns);
    while (db_read_row(&rows, &c)) {
        struct slice slice = {.kind = SLICE_RUNTIME};
        a->i->rows++;
        if (!ascend_db_times(a, &rows, c.start, c.end, &slice))
            continue;
        slice.name = call_name(r, &rows, &c, &types);
        slice.lane = thread_lane(r, S("CANN"), c.thread);
        bool is_linked = ascend_db_is_linked(c.connection);
        if (is_linked) {
            struct attr link = attr_int(capture_key(a->cap, KEY_LINK), c.connection);
            slice.own = attrs_own(&a->cap->attrs, &link, 1);
        }
        uint32_t at = capture_slice(a->cap, &slice);
        if (is_linked)
            vec_push(&a->calls, ((struct db_link){c.connection, at}));
    }
    db_strings_free(&types);
}

/* ---- call stacks ---- */

ORDER_BY(by_depth, struct frame,
         ORDER(x->stack, y->stack) ?: ORDER(x->depth, y->depth) ?: ORDER(x->text, y->text));

static void read_frames(struct host_reader *r)
{
    static const struct db_column columns[] = {
        DB_COLUMN(struct frame, stack, "id"),
        DB_COLUMN(struct frame, depth, "stackDepth"),
        DB_COLUMN(struct frame, text, "stack"),
    };
    struct db_rows rows;
    struct frame f;

    DB_SCAN(&rows, &r->a->db, "PYTORCH_CALLCHAINS", columns);
    while (db_read_row(&rows, &f))
        if (f.stack != DB_NONE && f.depth != DB_NONE && f.text != DB_NONE)
            vec_push(&r->frames, f);
    if (r->frames.n > 0) {
        qsort(r->frames.at, r->frames.n, sizeof(*r->frames.at), by_depth);
        r->a->cap->facts.with_stack = 1;
    }
}

/* Innermost frame first, joined as the timeline export joins them. */
static strid stack_text(struct host_reader *r, int64_t stack)
{
    struct arena_mark mark = arena_mark(&r->arena);
    size_t first, last, used = 0, room = 1;
    uint32_t id;

    if (hash_get(&r->stack_of, (uint64_t)stack, &id))
        return id;
    vec_bisect(first, r->frames.n, i, r->frames.at[i].stack < stack);
    for (last = first;
         last < r->frames.n && r->frames.at[last].stack == stack && room < STACK_BYTES; last++)
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

struct host_op {
    int64_t start, end, thread, connection, sequence, forward, dtypes, shapes, stack, type;
    struct db_name name;
};

static const struct db_column op_columns[] = {
    DB_COLUMN(struct host_op, start, "startNs"),
    DB_COLUMN(struct host_op, end, "endNs"),
    DB_OR(struct host_op, thread, "globalTid", 0),
    DB_COLUMN(struct host_op, connection, "connectionId"),
    DB_COLUMN(struct host_op, name, "name"),
    DB_COLUMN(struct host_op, sequence, "sequenceNumber"),
    DB_COLUMN(struct host_op, forward, "fwdThreadId"),
    DB_COLUMN(struct host_op, dtypes, "inputDtypes"),
    DB_COLUMN(struct host_op, shapes, "inputShapes"),
    DB_COLUMN(struct host_op, stack, "callchainId"),
    DB_OR(struct host_op, type, "type", API_OP),
};

/* What the rows of a type are; enqueues are told by their names. */
static const struct op_sort {
    struct str category;
    enum slice_kind kind;
} op_sorts[] = {
    [API_OP - API_OP] = {S_INIT("cpu_op"), SLICE_HOST_OP},
    [API_QUEUE - API_OP] = {S_INIT("dequeue"), SLICE_QUEUE},
    [API_PYTHON - API_OP] = {S_INIT("python_function"), SLICE_PYTHON},
    [API_MSTX - API_OP] = {S_INIT("mstx"), SLICE_ANNOTATION},
};

static const struct op_sort *op_sort(int64_t type)
{
    return &op_sorts[type > API_OP && type <= API_MSTX ? type - API_OP : 0];
}

static size_t host_put_text(struct host_reader *r, enum capture_key key, int64_t id,
                            struct attr *list, size_t n)
{
    struct capture *cap = r->a->cap;
    strid text = id != DB_NONE ? db_strings_intern(&r->a->strings, cap, id) : 0;

    if (text != 0) {
        list[n++] = attr_text(capture_key(cap, key), text);
        cap->facts.record_shapes = 1;
    }
    return n;
}

static attr_run op_set(struct host_reader *r, const struct host_op *op, struct str category)
{
    struct capture *cap = r->a->cap;
    struct attr list[4];
    size_t n = 0;
    strid text;

    list[n++] = attr_text(capture_key(cap, KEY_CAT), capture_intern(cap, category));
    n = host_put_text(r, KEY_INPUT_SHAPES, op->shapes, list, n);
    n = host_put_text(r, KEY_INPUT_DTYPES, op->dtypes, list, n);
    if (op->stack != DB_NONE && (text = stack_text(r, op->stack)) != 0)
        list[n++] = attr_text(capture_key(cap, KEY_STACK), text);
    return attrs_set(&cap->attrs, list, n);
}

ORDER_BY(by_id, struct host_cause, ORDER(x->id, y->id) ?: ORDER(x->connection, y->connection));

static void read_causes(struct host_reader *r)
{
    static const struct db_column columns[] = {
        DB_COLUMN(struct host_cause, id, "id"),
        DB_COLUMN(struct host_cause, connection, "connectionId"),
    };
    struct db_rows rows;
    struct host_cause c;

    r->has_causes = DB_SCAN(&rows, &r->a->db, "CONNECTION_IDS", columns);
    while (db_read_row(&rows, &c))
        if (c.id != DB_NONE && c.connection != DB_NONE)
            vec_push(&r->causes, c);
    if (r->causes.n > 0)
        qsort(r->causes.at, r->causes.n, sizeof(*r->causes.at), by_id);
}

/* An entry of CONNECTION_IDS belongs to one operator: the first that asks takes it. */
static void add_causes(struct host_reader *r, int64_t id, uint32_t slice, struct db_links *links)
{
    size_t at;

    if (!r->has_causes) {
        vec_push(links, ((struct db_link){id, slice}));
        return;
    }
    vec_bisect(at, r->causes.n, i, r->causes.at[i].id < id);
    for (; at < r->causes.n && r->causes.at[at].id == id; at++) {
        struct host_cause *c = &r->causes.at[at];
        if (c->connection == INT64_MIN)
            return;
        vec_push(links, ((struct db_link){c->connection, slice}));
        c->connection = INT64_MIN;
    }
}

static void take_op(struct host_reader *r, const struct db_rows *rows, const struct host_op *op,
                    bool is_told)
{
    struct ascend_db *a = r->a;
    struct capture *cap = a->cap;
    struct slice slice = {.kind = op_sort(op->type)->kind};
    struct attr list[2];
    size_t n = 0;

    a->i->rows++;
    if (!ascend_db_times(a, rows, op->start, op->end, &slice))
        return;
    slice.name = ascend_db_name(a, rows, op->name);
    slice.lane = thread_lane(r, S("Python"), op->thread);
    bool enqueues =
        op->type == API_QUEUE && str_starts(capture_text(cap, slice.name), S("Enqueue"));
    slice.set = op_set(r, op, enqueues ? S("enqueue") : op_sort(op->type)->category);
    if (op->type != API_PYTHON)
        step_name_mark(cap, &slice, !is_told);
    if (op->sequence >= 0)
        list[n++] = attr_int(capture_intern(cap, S("Sequence number")), op->sequence);
    if (op->forward > 0)
        list[n++] = attr_int(capture_intern(cap, S("Fwd thread id")), op->forward);
    slice.own = attrs_own(&cap->attrs, list, n);
    uint32_t at = capture_slice(cap, &slice);
    if (ascend_db_is_linked(op->connection))
        add_causes(r, op->connection, at,
                   op->type != API_QUEUE ? &a->ops
                   : enqueues            ? &a->enqueues
                                         : &a->dequeues);
}

/* ---- ranges, garbage collection, steps ---- */

struct range {
    int64_t start, end, thread, number;
    struct db_name message;
};

static const struct db_column range_columns[] = {
    DB_COLUMN(struct range, start, "startNs"),   DB_COLUMN(struct range, end, "endNs"),
    DB_OR(struct range, thread, "globalTid", 0), DB_COLUMN(struct range, number, "domainId|id"),
    DB_COLUMN(struct range, message, "message"),
};

static void read_ranges(struct host_reader *r, const char *table, bool is_gc, bool is_told)
{
    struct ascend_db *a = r->a;
    struct db_rows rows;
    struct range range;

    DB_SCAN(&rows, &a->db, table, range_columns);
    while (db_read_row(&rows, &range)) {
        struct slice slice = {.kind = is_gc ? SLICE_GC : SLICE_ANNOTATION};
        strid text = 0;
        a->i->rows++;
        if (!ascend_db_times(a, &rows, range.start, range.end, &slice))
            continue;
        slice.name =
            is_gc ? capture_intern(a->cap, S("GC")) : ascend_db_name(a, &rows, range.message);
        slice.lane = thread_lane(r, is_gc ? S("Python GC") : S("MsTx"), range.thread);
        if (range.number != DB_NONE && !is_gc)
            text = db_strings_intern(&a->strings, a->cap, range.number);
        if (text != 0) {
            struct attr attr = attr_text(capture_intern(a->cap, S("domain")), text);
            slice.set = attrs_set(&a->cap->attrs, &attr, 1);
        }
        if (!is_gc)
            step_name_mark(a->cap, &slice, !is_told);
        capture_slice(a->cap, &slice);
    }
}

static bool read_steps(struct ascend_db *a)
{
    size_t before = a->cap->marks.n;
    struct db_rows rows;
    struct range range;

    DB_SCAN(&rows, &a->db, "STEP_TIME", range_columns);
    while (db_read_row(&rows, &range)) {
        struct slice slice = {0};
        if (range.number != DB_NONE && ascend_db_times(a, &rows, range.start, range.end, &slice))
            vec_push(&a->cap->marks,
                     ((struct mark){.source = MARK_PROFILER_STEP,
                                    .name = capture_intern_format(a->cap, "ProfilerStep#%lld",
                                                                  (long long)range.number),
                                    .number = range.number,
                                    .begin = slice.begin,
                                    .end = nanos_add(slice.begin, slice.dur)}));
    }
    return a->cap->marks.n > before;
}

void ascend_db_read_host(struct ascend_db *a)
{
    struct host_reader r = {.a = a};
    struct db_rows rows;
    struct host_op op;

    arena_init(&r.arena);
    bool is_told = read_steps(a);
    read_causes(&r);
    read_frames(&r);
    DB_SCAN(&rows, &a->db, "PYTORCH_API", op_columns);
    while (db_read_row(&rows, &op))
        take_op(&r, &rows, &op, is_told);
    read_calls(&r);
    read_ranges(&r, "MSTX_EVENTS", false, is_told);
    read_ranges(&r, "GC_RECORD", true, is_told);
    vec_free(&r.causes);
    vec_free(&r.frames);
    hash_free(&r.lane_of);
    hash_free(&r.name_of);
    hash_free(&r.stack_of);
    arena_free(&r.arena);
}

/* ---- arrows ---- */

ORDER_BY(by_connection, struct db_link,
         ORDER(x->connection, y->connection) ?: ORDER(x->slice, y->slice));

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
static void host_join(struct capture *cap, enum flow_kind kind, const struct db_links *from,
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
        if (t == tasks->n || tasks->at[t].connection != connection) {
            /* The table is in no order, so time tells which of the two came first. */
            uint32_t a = ops->at[first].slice, b = ops->at[i].slice;
            bool is_a_first = cap->slices.begin[a] <= cap->slices.begin[b];
            capture_flow(cap, FLOW_BACKWARD, is_a_first ? a : b, is_a_first ? b : a);
        }
    }
}

void ascend_db_link(struct ascend_db *a)
{
    sort_links(&a->tasks);
    sort_links(&a->calls);
    sort_links(&a->ops);
    sort_links(&a->enqueues);
    sort_links(&a->dequeues);
    host_join(a->cap, FLOW_LAUNCH, &a->calls, &a->tasks);
    host_join(a->cap, FLOW_LAUNCH, &a->ops, &a->tasks);
    host_join(a->cap, FLOW_QUEUE, &a->enqueues, &a->dequeues);
    join_backward(a->cap, &a->ops, &a->tasks);
}
