/*
 * help: the list of commands, and one command's page.
 */
#include "cli/help/help.h"

#include <stdio.h>

#include "cli/installed.h"

/* A page, and how its texts name files. */
struct help_print {
    struct out *o;
    struct arena arena;
    const char *folder; /* of installed files; NULL: as in the source tree */
};

static const char *with_paths(struct help_print *p, const char *text)
{
    return arena_cstr(&p->arena, installed_paths(&p->arena, p->folder, str_of(text)));
}

enum { HELP_COLUMN = 27, NAME_COLUMN = 12, GROUP_COLUMN = 10, SHORT_OPTIONS = 12 };

static void heading(struct out *o, const char *text)
{
    out_text(o, "\n");
    out_style(o, STYLE_BOLD);
    out_text(o, text);
    out_style(o, STYLE_PLAIN);
    out_text(o, "\n");
}

/* What a command that only holds others holds. */
static struct str verbs_of(struct arena *arena, const struct command *c)
{
    struct str text = S("");

    for (size_t i = 0; c->subs[i] != NULL; i++)
        text = arena_format(arena, "%.*s%s%s", STR_ARGS(text), i > 0 ? ", " : "", c->subs[i]->name);
    return text;
}

void help_overview(struct out *o)
{
    struct arena arena;

    arena_init(&arena);
    out_text(o, "strata - show where accelerator time goes, and why\n"
                "\n"
                "usage: strata PATH [-o FILE.html|.md|.json]   what limits this run or kernel\n"
                "       strata PATH PATH                       what changed between two\n"
                "       strata COMMAND [OPTIONS] ...\n"
                "\n");
    /* One line for each command; the groups stand beside them, so that all fits on a screen. */
    for (int g = GROUP_LOOK; g <= GROUP_TOOLS; g++) {
        const char *group = command_group_name((enum command_group)g);
        for (size_t i = 0; i < command_count; i++) {
            const struct command *c = command_list[i];
            if ((int)c->group != g)
                continue;
            struct text about = {0};
            wrap_from(&about, c->subs != NULL ? verbs_of(&arena, c) : str_of(c->summary),
                      GROUP_COLUMN + NAME_COLUMN, o->width);
            out_printf(o, "%-*s%-*s%.*s\n", GROUP_COLUMN, group, NAME_COLUMN, c->name,
                       STR_ARGS(text_view(&about)));
            text_free(&about);
            group = "";
        }
    }
    out_text(o, "\n`strata COMMAND -h` is short, `--help` complete; `strata help COMMAND` too.\n");
    arena_free(&arena);
}

static void print_options(struct help_print *p, const struct opt *table, size_t count,
                          const char *title)
{
    struct out *o = p->o;
    bool has_heading = false;

    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == OPT_KIND_GROUP) {
            heading(o, table[i].name);
            has_heading = true;
            continue;
        }
        if (!has_heading)
            heading(o, title);
        has_heading = true;
        char left[160], value[128], letter[] = {'-', table[i].letter, ',', '\0'};
        opt_value_text(&table[i], value, sizeof(value));
        const char *about = with_paths(p, table[i].help);
        int n = snprintf(left, sizeof(left), "  %-3s --%s%s%s", table[i].letter != 0 ? letter : "",
                         table[i].name, value[0] != '\0' ? " " : "", value);
        if (n + 2 > HELP_COLUMN)
            out_printf(o, "%s\n%*s%s\n", left, HELP_COLUMN, "", about);
        else
            out_printf(o, "%-*s%s\n", HELP_COLUMN, left, about);
    }
}

/* Side by side where every line has the room, else what it shows under the line. */
static void print_examples(struct help_print *p, const struct example *examples, size_t n)
{
    const char **lines = ARENA_ARRAY(&p->arena, const char *, n);
    struct out *o = p->o;
    size_t width = 0, shows = 0;

    for (size_t i = 0; i < n; i++) {
        lines[i] = with_paths(p, examples[i].line);
        size_t line = str_width(str_of(lines[i])), text = str_width(str_of(examples[i].shows));
        width = line > width ? line : width;
        shows = text > shows ? text : shows;
    }
    bool is_stacked = o->width > 0 && width + shows + 4 > o->width;
    if (n > 0)
        heading(o, "Examples");
    for (size_t i = 0; i < n; i++)
        if (is_stacked)
            out_printf(o, "  %s\n      %s\n", lines[i], examples[i].shows);
        else
            out_printf(o, "  %-*s  %s\n", (int)width, lines[i], examples[i].shows);
}

/* The first options and one example. */
static void print_short(struct help_print *p, const struct command *c, const char *name)
{
    struct opt own[COMMAND_OPTIONS];
    size_t n = 0;

    for (size_t i = 0; i < c->n_options && n < SHORT_OPTIONS; i++)
        if (opt_is_option(&c->options[i]))
            own[n++] = c->options[i];
    print_options(p, own, n, "Options");
    print_examples(p, c->examples, c->n_examples > 0 ? 1 : 0);
    out_printf(p->o, "\nAll options: strata %s --help\n", name);
}

static void print_page(struct help_print *p, struct command_path path, bool is_short)
{
    const struct command *c = path.command;
    struct out *o = p->o;
    struct opt common[COMMON_OPTIONS];
    char name[64];

    command_full_name(path, name, sizeof(name));
    out_printf(o, "strata %s - %s\n\n", name, c->summary);
    out_printf(o, "usage: strata %s %s\n", name, c->usage);
    if (is_short && c->subs == NULL) {
        print_short(p, c, name);
        return;
    }
    if (!is_short && c->details != NULL)
        out_printf(o, "\n%s\n", with_paths(p, c->details));
    if (c->subs != NULL) {
        size_t width = NAME_COLUMN;
        for (size_t i = 0; c->subs[i] != NULL; i++)
            if (strlen(c->subs[i]->name) > width)
                width = strlen(c->subs[i]->name);
        heading(o, "Commands");
        for (size_t i = 0; c->subs[i] != NULL; i++)
            out_printf(o, "  %-*s  %s\n", (int)width, c->subs[i]->name, c->subs[i]->summary);
    }
    print_options(p, c->options, c->n_options, "Options");
    print_options(p, common, command_common_options(c->common, common), "Common options");
    print_examples(p, c->examples, c->n_examples);
    out_printf(o, "\nMore: man strata-%s%s%s\n", path.parent != NULL ? path.parent->name : name,
               c->see != NULL ? ", " : "", c->see != NULL ? with_paths(p, c->see) : "");
}

void help_page(struct out *o, struct command_path path, bool is_short)
{
    struct help_print p = {.o = o};

    arena_init(&p.arena);
    p.folder = installed_folder(&p.arena);
    print_page(&p, path, is_short);
    arena_free(&p.arena);
}
