/*
 * rng - pseudo-random integers that are the same on every machine.
 *
 * SplitMix64: one 64-bit state, a full period, no floating point. Streams with different seeds are
 * independent enough for inventing durations.
 */
#ifndef STRATA_SYNTH_RNG_H
#define STRATA_SYNTH_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline struct rng rng_seed(uint64_t seed, uint64_t stream)
{
    struct rng r = {seed * 0xd1342543de82ef95u + stream};

    rng_next(&r);
    return r;
}

/* From 0 to n - 1; the bias of the remainder is below n / 2^64. */
static inline int64_t rng_below(struct rng *r, int64_t n)
{
    return n > 1 ? (int64_t)(rng_next(r) % (uint64_t)n) : 0;
}

static inline int64_t rng_between(struct rng *r, int64_t low, int64_t high)
{
    return low + rng_below(r, high - low + 1);
}

#endif
