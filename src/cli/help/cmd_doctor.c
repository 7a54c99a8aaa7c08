/*
 * strata doctor: every back end, where it was found, or what is used instead.
 */
#include "base/run/cancel.h"
#include "cli/session.h"
#include "driver/driver.h"
#include "report/report.h"

static const struct example examples[] = {
    {"strata doctor", "tools found here, and fallbacks"},
    {"strata doctor --json", "as JSON"},
};

struct backend {
    struct driver driver;
    struct probe_result found;
};

struct backends {
    struct backend at[DRIVERS];
};

static const struct field backend_fields[] = {
    FIELD(struct backend, driver.name, "name"),
    FIELD(struct backend, driver.what, "product"),
    FIELD_OF_ENUM(struct backend, found.state, "state", probe_state_name, PROBE_MISSING + 1),
    FIELD(struct backend, found.path, "path"),
    FIELD(struct backend, found.version, "version"),
    FIELD(struct backend, found.reason, "reason"),
    FIELD(struct backend, driver.job, "job"),
    FIELD(struct backend, driver.instead, "instead"),
    FIELD(struct backend, driver.remark, "remark"),
};
static const struct record backend_record = RECORD(struct backend, backend_fields);

static const struct field list_fields[] = {
    FIELD_ARRAY(struct backends, at, "backends", &backend_record),
};

static const struct schema schema = {
    .name = "strata.doctor/1",
    .title = "external tools and libraries, and the fallback for each",
    .record = &(const struct record)RECORD(struct backends, list_fields),
};

static void doctor_describe(const void *backends, struct report *r)
{
    static const struct column columns[] = {{"back end", COLUMN_TEXT, 0},
                                            {"state", COLUMN_TEXT, 0},
                                            {"version", COLUMN_TEXT, 0},
                                            {"path, or fallback", COLUMN_TEXT, 0}};
    const struct backends *list = backends;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    size_t found = 0;

    for (size_t i = 0; i < DRIVERS; i++) {
        const struct backend *b = &list->at[i];
        bool is_found = b->found.state == PROBE_FOUND;
        found += is_found;
        table_text(r, t, str_of(b->driver.name));
        table_text(r, t, str_of(probe_state_name(b->found.state)));
        table_text(r, t, str_of(b->found.version != NULL ? b->found.version : "-"));
        table_text(r, t, str_of(is_found ? b->found.path : b->driver.instead));
    }
    report_line(r, "%s", "");
    for (size_t i = 0; i < DRIVERS; i++) {
        const struct backend *b = &list->at[i];
        if (b->found.reason != NULL)
            report_line(r, "  %-13s%s", b->driver.name, b->found.reason);
        if (b->driver.remark != NULL)
            report_line(r, "  %-13s%s", b->found.reason != NULL ? "" : b->driver.name,
                        b->driver.remark);
    }
    report_line(r, "\n  %zu of %zu found; all optional, built-in fallbacks are used", found,
                (size_t)DRIVERS);
}

static int doctor_run(struct session *s, const void *args)
{
    struct backends *list = ARENA_NEW(&s->arena, struct backends);

    (void)args;
    for (size_t i = 0; i < DRIVERS && !cancelled(); i++)
        list->at[i] = (struct backend){drivers[i], driver_probe((enum driver_id)i, &s->arena)};
    if (cancelled())
        return CODE_INTERRUPTED;
    session_give(
        s, &(struct answer){
               .schema = &schema, .result = list, .title = S(""), .describe = doctor_describe});
    return CODE_DONE;
}

const struct command command_doctor = {
    .name = "doctor",
    .group = GROUP_TOOLS,
    .summary = "list external tools: where found, or the fallback",
    .usage = "[OPTIONS]",
    .details =
        "Looks for the external tools and libraries that strata can use and prints the path and "
        "version of each, or why it was not found and the built-in fallback. Programs are searched "
        "on PATH and in their usual install folders; STRATA_MSPROF, STRATA_NCU, STRATA_NSYS and "
        "STRATA_MPIRUN override the search. Libraries are loaded at run time.\n"
        "\n"
        "Missing tools are not an error: the exit code is 0.",
    .see = "docs/backends.md",
    .schemas = {&schema},
    COMMAND_PARTS_BARE,
    .run = doctor_run,
};
