/*
 * quantity - a number and its unit, so that every renderer formats it alike.
 *
 * Text scales the unit and keeps four significant digits; a table column has one unit, in its
 * head. Rounding happens once, here, when printing.
 */
#ifndef STRATA_REPORT_QUANTITY_H
#define STRATA_REPORT_QUANTITY_H

#include "base/arena.h"

enum unit {
    UNIT_COUNT, /* whole things */
    UNIT_NS,    /* nanoseconds; printed as ns, us, ms or s */
    UNIT_MS,    /* nanoseconds, printed as milliseconds: for a column that has "ms" in its head */
    UNIT_US,    /* nanoseconds, printed as microseconds */
    UNIT_RATIO, /* 0 to 1; printed in percent with one decimal */
    UNIT_BYTES,
    UNIT_PLAIN, /* a number without a unit, four significant digits */
};

struct quantity {
    double value;
    enum unit unit;
};

enum { QUANTITY_TEXT = 48 };

/* The number alone, as it stands in a table column; returns the length. A value that is not
 * finite prints as "-". `buf` holds QUANTITY_TEXT bytes. */
size_t quantity_number(char *buf, struct quantity q);

/* The number with its unit, scaled: "10.00 ms", "17.0 %", "1024". */
size_t quantity_print(char *buf, struct quantity q);
const char *quantity_text(struct arena *arena, double value, enum unit unit);

#endif
