/*
 * strata comm validate: measured collectives against a model of the links.
 */
#include "base/fs.h"
#include "cli/opt_db.h"
#include "perfdb/comm_validate.h"

static const struct comm_job defaults = {.tolerance = 2.0};

static const struct opt options[] = {
    OPT_STRING(0, "csv-dir", "DIR", struct comm_job, dir, "folder with the hcom_*.csv tables"),
    OPT_DOUBLE(0, "tolerance", "T", struct comm_job, tolerance,
               "a row passes when measured/predicted lies within 1/T and T (2)"),
    OPT_STRING(0, "links", "FILE", struct comm_job, links,
               "table of links, or of a line per collective; 'fit' fits lines to the rows"),
    OPT_FLAG(0, "reduce-scatter-total", struct comm_job, scatter_total,
             "take the message of a reduce_scatter as one rank's part: multiply it by the ranks"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata comm validate --csv-dir examples/perfdb-compare/comm", "against the built-in links"},
    {"strata comm validate --csv-dir examples/perfdb-compare/comm --links fit --verbose",
     "how well a straight line fits, row by row"},
    {0},
};

static int run(struct session *s, const void *given)
{
    struct comm_job job = *(const struct comm_job *)given;
    struct comm_validation v;

    if (job.dir == NULL)
        return session_usage(s, "validate needs --csv-dir DIR");
    if (!(job.tolerance > 0))
        return session_usage(s, "--tolerance takes a number above 0");
    job.lists_all = s->common.verbose;
    enum status st = comm_validate(&v, &job, &s->diag);
    for (size_t i = 0; i < COMM_VALIDATED; i++)
        if (v.checks[i].is_there)
            session_read(s, fs_join(&s->arena, job.dir, comm_kinds[i].file), "collectives",
                         v.checks[i].rows_read, v.checks[i].rows_read - v.checks[i].rows.n);
    if (s->common.json && st == ST_OK)
        session_document(s, &comm_validation_schema, "measured", &v, NULL);
    else if (!s->common.json && !s->common.quiet && v.checks[0].was_visited)
        comm_validation_print(&v, st == ST_OK, session_sink(s));
    bool is_ok = v.counts[COMM_FAIL] == 0;
    comm_validation_free(&v);
    return st == ST_OK && !is_ok ? CODE_NO : db_code(st);
}

const struct command command_comm_validate = {
    .name = "validate",
    .group = GROUP_DATABASE,
    .summary = "check measured collectives against a model of the links",
    .usage = "--csv-dir DIR [OPTIONS]",
    .details =
        "Predicts every row of the four tables (all_reduce, all_gather, reduce_scatter, "
        "all_to_all) from latency and bandwidth of its tier and compares. A row passes within the "
        "tolerance, is a warning within twice the tolerance and fails beyond; exit code 1 when any "
        "fails. --verbose lists all rows, else those that do not pass.\n"
        "\n"
        "The built-in links are those of one Ascend part (ATLAS_800_A3). For numbers measured "
        "elsewhere --links names a CSV with columns tier, bandwidth (bytes/s) and latency (us), or "
        "collective, alpha (us) and beta (us a byte). --links fit fits a line to the rows of each "
        "collective, device count and tier, and so tells which rows stand out.",
    .see = "docs/perfdb-compare.md",
    .options = options,
    .args_size = sizeof(struct comm_job),
    .defaults = &defaults,
    .examples = examples,
    .schemas = {&comm_validation_schema},
    .run = run,
};
