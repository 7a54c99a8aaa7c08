/*
 * strata comm: collectives between devices. One file cmd_comm_<name>.c for each subcommand, one
 * line each here.
 */
#include "cli/command.h"

extern const struct command command_comm_bench, command_comm_generate, command_comm_validate;

static const struct command *const subs[] = {
    &command_comm_bench,
    &command_comm_generate,
    &command_comm_validate,
    NULL,
};

const struct command command_comm = {
    .name = "comm",
    .group = GROUP_DATABASE,
    .summary = "measure collectives and check the results",
    .usage = "COMMAND [OPTIONS] …",
    .details = "Tables of collectives are part of the operator database: one CSV per collective, "
               "with message size, number of devices, network tier and duration.",
    .see = "docs/perfdb-compare.md",
    .subs = subs,
};
