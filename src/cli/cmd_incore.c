/*
 * strata incore: artifacts of one kernel inside one core. One file cmd_incore_<name>.c for each
 * subcommand, one line each here.
 */
#include "cli/session.h"

extern const struct command command_incore_clean;
extern const struct command command_incore_diff;
extern const struct command command_incore_export;
extern const struct command command_incore_lint;
extern const struct command command_incore_replay;
extern const struct command command_incore_run;
extern const struct command command_incore_show;

static const struct command *const subs[] = {
    &command_incore_clean,  &command_incore_diff, &command_incore_export, &command_incore_lint,
    &command_incore_replay, &command_incore_run,  &command_incore_show,   NULL,
};

const struct command command_incore = {
    .name = "incore",
    .group = GROUP_INCORE,
    .summary = "look inside one kernel: instruction traces of the operator simulator",
    .usage = "COMMAND [OPTIONS] …",
    .details = "Works on what the operator simulator leaves of one kernel: visualize_data.bin and "
               "trace.json, the instructions on every pipe of every core.",
    .see = "docs/formats/visualize-data.md",
    .subs = subs,
};
