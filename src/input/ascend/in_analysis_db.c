/*
 * analysis-db: analysis.db, what the profiler itself worked out of an Ascend profile: the parts of
 * every step, and the time and traffic of every collective.
 *
 * It is the database twin of step_trace_time.csv and communication.json and has no timeline.
 * Format reference: docs/formats/analysis-db.md
 */
#include "input/db_devices.h"
#include "input/db_probe.h"
#include "input/sidecar.h"

struct analysis_db {
    struct import *i;
    struct capture *cap;
    struct db db;
};

static int analysis_db_probe(const struct probe *p)
{
    static const struct str tables[] = {S_INIT("StepTraceTime"), S_INIT("CommAnalyzerTime")};

    if (!db_is_sqlite(p->head))
        return 0;
    return input_claims(&input_analysis_db, p->name) ? 95 : db_probe(p, tables, 2) ? 90 : 0;
}

static void lose(struct analysis_db *a, const struct db_rows *rows, const char *what)
{
    import_lose(a->i, import_file(a->i), "analysis-db.bad-row", "row %llu of %s skipped: %s",
                (unsigned long long)rows->n, rows->table, what);
}

struct db_step_row {
    struct str step;
    struct step_trace t;
};

static const struct db_column step_columns[] = {
    DB_COLUMN(struct db_step_row, step, "step"),
    DB_OR(struct db_step_row, t.device, "deviceId", UNKNOWN),
    DB_TIME(struct db_step_row, t.computing, "computing", DB_AS_US, DB_NONE),
    DB_TIME(struct db_step_row, t.comm_exposed, "communication_not_overlapped", DB_AS_US, 0),
    DB_TIME(struct db_step_row, t.overlapped, "overlapped", DB_AS_US, 0),
    DB_TIME(struct db_step_row, t.communication, "communication", DB_AS_US, 0),
    DB_TIME(struct db_step_row, t.free_time, "free", DB_AS_US, 0),
    DB_TIME(struct db_step_row, t.stage, "stage", DB_AS_US, 0),
    DB_TIME(struct db_step_row, t.bubble, "bubble", DB_AS_US, 0),
    DB_TIME(struct db_step_row, t.preparing, "preparing", DB_AS_US, -1),
};

static void read_steps(struct analysis_db *a)
{
    struct db_rows rows;
    struct db_step_row row = {.t.rank = UNKNOWN};

    DB_SCAN(&rows, &a->db, "StepTraceTime", step_columns);
    while (db_read_row(&rows, &row)) {
        a->i->rows++;
        if (row.t.device >= 0 && import_is_other_device(a->i, row.t.device))
            continue;
        if (row.t.computing == DB_NONE) {
            lose(a, &rows, "no computing time");
            continue;
        }
        row.t.step = sidecar_step(a->cap, row.step); /* "step50" of other tables is "50" here */
        vec_push(&a->cap->step_traces, row.t);
    }
}

struct time_row {
    struct str name, group, step, type;
    struct comm_op op;
};

static const struct db_column time_columns[] = {
    DB_COLUMN(struct time_row, name, "hccl_op_name"),
    DB_COLUMN(struct time_row, group, "group_name"),
    DB_COLUMN(struct time_row, step, "step"),
    DB_COLUMN(struct time_row, type, "type"),
    DB_TIME(struct time_row, op.begin, "start_timestamp", DB_AS_US, 0),
    DB_TIME(struct time_row, op.elapse, "elapse_time", DB_AS_MS, DB_NONE),
    DB_TIME(struct time_row, op.transit, "transit_time", DB_AS_MS, 0),
    DB_TIME(struct time_row, op.wait, "wait_time", DB_AS_MS, 0),
    DB_TIME(struct time_row, op.sync, "synchronization_time", DB_AS_MS, 0),
    DB_TIME(struct time_row, op.idle, "idle_time", DB_AS_MS, 0),
};

static void read_times(struct analysis_db *a, struct hash *places)
{
    struct capture *cap = a->cap;
    struct db_rows rows;
    struct time_row row = {.op.rank = UNKNOWN};

    DB_SCAN(&rows, &a->db, "CommAnalyzerTime", time_columns);
    while (db_read_row(&rows, &row)) {
        struct comm_op *op = &row.op;
        a->i->rows++;
        if (str_starts(row.name, S("Total Op Info")))
            continue; /* the sum of the others */
        if (row.name.n == 0 || op->elapse == DB_NONE) {
            lose(a, &rows, "no name or time");
            continue;
        }
        op->name = capture_intern(cap, row.name);
        op->group = capture_intern(cap, row.group);
        op->step = sidecar_step(cap, row.step);
        op->is_p2p = str_equal(row.type, S("p2p"));
        hash_put(places, hash_mix((uint64_t)op->name << 32 | op->group, op->step),
                 (uint32_t)cap->comm_ops.n);
        vec_push(&cap->comm_ops, *op);
    }
}

struct band_row {
    struct str name, group, step, transport;
    double mb, ms;
};

static const struct db_column band_columns[] = {
    DB_COLUMN(struct band_row, name, "hccl_op_name"),
    DB_COLUMN(struct band_row, group, "group_name"),
    DB_COLUMN(struct band_row, step, "step"),
    DB_COLUMN(struct band_row, transport, "transport_type"),
    DB_COLUMN(struct band_row, mb, "transit_size"),
    DB_COLUMN(struct band_row, ms, "transit_time"),
};

/* What a collective moved: SDMA is the sum of HCCS, PCIE and SIO, and some writers leave it out. */
enum transport { SDMA, RDMA, PARTS, TRANSPORTS };

struct traffic {
    bool has_sdma;
    double mb[TRANSPORTS], ms[TRANSPORTS];
};

/* One row for every package size repeats the totals of its transport: each counts once. */
static void read_traffic(struct analysis_db *a, const struct hash *places, struct traffic *list)
{
    struct capture *cap = a->cap;
    struct hash seen = {0};
    struct db_rows rows;
    struct band_row band;
    uint32_t place;

    DB_SCAN(&rows, &a->db, "CommAnalyzerBandwidth", band_columns);
    while (db_read_row(&rows, &band)) {
        strid name = capture_intern(cap, band.name);
        strid group = capture_intern(cap, band.group);
        strid step = sidecar_step(cap, band.step);
        strid transport = capture_intern(cap, band.transport);
        uint32_t row = (uint32_t)rows.n;
        a->i->rows++;
        if (!hash_get(places, hash_mix((uint64_t)name << 32 | group, step), &place))
            continue;
        const struct comm_op *op = &cap->comm_ops.at[place];
        if (op->name != name || op->group != group || op->step != step ||
            hash_add(&seen, (uint64_t)place << 32 | transport, row) != row)
            continue;
        enum transport by = str_equal(band.transport, S("SDMA"))   ? SDMA
                            : str_equal(band.transport, S("RDMA")) ? RDMA
                                                                   : PARTS;
        list[place].has_sdma = list[place].has_sdma || by == SDMA;
        list[place].mb[by] += band.mb;
        list[place].ms[by] += band.ms;
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
        enum transport inside = t->has_sdma ? SDMA : PARTS;
        cap->comm_ops.at[i].megabytes += t->mb[RDMA] + t->mb[inside];
        cap->comm_ops.at[i].transit_ms += t->ms[RDMA] + t->ms[inside];
    }
    hash_free(&places);
    arena_free(&arena);
}

static enum status read_analysis_db(struct import *i)
{
    struct analysis_db a = {.i = i, .cap = i->cap};
    enum status st = ST_OK;

    TRY(import_db_open(i, &a.db));
    if (!db_has_table(&a.db, S("StepTraceTime")) && !db_has_table(&a.db, S("CommAnalyzerTime")))
        st = import_refuse(i, import_file(i), "analysis-db.no-tables",
                           "a database without StepTraceTime and CommAnalyzerTime");
    read_steps(&a);
    read_collectives(&a);
    import_db_close(i, &a.db);
    return st;
}

const struct input_format input_analysis_db = {
    .name = "analysis-db",
    .summary = "step and communication times of an Ascend profile (SQLite)",
    .looks_for = "analysis.db",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .streams = true,
    .probe = analysis_db_probe,
    .read = read_analysis_db,
};
