/*
 * utf16 - text as some shells redirect it: two bytes a character, with a byte-order mark.
 *
 *     text = utf16_plain(arena, text);   any other text is itself
 */
#ifndef STRATA_BASE_TEXT_UTF16_H
#define STRATA_BASE_TEXT_UTF16_H

#include <stdint.h>

#include "base/arena.h"

/* Whether the text begins with the mark of either byte order. */
bool utf16_is(struct str text);

/* The text in UTF-8 and without the mark: a copy in the arena, up to one and a half times as long;
 * `text` itself when it has no mark. Half a pair and half a unit become U+FFFD. */
struct str utf16_plain(struct arena *arena, struct str text);

/* Writes a code point below 0x110000 as UTF-8; returns the bytes used. */
size_t utf8_put(uint32_t code, char to[4]);

#endif
