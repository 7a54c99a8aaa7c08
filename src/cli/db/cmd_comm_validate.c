/*
 * strata comm validate: measured collectives against a model of the links.
 */
#include "base/files/fs.h"
#include "cli/db/opt_db.h"
#include "opdb/measure/comm_jobs.h"

struct args {
    struct comm_job job;
};

static const struct args defaults = {.job.tolerance = 2.0};

static const struct opt options[] = {
    OPT_STRING(0, "csv-dir", "DIR", struct args, job.dir, "folder with the hcom_*.csv tables"),
    OPT_DOUBLE(0, "tolerance", "T", struct args, job.tolerance,
               "pass if measured/predicted is in 1/T to T (default: 2)"),
    OPT_STRING(0, "links", "FILE", struct args, job.links,
               "CSV of link parameters, or 'fit' (default: built-in)"),
    OPT_FLAG(0, "reduce-scatter-total", struct args, job.scatter_total,
             "multiply reduce_scatter messages by the number of ranks"),
};

static const struct example examples[] = {
    {"strata comm validate --csv-dir examples/perfdb-compare/comm",
     "check against the built-in links"},
    {"strata comm validate --csv-dir examples/perfdb-compare/comm --links fit --verbose",
     "residuals of a linear fit, row by row"},
};

static int validate_run(struct session *s, const void *given)
{
    struct comm_job job = ((const struct args *)given)->job;
    struct comm_validation v;

    if (job.dir == NULL)
        return session_usage(s, "comm validate needs --csv-dir DIR");
    if (!(job.tolerance > 0))
        return session_usage(s, "--tolerance must be greater than 0");
    job.lists_all = s->common.verbose;
    enum status st = comm_validate(&v, &job, &s->diag);
    for (size_t i = 0; i < v.n_checks; i++)
        if (v.checks[i].is_there)
            session_read(s, fs_join(&s->arena, job.dir, comm_kinds[i].file), "collectives",
                         v.checks[i].rows_read, v.checks[i].rows_read - v.checks[i].rows.n);
    if (v.checks[0].was_visited)
        session_give(s, &(struct answer){.schema = &comm_validation_schema,
                                         .origin = "measured",
                                         .result = &v,
                                         .print = comm_validation_print});
    bool is_ok = v.counts[COMM_FAIL] == 0;
    comm_validation_free(&v);
    return st == ST_OK && !is_ok ? CODE_NO : db_code(st);
}

const struct command command_comm_validate = {
    .name = "validate",
    .group = GROUP_DATABASE,
    .summary = "check measured collectives against a link model",
    .usage = "--csv-dir DIR [OPTIONS]",
    .details =
        "Predicts every row of the four tables (all_reduce, all_gather, reduce_scatter, "
        "all_to_all) from the latency and bandwidth of its tier and compares. A row within the "
        "tolerance passes, within twice the tolerance it is a warning, beyond that it fails; any "
        "failure gives exit code 1. Only rows that do not pass are listed, with --verbose all.\n"
        "\n"
        "The built-in links are those of one Ascend system (ATLAS_800_A3). For other systems "
        "--links takes a CSV with the columns tier, bandwidth (bytes/s) and latency (us), or "
        "collective, alpha (us) and beta (us per byte). --links fit fits a line to the rows of "
        "each collective, device count and tier, which shows outliers (as warnings), and prints "
        "its R2. With "
        "--links the tables of broadcast and send/receive are checked too.\n"
        "\n"
        "Use --reduce-scatter-total if the message size of a reduce_scatter row is one rank's "
        "share.",
    .see = "docs/perfdb-compare.md",
    .schemas = {&comm_validation_schema},
    COMMAND_PARTS,
    .run = validate_run,
};
