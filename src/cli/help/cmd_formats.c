/*
 * strata formats: what strata reads and writes.
 */
#include "cli/session.h"
#include "input/input.h"
#include "render/timelines/timeline.h"
#include "report/report.h"

static const struct example examples[] = {
    {"strata formats", "input and output formats"},
    {"strata formats --json", "as JSON"},
};

/* One format as it is listed. */
struct row {
    const char *name, *summary, *files;
};

struct formats {
    VEC_OF(struct row) inputs, outputs;
};

static const struct field input_fields[] = {
    FIELD(struct row, name, "name"),
    FIELD(struct row, summary, "summary"),
    FIELD(struct row, files, "files"),
};
static const struct record input_record = RECORD(struct row, input_fields);

static const struct field output_fields[] = {
    FIELD(struct row, name, "name"),
    FIELD(struct row, summary, "summary"),
    FIELD(struct row, files, "ending"),
};
static const struct record output_record = RECORD(struct row, output_fields);

static const struct field formats_fields[] = {
    FIELD_LIST(struct formats, inputs.at, inputs.n, "inputs", &input_record),
    FIELD_LIST(struct formats, outputs.at, outputs.n, "outputs", &output_record),
};

static const struct schema schema = {
    .name = "strata.formats/1",
    .title = "input and output formats",
    .record = &(const struct record)RECORD(struct formats, formats_fields),
};

static void add_rows(struct report *r, const struct column columns[3], const struct row *rows,
                     size_t n)
{
    struct table *t = report_table(r, columns, 3);

    for (size_t i = 0; i < n; i++) {
        table_text(r, t, str_of(rows[i].name));
        table_text(r, t, str_of(rows[i].files));
        table_text(r, t, str_of(rows[i].summary));
    }
}

static void formats_describe(const void *formats, struct report *r)
{
    static const struct column in[] = {
        {"input", COLUMN_TEXT, 0}, {"file names", COLUMN_TEXT, 0}, {"description", COLUMN_TEXT, 0}};
    static const struct column out[] = {
        {"output", COLUMN_TEXT, 0}, {"ending", COLUMN_TEXT, 0}, {"description", COLUMN_TEXT, 0}};
    const struct formats *f = formats;

    add_rows(r, in, f->inputs.at, f->inputs.n);
    report_text(r, S("  files are recognised by content; --from NAME overrides"));
    add_rows(r, out, f->outputs.at, f->outputs.n);
    report_text(r, S("  written by `strata convert`, chosen by file extension or --to NAME"));
}

static int formats_run(struct session *s, const void *args)
{
    struct formats f = {0};

    (void)args;
    for (const struct input_format *in; (in = input_format_at(f.inputs.n)) != NULL;)
        vec_push(&f.inputs, ((struct row){in->name, in->summary, in->looks_for}));
    for (size_t i = 0; i < timeline_count; i++) {
        const struct timeline_format *out = timeline_list[i];
        vec_push(&f.outputs, ((struct row){out->name, out->summary, out->endings[0]}));
    }
    session_give(
        s, &(struct answer){
               .schema = &schema, .result = &f, .title = S(""), .describe = formats_describe});
    vec_free(&f.inputs);
    vec_free(&f.outputs);
    return CODE_DONE;
}

const struct command command_formats = {
    .name = "formats",
    .group = GROUP_TOOLS,
    .summary = "list input and output formats",
    .usage = "[OPTIONS]",
    .details = "Lists every input format with the file names that are searched for in a folder. A "
               "single file is recognised by its content, whatever its name; --from NAME, "
               "available in all commands that read captures, overrides this.",
    .schemas = {&schema},
    COMMAND_PARTS_BARE,
    .run = formats_run,
};
