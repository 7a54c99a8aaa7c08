/*
 * strata pto: kernels as PTO text. One file cmd_pto_<name>.c for each subcommand, one line each in
 * pto_verbs.def.
 */
#define VERBS           "cli/kernel/pto_verbs.def"
#define VERB_ENTRY(sym) command_pto_##sym
#include "cli/verbs.h"

const struct command command_pto = {
    .name = "pto",
    .group = GROUP_KERNELS,
    .summary = "check, print and simulate kernels in PTO text",
    .usage = "COMMAND [OPTIONS] …",
    .details = "Reads .pto files, the text of kernels for Ascend A2/A3 and A5 as PyPTO writes it: "
               "the tile layer of the PTO dialect with loops, branches and scalar arithmetic.",
    .see = "docs/formats/pto.md",
    .subs = subs,
};
