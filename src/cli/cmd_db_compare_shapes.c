/*
 * strata db compare-shapes: predicted against measured time of every kernel at every shape.
 */
#include "cli/db_output.h"
#include "cli/opt_db.h"
#include "perfdb/compare_plot.h"
#include "perfdb/compare_shapes.h"
#include "perfdb/compare_text.h"

extern const struct command command_db_compare_shapes;

struct args {
    const char *trace, *measured, *output;
};

static const struct opt options[] = {
    OPT_STRING(0, "tc-trace", "FILE", struct args, trace, "the predicted trace (Chrome JSON)"),
    OPT_STRING(0, "prof-trace", "FILE", struct args, measured,
               "the measured forward pass (columns of kernel_details.csv)"),
    OPT_STRING(0, "output", "FILE", struct args, output, "the table to write (stdout)"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata db compare-shapes --tc-trace examples/perfdb/predicted.json --prof-trace "
     "examples/perfdb/measured.csv",
     "one row for each kernel and shape"},
    {"strata db compare-shapes --tc-trace examples/perfdb/predicted.json --prof-trace "
     "examples/perfdb/measured.csv --json",
     "with the data for a scatter and a histogram"},
    {0},
};

static bool write_csv(const void *what, struct sink sink)
{
    return table_print(what, TABLE_NO_BOM, sink);
}

static void put_row(struct json_writer *j, const struct shape_row *row)
{
    json_write_object(j);
    json_write_key(j, S("kernel_type"));
    json_write_string(j, row->kernel);
    json_write_key(j, S("shape_key"));
    json_write_string(j, row->shapes);
    decimal_json(j, S("tc_dur_us"), row->predicted_us, 2);
    decimal_json(j, S("prof_dur_us"), row->measured_us, 2);
    decimal_json(j, S("delta_pct"), shape_row_delta(row), 1);
    json_write_key(j, S("tc_count"));
    json_write_u64(j, row->predicted_n);
    json_write_key(j, S("prof_count"));
    json_write_u64(j, row->measured_n);
    json_write_key(j, S("source"));
    json_write_string(j, row->source);
    json_write_end(j);
}

static void print_json(struct session *s, const struct shape_rows *rows)
{
    struct json_writer *j = session_json_begin(s, "strata.db-compare-shapes/1", "measured");
    struct plot_point *points = ARENA_ARRAY(&s->arena, struct plot_point, rows->at.n);

    json_write_object(j);
    json_write_key(j, S("rows"));
    json_write_array(j);
    for (size_t i = 0; i < rows->at.n; i++) {
        const struct shape_row *row = &rows->at.at[i];
        put_row(j, row);
        points[i] = (struct plot_point){row->kernel, row->shapes, row->measured_us,
                                        row->predicted_us};
    }
    json_write_end(j);
    plot_json(j, points, rows->at.n);
    json_write_end(j);
    session_json_end(s);
}

static enum status tell(struct session *s, const struct args *args, struct shape_rows *rows)
{
    const char *path = db_output_path(s, args->output);
    const char *const inputs[] = {args->trace, args->measured, NULL};
    enum status st = ST_OK;
    struct table t;

    shape_rows_table(rows, &t);
    if (path != NULL || !s->common.json)
        st = db_output(s, path, inputs, write_csv, &t);
    table_free(&t);
    if (st != ST_OK)
        return st;
    if (path != NULL && (s->common.json || s->common.quiet))
        session_wrote(s, path);
    else if (path != NULL)
        out_printf(&s->out, "Generated %zu per-shape comparison rows → %s\n", rows->at.n, path);
    if (s->common.json)
        print_json(s, rows);
    return ST_OK;
}

static enum status compare(struct session *s, const struct args *args, struct predicted *p,
                           struct measured *m)
{
    struct shape_rows rows;

    TRY(predicted_read(p, args->trace, &s->diag));
    TRY(measured_read(m, args->measured, &s->diag));
    session_read(s, args->trace, "predicted-trace", p->events.n, 0);
    session_read(s, args->measured, "kernel-details", m->table.n_rows, 0);
    shape_rows_init(&rows);
    shape_rows_predict(&rows, p);
    enum status st = shape_rows_measure(&rows, m, &s->diag);
    if (st == ST_OK) {
        shape_rows_sort(&rows);
        st = tell(s, args, &rows);
    }
    shape_rows_free(&rows);
    return st;
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct predicted p = {0};
    struct measured m = {0};

    if (args->trace == NULL || args->measured == NULL)
        return session_usage(s, "compare-shapes needs --tc-trace FILE and --prof-trace FILE");
    enum status st = compare(s, args, &p, &m);
    measured_free(&m);
    predicted_free(&p);
    return db_code(st);
}

const struct command command_db_compare_shapes = {
    .name = "compare-shapes",
    .group = GROUP_DATABASE,
    .summary = "compare predicted and measured time of every kernel at every shape",
    .usage = "--tc-trace FILE --prof-trace FILE [OPTIONS]",
    .details =
        "Sums both traces under kernel and input shapes and writes one row for each, those that "
        "take most time first. A composite operator is spread over its kernels, by the durations "
        "it gives for them or in equal parts. Collectives that the profiler lists twice count "
        "once; AICPU helpers do not count.\n"
        "\n"
        "--json adds the data for pictures: measured against modelled time, a histogram of the "
        "errors and the worst offenders.",
    .see = "docs/perfdb-compare.md",
    .options = options,
    .args_size = sizeof(struct args),
    .common = COMMON_OUT,
    .examples = examples,
    .run = run,
};
