/*
 * to_db: ascend_pytorch_profiler_<rank>.db, the run as the profiler's SQLite export.
 *
 * Holds the same kernels, host events, steps and connections as the text files. Written in one
 * transaction without a journal: the file is worth nothing before it is complete.
 */
#include <assert.h>
#include <stdio.h>

#include "base/files/embedded.h"
#include "base/files/fs.h"
#include "base/tables/db_engine.h"
#include "base/tables/hash.h"
#include "base/tables/intern.h"
#include "base/text/text.h"
#include "synth/to.h"

/* Tables that are filled row by row. */
enum synth_table {
    DB_TASK,
    DB_COMPUTE,
    DB_COMM_OP,
    DB_COMM_TASK,
    DB_CANN,
    DB_PYTORCH,
    DB_CONNECTION,
    DB_CALLCHAIN,
    DB_STEP,
    DB_COPY,
    DB_OVERLAP,
    DB_GC,
    DB_STRING,
    DB_TABLES
};

static const char *const table_names[DB_TABLES] = {
    "TASK",       "COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO",
    "CANN_API",   "PYTORCH_API",       "CONNECTION_IDS",   "PYTORCH_CALLCHAINS",
    "STEP_TIME",  "MEMCPY_INFO",       "OVERLAP_ANALYSIS", "GC_RECORD",
    "STRING_IDS",
};

struct database {
    sqlite3 *sqlite; /* NULL: closed */
    sqlite3_stmt *inserts[DB_TABLES];
    int columns[DB_TABLES];
    const char *path;
    struct outfile file; /* SQLite writes its temporary */
    struct outlet *to;
    const struct sim *sim;
    const struct rank *rank;
    enum status status;              /* the first failure */
    struct intern device, framework; /* names; the framework's ids begin at 1 << 28 */
    struct hash chains;              /* call chain by operator and module */
    int64_t chains_n, tasks, comm_ops, connections, rows;
};

enum { FRAMEWORK_IDS = 1 << 28 };
#define NO_MODEL INT64_C(4294967295)
#define NULL_ID  INT64_MIN /* becomes NULL */

static enum status failed(struct database *b)
{
    db_engine_check(sqlite3_errcode(b->sqlite));
    if (b->status == ST_OK)
        b->status = diag_fail(b->to->diag, ST_IO, "synth.database", (struct where){.path = b->path},
                              "SQLite: %s", sqlite3_errmsg(b->sqlite));
    return b->status;
}

static enum status execute(struct database *b, const char *sql)
{
    return sqlite3_exec(b->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ? ST_OK : failed(b);
}

/* Makes all tables; newer exports call the number of cores blockNum. */
static enum status make_tables(struct database *b)
{
    struct str rest = embedded_file("synth/ascend_db.sql"), part;
    const char *word = b->to->dialect.is_new ? "Num" : "Dim";
    struct text sql = {0};

    while (str_split(&rest, '%', &part)) {
        text_put(&sql, part);
        text_put(&sql, rest.n > 0 ? str_of(word) : S("\n"));
    }
    text_char(&sql, '\0');
    enum status st = execute(b, sql.at);
    text_free(&sql);
    return st;
}

static enum status db_prepare(struct database *b, enum synth_table k)
{
    struct arena *a = b->to->arena;
    const char *look = arena_printf(a, "SELECT * FROM %s", table_names[k]);
    struct str places = S("?");
    sqlite3_stmt *st;

    if (sqlite3_prepare_v2(b->sqlite, look, -1, &st, NULL) != SQLITE_OK)
        return failed(b);
    b->columns[k] = sqlite3_column_count(st);
    sqlite3_finalize(st);
    for (int i = 1; i < b->columns[k]; i++)
        places = arena_format(a, "%.*s,?", STR_ARGS(places));
    const char *sql =
        arena_printf(a, "INSERT INTO %s VALUES (%.*s)", table_names[k], STR_ARGS(places));
    return sqlite3_prepare_v2(b->sqlite, sql, -1, &b->inserts[k], NULL) == SQLITE_OK ? ST_OK
                                                                                     : failed(b);
}

static enum status open_db(void *self, struct outlet *to)
{
    struct database *b = self;
    const char *name = arena_printf(to->arena, "ascend_pytorch_profiler_%d.db", to->rank->id);

    b->to = to;
    b->sim = to->sim;
    b->rank = to->rank;
    TRY(to_path(to, to_output_folder(to), name, &b->path));
    intern_init(&b->device);
    intern_init(&b->framework);
    TRY(outfile_open(&b->file, b->path, to->diag));
    if (b->file.temp == NULL)
        return diag_fail(to->diag, ST_IO, "synth.database", (struct where){.path = b->path},
                         "not a regular file");
    if (db_engine_open(b->file.temp,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                       &b->sqlite) != SQLITE_OK)
        return failed(b);
    TRY(execute(b, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                   "BEGIN"));
    TRY(make_tables(b));
    for (int k = 0; k < DB_TABLES; k++)
        TRY(db_prepare(b, (enum synth_table)k));
    return ST_OK;
}

static int64_t device_id(const struct database *b)
{
    return b->rank->id % 8;
}

/* Ids count from 0 in the files; 0 is the empty text in ours. */
static int64_t name_id(struct database *b, const char *text)
{
    return (int64_t)intern_put(&b->device, str_of(text));
}

static int64_t frame_id(struct database *b, struct str text)
{
    return FRAMEWORK_IDS + (int64_t)intern_put(&b->framework, text);
}

static void finish_insert(struct database *b, sqlite3_stmt *st)
{
    if (sqlite3_step(st) != SQLITE_DONE)
        failed(b);
    sqlite3_reset(st);
    b->rows++;
}

static void insert(struct database *b, enum synth_table which, const int64_t *values, int n)
{
    sqlite3_stmt *st = b->inserts[which];

    assert(n == b->columns[which]);
    if (b->status != ST_OK)
        return;
    for (int i = 0; i < n; i++) {
        if (values[i] == NULL_ID)
            sqlite3_bind_null(st, i + 1);
        else
            sqlite3_bind_int64(st, i + 1, values[i]);
    }
    finish_insert(b, st);
}
#define INSERT(b, which, ...)                                                                      \
    insert((b), (which), (const int64_t[]){__VA_ARGS__},                                           \
           (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static int64_t global_tid(const struct database *b, enum synth_thread thread)
{
    return b->rank->pid << 32 | rank_tid(b->rank, thread);
}

/* The stack of an operator, stored once for each operator and module. */
static int64_t callchain(struct database *b, const struct synth_op *op)
{
    uint64_t key =
        op != NULL ? hash_stable_mix((uint64_t)op->code + 1, hash_stable_bytes(str_of(op->module)))
                   : 1;
    struct str frames[STACK_DEPTH];
    uint32_t known;

    if (!b->sim->options->stacks)
        return NULL_ID;
    if (hash_get(&b->chains, key, &known))
        return known;
    record_stack(op, frames, &b->to->scratch);
    for (int64_t i = 0; i < STACK_DEPTH; i++)
        INSERT(b, DB_CALLCHAIN, b->chains_n, frame_id(b, frames[i]), i);
    hash_put(&b->chains, key, (uint32_t)b->chains_n);
    return b->chains_n++;
}

static int64_t connect(struct database *b, int64_t to)
{
    INSERT(b, DB_CONNECTION, b->connections, to);
    return b->connections++;
}

static void framework_event(struct database *b, const struct host_event *e)
{
    int64_t tid = global_tid(b, e->thread), type = 50001, connection = NULL_ID;
    int64_t sequence = NULL_ID, forward = NULL_ID, types = NULL_ID, shapes = NULL_ID;
    int64_t chain = NULL_ID;
    struct arena *a = &b->to->scratch;
    struct str name = str_of(e->name);

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
            types = frame_id(b, to_types(a, e->op, ";\r\n"));
            shapes = frame_id(b, to_shapes(a, e->op, ";\r\n"));
        }
    }
    if (e->kind == HOST_STEP) {
        name = arena_format(a, "%s#%lld", e->name, (long long)e->id);
        INSERT(b, DB_STEP, e->id, e->begin, e->begin + e->dur);
    }
    /* The times of this table are texts: SQLite stores the numbers so. */
    INSERT(b, DB_PYTORCH, e->begin, e->begin + e->dur, tid, connection, frame_id(b, name), sequence,
           forward, types, shapes, chain, type);
}

static void host_event(struct database *b, const struct host_event *e)
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

static int64_t task_row(struct database *b, const struct synth_task *t, nanos begin, nanos dur,
                        const char *type, int64_t context)
{
    int64_t id = b->tasks++;

    INSERT(b, DB_TASK, begin, begin + dur, device_id(b), t->connection, id, b->rank->pid,
           name_id(b, type), context, to_stream(t->stream), t->task_id, NO_MODEL);
    return id;
}

/* A shape as the table writes it, with its quotes. */
static int64_t shape_id(struct database *b, const char *shape)
{
    return name_id(b, arena_printf(&b->to->scratch, "\"%s\"", shape));
}

static void db_kernel(struct database *b, const struct synth_task *t)
{
    const struct synth_op *op = t->op;
    const struct op_kind *kind = op->kind;
    bool is_mix = strncmp(kind->core, "MIX", 3) == 0;
    int64_t none = name_id(b, "N/A");
    const char *type = op->code == OP_AICPU                 ? "KERNEL_AICPU"
                       : is_mix                             ? kind->core
                       : strcmp(kind->core, "AI_CORE") == 0 ? "KERNEL_AICORE"
                                                            : "KERNEL_AIVEC";
    int64_t id = task_row(b, t, t->begin, t->dur, type, NO_MODEL);

    if (b->to->dialect.level == 0) {
        INSERT(b, DB_COMPUTE, name_id(b, t->name), id, 0, 0, none, none, none, none, none, none,
               none, none, none);
        return;
    }
    INSERT(b, DB_COMPUTE, name_id(b, t->name), id, kind->blocks, is_mix ? kind->blocks * 2 : 0,
           name_id(b, kind->core), name_id(b, kind->type),
           name_id(b, b->to->dialect.is_old ? op->in_formats_old : op->in_formats),
           name_id(b, kind->in_types), shape_id(b, op->in),
           name_id(b, b->to->dialect.is_old ? op->out_formats_old : op->out_formats),
           name_id(b, kind->out_types), shape_id(b, op->out), none);
}

static void collective(struct database *b, const struct synth_task *t)
{
    struct comm_part parts[COMM_PARTS];
    int64_t group = name_id(b, b->sim->group), op = ++b->comm_ops;

    INSERT(b, DB_COMM_OP, name_id(b, t->name), t->begin, t->begin + t->dur, t->connection, group,
           op, 0, 0, 11, name_id(b, "MESH-RING"), t->bytes / 2, name_id(b, t->op->kind->type));
    if (b->to->dialect.level == 0)
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

static void device_task(struct database *b, const struct synth_task *t)
{
    int64_t id;

    switch (t->kind) {
    case TASK_KERNEL:
        db_kernel(b, t);
        break;
    case TASK_COMM:
        collective(b, t);
        break;
    case TASK_COPY:
        id = task_row(b, t, t->begin, t->dur, "MEMCPY_ASYNC", NO_MODEL);
        INSERT(b, DB_COPY, id, t->bytes, t->way == COPY_SET ? 3 : (int64_t)t->way + 1);
        break;
    default:
        task_row(b, t, t->begin, t->dur, "EVENT_WAIT", NO_MODEL);
    }
}

static void overlap(struct database *b, const struct spans *list, int64_t type)
{
    for (size_t i = 0; i < list->list.n; i++)
        INSERT(b, DB_OVERLAP, device_id(b), list->list.at[i].begin, list->list.at[i].end, type);
}

static void db_write_step(void *self)
{
    struct database *b = self;
    const struct synth_step *step = &b->rank->step;
    const struct step_sets *sets = &b->to->truth->sets;

    for (size_t i = 0; i < step->host.n; i++)
        host_event(b, &step->host.at[i]);
    for (size_t i = 0; i < step->tasks.n; i++)
        device_task(b, &step->tasks.at[i]);
    overlap(b, &sets->computing, 0);
    overlap(b, &sets->communication, 1);
    overlap(b, &sets->exposed, 2);
    overlap(b, &sets->free, 3);
}

static uint64_t file_bytes(const void *self)
{
    const struct database *b = self;
    sqlite3_stmt *st = NULL;
    int64_t pages = 0;

    if (b->sqlite != NULL &&
        sqlite3_prepare_v2(b->sqlite, "PRAGMA page_count", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        pages = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return (uint64_t)pages * 4096;
}

static void write_strings(struct database *b, const struct intern *in, int64_t base)
{
    sqlite3_stmt *st = b->inserts[DB_STRING];

    for (size_t i = 0; i < in->strings.n && b->status == ST_OK; i++) {
        struct str text = intern_get(in, (strid)i);
        sqlite3_bind_int64(st, 1, base + (int64_t)i);
        sqlite3_bind_text(st, 2, text.n > 0 ? text.at : "", (int)text.n, SQLITE_STATIC);
        finish_insert(b, st);
    }
}

static void write_facts(struct database *b)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO NPU_INFO VALUES (%lld,'%s');"
        "INSERT INTO SESSION_TIME_INFO VALUES (%lld,%lld);"
        "INSERT INTO RANK_DEVICE_MAP VALUES (%d,%lld);"
        "INSERT INTO META_DATA VALUES ('SCHEMA_VERSION','1.0.0'),('parallel_group_info',"
        "'{\"%s\": {\"group_name\": \"default_group\", \"group_rank\": %d, \"global_ranks\": "
        "[]}}')",
        (long long)device_id(b), b->sim->npu, (long long)(SYNTH_EPOCH + b->rank->skew),
        (long long)b->rank->host, b->rank->id, (long long)device_id(b), b->sim->group, b->rank->id);

    execute(b, sql);
    sqlite3_free(sql);
}

static void db_release(struct database *b)
{
    for (int k = 0; k < DB_TABLES; k++)
        sqlite3_finalize(b->inserts[k]);
    db_engine_close(b->sqlite);
    intern_fini(&b->device);
    intern_fini(&b->framework);
    hash_free(&b->chains);
    b->sqlite = NULL;
}

static enum status close_db(void *self)
{
    struct database *b = self;
    uint64_t size = file_bytes(b), rows = (uint64_t)b->rows;

    write_strings(b, &b->device, 0);
    write_strings(b, &b->framework, FRAMEWORK_IDS);
    write_facts(b);
    execute(b, "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId);"
               "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)");
    execute(b, "COMMIT");
    if (b->status == ST_OK)
        to_note(b->to, b->path, size, rows, rows);
    db_release(b);
    if (b->status == ST_OK)
        b->status = outfile_commit(&b->file, OUTFILE_FAST, b->to->diag);
    outfile_abort(&b->file);
    return b->status;
}

static void abort_db(void *self)
{
    struct database *b = self;

    if (b->sqlite != NULL)
        db_release(b);
    outfile_abort(&b->file);
}

const struct to_writer to_db = {
    .formats = SYNTH_DB,
    .size = sizeof(struct database),
    .open = open_db,
    .step = db_write_step,
    .close = close_db,
    .abort = abort_db,
    .bytes = file_bytes,
};
