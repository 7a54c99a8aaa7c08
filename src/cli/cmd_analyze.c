/*
 * strata analyze: any analysis by its name, in any format.
 */
#include "analysis/sql/sql_table.h"
#include "cli/captures.h"
#include "render/render.h"

struct args {
    struct input_options input;
    const char *as;
    bool list;
};

static const char *const names[] = {
#define ANALYSIS(sym) #sym,
#include "analysis/analyses.def"
#undef ANALYSIS
#define SQL_TABLE(sym, ...) #sym,
#include "analysis/sql/sql_tables.def"
#undef SQL_TABLE
    NULL,
};

static const struct args defaults = {.input = CAPTURE_INPUT(), .as = "text"};

static const struct opt options[] = {
    OPT_STRING(0, "to", "FORMAT", struct args, as, "text, md, csv or html (default: text)",
               .alias = "as"),
    OPT_FLAG(0, "list", struct args, list, "list the analyses and exit"),
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata analyze anomaly examples/ascend-small --to md", "idle time as Markdown"},
    {"strata analyze --list", "names of all analyses"},
};

static struct field_value needs(const void *record, const struct record_env *env)
{
    const struct analysis *a = record;

    return value_text(str_of(analysis_needs_text(env->arena, a->needs)));
}

static struct field_value schema_name(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_of(((const struct analysis *)record)->schema->name));
}

static const struct field analysis_fields[] = {
    FIELD(struct analysis, name, "name", .head = "analysis"),
    FIELD(struct analysis, summary, "summary", .head = "description"),
    FIELD_CALC(FIELD_STR, "needs", needs, .head = "needs"),
    FIELD_CALC(FIELD_STR, "schema", schema_name, .head = "document"),
};
static const struct record analysis_record = RECORD(struct analysis, analysis_fields);

static const struct schema list_schema = {
    .name = "strata.analyses/1",
    .title = "list of analyses",
    .record = &analysis_record,
    .is_list = true,
};

static void describe_list(const void *list, struct report *r)
{
    const struct field_items *items = list;

    report_records(r, &analysis_record, items->at, items->n,
                   &(struct record_env){.arena = &r->arena});
}

static void give_list(struct session *s)
{
    size_t n = 0;

    while (analysis_at(n) != NULL)
        n++;
    struct analysis *list = ARENA_ARRAY(&s->arena, struct analysis, n);
    for (size_t i = 0; i < n; i++)
        list[i] = *analysis_at(i);
    session_give(s, &(struct answer){.schema = &list_schema,
                                     .result = &(struct field_items){list, n},
                                     .title = S(""),
                                     .describe = describe_list});
}

struct asked {
    const struct analysis *analysis;
    struct study *study;
};

static void describe_asked(const void *about, struct report *r)
{
    const struct asked *asked = about;

    asked->analysis->run(asked->study, r);
}

static void analyze_give(struct session *s, const struct analysis *a, const struct capture *cap)
{
    struct study st;
    const struct asked asked = {a, &st};

    analysis_check_needs(a, cap, &s->diag);
    study_begin(&st, cap, analysis_options(a));
    session_give(s, &(struct answer){.schema = a->schema,
                                     .origin = origin_name(cap->origin),
                                     .result = a->find(&st),
                                     .env = &(struct record_env){&cap->strings, &st.scratch, NULL},
                                     .title = str_of(cap->name),
                                     .about = &asked,
                                     .describe = describe_asked});
    study_end(&st);
}

static int analyze_run(struct session *s, const void *given)
{
    const struct args *args = given;
    bool is_md = strcmp(args->as, "md") == 0;
    const struct renderer *as = render_find(is_md ? S("markdown") : str_of(args->as));
    struct capture *cap;

    if (args->list) {
        give_list(s);
        return CODE_DONE;
    }
    if (s->operands.n != 2)
        return session_usage(s, "analyze needs the name of an analysis and a capture");
    const struct analysis *a = analysis_named(str_of(s->operands.at[0]));
    if (a == NULL)
        return session_usage(s, "unknown analysis '%s'; --list shows the names", s->operands.at[0]);
    if (as == NULL)
        return session_usage(s, "--to must be text, md, csv or html, not '%s'", args->as);
    TRY_CODE(session_code(captures_load_one(s, s->operands.at[1], args->input, &cap)));
    s->as = as;
    if (as == &renderer_table)
        s->common.lang = (int)LANG_EN + 1; /* CSV: for programs */
    analyze_give(s, a, cap);
    s->as = NULL;
    capture_free(cap);
    return CODE_DONE;
}

const struct command command_analyze = {
    .name = "analyze",
    .group = GROUP_EXPLAIN,
    .summary = "run one analysis and print it in a chosen format",
    .usage = "[OPTIONS] NAME CAPTURE",
    .details = "Runs one analysis by name and prints the result as text, Markdown, an HTML page, "
               "or CSV tables. With --json the result is one JSON document with a schema (strata "
               "help --list-schemas).\n"
               "\n"
               "Analyses:"
#define ANALYSIS(sym) " " #sym
#include "analysis/analyses.def"
#undef ANALYSIS
#define SQL_TABLE(sym, ...) " " #sym
#include "analysis/sql/sql_tables.def"
#undef SQL_TABLE
               ". --list describes them.",
    .see = "docs/analyses",
    .operands = {.kind = OPERAND_FILE, .min = 0, .max = 2, .choices = names},
    .common = COMMON_CAPTURE | COMMON_LANG | COMMON_CSV,
    .schemas =
        {
            &list_schema,
            &sql_table_schema,
#define ANALYSIS(sym) &sym##_schema,
#include "analysis/analyses.def"
#undef ANALYSIS
        },
    COMMAND_PARTS,
    .run = analyze_run,
};
