/*
 * compare_literal - lists written the Python way, as performance models leave them in traces.
 *
 * Two texts of a predicted trace are such lists: `[[16, 5120], [5120, 768]]` (shapes) and
 * `[('A', 9.0), ('B', 55.5)]` (durations of sub-kernels). A literal here is a list or a tuple, a
 * quoted string, a number, or one of True, False and None; that is all these texts need. Nesting
 * is bounded by LITERAL_DEPTH, the text by LITERAL_BYTES: a longer one is no literal.
 */
#ifndef STRATA_OPDB_COMPARE_COMPARE_LITERAL_H
#define STRATA_OPDB_COMPARE_COMPARE_LITERAL_H

#include "base/arena.h"

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
struct str literal_shapes(struct arena *arena, struct str text);

#endif
