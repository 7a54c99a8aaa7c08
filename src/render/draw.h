/*
 * draw - bars and lines of a series in characters of a terminal: blocks, or ASCII.
 */
#ifndef STRATA_RENDER_DRAW_H
#define STRATA_RENDER_DRAW_H

#include "base/text.h"

/* A share of 1 as a bar; 1 is `width` columns long. */
void draw_bar(struct text *to, double share, size_t width, bool is_ascii);

/* A series of non-negative values, as high as they are large, in at most `width` columns: a column
 * is the largest of the values it stands for. */
void draw_series(struct text *to, const double *at, size_t n, size_t width, bool is_ascii);

#endif
