/*
 * verbs - the table `subs` of a command that has subcommands, from the list of their symbols.
 *
 *     #define VERBS           "cli/db/db_verbs.def" (* VERB(bench) ... *)
 *     #define VERB_ENTRY(sym) command_db_##sym   (* in cmd_db_<sym>.c *)
 *     #include "cli/verbs.h"
 */
#include "cli/command.h"

#define VERB(sym) extern const struct command VERB_ENTRY(sym);
#include VERBS
#undef VERB

static const struct command *const subs[] = {
#define VERB(sym) &VERB_ENTRY(sym),
#include VERBS
#undef VERB
    NULL,
};
