/*
 * strata completion: a completion script for a shell, from the command tables. Scripts are static
 * text: completing never starts strata.
 */
#include "base/text.h"
#include "cli/help.h"
#include "cli/session.h"

/* What a value or an operand is completed with. */
enum want { WANT_NOTHING, WANT_FILE, WANT_DIR };

static enum want want_of_option(const struct opt *opt)
{
    struct str value = str_of(opt->value != NULL ? opt->value : "");

    if (str_equal(value, S("FILE")) || str_equal(value, S("PATH")))
        return WANT_FILE;
    return str_equal(value, S("DIR")) ? WANT_DIR : WANT_NOTHING;
}

static enum want want_of_operands(const struct operands *operands)
{
    if (operands->kind == OPERAND_FILE)
        return WANT_FILE;
    return operands->kind == OPERAND_DIR ? WANT_DIR : WANT_NOTHING;
}

/* A command, as a script is written about it. */
struct page {
    struct out *out;
    struct arena *arena;
    const struct command *command, *parent; /* parent NULL on the first level */
    const char *name;                       /* as typed after `strata` */
    struct opt options[COMMAND_OPTIONS];
    size_t n;
};

static void show(struct page *p, const struct command *c, void (*each)(const struct page *p))
{
    p->command = c;
    p->name =
        p->parent != NULL ? arena_format(p->arena, "%s %s", p->parent->name, c->name).at : c->name;
    p->n = command_options(c, p->options);
    each(p);
}

/* Calls `each` for every command, on the first level and below. */
static void for_each(struct out *o, struct arena *arena, void (*each)(const struct page *p))
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = command_list[i];
        struct page p = {.out = o, .arena = arena};
        show(&p, c, each);
        p.parent = c;
        for (size_t k = 0; c->subs != NULL && c->subs[k] != NULL; k++)
            show(&p, c->subs[k], each);
    }
}

/* "a b c" */
static const char *words(struct arena *arena, const char *const *list)
{
    struct str all = S("");

    for (size_t i = 0; list[i] != NULL; i++)
        all = arena_format(arena, "%.*s%s%s", STR_ARGS(all), i > 0 ? " " : "", list[i]);
    return all.at;
}

static const char *command_words(struct arena *arena, const struct command *const *subs)
{
    const struct command *const *list = subs != NULL ? subs : command_list;
    struct str all = S("");

    for (size_t i = 0; subs != NULL ? subs[i] != NULL : i < command_count; i++)
        all = arena_format(arena, "%.*s%s%s", STR_ARGS(all), i > 0 ? " " : "", list[i]->name);
    return all.at;
}

/* The names an operand may have; NULL when it is something else. */
static const char *operand_words(const struct page *p)
{
    const struct command *c = p->command;

    if (c->subs != NULL)
        return command_words(p->arena, c->subs);
    if (c->operands.kind == OPERAND_CHOICE)
        return words(p->arena, c->operands.choices);
    return c->operands.kind == OPERAND_COMMAND ? command_words(p->arena, NULL) : NULL;
}

/* `text` with a backslash in front of each of `special`. */
static const char *escaped(struct arena *arena, const char *text, const char *special)
{
    struct text t = {0};

    for (const char *c = text; *c != '\0'; c++)
        text_format(&t, "%s%c", strchr(special, *c) != NULL ? "\\" : "", *c);
    const char *copy = arena_cstr(arena, text_view(&t));
    text_free(&t);
    return copy;
}

/* ---- bash ---- */

static void bash_walk(const struct page *p)
{
    out_printf(p->out, "            '%s %s') cmd='%s' ;;\n",
               p->parent != NULL ? p->parent->name : "", p->command->name, p->name);
}

static void bash_values(const struct page *p)
{
    static const char *const kinds[] = {"words=", "files=-f", "files=-d"};

    for (size_t i = 0; i < p->n; i++) {
        const struct opt *opt = &p->options[i];
        if (!opt_takes_value(opt))
            continue;
        out_printf(p->out, "        '%s --%s'", p->name, opt->name);
        if (opt->letter != 0)
            out_printf(p->out, " | '%s -%c'", p->name, opt->letter);
        if (opt->kind == OPT_KIND_CHOICE)
            out_printf(p->out, ") words='%s' ;;\n", words(p->arena, opt->choices));
        else
            out_printf(p->out, ") %s ;;\n", kinds[want_of_option(opt)]);
    }
}

static void bash_operands(const struct page *p)
{
    static const char *const kinds[] = {"", " files=-f", " files=-d"};
    const char *names = operand_words(p);
    bool is_holder = p->command->subs != NULL;

    out_printf(p->out, "        '%s') options='%s", p->name, is_holder ? "--help" : "");
    for (size_t i = 0; i < p->n && !is_holder; i++)
        out_printf(p->out, "%s--%s", i > 0 ? " " : "", p->options[i].name);
    out_printf(p->out, "' words='%s'%s ;;\n", names != NULL ? names : "",
               kinds[want_of_operands(&p->command->operands)]);
}

void help_bash(struct out *o, struct arena *arena)
{
    out_text(o, "# bash completion for strata; made by `strata completion bash`\n"
                "_strata() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local cmd='' words='' options='' files='' i\n"
                "    # bash splits --name=value at the equals sign\n"
                "    if [[ $cur == '=' ]]; then\n"
                "        cur=''\n"
                "    elif [[ $prev == '=' ]]; then\n"
                "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                "    fi\n"
                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        case \"$cmd ${COMP_WORDS[i]}\" in\n");
    for_each(o, arena, bash_walk);
    out_text(o, "        esac\n"
                "    done\n"
                "    case \"$cmd $prev\" in\n");
    for_each(o, arena, bash_values);
    out_printf(o,
               "        *) case \"$cmd\" in\n"
               "        '') options='--help --version' words='%s' ;;\n",
               command_words(arena, NULL));
    for_each(o, arena, bash_operands);
    out_text(o, "        esac\n"
                "            [[ $cur == -* ]] && words=$options files='' ;;\n"
                "    esac\n"
                "    if [[ -n $files ]]; then\n"
                "        compopt -o filenames 2>/dev/null\n"
                "        mapfile -t COMPREPLY < <(compgen \"$files\" -- \"$cur\")\n"
                "    else\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                "    fi\n"
                "}\n"
                "complete -F _strata strata\n");
}

/* ---- zsh ---- */

static const char *const zsh_actions[] = {" ", "_files", "_files -/"};

/* Text inside a zsh _arguments specification in single quotes. */
static const char *zsh_text(struct arena *arena, const char *text)
{
    struct str rest = str_of(escaped(arena, text, "[]:\\")), part;
    struct str all = S("");
    bool has_part = false;

    while (str_split(&rest, '\'', &part)) {
        all = arena_format(arena, "%.*s%s%.*s", STR_ARGS(all), has_part ? "'\\''" : "",
                           STR_ARGS(part));
        has_part = true;
    }
    return all.n > 0 ? all.at : "";
}

static void zsh_option(const struct page *p, const struct opt *opt)
{
    const char *equals = opt_takes_value(opt) ? "=" : "", *help = zsh_text(p->arena, opt->help);
    char value[128];

    if (opt->letter != 0)
        out_printf(p->out, " \\\n                '(-%c --%s)'{-%c%s,--%s%s}'[%s]", opt->letter,
                   opt->name, opt->letter, equals[0] != '\0' ? "+" : "", opt->name, equals, help);
    else
        out_printf(p->out, " \\\n                '%s--%s%s[%s]",
                   opt->kind == OPT_KIND_LIST ? "*" : "", opt->name, equals, help);
    if (opt->kind == OPT_KIND_CHOICE)
        out_printf(p->out, ":value:(%s)'", words(p->arena, opt->choices));
    else if (opt_takes_value(opt))
        out_printf(p->out, ":%s:%s'", zsh_text(p->arena, opt_value_text(opt, value, sizeof(value))),
                   zsh_actions[want_of_option(opt)]);
    else
        out_text(p->out, "'");
}

static void zsh_function(const struct page *p)
{
    const struct operands *operands = &p->command->operands;
    const char *names = operand_words(p);

    if (p->command->subs != NULL)
        return;
    out_printf(p->out, "        '%s')\n            _arguments -s -S", p->name);
    for (size_t i = 0; i < p->n; i++)
        zsh_option(p, &p->options[i]);
    if (operands->max > 0 && names != NULL)
        out_printf(p->out, " \\\n                '*:argument:(%s)'", names);
    else if (operands->max > 0)
        out_printf(p->out, " \\\n                '*:argument:%s'",
                   zsh_actions[want_of_operands(operands)]);
    out_text(p->out, "\n            ;;\n");
}

static void zsh_list(struct out *o, struct arena *arena, const struct command *const *list,
                     size_t count)
{
    for (size_t i = 0; i < count && list[i] != NULL; i++)
        out_printf(o, "            '%s:%s'\n", list[i]->name, zsh_text(arena, list[i]->summary));
}

void help_zsh(struct out *o, struct arena *arena)
{
    out_text(o, "#compdef strata\n"
                "# zsh completion for strata; made by `strata completion zsh`\n"
                "_strata() {\n"
                "    local -a list\n"
                "    local cmd=''\n"
                "    if (( CURRENT == 2 )); then\n"
                "        list=(\n");
    zsh_list(o, arena, command_list, command_count);
    out_text(o, "        )\n"
                "        _describe command list\n"
                "        return\n"
                "    fi\n"
                "    cmd=$words[2]\n"
                "    shift words\n"
                "    (( CURRENT-- ))\n"
                "    case $cmd in\n");
    for (size_t i = 0; i < command_count; i++) {
        if (command_list[i]->subs == NULL)
            continue;
        out_printf(o, "    %s)\n        if (( CURRENT == 2 )); then\n        list=(\n",
                   command_list[i]->name);
        zsh_list(o, arena, command_list[i]->subs, SIZE_MAX);
        out_text(o, "        )\n        _describe command list\n        return\n        fi\n"
                    "        cmd=\"$cmd $words[2]\"\n        shift words\n        (( CURRENT-- ))\n"
                    "        ;;\n");
    }
    out_text(o, "    esac\n"
                "    case $cmd in\n");
    for_each(o, arena, zsh_function);
    out_text(o, "    esac\n"
                "}\n"
                "if [[ $funcstack[1] == _strata ]]; then\n"
                "    _strata \"$@\"\n"
                "else\n"
                "    compdef _strata strata\n"
                "fi\n");
}

/* ---- fish ---- */

static const char *fish_text(struct arena *arena, const char *text)
{
    return escaped(arena, text, "'\\");
}

static void fish_command(const struct page *p)
{
    static const char *const operand_flags[] = {"", " -F",
                                                " -x -a '(__fish_complete_directories)'"};
    static const char *const value_flags[] = {" -x", " -r -F",
                                              " -x -a '(__fish_complete_directories)'"};
    const char *names = operand_words(p);
    /* The condition under which the command's completions are offered. */
    struct str seen = S("__fish_seen_subcommand_from ");
    const char *start =
        p->parent != NULL
            ? arena_format(p->arena, "complete -c strata -n '%s%s; and %s%s'", seen.at,
                           p->parent->name, seen.at, p->command->name)
                  .at
            : arena_format(p->arena, "complete -c strata -n '%s%s'", seen.at, p->name).at;

    for (size_t i = 0; i < p->n && p->command->subs == NULL; i++) {
        const struct opt *opt = &p->options[i];
        out_printf(p->out, "%s -l %s", start, opt->name);
        if (opt->letter != 0)
            out_printf(p->out, " -s %c", opt->letter);
        if (opt->kind == OPT_KIND_CHOICE)
            out_printf(p->out, " -x -a '%s'", words(p->arena, opt->choices));
        else if (opt_takes_value(opt))
            out_text(p->out, value_flags[want_of_option(opt)]);
        out_printf(p->out, " -d '%s'\n", fish_text(p->arena, opt->help));
    }
    if (names != NULL)
        out_printf(p->out, "%s -a '%s'\n", start, names);
    else
        out_printf(p->out, "%s%s\n", start, operand_flags[want_of_operands(&p->command->operands)]);
}

void help_fish(struct out *o, struct arena *arena)
{
    out_text(o, "# fish completion for strata; made by `strata completion fish`\n"
                "complete -c strata -f\n");
    for (size_t i = 0; i < command_count; i++)
        out_printf(o, "complete -c strata -n __fish_use_subcommand -a %s -d '%s'\n",
                   command_list[i]->name, fish_text(arena, command_list[i]->summary));
    for_each(o, arena, fish_command);
}

/* ---- the command ---- */

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
        help_bash(&s->out, &s->arena);
    else if (strcmp(shell, "zsh") == 0)
        help_zsh(&s->out, &s->arena);
    else
        help_fish(&s->out, &s->arena);
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
