/*
 * strata pto: kernels as PTO text. One file cmd_pto_<name>.c for each subcommand, one line each
 * here.
 */
#include "cli/session.h"

extern const struct command command_pto_calibrate;
extern const struct command command_pto_check;
extern const struct command command_pto_print;
extern const struct command command_pto_replay;
extern const struct command command_pto_sim;

static const struct command *const subs[] = {
    &command_pto_calibrate, &command_pto_check, &command_pto_print,
    &command_pto_replay,    &command_pto_sim,   NULL,
};

const struct command command_pto = {
    .name = "pto",
    .group = GROUP_INCORE,
    .summary = "kernels as PTO text: check them, print them, run them on a model of the chip",
    .usage = "COMMAND [OPTIONS] …",
    .details = "Reads .pto files, the text of kernels for Ascend A2/A3 and A5 as PyPTO writes it: "
               "the tile layer of the PTO dialect with the loops, branches and scalar arithmetic "
               "around it.",
    .see = "docs/formats/pto.md",
    .subs = subs,
};
