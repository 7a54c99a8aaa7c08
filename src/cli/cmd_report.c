/*
 * strata report, or `strata PATH`: finds out what a path is and runs the command that explains it.
 */
#include <limits.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/tables/tree.h"
#include "base/text/shell_word.h"
#include "cli/answer.h"
#include "cli/captures.h"
#include "report/report.h"

struct args {
    const char *rank, *device, *chip;
    enum answer_form to;
    struct page_choice page;
};

static const struct opt options[] = {
    OPT_STRING(0, "rank", "N", struct args, rank, "only this rank of a folder with several"),
    OPT_STRING(0, "device", "N", struct args, device, "only this device of a capture with several"),
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "device of the run, if the capture does not name it"),
    ANSWER_OPTION(struct args, to),
    PAGE_OPTIONS(struct args, page),
};

static const struct example examples[] = {
    {"strata examples/kineto-small", "what limits a recorded run"},
    {"strata examples/pto/attention.pto", "what limits a simulated kernel"},
    {"strata examples/kineto-small examples/kineto-small", "what changed between two runs"},
    {"strata examples/kineto-small -o kineto.md", "the same as a file"},
    {"strata examples/kineto-small -o kineto.html", "a page with the timeline, for a browser"},
};

/* From the current folder, where the path is given in full and lies below. */
static const char *from_here(const char *path)
{
    char here[PATH_MAX];
    size_t n = getcwd(here, sizeof(here)) != NULL ? strlen(here) : 0;

    return n > 1 && strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* A command for that path; FOLDER is where it lies. */
static struct str next_line(struct session *s, const char *line, struct str path)
{
    struct str text = str_of(line), name = str_basename(path);
    struct str folder = str_part(path, 0, path.n > name.n ? path.n - name.n - 1 : 0);
    size_t at = str_find(text, S("PATH")), up = str_find(text, S("FOLDER"));

    if (up < text.n)
        return arena_format(&s->arena, "%.*s%.*s", STR_ARGS(str_part(text, 0, up)),
                            STR_ARGS(folder.n > 0      ? folder
                                     : path.n > name.n ? S("/")
                                                       : S(".")));
    if (at == text.n)
        return text;
    return arena_format(&s->arena, "%.*s%.*s%.*s", STR_ARGS(str_part(text, 0, at)), STR_ARGS(path),
                        STR_ARGS(str_part(text, at + 4, text.n)));
}

/* Nothing explains it as it is: what it is, and what to type. */
static int report_refuse(struct session *s, const struct path_way *way, const char *path)
{
    struct str shown = str_of(shell_word(&s->arena, from_here(path)));

    diag_fail(&s->diag, ST_UNSUPPORTED, "report.kind", (struct where){.path = path},
              "%s: `strata PATH` cannot explain it by itself", way->what);
    for (size_t i = 0; i < PATH_NEXT && way->next[i].line != NULL; i++) {
        struct str line = next_line(s, way->next[i].line, shown);
        diag_hint(&s->diag, "try", "%.*s", STR_ARGS(line));
    }
    return CODE_FILE;
}

/* What else is in a folder without captures, in place of hints about captures. */
static void point_inside(struct session *s, const char *dir)
{
    const char *known[PATH_NEXT];
    size_t n = fs_is_dir(dir) ? path_known_entries(dir, &s->arena, known, PATH_NEXT) : 0;
    const char *best = n > 0 ? known[0] : NULL;

    if (n == 0) {
        diag_hint(&s->diag, "or",
                  "*.pto, visualize_data.bin, run.json of a GPU run, pages of "
                  "Nsight Compute (*.csv), op_mapping.yaml");
        return;
    }
    s->diag.hints.n = 0;
    for (size_t i = 0; i < n; i++) {
        diag_hint(&s->diag, "contains", "%.*s: %s", STR_ARGS(str_basename(str_of(known[i]))),
                  path_ways[path_kind_of(known[i], &s->arena)].what);
        best = fs_is_dir(best) ? best : fs_is_dir(known[i]) ? known[i] : best;
    }
    struct str shown = str_of(shell_word(&s->arena, from_here(best)));
    diag_hint(&s->diag, "try", "strata %.*s", STR_ARGS(shown));
}

/* A folder may hold more than one kind of thing: what is not explained now. */
struct others {
    struct path_other at[20];
    size_t n;
};

static const char *other_line(struct session *s, const struct path_other *one)
{
    return arena_printf(&s->arena, "strata %s", shell_word(&s->arena, from_here(one->path)));
}

static struct others find_others(struct session *s, const char *dir, enum path_kind shown)
{
    struct others o;

    o.n = path_others(dir, shown, &s->arena, o.at, ARRAY_LEN(o.at));
    for (size_t i = 0; i < o.n; i++)
        diag_add(&s->diag, SEV_NOTE, "report.also", (struct where){.path = o.at[i].path},
                 "%s, beside what was explained: %s", path_ways[o.at[i].kind].what,
                 other_line(s, &o.at[i]));
    return o;
}

static void describe_others(struct session *s, const struct others *o, struct report *r)
{
    for (size_t i = 0; i < o->n; i++)
        report_fact(
            r, i == 0 ? "also here" : "",
            arena_format(&s->arena, "%s  # %.*s", other_line(s, &o->at[i]),
                         STR_ARGS(message_word(r->lang, str_of(path_ways[o->at[i].kind].what)))));
}

/* A long path is named once, for the shell; comments stand there where all have the room. */
static void print_next(struct session *s, const struct path_way *way, const char *path,
                       const struct others *others)
{
    static const struct path_next totals[PATH_NEXT] = {{"strata info PATH", "what it contains"},
                                                       {"strata FOLDER", "the whole profile"}};
    static const struct path_next empty[PATH_NEXT] = {{"strata info PATH", "what it contains"}};
    enum { LONG = 40, LONG_ALONE = 54, ROOM = 66 };
    struct report *r = report_new(session_lang(s), S(""));
    bool is_capture = way == &path_ways[KIND_CAPTURE];
    bool is_totals = is_capture && captures_are_totals(s);
    const struct path_next *next = is_totals                       ? totals
                                   : is_capture && !s->has_kernels ? empty
                                                                   : way->next;
    struct str shown = str_of(shell_word(&s->arena, from_here(path))), lines[PATH_NEXT],
               why[PATH_NEXT];
    bool is_long = shown.n > (next[1].line != NULL ? LONG : LONG_ALONE) && !is_totals;
    size_t n = 0, line_width = 0, why_width = 0;

    if (is_long)
        report_line(r, "  P=%.*s", STR_ARGS(shown));
    for (; n < PATH_NEXT && next[n].line != NULL; n++) {
        lines[n] = next_line(s, next[n].line, is_long ? S("$P") : shown);
        why[n] = next[n].why != NULL ? message_word(r->lang, str_of(next[n].why)) : S("");
        line_width = str_width(lines[n]) > line_width ? str_width(lines[n]) : line_width;
        why_width = str_width(why[n]) > why_width ? str_width(why[n]) : why_width;
    }
    bool has_why = why_width > 0 && line_width + 4 + why_width <= ROOM;
    for (size_t i = 0; i < n; i++)
        report_fact(r, i == 0 ? "next" : "",
                    has_why ? arena_format(&s->arena, "%.*s%*s  # %.*s", STR_ARGS(lines[i]),
                                           (int)(line_width - str_width(lines[i])), "",
                                           STR_ARGS(why[i]))
                            : lines[i]);
    describe_others(s, others, r);
    out_text(&s->out, "\n");
    session_answer(s, r);
}

static void pass_on(struct words *words, const char *option, const char *value)
{
    if (value == NULL)
        return;
    vec_push(words, option);
    vec_push(words, value);
}

struct ask {
    const struct args *args;
    const struct path_way *way;
};

static int show_one(struct session *s, const void *ctx)
{
    const struct ask *ask = ctx;
    const char *path = s->operands.at[0];
    struct words passed = {0};

    if (ask->way == &path_ways[KIND_PTO_FOLDER]) {
        const char *const *files;
        size_t n = path_pto_files(path, &s->arena, &files);
        s->operands.n = 0;
        for (size_t i = 0; i < n; i++)
            vec_push(&s->operands, files[i]);
    }
    if (ask->way == &path_ways[KIND_NCU_PAGE])
        s->operands.at[0] = path = path_ncu_page(path, &s->arena);
    pass_on(&passed, "--rank", ask->args->rank);
    pass_on(&passed, "--device", ask->args->device);
    pass_on(&passed, "--chip", ask->args->chip);
    if (ask->way->option != NULL) {
        pass_on(&passed, ask->way->option, path);
        s->operands.n = 0;
    }
    if (ask->way->flag != NULL)
        vec_push(&passed, ask->way->flag);
    int code = answer_as(s, ask->way->one, &passed);
    vec_free(&passed);
    const struct others others = code <= CODE_NO
                                     ? find_others(s, path, (enum path_kind)(ask->way - path_ways))
                                     : (struct others){0};
    if (diag_count(&s->diag, "input.nothing") > 0)
        point_inside(s, path);
    if (diag_count(&s->diag, "pto-params.missing") > 0)
        diag_hint(&s->diag, "try", "strata pto sim %s --set NAME=VALUE for each ${NAME}",
                  s->operands.at[0]);
    if (code <= CODE_NO && session_has_reader(s) && s->unpacked == NULL)
        print_next(s, ask->way, path, &others);
    return code;
}

/* What a document of strata says about itself; a verdict in it comes first. */
static int show_document(struct session *s, const void *ctx)
{
    const char *path = s->operands.at[0];
    struct tree_error error;
    struct mapfile map;

    (void)ctx;
    TRY_CODE(session_code(mapfile_open(&map, path, &s->diag)));
    const struct tree *all = tree_read_json(&s->arena, map.text, &error);
    mapfile_close(&map);
    if (all == NULL)
        return session_code(diag_fail(&s->diag, error.status, "report.document",
                                      (struct where){.path = path, .line = error.line}, "%s",
                                      error.what));
    struct report *r = report_new(session_lang(s), str_basename(str_of(path)));
    const struct tree *verdict = tree_get(tree_get(all, S("result")), S("verdict"));
    if (tree_text(tree_get(verdict, S("text"))).n > 0)
        report_text(r, tree_text(tree_get(verdict, S("text"))));
    else
        report_say(r, "A document of strata; it holds no verdict.");
    report_fact(r, "document", tree_get_text(all, S("schema"), S("-")));
    const struct tree *input = tree_items(tree_get(all, S("inputs")));
    for (size_t i = 0; input != NULL; input = input->next, i++)
        report_fact(r, i == 0 ? "inputs" : "", tree_get_text(input, S("path"), S("-")));
    report_fact(r, "next",
                arena_format(&s->arena, "strata help --schema %.*s",
                             STR_ARGS(tree_get_text(all, S("schema"), S("-")))));
    session_answer(s, r);
    return CODE_DONE;
}

static struct answer_part report_part_of(const struct ask *ask,
                                         int (*report_run)(struct session *s, const void *ctx),
                                         const void *ctx)
{
    return (struct answer_part){report_run, ctx, ask->way->is_text, ask->way->page,
                                ask->args->page};
}

static int report_run(struct session *s, const void *given)
{
    struct ask ask = {given, NULL};
    enum answer_form form = ask.args->to;

    for (size_t i = 0; i < s->operands.n; i++)
        if (strcmp(s->operands.at[i], "-") != 0 && !fs_exists(s->operands.at[i]))
            return session_code(diag_fail(&s->diag, ST_NOT_FOUND, "report.path",
                                          (struct where){.path = s->operands.at[i]},
                                          "no such file or folder"));
    TRY_CODE(answer_form(s, &form));
    if (s->operands.n > 1) {
        ask.way = answer_pair(s);
        return ask.way == NULL
                   ? CODE_USAGE
                   : answer_write(s, form, report_part_of(&ask, answer_compare, ask.way));
    }
    s->operands.at[0] = path_inside(s->operands.at[0], &s->arena);
    ask.way = &path_ways[path_kind_of(s->operands.at[0], &s->arena)];
    if (ask.way == &path_ways[KIND_DOCUMENT] && form != ANSWER_JSON)
        return answer_write(s, form,
                            (struct answer_part){.run = show_document, .page = ask.args->page});
    if (ask.way->one[0] == NULL)
        return report_refuse(s, ask.way, s->operands.at[0]);
    return answer_write(s, form, report_part_of(&ask, show_one, &ask));
}

const struct command command_report = {
    .name = "report",
    .group = GROUP_LOOK,
    .summary = "explain any file or folder; the same as `strata PATH`",
    .usage = "[OPTIONS] PATH [PATH]",
    .details = "Finds out what PATH is (a capture, the folder of a simulator, a kernel in PTO "
               "text, a GPU run, an operator database) and prints what the command for it would, "
               "with commands to type next. Two paths of a kind are compared.",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 2},
    .common = COMMON_FORMAT | COMMON_JOBS | COMMON_LANG | COMMON_OUT,
    COMMAND_PARTS_ZERO,
    .run = report_run,
};
