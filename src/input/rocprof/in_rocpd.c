/*
 * rocpd: the database of rocprofv3 (ROCm 7), schema 3.
 *
 * Each process has a set of tables whose names end with its id; a database that was merged has
 * several sets, and each is a run of its own. Its views join tables in a way that drops rows, so
 * tables are read.
 * Format reference: docs/formats/rocpd.md
 */
#include "base/formats/json_read.h"
#include "input/rocprof/rocpd.h"

static const struct str metadata = S_INIT("rocpd_metadata_");

enum { SCHEMA_MOST = 3 };

/* ---- which databases ---- */

/* The set of tables of process `n`; false when there are no more. */
static bool rocpd_set(const struct db *db, size_t n, struct str *out)
{
    for (size_t i = 0; i < db->n_tables; i++)
        if (db->tables[i].is_plain && str_starts(db->tables[i].name, metadata) && n-- == 0) {
            *out = str_part(db->tables[i].name, metadata.n - 1, db->tables[i].name.n);
            return true;
        }
    return false;
}

static int rocpd_probe(const struct probe *p)
{
    struct diag quiet;
    struct str set;
    struct db db;
    bool is_found = false;

    if (!db_is_sqlite(p->head))
        return 0;
    if (str_contains(p->head, S("rocpd_metadata_0")))
        return 95;
    diag_init(&quiet);
    if (db_peek(&db, p->path, &quiet) == ST_OK) {
        is_found = rocpd_set(&db, 0, &set);
        db_close(&db);
    }
    diag_fini(&quiet);
    return is_found ? 95 : 0;
}

/* The processes of a database, each a run; texts live in the arena. */
static size_t rocpd_runs(const char *path, struct arena *arena, const char **list, size_t most)
{
    struct diag quiet;
    struct str set;
    struct db db;
    size_t n = 0;

    diag_init(&quiet);
    if (db_open(&db, path, (struct str){0}, &quiet) == ST_OK) {
        while (n < most && rocpd_set(&db, n, &set)) {
            list[n] = arena_cstr(arena, set);
            n++;
        }
        db_close(&db);
    }
    diag_fini(&quiet);
    return n;
}

/* ---- tables ---- */

const char *rocpd_table(struct rocpd *r, const char *name)
{
    return arena_format(&r->db.arena, "rocpd_%s%.*s", name, STR_ARGS(r->set)).at;
}

/* The text behind "message" in {"message": …}. */
static strid message_of(struct rocpd *r, struct str extdata)
{
    struct str key, value;
    struct json j;
    strid found = 0;

    if (!str_contains(extdata, S("\"message\"")))
        return 0;
    json_open(&j, extdata, JSON_LENIENT);
    if (json_next(&j) != JSON_OBJECT)
        return 0;
    while (json_key(&j, &key))
        if (str_equal(key, S("message")) && json_value(&j, &value) && j.token == JSON_STRING) {
            struct arena scratch;
            arena_init(&scratch);
            found = capture_intern(r->cap, j.has_escapes ? json_text(value, &scratch) : value);
            arena_free(&scratch);
        }
    return found;
}

static void read_events(struct rocpd *r)
{
    struct event_row {
        int64_t id, category, stack;
        struct str extdata;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct event_row, id, "id"),
        DB_COLUMN(struct event_row, category, "category_id"),
        DB_COLUMN(struct event_row, stack, "stack_id"),
        DB_COLUMN(struct event_row, extdata, "extdata"),
    };
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "event", columns);
    while (db_read_row(&rows, &row)) {
        struct rocpd_event e = {row.stack, row.category, message_of(r, row.extdata)};
        if (row.id != (int64_t)r->events.n + 1) /* else its number is its place */
            hash_put(&r->event_at, (uint64_t)row.id, (uint32_t)r->events.n);
        vec_push(&r->events, e);
    }
}

const struct rocpd_event *rocpd_event_of(const struct rocpd *r, int64_t id)
{
    static const struct rocpd_event none = {DB_NONE, DB_NONE, 0};
    uint32_t place;

    if (r->event_at.n > 0 && hash_get(&r->event_at, (uint64_t)id, &place))
        return &r->events.at[place];
    return id > 0 && (uint64_t)id <= r->events.n ? &r->events.at[id - 1] : &none;
}

/* Processors and GPUs; a GPU is known by its number among them. */
static void read_agents(struct rocpd *r)
{
    struct agent_row {
        int64_t id, device;
        struct str type, product, name;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct agent_row, id, "id"),
        DB_OR(struct agent_row, device, "type_index", -1),
        DB_COLUMN(struct agent_row, type, "type"),
        DB_COLUMN(struct agent_row, product, "product_name"),
        DB_COLUMN(struct agent_row, name, "name"),
    };
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "info_agent", columns);
    while (db_read_row(&rows, &row)) {
        bool is_gpu = str_equal(row.type, S("GPU")) && row.device >= 0 && row.device <= INT32_MAX;
        struct rocpd_agent a = {row.id, is_gpu ? row.device : -1,
                                capture_intern(r->cap, row.product.n > 0 ? row.product : row.name)};
        hash_put(&r->agent_at, (uint64_t)row.id, (uint32_t)r->agents.n);
        vec_push(&r->agents, a);
    }
}

int64_t rocpd_device_of(const struct rocpd *r, int64_t agent)
{
    uint32_t place;

    if (agent != DB_NONE && hash_get(&r->agent_at, (uint64_t)agent, &place))
        return r->agents.at[place].device;
    return agent >= 0 && agent <= INT32_MAX ? agent : -1;
}

/* Kernels as they were compiled. */
static void read_symbols(struct rocpd *r)
{
    struct symbol_row {
        int64_t id, registers, accumulators;
        struct str name, plain;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct symbol_row, id, "id"),
        DB_COLUMN(struct symbol_row, registers, "arch_vgpr_count"),
        DB_OR(struct symbol_row, accumulators, "accum_vgpr_count", 0),
        DB_COLUMN(struct symbol_row, name, "kernel_name"),
        DB_COLUMN(struct symbol_row, plain, "display_name"),
    };
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "info_kernel_symbol", columns);
    while (db_read_row(&rows, &row)) {
        struct str name = rocprof_kernel_name(row.plain.n > 0 ? row.plain : row.name);
        int64_t registers =
            row.registers != DB_NONE ? nanos_add(row.registers, row.accumulators) : DB_NONE;
        hash_put(&r->symbol_at, (uint64_t)row.id, (uint32_t)r->symbols.n);
        vec_push(&r->symbols,
                 ((struct rocpd_symbol){row.id, registers, capture_intern(r->cap, name)}));
    }
}

/* Rows of regions name a row of this table; the number of the thread is in it. */
static void read_threads(struct rocpd *r)
{
    struct thread_row {
        int64_t id, tid;
    } row;
    static const struct db_column columns[] = {DB_COLUMN(struct thread_row, id, "id"),
                                               DB_COLUMN(struct thread_row, tid, "tid")};
    struct db_rows rows;

    ROCPD_SCAN(r, &rows, "info_thread", columns);
    while (db_read_row(&rows, &row)) {
        hash_put(&r->thread_at, (uint64_t)row.id, (uint32_t)r->threads.n);
        vec_push(&r->threads, row.tid);
    }
}

/* ---- the whole ---- */

/* One text of a table with a row. */
static strid one_text(struct rocpd *r, const char *table, const char *column)
{
    const char *const columns[] = {column};
    struct db_rows rows;
    strid found = 0;

    db_rows_open(&rows, &r->db, rocpd_table(r, table), columns, 1);
    while (db_rows_next(&rows)) {
        struct str text = db_text(&rows, 0);
        if (found == 0 && text.n > 0 && text.n < 256)
            found = capture_intern(r->cap, text);
    }
    return found;
}

/* Later schemas have other tables. */
static enum status check_schema(struct rocpd *r)
{
    static const char *const columns[] = {"tag", "value"};
    struct str version = S("");
    struct db_rows rows;
    int64_t major = 0;

    db_rows_open(&rows, &r->db, rocpd_table(r, "metadata"), columns, 2);
    while (db_rows_next(&rows))
        if (str_equal(db_text(&rows, 0), S("schema_version")))
            version = arena_str(&r->db.arena, db_text(&rows, 1));
    r->cap->facts.producer =
        capture_intern_format(r->cap, "rocprofv3, rocpd schema %.*s", STR_ARGS(version));
    num_i64(str_part(version, 0, str_digits(version)), &major);
    if (major <= SCHEMA_MOST)
        return ST_OK;
    diag_hint(r->i->in->diag, "looked for", "rocpd schema 3");
    diag_hint(r->i->in->diag, "try", "rocpd convert -f csv -i %s", r->i->in->path);
    return diag_fail(r->i->in->diag, ST_UNSUPPORTED, "rocpd.schema", import_file(r->i),
                     "rocpd schema %.*s is not read", STR_ARGS(str_part(version, 0, 40)));
}

static void read_set(struct rocpd *r)
{

    r->cap->facts.kind = capture_intern(r->cap, S("rocprof"));
    r->cap->facts.host = one_text(r, "info_node", "hostname");
    db_strings_read(&r->strings, &r->db, rocpd_table(r, "string"));
    read_agents(r);
    read_symbols(r);
    read_threads(r);
    read_events(r);
    rocpd_read_rows(r);
}

static void free_set(struct rocpd *r)
{
    db_strings_free(&r->strings);
    db_strings_free(&r->counters);
    vec_free(&r->events);
    vec_free(&r->agents);
    vec_free(&r->symbols);
    vec_free(&r->threads);
    vec_free(&r->values);
    vec_free(&r->calls);
    vec_free(&r->works);
    vec_free(&r->kinds);
    hash_free(&r->event_at);
    hash_free(&r->agent_at);
    hash_free(&r->symbol_at);
    hash_free(&r->thread_at);
}

/* The run that is asked for, else the first. */
static enum status read_rocpd(struct import *i)
{
    struct rocpd r = {.i = i, .cap = i->cap};
    enum status st = ST_OK;

    TRY(import_db_open(i, &r.db));
    arena_init(&r.strings.arena);
    arena_init(&r.counters.arena);
    if (i->in->run != NULL)
        r.set = str_of(i->in->run);
    else if (!rocpd_set(&r.db, 0, &r.set))
        st = import_refuse(i, import_file(i), "rocpd.no-tables", "a database without rocpd tables");
    if (st == ST_OK)
        st = check_schema(&r);
    if (st == ST_OK)
        read_set(&r);
    free_set(&r);
    import_db_close(i, &r.db);
    return st;
}

const struct input_format input_rocpd = {
    .name = "rocpd",
    .summary = "database of rocprofv3 (rocpd)",
    .looks_for = "*_results.db",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_AMD,
    .source = SOURCE_OTHER,
    .streams = true,
    .probe = rocpd_probe,
    .runs = rocpd_runs,
    .read = read_rocpd,
};
