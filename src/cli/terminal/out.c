/*
 * out: a buffer in front of a file descriptor, colours, and text made safe for a terminal.
 */
#include "cli/terminal/out.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/tables/vec.h"
#include "base/text/ascii.h"
#include "base/text/char.h"
#include "base/text/inert.h"
#include "base/text/wrap.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/terminal.h"

static atomic_bool is_for_ci; /* threads of a library ask at the same time */

void out_for_ci(void)
{
    is_for_ci = true;
}

static bool in_ci(void)
{
    static const char *const names[] = {"CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (getenv(names[i]) != NULL && getenv(names[i])[0] != '\0')
            return true;
    return false;
}

void out_init(struct out *o, int fd)
{
    if (in_ci())
        is_for_ci = true;
    *o = (struct out){.fd = fd, .is_terminal = isatty(fd) == 1};
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

    if (o->may_page) {
        /* More than a screenful waits: from here on the pager has the terminal. */
        size_t lines = 0;
        for (size_t i = 0; i < o->waiting.n; i++)
            lines += o->waiting.at[i] == '\n';
        int fd = lines >= terminal_height(o->fd) ? pager_start() : -1;
        o->fd = fd >= 0 ? fd : o->fd;
        o->may_page = false;
    }
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
    o->may_page = false;
    put_begun(o);
    send_waiting(o);
    return o->error == 0;
}

bool out_finish(struct out *o)
{
    put_begun(o);
    send_waiting(o);
    pager_finish();
    return o->error == 0;
}

static void put_raw(struct out *o, struct str s)
{
    put_begun(o);
    text_put(&o->waiting, s);
    if (o->waiting.n >= OUT_BUFFER)
        send_waiting(o);
}

static void put_lines(struct out *o, struct str s)
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

/* Shows the second of two colons that begin a line as an escape, and the bracket of a mark
 * (inert_is_mark()). Blanks of any script may stand before the colons. */
static void put_disarmed(struct out *o, struct text *to, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.at[i];
        bool is_command = c == ':' && o->last == ':' && !o->is_in_line;
        if (inert_is_mark(&o->mark, c) || is_command)
            text_format(to, "\\x%02x", (unsigned)c);
        else
            text_char(to, c);
        o->is_in_line = c != '\n' && (o->is_in_line || (c > ' ' && c != ':'));
        o->last = c;
    }
}

void out_painted(struct out *o, struct str s)
{
    struct text plain = {0}, disarmed = {0};

    if (o->is_ascii)
        ascii_put(&plain, s);
    s = o->is_ascii ? text_view(&plain) : s;
    if (is_for_ci)
        put_disarmed(o, &disarmed, s);
    put_lines(o, is_for_ci ? text_view(&disarmed) : s);
    text_free(&disarmed);
    text_free(&plain);
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
    bool is_direct = o->width == 0 && !o->is_ascii && !is_for_ci;
    size_t from = o->waiting.n;
    struct text text = {0};
    va_list args;

    va_start(args, format);
    text_vformat(is_direct ? &o->waiting : &text, format, args);
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

static bool write_raw(void *ctx, struct str text)
{
    out_raw(ctx, text);
    return ((struct out *)ctx)->error == 0;
}

struct sink out_sink(struct out *o)
{
    return (struct sink){write_raw, o};
}

const char *out_clean(struct arena *arena, struct str text)
{
    return arena_cstr(arena, inert_line(arena, text));
}

static void put_quoted(struct text *to, const char *path)
{
    for (const char *c = path; *c != '\0'; c++)
        if (char_is_alnum(*c) || strchr("/-_.~", *c) != NULL)
            text_char(to, *c);
        else
            text_format(to, "%%%02X", (unsigned char)*c);
}

void out_path(struct out *o, const char *path)
{
    struct text text = {0};

    if (o->has_links) {
        text_put(&text, S("\033]8;;"));
        /* file://host/path: a terminal on another machine sees that the file is not there. */
        char here[PATH_MAX] = "", host[HOST_NAME_MAX + 1] = "";
        if (gethostname(host, sizeof(host) - 1) != 0)
            host[0] = '\0';
        text_format(&text, "file://%s", host);
        if (path[0] != '/' && getcwd(here, sizeof(here)) != NULL) {
            put_quoted(&text, here);
            text_char(&text, '/');
        }
        put_quoted(&text, path);
        text_put(&text, S("\033\\"));
    }
    inert_put(&text, str_of(path), INERT_LINE);
    if (o->has_links)
        text_put(&text, S("\033]8;;\033\\"));
    out_painted(o, text_view(&text));
    text_free(&text);
}

void out_style(struct out *o, enum style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[33m", "\033[32m"};

    if (o->color)
        out_painted(o, str_of(codes[style]));
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
