/*
 * strata incore: what works on the trace of one kernel inside one core.
 */
#include "cli/command.h"

extern const struct command command_incore_clean;

static const struct command *const subs[] = {&command_incore_clean, NULL};

const struct command command_incore = {
    .name = "incore",
    .group = GROUP_INCORE,
    .summary = "traces of one kernel, instruction by instruction",
    .usage = "COMMAND ...",
    .subs = subs,
};
