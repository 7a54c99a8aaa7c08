/*
 * help - what is printed from the tables of commands: `strata help` and `strata CMD --help`, man
 * pages, completion scripts.
 */
#ifndef STRATA_CLI_HELP_H
#define STRATA_CLI_HELP_H

#include "cli/command.h"
#include "cli/terminal/out.h"

/* The grouped list of commands. */
void help_overview(struct out *o);

/* One command's page: purpose, usage, options, examples, where to read more. The short one has no
 * text, the first options and one example. */
void help_page(struct out *o, struct command_path path, bool is_short);

/* The page as mdoc(7) source: strata(1) when path.command is NULL, else strata-CMD(1). */
void help_man(struct out *o, struct command_path path);

/* The completion script of bash, fish or zsh. */
void help_completion(struct out *o, struct arena *arena, const char *shell);

#endif
