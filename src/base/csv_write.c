#include "base/csv_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/num.h"

static void flush(struct csv_write *out)
{
    if (out->n > 0 && !out->has_failed)
        out->has_failed = !out->sink.write(out->sink.ctx, (struct str){out->buffer, out->n});
    out->n = 0;
}

static void put(struct csv_write *out, struct str text)
{
    while (text.n > 0) {
        size_t room = CSV_WRITE_BUFFER - out->n;
        size_t n = text.n < room ? text.n : room;
        memcpy(out->buffer + out->n, text.at, n);
        out->n += n;
        text = str_part(text, n, text.n);
        if (out->n == CSV_WRITE_BUFFER)
            flush(out);
    }
}

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

static void put_quoted(struct csv_write *out, struct str text)
{
    put(out, S("\""));
    for (;;) {
        size_t quote = str_find_char(text, '"');
        put(out, str_part(text, 0, quote));
        if (quote == text.n)
            break;
        put(out, S("\"\""));
        text = str_part(text, quote + 1, text.n);
    }
    put(out, S("\""));
}

void csv_write_open(struct csv_write *out, struct sink sink)
{
    out->sink = sink;
    out->n = 0;
    out->cells = 0;
    out->is_empty = true;
    out->has_failed = false;
    out->is_plain = out->has_crlf = false;
}

static void begin_cell(struct csv_write *out, struct str text)
{
    if (out->cells++ > 0)
        put(out, S(","));
    if (text.n > 0)
        out->is_empty = false;
}

void csv_write_cell(struct csv_write *out, struct str text)
{
    begin_cell(out, text);
    if (needs_quotes(out, text))
        put_quoted(out, text);
    else
        put(out, text);
}

void csv_write_quoted(struct csv_write *out, struct str text)
{
    begin_cell(out, text);
    put_quoted(out, text);
}

void csv_write_i64(struct csv_write *out, int64_t value)
{
    char text[NUM_TEXT];
    int n = snprintf(text, sizeof(text), "%" PRId64, value);

    csv_write_cell(out, (struct str){text, (size_t)n});
}

void csv_write_u64(struct csv_write *out, uint64_t value)
{
    char text[NUM_TEXT];
    int n = snprintf(text, sizeof(text), "%" PRIu64, value);

    csv_write_cell(out, (struct str){text, (size_t)n});
}

void csv_write_f64(struct csv_write *out, double value)
{
    char text[NUM_TEXT];

    if (isfinite(value))
        csv_write_cell(out, (struct str){text, num_print_f64(text, value)});
    else
        csv_write_cell(out, S(""));
}

void csv_write_row(struct csv_write *out)
{
    if (out->cells == 0)
        return;
    if (out->cells == 1 && out->is_empty)
        put(out, S("\"\"")); /* a bare line end would be an empty line, which readers skip */
    put(out, out->has_crlf ? S("\r\n") : S("\n"));
    out->cells = 0;
    out->is_empty = true;
}

bool csv_write_close(struct csv_write *out)
{
    csv_write_row(out);
    flush(out);
    return !out->has_failed;
}
