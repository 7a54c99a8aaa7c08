/*
 * strata gpu: kernels of a GPU. One file cmd_gpu_<name>.c for each subcommand, one line each in
 * gpu_verbs.def.
 */
#define VERBS           "cli/gpu_verbs.def"
#define VERB_ENTRY(sym) command_gpu_##sym
#include "cli/verbs.h"

const struct command command_gpu = {
    .name = "gpu",
    .group = GROUP_GPU,
    .summary = "kernels of a GPU: what bounds them and what would help",
    .usage = "COMMAND [OPTIONS] …",
    .details = "Measures or imports the kernels of a workload, compares them with what the chip "
               "can do, says what bounds each stage and ranks what would help by estimated gain.",
    .see = "docs/gpu.md",
    .subs = subs,
};
