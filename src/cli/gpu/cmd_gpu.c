/*
 * strata gpu: kernels of a GPU. One file cmd_gpu_<name>.c for each subcommand, one line each in
 * gpu_verbs.def.
 */
#define VERBS           "cli/gpu/gpu_verbs.def"
#define VERB_ENTRY(sym) command_gpu_##sym
#include "cli/verbs.h"

const struct command command_gpu = {
    .name = "gpu",
    .group = GROUP_RECORD,
    .summary = "profile GPU kernels: limits, roofline, opportunities",
    .usage = "COMMAND [OPTIONS] …",
    .details =
        "Profiles the kernels of a workload or imports profiles, compares them with the peaks of "
        "the chip, names the limiter of each stage and ranks opportunities by estimated gain.",
    .see = "docs/gpu.md",
    .subs = subs,
};
