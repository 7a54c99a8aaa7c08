/*
 * name_tokens - names looked up in lists of words, whatever their letter case.
 */
#ifndef STRATA_OPS_NAME_TOKENS_H
#define STRATA_OPS_NAME_TOKENS_H

#include "base/str.h"

enum { NAME_TOKENS_MOST = 1024 }; /* bytes of a name that are looked at: templates may be endless */

/* Lower case, in `buf` (NAME_TOKENS_MOST bytes, or `room`); the rest of a longer name is left out.
 */
struct str name_tokens_lower(struct str name, char *buf);
struct str name_tokens_lower_to(struct str name, char *buf, size_t room);

/* Whether one of the words, separated by blanks, is somewhere in the name. */
bool name_tokens_any(struct str name, const char *words);

/* Whether the name is like a word: as above, but ^ at its beginning, $ at its end, <> a word of its
 * own, * anything between two parts, = the whole name, or with a '_' behind it. */
bool name_tokens_fits(struct str name, struct str word);

#endif
