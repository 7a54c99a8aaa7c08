/*
 * name_tokens - names looked up in lists of words, whatever their letter case.
 */
#ifndef STRATA_OPS_NAME_TOKENS_H
#define STRATA_OPS_NAME_TOKENS_H

#include "base/str.h"

enum { NAME_TOKENS_MOST = 1024 }; /* bytes of a name that are looked at: templates may be endless */

/* Lower case, in `buf` (NAME_TOKENS_MOST bytes). */
struct str name_tokens_lower(struct str name, char *buf);

/* Whether one of the words, separated by blanks, is somewhere in the name. */
bool name_tokens_any(struct str name, const char *words);

#endif
