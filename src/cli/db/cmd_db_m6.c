/*
 * strata db m6: how close a prediction comes to one measured forward pass.
 */
#include "cli/db/opt_db.h"
#include "cli/page_answer.h"
#include "opdb/compare/m6.h"
#include "page/pages.h"

struct args {
    const char *trace, *measured, *sources, *output;
    bool is_compat;
};

static const struct args defaults = {.sources = "MEASURED,INTERPOLATED"};

static const struct opt options[] = {
    OPT_STRING(0, "tc-trace", "FILE", struct args, trace, "predicted trace (Chrome JSON)"),
    OPT_STRING(0, "prof-trace", "FILE", struct args, measured,
               "measured forward pass (CSV, as kernel_details.csv)"),
    OPT_STRING(0, "source-filter", "LIST", struct args, sources,
               "sources to count (default: MEASURED,INTERPOLATED)"),
    OPT_FLAG(0, "compat", struct args, is_compat,
             "durations as (start + duration) - start in doubles"),
    OPT_STRING(0, "json-output", "FILE", struct args, output, "also write the result as JSON"),
};

static const struct example examples[] = {
    {"strata db m6 --tc-trace examples/perfdb-compare/predicted.json --prof-trace "
     "examples/perfdb-compare/measured.csv",
     "ratio of predicted to measured time"},
    {"strata db m6 --tc-trace examples/perfdb-compare/predicted.json --prof-trace "
     "examples/perfdb-compare/measured.csv --source-filter MEASURED --json-output m6.json",
     "only measured sources, also as JSON"},
};

static bool write_json(const void *what, struct sink sink)
{
    return m6_write_json(what, sink);
}

static bool m6_print_text(const void *what, struct sink sink)
{
    return m6_print(what, sink);
}

/* What the page shows. */
struct shown {
    const struct m6 *m6;
    const struct shape_rows *rows;
};

static void m6_fill_page(struct page_file *page, const void *what)
{
    const struct shown *shown = what;

    page_m6(page, shown->m6, shown->rows);
}

/* Times of each kernel at each shape make the pictures; rows whose times are no numbers count as
 * skipped by M6 itself and have no point. */
static enum status m6_give(struct session *s, struct m6 *m, const struct predicted *p,
                           const struct measured *measured)
{
    struct shape_rows rows;

    shape_rows_init(&rows);
    shape_rows_predict(&rows, p);
    shape_rows_measure(&rows, measured, SHAPE_MEASURED, NULL);
    shape_rows_sort(&rows);
    shape_rows_plot(&rows);
    m->plot = rows.plot;
    session_give(s, &(struct answer){.schema = &m6_schema,
                                     .origin = "measured",
                                     .result = m,
                                     .print = m6_print_text,
                                     .names_files = true});
    enum status st = page_answer_fill(s, PAGE_DATABASE, m6_fill_page, &(struct shown){m, &rows});
    shape_rows_free(&rows);
    return st;
}

static enum status m6_save(struct session *s, const struct m6 *m)
{
    const char *const inputs[] = {m->trace, m->measured, NULL};

    if (m->written == NULL)
        return ST_OK;
    TRY(db_output(s, m->written, inputs, write_json, m));
    session_wrote(s, m->written);
    return ST_OK;
}

static int m6_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct measured measured = {0};
    struct predicted p;
    size_t n;

    if (args->trace == NULL || args->measured == NULL)
        return session_usage(s, "m6 needs --tc-trace FILE and --prof-trace FILE");
    if (db_output_is_stdout(s, args->output))
        return session_usage(s, "m6 writes a JSON file; --json prints a document instead");
    enum status st = predicted_read(&p, args->trace, &s->diag);
    if (st == ST_OK)
        st = measured_read(&measured, args->measured, &s->diag);
    if (st == ST_OK) {
        session_read(s, args->trace, "predicted-trace", p.events.n, 0);
        const struct str *sources = m6_sources(&s->arena, str_of(args->sources), &n);
        struct m6 m = m6_compute(&p, &measured, sources, n, args->is_compat ? M6_COMPAT : M6_EXACT);
        session_read(s, args->measured, "kernel-details", measured.table.n_rows, m.skipped);
        m.written = db_output_path(s, args->output);
        st = m6_save(s, &m);
        if (st == ST_OK)
            st = m6_give(s, &m, &p, &measured);
    }
    measured_free(&measured);
    predicted_free(&p);
    return db_code(st);
}

const struct command command_db_m6 = {
    .name = "m6",
    .group = GROUP_DATABASE,
    .summary = "compare a prediction with one measured forward pass",
    .usage = "--tc-trace FILE --prof-trace FILE [OPTIONS]",
    .details = "M6 is the sum of the durations that a performance model took from the database, "
               "divided by the duration of one forward pass on the device: 1 is perfect, above 1 "
               "the model overestimates. Collectives that the profiler lists twice count once; "
               "AICPU helpers do not count.\n"
               "\n"
               "--json adds the metrics M1 to M5 (the share of the prediction based on "
               "measurements) and plot data: measured against modelled time, a histogram of the "
               "errors and the worst offenders.",
    .see = "docs/perfdb-compare.md",
    .common = COMMON_OUT | COMMON_HTML,
    .schemas = {&m6_schema},
    COMMAND_PARTS,
    .run = m6_run,
};
