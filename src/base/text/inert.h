/*
 * inert - text from files and the command line, made harmless for a terminal or a document.
 *
 * Names in a capture may hold any byte. What a terminal would obey or a reader could not see is
 * written as a visible escape:
 *
 *     control characters, DEL     \x1b      (\n, \r and \t by their letters)
 *     C1 controls U+0080-U+009F   \u{9b}
 *     marks of text direction, and line and paragraph separators   \u{202e}
 *     bytes that are not UTF-8    \xff
 *
 * All other text is itself. Nothing is copied while there is nothing to escape.
 */
#ifndef STRATA_BASE_TEXT_INERT_H
#define STRATA_BASE_TEXT_INERT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/text/text.h"

enum inert_form {
    INERT_LINE,  /* text on one line: line feeds and tabs are escaped too */
    INERT_LINES, /* line feeds and tabs are layout */
};

enum { INERT_ESCAPE = 12 }; /* bytes of an escape, at most */

/* The next piece of `rest` as it is shown, taken off its front: harmless text, or an escape in
 * `buf`. False at the end. */
bool inert_next(struct str *rest, enum inert_form form, char buf[INERT_ESCAPE], struct str *piece);

/* Whether the UTF-8 character at the start of `n` > 0 bytes must be escaped: its code point, or 0.
 * For writers with escapes of their own (JSON). */
unsigned inert_unsafe(const char *at, size_t n);

/* The whole text, or it on one line: `s` itself, or a copy in the arena. */
struct str inert_text(struct arena *arena, struct str s, enum inert_form form);
struct str inert_line(struct arena *arena, struct str s);

/* Appends it to `t`; or does the same to what `t` holds from byte `from` on. */
void inert_put(struct text *t, struct str s, enum inert_form form);
void inert_since(struct text *t, size_t from, enum inert_form form);

/* The columns that inert_line() takes in a terminal. */
size_t inert_width(struct str s);

/* The same onto a sink, on one line. */
void inert_write(struct sink sink, struct str s);

/* Appends data that comes in pieces of any length, as INERT_LINES: half a character at the end of
 * `s` waits in `half` for its rest. */
void inert_pass(struct text *t, struct text *half, struct str s);

/* A program of CI obeys lines with ##[command], ##vso[command] or ##teamcity[command] in them.
 * Given the characters of a text one by one, true for each that must be shown as an escape so that
 * none is there: a bracket behind "##" and letters. Headings and bars of '#' have none. `state`
 * starts as 0. */
bool inert_is_mark(uint8_t *state, char c);

#endif
