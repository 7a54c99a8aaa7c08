/*
 * out - buffered text on a file descriptor, with a memory for the first write error.
 *
 * stdout is the answer: whoever writes to it never checks, and the end of the run asks once
 * whether everything arrived (out_flush). Colour goes through out_style(), which writes nothing
 * when colour is off, so it can never be the only carrier of a meaning. On a terminal lines are
 * wrapped, and more than a screenful goes through a pager (cli/terminal/pager.h); documents (JSON,
 * CSV) go through out_raw().
 *
 * Text for people is inert (base/text/inert.h): a name can neither move the cursor nor set a title.
 * Where a program of CI reads it, which obeys lines such as "::error::text" and "##[group]text", a
 * name cannot make one either.
 */
#ifndef STRATA_CLI_OUT_H
#define STRATA_CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/files/sink.h"
#include "base/text/wrap.h"

enum { OUT_BUFFER = 1 << 16 };

struct out {
    int fd;
    struct sink to; /* instead of the descriptor, when set; it keeps its own errors */
    int error;      /* errno of the first failed write; later output is dropped */
    bool color;
    bool is_terminal;
    bool is_ascii;    /* text for people has no other characters */
    bool has_links;   /* names of files are hyperlinks */
    bool may_page;    /* more than a screenful goes through a pager */
    size_t width;     /* of the terminal; 0: lines are not wrapped */
    struct text line; /* begun, when lines are wrapped */
    struct text waiting;
    struct text half; /* of a character, at the end of data for a terminal */
    bool is_in_line;  /* for CI: the line has more than blanks and colons */
    char last;        /* for CI: the byte before */
    uint8_t mark;     /* for CI: state of inert_is_mark() */
};

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_RED, STYLE_YELLOW, STYLE_GREEN };

void out_init(struct out *o, int fd);

/* A program of CI reads what is written from now on; so it is anyway where the environment has CI,
 * GITHUB_ACTIONS, TF_BUILD or TEAMCITY_VERSION. */
void out_for_ci(void);
void out_fini(struct out *o); /* does not flush */

/* Text for people: line feeds and tabs are kept, whatever else a terminal obeys is escaped. A name
 * inside goes through out_clean() first. */
void out_bytes(struct out *o, struct str s);
void out_text(struct out *o, const char *text);
void out_printf(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_style(struct out *o, enum style style);

/* Data for programs (JSON, CSV, a trace): as it is, but inert on a terminal too. */
void out_raw(struct out *o, struct str s);

struct sink out_sink(struct out *o); /* of such data */

/* Text with colours in it, whose names are inert already. */
void out_painted(struct out *o, struct str s);

/* A copy on one line, as inert_line() makes it. Lives in `arena`. */
const char *out_clean(struct arena *arena, struct str text);

/* The name of a file; a link to it where the terminal follows them. */
void out_path(struct out *o, const char *path);

/* Sends what is buffered now, and so past a pager; true when nothing was lost since out_init(). */
bool out_flush(struct out *o);

/* The same at the end of the run: the user leaves the pager, when there is one. */
bool out_finish(struct out *o);

/* What a line of the terminal has beside `used` columns, for a picture that is `wanted` wide. */
size_t out_room(const struct out *o, size_t used, size_t wanted);

struct out_column {
    const char *head;
    bool is_right; /* numbers */
};

/* A table two spaces in, columns two apart, that fits the terminal: `rows` times `count` cells, row
 * by row. A NULL cell is empty. */
void out_table(struct out *o, const struct out_column *columns, size_t count,
               const char *const *cells, size_t rows);

/* The same in parts: a row, and at the end the names of columns that did not fit. */
void out_row(struct out *o, const struct wrap_column *places, size_t count,
             const char *const *cells, enum style style);
void out_left_out(struct out *o, const struct wrap_column *places, size_t count,
                  const char *const *heads);

#endif
