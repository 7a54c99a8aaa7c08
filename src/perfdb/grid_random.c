#include "perfdb/grid_random.h"

#include <sys/random.h>
#include <time.h>

#include "base/char.h"
#include "base/hash.h"

enum { N = GRID_RANDOM_WORDS, M = 397 };

static void seed_one(struct grid_random *r, uint32_t seed)
{
    r->word[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        r->word[i] = 1812433253u * (r->word[i - 1] ^ (r->word[i - 1] >> 30)) + i;
    r->next = N;
}

void grid_random_seed(struct grid_random *r, const uint32_t *key, size_t n)
{
    uint32_t *w = r->word;
    uint32_t i = 1;

    seed_one(r, 19650218u);
    for (size_t k = 0, j = 0; k < (n > N ? n : N); k++) {
        w[i] = (w[i] ^ ((w[i - 1] ^ (w[i - 1] >> 30)) * 1664525u)) + key[j] + (uint32_t)j;
        j = j + 1 < n ? j + 1 : 0;
        if (++i == N) {
            w[0] = w[N - 1];
            i = 1;
        }
    }
    for (size_t k = 0; k < N - 1; k++) {
        w[i] = (w[i] ^ ((w[i - 1] ^ (w[i - 1] >> 30)) * 1566083941u)) - i;
        if (++i == N) {
            w[0] = w[N - 1];
            i = 1;
        }
    }
    w[0] = 0x80000000u;
}

bool grid_random_seed_text(struct grid_random *r, struct str text)
{
    uint32_t key[GRID_SEED_DIGITS / 9 + 1] = {0}; /* nine digits take less than 32 bits */
    size_t n = 1;

    text = str_trim(text);
    if (text.n > 0 && (text.at[0] == '-' || text.at[0] == '+'))
        text = str_part(text, 1, text.n);
    if (text.n == 0 || text.n > GRID_SEED_DIGITS)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (!char_is_digit(text.at[i]))
            return false;
        uint64_t carry = (uint64_t)(text.at[i] - '0');
        for (size_t k = 0; k < n; k++) {
            carry += (uint64_t)key[k] * 10;
            key[k] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry > 0)
            key[n++] = (uint32_t)carry;
    }
    grid_random_seed(r, key, n);
    return true;
}

void grid_random_seed_any(struct grid_random *r)
{
    uint32_t key[8] = {0};
    struct timespec now;

    /* Eight words never block once the system is up; the clock is for a system that has none. */
    if (getrandom(key, sizeof(key), GRND_NONBLOCK) != sizeof(key)) {
        clock_gettime(CLOCK_REALTIME, &now);
        key[0] ^= (uint32_t)now.tv_nsec;
        key[1] ^= (uint32_t)now.tv_sec;
    }
    grid_random_seed(r, key, ARRAY_LEN(key));
}

static void refill(struct grid_random *r)
{
    uint32_t *w = r->word;

    for (size_t i = 0; i < N; i++) {
        uint32_t y = (w[i] & 0x80000000u) | (w[(i + 1) % N] & 0x7fffffffu);
        w[i] = w[(i + M) % N] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
    }
    r->next = 0;
}

uint32_t grid_random_next(struct grid_random *r)
{
    if (r->next >= N)
        refill(r);
    uint32_t y = r->word[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* Below `n`, each equally likely; n > 0. */
static uint32_t below(struct grid_random *r, uint32_t n)
{
    int surplus = __builtin_clz(n);
    uint32_t x;

    do
        x = grid_random_next(r) >> surplus;
    while (x >= n);
    return x;
}

/* The smaller populations are drawn from a list that shrinks, the larger ones by trying again. */
static bool is_small(uint32_t n, uint32_t k)
{
    uint64_t size = 21, power = 1;

    if (k > 5) {
        while (power < 3 * (uint64_t)k)
            power *= 4;
        size += power;
    }
    return n <= size;
}

static void draw_from_list(struct grid_random *r, uint32_t n, uint32_t k, uint32_t *out)
{
    uint32_t *pool = mem_grow(NULL, sizeof(*pool), n > 0 ? n : 1);

    for (uint32_t i = 0; i < n; i++)
        pool[i] = i;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = below(r, n - i);
        out[i] = pool[j];
        pool[j] = pool[n - i - 1];
    }
    mem_free(pool);
}

static void draw_by_trial(struct grid_random *r, uint32_t n, uint32_t k, uint32_t *out)
{
    struct hash seen = {0};

    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = below(r, n), had;
        while (hash_get(&seen, j, &had))
            j = below(r, n);
        hash_put(&seen, j, 1);
        out[i] = j;
    }
    hash_free(&seen);
}

void grid_random_sample(struct grid_random *r, uint32_t n, uint32_t k, uint32_t *out)
{
    if (is_small(n, k))
        draw_from_list(r, n, k, out);
    else
        draw_by_trial(r, n, k, out);
}
