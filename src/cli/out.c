/*
 * out: a buffer in front of a file descriptor, colours, and text made safe for a terminal.
 */
#include "cli/out.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/inert.h"
#include "base/num.h"
#include "base/vec.h"
#include "base/wrap.h"

/* Narrower terminals are treated as that wide; wider ones are none. */
enum { WIDTH_LEAST = 40, WIDTH_MOST = 10000 };

void out_init(struct out *o, int fd, bool color)
{
    *o = (struct out){.fd = fd, .color = color, .is_terminal = isatty(fd) == 1};
}

void out_fini(struct out *o)
{
    text_free(&o->waiting);
    text_free(&o->half);
    text_free(&o->line);
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

static void send_waiting(struct out *o)
{
    struct str rest = text_view(&o->waiting);

    if (o->to.write != NULL) {
        o->to.write(o->to.ctx, rest);
        rest.n = 0;
    }
    while (rest.n > 0 && o->error == 0) {
        ssize_t sent = write(o->fd, rest.at, rest.n);
        if (sent >= 0)
            rest = str_part(rest, (size_t)sent, rest.n);
        else if (!can_retry(o->fd))
            o->error = errno;
    }
    text_clear(&o->waiting);
}

/* What there is of a line that has not ended. */
static void put_begun(struct out *o)
{
    if (o->line.n == 0)
        return;
    wrap_line(&o->waiting, text_view(&o->line), o->width);
    o->waiting.n--; /* its end */
    text_clear(&o->line);
}

bool out_flush(struct out *o)
{
    put_begun(o);
    send_waiting(o);
    return o->error == 0;
}

static void put_raw(struct out *o, struct str s)
{
    put_begun(o);
    text_put(&o->waiting, s);
    if (o->waiting.n >= OUT_BUFFER)
        send_waiting(o);
}

void out_painted(struct out *o, struct str s)
{
    if (o->width == 0) {
        put_raw(o, s);
        return;
    }
    for (size_t end; (end = str_find_char(s, '\n')) < s.n; s = str_part(s, end + 1, s.n)) {
        text_put(&o->line, str_part(s, 0, end));
        wrap_line(&o->waiting, text_view(&o->line), o->width);
        text_clear(&o->line);
    }
    text_put(&o->line, s);
    if (o->waiting.n >= OUT_BUFFER)
        send_waiting(o);
}

void out_bytes(struct out *o, struct str s)
{
    struct arena arena;

    arena_init(&arena);
    out_painted(o, inert_text(&arena, s, INERT_LINES));
    arena_free(&arena);
}

void out_text(struct out *o, const char *text)
{
    out_bytes(o, str_of(text));
}

void out_printf(struct out *o, const char *format, ...)
{
    size_t from = o->waiting.n;
    struct text text = {0};
    va_list args;

    va_start(args, format);
    text_vformat(o->width == 0 ? &o->waiting : &text, format, args);
    va_end(args);
    inert_since(&o->waiting, from, INERT_LINES);
    out_bytes(o, text_view(&text));
    text_free(&text);
}

void out_raw(struct out *o, struct str s)
{
    put_begun(o);
    if (o->is_terminal)
        inert_pass(&o->waiting, &o->half, s);
    put_raw(o, o->is_terminal ? S("") : s);
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

unsigned out_terminal_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    uint64_t width;

    if (isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns == NULL || !num_u64(str_of(columns), &width))
        width = isatty(fd) == 1 ? 80 : 0;
    if (width > WIDTH_MOST)
        return 0;
    return width == 0 || width >= WIDTH_LEAST ? (unsigned)width : WIDTH_LEAST;
}

size_t out_room(const struct out *o, size_t used, size_t wanted)
{
    enum { LEAST = 8 };
    size_t room = o->width > used + LEAST ? o->width - used : LEAST;

    return o->width > 0 && room < wanted ? room : wanted;
}

static struct str *texts_of(const char *const *cells, size_t count)
{
    struct str *texts = mem_grow(NULL, sizeof(*texts), count);

    for (size_t c = 0; c < count; c++)
        texts[c] = str_of(cells[c]);
    return texts;
}

void out_row(struct out *o, const struct wrap_column *places, size_t count,
             const char *const *cells, enum style style)
{
    struct str *texts = texts_of(cells, count);
    struct text row = {0};

    if (style != STYLE_PLAIN)
        out_style(o, style);
    wrap_row(&row, places, count, texts);
    if (style != STYLE_PLAIN) {
        row.n--; /* its end */
        out_bytes(o, text_view(&row));
        out_style(o, STYLE_PLAIN);
        out_text(o, "\n");
    } else {
        out_bytes(o, text_view(&row));
    }
    text_free(&row);
    mem_free(texts);
}

void out_left_out(struct out *o, const struct wrap_column *places, size_t count,
                  const char *const *heads)
{
    struct str *texts = texts_of(heads, count);
    struct text note = {0};

    wrap_left_out(&note, places, count, texts, o->width);
    out_bytes(o, text_view(&note));
    text_free(&note);
    mem_free(texts);
}

void out_table(struct out *o, const struct out_column *columns, size_t count,
               const char *const *cells, size_t rows)
{
    struct wrap_column *places = mem_grow(NULL, sizeof(*places), count);
    const char **heads = mem_grow(NULL, sizeof(*heads), count);

    for (size_t c = 0; c < count; c++) {
        heads[c] = columns[c].head;
        places[c] = (struct wrap_column){.is_right = columns[c].is_right};
        wrap_widen(&places[c], str_of(heads[c]));
        for (size_t r = 0; r < rows; r++)
            wrap_widen(&places[c], str_of(cells[r * count + c]));
    }
    wrap_fit(places, count, o->width);
    out_row(o, places, count, heads, STYLE_BOLD);
    for (size_t r = 0; r < rows; r++)
        out_row(o, places, count, cells + r * count, STYLE_PLAIN);
    out_left_out(o, places, count, heads);
    mem_free(heads);
    mem_free(places);
}
