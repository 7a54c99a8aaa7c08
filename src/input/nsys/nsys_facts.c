/* nsys: what the export says of the machine, the exporter and itself. */
#include "input/nsys/nsys_in.h"

static void read_named(struct nsys *s, const char *table, struct str name, const char *prefix,
                       strid *out)
{
    static const char *const columns[] = {"name", "value"};
    struct db_rows rows;

    db_rows_open(&rows, &s->db, table, columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct str value = db_text(&rows, 1);
        if (*out != 0 || value.n == 0 || value.n > 256 || !str_equal(db_text(&rows, 0), name))
            continue;
        *out = capture_intern_format(s->cap, "%s%.*s", prefix, STR_ARGS(value));
    }
}

/* Trouble that the profiler itself met while it recorded. */
static void read_complaints(struct nsys *s)
{
    enum { WARNING = 2, ENOUGH = 100 };
    static const char *const columns[] = {"severity", "text"};
    struct db_rows rows;
    int64_t severity;
    size_t n = 0;

    db_rows_open(&rows, &s->db, "DIAGNOSTIC_EVENT", columns, ARRAY_LEN(columns));
    while (db_rows_next(&rows)) {
        struct str text = db_text(&rows, 1);
        if (db_i64(&rows, 0, &severity) && severity >= WARNING && text.n > 0 && n++ < ENOUGH)
            import_report(s->i, SEV_NOTE, "nsys.complaint", "the profiler reported: %.*s",
                          STR_ARGS(str_part(text, 0, 300)));
    }
}

/* What the device can do, from where it is listed. */
static void read_traits(struct nsys *s, const struct db_rows *rows)
{
    struct facts *facts = &s->cap->facts;
    int64_t major, minor;

    db_i64(rows, 2, &facts->device_cores);
    db_i64(rows, 3, &facts->device_clock);
    db_i64(rows, 4, &facts->device_bandwidth);
    if (db_i64(rows, 5, &major) && db_i64(rows, 6, &minor))
        facts->device_cc =
            capture_intern_format(s->cap, "%lld.%lld", (long long)major, (long long)minor);
}

void nsys_read_facts(struct nsys *s)
{
    static const char *const gpu[] =
        {"id", "name", "smCount", "clockRate", "memoryBandwidth", "computeMajor", "computeMinor"},
                             *const start[] = {"utcEpochNs"};
    struct facts *facts = &s->cap->facts;
    struct clock *clock = &s->cap->clock;
    struct db_rows rows;
    int64_t id;

    facts->kind = capture_intern(s->cap, S("nsys"));
    facts->device = s->device;
    db_rows_open(&rows, &s->db, "TARGET_INFO_GPU", gpu, ARRAY_LEN(gpu));
    while (db_rows_next(&rows))
        if (facts->device_name == 0 || (db_i64(&rows, 0, &id) && id == s->device)) {
            facts->device_name = capture_intern(s->cap, db_text(&rows, 1));
            read_traits(s, &rows);
        }
    db_rows_open(&rows, &s->db, "TARGET_INFO_SESSION_START_TIME", start, ARRAY_LEN(start));
    while (db_rows_next(&rows))
        if (!clock->has_unix)
            clock->has_unix = db_i64(&rows, 0, &clock->to_unix);
    read_named(s, "META_DATA_EXPORT", S("EXPORT_SCHEMA_VERSION"), "nsys export schema ",
               &facts->producer);
    read_named(s, "TARGET_INFO_SYSTEM_ENV", S("Hostname"), "", &facts->host);
    read_complaints(s);
}
