/*
 * strata db trace-csv: the events of a predicted trace as a table.
 */
#include "cli/db/opt_db.h"
#include "opdb/compare/compare_trace.h"

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

static void print_json(struct session *s, const struct op_table *t)
{
    struct json_writer *j = session_json_begin(s, "strata.db-trace-csv/1", "estimated");

    json_write_array(j);
    for (size_t row = 0; row < t->n_rows; row++) {
        json_write_object(j);
        for (size_t c = 0; c < t->columns.n; c++) {
            json_write_key(j, t->columns.at[c]);
            json_write_string(j, table_cell(t, row, (int)c));
        }
        json_write_end(j);
    }
    json_write_end(j);
    session_json_end(s);
}

static int csv_run(struct session *s, const void *given)
{
    const struct args *args = given;
    const char *path = db_output_path(s, args->output);
    const char *const inputs[] = {args->trace, NULL};
    struct predicted p;
    struct op_table t;

    if (args->trace == NULL)
        return session_usage(s, "trace-csv needs --trace FILE");
    enum status st = predicted_read(&p, args->trace, &s->diag);
    if (st == ST_OK) {
        session_read(s, args->trace, "predicted-trace", p.events.n, 0);
        compare_trace_fill(&p, &t);
        if (path != NULL || !s->common.json)
            st = db_output_table(s, path, inputs, &t);
        if (st == ST_OK && path != NULL)
            session_wrote(s, path);
        if (st == ST_OK && s->common.json)
            print_json(s, &t);
        table_free(&t);
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
    COMMAND_PARTS_ZERO,
    .run = csv_run,
};
