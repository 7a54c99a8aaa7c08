/*
 * wrap - lines and tables that fit a terminal.
 *
 * Widths are in columns of a terminal: wide characters take two, escape sequences none. A width of
 * 0 means no limit.
 */
#ifndef STRATA_BASE_TEXT_WRAP_H
#define STRATA_BASE_TEXT_WRAP_H

#include "base/text/text.h"

/* The line, without its end, on as many lines as it needs, each with a '\n'. It breaks at blanks
 * and between wide characters. Lines after the first begin where the text behind the first gap of
 * two or more blanks does ("  --out PATH   write ..."), or two to the right of the first one. A
 * word longer than a line breaks behind a '/', ',', '_', ':' or '|', or where the line ends. */
void wrap_line(struct text *to, struct str line, size_t width);

/* Text as it stands from column `from` on, with further lines beginning there; no '\n' at the end.
 */
void wrap_from(struct text *to, struct str words, size_t from, size_t width);

/* Without its middle, when it is wider than `width`: "aten::native…kernel". */
void wrap_shorten(struct text *to, struct str name, size_t width);

/* A column of a table. */
struct wrap_column {
    size_t width;
    size_t full;        /* before it was made narrower */
    bool is_right;      /* numbers: never shortened */
    bool is_narrow;     /* narrower than its widest cell */
    bool is_left_out;   /* does not fit */
    unsigned char drop; /* 0: left out last, from the right */
};

/* Makes columns of a table, two blanks before each, fit a line: text at its right edge becomes
 * narrower, columns to drop are left out, other text becomes narrower, and then columns are left
 * out from the right, but neither the first nor text at the right edge. In narrow columns names
 * lose their middle, and text of several words takes several lines; only cells of other columns
 * may have escape sequences. */
void wrap_fit(struct wrap_column *columns, size_t n, size_t width);

static inline void wrap_widen(struct wrap_column *column, struct str cell)
{
    size_t width = str_width(cell);

    column->width = width > column->width ? width : column->width;
}

/* A row of the table with '\n'; nothing is padded at the right edge. */
void wrap_row(struct text *to, const struct wrap_column *columns, size_t n,
              const struct str *cells);

/* "2 columns hidden: a, b; ..." under a table with columns that did not fit; nothing when all did.
 */
void wrap_left_out(struct text *to, const struct wrap_column *columns, size_t n,
                   const struct str *heads, size_t width);

#endif
