#include "base/tables/radix.h"

#include <math.h>

#include "base/testing.h"

TEST(items_come_out_by_key_and_equal_ones_in_their_order)
{
    struct radix_item items[] = {
        {UINT64_MAX, 0}, {5, 1}, {0, 2}, {(uint64_t)1 << 40, 3}, {5, 4}, {256, 5},
    };
    struct radix_item spare[6];
    const uint32_t order[] = {2, 1, 4, 5, 3, 0};

    radix_sort(items, spare, 6);

    for (size_t i = 0; i < 6; i++)
        assert_int_equal(items[i].value, order[i]);
}

TEST(sorted_and_empty_lists_stay_as_they_are)
{
    struct radix_item items[] = {{1, 0}, {1, 1}, {2, 2}}, spare[3];

    radix_sort(items, spare, 3);
    radix_sort(items, spare, 0);

    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(items[i].value, i);
}

TEST(a_thousand_mixed_keys_come_out_in_order)
{
    struct radix_item items[1000], spare[1000];
    uint64_t seed = 7;

    for (uint32_t i = 0; i < 1000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        items[i] = (struct radix_item){seed >> (i % 50), i};
    }
    radix_sort(items, spare, 1000);

    for (size_t i = 1; i < 1000; i++)
        assert_true(items[i - 1].key <= items[i].key);
}

TEST(many_equal_keys_keep_their_order)
{
    struct radix_item items[100], spare[100];

    for (uint32_t i = 0; i < 100; i++)
        items[i] = (struct radix_item){(uint64_t)(i % 3) << 62 | (uint64_t)(i % 2) << 10, i};
    radix_sort(items, spare, 100);

    for (size_t i = 1; i < 100; i++)
        assert_true(items[i - 1].key < items[i].key ||
                    (items[i - 1].key == items[i].key && items[i - 1].value < items[i].value));
}

TEST(a_few_sorted_lists_are_joined)
{
    for (uint32_t lists = 1; lists <= 8; lists++) {
        struct radix_item items[240], spare[240];
        for (uint32_t i = 0; i < 240; i++)
            items[i] = (struct radix_item){(uint64_t)(i % (240 / lists)) / 2 << 20, i};
        radix_sort(items, spare, 240);
        for (size_t i = 1; i < 240; i++)
            assert_true(items[i - 1].key < items[i].key ||
                        (items[i - 1].key == items[i].key && items[i - 1].value < items[i].value));
    }
}

TEST(items_near_their_places_come_out_in_order)
{
    enum { N = 2000 };
    static struct radix_item items[N], spare[N];

    for (uint32_t reach = 1; reach < N; reach *= 3) { /* near, and no longer near */
        for (uint32_t i = 0; i < N; i++)
            items[i] = (struct radix_item){(i + (i * 7919 % reach) * (i % 3 == 0)) / 2, i};
        radix_sort(items, spare, N);
        for (size_t i = 1; i < N; i++)
            assert_true(items[i - 1].key < items[i].key ||
                        (items[i - 1].key == items[i].key && items[i - 1].value < items[i].value));
    }
}

TEST(keys_of_doubles_sort_as_the_doubles_do)
{
    static const double values[] = {-INFINITY, -2.5, -1e-300, 0, 1e-300, 1, 2.5, INFINITY};

    for (size_t i = 1; i < sizeof(values) / sizeof(*values); i++)
        assert_true(radix_key(values[i - 1]) < radix_key(values[i]));
    assert_true(radix_key(-0.0) == radix_key(0.0));
}

TEST_MAIN("base/tables/radix", T(keys_of_doubles_sort_as_the_doubles_do),
          T(items_near_their_places_come_out_in_order), T(a_few_sorted_lists_are_joined),
          T(many_equal_keys_keep_their_order),
          T(items_come_out_by_key_and_equal_ones_in_their_order),
          T(sorted_and_empty_lists_stay_as_they_are), T(a_thousand_mixed_keys_come_out_in_order))
