/*
 * strata report, or `strata PATH`: finds out what a path is and runs the command that explains it.
 */
#include "base/fs.h"
#include "cli/answer.h"
#include "report/report.h"

struct args {
    const char *rank, *device;
    enum answer_form to;
};

static const struct opt options[] = {
    OPT_STRING(0, "rank", "N", struct args, rank, "only this rank of a folder with several"),
    OPT_STRING(0, "device", "N", struct args, device, "only this device of a capture with several"),
    ANSWER_OPTION(struct args, to),
    OPT_END,
};

static const struct example examples[] = {
    {"strata examples/kineto-small", "what limits a recorded run"},
    {"strata examples/pto/attention.pto", "what limits a simulated kernel"},
    {"strata examples/kineto-small examples/kineto-small", "what changed between two runs"},
    {"strata examples/kineto-small -o kineto.md", "the same as a file"},
    {0},
};

/* A command of `next` for that path. */
static struct str next_line(struct session *s, const char *line, const char *path)
{
    struct str text = str_of(line);
    size_t at = str_find(text, S("PATH"));

    return arena_format(&s->arena, "%.*s%s%.*s", STR_ARGS(str_part(text, 0, at)),
                        at < text.n ? path : "", STR_ARGS(str_part(text, at + 4, text.n)));
}

/* Nothing explains it as it is: what it is, and what to type. */
static int refuse(struct session *s, const struct path_way *way, const char *path)
{
    diag_fail(&s->diag, ST_UNSUPPORTED, "report.kind", (struct where){.path = path},
              "is %s, which `strata PATH` cannot show", way->what);
    for (size_t i = 0; i < PATH_NEXT && way->next[i] != NULL; i++)
        diag_hint(&s->diag, "try", "%s", next_line(s, way->next[i], path).at);
    return CODE_FILE;
}

static void print_next(struct session *s, const struct path_way *way, const char *path)
{
    struct report *r = report_new(session_lang(s), S(""));

    for (size_t i = 0; i < PATH_NEXT && way->next[i] != NULL; i++)
        report_fact(r, i == 0 ? "next" : "", next_line(s, way->next[i], path));
    out_text(&s->out, "\n");
    session_report(s, r);
    report_free(r);
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

    pass_on(&passed, "--rank", ask->args->rank);
    pass_on(&passed, "--device", ask->args->device);
    if (ask->way->option != NULL) {
        pass_on(&passed, ask->way->option, path);
        s->operands.n = 0;
    }
    int code = answer_as(s, ask->way->one, &passed);
    vec_free(&passed);
    if (code <= CODE_NO && !s->common.json && !s->common.quiet)
        print_next(s, ask->way, path);
    return code;
}

static int show_two(struct session *s, const void *ctx)
{
    return answer_compare(s, ((const struct ask *)ctx)->way);
}

static int run(struct session *s, const void *given)
{
    struct ask ask = {given, NULL};
    enum answer_form form = ask.args->to;

    for (size_t i = 0; i < s->operands.n; i++)
        if (!fs_exists(s->operands.at[i]))
            return session_code(diag_fail(&s->diag, ST_NOT_FOUND, "report.path",
                                          (struct where){.path = s->operands.at[i]},
                                          "no such file or folder"));
    int code = answer_form(s, &form);
    if (code != CODE_DONE)
        return code;
    if (s->operands.n > 1) {
        ask.way = answer_pair(s);
        return ask.way == NULL
                   ? CODE_USAGE
                   : answer_write(s, form, (struct answer_part){show_two, &ask, ask.way->is_text});
    }
    ask.way = &path_ways[path_kind_of(s->operands.at[0], &s->arena)];
    if (ask.way->one[0] == NULL)
        return refuse(s, ask.way, s->operands.at[0]);
    return answer_write(s, form, (struct answer_part){show_one, &ask, ask.way->is_text});
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
};
