/*
 * ascii - text for terminals that show ASCII alone.
 *
 * Dashes, arrows, lines and the like become what looks most like them and takes as many columns
 * where it can; any other character becomes a '?' for each of its columns. Escape sequences and
 * ASCII are kept.
 */
#ifndef STRATA_BASE_TEXT_ASCII_H
#define STRATA_BASE_TEXT_ASCII_H

#include "base/text/text.h"

void ascii_put(struct text *to, struct str s);

#endif
