/* Cells quoted where reading them back needs it. */
#include "base/csv_write.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A leading byte-order mark would be taken for the file's own. */
static bool needs_quotes(struct str s)
{
    if (s.n == 0)
        return false;
    if (is_blank(s.at[0]) || is_blank(s.at[s.n - 1]) || str_starts(s, S("\xef\xbb\xbf")))
        return true;
    for (size_t i = 0; i < s.n; i++)
        if (s.at[i] == ',' || s.at[i] == '"' || s.at[i] == '\r' || s.at[i] == '\n')
            return true;
    return false;
}

static void put_quoted(struct csv_write *out, struct str text)
{
    text_out_put(&out->text, S("\""));
    for (;;) {
        size_t quote = str_find_char(text, '"');
        text_out_put(&out->text, str_part(text, 0, quote));
        if (quote == text.n)
            break;
        text_out_put(&out->text, S("\"\""));
        text = str_part(text, quote + 1, text.n);
    }
    text_out_put(&out->text, S("\""));
}

void csv_write_open(struct csv_write *out, struct sink sink)
{
    out->cells = 0;
    out->is_empty = true;
    text_out_open(&out->text, sink);
}

static void begin_cell(struct csv_write *out)
{
    if (out->cells++ > 0)
        text_out_put(&out->text, S(","));
}

void csv_write_cell(struct csv_write *out, struct str text)
{
    begin_cell(out);
    if (text.n > 0)
        out->is_empty = false;
    if (needs_quotes(text))
        put_quoted(out, text);
    else
        text_out_put(&out->text, text);
}

void csv_write_i64(struct csv_write *out, int64_t value)
{
    begin_cell(out);
    out->is_empty = false;
    text_out_i64(&out->text, value);
}

void csv_write_f64(struct csv_write *out, double value)
{
    begin_cell(out);
    if (!isfinite(value))
        return;
    out->is_empty = false;
    text_out_f64(&out->text, value);
}

void csv_write_row(struct csv_write *out)
{
    if (out->cells == 0)
        return;
    if (out->cells == 1 && out->is_empty)
        text_out_put(&out->text,
                     S("\"\"")); /* a bare line end would be an empty line, which readers skip */
    text_out_put(&out->text, S("\n"));
    out->cells = 0;
    out->is_empty = true;
}

bool csv_write_close(struct csv_write *out)
{
    csv_write_row(out);
    return text_out_close(&out->text);
}
