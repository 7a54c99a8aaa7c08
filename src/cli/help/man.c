/*
 * Man pages as mdoc(7) source. The date is the reader's business: pages are the same bytes on
 * every build, so .Dd carries a fixed one.
 */
#include <stdio.h>

#include "base/text/char.h"
#include "cli/help/help.h"
#include "cli/installed.h"

static const char fixed_date[] = "January 1, 2025";

/* Text as mdoc reads it: a backslash is spelled \e, a hyphen that is typed is \-, and a line may
 * not start with a dot or an apostrophe. */
static void escaped(struct out *o, const char *text)
{
    if (text[0] == '.' || text[0] == '\'')
        out_text(o, "\\&");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\\')
            out_text(o, "\\e");
        else if (*c == '"')
            out_text(o, "\\(dq");
        else if (*c == '`')
            out_text(o, "\\(ga");
        else if (*c == '-' && c[1] == '-')
            out_text(o, "\\-");
        else
            out_painted(o, (struct str){c, 1});
    }
}

/* Prose: sentences go on lines of their own, as mdoc wants them; a blank line is a paragraph. */
static void prose(struct out *o, const char *text)
{
    struct str rest = str_of(text);

    while (rest.n > 0) {
        size_t stop = str_find(rest, S(". ")), para = str_find(rest, S("\n\n"));
        size_t end = stop < para ? stop + 1 : para;
        char line[1024];

        snprintf(line, sizeof(line), "%.*s", STR_ARGS(str_part(rest, 0, end)));
        escaped(o, line);
        out_text(o, para < stop ? "\n.Pp\n" : "\n");
        rest = str_part(rest, end < rest.n ? end + (para < stop ? 2 : 1) : rest.n, rest.n);
    }
}

static void man_start(struct out *o, const char *title, const char *name, const char *summary)
{
    out_printf(o, ".Dd %s\n.Dt %s 1\n.Os strata %s\n.Sh NAME\n.Nm %s\n.Nd ", fixed_date, title,
               STRATA_VERSION, name);
    escaped(o, summary);
    out_text(o, "\n.Sh SYNOPSIS\n");
}

static void option(struct out *o, const struct opt *opt)
{
    char value[128];

    opt_value_text(opt, value, sizeof(value));
    out_text(o, ".It ");
    if (opt->letter != 0)
        out_printf(o, "Fl %c , ", opt->letter);
    out_printf(o, "Fl Fl %s", opt->name);
    if (value[0] != '\0') {
        out_text(o, " Ar ");
        escaped(o, value);
    }
    out_text(o, "\n");
    prose(o, opt->help);
}

static void options(struct out *o, const struct opt *table, size_t n)
{
    bool is_open = false;

    for (size_t i = 0; i < n; i++) {
        if (table[i].kind == OPT_KIND_GROUP) {
            out_printf(o, "%s.Ss %s\n", is_open ? ".El\n" : "", table[i].name);
            is_open = false;
            continue;
        }
        if (!is_open)
            out_text(o, ".Bl -tag -width Ds\n");
        is_open = true;
        option(o, &table[i]);
    }
    if (is_open)
        out_text(o, ".El\n");
}

static void all_options(struct out *o, const struct command *c)
{
    struct opt common[COMMON_OPTIONS];
    size_t n = command_common_options(c->common, common);

    options(o, c->options, c->n_options);
    out_text(o, ".Ss Common options\n");
    options(o, common, n);
}

static void exit_status(struct out *o)
{
    static const char *const codes[][2] = {
        {"0", "done"},
        {"1", "check failed"},
        {"2", "usage error"},
        {"3", "a file is missing, unreadable, unwritable or of an unknown format"},
        {"4", "a required tool or device is missing or failed"},
        {"5", "internal error"},
        {"130", "interrupted"},
        {"143", "terminated"},
    };

    out_text(o, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        out_printf(o, ".It %s\n%s\n", codes[i][0], codes[i][1]);
    out_text(o, ".El\n");
}

static void examples(struct out *o, const struct command *c, const char *heading)
{
    for (size_t i = 0; i < c->n_examples; i++) {
        out_text(o, i > 0 ? ".Pp\n" : heading);
        prose(o, c->examples[i].shows);
        out_text(o, ".Bd -literal -offset indent -compact\n");
        escaped(o, c->examples[i].line);
        out_text(o, "\n.Ed\n");
    }
}

static void synopsis(struct out *o, const char *name, const char *usage)
{
    out_printf(o, ".Nm strata %s\n", name);
    if (usage[0] != '\0') {
        out_text(o, ".No ");
        escaped(o, usage);
        out_text(o, "\n");
    }
}

static void man_overview(struct out *o)
{
    man_start(o, "STRATA", "strata", "show where accelerator time goes, and why");
    out_text(o, ".Nm strata\n.Ar command\n.Op Ar options\n.Op Ar arguments\n.Sh DESCRIPTION\n");
    prose(o, "strata reads profiles and traces of Ascend NPUs and NVIDIA GPUs and shows where the "
             "time goes, and why. Vendor tools are optional; installed ones are used. Results go "
             "to stdout, messages to stderr.");
    for (int g = GROUP_LOOK; g <= GROUP_TOOLS; g++) {
        bool is_open = false;
        for (size_t i = 0; i < command_count; i++) {
            const struct command *c = command_list[i];
            if ((int)c->group != g)
                continue;
            if (!is_open)
                out_printf(o, ".Ss %s\n.Bl -tag -width completion\n",
                           command_group_name((enum command_group)g));
            is_open = true;
            out_printf(o, ".It Xr strata-%s 1\n", c->name);
            prose(o, c->summary);
        }
        if (is_open)
            out_text(o, ".El\n");
    }
    out_text(o, ".Sh ENVIRONMENT\n"
                ".Bl -tag -width NO_COLOR\n"
                ".It Ev NO_COLOR\n"
                "if set and not empty, output is not coloured\n"
                ".It Ev TERM\n"
                "if dumb, output is not coloured\n"
                ".El\n");
    exit_status(o);
}

static void man_command(struct out *o, struct command_path path)
{
    const struct command *c = path.command;
    char title[64], upper[64], name[64];

    command_full_name(path, name, sizeof(name));
    snprintf(title, sizeof(title), "strata-%s", c->name);
    for (size_t i = 0; i < sizeof(upper); i++)
        upper[i] = char_upper(title[i]);
    man_start(o, upper, title, c->summary);
    for (size_t i = 0; c->subs != NULL && c->subs[i] != NULL; i++) {
        snprintf(name, sizeof(name), "%s %s", c->name, c->subs[i]->name);
        synopsis(o, name, c->subs[i]->usage);
    }
    if (c->subs == NULL)
        synopsis(o, name, c->usage);
    out_text(o, ".Sh DESCRIPTION\n");
    prose(o, c->details != NULL ? c->details : c->summary);
    if (c->subs == NULL)
        all_options(o, c);
    for (size_t i = 0; c->subs != NULL && c->subs[i] != NULL; i++) {
        const struct command *sub = c->subs[i];
        out_printf(o, ".Sh %s\n", sub->name);
        prose(o, sub->details != NULL ? sub->details : sub->summary);
        all_options(o, sub);
        examples(o, sub, ".Ss Examples\n");
    }
    exit_status(o);
    examples(o, c, ".Sh EXAMPLES\n");
    out_text(o, ".Sh SEE ALSO\n.Xr strata 1\n");
}

void help_man(struct out *o, struct command_path path)
{
    struct arena arena;
    struct text page = {0};
    struct out source;

    arena_init(&arena);
    out_init(&source, -1);
    source.to = text_sink(&page);
    if (path.command == NULL)
        man_overview(&source);
    else
        man_command(&source, path.parent != NULL ? (struct command_path){NULL, path.parent} : path);
    out_flush(&source);
    out_painted(o, installed_paths(&arena, installed_folder(&arena), text_view(&page)));
    out_fini(&source);
    text_free(&page);
    arena_free(&arena);
}
