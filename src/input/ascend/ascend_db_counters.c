/*
 * Counters of an Ascend database: clocks, bandwidths and memory over time, in the units of the
 * file (bytes, bytes a second, MHz), under the names that the timeline export gives them.
 */
#include "input/ascend/ascend_db.h"

enum { MAX_VALUES = 3, MAX_SERIES = 4096 };

struct counter_table {
    const char *table, *time;
    struct str process; /* empty: the text of `sort` is */
    const char *number; /* column that tells units of a kind apart; "": none */
    const char *sort;   /* column with a string: read or write, a component; "": none */
    const char *before; /* what stands before the sort in a name */
    struct {
        const char *column, *label, *unit;
    } values[MAX_VALUES];
};

static const struct counter_table tables[] = {
    {"AICORE_FREQ", "timestampNs", S_INIT("AI Core Freq"), "", "", "", {{"freq", "", "MHz"}}},
    {"HBM", "timestampNs", S_INIT("HBM"), "hbmId", "type", "/", {{"bandwidth", "", "B/s"}}},
    {"LLC",
     "timestampNs",
     S_INIT("LLC"),
     "llcId",
     "mode",
     " ",
     {{"hitRate", "/Hit Rate", "%"}, {"throughput", "/Throughput", "B/s"}}},
    {"DDR",
     "timestampNs",
     S_INIT("DDR"),
     "",
     "",
     "",
     {{"read", "/Read", "B/s"}, {"write", "/Write", "B/s"}}},
    {"NPU_MEM",
     "timestampNs",
     S_INIT("NPU MEM"),
     "",
     "type",
     "/",
     {{"ddr", "/DDR", "B"}, {"hbm", "/HBM", "B"}}},
    {"MEMORY_RECORD",
     "timestamp",
     S_INIT(""),
     "",
     "component",
     "",
     {{"totalAllocated", "Total Allocated", "B"},
      {"totalReserved", "Total Reserved", "B"},
      {"totalActive", "Total Active", "B"}}},
};

enum counter_column {
    C_TIME,
    C_DEVICE,
    C_NUMBER,
    C_SORT,
    C_VALUES,
    C_COUNT = C_VALUES + MAX_VALUES
};

struct counter_reader {
    struct ascend_db *a;
    struct hash series; /* table, number, sort and value -> series */
    struct arena arena;
};

static bool find_series(struct counter_reader *r, size_t table, const struct db_rows *rows,
                        size_t value, series_id *out)
{
    const struct counter_table *t = &tables[table];
    struct capture *cap = r->a->cap;
    int64_t number = 0, sort = -1;

    bool has_number = db_i64(rows, C_NUMBER, &number);
    db_i64(rows, C_SORT, &sort);
    uint64_t key = hash_mix(table << 8 | value, hash_mix((uint64_t)number, (uint64_t)sort));
    if (hash_get(&r->series, key, out))
        return true;
    if (r->series.n == MAX_SERIES)
        return false;
    struct arena_mark mark = arena_mark(&r->arena);
    struct str text = db_strings_text(&r->a->strings, sort), process = t->process;
    struct str name = process.n > 0 ? process : S("");
    if (process.n == 0)
        process = text;
    if (has_number)
        name = arena_format(&r->arena, "%.*s %lld", STR_ARGS(name), (long long)number);
    if (t->process.n > 0 && text.n > 0)
        name = arena_format(&r->arena, "%.*s%s%.*s", STR_ARGS(name), t->before, STR_ARGS(text));
    name = arena_format(&r->arena, "%.*s%s", STR_ARGS(name), t->values[value].label);
    *out = capture_series(cap, capture_intern(cap, process), capture_intern(cap, name),
                          capture_intern(cap, str_of(t->values[value].unit)));
    arena_rewind(&r->arena, mark);
    hash_put(&r->series, key, *out);
    return true;
}

static void counters_read_table(struct counter_reader *r, size_t table)
{
    const struct counter_table *t = &tables[table];
    const char *columns[C_COUNT] = {t->time, "deviceId", t->number, t->sort};
    struct ascend_db *a = r->a;
    struct db_rows rows;

    for (size_t v = 0; v < MAX_VALUES; v++)
        columns[C_VALUES + v] = t->values[v].column != NULL ? t->values[v].column : "";
    db_rows_open(&rows, &a->db, t->table, columns, C_COUNT);
    while (db_rows_next(&rows)) {
        int64_t device;
        nanos at;
        if ((db_i64(&rows, C_DEVICE, &device) && device != a->device) ||
            !db_i64(&rows, C_TIME, &at))
            continue;
        for (size_t v = 0; v < MAX_VALUES; v++) {
            series_id series;
            double value;
            if (db_f64(&rows, C_VALUES + v, &value) && find_series(r, table, &rows, v, &series))
                capture_sample(a->cap, series, at, value);
        }
    }
}

void ascend_db_read_counters(struct ascend_db *a)
{
    struct counter_reader r = {.a = a};

    arena_init(&r.arena);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        counters_read_table(&r, i);
    hash_free(&r.series);
    arena_free(&r.arena);
}
