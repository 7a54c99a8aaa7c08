/*
 * command: the list of commands, finding one, and the options all take.
 */
#include "cli/command.h"

#include <assert.h>
#include <stdio.h>

#include "cli/session.h"

const struct command *const command_list[] = {
#define COMMAND(sym) &command_##sym,
#include "cli/commands.def"
#undef COMMAND
};

const size_t command_count = ARRAY_LEN(command_list);

static const char *const langs[] = {"auto", "en", "zh", NULL};
static const char *const color_choices[] = {"auto", "always", "never", NULL};

static const struct {
    unsigned needs; /* 0: every command takes it */
    struct opt opt;
} common_options[] = {
    {COMMON_OUT, OPT_STRING('o', "out", "PATH", struct common, out, "output file or folder")},
    {COMMON_HTML, OPT_STRING(0, "html", "FILE", struct common, html,
                             "write the answer as an HTML page instead")},
    {COMMON_FORMAT, OPT_STRING(0, "from", "NAME", struct common, format,
                               "input format (default: detected)", .alias = "format")},
    {COMMON_JOBS, OPT_INT('j', "jobs", "N", struct common, jobs, 1, 1024,
                          "number of threads (default: all processors)")},
    {COMMON_DRY_RUN,
     OPT_FLAG(0, "dry-run", struct common, dry_run, "show what would be done and exit")},
    {COMMON_LANG, OPT_CHOICE(0, "lang", langs, struct common, lang,
                             "report language (default: from LC_ALL or LANG)")},
    {COMMON_CSV, OPT_FLAG(0, "csv-safe", struct common, csv_safe,
                          "CSV: put ' before what spreadsheets take for formulas")},
    {COMMON_LANG, OPT_FLAG(0, "long-names", struct common, long_names,
                           "on a terminal too, names of kernels in full")},
    {0, OPT_FLAG(0, "json", struct common, json, "print one JSON document")},
    {0, OPT_FLAG('q', "quiet", struct common, quiet, "print only the paths of written files")},
    {0, OPT_FLAG('v', "verbose", struct common, verbose, "print notes to stderr")},
    {0, OPT_CHOICE(0, "color", color_choices, struct common, color,
                   "coloured output (default: auto)")},
    {0, OPT_FLAG(0, "ascii", struct common, ascii, "only ASCII characters (default: by locale)")},
    {0, OPT_FLAG(0, "no-pager", struct common, no_pager,
                 "do not page long output (default: STRATA_PAGER)")},
    {0, OPT_FLAG('h', "help", struct common, help, "print this page; -h: a short one")},
};

_Static_assert(ARRAY_LEN(common_options) <= COMMON_OPTIONS, "room for all");

size_t command_common_options(unsigned mask, struct opt *out)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(common_options); i++)
        if ((common_options[i].needs & ~mask) == 0)
            out[n++] = common_options[i].opt;
    return n;
}

size_t command_options(const struct command *c, struct opt *out)
{
    size_t n = 0;

    assert(c->n_options + COMMON_OPTIONS <= COMMAND_OPTIONS);
    for (size_t i = 0; i < c->n_options; i++)
        if (opt_is_option(&c->options[i]))
            out[n++] = c->options[i];
    return n + command_common_options(c->common, out + n);
}

const char *command_group_name(enum command_group group)
{
    static const char *const names[] = {"Look",    "Explain",  "Compare", "Record",
                                        "Kernels", "Database", "Tools"};

    return names[group];
}

static const struct command *cli_command_find(const struct command *const *list, size_t count,
                                              const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i]->name, word) == 0)
            return list[i];
    return NULL;
}

static size_t sub_count(const struct command *const *subs)
{
    size_t n = 0;

    while (subs[n] != NULL)
        n++;
    return n;
}

struct command_path command_find(int argc, const char *const *argv, int *used)
{
    struct command_path path = {0};

    *used = 0;
    if (argc == 0)
        return path;
    path.command = cli_command_find(command_list, command_count, argv[0]);
    if (path.command == NULL)
        return path;
    *used = 1;
    if (path.command->subs == NULL || argc == 1)
        return path;
    const struct command *sub =
        cli_command_find(path.command->subs, sub_count(path.command->subs), argv[1]);
    if (sub == NULL)
        return path;
    *used = 2;
    return (struct command_path){path.command, sub};
}

const char *command_full_name(struct command_path path, char *buf, size_t size)
{
    if (path.parent != NULL)
        snprintf(buf, size, "%s %s", path.parent->name, path.command->name);
    else
        snprintf(buf, size, "%s", path.command->name);
    return buf;
}

const char *command_nearest(const struct command *const *subs, const char *word)
{
    const struct command *const *list = subs != NULL ? subs : command_list;
    size_t count = subs != NULL ? sub_count(subs) : command_count;
    VEC_OF(const char *) names = {0};

    for (size_t i = 0; i < count; i++)
        vec_push(&names, list[i]->name);
    const char *near = opt_nearest(word, names.at, names.n);
    vec_free(&names);
    return near;
}
