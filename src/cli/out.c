/*
 * out: a buffer in front of a file descriptor, colours, and text made safe for a terminal.
 */
#include "cli/out.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void out_init(struct out *o, int fd, bool color)
{
    *o = (struct out){.fd = fd, .color = color};
    o->buf = mem_grow(NULL, 1, OUT_BUFFER);
}

void out_fini(struct out *o)
{
    mem_free(o->buf);
    o->buf = NULL;
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

static void send_all(struct out *o, const char *at, size_t n)
{
    while (n > 0 && o->error == 0) {
        ssize_t sent = write(o->fd, at, n);
        if (sent >= 0) {
            at += sent;
            n -= (size_t)sent;
        } else if (!can_retry(o->fd)) {
            o->error = errno;
        }
    }
}

bool out_flush(struct out *o)
{
    send_all(o, o->buf, o->n);
    o->n = 0;
    return o->error == 0;
}

void out_bytes(struct out *o, struct str s)
{
    if (s.n > OUT_BUFFER - o->n)
        out_flush(o);
    if (s.n > OUT_BUFFER) {
        send_all(o, s.at, s.n);
        return;
    }
    if (s.n > 0)
        memcpy(o->buf + o->n, s.at, s.n);
    o->n += s.n;
}

void out_text(struct out *o, const char *text)
{
    out_bytes(o, str_of(text));
}

void out_printf(struct out *o, const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n < sizeof(line)) {
        out_bytes(o, (struct str){line, (size_t)n});
        return;
    }
    char *text = mem_grow(NULL, 1, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    out_bytes(o, (struct str){text, (size_t)n});
    mem_free(text);
}

const char *out_clean(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (size_t i = 0; i < text.n; i++)
        if (copy[i] == '\t' || copy[i] == '\n' || copy[i] == '\r')
            copy[i] = ' ';
        else if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
            copy[i] = '?';
    return copy;
}

void out_style(struct out *o, enum style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[33m", "\033[32m"};

    if (o->color)
        out_text(o, codes[style]);
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
