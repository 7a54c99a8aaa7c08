/*
 * cell - the text of one cell of an operator table: blanks, quotes, slots and numbers.
 *
 * Exporters write shapes with quotes around them, times with a tab behind them and numbers that
 * are none. Every comparison in the database goes through these few functions, so that two
 * spellings of one value are one value everywhere. Views point into the text given.
 */
#ifndef STRATA_OPDB_ROWS_CELL_H
#define STRATA_OPDB_ROWS_CELL_H

#include <stdint.h>

#include "base/arena.h"

/* Without white space at both ends: blanks, tabs, line ends, form feeds and the separators
 * 0x1c to 0x1f. */
struct str cell_trim(struct str text);

/* Trimmed, then without double quotes at both ends, however many: the form that is compared. */
struct str cell_bare(struct str text);

/* A number as spreadsheets and scripts write it: decimal with an optional exponent, single
 * underscores between digits, nan, inf, infinity in any case. False, with `out` untouched, for
 * anything else. cell_f64 gives 0 then. */
bool cell_number(struct str text, double *out);
double cell_f64(struct str text);

/* A whole decimal number with an optional sign; false beyond 64 bits. */
bool cell_i64(struct str text, int64_t *out);

/* `value` with six decimals, rounded to even as printf does; "nan", "inf", "-inf". `buf` holds at
 * least CELL_TEXT bytes; returns the length. */
enum { CELL_TEXT = 336 };
size_t cell_print6(char *buf, double value);
struct str cell_text6(struct arena *arena, double value);

/* The slots of a shape, dtype or format cell: bare, split at ';', each trimmed and bare again.
 * Empty text has no slots; empty slots in between are kept. */
struct cell_slots {
    struct str *at;
    size_t n;
};
struct cell_slots cell_slots(struct arena *arena, struct str text);

/* The normal form of a shape slot: "" when it is absent ("()", "N/A", "NULL", ...), else dimensions
 * joined with ',' ("( 3 4 )" gives "3,4"). */
struct str cell_shape(struct arena *arena, struct str slot);

/* The dimensions of a slot. False when one is no whole number; an absent slot has none. */
struct cell_dims {
    int64_t *at;
    size_t n;
};
bool cell_dims(struct arena *arena, struct str slot, struct cell_dims *out);

/* "DT_BF16" for "BF16" and "DT_BF16"; "DT_UNDEFINED" for blank text. */
struct str cell_dtype(struct arena *arena, struct str text);

/* A duration that counts: a number above 0, infinity included. */
bool cell_is_duration(struct str cell);

/* The row has a valid duration: replayed or profiled. */
static inline bool cell_is_measured(struct str average, struct str profiled)
{
    return cell_is_duration(average) || cell_is_duration(profiled);
}

/* The matrix behind a stored shape: (a,b,c,d) in FRACTAL_NZ is (b*c, a*d), other formats are as
 * they are. False for FRACTAL_NZ with another number of dimensions, or beyond 64 bits. */
bool cell_logical(struct arena *arena, struct cell_dims dims, struct str format,
                  struct cell_dims *out);

#endif
