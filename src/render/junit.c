/*
 * junit: results of checks as XML, and as commands of a workflow.
 */
#include "render/render.h"

static void put_attribute(struct text *out, const char *name, const char *value)
{
    static const struct str with[] = {S_INIT("&amp;"), S_INIT("&lt;"), S_INIT("&gt;"),
                                      S_INIT("&quot;")};
    struct render_out o = {.sink = text_sink(out)};

    text_format(out, " %s=\"", name);
    render_escaped(&o, str_of(value), INERT_LINE, S("&<>\""), with);
    text_char(out, '"');
}

void junit_write(struct text *out, const char *title, const struct junit_case *cases, size_t n)
{
    size_t failed = 0;

    for (size_t i = 0; i < n; i++)
        failed += cases[i].failure != NULL;
    text_put(out, S("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite"));
    put_attribute(out, "name", title);
    text_format(out, " tests=\"%zu\" failures=\"%zu\">\n", n, failed);
    for (size_t i = 0; i < n; i++) {
        text_put(out, S("    <testcase"));
        put_attribute(out, "classname", cases[i].suite);
        put_attribute(out, "name", cases[i].name);
        put_attribute(out, "file", cases[i].file);
        if (cases[i].failure == NULL) {
            text_put(out, S("/>\n"));
            continue;
        }
        text_put(out, S(">\n      <failure"));
        put_attribute(out, "message", cases[i].failure);
        text_put(out, S("/>\n    </testcase>\n"));
    }
    text_put(out, S("  </testsuite>\n</testsuites>\n"));
}

/* Text of a workflow command, which ends with the line; ':' and ',' end a property of it. */
static void put_command_text(struct text *out, const char *value, bool is_property)
{
    struct arena arena;
    uint8_t mark = 0; /* commands of other programs than GitHub's */

    arena_init(&arena);
    struct str text = inert_line(&arena, str_of(value));
    for (size_t i = 0; i < text.n; i++)
        if (text.at[i] == '%' || (is_property && strchr(":,", text.at[i]) != NULL))
            text_format(out, "%%%02X", (unsigned)(unsigned char)text.at[i]);
        else if (inert_is_mark(&mark, text.at[i]))
            text_put(out, S("\\x5b"));
        else
            text_char(out, text.at[i]);
    arena_free(&arena);
}

void junit_annotate(struct text *out, const char *title, const struct junit_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (cases[i].failure == NULL)
            continue;
        text_put(out, S("::error title="));
        put_command_text(out, title, true);
        text_put(out, S("::"));
        put_command_text(out, cases[i].file, false);
        text_put(out, S(": "));
        put_command_text(out, cases[i].name, false);
        text_put(out, S(": "));
        put_command_text(out, cases[i].failure, false);
        text_char(out, '\n');
    }
}
