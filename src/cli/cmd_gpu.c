/*
 * strata gpu: kernels of a GPU. One file cmd_gpu_<name>.c for each subcommand, one line each in
 * gpu_verbs.def.
 */
#include "cli/session.h"

#define GPU_VERB(sym) extern const struct command command_gpu_##sym;
#include "cli/gpu_verbs.def"
#undef GPU_VERB

static const struct command *const subs[] = {
#define GPU_VERB(sym) &command_gpu_##sym,
#include "cli/gpu_verbs.def"
#undef GPU_VERB
    NULL,
};

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
