/*
 * strata db compare-shapes: predicted against measured time of every kernel at every shape.
 */
#include <stdio.h>

#include "cli/db/opt_db.h"
#include "cli/page_answer.h"
#include "opdb/compare/compare_shapes.h"
#include "opdb/rows/table.h"
#include "page/pages.h"

struct args {
    const char *trace, *base, *measured, *output;
};

static const struct opt options[] = {
    OPT_STRING(0, "tc-trace", "FILE", struct args, trace, "predicted trace (Chrome JSON)"),
    OPT_STRING(0, "prof-trace", "FILE", struct args, measured,
               "measured forward pass (CSV, as kernel_details.csv)"),
    OPT_STRING(0, "base-trace", "FILE", struct args, base,
               "second measured pass, instead of a prediction"),
    OPT_STRING(0, "output", "FILE", struct args, output, "CSV file to write (default: stdout)"),
};

static const struct example examples[] = {
    {"strata db compare-shapes --tc-trace examples/perfdb-compare/predicted.json --prof-trace "
     "examples/perfdb-compare/measured.csv",
     "one row per kernel and shape"},
    {"strata db compare-shapes --tc-trace examples/perfdb-compare/predicted.json --prof-trace "
     "examples/perfdb-compare/measured.csv --json",
     "with scatter and histogram data"},
    {"strata db compare-shapes --base-trace examples/perfdb-compare/measured.csv --prof-trace "
     "examples/perfdb-compare/measured.csv",
     "two measured passes (here: the same one)"},
};

struct inputs {
    struct predicted predicted;
    struct measured base, measured;
};

static bool shapes_print_count(const void *what, struct sink sink)
{
    const struct shape_rows *rows = what;
    char line[64];
    int n = snprintf(line, sizeof(line), "Generated %zu per-shape comparison rows → ", rows->at.n);

    return sink.write(sink.ctx, (struct str){line, (size_t)n}) &&
           sink.write(sink.ctx, str_of(rows->written)) && sink.write(sink.ctx, S("\n"));
}

static bool shapes_print_table(const void *what, struct sink sink)
{
    struct op_table t;

    shape_rows_table(what, &t);
    bool is_good = table_print(&t, TABLE_NO_BOM, sink);
    table_free(&t);
    return is_good;
}

struct shown {
    const struct args *args;
    const struct shape_rows *rows;
};

static void shapes_fill_page(struct page_file *page, const void *what)
{
    const struct shown *shown = what;

    page_shapes(page, shown->rows, shown->args->measured,
                shown->args->base != NULL ? shown->args->base : shown->args->trace);
}

static enum status shapes_save(struct session *s, const struct args *args,
                               const struct shape_rows *rows)
{
    const char *const inputs[] = {args->trace != NULL ? args->trace : args->base, args->measured,
                                  NULL};

    if (rows->written == NULL)
        return ST_OK;
    TRY(db_output(s, rows->written, inputs, shapes_print_table, rows));
    session_wrote(s, rows->written);
    return ST_OK;
}

/* The first side: a prediction, or another measured pass. */
static enum status take_base(struct session *s, const struct args *args, struct inputs *in,
                             struct shape_rows *rows)
{
    if (args->base == NULL) {
        TRY(predicted_read(&in->predicted, args->trace, &s->diag));
        session_read(s, args->trace, "predicted-trace", in->predicted.events.n, 0);
        shape_rows_predict(rows, &in->predicted);
        return ST_OK;
    }
    TRY(measured_read(&in->base, args->base, &s->diag));
    session_read(s, args->base, "kernel-details", in->base.table.n_rows, 0);
    return shape_rows_measure(rows, &in->base, SHAPE_PREDICTED, &s->diag);
}

static enum status shapes_compare(struct session *s, const struct args *args, struct inputs *in,
                                  struct shape_rows *rows)
{
    TRY(take_base(s, args, in, rows));
    TRY(measured_read(&in->measured, args->measured, &s->diag));
    session_read(s, args->measured, "kernel-details", in->measured.table.n_rows, 0);
    TRY(shape_rows_measure(rows, &in->measured, SHAPE_MEASURED, &s->diag));
    shape_rows_sort(rows);
    shape_rows_plot(rows);
    rows->written = db_output_path(s, args->output);
    TRY(shapes_save(s, args, rows));
    session_give(s, &(struct answer){.schema = &shape_rows_schema,
                                     .origin = "measured",
                                     .result = rows,
                                     .print = rows->written != NULL ? shapes_print_count
                                                                    : shapes_print_table,
                                     .is_file = rows->written == NULL,
                                     .names_files = true});
    return page_answer_fill(s, PAGE_DATABASE, shapes_fill_page, &(struct shown){args, rows});
}

static int shapes_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct shape_rows rows;
    struct inputs in = {0};

    if ((args->trace == NULL) == (args->base == NULL) || args->measured == NULL)
        return session_usage(s, "compare-shapes needs --prof-trace FILE and either --tc-trace FILE "
                                "or --base-trace FILE");
    shape_rows_init(&rows);
    enum status st = shapes_compare(s, args, &in, &rows);
    shape_rows_free(&rows);
    measured_free(&in.measured);
    measured_free(&in.base);
    predicted_free(&in.predicted);
    return db_code(st);
}

const struct command command_db_compare_shapes = {
    .name = "compare-shapes",
    .group = GROUP_DATABASE,
    .summary = "compare predicted and measured time per kernel and shape",
    .usage = "--tc-trace FILE --prof-trace FILE [OPTIONS]",
    .details = "Sums both traces by kernel and input shapes and writes one row each, largest time "
               "first. A composite operator is split into its kernels by the durations it lists "
               "for them, else evenly. Collectives that the profiler lists twice count once; AICPU "
               "helpers do not count.\n"
               "\n"
               "--base-trace compares two measured passes in the same way; its times go into the "
               "columns of the prediction.\n"
               "\n"
               "--json adds plot data: measured against modelled time, a histogram of the errors "
               "and the worst offenders.",
    .see = "docs/perfdb-compare.md",
    .common = COMMON_OUT | COMMON_HTML,
    .schemas = {&shape_rows_schema},
    COMMAND_PARTS_ZERO,
    .run = shapes_run,
};
