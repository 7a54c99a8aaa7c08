/*
 * terminal - what the terminal at a descriptor can show, from the terminal and the environment.
 */
#ifndef STRATA_CLI_TERMINAL_H
#define STRATA_CLI_TERMINAL_H

#include <stdbool.h>

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Whether text on `fd` is coloured: AUTO means a terminal, NO_COLOR unset and TERM not "dumb". */
bool terminal_wants_color(enum color_mode mode, int fd);

/* Columns of the terminal at `fd`, or $COLUMNS; 0 when it is none and that is not set. */
unsigned terminal_width(int fd);

/* Lines of the terminal at `fd`; 0 when it is none or does not say. */
unsigned terminal_height(int fd);

/* Whether the locale is one of UTF-8 and TERM not "dumb". */
bool terminal_shows_utf8(void);

/* Whether `fd` is a terminal known to follow hyperlinks (OSC 8). FORCE_HYPERLINK=1 says so of any,
 * FORCE_HYPERLINK=0 of none. */
bool terminal_follows_links(int fd);

#endif
