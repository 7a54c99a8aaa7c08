/*
 * compare_text - numbers as the comparison documents write them.
 *
 * "k decimals" means correctly rounded from the double, ties to even as printf does, and then the
 * shortest text that reads back: 111.0, 200.12, -100.0. A whole number keeps one zero behind the
 * point, so that a reader sees a measured number and not a count.
 */
#ifndef STRATA_PERFDB_COMPARE_TEXT_H
#define STRATA_PERFDB_COMPARE_TEXT_H

#include "base/arena.h"
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

enum { LITERAL_DEPTH = 16, LITERAL_BYTES = 1 << 20 }; /* real texts nest 2 deep in some KB */

enum literal_kind { LITERAL_LIST, LITERAL_TUPLE, LITERAL_TEXT, LITERAL_NUMBER, LITERAL_WORD };

struct literal {
    enum literal_kind kind;
    struct str text;             /* a string without quotes and escapes, a number, a word */
    const struct literal *first; /* items of a list or tuple, in order */
    const struct literal *next;
    size_t n; /* items */
};

/* The literal that is the whole of `text`, in the arena; NULL when it is none. */
const struct literal *literal_read(struct arena *arena, struct str text);

struct kernel_share {
    struct str kernel;
    double us;
};

/* The pairs of a `sub_kernel_durations` text: a list of two-element items, each a name and a
 * number. Returns how many there are; 0 when the text is anything else. */
size_t literal_shares(struct arena *arena, struct str text, struct kernel_share **out);

/*
 * The text under which equal shapes meet: blanks and surrounding quotes removed, a list of lists
 * joined with `,` and `;`. "[[16, 5120], [5120, 768]]" and "16,5120;5120,768" (with the quotes of
 * the exporter or without) give the same key; what cannot be read stands for itself.
 */
struct str shape_key(struct arena *arena, struct str text);

#endif
