/*
 * strata db fill-fia: runtime values of fused attention joined to the rows of its table.
 */
#include "base/files/fs.h"
#include "cli/db/opt_db.h"
#include "opdb/rows/fia.h"
#include "opdb/rows/table.h"

struct args {
    const char *csv, *jsonl, *output, *tag;
    double wait;
};

static const struct args defaults = {.tag = "runtime_values_dumped"};

static const struct opt options[] = {
    OPT_STRING(0, "csv-path", "FILE", struct args, csv, "attention table (CSV)"),
    OPT_STRING(0, "jsonl-path", "FILE", struct args, jsonl,
               "dumped calls, one JSON object per line"),
    OPT_STRING(0, "output-path", "FILE", struct args, output,
               "output file (default: replace the table)"),
    OPT_STRING(0, "metadata-tag", "TEXT", struct args, tag,
               "tag for filled rows (default: runtime_values_dumped)"),
    OPT_DB_WAIT(struct args, wait),
};

static const struct example examples[] = {
    {"strata db fill-fia --csv-path examples/perfdb/db/FusedInferAttentionScore.csv --jsonl-path "
     "examples/perfdb/fia.jsonl --output-path out/FusedInferAttentionScore.csv",
     "add sequence lengths and heads of dumped calls"},
};

static void fia_give(struct session *s, const struct fia_fill *fill)
{
    if (!fill->is_dry_run)
        session_wrote(s, fill->output);
    session_give(s, &(struct answer){.schema = &fia_fill_schema,
                                     .origin = "measured",
                                     .result = fill,
                                     .print = fia_fill_print,
                                     .names_files = true});
}

static int fia_run(struct session *s, const void *given)
{
    const struct args *args = given;
    const char *output = args->output != NULL ? args->output : args->csv;
    struct lock lock = {.fd = -1};
    struct fia_fill fill;
    char name[64];

    if (args->csv == NULL || args->jsonl == NULL)
        return session_usage(s, "fill-fia needs --csv-path and --jsonl-path");
    if (fs_same_file(output, args->jsonl) ||
        (args->output != NULL && fs_same_file(output, args->csv)))
        return session_usage(s, "--output-path is an input; omit it to replace the table: %s",
                             output);
    const char *dir = arena_cstr(&s->arena, fia_folder(output));
    enum status st = ST_OK;
    if (!s->common.dry_run)
        st = lock_hold(&lock, dir, command_full_name(s->path, name, sizeof(name)), args->wait,
                       &s->diag);
    if (st != ST_OK)
        return db_code(st);
    st = fia_fill(&fill, args->csv, args->jsonl, str_of(args->tag), &s->diag);
    fill.output = output;
    fill.is_dry_run = s->common.dry_run;
    if (st == ST_OK && !fill.is_dry_run)
        st = table_write(&fill.table, output, TABLE_BOM, &s->diag);
    lock_release(&lock);
    if (st == ST_OK)
        fia_give(s, &fill);
    fia_fill_free(&fill);
    return db_code(st);
}

const struct command command_db_fill_fia = {
    .name = "fill-fia",
    .group = GROUP_DATABASE,
    .summary = "add runtime values to the fused attention table",
    .usage = "[OPTIONS] --csv-path FILE --jsonl-path FILE",
    .details = "A profile has the shapes of an attention call but not its sequence lengths, heads "
               "and blocks. A dump of the calls, one JSON object per line, does. Records and rows "
               "are joined by the shapes of query, key, value, mask and block table and by the "
               "number of key/value sequences. A row that matches several records becomes several "
               "rows; rows without a record are unchanged.",
    .see = "docs/perfdb.md",
    .common = COMMON_DRY_RUN,
    .schemas = {&fia_fill_schema},
    COMMAND_PARTS,
    .run = fia_run,
};
