/*
 * strata formats: what strata reads and writes.
 */
#include "cli/session.h"
#include "input/input.h"
#include "render/timeline.h"

static const struct example examples[] = {
    {"strata formats", "what strata reads"},
    {"strata formats --json", "the same for programs"},
    {0},
};

/* One format as it is listed. */
struct row {
    const char *name, *summary, *files;
};

static size_t collect_inputs(struct row *rows, size_t room)
{
    size_t n = 0;

    for (const struct input_format *f; n < room && (f = input_format_at(n)) != NULL; n++)
        rows[n] = (struct row){f->name, f->summary, f->looks_for};
    return n;
}

static size_t collect_outputs(struct row *rows, size_t room)
{
    size_t n = 0;

    for (; n < room && n < timeline_count; n++)
        rows[n] = (struct row){timeline_list[n]->name, timeline_list[n]->summary,
                               timeline_list[n]->endings[0]};
    return n;
}

static void print_rows(struct session *s, const char *title, const char *files,
                       const struct row *rows, size_t n)
{
    const struct out_column columns[] = {{title, false}, {files, false}, {"what it is", false}};
    enum { COLUMNS = ARRAY_LEN(columns) };
    const char **cells = ARENA_ARRAY(&s->arena, const char *, n *COLUMNS);

    for (size_t i = 0; i < n; i++) {
        cells[i * COLUMNS] = rows[i].name;
        cells[i * COLUMNS + 1] = rows[i].files;
        cells[i * COLUMNS + 2] = rows[i].summary;
    }
    out_table(&s->out, columns, COLUMNS, cells, n);
}

static void json_rows(struct json_writer *j, const char *key, const char *files,
                      const struct row *rows, size_t n)
{
    json_put_array(j, key);
    for (size_t i = 0; i < n; i++) {
        json_write_object(j);
        json_put_text(j, "name", rows[i].name);
        json_put_text(j, "summary", rows[i].summary);
        json_put_text(j, files, rows[i].files);
        json_write_end(j);
    }
    json_write_end(j);
}

static int run(struct session *s, const void *args)
{
    struct row inputs[64], outputs[64];
    size_t n = collect_inputs(inputs, ARRAY_LEN(inputs));
    size_t out_n = collect_outputs(outputs, ARRAY_LEN(outputs));

    (void)args;
    if (s->common.json) {
        struct json_writer *j = session_json_begin(s, "strata.formats/1", NULL);
        json_write_object(j);
        json_rows(j, "inputs", "files", inputs, n);
        json_rows(j, "outputs", "ending", outputs, out_n);
        json_write_end(j);
        session_json_end(s);
        return CODE_DONE;
    }
    print_rows(s, "input", "files looked for", inputs, n);
    out_text(&s->out, "\n  files are known by their content; --format NAME forces one\n\n");
    print_rows(s, "output", "ending", outputs, out_n);
    out_text(&s->out, "\n  `strata convert` writes these, by the ending or by --to NAME\n");
    return CODE_DONE;
}

const struct command command_formats = {
    .name = "formats",
    .group = GROUP_LOOK,
    .summary = "list the formats that strata reads and writes",
    .usage = "[OPTIONS]",
    .details = "Lists every input format with the names of the files in which a folder is searched "
               "for it. A file is recognised by its content, whatever its name; --format NAME, "
               "which all commands that read captures take, forces one.",
    .examples = examples,
    .run = run,
};
