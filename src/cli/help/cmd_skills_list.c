/*
 * strata skills list: the skills that come with the program.
 */
#include "cli/help/skills.h"
#include "cli/session.h"
#include "report/report.h"

struct skills {
    VEC_OF(struct skill) at;
};

static const struct field skill_fields[] = {
    FIELD(struct skill, name, "name", .head = "skill"),
    FIELD(struct skill, about, "description", .head = "description"),
};
static const struct record skill_record = RECORD(struct skill, skill_fields);

static const struct field list_fields[] = {
    FIELD_LIST(struct skills, at.at, at.n, "skills", &skill_record),
};

static const struct schema skills_schema = {
    .name = "strata.skills/1",
    .title = "instructions for coding agents",
    .record = &(const struct record)RECORD(struct skills, list_fields),
};

static const struct example examples[] = {
    {"strata skills list", "names and when to use them"},
};

static void skills_describe(const void *skills, struct report *r)
{
    const struct skills *list = skills;

    report_records(r, &skill_record, list->at.at, list->at.n, NULL);
}

static int list_run(struct session *s, const void *args)
{
    struct skills list = {0};
    struct skill one;

    (void)args;
    while (skill_at(&s->arena, list.at.n, &one))
        vec_push(&list.at, one);
    session_give(s, &(struct answer){.schema = &skills_schema,
                                     .result = &list,
                                     .title = S(""),
                                     .describe = skills_describe});
    vec_free(&list.at);
    return CODE_DONE;
}

const struct command command_skills_list = {
    .name = "list",
    .group = GROUP_TOOLS,
    .summary = "list the skills that come with strata",
    .usage = "[OPTIONS]",
    .details = "Prints the name of each skill and when to use it.",
    .see = "docs/agents.md",
    .schemas = {&skills_schema},
    COMMAND_PARTS_BARE,
    .run = list_run,
};
