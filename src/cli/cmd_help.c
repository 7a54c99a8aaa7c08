/*
 * strata help: the grouped list, or one command's page.
 */
#include "cli/help.h"
#include "cli/session.h"

struct args {
    bool man;
};

static const struct opt options[] = {
    OPT_FLAG(0, "man", struct args, man, "print the page as mdoc source"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata help", "all commands, grouped by job"},
    {"strata help devices", "the same page as `strata devices --help`"},
    {0},
};

static int run(struct session *s, const void *p)
{
    const struct args *args = p;
    struct command_path path = {0};
    int used = 0;

    if (s->operands.n > 0) {
        path = command_find((int)s->operands.n, s->operands.at, &used);
        if ((size_t)used < s->operands.n) {
            const char *word = s->operands.at[used];
            const char *near = command_nearest(used > 0 ? path.command->subs : NULL, word);
            diag_fail(&s->diag, ST_NOT_FOUND, "usage.command", (struct where){0},
                      "unknown command \"%s\"", word);
            diag_hint(&s->diag, "try", "strata help%s%s", near != NULL ? " " : "",
                      near != NULL ? near : "");
            return CODE_USAGE;
        }
    }
    if (args->man)
        man_page(&s->out, path);
    else if (path.command != NULL)
        help_page(&s->out, path);
    else
        help_overview(&s->out);
    return CODE_DONE;
}

const struct command command_help = {
    .name = "help",
    .group = GROUP_ABOUT,
    .summary = "list the commands, or explain one",
    .usage = "[OPTIONS] [COMMAND]",
    .details = "Without an argument, prints every command grouped by job. With one, prints that "
               "command's options and examples, the same page as its --help.",
    .options = options,
    .args_size = sizeof(struct args),
    .operands = {.kind = OPERAND_COMMAND, .max = 2},
    .examples = examples,
    .run = run,
};
