/*
 * Open addressing with linear probing, at most 3/4 full. The byte hash multiplies 8-byte words
 * into a 128-bit product and folds it, which mixes well and costs about a cycle a byte on the
 * short names profiles are made of.
 */
#include "base/tables/hash.h"

#include <endian.h>
#include <sys/auxv.h>

#include "base/arena.h"

struct hash_secret {
    uint64_t word[2];
};

/* Of this run. A file made for known words has as many equal hashes as it likes: a word that is the
 * secret makes a product 0 whatever the other one is. */
static struct hash_secret run_secret = {{0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u}};
static const struct hash_secret no_secret = {{0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u}};

static inline uint64_t mix_with(const struct hash_secret *s, uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product =
        (unsigned __int128)(a ^ s->word[0]) * (b ^ s->word[1]);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The system gives each process 16 random bytes. They are mixed, since others use them too. */
__attribute__((constructor)) static void hash_choose_secret(void)
{
    const void *bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM); // NOLINT
    struct hash_secret seed = no_secret;

    if (bytes != NULL)
        memcpy(&seed, bytes, sizeof(seed));
    for (size_t i = 0; i < ARRAY_LEN(run_secret.word); i++)
        run_secret.word[i] = mix_with(&no_secret, seed.word[0] + i, seed.word[1]);
}

uint64_t hash_mix(uint64_t a, uint64_t b)
{
    return mix_with(&run_secret, a, b);
}

uint64_t hash_stable_mix(uint64_t a, uint64_t b)
{
    return mix_with(&no_secret, a, b);
}

static uint64_t hash_load(const char *p, size_t n)
{
    uint64_t word = 0;

    memcpy(&word, p, n);
    return le64toh(word);
}

static inline uint64_t bytes_with(const struct hash_secret *secret, struct str s)
{
    uint64_t h = mix_with(secret, s.n, 0x2545f4914f6cdd1du);
    const char *p = s.at;
    size_t left = s.n;

    if (left > 64) { /* two streams: the products do not wait for each other */
        uint64_t other = ~h;
        for (; left > 32; left -= 32, p += 32) {
            h = mix_with(secret, h ^ hash_load(p, 8), hash_load(p + 8, 8));
            other = mix_with(secret, other ^ hash_load(p + 16, 8), hash_load(p + 24, 8));
        }
        h = mix_with(secret, h, other);
    }
    for (; left > 16; left -= 16, p += 16)
        h = mix_with(secret, h ^ hash_load(p, 8), hash_load(p + 8, 8));
    if (left > 8)
        h = mix_with(secret, h ^ hash_load(p, 8), hash_load(p + left - 8, 8));
    else if (left > 0)
        h = mix_with(secret, h ^ hash_load(p, left), 0x8ebc6af09c88c6e3u);
    return mix_with(secret, h, s.n);
}

uint64_t hash_bytes(struct str s)
{
    return bytes_with(&run_secret, s);
}

uint64_t hash_stable_bytes(struct str s)
{
    return bytes_with(&no_secret, s);
}

/* The slot that holds `key`, or the free one where it belongs. */
static struct hash_slot *hash_find(const struct hash *h, uint64_t key)
{
    /* Numbers that follow each other are often asked for one after the other: eight of them stand
     * together. */
    size_t i = (size_t)(hash_mix(key >> 3, 1) << 3 | (key & 7)) & (h->cap - 1);

    while (h->slots[i].used && h->slots[i].key != key)
        i = (i + 1) & (h->cap - 1);
    return &h->slots[i];
}

static void hash_grow(struct hash *h)
{
    struct hash old = *h;

    h->cap = old.cap > 0 ? old.cap * 2 : 16;
    h->slots = mem_grow(NULL, sizeof(*h->slots), h->cap);
    memset(h->slots, 0, sizeof(*h->slots) * h->cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].used)
            *hash_find(h, old.slots[i].key) = old.slots[i];
    mem_free(old.slots);
}

static struct hash_slot *find_or_add(struct hash *h, uint64_t key, uint32_t value)
{
    if (h->n * 4 >= h->cap * 3)
        hash_grow(h);
    struct hash_slot *slot = hash_find(h, key);
    if (!slot->used) {
        *slot = (struct hash_slot){key, value, 1};
        h->n++;
    }
    return slot;
}

void hash_put(struct hash *h, uint64_t key, uint32_t value)
{
    find_or_add(h, key, value)->value = value;
}

uint32_t hash_add(struct hash *h, uint64_t key, uint32_t fresh)
{
    return find_or_add(h, key, fresh)->value;
}

bool hash_get(const struct hash *h, uint64_t key, uint32_t *value)
{
    if (h->cap == 0)
        return false;
    const struct hash_slot *slot = hash_find(h, key);
    if (slot->used)
        *value = slot->value;
    return slot->used;
}

void hash_clear(struct hash *h)
{
    if (h->n > 0)
        memset(h->slots, 0, sizeof(*h->slots) * h->cap);
    h->n = 0;
}

void hash_free(struct hash *h)
{
    mem_free(h->slots);
    *h = (struct hash){0};
}
