/*
 * Our own Markdown as a page: headings, tables, lists and paragraphs are all it has.
 */
#include "gpu/judge/report.h"
#include "text/gpu.h"

/* Undoes the escapes of base/formats/markdown.h. */
static void escape(struct text *t, struct str text)
{
    static const struct str plain[256] = {
        ['<'] = S_INIT("&lt;"), ['>'] = S_INIT("&gt;"), ['&'] = S_INIT("&amp;")};

    for (size_t i = 0; i < text.n; i++) {
        struct str rest = str_part(text, i, text.n);
        bool is_entity = str_starts(rest, S("&lt;")) || str_starts(rest, S("&amp;"));
        if (rest.at[0] == '\\' && rest.n > 1 && strchr("\\|]", rest.at[1]) != NULL)
            rest = str_part(text, ++i, text.n);
        struct str as = plain[(unsigned char)rest.at[0]];
        text_put(t, as.n > 0 && !is_entity ? as : str_part(rest, 0, 1));
    }
}

static void row(struct text *t, struct str line, const char *tag)
{
    size_t from = 1;

    text_format(t, "<tr>");
    for (size_t i = 1; i < line.n; i++)
        if (line.at[i] == '|' && line.at[i - 1] != '\\') {
            text_format(t, "<%s>", tag);
            escape(t, str_trim(str_part(line, from, i - from)));
            text_format(t, "</%s>", tag);
            from = i + 1;
        }
    text_format(t, "</tr>\n");
}

static void heading(struct text *t, struct str line)
{
    size_t level = 0;

    while (level < line.n && line.at[level] == '#')
        level++;
    text_format(t, "<h%zu>", level > 1 ? level - 1 : level);
    escape(t, str_trim(str_part(line, level, line.n)));
    text_format(t, "</h%zu>\n", level > 1 ? level - 1 : level);
}

void gpu_report_html(struct str markdown, enum lang lang, struct text *t)
{
    struct str rest = markdown, line;
    bool in_table = false, in_list = false;

    text_format(t,
                "<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">\n"
                "<title>%.*s</title>\n<style>body{font-family:sans-serif;margin:2em;max-width:"
                "90em}table{border-collapse:collapse;margin:.5em 0}th,td{border:1px solid #bbb;"
                "padding:.2em .6em;text-align:left}th{background:#eee}</style></head><body>\n",
                lang_name(lang), STR_ARGS(message_in(lang, &gpu_text.page_title)));
    while (rest.n > 0 && str_split(&rest, '\n', &line)) {
        bool is_row = line.n > 1 && line.at[0] == '|', is_item = str_starts(line, S("- "));
        if (in_table && !is_row)
            text_format(t, "</table>\n");
        if (in_list && !is_item)
            text_format(t, "</ul>\n");
        if (is_row && in_table && line.at[1] == '-') {
            continue; /* the line under the head */
        } else if (is_row) {
            if (!in_table)
                text_format(t, "<table>\n");
            row(t, line, in_table ? "td" : "th");
        } else if (is_item) {
            text_format(t, in_list ? "<li>" : "<ul>\n<li>");
            escape(t, str_part(line, 2, line.n));
            text_format(t, "</li>\n");
        } else if (line.n > 0 && line.at[0] == '#') {
            heading(t, line);
        } else if (line.n > 0) {
            text_format(t, "<p>");
            escape(t, line);
            text_format(t, "</p>\n");
        }
        in_table = is_row;
        in_list = is_item;
    }
    text_format(t, "%s%s</body></html>\n", in_table ? "</table>\n" : "", in_list ? "</ul>\n" : "");
}
