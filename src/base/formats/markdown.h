/*
 * markdown - pieces of Markdown tables, for reports of a prescribed form.
 *
 *     markdown_head(&t, "Stage|Duration (us)");
 *     markdown_row(&t, "s2", S("gemm"), 12.5);          (* | gemm | 12.50 | *)
 */
#ifndef STRATA_BASE_FORMATS_MARKDOWN_H
#define STRATA_BASE_FORMATS_MARKDOWN_H

#include "base/arena.h"
#include "base/text/text.h"

#define MARKDOWN_DASH "\xe2\x80\x93" /* – */
#define MARKDOWN_LONG "\xe2\x80\x94" /* — */

/* A cell with its bar and blanks: "| text ". Text is inert (base/text/inert.h) on one line; tags,
 * links and bars inside are escaped. */
void markdown_cell(struct text *t, struct str text);

/* The same without the bar, for a heading or a sentence. */
void markdown_line(struct text *t, struct str text);

/* The same as a text of its own, with bars escaped. */
const char *markdown_safe(struct arena *arena, struct str text);

/* Inert text for a piece of code, in a cell or not: bars and backticks become blanks. */
const char *markdown_plain(struct arena *arena, struct str text);

/* "12.30", or an en dash for what is not known. */
void markdown_number(struct text *t, double value, int decimals);

/* Heads with '|' between, and the line below them: three dashes each. */
void markdown_head(struct text *t, const char *heads);

/* A row with a cell for each letter: s a struct str, c a const char * (a dash when it is empty),
 * z a size_t, g a number with four digits, 0 to 9 one with so many decimals. */
void markdown_row(struct text *t, const char *forms, ...);

#endif
