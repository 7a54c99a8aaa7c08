/*
 * strata pto: kernels in PTO text. One file cmd_pto_<name>.c for each subcommand, one line each
 * here.
 */
#include "cli/session.h"

extern const struct command command_pto_calibrate;

static const struct command *const subs[] = {
    &command_pto_calibrate,
    NULL,
};

const struct command command_pto = {
    .name = "pto",
    .group = GROUP_INCORE,
    .summary = "kernels in PTO text and the cost model of one AI core",
    .usage = "COMMAND [OPTIONS] …",
    .details = "Works on kernels as PyPTO and PTOAS write them, with a model of one Ascend AI core "
               "and no vendor toolkit.",
    .see = "docs/cost-model.md",
    .subs = subs,
};
