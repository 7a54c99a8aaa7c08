/*
 * ascend-db: the SQLite export of an Ascend profile, by torch_npu, MindSpore, msprof or msmonitor.
 *
 * This file opens it, finds out what and whose it is, and calls the device and the host half
 * (ascend_db_device.c, ascend_db_host.c). No table is required but one that holds events.
 * Format reference: docs/formats/ascend-db.md
 */
#include "input/ascend/ascend_db.h"
#include "input/db_devices.h"
#include "input/db_probe.h"

/* Tables that only Ascend exports have; one is enough to know the kind. */
static const struct str typical_tables[] = {
    S_INIT("TASK"),        S_INIT("CANN_API"),    S_INIT("COMMUNICATION_OP"),
    S_INIT("PYTORCH_API"), S_INIT("MSTX_EVENTS"), S_INIT("COMPUTE_TASK_INFO"),
};

/* Every one has STRING_IDS; the name decides nothing but how sure we are. */
static int ascend_db_probe(const struct probe *p)
{
    static const struct str strings = S_INIT("STRING_IDS");

    if (!db_is_sqlite(p->head))
        return 0;
    return input_claims(&input_ascend_db, p->name) ? 95 : db_probe(p, &strings, 1) ? 90 : 0;
}

bool ascend_db_times(struct ascend_db *a, const struct db_rows *rows, nanos begin, nanos end,
                     struct slice *out)
{
    static const struct import_db_codes codes = {"ascend-db.no-time", "ascend-db.bad-duration"};

    return import_db_times(a->i, rows, begin, end, &codes, out);
}

strid ascend_db_name(struct ascend_db *a, const struct db_rows *rows, struct db_name name)
{
    if (name.id == DB_NONE)
        return capture_intern(a->cap, name.text);
    strid id = db_strings_intern(&a->strings, a->cap, name.id);
    if (id != 0)
        return id;
    import_report(a->i, SEV_WARN, "ascend-db.no-name",
                  "%s uses string %lld, which is missing in STRING_IDS", rows->table,
                  (long long)name.id);
    return capture_intern_format(a->cap, "#%lld", (long long)name.id);
}

/* ---- facts ---- */

static void read_rank(struct ascend_db *a)
{
    static const char *const columns[] = {"rankId", "deviceId"};
    struct str name = str_basename(str_of(a->i->in->path));
    struct db_rows rows;
    int64_t rank, device;

    db_rows_open(&rows, &a->db, "RANK_DEVICE_MAP", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows))
        if (db_i64(&rows, 0, &rank) && db_i64(&rows, 1, &device) && device == a->device &&
            rank >= 0 && a->cap->facts.rank == UNKNOWN)
            a->cap->facts.rank = rank;
    if (a->cap->facts.rank == UNKNOWN && str_starts(name, S("ascend_")) &&
        str_ends(name, S(".db"))) {
        /* The number in "ascend_pytorch_profiler_3.db"; other names carry other numbers there. */
        size_t end = name.n - 3, from = end - str_last_digits(str_part(name, 0, end));
        if (from < end && end - from < 10 && from > 0 && name.at[from - 1] == '_' &&
            num_i64(str_part(name, from, end - from), &rank))
            a->cap->facts.rank = rank;
    }
}

/* The first text of a table, or that of the row whose number is `device`. */
static strid read_fact(struct ascend_db *a, const char *table, const char *text, const char *id)
{
    const char *columns[] = {text, id};
    struct db_rows rows;
    strid found = 0;
    int64_t number;

    db_rows_open(&rows, &a->db, table, columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct str value = db_text(&rows, 0);
        if (value.n > 0 && (found == 0 || (db_i64(&rows, 1, &number) && number == a->device)))
            found = capture_intern(a->cap, value);
    }
    return found;
}

static void read_meta(struct ascend_db *a)
{
    static const char *const columns[] = {"name", "value"};
    struct capture *cap = a->cap;
    struct db_rows rows;

    db_rows_open(&rows, &a->db, "META_DATA", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct str name = db_text(&rows, 0), value = db_text(&rows, 1);
        if (str_equal(name, S("distributed_args"))) {
            /* "world_size" of the launcher's arguments. */
            struct str rest = str_part(value, str_find(value, S("\"world_size\"")), value.n);
            size_t colon = str_find_char(rest, ':'), end = colon + 1;
            while (end < rest.n && rest.at[end] != ',' && rest.at[end] != '}')
                end++;
            if (colon < rest.n)
                num_i64(str_part(rest, colon + 1, end - colon - 1), &cap->facts.world_size);
        } else if (str_equal(name, S("SCHEMA_VERSION")) && value.n < 32) {
            cap->facts.producer =
                capture_intern_format(cap, "database schema %.*s", STR_ARGS(value));
        }
    }
}

static void read_facts(struct ascend_db *a)
{
    struct capture *cap = a->cap;
    struct str name = str_basename(str_of(a->i->in->path));
    struct str kind = S("msprof");

    if (str_starts(name, S("ascend_mindspore")))
        kind = S("ascend_mindspore");
    else if (db_has_table(&a->db, S("PYTORCH_API")) || str_starts(name, S("ascend_pytorch")))
        kind = S("ascend_pytorch");
    cap->facts.kind = capture_intern(cap, kind);
    cap->facts.device = a->device;
    cap->facts.device_name = read_fact(a, "NPU_INFO", "name", "id");
    cap->facts.host = read_fact(a, "HOST_INFO", "hostName", "hostUid");
    read_rank(a);
    read_meta(a);
    cap->clock.has_unix = true;
}

/* ---- the whole ---- */

static void db_read_all(struct ascend_db *a)
{
    struct db_devices devices;

    db_strings_read(&a->strings, &a->db, "STRING_IDS");
    db_devices_find(&a->db, &devices);
    a->is_alone = devices.n <= 1;
    a->device = db_devices_choose(&devices, a->i->in, "ascend-db.several-devices");
    read_facts(a);
    ascend_db_read_device(a);
    ascend_db_read_host(a);
    ascend_db_read_counters(a);
    ascend_db_link(a);
    db_strings_free(&a->strings);
    vec_free(&a->tasks);
    vec_free(&a->calls);
    vec_free(&a->ops);
    vec_free(&a->enqueues);
    vec_free(&a->dequeues);
}

static uint64_t ascend_db_count_rows(struct db *db, const char *table, const char *column)
{
    struct db_rows rows;
    uint64_t n = 0;

    if (db_rows_open(&rows, db, table, &column, 1))
        while (db_rows_next(&rows))
            n++;
    return n;
}

/* Operators and collectives, of a file of one device. */
static bool count_kernels(const struct input_file *in, uint64_t *count)
{
    struct db_devices devices;
    struct db db;

    if (db_open(&db, in->path, in->text, in->diag) != ST_OK)
        return false;
    db_devices_find(&db, &devices);
    *count = ascend_db_count_rows(&db, "COMPUTE_TASK_INFO", "globalTaskId") +
             ascend_db_count_rows(&db, "COMMUNICATION_OP", "opName");
    db_close(&db);
    return devices.n <= 1;
}

static enum status read_ascend_db(struct import *i)
{
    struct ascend_db a = {.i = i, .cap = i->cap};
    enum status st = ST_OK;
    bool holds_events = false;

    TRY(import_db_open(i, &a.db));
    for (size_t k = 0; k < ARRAY_LEN(typical_tables); k++)
        holds_events = holds_events || db_has_table(&a.db, typical_tables[k]);
    if (holds_events)
        db_read_all(&a);
    else
        st = import_refuse(i, import_file(i), "ascend-db.no-tables",
                           "a database without tasks, calls or collectives");
    import_db_close(i, &a.db);
    return st;
}

const struct input_format input_ascend_db = {
    .name = "ascend-db",
    .summary = "database of an Ascend profile (SQLite)",
    .looks_for = "ascend_pytorch_profiler*.db, msprof_*.db",
    .role = ROLE_DATABASE,
    .vendor = VENDOR_ASCEND,
    .source = SOURCE_DATABASE,
    .names = "ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db, msprof_*.db, "
             "msmonitor_*.db",
    .streams = true,
    .probe = ascend_db_probe,
    .devices = db_devices_ask,
    .read = read_ascend_db,
    .kernels = count_kernels,
};
