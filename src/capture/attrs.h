/*
 * attrs - what is known of a slice besides its time, lane and name.
 *
 * Two stores, because attributes come in two sorts. Those that repeat (operator type, core,
 * shapes) are kept as *sets*: the same combination is stored once and is one 32-bit number.
 * Those that differ on nearly every row (wait time, task id, step) are *own* values of a slice.
 * Run 0 is empty.
 */
#ifndef STRATA_CAPTURE_ATTRS_H
#define STRATA_CAPTURE_ATTRS_H

#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/vec.h"

enum attr_type { ATTR_NONE, ATTR_TEXT, ATTR_INT, ATTR_REAL, ATTR_TIME };

/* `key` is an interned name. A run of attributes ends with one of type ATTR_NONE. */
struct attr {
    strid key;
    uint32_t type; /* enum attr_type */
    union {
        strid text;
        int64_t number;
        double real;
        nanos time;
        uint64_t bits; /* all eight bytes, for comparing */
    };
};

static inline struct attr attr_text(strid key, strid text)
{
    return (struct attr){.key = key, .type = ATTR_TEXT, .bits = text};
}

static inline struct attr attr_int(strid key, int64_t number)
{
    return (struct attr){.key = key, .type = ATTR_INT, .number = number};
}

static inline struct attr attr_real(strid key, double real)
{
    return (struct attr){.key = key, .type = ATTR_REAL, .real = real};
}

static inline struct attr attr_time(strid key, nanos time)
{
    return (struct attr){.key = key, .type = ATTR_TIME, .time = time};
}

typedef uint32_t attr_run;

struct attrs {
    VEC_OF(struct attr) values; /* all runs, one after the other */
    struct hash sets;           /* hash of a set's content -> its run */
};

void attrs_init(struct attrs *a);
void attrs_fini(struct attrs *a);

/* The set of these `n` attributes, in this order; equal sets get equal numbers. */
attr_run attrs_set(struct attrs *a, const struct attr *list, size_t n);

/* A run of its own, never shared. */
attr_run attrs_own(struct attrs *a, const struct attr *list, size_t n);

/* The attribute `key` of a run, or NULL. The pointer lives until the next addition. */
const struct attr *attrs_get(const struct attrs *a, attr_run run, strid key);

#endif
