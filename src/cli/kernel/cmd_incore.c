/*
 * strata incore: artifacts of one kernel inside one core. One file cmd_incore_<name>.c for each
 * subcommand, one line each in incore_verbs.def.
 */
#define VERBS           "cli/kernel/incore_verbs.def"
#define VERB_ENTRY(sym) command_incore_##sym
#include "cli/verbs.h"

const struct command command_incore = {
    .name = "incore",
    .group = GROUP_KERNELS,
    .summary = "analyse instruction traces of a single kernel",
    .usage = "COMMAND [OPTIONS] …",
    .details = "Works on the operator simulator's output for one kernel: visualize_data.bin and "
               "trace.json, with the instructions on every pipe of every core.",
    .see = "docs/formats/visualize-data.md",
    .subs = subs,
};
