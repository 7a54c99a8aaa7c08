/*
 * terminal: its size by ioctl(), the rest by environment variables that terminals set.
 */
#include "cli/terminal/terminal.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"
#include "base/text/num.h"

/* Narrower terminals are treated as that wide; wider ones are none. */
enum { WIDTH_LEAST = 40, WIDTH_MOST = 10000 };

static struct str variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL ? str_of(value) : S("");
}

static bool is_dumb(void)
{
    return str_equal(variable("TERM"), S("dumb"));
}

bool terminal_wants_color(enum color_mode mode, int fd)
{
    if (mode != COLOR_AUTO)
        return mode == COLOR_ALWAYS;
    return variable("NO_COLOR").n == 0 && !is_dumb() && isatty(fd) == 1;
}

unsigned terminal_width(int fd)
{
    struct winsize size = {0};
    uint64_t width;

    if (isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (!num_u64(variable("COLUMNS"), &width))
        width = isatty(fd) == 1 ? 80 : 0;
    if (width > WIDTH_MOST)
        return 0;
    return width == 0 || width >= WIDTH_LEAST ? (unsigned)width : WIDTH_LEAST;
}

unsigned terminal_height(int fd)
{
    struct winsize size = {0};

    return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool terminal_shows_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < ARRAY_LEN(names) && !is_dumb(); i++) {
        struct str locale = variable(names[i]);
        if (locale.n == 0)
            continue;
        struct str codes = str_part(locale, str_find_char(locale, '.') + 1, locale.n);
        return strncasecmp(codes.at, "utf-8", 5) == 0 || strncasecmp(codes.at, "utf8", 4) == 0;
    }
    return false;
}

bool terminal_follows_links(int fd)
{
    static const struct str programs[] = {S_INIT("iTerm.app"), S_INIT("WezTerm"), S_INIT("vscode"),
                                          S_INIT("ghostty")};
    static const struct str terms[] = {S_INIT("xterm-kitty"), S_INIT("alacritty"), S_INIT("foot"),
                                       S_INIT("xterm-ghostty"), S_INIT("wezterm")};
    struct str force = variable("FORCE_HYPERLINK"), term = variable("TERM");
    uint64_t vte;

    if (isatty(fd) != 1)
        return false;
    if (force.n > 0)
        return !str_equal(force, S("0"));
    if (is_dumb() || str_starts(term, S("screen")) || str_starts(term, S("tmux")))
        return false;
    return str_is_one_of(variable("TERM_PROGRAM"), programs, ARRAY_LEN(programs)) ||
           str_is_one_of(term, terms, ARRAY_LEN(terms)) || variable("WT_SESSION").n > 0 ||
           variable("KONSOLE_VERSION").n > 0 ||
           (num_u64(variable("VTE_VERSION"), &vte) && vte >= 5000);
}
