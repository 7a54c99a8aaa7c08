/*
 * strata pto calibrate: constants of the cost model from measured cycles.
 */
#include "base/files/mapfile.h"
#include "base/files/outfile.h"
#include "cli/session.h"
#include "kernels/pto/cost/calibrate.h"
#include "report/report.h"

struct args {
    const char *cost;
};

static const struct opt options[] = {
    OPT_STRING(0, "cost", "FILE", struct args, cost, "initial constants (CSV)"),
};

static const struct example examples[] = {
    {"strata pto calibrate examples/pto/measured.csv",
     "error of the model before and after the fit"},
    {"strata pto calibrate examples/pto/measured.csv -o my-chip.csv", "a file for --cost"},
    {"strata pto calibrate examples/pto/measured.csv --json", "as JSON"},
};

static void add_laws(struct report *r, const struct pto_calibration *cal)
{
    static const struct column columns[] = {
        {"law", COLUMN_TEXT, 0},
        {"points", COLUMN_NUMBER, UNIT_COUNT},
        {"mean % before", COLUMN_RIGHT, 0},
        {"mean % after", COLUMN_RIGHT, 0},
        {"worst % after", COLUMN_RIGHT, 0},
        {"constants", COLUMN_TEXT, 0},
    };
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < cal->refits.n; i++) {
        const struct pto_refit *x = &cal->refits.at[i];
        const double percents[] = {x->before.mean, x->after.mean, x->after.worst};
        struct str constants = S("");
        for (size_t k = 0; k < x->n_keys; k++)
            constants = arena_format(&r->arena, "%.*s%s%s %.4g (%.4g)", STR_ARGS(constants),
                                     k > 0 ? ", " : "", x->keys[k].name + strlen(x->name) + 1,
                                     x->keys[k].after, x->keys[k].before);
        table_text(r, t, str_of(x->name));
        table_number(t, (double)x->points);
        for (size_t k = 0; k < ARRAY_LEN(percents); k++)
            table_text(r, t, arena_format(&r->arena, "%.2f", percents[k]));
        table_text(r, t, constants);
    }
}

static void calibrate_describe(const void *result, struct report *r)
{
    const struct pto_calibration *cal = result;

    report_summary(r,
                   arena_format(&r->arena, "%zu points · mean error %.2f %% before, %.2f %% after",
                                cal->points, cal->before.mean, cal->after.mean));
    add_laws(r, cal);
    report_text(r, S("  fitted constants, previous values in brackets"));
    if (cal->unused > 0)
        report_line(r, "  %zu point%s belong%s to no law with constants of its own", cal->unused,
                    cal->unused == 1 ? "" : "s", cal->unused == 1 ? "s" : "");
}

static enum status calibrate(struct session *s, const struct args *args, struct pto_costs *costs,
                             struct pto_measures *table, struct pto_calibration *cal)
{
    const char *path = s->operands.at[0];
    struct outfile file;
    struct mapfile map;

    if (args->cost != NULL)
        TRY(pto_costs_load(costs, args->cost, &s->diag));
    TRY(mapfile_open(&map, path, &s->diag));
    enum status st = pto_measures_read(table, map.text, path, &s->diag);
    mapfile_close(&map);
    session_read(s, path, "pto-measure", table->rows.n, table->lost);
    TRY(st);
    pto_calibrate(costs, table, cal);
    if (s->common.out != NULL) {
        TRY(outfile_open(&file, s->common.out, &s->diag));
        (void)pto_calibration_write(cal, outfile_sink(&file)); /* the commit reports a failure */
        TRY(outfile_commit(&file, OUTFILE_FAST, &s->diag));
        session_wrote(s, s->common.out);
    }
    session_give(s, &(struct answer){.schema = &pto_calibration_schema,
                                     .origin = "estimated",
                                     .result = cal,
                                     .title = str_of(path),
                                     .describe = calibrate_describe});
    return ST_OK;
}

static int calibrate_run(struct session *s, const void *args)
{
    struct pto_costs *costs = pto_costs_new();
    struct pto_measures table = {0};
    struct pto_calibration cal = {0};
    enum status st = calibrate(s, args, costs, &table, &cal);

    pto_calibration_free(&cal);
    pto_measures_free(&table);
    pto_costs_free(costs);
    return session_code(st);
}

const struct command command_pto_calibrate = {
    .name = "calibrate",
    .group = GROUP_KERNELS,
    .summary = "fit the simulator's cost model to measured cycles",
    .usage = "[OPTIONS] TABLE",
    .details = "TABLE is a CSV with the columns op, dtype, rows, cols and cycles, one instruction "
               "per row; arch (a2a3 or a5), dst_dtype, valid_rows, valid_cols and, for transfers, "
               "from, to and bytes are optional. For every operation and path the constants of its "
               "law are fitted to the rows; outliers weigh less, slopes are never negative, and "
               "constants that the points do not determine keep their value.\n"
               "\n"
               "Prints the residuals before and after. With --out the fitted constants are written "
               "to a file for --cost of the simulator.",
    .see = "docs/cost-model.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_OUT,
    .schemas = {&pto_calibration_schema},
    COMMAND_PARTS_ZERO,
    .run = calibrate_run,
};
