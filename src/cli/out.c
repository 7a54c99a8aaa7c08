/*
 * out: a buffer in front of a file descriptor, colours, and text made safe for a terminal.
 */
#include "cli/out.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/inert.h"

void out_init(struct out *o, int fd, bool color)
{
    *o = (struct out){.fd = fd, .color = color, .is_terminal = isatty(fd) == 1};
}

void out_fini(struct out *o)
{
    text_free(&o->waiting);
    text_free(&o->half);
}

/* A terminal or pipe set to non-blocking by someone else is waited for. */
static bool can_retry(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};

    if (errno == EINTR)
        return true;
    if (errno != EAGAIN)
        return false;
    poll(&ready, 1, -1);
    return true;
}

bool out_flush(struct out *o)
{
    struct str rest = text_view(&o->waiting);

    while (rest.n > 0 && o->error == 0) {
        ssize_t sent = write(o->fd, rest.at, rest.n);
        if (sent >= 0)
            rest = str_part(rest, (size_t)sent, rest.n);
        else if (!can_retry(o->fd))
            o->error = errno;
    }
    text_clear(&o->waiting);
    return o->error == 0;
}

void out_painted(struct out *o, struct str s)
{
    text_put(&o->waiting, s);
    if (o->waiting.n >= OUT_BUFFER)
        out_flush(o);
}

void out_bytes(struct out *o, struct str s)
{
    inert_put(&o->waiting, s, INERT_LINES);
    out_painted(o, S(""));
}

void out_text(struct out *o, const char *text)
{
    out_bytes(o, str_of(text));
}

void out_printf(struct out *o, const char *format, ...)
{
    size_t from = o->waiting.n;
    va_list args;

    va_start(args, format);
    text_vformat(&o->waiting, format, args);
    va_end(args);
    inert_since(&o->waiting, from, INERT_LINES);
    out_painted(o, S(""));
}

void out_data(struct out *o, struct str s)
{
    if (o->is_terminal)
        inert_pass(&o->waiting, &o->half, s);
    out_painted(o, o->is_terminal ? S("") : s);
}

const char *out_clean(struct arena *arena, struct str text)
{
    return arena_cstr(arena, inert_line(arena, text));
}

void out_style(struct out *o, enum style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[33m", "\033[32m"};

    if (o->color)
        out_painted(o, str_of(codes[style]));
}

bool out_wants_color(enum color_mode mode, int fd)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (mode != COLOR_AUTO)
        return mode == COLOR_ALWAYS;
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    return (term == NULL || strcmp(term, "dumb") != 0) && isatty(fd) == 1;
}

static void print_row(struct out *o, const struct out_column *columns, size_t count,
                      const size_t *widths, const char *const *cells, enum style style)
{
    size_t last = count;

    if (style != STYLE_PLAIN)
        out_style(o, style);
    /* Nothing is padded on the right edge. */
    while (last > 0 && (cells[last - 1] == NULL || cells[last - 1][0] == '\0'))
        last--;
    for (size_t c = 0; c < last; c++) {
        const char *text = cells[c] != NULL ? cells[c] : "";
        int pad = (int)(widths[c] - str_width(str_of(text)));
        if (columns[c].is_right)
            out_printf(o, "  %*s%s", pad, "", text);
        else
            out_printf(o, "  %s%*s", text, c + 1 < last ? pad : 0, "");
    }
    if (style != STYLE_PLAIN)
        out_style(o, STYLE_PLAIN);
    out_text(o, "\n");
}

void out_table(struct out *o, const struct out_column *columns, size_t count,
               const char *const *cells, size_t rows)
{
    size_t *widths = mem_grow(NULL, sizeof(*widths), count);
    const char **heads = mem_grow(NULL, sizeof(*heads), count);

    for (size_t c = 0; c < count; c++) {
        heads[c] = columns[c].head;
        widths[c] = str_width(str_of(heads[c]));
        for (size_t r = 0; r < rows; r++) {
            const char *text = cells[r * count + c];
            size_t width = text != NULL ? str_width(str_of(text)) : 0;
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    print_row(o, columns, count, widths, heads, STYLE_BOLD);
    for (size_t r = 0; r < rows; r++)
        print_row(o, columns, count, widths, cells + r * count, STYLE_PLAIN);
    mem_free(heads);
    mem_free(widths);
}
