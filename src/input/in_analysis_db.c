/*
 * analysis-db: analysis.db, what the profiler itself worked out of an Ascend profile: the parts of
 * every step, and the time and traffic of every collective.
 *
 * It is the database twin of step_trace_time.csv and communication.json and has no timeline.
 * Format reference: docs/formats/analysis-db.md
 */
#include "input/db_devices.h"
#include "input/db_probe.h"

struct analysis_db {
    struct import *i;
    struct capture *cap;
    struct db db;
};

static int probe(const struct probe *p)
{
    static const struct str steps = S_INIT("StepTraceTime"), comm = S_INIT("CommAnalyzerTime");

    if (!db_is_sqlite(p->head))
        return 0;
    return input_claims(&input_analysis_db, p->name)         ? 95
           : db_probe(p, &steps, 1) || db_probe(p, &comm, 1) ? 90
                                                             : 0;
}

static void lose(struct analysis_db *a, const struct db_rows *rows, const char *what)
{
    import_lose(a->i, import_file(a->i), "analysis-db.bad-row", "row %llu of %s skipped: %s",
                (unsigned long long)rows->n, rows->table, what);
}

/* "step50" of the one table is "50" of the other. */
static strid step_id(struct analysis_db *a, struct str text)
{
    if (str_starts(text, S("step")))
        text = str_part(text, 4, text.n);
    return capture_intern(a->cap, text);
}

enum step_column {
    S_STEP,
    S_DEVICE,
    S_COMPUTING,
    S_EXPOSED,
    S_OVERLAPPED,
    S_COMMUNICATION,
    S_FREE,
    S_STAGE,
    S_BUBBLE,
    S_PREPARING,
    S_COUNT
};

static const char *const step_columns[S_COUNT] = {
    [S_STEP] = "step",
    [S_DEVICE] = "deviceId",
    [S_COMPUTING] = "computing",
    [S_EXPOSED] = "communication_not_overlapped",
    [S_OVERLAPPED] = "overlapped",
    [S_COMMUNICATION] = "communication",
    [S_FREE] = "free",
    [S_STAGE] = "stage",
    [S_BUBBLE] = "bubble",
    [S_PREPARING] = "preparing",
};

static void read_steps(struct analysis_db *a)
{
    struct db_rows rows;

    db_rows_open(&rows, &a->db, "StepTraceTime", step_columns, S_COUNT);
    while (db_rows_next(&rows)) {
        struct step_trace t = {.rank = UNKNOWN, .device = UNKNOWN, .preparing = -1};
        a->i->rows++;
        db_i64(&rows, S_DEVICE, &t.device);
        if (t.device >= 0 && import_is_other_device(a->i, t.device))
            continue;
        if (!db_us(&rows, S_COMPUTING, &t.computing)) {
            lose(a, &rows, "it has no computing time");
            continue;
        }
        db_us(&rows, S_EXPOSED, &t.comm_exposed);
        db_us(&rows, S_OVERLAPPED, &t.overlapped);
        db_us(&rows, S_COMMUNICATION, &t.communication);
        db_us(&rows, S_FREE, &t.free_time);
        db_us(&rows, S_STAGE, &t.stage);
        db_us(&rows, S_BUBBLE, &t.bubble);
        db_us(&rows, S_PREPARING, &t.preparing);
        t.step = step_id(a, db_text(&rows, S_STEP));
        vec_push(&a->cap->step_traces, t);
    }
}

enum time_column {
    T_NAME,
    T_GROUP,
    T_START,
    T_ELAPSE,
    T_TRANSIT,
    T_WAIT,
    T_SYNC,
    T_IDLE,
    T_STEP,
    T_TYPE,
    T_COUNT
};

static const char *const time_columns[T_COUNT] = {
    "hccl_op_name", "group_name",           "start_timestamp", "elapse_time", "transit_time",
    "wait_time",    "synchronization_time", "idle_time",       "step",        "type",
};

/* What a collective is known by in both tables. */
static uint64_t op_key(strid name, strid group, strid step)
{
    return hash_mix((uint64_t)name << 32 | group, step);
}

static bool same_op(const struct comm_op *op, strid name, strid group, strid step)
{
    return op->name == name && op->group == group && op->step == step;
}

static void read_times(struct analysis_db *a, struct hash *places)
{
    struct capture *cap = a->cap;
    struct db_rows rows;

    db_rows_open(&rows, &a->db, "CommAnalyzerTime", time_columns, T_COUNT);
    while (db_rows_next(&rows)) {
        struct comm_op op = {.rank = UNKNOWN};
        struct str name = db_text(&rows, T_NAME);
        a->i->rows++;
        if (str_starts(name, S("Total Op Info")))
            continue; /* the sum of the others */
        if (name.n == 0 || !db_ms(&rows, T_ELAPSE, &op.elapse)) {
            lose(a, &rows, "it has no name or no time");
            continue;
        }
        op.name = capture_intern(cap, name);
        op.group = capture_intern(cap, db_text(&rows, T_GROUP));
        op.step = step_id(a, db_text(&rows, T_STEP));
        op.is_p2p = str_equal(db_text(&rows, T_TYPE), S("p2p"));
        db_us(&rows, T_START, &op.begin);
        db_ms(&rows, T_TRANSIT, &op.transit);
        db_ms(&rows, T_WAIT, &op.wait);
        db_ms(&rows, T_SYNC, &op.sync);
        db_ms(&rows, T_IDLE, &op.idle);
        hash_put(places, op_key(op.name, op.group, op.step), (uint32_t)cap->comm_ops.n);
        vec_push(&cap->comm_ops, op);
    }
}

enum band_column { B_NAME, B_GROUP, B_STEP, B_TRANSPORT, B_SIZE, B_TIME, B_COUNT };

static const char *const band_columns[B_COUNT] = {
    "hccl_op_name", "group_name", "step", "transport_type", "transit_size", "transit_time",
};

/* What a collective moved: SDMA is the sum of HCCS, PCIE and SIO, and some writers leave it out. */
struct traffic {
    bool has_sdma;
    double sdma_mb, sdma_ms, parts_mb, parts_ms, rdma_mb, rdma_ms;
};

static void add_traffic(struct traffic *t, struct str transport, double mb, double ms)
{
    if (str_equal(transport, S("SDMA"))) {
        t->has_sdma = true;
        t->sdma_mb += mb;
        t->sdma_ms += ms;
    } else if (str_equal(transport, S("RDMA"))) {
        t->rdma_mb += mb;
        t->rdma_ms += ms;
    } else {
        t->parts_mb += mb;
        t->parts_ms += ms;
    }
}

/* One row for every package size repeats the totals of its transport: each counts once. */
static void read_traffic(struct analysis_db *a, const struct hash *places, struct traffic *list)
{
    struct capture *cap = a->cap;
    struct hash seen = {0};
    struct db_rows rows;
    uint32_t place;

    db_rows_open(&rows, &a->db, "CommAnalyzerBandwidth", band_columns, B_COUNT);
    while (db_rows_next(&rows)) {
        strid name = capture_intern(cap, db_text(&rows, B_NAME));
        strid group = capture_intern(cap, db_text(&rows, B_GROUP));
        strid step = step_id(a, db_text(&rows, B_STEP));
        strid transport = capture_intern(cap, db_text(&rows, B_TRANSPORT));
        uint32_t row = (uint32_t)rows.n;
        double mb = 0, ms = 0;
        a->i->rows++;
        if (!hash_get(places, op_key(name, group, step), &place) ||
            !same_op(&cap->comm_ops.at[place], name, group, step) ||
            hash_add(&seen, (uint64_t)place << 32 | transport, row) != row)
            continue;
        db_f64(&rows, B_SIZE, &mb);
        db_f64(&rows, B_TIME, &ms);
        add_traffic(&list[place], capture_text(cap, transport), mb, ms);
    }
    hash_free(&seen);
}

static void read_collectives(struct analysis_db *a)
{
    struct capture *cap = a->cap;
    struct hash places = {0};
    struct arena arena;

    arena_init(&arena);
    read_times(a, &places);
    struct traffic *list = ARENA_ARRAY(&arena, struct traffic, cap->comm_ops.n);
    read_traffic(a, &places, list);
    for (size_t i = 0; i < cap->comm_ops.n; i++) {
        const struct traffic *t = &list[i];
        cap->comm_ops.at[i].megabytes += t->rdma_mb + (t->has_sdma ? t->sdma_mb : t->parts_mb);
        cap->comm_ops.at[i].transit_ms += t->rdma_ms + (t->has_sdma ? t->sdma_ms : t->parts_ms);
    }
    hash_free(&places);
    arena_free(&arena);
}

static enum status read_analysis_db(struct import *i)
{
    struct analysis_db a = {.i = i, .cap = i->cap};
    enum status st = ST_OK;

    TRY(db_import_open(i, &a.db));
    if (!db_has_table(&a.db, S("StepTraceTime")) && !db_has_table(&a.db, S("CommAnalyzerTime")))
        st = import_refuse(i, import_file(i), "analysis-db.no-tables",
                           "a database without StepTraceTime and CommAnalyzerTime");
    read_steps(&a);
    read_collectives(&a);
    db_import_close(i, &a.db);
    return st;
}

const struct input_format input_analysis_db = {
    .name = "analysis-db",
    .summary = "step and communication times of an Ascend profile (SQLite)",
    .looks_for = "analysis.db",
    .role = ROLE_SIDECAR,
    .streams = true,
    .probe = probe,
    .read = read_analysis_db,
};
