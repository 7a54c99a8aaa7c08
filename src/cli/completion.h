/*
 * completion - completion scripts made from the command tables.
 *
 * The scripts are static text: completing never starts strata.
 */
#ifndef STRATA_CLI_COMPLETION_H
#define STRATA_CLI_COMPLETION_H

#include "cli/out.h"

void completion_bash(struct out *o, struct arena *arena);
void completion_zsh(struct out *o, struct arena *arena);
void completion_fish(struct out *o, struct arena *arena);

#endif
