/*
 * strata db: the operator performance database. One file cmd_db_<name>.c for each subcommand, one
 * line each in db_verbs.def.
 */
#include "cli/session.h"

#define DB_VERB(sym) extern const struct command command_db_##sym;
#include "cli/db_verbs.def"
#undef DB_VERB

static const struct command *const subs[] = {
#define DB_VERB(sym) &command_db_##sym,
#include "cli/db_verbs.def"
#undef DB_VERB
    NULL,
};

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
