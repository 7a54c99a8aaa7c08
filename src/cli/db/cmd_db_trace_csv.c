/*
 * strata db trace-csv: the events of a predicted trace as a table.
 */
#include <stdio.h>

#include "cli/db/opt_db.h"
#include "opdb/compare/compare_trace.h"
#include "opdb/rows/table.h"

struct args {
    const char *trace, *output;
};

static const struct opt options[] = {
    OPT_STRING(0, "trace", "FILE", struct args, trace, "predicted trace (Chrome JSON)"),
    OPT_STRING(0, "output", "FILE", struct args, output, "CSV file to write (default: stdout)"),
};

static const struct example examples[] = {
    {"strata db trace-csv --trace examples/perfdb-compare/predicted.json", "print the table"},
    {"strata db trace-csv --trace examples/perfdb-compare/predicted.json --output events.csv",
     "write it to a file"},
};

/* The events of a trace. */
struct trace_csv {
    struct field_items events; /* first: the document is over these */
    const struct predicted *trace;
};

static bool csv_print(const void *result, struct sink sink)
{
    const struct trace_csv *csv = result;
    struct op_table t;

    compare_trace_fill(csv->trace, &t);
    bool is_good = table_print(&t, TABLE_NO_BOM, sink);
    table_free(&t);
    return is_good;
}

static bool csv_print_count(const void *result, struct sink sink)
{
    size_t n = ((const struct trace_csv *)result)->events.n;
    char line[64];
    int len = snprintf(line, sizeof(line), "%zu event%s\n", n, &"s"[n == 1]);

    return sink.write(sink.ctx, (struct str){line, (size_t)len});
}

static enum status csv_give(struct session *s, const struct args *args, const struct predicted *p)
{
    const char *path = db_output_path(s, args->output);
    const char *const inputs[] = {args->trace, NULL};
    const struct trace_csv csv = {{p->events.at, p->events.n}, p};

    if (path != NULL) {
        TRY(db_output(s, path, inputs, csv_print, &csv));
        session_wrote(s, path);
    }
    session_give(s, &(struct answer){.schema = &compare_trace_schema,
                                     .origin = "estimated",
                                     .result = &csv,
                                     .print = path != NULL ? csv_print_count : csv_print,
                                     .is_file = path == NULL});
    return ST_OK;
}

static int csv_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct predicted p;

    if (args->trace == NULL)
        return session_usage(s, "trace-csv needs --trace FILE");
    enum status st = predicted_read(&p, args->trace, &s->diag);
    if (st == ST_OK) {
        session_read(s, args->trace, "predicted-trace", p.events.n, 0);
        st = csv_give(s, args, &p);
    }
    predicted_free(&p);
    return db_code(st);
}

const struct command command_db_trace_csv = {
    .name = "trace-csv",
    .group = GROUP_DATABASE,
    .summary = "write the events of a predicted trace as CSV",
    .usage = "--trace FILE [OPTIONS]",
    .details =
        "One row for each complete event of a performance model's trace, in file order: operator, "
        "kernel, shapes, duration and the source of the duration. Values are copied verbatim.",
    .see = "docs/perfdb-compare.md",
    .common = COMMON_OUT,
    .schemas = {&compare_trace_schema},
    COMMAND_PARTS_ZERO,
    .run = csv_run,
};
