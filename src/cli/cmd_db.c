/*
 * strata db: the operator performance database. One file cmd_db_<name>.c for each subcommand, one
 * line each in db_verbs.def.
 */
#define VERBS           "cli/db_verbs.def"
#define VERB_ENTRY(sym) command_db_##sym
#include "cli/verbs.h"

const struct command command_db = {
    .name = "db",
    .group = GROUP_DATABASE,
    .summary = "durations and counters of operators by shape: fill, check and ask the database",
    .usage = "COMMAND [OPTIONS] …",
    .details = "A database is a folder with one table (CSV) per operator. It is filled from "
               "profiles and replays, completed with generated rows, and asked by performance "
               "models.",
    .see = "docs/perfdb.md",
    .subs = subs,
};
