/*
 * help - what is printed from the tables of commands: `strata help` and `strata CMD --help`, man
 * pages, completion scripts.
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
void help_man(struct out *o, struct command_path path);

/* Completion scripts. */
void help_bash(struct out *o, struct arena *arena);
void help_zsh(struct out *o, struct arena *arena);
void help_fish(struct out *o, struct arena *arena);

#endif
