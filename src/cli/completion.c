#include "cli/completion.h"

#include <stdio.h>

#include "cli/command.h"

/* What a value or an operand is completed with. */
enum want { WANT_NOTHING, WANT_FILE, WANT_DIR };

static enum want want_of_option(const struct opt *opt)
{
    static const char *const files[] = {"FILE", "PATH"};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (opt->value != NULL && strcmp(opt->value, files[i]) == 0)
            return WANT_FILE;
    return opt->value != NULL && strcmp(opt->value, "DIR") == 0 ? WANT_DIR : WANT_NOTHING;
}

static enum want want_of_operands(const struct operands *operands)
{
    if (operands->kind == OPERAND_FILE)
        return WANT_FILE;
    return operands->kind == OPERAND_DIR ? WANT_DIR : WANT_NOTHING;
}

/* Calls `each` for every command that runs: on the first level and below. */
static void for_each(struct out *o, void (*each)(struct out *o, struct command_path path))
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = command_list[i];
        each(o, (struct command_path){NULL, c});
        for (size_t k = 0; c->subs != NULL && c->subs[k] != NULL; k++)
            each(o, (struct command_path){c, c->subs[k]});
    }
}

/* A command's own options, then the common ones; `out` has room for `room`. */
static size_t all_options(const struct command *c, struct opt *out, size_t room)
{
    struct opt common[COMMON_OPTIONS];
    size_t n = 0;

    command_common_options(c->common, common);
    for (size_t i = 0; i < opt_count(c->options) && n < room; i++)
        if (opt_is_option(&c->options[i]))
            out[n++] = c->options[i];
    for (size_t i = 0; i < opt_count(common) && n < room; i++)
        out[n++] = common[i];
    return n;
}

enum { MOST_OPTIONS = 96 };

static void words(struct out *o, const char *const *list)
{
    for (size_t i = 0; list[i] != NULL; i++)
        out_printf(o, "%s%s", i > 0 ? " " : "", list[i]);
}

static void command_words(struct out *o, const struct command *const *subs)
{
    for (size_t i = 0; subs != NULL ? subs[i] != NULL : i < command_count; i++)
        out_printf(o, "%s%s", i > 0 ? " " : "",
                   subs != NULL ? subs[i]->name : command_list[i]->name);
}

/* The names an operand may have, or nothing. */
static void operand_words(struct out *o, const struct command *c)
{
    if (c->subs != NULL)
        command_words(o, c->subs);
    else if (c->operands.kind == OPERAND_CHOICE)
        words(o, c->operands.choices);
    else if (c->operands.kind == OPERAND_COMMAND)
        command_words(o, NULL);
}

/* ---- bash ---- */

static void bash_walk(struct out *o, struct command_path path)
{
    char name[64];

    out_printf(o, "            '%s %s') cmd='%s' ;;\n",
               path.parent != NULL ? path.parent->name : "", path.command->name,
               command_full_name(path, name, sizeof(name)));
}

static void bash_values(struct out *o, struct command_path path)
{
    struct opt options[MOST_OPTIONS];
    size_t n = all_options(path.command, options, MOST_OPTIONS);
    char name[64];

    command_full_name(path, name, sizeof(name));
    for (size_t i = 0; i < n; i++) {
        const struct opt *opt = &options[i];
        if (!opt_takes_value(opt))
            continue;
        out_printf(o, "        '%s --%s'", name, opt->name);
        if (opt->letter != 0)
            out_printf(o, " | '%s -%c'", name, opt->letter);
        out_text(o, ") ");
        if (opt->kind == OPT_KIND_CHOICE) {
            out_text(o, "words='");
            words(o, opt->choices);
            out_text(o, "'");
        } else {
            static const char *const kinds[] = {"words=", "files=-f", "files=-d"};
            out_text(o, kinds[want_of_option(opt)]);
        }
        out_text(o, " ;;\n");
    }
}

static void bash_operands(struct out *o, struct command_path path)
{
    static const char *const kinds[] = {"", " files=-f", " files=-d"};
    struct opt options[MOST_OPTIONS];
    size_t n = path.command->subs == NULL ? all_options(path.command, options, MOST_OPTIONS) : 0;
    char name[64];

    out_printf(o, "        '%s') options='", command_full_name(path, name, sizeof(name)));
    for (size_t i = 0; i < n; i++)
        out_printf(o, "%s--%s", i > 0 ? " " : "", options[i].name);
    out_text(o, n == 0 ? "--help' words='" : "' words='");
    operand_words(o, path.command);
    out_printf(o, "'%s ;;\n", kinds[want_of_operands(&path.command->operands)]);
}

void completion_bash(struct out *o)
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
    for_each(o, bash_walk);
    out_text(o, "        esac\n"
                "    done\n"
                "    case \"$cmd $prev\" in\n");
    for_each(o, bash_values);
    out_text(o, "        *) case \"$cmd\" in\n"
                "        '') options='--help --version' words='");
    command_words(o, NULL);
    out_text(o, "' ;;\n");
    for_each(o, bash_operands);
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

/* Text inside a zsh _arguments specification in single quotes. */
static void zsh_text(struct out *o, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            out_text(o, "'\\''");
        else if (*c == '[' || *c == ']' || *c == ':' || *c == '\\')
            out_printf(o, "\\%c", *c);
        else
            out_bytes(o, (struct str){c, 1});
    }
}

static void zsh_option(struct out *o, const struct opt *opt)
{
    static const char *const actions[] = {" ", "_files", "_files -/"};
    char value[128];

    out_printf(o, " \\\n                ");
    if (opt->letter != 0)
        out_printf(o, "'(-%c --%s)'{-%c%s,--%s%s}'[", opt->letter, opt->name, opt->letter,
                   opt_takes_value(opt) ? "+" : "", opt->name, opt_takes_value(opt) ? "=" : "");
    else
        out_printf(o, "'%s--%s%s[", opt->kind == OPT_KIND_LIST ? "*" : "", opt->name,
                   opt_takes_value(opt) ? "=" : "");
    zsh_text(o, opt->help);
    out_text(o, "]");
    if (opt->kind == OPT_KIND_CHOICE) {
        out_text(o, ":value:(");
        words(o, opt->choices);
        out_text(o, ")");
    } else if (opt_takes_value(opt)) {
        out_text(o, ":");
        zsh_text(o, opt_value_text(opt, value, sizeof(value)));
        out_printf(o, ":%s", actions[want_of_option(opt)]);
    }
    out_text(o, "'");
}

static void zsh_operands(struct out *o, const struct command *c)
{
    static const char *const actions[] = {" ", "_files", "_files -/"};

    if (c->operands.max == 0)
        return;
    out_text(o, " \\\n                '*:argument:");
    if (c->operands.kind == OPERAND_CHOICE || c->operands.kind == OPERAND_COMMAND) {
        out_text(o, "(");
        operand_words(o, c);
        out_text(o, ")");
    } else {
        out_text(o, actions[want_of_operands(&c->operands)]);
    }
    out_text(o, "'");
}

static void zsh_function(struct out *o, struct command_path path)
{
    struct opt options[MOST_OPTIONS];
    size_t n = all_options(path.command, options, MOST_OPTIONS);

    if (path.command->subs != NULL)
        return;
    out_printf(o, "        '%s%s%s')\n            _arguments -s -S",
               path.parent != NULL ? path.parent->name : "", path.parent != NULL ? " " : "",
               path.command->name);
    for (size_t i = 0; i < n; i++)
        zsh_option(o, &options[i]);
    zsh_operands(o, path.command);
    out_text(o, "\n            ;;\n");
}

static void zsh_list(struct out *o, const struct command *const *list, size_t count)
{
    for (size_t i = 0; i < count && list[i] != NULL; i++) {
        out_printf(o, "            '%s:", list[i]->name);
        zsh_text(o, list[i]->summary);
        out_text(o, "'\n");
    }
}

void completion_zsh(struct out *o)
{
    out_text(o, "#compdef strata\n"
                "# zsh completion for strata; made by `strata completion zsh`\n"
                "_strata() {\n"
                "    local -a list\n"
                "    local cmd=''\n"
                "    if (( CURRENT == 2 )); then\n"
                "        list=(\n");
    zsh_list(o, command_list, command_count);
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
        zsh_list(o, command_list[i]->subs, SIZE_MAX);
        out_text(o, "        )\n        _describe command list\n        return\n        fi\n"
                    "        cmd=\"$cmd $words[2]\"\n        shift words\n        (( CURRENT-- ))\n"
                    "        ;;\n");
    }
    out_text(o, "    esac\n"
                "    case $cmd in\n");
    for_each(o, zsh_function);
    out_text(o, "    esac\n"
                "}\n"
                "if [[ $funcstack[1] == _strata ]]; then\n"
                "    _strata \"$@\"\n"
                "else\n"
                "    compdef _strata strata\n"
                "fi\n");
}

/* ---- fish ---- */

/* Text in single quotes for fish. */
static void fish_text(struct out *o, const char *text)
{
    out_text(o, "'");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'' || *c == '\\')
            out_text(o, "\\");
        out_bytes(o, (struct str){c, 1});
    }
    out_text(o, "'");
}

/* The condition under which a command's completions are offered. */
static void fish_start(struct out *o, struct command_path path)
{
    if (path.parent != NULL)
        out_printf(o,
                   "complete -c strata -n '__fish_seen_subcommand_from %s; and "
                   "__fish_seen_subcommand_from %s'",
                   path.parent->name, path.command->name);
    else
        out_printf(o, "complete -c strata -n '__fish_seen_subcommand_from %s'", path.command->name);
}

static void fish_command(struct out *o, struct command_path path)
{
    static const char *const operand_flags[] = {"", " -F",
                                                " -x -a '(__fish_complete_directories)'"};
    const struct command *c = path.command;
    struct opt options[MOST_OPTIONS];
    size_t n = c->subs == NULL ? all_options(c, options, MOST_OPTIONS) : 0;

    for (size_t i = 0; i < n; i++) {
        const struct opt *opt = &options[i];
        fish_start(o, path);
        out_printf(o, " -l %s", opt->name);
        if (opt->letter != 0)
            out_printf(o, " -s %c", opt->letter);
        if (opt->kind == OPT_KIND_CHOICE) {
            out_text(o, " -x -a '");
            words(o, opt->choices);
            out_text(o, "'");
        } else if (opt_takes_value(opt)) {
            static const char *const flags[] = {" -x", " -r -F",
                                                " -x -a '(__fish_complete_directories)'"};
            out_text(o, flags[want_of_option(opt)]);
        }
        out_text(o, " -d ");
        fish_text(o, opt->help);
        out_text(o, "\n");
    }
    fish_start(o, path);
    if (c->subs != NULL || c->operands.kind == OPERAND_CHOICE ||
        c->operands.kind == OPERAND_COMMAND) {
        out_text(o, " -a '");
        operand_words(o, c);
        out_text(o, "'");
    } else {
        out_text(o, operand_flags[want_of_operands(&c->operands)]);
    }
    out_text(o, "\n");
}

void completion_fish(struct out *o)
{
    out_text(o, "# fish completion for strata; made by `strata completion fish`\n"
                "complete -c strata -f\n");
    for (size_t i = 0; i < command_count; i++) {
        out_printf(o, "complete -c strata -n __fish_use_subcommand -a %s -d ",
                   command_list[i]->name);
        fish_text(o, command_list[i]->summary);
        out_text(o, "\n");
    }
    for_each(o, fish_command);
}
