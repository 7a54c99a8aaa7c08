/*
 * strata analyze: any analysis by its name, in any format.
 */
#include "analysis/analysis.h"
#include "cli/captures.h"
#include "render/render.h"

struct args {
    struct input_options input;
    const char *as;
    bool list;
};

static const struct args defaults = {.input = {.rank = -1, .device = -1}, .as = "text"};

static const struct opt options[] = {
    OPT_STRING(0, "as", "FORMAT", struct args, as, "text, md, csv or html (text)"),
    OPT_FLAG(0, "list", struct args, list, "list the analyses"),
    OPT_RANK(struct args, input, "this rank of a folder of ranks"),
    OPT_DEVICE(struct args, input),
    OPT_SOURCE(struct args, input),
    OPT_END,
};

static const struct example examples[] = {
    {"strata analyze anomaly examples/ascend-small --as md", "idle time as Markdown"},
    {"strata analyze --list", "what can be asked"},
    {0},
};

static void print_list(struct session *s)
{
    const struct analysis *a;

    for (size_t i = 0; (a = analysis_at(i)) != NULL; i++)
        out_printf(&s->out, "%-12s %s\n", a->name, a->summary);
}

static void print(struct session *s, const struct analysis *a, const struct renderer *as,
                  const struct capture *cap)
{
    struct study st;

    study_begin(&st, cap, study_defaults());
    if (s->common.json) {
        const struct record_env env = {&cap->strings, &st.scratch, NULL};
        session_document(s, a->schema, origin_name(cap->origin), a->find(&st), &env);
    } else if (!s->common.quiet) {
        enum lang lang = as == &renderer_table ? LANG_EN : session_lang(s); /* CSV: for programs */
        struct report *r = report_new(lang, str_of(cap->name));
        a->run(&st, r);
        render_write(as, r, &(struct render_options){.color = s->out.color}, session_sink(s));
        report_free(r);
    }
    study_end(&st);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct input_options input = args->input;
    bool is_md = strcmp(args->as, "md") == 0;
    const struct renderer *as = render_find(is_md ? S("markdown") : str_of(args->as));
    struct capture *cap;

    if (args->list) {
        print_list(s);
        return CODE_DONE;
    }
    if (s->operands.n != 2)
        return session_usage(s, "analyze takes the name of an analysis and a capture");
    const struct analysis *a = analysis_named(str_of(s->operands.at[0]));
    if (a == NULL)
        return session_usage(s, "no analysis is called '%s'; see --list", s->operands.at[0]);
    if (as == NULL)
        return session_usage(s, "--as takes text, md, csv or html, not '%s'", args->as);
    captures_input(s, &input);
    enum status status = input_load(s->operands.at[1], &input, &s->diag, &cap);
    if (status != ST_OK)
        return session_code(status);
    captures_read_one(s, cap);
    print(s, a, as, cap);
    capture_free(cap);
    return CODE_DONE;
}

const struct command command_analyze = {
    .name = "analyze",
    .group = GROUP_EXPLAIN,
    .summary = "ask one analysis of a capture, in the format you need",
    .usage = "[OPTIONS] NAME CAPTURE",
    .details = "Every analysis that strata has, under its name, printed as text, as Markdown, as a "
               "page of HTML, or with its tables as CSV. With --json its result is printed for "
               "programs, with a schema (strata help --list-schemas).",
    .see = "docs/analyses",
    .operands = {.kind = OPERAND_WORD, .min = 0, .max = 2},
    .common = COMMON_FORMAT | COMMON_JOBS | COMMON_LANG,
    .schemas =
        {
#define ANALYSIS(sym) &sym##_schema,
#include "analysis/analyses.def"
#undef ANALYSIS
        },
    COMMAND_PARTS,
};
