/*
 * attrs - what is known of a slice besides its time, lane and name.
 *
 * Two sorts, because attributes come in two sorts. Those that repeat (operator type, core, shapes)
 * are kept as *sets*: the same combination is stored once and is one 32-bit number. Those that
 * differ on nearly every row (wait time, task id, step) are *own* values of a slice. Both are runs
 * in one store, and run 0 is empty.
 *
 * A run is packed: the number of its shape, then its values. A shape is a list of keys and types;
 * a capture has some dozen, so a run costs one or two bytes plus its values: a few bytes for a
 * whole number, a time or a text (LEB128), eight for a real.
 */
#ifndef STRATA_CAPTURE_ATTRS_H
#define STRATA_CAPTURE_ATTRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/hash.h"
#include "base/tables/intern.h"
#include "base/tables/vec.h"
#include "base/text/num.h"

enum attr_type { ATTR_NONE, ATTR_TEXT, ATTR_INT, ATTR_REAL, ATTR_TIME };

/* `key` is an interned name. */
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

typedef uint32_t attr_run; /* byte offset of a run */

struct attr_column {
    strid key;
    uint32_t type; /* enum attr_type */
};

struct attr_shape {
    uint32_t first, n; /* its part of `columns` */
};

enum { ATTR_MEMOS = 64, ATTR_MEMO_MOST = 12 };

/* A set that was asked for lately. */
struct attr_memo {
    size_t n; /* 0: none */
    struct attr list[ATTR_MEMO_MOST];
    attr_run run;
};

struct attrs {
    VEC_OF(uint8_t) bytes;              /* all runs, one after the other */
    VEC_OF(struct attr_shape) shapes;   /* number 0 is the empty one */
    VEC_OF(struct attr_column) columns; /* of all shapes */
    struct hash shape_ids;              /* hash of the columns -> shape */
    struct hash sets;                   /* hash of a set's bytes -> its run */
    VEC_OF(attr_run) new_sets;          /* newest text -> run, of attrs_set_new() */
    uint64_t lost;                      /* runs that found no room: 4 GiB are full */
    uint32_t last_shape;                /* rows like the one before are the rule */
    struct attr_memo memos[ATTR_MEMOS]; /* by the values of a set */
};

void attrs_init(struct attrs *a);
void attrs_fini(struct attrs *a);

/* Forgets all runs but keeps the memory; the second one keeps the shapes, too. */
void attrs_clear(struct attrs *a);
void attrs_clear_runs(struct attrs *a);

/* The set of these `n` attributes, in this order; equal sets get equal numbers. */
attr_run attrs_set(struct attrs *a, const struct attr *list, size_t n);

/* The same for a set with a text that came to the capture after the last set did, the newest of
 * all: where texts hardly repeat it is not looked for and not hashed. */
attr_run attrs_set_new(struct attrs *a, const struct attr *list, size_t n);

/* A run of its own, never shared. */
attr_run attrs_own(struct attrs *a, const struct attr *list, size_t n);

/* The attribute `key` of a run; of type ATTR_NONE when there is none. */
struct attr attrs_get(const struct attrs *a, attr_run run, strid key);

/* One attribute after the other:
 *     struct attr_walk walk = attrs_walk(a, run);
 *     while (attrs_next(&walk, &attr)) ... */
struct attr_walk {
    const struct attr_column *column;
    const uint8_t *at;
    uint32_t left;
};

struct attr_walk attrs_walk(const struct attrs *a, attr_run run);
bool attrs_next(struct attr_walk *walk, struct attr *out);

/* True when some run has a text under `key`. */
bool attrs_has_text(const struct attrs *a, strid key);

/* Copies runs of another store, whose texts have other numbers: `strings` gives the new ones.
 * `shapes` is the translator's memory: empty before the first run of a store, for vec_free(). */
struct attr_map {
    const strid *strings;
    VEC_OF(uint32_t) shapes;
};

attr_run attrs_copy_own(struct attrs *a, const struct attrs *from, attr_run run,
                        struct attr_map *map);

#endif
