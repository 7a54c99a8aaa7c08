/*
 * strata pto: kernels as PTO text. One file cmd_pto_<name>.c for each subcommand, one line each in
 * pto_verbs.def.
 */
#define VERBS           "cli/pto_verbs.def"
#define VERB_ENTRY(sym) command_pto_##sym
#include "cli/verbs.h"

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
