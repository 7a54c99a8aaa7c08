/*
 * rpd: the database of rocmProfileData (*.rpd), schema 2: work and calls, and which call made which
 * work.
 *
 * Format reference: docs/formats/rocpd.md
 */
#include "capture/classify.h"
#include "input/db_probe.h"
#include "input/db_strings.h"
#include "input/rocprof/rocprof.h"
#include "input/trace/step_name.h"

struct rpd {
    struct import *i;
    struct capture *cap;
    struct db db;
    struct db_strings strings;
    struct hash calls, works; /* number of a row -> slice plus one */
};

static int rpd_probe(const struct probe *p)
{
    static const struct str work = S_INIT("rocpd_op"), calls = S_INIT("rocpd_api");

    return db_probe(p, &work, 1) && db_probe(p, &calls, 1) ? 92 : 0;
}

static bool rpd_times(struct rpd *r, const struct db_rows *rows, int64_t begin, int64_t end,
                      struct slice *out)
{
    static const struct import_db_codes codes = {"rocpd.bad-row", "rocpd.bad-row"};

    r->i->rows++;
    return import_db_times(r->i, rows, begin, end, &codes, out);
}

/* Kernels by their names, copies by the type of the operation. */
static enum slice_kind rpd_kind(struct str type, struct str name)
{
    if (str_contains_nocase(type, S("copy")) || str_contains_nocase(type, S("fill")) ||
        str_contains_nocase(type, S("memset")))
        return SLICE_COPY;
    return classify_kernel(VENDOR_AMD, S(""), name, S(""));
}

/* An operation without a name is known by its type. */
static void read_operations(struct rpd *r)
{
    struct op_row {
        int64_t id, device, queue, start, end, name, type;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct op_row, id, "id"),
        DB_OR(struct op_row, device, "gpuId", 0),
        DB_OR(struct op_row, queue, "queueId", 0),
        DB_COLUMN(struct op_row, start, "start"),
        DB_COLUMN(struct op_row, end, "end"),
        DB_COLUMN(struct op_row, name, "description_id"),
        DB_COLUMN(struct op_row, type, "opType_id"),
    };
    struct db_rows rows;

    DB_SCAN(&rows, &r->db, "rocpd_op", columns);
    while (db_read_row(&rows, &row)) {
        struct slice slice = {0};
        if (import_is_other_device(r->i, row.device) || row.device < 0 || row.device > INT32_MAX ||
            !rpd_times(r, &rows, row.start, row.end, &slice))
            continue;
        struct str name = rocprof_kernel_name(db_strings_text(&r->strings, row.name));
        struct str type = db_strings_text(&r->strings, row.type);
        slice.name = capture_intern(r->cap, name.n > 0 ? name : type);
        slice.kind = rpd_kind(type, name);
        slice.lane = capture_lane(
            r->cap,
            (struct lane_key){.kind = LANE_STREAM,
                              .device = (int32_t)row.device,
                              .name = capture_intern_format(r->cap, "%lld", (long long)row.queue)});
        uint32_t at = capture_slice(r->cap, &slice);
        hash_put(&r->works, (uint64_t)row.id, at);
    }
}

/* Ranges of the program are calls, too: "UserMarker", with the text as its argument. */
static void read_calls(struct rpd *r)
{
    struct call_row {
        int64_t id, pid, tid, start, end, name, args;
    } row;
    static const struct db_column columns[] = {
        DB_COLUMN(struct call_row, id, "id"),        DB_OR(struct call_row, pid, "pid", 0),
        DB_OR(struct call_row, tid, "tid", 0),       DB_COLUMN(struct call_row, start, "start"),
        DB_COLUMN(struct call_row, end, "end"),      DB_COLUMN(struct call_row, name, "apiName_id"),
        DB_COLUMN(struct call_row, args, "args_id"),
    };
    struct db_rows rows;

    DB_SCAN(&rows, &r->db, "rocpd_api", columns);
    while (db_read_row(&rows, &row)) {
        struct slice slice = {.kind = SLICE_RUNTIME};
        if (!rpd_times(r, &rows, row.start, row.end, &slice))
            continue;
        struct str name = db_strings_text(&r->strings, row.name);
        struct str args = db_strings_text(&r->strings, row.args);
        bool is_marker = str_equal(name, S("UserMarker")) || str_equal(name, S("pytorch")) ||
                         str_starts(name, S("roctx"));
        slice.lane = rocprof_thread(r->cap, row.pid, row.tid);
        slice.name = capture_intern(r->cap, is_marker && args.n > 0 ? args : name);
        if (is_marker) {
            slice.kind = SLICE_ANNOTATION;
            step_name_mark(r->cap, &slice, true);
        }
        uint32_t at = capture_slice(r->cap, &slice);
        hash_put(&r->calls, (uint64_t)row.id, at);
    }
}

static void read_links(struct rpd *r)
{
    struct link_row {
        int64_t call, work;
    } row;
    static const struct db_column columns[] = {DB_COLUMN(struct link_row, call, "api_id"),
                                               DB_COLUMN(struct link_row, work, "op_id")};
    struct db_rows rows;
    uint32_t call, work;

    DB_SCAN(&rows, &r->db, "rocpd_api_ops", columns);
    while (db_read_row(&rows, &row))
        if (hash_get(&r->calls, (uint64_t)row.call, &call) &&
            hash_get(&r->works, (uint64_t)row.work, &work))
            capture_flow(r->cap, FLOW_LAUNCH, call, work);
}

/* Clocks, power and the like: a value lasts from one time to another. */
static void read_monitor(struct rpd *r)
{
    struct monitor_row {
        int64_t device, start;
        double value;
        struct str type, name;
    } row;
    static const struct db_column columns[] = {
        DB_OR(struct monitor_row, device, "deviceId", 0),
        DB_COLUMN(struct monitor_row, start, "start"),
        DB_COLUMN(struct monitor_row, value, "value"),
        DB_COLUMN(struct monitor_row, type, "deviceType"),
        DB_COLUMN(struct monitor_row, name, "monitorType"),
    };
    struct db_rows rows;

    DB_SCAN(&rows, &r->db, "rocpd_monitor", columns);
    while (db_read_row(&rows, &row)) {
        if (row.start == DB_NONE || row.name.n == 0 || import_is_other_device(r->i, row.device))
            continue;
        strid process =
            capture_intern_format(r->cap, "%.*s %lld", STR_ARGS(row.type), (long long)row.device);
        series_id series = capture_series(r->cap, process, capture_intern(r->cap, row.name), 0);
        capture_sample(r->cap, series, row.start, row.value);
    }
}

/* All tables; those that are missing are empty. */
static enum status read_rpd(struct import *i)
{
    struct rpd r = {.i = i, .cap = i->cap};
    enum status st = ST_OK;

    TRY(import_db_open(i, &r.db));
    if (db_has_table(&r.db, S("rocpd_op"))) {
        db_strings_read(&r.strings, &r.db, "rocpd_string");
        read_operations(&r);
        read_calls(&r);
        read_links(&r);
        read_monitor(&r);
        db_strings_free(&r.strings);
        hash_free(&r.calls);
        hash_free(&r.works);
        i->cap->facts.kind = capture_intern(i->cap, S("rocprof"));
    } else {
        st = import_refuse(i, import_file(i), "rocpd.no-tables", "a database without rocpd tables");
    }
    import_db_close(i, &r.db);
    return st;
}

const struct input_format input_rpd = {
    .name = "rpd",
    .summary = "database of rocmProfileData",
    .looks_for = "*.rpd",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_AMD,
    .source = SOURCE_OTHER,
    .names = "*.rpd",
    .streams = true,
    .probe = rpd_probe,
    .read = read_rpd,
};
