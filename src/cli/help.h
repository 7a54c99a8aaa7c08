/*
 * help - what `strata help` and `strata CMD --help` print, and the man pages, from the tables.
 */
#ifndef STRATA_CLI_HELP_H
#define STRATA_CLI_HELP_H

#include "cli/command.h"
#include "cli/out.h"

/* The grouped list of commands. */
void help_overview(struct out *o);

/* One command's page: purpose, usage, options, examples, where to read more. */
void help_page(struct out *o, struct command_path path);

/* The page as mdoc(7) source: strata(1) when path.command is NULL, else strata-CMD(1). */
void man_page(struct out *o, struct command_path path);

#endif
