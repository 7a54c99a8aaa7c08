/*
 * strata help: the grouped list, or one command's page.
 */
#include "cli/help.h"
#include "cli/session.h"

struct args {
    bool man, list_schemas;
    const char *schema;
};

static const struct opt options[] = {
    OPT_FLAG(0, "man", struct args, man, "print the man page source (mdoc)"),
    OPT_STRING(0, "schema", "NAME", struct args, schema, "print the JSON Schema of a document"),
    OPT_FLAG(0, "list-schemas", struct args, list_schemas, "list the documents that have a schema"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata help", "all commands"},
    {"strata help --schema strata.db-coverage/1", "the JSON Schema of a document"},
    {"strata help devices", "same page as `strata devices --help`"},
    {0},
};

struct page {
    const char *name, *group, *summary, *usage;
    const struct opt *options;
    size_t n;
};

struct pages {
    VEC_OF(struct page) list;
};

static struct field_value letter(const void *record, const struct record_env *env)
{
    const struct opt *o = record;

    (void)env;
    return o->letter != 0 ? value_text((struct str){&o->letter, 1}) : value_none();
}

static struct field_value value(const void *record, const struct record_env *env)
{
    char text[128];

    if (!opt_takes_value(record))
        return value_none();
    opt_value_text(record, text, sizeof(text));
    return value_text(arena_str(env->arena, str_of(text)));
}

static const struct field option_fields[] = {
    FIELD(struct opt, name, "name"),
    FIELD_CALC(FIELD_STR, "letter", letter, .is_optional = true),
    FIELD_CALC(FIELD_STR, "value", value, .is_optional = true),
    FIELD(struct opt, help, "help"),
};
static const struct record option_record = RECORD(struct opt, option_fields);

static const struct field page_fields[] = {
    FIELD(struct page, name, "name"),
    FIELD(struct page, group, "group"),
    FIELD(struct page, summary, "summary"),
    FIELD(struct page, usage, "usage"),
    FIELD_LIST(struct page, options, n, "options", &option_record),
};
static const struct record page_record = RECORD(struct page, page_fields);

static const struct field pages_fields[] = {
    FIELD_LIST(struct pages, list.at, list.n, "commands", &page_record),
};
static const struct record pages_record = RECORD(struct pages, pages_fields);

static const struct schema help_schema = {
    .name = "strata.help/1",
    .title = "commands and their options",
    .record = &pages_record,
};

static void add_command(struct session *s, struct pages *pages, struct command_path path)
{
    const struct command *c = path.command;
    char name[64];
    struct page page = {
        .name = arena_cstr(&s->arena, str_of(command_full_name(path, name, sizeof(name)))),
        .group = command_group_name(path.parent != NULL ? path.parent->group : c->group),
        .summary = c->summary,
        .usage = c->usage,
    };

    if (c->subs == NULL) {
        struct opt *list = ARENA_ARRAY(&s->arena, struct opt, COMMAND_OPTIONS);
        page.options = list;
        page.n = command_options(c, list);
    }
    vec_push(&pages->list, page);
    for (size_t i = 0; c->subs != NULL && c->subs[i] != NULL; i++)
        add_command(s, pages, (struct command_path){c, c->subs[i]});
}

static void print_json(struct session *s, struct command_path path)
{
    struct pages pages = {0};

    if (path.command != NULL)
        add_command(s, &pages, path);
    for (size_t i = 0; path.command == NULL && i < command_count; i++)
        add_command(s, &pages, (struct command_path){NULL, command_list[i]});
    session_document(s, &help_schema, NULL, &pages, &(struct record_env){.arena = &s->arena});
    vec_free(&pages.list);
}

/* Calls `each` for every document of every command until it gives true. */
static bool each_schema(const struct command *const *list, size_t n, struct session *s,
                        const char *name,
                        bool (*each)(struct session *, const struct schema *, const char *))
{
    for (size_t i = 0; i < n && list[i] != NULL; i++) {
        const struct command *c = list[i];
        for (size_t k = 0; k < COMMAND_SCHEMAS && c->schemas[k] != NULL; k++)
            if (each(s, c->schemas[k], name))
                return true;
        if (c->subs != NULL && each_schema(c->subs, SIZE_MAX, s, name, each))
            return true;
    }
    return false;
}

static bool list_schema(struct session *s, const struct schema *schema, const char *name)
{
    (void)name;
    out_printf(&s->out, "%s\n", schema->name);
    return false;
}

static bool print_schema(struct session *s, const struct schema *schema, const char *name)
{
    struct json_writer w;

    if (strcmp(schema->name, name) != 0)
        return false;
    json_write_init(&w, session_sink(s), JSON_INDENTED);
    schema_write(&w, schema);
    json_write_finish(&w); /* the out remembers a failure */
    return true;
}

static int show_schema(struct session *s, const char *name)
{
    if (each_schema(command_list, command_count, s, name, print_schema))
        return CODE_DONE;
    diag_fail(&s->diag, ST_NOT_FOUND, "usage.schema", (struct where){0}, "unknown document \"%s\"",
              name);
    diag_hint(&s->diag, "try", "strata help --list-schemas");
    return CODE_USAGE;
}

/* The words name no command: says which one does not, and the nearest that would. */
static int unknown(struct session *s, struct command_path path, int used)
{
    const char *word = s->operands.at[used];
    const char *near = NULL;

    if (used == 0 || path.command->subs != NULL)
        near = command_nearest(used > 0 ? path.command->subs : NULL, word);
    diag_fail(&s->diag, ST_NOT_FOUND, "usage.command", (struct where){0},
              "unknown command \"%s%s%s\"", used > 0 ? s->operands.at[0] : "", used > 0 ? " " : "",
              word);
    diag_hint(&s->diag, "try", "strata help%s%s%s%s", used > 0 ? " " : "",
              used > 0 ? s->operands.at[0] : "", near != NULL ? " " : "", near != NULL ? near : "");
    return CODE_USAGE;
}

static int run(struct session *s, const void *p)
{
    const struct args *args = p;
    struct command_path path;
    int used;

    if (args->schema != NULL)
        return show_schema(s, args->schema);
    if (args->list_schemas) {
        each_schema(command_list, command_count, s, NULL, list_schema);
        return CODE_DONE;
    }
    path = command_find((int)s->operands.n, s->operands.at, &used);
    if ((size_t)used < s->operands.n)
        return unknown(s, path, used);
    if (args->man)
        help_man(&s->out, path);
    else if (s->common.json)
        print_json(s, path);
    else if (path.command != NULL)
        help_page(&s->out, path);
    else
        help_overview(&s->out);
    return CODE_DONE;
}

const struct command command_help = {
    .name = "help",
    .group = GROUP_ABOUT,
    .summary = "list the commands, or show one command's page",
    .usage = "[OPTIONS] [COMMAND]",
    .details = "Without an argument, lists all commands. With one, prints that command's options "
               "and examples, as its --help does.\n"
               "\n"
               "--schema prints the JSON Schema of a document that a command writes with --json; "
               "NAME is the value of the document's key \"schema\".",
    .operands = {.kind = OPERAND_COMMAND, .max = 2},
    .schemas = {&help_schema},
    COMMAND_PARTS_ZERO,
};
