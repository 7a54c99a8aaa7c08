/*
 * compare_text - numbers as the comparison documents write them.
 *
 * "k decimals" means correctly rounded from the double, ties to even as printf does, and then the
 * shortest text that reads back: 111.0, 200.12, -100.0. A whole number keeps one zero behind the
 * point, so that a reader sees a measured number and not a count.
 */
#ifndef STRATA_PERFDB_COMPARE_TEXT_H
#define STRATA_PERFDB_COMPARE_TEXT_H

#include "base/json_write.h"

enum { DECIMAL_TEXT = 448 }; /* the largest double has 309 digits and 102 commas */

/* `value` rounded to `decimals`, and its text; a value that is not finite is "inf", "-inf" or
 * "nan". `buf` holds DECIMAL_TEXT bytes. */
double decimal_round(double value, int decimals);
struct str decimal_text(char *buf, double value, int decimals);

/* All digits of `value`: the shortest text that reads back, with a point or an exponent. */
struct str decimal_exact(char *buf, double value);

/* One fixed decimal and a comma between thousands: 1,234.5. */
struct str decimal_grouped(char *buf, double value);

/* "key": number, rounded or with all digits; null when not finite. */
enum { DECIMALS_ALL = -1 };
void decimal_json(struct json_writer *j, struct str key, double value, int decimals);

/* Ends a document that was gathered in `buffer`, hands it on without its last line end, and frees
 * the buffer. False when the sink refused. */
bool json_finish_bare(struct json_writer *j, struct text *buffer, struct sink sink);

#endif
