/*
 * grid_random - random samples that a seed repeats exactly, on every machine.
 *
 * The generator is MT19937 (Matsumoto and Nishimura 1998), seeded by an array of words, and the
 * samples are drawn as docs/perfdb-grid.md describes, so that other tools which follow the same
 * steps choose the same rows.
 */
#ifndef STRATA_PERFDB_GRID_RANDOM_H
#define STRATA_PERFDB_GRID_RANDOM_H

#include <stdint.h>

#include "base/arena.h"

enum { GRID_RANDOM_WORDS = 624, GRID_SEED_DIGITS = 1000 };

struct grid_random {
    uint32_t word[GRID_RANDOM_WORDS];
    size_t next; /* the next word to hand out */
};

/* By words, least significant first; at least one. */
void grid_random_seed(struct grid_random *r, const uint32_t *key, size_t n);

/* By a decimal number of up to GRID_SEED_DIGITS digits, whose sign does not matter; false when
 * `text` is none. */
bool grid_random_seed_text(struct grid_random *r, struct str text);

/* By what the system has to offer; every call gives another sequence. */
void grid_random_seed_any(struct grid_random *r);

uint32_t grid_random_next(struct grid_random *r);

/* `k` different numbers below `n`, in the order they were drawn. k <= n. */
void grid_random_sample(struct grid_random *r, uint32_t n, uint32_t k, uint32_t *out);

#endif
