/*
 * The device half of an Ascend database: tasks become kernels where COMPUTE_TASK_INFO describes
 * them, and evidence (waits, copies, control) where it does not; collectives stand in a table of
 * their own. The database has no wait column, so waits are derived as the text export does.
 * One file, as all tables meet in the tasks.
 */
#include <stdlib.h>

#include "capture/classify.h"
#include "input/ascend/ascend_db.h"

enum { NOTHING = -1 };

/* A task that is work, or a collective. */
struct work {
    strid name;
    attr_run set;
    enum slice_kind kind;
    bool is_schedule; /* the device half of a collective: work only when that one is missing */
    bool has_task;    /* a task says when it ran */
};

/* One piece of work on its way into the capture, which wants the gap to its predecessor. */
struct pending {
    nanos begin, dur;
    int64_t task, connection; /* NOTHING: none */
    lane_id lane;
    uint32_t work;
    uint32_t order; /* of arrival, for ties */
};

/* A step of a collective: a task of its plane. */
struct plane_task {
    strid name;
    lane_id lane;
    attr_run set, own;
};

struct copy {
    int64_t global, size, operation;
};

struct pmu {
    uint32_t work;
    strid key;
    double value;
};

struct device_reader {
    struct ascend_db *a;
    VEC_OF(struct work) works;
    struct hash work_of; /* global task id -> work */
    VEC_OF(struct plane_task) planes;
    struct hash plane_of;
    VEC_OF(struct copy) copies;
    struct hash copy_of;
    VEC_OF(struct pmu) counters;
    size_t *first_counter; /* by work, one more at the end; in `arena` */
    struct attr *counter;  /* in order of works */
    VEC_OF(struct pending) busy;
    struct hash lane_of;      /* stream -> lane */
    struct hash device_of_op; /* collective -> device, where several share the file */
    struct hash op_of_task;   /* global task id -> place in comm_op_ids */
    VEC_OF(int64_t) comm_op_ids;
    struct arena arena;
};

/* ---- what COMPUTE_TASK_INFO says of a task ---- */

enum { TEXTS = 7 };

/* Numbers of texts, but for the task and the blocks. */
struct compute {
    struct db_name name;
    int64_t global, block_dim, mix_block_dim, core, type, texts[TEXTS];
};

static const struct db_column compute_columns[] = {
    DB_COLUMN(struct compute, name, "name"),
    DB_COLUMN(struct compute, global, "globalTaskId"),
    DB_COLUMN(struct compute, block_dim, "blockDim|blockNum|block_dim"),
    DB_COLUMN(struct compute, mix_block_dim, "mixBlockDim|mixBlockNum"),
    DB_COLUMN(struct compute, core, "taskType"),
    DB_COLUMN(struct compute, type, "opType"),
    DB_COLUMN(struct compute, texts[0], "opState"),
    DB_COLUMN(struct compute, texts[1], "inputShapes"),
    DB_COLUMN(struct compute, texts[2], "inputDataTypes"),
    DB_COLUMN(struct compute, texts[3], "inputFormats"),
    DB_COLUMN(struct compute, texts[4], "outputShapes"),
    DB_COLUMN(struct compute, texts[5], "outputDataTypes"),
    DB_COLUMN(struct compute, texts[6], "outputFormats"),
};

/* In the order the text importer keeps them, so that equal sets stay equal. */
static const enum capture_key text_keys[TEXTS] = {
    KEY_STATE,         KEY_INPUT_SHAPES,  KEY_INPUT_DTYPES,   KEY_INPUT_FORMATS,
    KEY_OUTPUT_SHAPES, KEY_OUTPUT_DTYPES, KEY_OUTPUT_FORMATS,
};

static size_t device_put_text(struct device_reader *r, struct attr *list, size_t n, strid key,
                              struct str text)
{
    if (!num_is_missing(text))
        list[n++] = attr_text(key, capture_intern(r->a->cap, text));
    return n;
}

static size_t device_put_number(struct attr *list, size_t n, strid key, int64_t number)
{
    if (number != DB_NONE)
        list[n++] = attr_int(key, number);
    return n;
}

static attr_run compute_set(struct device_reader *r, const struct compute *c, struct str type,
                            struct str core)
{
    struct capture *cap = r->a->cap;
    struct attr list[4 + TEXTS];
    size_t n = 0;

    n = device_put_text(r, list, n, capture_key(cap, KEY_TYPE), type);
    n = device_put_text(r, list, n, capture_key(cap, KEY_CORE), core);
    for (size_t i = 0; i < TEXTS; i++) {
        /* Shapes keep the quotes they had in the text export of some versions. */
        struct str s = str_trim(ascend_db_text(r->a, c->texts[i]));
        if (s.n >= 2 && s.at[0] == '"' && s.at[s.n - 1] == '"')
            s = str_part(s, 1, s.n - 2);
        n = device_put_text(r, list, n, capture_key(cap, text_keys[i]), s);
    }
    n = device_put_number(list, n, capture_key(cap, KEY_BLOCK_DIM), c->block_dim);
    n = device_put_number(list, n, capture_key(cap, KEY_MIX_BLOCK_DIM), c->mix_block_dim);
    return attrs_set(&cap->attrs, list, n);
}

static void read_compute(struct device_reader *r, const char *table, bool is_schedule)
{
    struct ascend_db *a = r->a;
    struct db_rows rows;
    struct compute c;

    DB_SCAN(&rows, &a->db, table, compute_columns);
    while (db_read_row(&rows, &c)) {
        if (c.global == DB_NONE) {
            import_lose(a->i, import_file(a->i), "ascend-db.no-task", "a row of %s has no task",
                        table);
            continue;
        }
        struct str type = ascend_db_text(a, c.type);
        struct str core = classify_core(ascend_db_text(a, c.core));
        strid name = ascend_db_name(a, &rows, c.name);
        uint32_t place = (uint32_t)r->works.n;
        if (hash_add(&r->work_of, (uint64_t)c.global, place) != place)
            continue; /* a task is described once */
        struct work work = {.name = name, .is_schedule = is_schedule};
        work.kind = is_schedule
                        ? SLICE_COMM_PART
                        : classify_kernel(VENDOR_ASCEND, core, capture_text(a->cap, name), type);
        work.set = compute_set(r, &c, type, core);
        vec_push(&r->works, work);
    }
}

/* ---- counters: one row each, brought together by task ---- */

static void read_counters(struct device_reader *r)
{
    struct counter {
        int64_t global, name;
        double value;
    };
    static const struct db_column columns[] = {
        DB_COLUMN(struct counter, global, "globalTaskId"),
        DB_COLUMN(struct counter, name, "name"),
        DB_COLUMN(struct counter, value, "value"),
    };
    struct db_rows rows;
    struct counter c;
    uint32_t work;

    DB_SCAN(&rows, &r->a->db, "TASK_PMU_INFO", columns);
    while (db_read_row(&rows, &c)) {
        if (c.global == DB_NONE || c.name == DB_NONE || c.value == 0 ||
            !hash_get(&r->work_of, (uint64_t)c.global, &work))
            continue;
        strid key = db_strings_intern(&r->a->strings, r->a->cap, c.name);
        if (key != 0)
            vec_push(&r->counters, ((struct pmu){work, key, c.value}));
    }
}

/* Counters in order of their works, each work's own in order of arrival. */
static void sort_counters(struct device_reader *r)
{
    size_t *first = ARENA_ARRAY(&r->arena, size_t, r->works.n + 2);

    if (r->counters.n == 0)
        return;
    for (size_t i = 0; i < r->counters.n; i++)
        first[r->counters.at[i].work + 2]++;
    for (size_t i = 2; i < r->works.n + 2; i++)
        first[i] += first[i - 1];
    r->counter = ARENA_ARRAY(&r->arena, struct attr, r->counters.n);
    for (size_t i = 0; i < r->counters.n; i++) { /* leaves first[w] where w's counters begin */
        const struct pmu *c = &r->counters.at[i];
        r->counter[first[c->work + 1]++] = attr_real(c->key, c->value);
    }
    vec_free(&r->counters);
    r->first_counter = first;
}

/* ---- copies, and the steps of collectives ---- */

static void read_copies(struct device_reader *r)
{
    static const struct db_column columns[] = {
        DB_COLUMN(struct copy, global, "globalTaskId"),
        DB_OR(struct copy, size, "size", NOTHING),
        DB_OR(struct copy, operation, "memcpyOperation", NOTHING),
    };
    struct db_rows rows;
    struct copy copy;

    DB_SCAN(&rows, &r->a->db, "MEMCPY_INFO", columns);
    while (db_read_row(&rows, &copy)) {
        if (copy.global == DB_NONE)
            continue;
        hash_put(&r->copy_of, (uint64_t)copy.global, (uint32_t)r->copies.n);
        vec_push(&r->copies, copy);
    }
}

struct plane {
    struct db_name type, name;
    int64_t global, plane, group, size, src, dst, op;
};

static const struct db_column plane_columns[] = {
    DB_COLUMN(struct plane, global, "globalTaskId"),
    DB_COLUMN(struct plane, type, "taskType"),
    DB_COLUMN(struct plane, name, "name"),
    DB_OR(struct plane, plane, "planeId", 0),
    DB_COLUMN(struct plane, group, "groupName"),
    DB_COLUMN(struct plane, size, "size"),
    DB_COLUMN(struct plane, src, "srcRank"),
    DB_COLUMN(struct plane, dst, "dstRank"),
    DB_COLUMN(struct plane, op, "opId"),
};

static lane_id plane_lane(struct device_reader *r, const struct plane *p)
{
    struct capture *cap = r->a->cap;
    struct str group = ascend_db_text(r->a, p->group);

    return capture_lane(cap, (struct lane_key){.kind = LANE_OTHER,
                                               .device = (int32_t)r->a->device,
                                               .process = capture_intern(cap, S("HCCL")),
                                               .name = capture_intern_format(
                                                   cap, "Plane %lld%s%.*s", (long long)p->plane,
                                                   group.n > 0 ? " of " : "", STR_ARGS(group))});
}

static void read_planes(struct device_reader *r)
{
    struct ascend_db *a = r->a;
    struct db_rows rows;
    struct plane p;

    DB_SCAN(&rows, &a->db, "COMMUNICATION_TASK_INFO", plane_columns);
    while (db_read_row(&rows, &p)) {
        if (p.global == DB_NONE)
            continue;
        if (!a->is_alone && p.op != DB_NONE) {
            hash_put(&r->op_of_task, (uint64_t)p.global, (uint32_t)r->comm_op_ids.n);
            vec_push(&r->comm_op_ids, p.op);
        }
        struct attr whole =
            attr_text(capture_intern(a->cap, S("collective")), ascend_db_name(a, &rows, p.name));
        struct attr own[3];
        size_t n = device_put_number(own, 0, capture_intern(a->cap, S("size(Byte)")), p.size);
        n = device_put_number(own, n, capture_intern(a->cap, S("src rank")), p.src);
        n = device_put_number(own, n, capture_intern(a->cap, S("dst rank")), p.dst);
        struct plane_task task = {
            .name = ascend_db_name(a, &rows, p.type),
            .lane = plane_lane(r, &p),
            .set = attrs_set(&a->cap->attrs, &whole, 1),
            .own = attrs_own(&a->cap->attrs, own, n),
        };
        hash_put(&r->plane_of, (uint64_t)p.global, (uint32_t)r->planes.n);
        vec_push(&r->planes, task);
    }
}

/* ---- tasks ---- */

struct task {
    int64_t start, end, device, connection, global, stream, task;
    struct db_name type;
};

static const struct db_column task_columns[] = {
    DB_COLUMN(struct task, start, "startNs"),
    DB_COLUMN(struct task, end, "endNs"),
    DB_COLUMN(struct task, device, "deviceId"),
    DB_COLUMN(struct task, connection, "connectionId"),
    DB_COLUMN(struct task, global, "globalTaskId"),
    DB_COLUMN(struct task, type, "taskType"),
    DB_OR(struct task, stream, "streamId", NOTHING),
    DB_COLUMN(struct task, task, "taskId"),
};

static lane_id stream_lane(struct device_reader *r, int64_t stream)
{
    struct capture *cap = r->a->cap;
    uint32_t lane;

    if (hash_get(&r->lane_of, (uint64_t)stream, &lane))
        return lane;
    lane = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM,
                                               .device = (int32_t)r->a->device,
                                               .name = stream == NOTHING
                                                           ? capture_intern(cap, S("N/A"))
                                                           : capture_intern_format(
                                                                 cap, "%lld", (long long)stream)});
    hash_put(&r->lane_of, (uint64_t)stream, lane);
    return lane;
}

/* A task without a description of its own, as work: for files whose COMPUTE_TASK_INFO is gone. */
static bool undescribed_work(struct device_reader *r, const struct task *t, bool in_plane,
                             uint32_t *work)
{
    struct capture *cap = r->a->cap;
    struct str type = ascend_db_text(r->a, t->type.id), core = classify_core(type);

    if (in_plane || r->work_of.n > 0 || classify_task(core) != SLICE_COMPUTE ||
        str_equal_nocase(core, S("OTHER")))
        return false;
    struct attr attr = attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, core));
    *work = (uint32_t)r->works.n;
    vec_push(&r->works, ((struct work){.name = capture_intern(cap, type),
                                       .set = attrs_set(&cap->attrs, &attr, 1),
                                       .kind = classify_kernel(VENDOR_ASCEND, core, type, S(""))}));
    return true;
}

static const char *copy_direction(int64_t operation)
{
    static const char *const names[] = {
        "host to host",     "host to device", "device to host",
        "device to device", "managed memory", "device to device by address",
        "host to device",   "device to host",
    };

    return operation >= 0 && operation < (int64_t)ARRAY_LEN(names) ? names[operation] : "other";
}

static uint32_t put_evidence(struct device_reader *r, const struct db_rows *rows,
                             const struct task *t, struct slice *slice, bool in_plane)
{
    struct ascend_db *a = r->a;
    struct capture *cap = a->cap;
    struct str type = ascend_db_text(a, t->type.id);
    struct attr list[4];
    uint32_t place;
    size_t n = 0;

    bool has_copy = t->global != DB_NONE && hash_get(&r->copy_of, (uint64_t)t->global, &place);
    n = device_put_number(list, n, capture_key(cap, KEY_TASK), t->task);
    if (ascend_db_is_linked(t->connection))
        list[n++] = attr_int(capture_key(cap, KEY_LINK), t->connection);
    if (has_copy) {
        const struct copy *copy = &r->copies.at[place];
        list[n++] = attr_int(capture_intern(cap, S("size(B)")), copy->size);
        list[n++] = attr_text(capture_intern(cap, S("operation")),
                              capture_intern(cap, str_of(copy_direction(copy->operation))));
    }
    slice->name = ascend_db_name(a, rows, t->type);
    slice->own = attrs_own(&cap->attrs, list, n);
    if (str_contains_nocase(type, S("wait")))
        slice->kind = SLICE_WAIT;
    else if (!in_plane && (has_copy || classify_task(type) == SLICE_COPY))
        slice->kind = SLICE_COPY;
    else
        slice->kind = SLICE_CONTROL;
    return capture_slice(cap, slice);
}

static void add_busy(struct device_reader *r, const struct slice *slice, int64_t task,
                     int64_t connection, uint32_t work)
{
    vec_push(&r->busy,
             ((struct pending){.begin = slice->begin,
                               .dur = slice->dur,
                               .task = task,
                               .connection = ascend_db_is_linked(connection) ? connection : NOTHING,
                               .lane = slice->lane,
                               .work = work,
                               .order = (uint32_t)r->busy.n}));
}

static void take_task(struct device_reader *r, const struct db_rows *rows, const struct task *t)
{
    struct ascend_db *a = r->a;
    uint32_t work, plane;
    struct slice slice = {0};

    bool has_global = t->global != DB_NONE;
    bool is_described = has_global && hash_get(&r->work_of, (uint64_t)t->global, &work);
    if (is_described)
        r->works.at[work].has_task = true;
    if (t->device != DB_NONE && t->device != a->device)
        return;
    a->i->rows++;
    if (!ascend_db_times(a, rows, t->start, t->end, &slice))
        return;
    bool in_plane = has_global && hash_get(&r->plane_of, (uint64_t)t->global, &plane);
    slice.lane = stream_lane(r, t->stream);
    if (is_described || undescribed_work(r, t, in_plane, &work)) {
        add_busy(r, &slice, t->task != DB_NONE ? t->task : NOTHING, t->connection, work);
    } else {
        uint32_t at = put_evidence(r, rows, t, &slice, in_plane);
        if (ascend_db_is_linked(t->connection) && !in_plane)
            vec_push(&a->tasks, ((struct db_link){t->connection, at}));
    }
    if (in_plane) {
        const struct plane_task *p = &r->planes.at[plane];
        capture_slice(a->cap, &(struct slice){.begin = slice.begin,
                                              .dur = slice.dur,
                                              .lane = p->lane,
                                              .name = p->name,
                                              .set = p->set,
                                              .own = p->own,
                                              .kind = SLICE_OTHER});
        if (!a->is_alone && hash_get(&r->op_of_task, (uint64_t)t->global, &plane))
            hash_put(&r->device_of_op, (uint64_t)r->comm_op_ids.at[plane], 1);
    }
}

static void read_tasks(struct device_reader *r)
{
    size_t described = r->works.n;
    struct db_rows rows;
    struct task t;

    DB_SCAN(&rows, &r->a->db, "TASK", task_columns);
    while (db_read_row(&rows, &t))
        take_task(r, &rows, &t);
    for (size_t i = 0; i < described; i++)
        if (!r->works.at[i].has_task && !r->works.at[i].is_schedule)
            import_lose(r->a->i, import_file(r->a->i), "ascend-db.task-missing",
                        "operator skipped: no start time in table TASK");
    if (r->work_of.n == 0 && r->busy.n > 0)
        import_report(r->a->i, SEV_WARN, "ascend-db.no-descriptions",
                      "no operator descriptions; kernels are recognised by task type");
}

/* ---- collectives ---- */

struct db_collective {
    struct db_name name;
    int64_t start, end, connection, group, op, type, device, dtype, algorithm;
};

static const struct db_column comm_columns[] = {
    DB_COLUMN(struct db_collective, name, "opName"),
    DB_COLUMN(struct db_collective, start, "startNs"),
    DB_COLUMN(struct db_collective, end, "endNs"),
    DB_COLUMN(struct db_collective, connection, "connectionId"),
    DB_COLUMN(struct db_collective, group, "groupName"),
    DB_COLUMN(struct db_collective, op, "opId"),
    DB_COLUMN(struct db_collective, type, "opType"),
    DB_COLUMN(struct db_collective, device, "deviceId"),
    DB_COLUMN(struct db_collective, dtype, "dataType"),
    DB_COLUMN(struct db_collective, algorithm, "algType"),
};

/* Files of several devices tell the device of a collective by a column, or by its tasks. */
static bool is_ours(const struct device_reader *r, const struct db_collective *c)
{
    uint32_t unused;

    if (c->device != DB_NONE)
        return c->device == r->a->device;
    if (r->a->is_alone || r->device_of_op.n == 0)
        return true;
    return c->op != DB_NONE && hash_get(&r->device_of_op, (uint64_t)c->op, &unused);
}

static attr_run comm_set(struct device_reader *r, const struct db_collective *c,
                         const struct db_strings *dtypes, struct str core)
{
    struct capture *cap = r->a->cap;
    struct attr list[6];
    size_t n = 0;

    n = device_put_text(r, list, n, capture_key(cap, KEY_TYPE), ascend_db_text(r->a, c->type));
    n = device_put_text(r, list, n, capture_key(cap, KEY_CORE), core);
    list[n++] = attr_int(capture_key(cap, KEY_BLOCK_DIM), 0); /* as the text export prints it */
    n = device_put_text(r, list, n, capture_intern(cap, S("group")),
                        ascend_db_text(r->a, c->group));
    n = device_put_text(r, list, n, capture_intern(cap, S("alg_type")),
                        ascend_db_text(r->a, c->algorithm));
    if (c->dtype != DB_NONE)
        n = device_put_text(r, list, n, capture_intern(cap, S("data_type")),
                            db_strings_text(dtypes, c->dtype));
    return attrs_set(&cap->attrs, list, n);
}

static void read_collectives(struct device_reader *r)
{
    struct ascend_db *a = r->a;
    struct lane_key key = {
        .kind = LANE_COMM, .device = (int32_t)a->device, .name = capture_intern(a->cap, S("N/A"))};
    enum { API_COMMUNICATION = 5500 };
    struct db_strings types, dtypes;
    struct db_rows rows;
    struct db_collective c;

    /* What the text export of the same version writes as the core of a collective. */
    db_strings_read(&types, &a->db, "ENUM_API_TYPE");
    bool is_new = str_equal_nocase(db_strings_text(&types, API_COMMUNICATION), S("communication"));
    struct str core = is_new ? S("COMMUNICATION") : S("HCCL");
    db_strings_free(&types);
    db_strings_read(&dtypes, &a->db, "ENUM_HCCL_DATA_TYPE");
    DB_SCAN(&rows, &a->db, "COMMUNICATION_OP", comm_columns);
    while (db_read_row(&rows, &c)) {
        struct slice slice = {0};
        if (!is_ours(r, &c))
            continue;
        a->i->rows++;
        if (!ascend_db_times(a, &rows, c.start, c.end, &slice))
            continue;
        slice.lane = capture_lane(a->cap, key);
        add_busy(r, &slice, NOTHING, c.connection, (uint32_t)r->works.n);
        vec_push(&r->works, ((struct work){.name = ascend_db_name(a, &rows, c.name),
                                           .set = comm_set(r, &c, &dtypes, core),
                                           .kind = SLICE_COMM}));
    }
    db_strings_free(&dtypes);
}

/* ---- waits, and into the capture ---- */

ORDER_BY(by_begin, struct pending, ORDER(x->begin, y->begin) ?: ORDER(x->order, y->order));

static void sort_busy(struct device_reader *r)
{
    for (size_t i = 1; i < r->busy.n; i++)
        if (r->busy.at[i].begin < r->busy.at[i - 1].begin) {
            qsort(r->busy.at, r->busy.n, sizeof(*r->busy.at), by_begin);
            return;
        }
}

/* Device halves whose collective is there are evidence: it overlaps them in time. */
static void settle_schedules(struct device_reader *r, bool *is_evidence)
{
    nanos open_until = INT64_MIN, next = INT64_MAX;

    for (size_t i = 0; i < r->busy.n; i++) {
        const struct pending *p = &r->busy.at[i];
        nanos end = nanos_add(p->begin, p->dur);
        if (r->works.at[p->work].kind == SLICE_COMM)
            open_until = end > open_until ? end : open_until;
        else if (r->works.at[p->work].is_schedule)
            is_evidence[i] = p->begin < open_until;
    }
    for (size_t i = r->busy.n; i > 0; i--) {
        const struct pending *p = &r->busy.at[i - 1];
        if (r->works.at[p->work].kind == SLICE_COMM)
            next = p->begin;
        else if (r->works.at[p->work].is_schedule && next < nanos_add(p->begin, p->dur))
            is_evidence[i - 1] = true;
    }
}

static void put_busy(struct device_reader *r, const struct pending *p, bool is_evidence, nanos wait)
{
    const struct work *work = &r->works.at[p->work];
    struct capture *cap = r->a->cap;
    struct attr list[64];
    size_t n = 0;

    if (!is_evidence)
        list[n++] = attr_time(capture_key(cap, KEY_WAIT), wait);
    if (p->task != NOTHING)
        list[n++] = attr_int(capture_key(cap, KEY_TASK), p->task);
    if (p->connection != NOTHING)
        list[n++] = attr_int(capture_key(cap, KEY_LINK), p->connection);
    if (r->first_counter != NULL)
        for (size_t c = r->first_counter[p->work];
             c < r->first_counter[p->work + 1] && n < ARRAY_LEN(list); c++)
            list[n++] = r->counter[c];
    uint32_t slice =
        capture_slice(cap, &(struct slice){.begin = p->begin,
                                           .dur = p->dur,
                                           .lane = p->lane,
                                           .name = work->name,
                                           .set = work->set,
                                           .own = attrs_own(&cap->attrs, list, n),
                                           .kind = is_evidence ? SLICE_CONTROL : work->kind});
    if (p->connection != NOTHING)
        vec_push(&r->a->tasks, ((struct db_link){p->connection, slice}));
}

static void put_all(struct device_reader *r)
{
    bool *is_evidence = ARENA_ARRAY(&r->arena, bool, r->busy.n);
    const struct pending *before = NULL;

    sort_busy(r);
    settle_schedules(r, is_evidence);
    sort_counters(r);
    for (size_t i = 0; i < r->busy.n; i++) {
        const struct pending *p = &r->busy.at[i];
        nanos wait = 0;
        if (before != NULL && p->begin > nanos_add(before->begin, before->dur))
            wait = nanos_sub(p->begin, nanos_add(before->begin, before->dur));
        put_busy(r, p, is_evidence[i], wait);
        if (!is_evidence[i])
            before = p;
    }
}

void ascend_db_read_device(struct ascend_db *a)
{
    struct device_reader r = {.a = a};

    arena_init(&r.arena);
    read_compute(&r, "COMPUTE_TASK_INFO", false);
    read_compute(&r, "COMMUNICATION_SCHEDULE_TASK_INFO", true);
    read_counters(&r);
    read_copies(&r);
    read_planes(&r);
    read_tasks(&r);
    read_collectives(&r);
    put_all(&r);
    vec_free(&r.works);
    vec_free(&r.planes);
    vec_free(&r.copies);
    vec_free(&r.counters);
    vec_free(&r.busy);
    vec_free(&r.comm_op_ids);
    hash_free(&r.work_of);
    hash_free(&r.plane_of);
    hash_free(&r.copy_of);
    hash_free(&r.lane_of);
    hash_free(&r.device_of_op);
    hash_free(&r.op_of_task);
    arena_free(&r.arena);
}
