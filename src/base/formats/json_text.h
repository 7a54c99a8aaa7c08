/*
 * json_text - what stands between the quotes of a JSON string, and the grammar of its numbers.
 *
 * The reader (json_read.h) hands out raw text; these functions check it and turn it into UTF-8.
 */
#ifndef STRATA_BASE_FORMATS_JSON_TEXT_H
#define STRATA_BASE_FORMATS_JSON_TEXT_H

#include "base/arena.h"

/* What a raw string holds; positions are of the first one, SIZE_MAX when there is none. */
struct json_check {
    size_t escape;     /* a backslash */
    size_t bad_escape; /* a backslash followed by nothing JSON knows */
    size_t control;    /* a raw byte below 0x20 */
    size_t bad_utf8;
};

struct json_check json_check_string(struct str raw);

/*
 * The string that `raw` stands for, in UTF-8. `raw` itself when nothing has to change, else a
 * copy in the arena. What has no meaning becomes U+FFFD: half a surrogate pair, a raw control
 * character, each broken UTF-8 sequence. A backslash before anything unknown is kept as it is.
 */
struct str json_text(struct str raw, struct arena *arena);

/* True for a number as RFC 8259 writes it: "-0.5e+3", but none of "+1", "01", "1.", ".5". */
bool json_is_number(struct str text);

/* Length of the UTF-8 sequence at the start of `n` > 0 bytes. When it is broken, the length of the
 * part that one U+FFFD stands for. No surrogates, no overlong forms, nothing past U+10FFFF. */
size_t json_utf8(const char *at, size_t n, bool *is_valid);

/* The next piece of `rest` as it stands between the quotes of a string, taken off its front: plain
 * text or an escape in `buf`. False at the end. What is not UTF-8 becomes U+FFFD. Characters that a
 * terminal obeys or a reader does not see (base/text/inert.h) are escaped like control characters.
 */
enum { JSON_ESCAPE = 8 };
bool json_escape_next(struct str *rest, char buf[JSON_ESCAPE], struct str *piece);

#endif
