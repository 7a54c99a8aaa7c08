#include "synth/to_db.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

static const char schema[] =
    "CREATE TABLE NPU_INFO (id INTEGER,name TEXT);"
    "CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER,endTimeNs INTEGER);"
    "CREATE TABLE HOST_INFO (hostUid TEXT,hostName TEXT);"
    "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER,deviceId INTEGER);"
    "CREATE TABLE META_DATA (name TEXT,value TEXT);"
    "CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY,name TEXT);"
    "CREATE TABLE ENUM_HCCL_DATA_TYPE (id INTEGER PRIMARY KEY,name TEXT);"
    "CREATE TABLE ENUM_HCCL_LINK_TYPE (id INTEGER PRIMARY KEY,name TEXT);"
    "CREATE TABLE ENUM_HCCL_TRANSPORT_TYPE (id INTEGER PRIMARY KEY,name TEXT);"
    "CREATE TABLE ENUM_MEMCPY_OPERATION (id INTEGER PRIMARY KEY,name TEXT);"
    "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY,value TEXT);"
    "CREATE TABLE TASK (startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,"
    "globalTaskId INTEGER,globalPid INTEGER,taskType INTEGER,contextId INTEGER,streamId INTEGER,"
    "taskId INTEGER,modelId INTEGER);"
    "CREATE TABLE COMMUNICATION_OP (opName INTEGER,startNs INTEGER,endNs INTEGER,connectionId "
    "INTEGER,groupName INTEGER,opId INTEGER PRIMARY KEY,relay INTEGER,retry INTEGER,dataType "
    "INTEGER,algType INTEGER,count NUMERIC,opType INTEGER);"
    "CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER,globalTaskId INTEGER,taskType INTEGER,"
    "planeId INTEGER,groupName INTEGER,notifyId INTEGER,rdmaType INTEGER,srcRank INTEGER,dstRank "
    "INTEGER,transportType INTEGER,size INTEGER,dataType INTEGER,linkType INTEGER,opId INTEGER);"
    "CREATE TABLE CANN_API (startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,"
    "connectionId INTEGER PRIMARY KEY,name INTEGER);"
    "CREATE TABLE PYTORCH_API (startNs TEXT,endNs TEXT,globalTid INTEGER,connectionId INTEGER,name "
    "INTEGER,sequenceNumber INTEGER,fwdThreadId INTEGER,inputDtypes INTEGER,inputShapes INTEGER,"
    "callchainId INTEGER,type INTEGER);"
    "CREATE TABLE CONNECTION_IDS (id INTEGER,connectionId INTEGER);"
    "CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER,stack INTEGER,stackDepth INTEGER);"
    "CREATE TABLE STEP_TIME (id INTEGER,startNs INTEGER,endNs INTEGER);"
    "CREATE TABLE MEMCPY_INFO (globalTaskId INTEGER,size INTEGER,memcpyOperation INTEGER);"
    "CREATE TABLE OVERLAP_ANALYSIS (deviceId INTEGER,startNs INTEGER,endNs INTEGER,type INTEGER);"
    "CREATE TABLE GC_RECORD (startNs INTEGER,endNs INTEGER,globalTid INTEGER);"
    "INSERT INTO ENUM_API_TYPE VALUES (5000,'runtime'),(5500,'hccl'),(10000,'node'),(15000,"
    "'model'),(20000,'acl'),(50001,'op'),(50002,'queue'),(50003,'trace'),(50004,'mstx');"
    "INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (0,'INT8'),(2,'INT32'),(3,'FP16'),(4,'FP32'),(11,"
    "'BFP16'),(65534,'N/A'),(65535,'INVALID_TYPE');"
    "INSERT INTO ENUM_HCCL_LINK_TYPE VALUES (0,'ON_CHIP'),(1,'HCCS'),(2,'PCIE'),(3,'ROCE'),"
    "(65534,'N/A'),(65535,'INVALID_TYPE');"
    "INSERT INTO ENUM_HCCL_TRANSPORT_TYPE VALUES (0,'SDMA'),(1,'RDMA'),(2,'LOCAL'),(65534,'N/A'),"
    "(65535,'INVALID_TYPE');"
    "INSERT INTO ENUM_MEMCPY_OPERATION VALUES (0,'host to host'),(1,'host to device'),(2,'device "
    "to host'),(3,'device to device');"
    "INSERT INTO HOST_INFO VALUES ('3538958389648580163','synth');";

/* Newer exports call the number of cores blockNum. */
static const char compute_table[] =
    "CREATE TABLE COMPUTE_TASK_INFO (name INTEGER,globalTaskId INTEGER PRIMARY KEY,block%s "
    "INTEGER,mixBlock%s INTEGER,taskType INTEGER,opType INTEGER,inputFormats INTEGER,"
    "inputDataTypes INTEGER,inputShapes INTEGER,outputFormats INTEGER,outputDataTypes INTEGER,"
    "outputShapes INTEGER,attrInfo INTEGER)";

static const struct {
    const char *table;
    int columns;
} inserts[DB_STATEMENTS] = {
    [DB_TASK] = {"TASK", 11},
    [DB_COMPUTE] = {"COMPUTE_TASK_INFO", 13},
    [DB_COMM_OP] = {"COMMUNICATION_OP", 12},
    [DB_COMM_TASK] = {"COMMUNICATION_TASK_INFO", 14},
    [DB_CANN] = {"CANN_API", 6},
    [DB_PYTORCH] = {"PYTORCH_API", 11},
    [DB_CONNECTION] = {"CONNECTION_IDS", 2},
    [DB_CALLCHAIN] = {"PYTORCH_CALLCHAINS", 3},
    [DB_STEP] = {"STEP_TIME", 3},
    [DB_COPY] = {"MEMCPY_INFO", 3},
    [DB_OVERLAP] = {"OVERLAP_ANALYSIS", 4},
    [DB_GC] = {"GC_RECORD", 3},
    [DB_STRING] = {"STRING_IDS", 2},
};

enum { FRAMEWORK_IDS = 1 << 28 };
#define NO_MODEL INT64_C(4294967295)
#define NULL_ID  INT64_MIN /* becomes NULL */

static enum status failed(struct to_db *b)
{
    if (b->status == ST_OK)
        b->status = diag_fail(b->diag, ST_IO, "synth.database", (struct where){.path = b->path},
                              "SQLite: %s", sqlite3_errmsg(b->sqlite));
    return b->status;
}

static enum status execute(struct to_db *b, const char *sql)
{
    return sqlite3_exec(b->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ? ST_OK : failed(b);
}

static enum status prepare(struct to_db *b)
{
    char sql[256];

    for (int k = 0; k < DB_STATEMENTS; k++) {
        int n = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", inserts[k].table);
        for (int i = 1; i < inserts[k].columns; i++)
            n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
        snprintf(sql + n, sizeof sql - (size_t)n, ")");
        if (sqlite3_prepare_v2(b->sqlite, sql, -1, &b->statements[k], NULL) != SQLITE_OK)
            return failed(b);
    }
    return ST_OK;
}

enum status to_db_open(struct to_db *b, const char *path, const struct sim *s, const struct rank *r,
                       struct diag *d)
{
    char sql[512];
    const char *word = s->options->flavor == SYNTH_NEW ? "Num" : "Dim";

    *b = (struct to_db){.path = path, .sim = s, .rank = r, .diag = d};
    b->dialect = dialect_of(s->options);
    arena_init(&b->scratch);
    intern_init(&b->device);
    intern_init(&b->framework);
    unlink(path);
    if (sqlite3_open_v2(path, &b->sqlite,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return failed(b);
    TRY(execute(b, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                   "BEGIN"));
    snprintf(sql, sizeof sql, compute_table, word, word);
    TRY(execute(b, sql));
    TRY(execute(b, schema));
    return prepare(b);
}

static int64_t device_id(const struct to_db *b)
{
    return b->rank->id % 8;
}

/* Ids count from 0 in the files; 0 is the empty text in ours. */
static int64_t name_id(struct to_db *b, const char *text)
{
    return (int64_t)intern_put(&b->device, str_of(text));
}

static int64_t frame_id(struct to_db *b, struct str text)
{
    return FRAMEWORK_IDS + (int64_t)intern_put(&b->framework, text);
}

static void insert(struct to_db *b, enum db_statement which, const int64_t *values, int n)
{
    sqlite3_stmt *st = b->statements[which];

    assert(n == inserts[which].columns);
    if (b->status != ST_OK)
        return;
    for (int i = 0; i < n; i++) {
        if (values[i] == NULL_ID)
            sqlite3_bind_null(st, i + 1);
        else
            sqlite3_bind_int64(st, i + 1, values[i]);
    }
    if (sqlite3_step(st) != SQLITE_DONE)
        failed(b);
    sqlite3_reset(st);
    b->rows++;
}
#define INSERT(b, which, ...)                                                                      \
    insert((b), (which), (const int64_t[]){__VA_ARGS__},                                           \
           (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static int64_t global_tid(const struct to_db *b, enum thread thread)
{
    return b->rank->pid << 32 | rank_tid(b->rank, thread);
}

/* The stack of an operator, stored once for each operator and module. */
static int64_t callchain(struct to_db *b, const struct op *op)
{
    uint64_t key =
        op != NULL ? hash_mix((uint64_t)op->code + 1, hash_bytes(str_of(op->module))) : 1;
    struct str frames[STACK_DEPTH];
    uint32_t known;

    if (!b->sim->options->stacks)
        return NULL_ID;
    if (hash_get(&b->chains, key, &known))
        return known;
    stack_of(op, frames, &b->scratch);
    for (int64_t i = 0; i < STACK_DEPTH; i++)
        INSERT(b, DB_CALLCHAIN, b->chains_n, frame_id(b, frames[i]), i);
    hash_put(&b->chains, key, (uint32_t)b->chains_n);
    return b->chains_n++;
}

static int64_t connect(struct to_db *b, int64_t to)
{
    INSERT(b, DB_CONNECTION, b->connections, to);
    return b->connections++;
}

/* Shapes or types of an operator in the framework's spelling. */
static int64_t list_id(struct to_db *b, const char *list, bool is_types)
{
    struct put p;

    put_open_memory(&p);
    if (is_types)
        put_types(&p, list, ";\r\n");
    else
        put_list(&p, list, ";\r\n");
    int64_t id = frame_id(b, (struct str){p.at, p.n});
    put_abort(&p);
    return id;
}

/* The times of this table are texts. */
static void pytorch_row(struct to_db *b, const struct host_event *e, const int64_t values[9])
{
    sqlite3_stmt *st = b->statements[DB_PYTORCH];
    char begin[24], end[24];

    if (b->status != ST_OK)
        return;
    int begin_n = snprintf(begin, sizeof begin, "%lld", (long long)e->begin);
    nanos last = e->begin + e->dur;
    int end_n = snprintf(end, sizeof end, "%lld", (long long)last);
    sqlite3_bind_text(st, 1, begin, begin_n, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, end, end_n, SQLITE_STATIC);
    for (int i = 0; i < 9; i++) {
        if (values[i] == NULL_ID)
            sqlite3_bind_null(st, i + 3);
        else
            sqlite3_bind_int64(st, i + 3, values[i]);
    }
    if (sqlite3_step(st) != SQLITE_DONE)
        failed(b);
    sqlite3_reset(st);
    b->rows++;
}

static void framework_event(struct to_db *b, const struct host_event *e)
{
    int64_t tid = global_tid(b, e->thread), type = 50001, connection = NULL_ID;
    int64_t sequence = NULL_ID, forward = NULL_ID, types = NULL_ID, shapes = NULL_ID;
    int64_t chain = NULL_ID;
    struct str name = str_of(e->name);
    char step[48];

    if (e->kind == HOST_ENQUEUE || e->kind == HOST_DEQUEUE) {
        type = 50002;
        connection = connect(b, e->id);
    } else if (e->kind == HOST_PYTHON) {
        type = 50003;
    } else {
        sequence = e->parent;
        forward = e->op != NULL && e->op->is_backward;
        chain = callchain(b, e->op);
        if (e->launch > 0)
            connection = connect(b, e->launch);
        if (e->op != NULL && e->op->in[0] != '\0') {
            types = list_id(b, e->op->kind->in_types, true);
            shapes = list_id(b, e->op->in, false);
        }
    }
    if (e->kind == HOST_STEP) {
        snprintf(step, sizeof step, "%s#%lld", e->name, (long long)e->id);
        name = str_of(step);
        INSERT(b, DB_STEP, e->id, e->begin, e->begin + e->dur);
    }
    pytorch_row(b, e,
                (const int64_t[]){tid, connection, frame_id(b, name), sequence, forward, types,
                                  shapes, chain, type});
}

static void host_event(struct to_db *b, const struct host_event *e)
{
    static const int types[] = {
        [HOST_ACL] = 20000, [HOST_NODE] = 10000, [HOST_HCCL] = 5500, [HOST_RUNTIME] = 5000};

    if (e->kind == HOST_GC)
        INSERT(b, DB_GC, e->begin, e->begin + e->dur, global_tid(b, e->thread));
    else if (e->kind >= HOST_ACL && e->kind <= HOST_RUNTIME)
        INSERT(b, DB_CANN, e->begin, e->begin + e->dur, types[e->kind], global_tid(b, e->thread),
               e->id, name_id(b, e->name));
    else
        framework_event(b, e);
}

static int64_t task_row(struct to_db *b, const struct task *t, nanos begin, nanos dur,
                        const char *type, int64_t context)
{
    int64_t id = b->tasks++;

    INSERT(b, DB_TASK, begin, begin + dur, device_id(b), t->connection, id, b->rank->pid,
           name_id(b, type), context, stream_number(t->stream), t->task_id, NO_MODEL);
    return id;
}

/* A shape as the table writes it, with its quotes. */
static int64_t shape_id(struct to_db *b, const char *shape)
{
    struct arena_mark mark = arena_mark(&b->scratch);
    int64_t id = name_id(b, arena_format(&b->scratch, "\"%s\"", shape).at);

    arena_rewind(&b->scratch, mark);
    return id;
}

static void kernel(struct to_db *b, const struct task *t)
{
    const struct op *op = t->op;
    const struct op_kind *kind = op->kind;
    bool is_mix = strncmp(kind->core, "MIX", 3) == 0;
    int64_t none = name_id(b, "N/A");
    const char *type = op->code == OP_AICPU                 ? "KERNEL_AICPU"
                       : is_mix                             ? kind->core
                       : strcmp(kind->core, "AI_CORE") == 0 ? "KERNEL_AICORE"
                                                            : "KERNEL_AIVEC";
    int64_t id = task_row(b, t, t->begin, t->dur, type, NO_MODEL);

    if (b->dialect.level == 0) {
        INSERT(b, DB_COMPUTE, name_id(b, t->name), id, 0, 0, none, none, none, none, none, none,
               none, none, none);
        return;
    }
    INSERT(b, DB_COMPUTE, name_id(b, t->name), id, kind->blocks, is_mix ? kind->blocks * 2 : 0,
           name_id(b, kind->core), name_id(b, kind->type),
           name_id(b, b->dialect.is_old ? op->in_formats_old : op->in_formats),
           name_id(b, kind->in_types), shape_id(b, op->in),
           name_id(b, b->dialect.is_old ? op->out_formats_old : op->out_formats),
           name_id(b, kind->out_types), shape_id(b, op->out), none);
}

static void collective(struct to_db *b, const struct task *t)
{
    struct comm_part parts[COMM_PARTS];
    int64_t group = name_id(b, b->sim->group), op = ++b->comm_ops;

    INSERT(b, DB_COMM_OP, name_id(b, t->name), t->begin, t->begin + t->dur, t->connection, group,
           op, 0, 0, 11, name_id(b, "MESH-RING"), t->bytes / 2, name_id(b, t->op->kind->type));
    if (b->dialect.level == 0)
        return;
    comm_parts(t, b->rank->id, b->sim->world, parts);
    for (int64_t i = 0; i < COMM_PARTS; i++) {
        const struct comm_part *part = &parts[i];
        bool is_wait = part->bytes == 0;
        int64_t id = task_row(b, t, part->begin, part->dur, is_wait ? "Notify Wait" : "SDMA", i);
        INSERT(b, DB_COMM_TASK, name_id(b, t->name), id, name_id(b, part->name), part->plane, group,
               is_wait ? t->connection : 0, 65535, b->rank->id, part->peer, is_wait ? 2 : 0,
               part->bytes, is_wait ? 65535 : 11, is_wait ? 65535 : 1, op);
    }
}

static void device_task(struct to_db *b, const struct task *t)
{
    int64_t id;

    switch (t->kind) {
    case TASK_KERNEL:
        kernel(b, t);
        break;
    case TASK_COMM:
        collective(b, t);
        break;
    case TASK_COPY:
        id = task_row(b, t, t->begin, t->dur, "MEMCPY_ASYNC", NO_MODEL);
        INSERT(b, DB_COPY, id, t->bytes, t->way == COPY_HOST_TO_DEVICE ? 1 : 2);
        break;
    default:
        task_row(b, t, t->begin, t->dur, "EVENT_WAIT", NO_MODEL);
    }
}

static void overlap(struct to_db *b, const struct spans *list, int64_t type)
{
    for (size_t i = 0; i < list->list.n; i++)
        INSERT(b, DB_OVERLAP, device_id(b), list->list.at[i].begin, list->list.at[i].end, type);
}

void to_db_step(struct to_db *b, const struct step_sets *sets)
{
    const struct step *step = &b->rank->step;

    for (size_t i = 0; i < step->host.n; i++)
        host_event(b, &step->host.at[i]);
    for (size_t i = 0; i < step->tasks.n; i++)
        device_task(b, &step->tasks.at[i]);
    overlap(b, &sets->computing, 0);
    overlap(b, &sets->communication, 1);
    overlap(b, &sets->exposed, 2);
    overlap(b, &sets->free, 3);
    arena_free(&b->scratch);
    arena_init(&b->scratch);
}

uint64_t to_db_size(const struct to_db *b)
{
    sqlite3_stmt *st = NULL;
    int64_t pages = 0;

    if (b->sqlite != NULL &&
        sqlite3_prepare_v2(b->sqlite, "PRAGMA page_count", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        pages = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return (uint64_t)pages * 4096;
}

static void write_strings(struct to_db *b, const struct intern *in, int64_t base)
{
    sqlite3_stmt *st = b->statements[DB_STRING];

    for (size_t i = 0; i < in->strings.n && b->status == ST_OK; i++) {
        struct str text = intern_get(in, (strid)i);
        sqlite3_bind_int64(st, 1, base + (int64_t)i);
        sqlite3_bind_text(st, 2, text.n > 0 ? text.at : "", (int)text.n, SQLITE_STATIC);
        if (sqlite3_step(st) != SQLITE_DONE)
            failed(b);
        sqlite3_reset(st);
        b->rows++;
    }
}

static void write_facts(struct to_db *b)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO NPU_INFO VALUES (%lld,'Ascend910B');"
        "INSERT INTO SESSION_TIME_INFO VALUES (%lld,%lld);"
        "INSERT INTO RANK_DEVICE_MAP VALUES (%d,%lld);"
        "INSERT INTO META_DATA VALUES ('SCHEMA_VERSION','1.0.0'),('parallel_group_info',"
        "'{\"%s\": {\"group_name\": \"default_group\", \"group_rank\": %d, \"global_ranks\": "
        "[]}}')",
        (long long)device_id(b), (long long)(SYNTH_EPOCH + b->rank->skew), (long long)b->rank->host,
        b->rank->id, (long long)device_id(b), b->sim->group, b->rank->id);

    execute(b, sql);
    sqlite3_free(sql);
}

static void release(struct to_db *b)
{
    for (int k = 0; k < DB_STATEMENTS; k++)
        sqlite3_finalize(b->statements[k]);
    sqlite3_close(b->sqlite);
    intern_fini(&b->device);
    intern_fini(&b->framework);
    hash_free(&b->chains);
    arena_free(&b->scratch);
    b->sqlite = NULL;
}

enum status to_db_close(struct to_db *b)
{
    write_strings(b, &b->device, 0);
    write_strings(b, &b->framework, FRAMEWORK_IDS);
    write_facts(b);
    execute(b, "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId);"
               "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)");
    execute(b, "COMMIT");
    enum status st = b->status;
    if (st != ST_OK)
        unlink(b->path);
    release(b);
    return st;
}

void to_db_abort(struct to_db *b)
{
    if (b->path == NULL || b->sqlite == NULL)
        return;
    release(b);
    unlink(b->path);
}
