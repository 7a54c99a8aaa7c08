/*
 * strata completion: a completion script for a shell, from the command tables.
 */
#include "cli/completion.h"
#include "cli/session.h"

static const char *const shells[] = {"bash", "fish", "zsh", NULL};

static const struct example examples[] = {
    {"strata completion bash", "for ~/.local/share/bash-completion/completions/strata"},
    {"strata completion zsh", "for a file _strata in a folder of $fpath"},
    {"strata completion fish", "for ~/.config/fish/completions/strata.fish"},
    {0},
};

static int run(struct session *s, const void *args)
{
    const char *shell = s->operands.at[0];

    (void)args;
    if (strcmp(shell, "bash") == 0)
        completion_bash(&s->out, &s->arena);
    else if (strcmp(shell, "zsh") == 0)
        completion_zsh(&s->out, &s->arena);
    else
        completion_fish(&s->out, &s->arena);
    return CODE_DONE;
}

const struct command command_completion = {
    .name = "completion",
    .group = GROUP_ABOUT,
    .summary = "print a completion script for a shell",
    .usage = "[OPTIONS] bash|fish|zsh",
    .details = "Prints a script that completes commands, options and their values. It is made "
               "from the same tables as the help, so it always fits this version.",
    .operands = {.kind = OPERAND_CHOICE, .min = 1, .max = 1, .choices = shells},
    .examples = examples,
    .run = run,
};
