/*
 * strata doctor: every back end, where it was found, or what is used instead.
 */
#include "base/cancel.h"
#include "cli/session.h"
#include "driver/driver.h"

static const struct example examples[] = {
    {"strata doctor", "what is installed here, and what is used instead"},
    {"strata doctor --json", "the same for programs"},
    {0},
};

static void print_text(struct session *s, const struct probe_result *results)
{
    static const struct out_column columns[] = {{"back end", false},
                                                {"state", false},
                                                {"version", false},
                                                {"where, or what is used instead", false}};
    enum { COLUMNS = ARRAY_LEN(columns) };
    const char **cells = ARENA_ARRAY(&s->arena, const char *, DRIVERS *COLUMNS);
    size_t found = 0;

    for (size_t i = 0; i < DRIVERS; i++) {
        const struct probe_result *r = &results[i];
        const char **row = cells + i * COLUMNS;
        found += r->state == PROBE_FOUND;
        row[0] = drivers[i].name;
        row[1] = probe_state_name(r->state);
        row[2] = r->version != NULL ? r->version : "-";
        row[3] = r->state == PROBE_FOUND ? r->path : drivers[i].instead;
    }
    out_table(&s->out, columns, COLUMNS, cells, DRIVERS);
    out_text(&s->out, "\n");
    for (size_t i = 0; i < DRIVERS; i++) {
        const struct probe_result *r = &results[i];
        if (r->reason != NULL)
            out_printf(&s->out, "  %-13s%s\n", drivers[i].name, r->reason);
        if (drivers[i].remark != NULL)
            out_printf(&s->out, "  %-13s%s\n", r->reason != NULL ? "" : drivers[i].name,
                       drivers[i].remark);
    }
    out_printf(&s->out, "\n  %zu of %zu found; none is needed: every job has an embedded way\n",
               found, (size_t)DRIVERS);
}

static void print_json(struct session *s, const struct probe_result *results)
{
    struct json_writer *j = session_json_begin(s, "strata.doctor/1", NULL);

    json_write_object(j);
    json_put_array(j, "backends");
    for (size_t i = 0; i < DRIVERS; i++) {
        const struct driver *d = &drivers[i];
        const char *const pairs[][2] = {
            {"name", d->name},
            {"product", d->what},
            {"state", probe_state_name(results[i].state)},
            {"path", results[i].path},
            {"version", results[i].version},
            {"reason", results[i].reason},
            {"job", d->job},
            {"instead", d->instead},
            {"remark", d->remark},
        };
        json_write_object(j);
        for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
            json_put_text(j, pairs[k][0], pairs[k][1]);
        }
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
    session_json_end(s);
}

static int run(struct session *s, const void *args)
{
    struct probe_result *results = ARENA_ARRAY(&s->arena, struct probe_result, DRIVERS);

    (void)args;
    for (size_t i = 0; i < DRIVERS && !cancelled(); i++)
        results[i] = driver_probe((enum driver_id)i, &s->arena);
    if (cancelled())
        return CODE_INTERRUPTED;
    if (s->common.json)
        print_json(s, results);
    else
        print_text(s, results);
    return CODE_DONE;
}

const struct command command_doctor = {
    .name = "doctor",
    .group = GROUP_ABOUT,
    .summary = "list every back end: where found, or what is used instead",
    .usage = "[OPTIONS]",
    .details =
        "Looks for the external tools and libraries strata can use and prints where each was "
        "found and its version, or why not and what is used instead. Programs are looked for "
        "on the PATH and in the folders their installers use; the variables STRATA_MSPROF, "
        "STRATA_NCU, STRATA_NSYS and STRATA_MPIRUN name one outright. Libraries are opened at "
        "run time.\n\nA missing back end is normal, so the exit code is 0 either way.",
    .see = "docs/backends.md",
    .examples = examples,
    .run = run,
};
