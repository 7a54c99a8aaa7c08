/* Cells quoted where reading them back needs it. */
#include "base/formats/csv_write.h"

#include "base/formats/json_text.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A leading byte-order mark would be taken for the file's own. */
static bool needs_quotes(const struct csv_write *out, struct str s)
{
    if (s.n == 0)
        return false;
    if (!out->is_plain &&
        (is_blank(s.at[0]) || is_blank(s.at[s.n - 1]) || str_starts(s, S("\xef\xbb\xbf"))))
        return true;
    for (size_t i = 0; i < s.n; i++)
        if (s.at[i] == ',' || s.at[i] == '"' || s.at[i] == '\r' || s.at[i] == '\n')
            return true;
    return false;
}

static void put_quoted(struct csv_write *out, struct str text, bool is_marked)
{
    text_out_put(&out->text, is_marked ? S("\"'") : S("\""));
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
    text_out_open(&out->text, sink);
    out->cells = 0;
    out->is_empty = true;
    out->is_plain = out->has_crlf = out->is_safe = false;
}

static void begin_cell(struct csv_write *out, bool has_text)
{
    if (out->cells++ > 0)
        text_out_put(&out->text, S(","));
    if (has_text)
        out->is_empty = false;
}

/* -1.5 is a number. */
static bool is_formula(struct str s)
{
    if (s.n == 0 || memchr("=+-@\t\r", s.at[0], 6) == NULL)
        return false;
    return !json_is_number(s.at[0] == '+' ? str_part(s, 1, s.n) : s);
}

void csv_write_cell(struct csv_write *out, struct str text)
{
    bool is_marked = out->is_safe && is_formula(text);

    begin_cell(out, text.n > 0);
    if (needs_quotes(out, text)) {
        put_quoted(out, text, is_marked);
        return;
    }
    text_out_put(&out->text, is_marked ? S("'") : S(""));
    text_out_put(&out->text, text);
}

void csv_write_quoted(struct csv_write *out, struct str text)
{
    begin_cell(out, text.n > 0);
    put_quoted(out, text, out->is_safe && is_formula(text));
}

void csv_write_i64(struct csv_write *out, int64_t value)
{
    begin_cell(out, true);
    text_out_i64(&out->text, value);
}

void csv_write_u64(struct csv_write *out, uint64_t value)
{
    begin_cell(out, true);
    text_out_u64(&out->text, value);
}

void csv_write_f64(struct csv_write *out, double value)
{
    begin_cell(out, isfinite(value));
    if (isfinite(value))
        text_out_f64(&out->text, value);
}

void csv_write_row(struct csv_write *out)
{
    if (out->cells == 0)
        return;
    /* A bare line end would be an empty line, which readers skip. */
    if (out->cells == 1 && out->is_empty)
        text_out_put(&out->text, S("\"\""));
    text_out_put(&out->text, out->has_crlf ? S("\r\n") : S("\n"));
    out->cells = 0;
    out->is_empty = true;
}

bool csv_write_close(struct csv_write *out)
{
    csv_write_row(out);
    return text_out_close(&out->text);
}

void csv_write_cells(struct csv_write *out, const struct str *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_write_cell(out, cells[i]);
    csv_write_row(out);
}
