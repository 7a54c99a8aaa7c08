/*
 * strata skills: instructions for coding agents. One file cmd_skills_<name>.c for each subcommand,
 * one line each in skills_verbs.def.
 */
#define VERBS           "cli/help/skills_verbs.def"
#define VERB_ENTRY(sym) command_skills_##sym
#include "cli/verbs.h"

const struct command command_skills = {
    .name = "skills",
    .group = GROUP_TOOLS,
    .summary = "instructions for coding agents: list, install",
    .usage = "COMMAND [OPTIONS] …",
    .details = "A skill is a folder with a file SKILL.md for coding agents: the tasks it is for, "
               "the commands to run, how to read the answers and what to do next.",
    .see = "docs/agents.md",
    .subs = subs,
};
