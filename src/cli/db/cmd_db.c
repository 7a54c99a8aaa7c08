/*
 * strata db: the operator performance database. One file cmd_db_<name>.c for each subcommand, one
 * line each in db_verbs.def.
 */
#define VERBS           "cli/db/db_verbs.def"
#define VERB_ENTRY(sym) command_db_##sym
#include "cli/verbs.h"

const struct command command_db = {
    .name = "db",
    .group = GROUP_DATABASE,
    .summary = "operator performance database: fill, check, query",
    .usage = "COMMAND [OPTIONS] …",
    .details = "A database is a folder with one table (CSV) per operator: durations and counters "
               "by shape. It is filled from profiles and replays, extended with generated shapes, "
               "and queried by performance models.",
    .see = "docs/perfdb.md",
    .subs = subs,
};
