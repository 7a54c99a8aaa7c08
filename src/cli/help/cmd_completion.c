/*
 * strata completion: a completion script for a shell, from the command tables. Scripts are static
 * text: completing never starts strata.
 */
#include "base/files/embedded.h"
#include "base/text/text.h"
#include "cli/help/help.h"
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
    if (c->operands.choices != NULL)
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

static void bash_command(const struct page *p)
{
    if (p->parent == NULL)
        out_printf(p->out, "%s%s", p->command != command_list[0] ? " " : "", p->name);
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
        out_printf(p->out, " \\\n                '%s:argument:(%s)'",
                   operands->kind == OPERAND_FILE ? "1" : "*", names);
    if (operands->max > 0 && (names == NULL || operands->kind == OPERAND_FILE))
        out_printf(p->out, " \\\n                '*:argument:%s'",
                   zsh_actions[want_of_operands(operands)]);
    out_text(p->out, "\n            ;;\n");
}

static void zsh_item(const struct page *p, const struct command *c)
{
    out_printf(p->out, "            '%s:%s'\n", c->name, zsh_text(p->arena, c->summary));
}

static void zsh_command(const struct page *p)
{
    if (p->parent == NULL)
        zsh_item(p, p->command);
}

static void zsh_holder(const struct page *p)
{
    const struct command *const *subs = p->command->subs;

    if (subs == NULL)
        return;
    out_printf(p->out, "    %s)\n        if (( CURRENT == 2 )); then\n        list=(\n", p->name);
    for (size_t i = 0; subs[i] != NULL; i++)
        zsh_item(p, subs[i]);
    out_text(p->out, "        )\n        _describe command list\n        return\n        fi\n"
                     "        cmd=\"$cmd $words[2]\"\n        shift words\n"
                     "        (( CURRENT-- ))\n        ;;\n");
}

/* ---- fish ---- */

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
            ? arena_printf(p->arena, "complete -c strata -n '%s%s; and %s%s'", seen.at,
                           p->parent->name, seen.at, p->command->name)
            : arena_printf(p->arena, "complete -c strata -n '%s%s'", seen.at, p->name);

    for (size_t i = 0; i < p->n && p->command->subs == NULL; i++) {
        const struct opt *opt = &p->options[i];
        out_printf(p->out, "%s -l %s", start, opt->name);
        if (opt->letter != 0)
            out_printf(p->out, " -s %c", opt->letter);
        if (opt->kind == OPT_KIND_CHOICE)
            out_printf(p->out, " -x -a '%s'", words(p->arena, opt->choices));
        else if (opt_takes_value(opt))
            out_text(p->out, value_flags[want_of_option(opt)]);
        out_printf(p->out, " -d '%s'\n", escaped(p->arena, opt->help, "'\\"));
    }
    if (names != NULL)
        out_printf(p->out, "%s -a '%s'\n", start, names);
    if (names == NULL || p->command->operands.kind == OPERAND_FILE)
        out_printf(p->out, "%s%s\n", start, operand_flags[want_of_operands(&p->command->operands)]);
}

static void fish_summary(const struct page *p)
{
    if (p->parent == NULL)
        out_printf(p->out, "complete -c strata -n __fish_use_subcommand -a %s -d '%s'\n", p->name,
                   escaped(p->arena, p->command->summary, "'\\"));
}

/* ---- scripts ---- */

/* The frame of a script, and what stands at its marks: a line or more for each command. */
struct script {
    const char *shell, *frame;
    void (*marks[4])(const struct page *p);
};

static const struct script scripts[] = {
    {"bash", "completion/bash", {bash_walk, bash_values, bash_command, bash_operands}},
    {"fish", "completion/fish", {fish_summary, fish_command}},
    {"zsh", "completion/zsh", {zsh_command, zsh_holder, zsh_function}},
};

static const char *const shells[] = {"bash", "fish", "zsh", NULL};

static void show(struct page *p, const struct command *c, void (*each)(const struct page *p))
{
    p->command = c;
    p->name =
        p->parent != NULL ? arena_printf(p->arena, "%s %s", p->parent->name, c->name) : c->name;
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

void help_completion(struct out *o, struct arena *arena, const char *shell)
{
    const struct script *script = scripts;

    while (strcmp(script->shell, shell) != 0)
        script++;
    struct str rest = embedded_file(script->frame), mark = S("@@");
    for (size_t i = 0; rest.n > 0; i++) {
        size_t at = str_find(rest, mark);
        out_bytes(o, str_part(rest, 0, at));
        if (at < rest.n)
            for_each(o, arena, script->marks[i]);
        rest = str_part(rest, at < rest.n ? at + mark.n : rest.n, rest.n);
    }
}

static const struct example examples[] = {
    {"strata completion bash", "for ~/.local/share/bash-completion/completions/strata"},
    {"strata completion zsh", "for a file _strata in a folder of $fpath"},
    {"strata completion fish", "for ~/.config/fish/completions/strata.fish"},
};

static int completion_run(struct session *s, const void *args)
{
    (void)args;
    help_completion(&s->out, &s->arena, s->operands.at[0]);
    return CODE_DONE;
}

const struct command command_completion = {
    .name = "completion",
    .group = GROUP_TOOLS,
    .summary = "print a shell completion script",
    .usage = "[OPTIONS] bash|fish|zsh",
    .details = "Prints a script that completes commands, options and their values. It is generated "
               "from the same tables as the help, so it matches this version.",
    .operands = {.kind = OPERAND_CHOICE, .min = 1, .max = 1, .choices = shells},
    COMMAND_PARTS_BARE,
    .run = completion_run,
};
