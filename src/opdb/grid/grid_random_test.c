#include "opdb/grid/grid_gen.h"

#include "base/testing.h"

static void assert_sample(const char *seed, uint32_t n, uint32_t k, const uint32_t *expected)
{
    struct grid_random r = {0};
    uint32_t out[32];

    assert_true(k <= ARRAY_LEN(out));
    assert_true(grid_random_seed_text(&r, str_of(seed)));
    grid_random_sample(&r, n, k, out);
    for (uint32_t i = 0; i < k; i++)
        assert_int_equal(out[i], expected[i]);
}

TEST(words_are_those_of_the_published_generator)
{
    /* The first outputs that the authors print for this key. */
    const uint32_t key[] = {0x123, 0x234, 0x345, 0x456};
    const uint32_t first[] = {1067595299u, 955945823u, 477289528u, 4107218783u, 4228976476u};
    struct grid_random r = {0};

    grid_random_seed(&r, key, ARRAY_LEN(key));
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        assert_int_equal(grid_random_next(&r), first[i]);
}

TEST(samples_are_those_of_the_description)
{
    const uint32_t a[] = {211, 428, 146, 469, 201, 361, 49, 313};
    const uint32_t b[] = {8805, 37303, 50054, 4135, 16716};

    assert_sample("20260409", 481, 8, a);
    assert_sample("1", 50653, 5, b);
    assert_sample(" -1 ", 50653, 5, b);
}

TEST(a_seed_may_be_longer_than_a_word)
{
    /* 2^64 + 3 is the words 3, 0, 1. */
    const uint32_t key[] = {3, 0, 1};
    struct grid_random a = {0}, b = {0};

    grid_random_seed(&a, key, 3);
    assert_true(grid_random_seed_text(&b, S("18446744073709551619")));
    for (int i = 0; i < 1000; i++)
        assert_int_equal(grid_random_next(&a), grid_random_next(&b));
}

TEST(all_of_a_population_is_a_permutation)
{
    struct grid_random r = {0};
    uint32_t out[300];
    bool seen[300] = {false};

    grid_random_seed_any(&r);
    grid_random_sample(&r, 300, 300, out);
    for (size_t i = 0; i < 300; i++) {
        assert_true(out[i] < 300 && !seen[out[i]]);
        seen[out[i]] = true;
    }
    grid_random_sample(&r, 0, 0, out);
}

TEST(what_is_no_whole_number_is_no_seed)
{
    struct grid_random r = {0};
    char long_text[GRID_SEED_DIGITS + 1];

    memset(long_text, '9', sizeof(long_text));
    assert_true(grid_random_seed_text(&r, (struct str){long_text, GRID_SEED_DIGITS}));
    assert_false(grid_random_seed_text(&r, (struct str){long_text, GRID_SEED_DIGITS + 1}));
    assert_false(grid_random_seed_text(&r, S("")));
    assert_false(grid_random_seed_text(&r, S("-")));
    assert_false(grid_random_seed_text(&r, S("1.5")));
    assert_false(grid_random_seed_text(&r, S("0x10")));
}

TEST_MAIN("opdb/grid/grid_random", T(words_are_those_of_the_published_generator),
          T(samples_are_those_of_the_description), T(a_seed_may_be_longer_than_a_word),
          T(all_of_a_population_is_a_permutation), T(what_is_no_whole_number_is_no_seed))
