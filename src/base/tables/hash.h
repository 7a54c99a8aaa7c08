/*
 * hash - a 64-bit hash of bytes, and a map from 64-bit keys to 32-bit values.
 *
 * The hash is another one in each run: no file can be made so that its names meet in one place.
 * Nothing that is written, kept or sorted by may therefore depend on it, and the map is never
 * walked in table order. It is made for ids and for hashes of keys whose full comparison the caller
 * does itself. What is kept from run to run, or orders something, takes the stable one, for which a
 * file can have collisions.
 */
#ifndef STRATA_BASE_TABLES_HASH_H
#define STRATA_BASE_TABLES_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

uint64_t hash_bytes(struct str s);
uint64_t hash_mix(uint64_t a, uint64_t b);
uint64_t hash_stable_bytes(struct str s);
uint64_t hash_stable_mix(uint64_t a, uint64_t b);

struct hash_slot {
    uint64_t key;
    uint32_t value;
    uint32_t used;
};

/* Zero-initialised is empty. */
struct hash {
    struct hash_slot *slots;
    size_t n, cap; /* cap is 0 or a power of two */
};

/* Sets `key`, replacing what it had. */
void hash_put(struct hash *h, uint64_t key, uint32_t value);
bool hash_get(const struct hash *h, uint64_t key, uint32_t *value);

/* The value of `key`, which becomes `fresh` when there was none: one probe for look-up-or-add. */
uint32_t hash_add(struct hash *h, uint64_t key, uint32_t fresh);

/* Forgets all keys but keeps the memory. */
void hash_clear(struct hash *h);
void hash_free(struct hash *h);

#endif
