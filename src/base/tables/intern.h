/*
 * intern - each distinct text once, as a 32-bit number.
 *
 * Names repeat thousands of times in a profile; interned, they cost four bytes a use and compare
 * with ==. Id 0 is the empty string. Ids are given in order of first appearance, so the same
 * input gives the same ids.
 */
#ifndef STRATA_BASE_TABLES_INTERN_H
#define STRATA_BASE_TABLES_INTERN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/tables/vec.h"

typedef uint32_t strid;

struct intern_slot {
    uint32_t hash; /* upper half of the 64-bit hash */
    strid id;      /* 0: free */
};

struct intern {
    struct arena text;
    VEC_OF(struct str) strings;
    struct intern_slot *slots;
    size_t cap; /* a power of two */
};

void intern_init(struct intern *in);
void intern_fini(struct intern *in);

/* The id of `s`; the text is copied when it is new. */
strid intern_put(struct intern *in, struct str s);

/* `s` will be put soon: among millions of texts its place is better fetched ahead. The result is
 * what intern_put_expected() wants besides the text. */
uint32_t intern_expect(const struct intern *in, struct str s);
strid intern_put_expected(struct intern *in, struct str s, uint32_t expected);

/* The id of `s`, or 0 when it was never put (or is empty). */
strid intern_find(const struct intern *in, struct str s);

/* The text behind an id, followed by a NUL byte; lives as long as the intern. */
struct str intern_get(const struct intern *in, strid id);

#endif
