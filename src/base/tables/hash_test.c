#include "base/tables/hash.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/testing.h"

enum { MANY = 100000 };

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return ORDER(x, y);
}

TEST(equal_bytes_have_equal_hashes_and_length_counts)
{
    char zeros[40] = {0};

    assert_true(hash_bytes(S("MatMul")) == hash_bytes((struct str){&"xMatMul"[1], 6}));
    for (size_t n = 1; n < sizeof(zeros); n++)
        assert_true(hash_bytes((struct str){zeros, n}) != hash_bytes((struct str){zeros, n - 1}));
    assert_true(hash_bytes((struct str){NULL, 0}) == hash_bytes(S("")));
}

TEST(every_bit_of_a_text_counts)
{
    char text[41] = "0123456789abcdefghijklmnopqrstuvwxyzABCD";

    for (size_t n = 1; n <= 40; n++) {
        uint64_t before = hash_bytes((struct str){text, n});
        for (size_t bit = 0; bit < 8 * n; bit++) {
            text[bit / 8] ^= (char)(1 << bit % 8);
            assert_true(hash_bytes((struct str){text, n}) != before);
            text[bit / 8] ^= (char)(1 << bit % 8);
        }
    }
}

/* With the secret of the stable hash as its second word, a product is 0 whatever the first is. */
TEST(names_made_to_collide_do_not)
{
    const uint64_t word = 0xd6e8feb86659fd93u;
    char names[2][16] = {"gemm____", "softmax_"};

    for (size_t i = 0; i < 2; i++)
        memcpy(names[i] + 8, &word, 8);
    struct str a = {names[0], 16}, b = {names[1], 16};
    assert_true(hash_stable_bytes(a) == hash_stable_bytes(b));
    assert_true(hash_bytes(a) != hash_bytes(b));
    assert_true(hash_mix(1, word) != hash_mix(2, word));
}

TEST(a_hundred_thousand_names_do_not_collide)
{
    uint64_t *hashes = mem_grow(NULL, sizeof(*hashes), MANY);
    size_t low[64] = {0};

    for (int i = 0; i < MANY; i++) {
        char name[64];
        int n = sprintf(name, "aclnnMatMul_MatMulCommon_MatMulV2_%d", i);
        hashes[i] = hash_bytes((struct str){name, (size_t)n});
        low[hashes[i] % 64]++;
    }
    /* The low bits choose the slot: each of 64 values is met 1562 times, give or take 7 sigma. */
    for (int i = 0; i < 64; i++)
        assert_in_range(low[i], 1285, 1840);
    qsort(hashes, MANY, sizeof(*hashes), by_value);
    for (int i = 1; i < MANY; i++)
        assert_true(hashes[i] != hashes[i - 1]);
    mem_free(hashes);
}

TEST(the_stable_hash_is_the_same_on_every_run)
{
    /* The formulas of hash.c worked out by a separate script, bytes taken as little-endian. */
    assert_true(hash_stable_bytes(S("")) == 0xbd43cf7af47878c3u);
    assert_true(hash_stable_bytes(S("MatMul")) == 0x07b8f0ccf92f1726u);
    assert_true(hash_stable_bytes(S("0123456789")) == 0x52532e2a948905efu);
    assert_true(hash_stable_bytes(S("aclnnMatMul_MatMulCommon")) == 0xc29ff0468906f088u);
    assert_true(hash_stable_mix(1, 2) == 0xbd6066e6b2aeea0cu);
    assert_true(hash_stable_mix(1, 2) != hash_stable_mix(2, 1));
}

TEST(a_map_keeps_a_hundred_thousand_keys)
{
    struct hash h = {0};
    uint32_t value = 0;

    assert_false(hash_get(&h, 1, &value));
    for (uint64_t i = 0; i < MANY; i++)
        hash_put(&h, i * 0x100000001u, (uint32_t)i);
    assert_int_equal(h.n, MANY);
    assert_true(h.n * 4 <= h.cap * 3);
    for (uint64_t i = 0; i < MANY; i++) {
        assert_true(hash_get(&h, i * 0x100000001u, &value));
        assert_int_equal(value, i);
    }
    value = 42;
    assert_false(hash_get(&h, UINT64_MAX, &value));
    assert_int_equal(value, 42);
    hash_free(&h);
    assert_false(hash_get(&h, 0, &value));
}

/* The longest row of used slots: what a look-up passes at most. */
static size_t longest_row(const struct hash *h)
{
    size_t longest = 0, row = 0;

    for (size_t i = 0; i < 2 * h->cap; i++) { /* around the end */
        row = h->slots[i % h->cap].used ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    return longest;
}

TEST(keys_at_any_distance_are_spread)
{
    for (int shift = 0; shift < 48; shift++) {
        struct hash h = {0};
        for (uint64_t i = 0; i < MANY / 10; i++)
            hash_put(&h, i << shift, 0);
        assert_in_range(longest_row(&h), 1, 1000);
        hash_free(&h);
    }
}

TEST(putting_replaces_and_adding_does_not)
{
    struct hash h = {0};
    uint32_t value = 0;

    hash_put(&h, 0, 1); /* zero is a key like any other */
    hash_put(&h, 0, 2);
    assert_true(hash_get(&h, 0, &value));
    assert_int_equal(value, 2);
    assert_int_equal(hash_add(&h, 0, 3), 2);
    assert_int_equal(hash_add(&h, 5, 0), 0);
    assert_int_equal(hash_add(&h, 5, 9), 0);
    assert_int_equal(h.n, 2);
    hash_free(&h);
}

TEST_MAIN("base/tables/hash", T(equal_bytes_have_equal_hashes_and_length_counts),
          T(every_bit_of_a_text_counts), T(names_made_to_collide_do_not),
          T(a_hundred_thousand_names_do_not_collide), T(the_stable_hash_is_the_same_on_every_run),
          T(a_map_keeps_a_hundred_thousand_keys), T(keys_at_any_distance_are_spread),
          T(putting_replaces_and_adding_does_not))
