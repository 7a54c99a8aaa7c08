/*
 * strata help: the grouped list, or one command's page.
 */
#include "base/files/fs.h"
#include "cli/help/help.h"
#include "cli/session.h"
#include "report/report.h"

struct args {
    bool man, list_schemas;
    const char *schema, *schemas;
};

static const struct opt options[] = {
    OPT_FLAG(0, "man", struct args, man, "print the man page source (mdoc)"),
    OPT_STRING(0, "schema", "NAME", struct args, schema, "print the JSON Schema of a document"),
    OPT_STRING(0, "schemas", "DIR", struct args, schemas,
               "write the JSON Schemas of all documents"),
    OPT_FLAG(0, "list-schemas", struct args, list_schemas, "list the documents that have a schema"),
};

static const struct example examples[] = {
    {"strata help", "all commands"},
    {"strata help --schema strata.db-coverage/1", "the JSON Schema of a document"},
    {"strata help devices", "same page as `strata devices --help`"},
};

struct page {
    const char *name, *group, *summary, *usage;
    const struct opt *options;
    size_t n;
};

/* What is asked about, and where its page goes: with colours, as wide as the terminal. */
struct pages {
    VEC_OF(struct page) list;
    struct command_path path;
    struct out *out;
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

static const struct schema help_schema = {
    .name = "strata.help/1",
    .title = "commands and their options",
    .record = &(const struct record)RECORD(struct pages, pages_fields),
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

struct schemas {
    VEC_OF(const struct schema *) list;
};

static const struct schema *schema_named(const struct schemas *schemas, const char *name)
{
    for (size_t i = 0; i < schemas->list.n; i++)
        if (strcmp(schemas->list.at[i]->name, name) == 0)
            return schemas->list.at[i];
    return NULL;
}

/* The documents of these commands, each once. */
static void help_gather(const struct command *const *commands, size_t n, struct schemas *out)
{
    for (size_t i = 0; i < n && commands[i] != NULL; i++) {
        const struct command *c = commands[i];
        for (size_t k = 0; k < COMMAND_SCHEMAS && c->schemas[k] != NULL; k++)
            if (schema_named(out, c->schemas[k]->name) == NULL)
                vec_push(&out->list, c->schemas[k]);
        if (c->subs != NULL)
            help_gather(c->subs, SIZE_MAX, out);
    }
}

static void write_schema(const struct schema *schema, bool is_alone, struct sink out)
{
    struct json_writer w;

    json_write_init(&w, out, JSON_INDENTED);
    schema_write(&w, schema, is_alone);
    json_write_finish(&w); /* the sink remembers a failure */
}

static enum status save_schema(struct session *s, const struct schema *schema, const char *folder)
{
    const char *path = fs_join(&s->arena, folder, schema_file_name(&s->arena, schema));
    struct outfile file;

    TRY(outfile_open(&file, path, &s->diag));
    write_schema(schema, false, outfile_sink(&file));
    TRY(outfile_commit(&file, OUTFILE_FAST, &s->diag));
    session_wrote(s, path);
    return ST_OK;
}

static int show_schema(struct session *s, const struct schemas *schemas, const char *name)
{
    const struct schema *schema = schema_named(schemas, name);

    if (schema != NULL) {
        write_schema(schema, true, session_sink(s));
        return CODE_DONE;
    }
    diag_fail(&s->diag, ST_NOT_FOUND, "usage.schema", (struct where){0}, "unknown document \"%s\"",
              name);
    diag_hint(&s->diag, "try", "strata help --list-schemas");
    return CODE_USAGE;
}

static const struct field schema_fields[] = {
    FIELD(struct schema, name, "name", .head = "document"),
    FIELD(struct schema, title, "title", .head = "description"),
};
static const struct record schema_record = RECORD(struct schema, schema_fields);

static int list_schemas(struct session *s, const struct schemas *schemas)
{
    struct schema *rows = ARENA_ARRAY(&s->arena, struct schema, schemas->list.n);
    struct report *r = report_new(LANG_EN, S(""));

    for (size_t i = 0; i < schemas->list.n; i++)
        rows[i] = *schemas->list.at[i];
    report_records(r, &schema_record, rows, schemas->list.n, NULL);
    session_answer(s, r);
    return CODE_DONE;
}

static int about_schemas(struct session *s, const struct args *args)
{
    struct schemas schemas = {0};
    int code;

    help_gather(command_list, command_count, &schemas);
    if (args->schema != NULL) {
        code = show_schema(s, &schemas, args->schema);
    } else if (args->schemas != NULL) {
        enum status st = fs_mkdirs(args->schemas, &s->diag);
        for (size_t i = 0; i < schemas.list.n && st == ST_OK; i++)
            st = save_schema(s, schemas.list.at[i], args->schemas);
        code = session_code(st);
    } else {
        code = list_schemas(s, &schemas);
    }
    vec_free(&schemas.list);
    return code;
}

/* An unknown command: the error with the nearest known one. */
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

static bool print_pages(const void *pages_, struct sink sink)
{
    const struct pages *pages = pages_;

    (void)sink; /* onto the same, but by words and their styles */
    if (pages->path.command != NULL)
        help_page(pages->out, pages->path, false);
    else
        help_overview(pages->out);
    return pages->out->error == 0;
}

static void give_pages(struct session *s, struct command_path path)
{
    struct pages pages = {.path = path, .out = &s->out};

    if (path.command != NULL)
        add_command(s, &pages, path);
    for (size_t i = 0; path.command == NULL && i < command_count; i++)
        add_command(s, &pages, (struct command_path){NULL, command_list[i]});
    session_give(
        s, &(struct answer){
               .schema = &help_schema, .result = &pages, .title = S(""), .print = print_pages});
    vec_free(&pages.list);
}

static int help_run(struct session *s, const void *p)
{
    const struct args *args = p;
    struct command_path path;
    int used;

    if (args->schema != NULL || args->schemas != NULL || args->list_schemas)
        return about_schemas(s, args);
    path = command_find((int)s->operands.n, s->operands.at, &used);
    if ((size_t)used < s->operands.n)
        return unknown(s, path, used);
    if (args->man)
        help_man(&s->out, path);
    else
        give_pages(s, path);
    return CODE_DONE;
}

const struct command command_help = {
    .name = "help",
    .group = GROUP_TOOLS,
    .summary = "list the commands, or show one command's page",
    .usage = "[OPTIONS] [COMMAND]",
    .details =
        "Without an argument, lists all commands. With one, prints that command's options and "
        "examples, as its --help does.\n"
        "\n"
        "--schema prints the JSON Schema of a document that a command writes with --json; NAME is "
        "the value of the document's key \"schema\". It is self-contained. --schemas writes the "
        "schemas of all documents to a folder, where they share one file for common parts.",
    .operands = {.kind = OPERAND_COMMAND, .max = 2},
    .schemas = {&help_schema, &envelope_schema},
    COMMAND_PARTS_ZERO,
    .run = help_run,
};
