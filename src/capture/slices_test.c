#include "capture/slices.h"

#include "base/run/pool.h"
#include "base/testing.h"

static void push(struct slices *s, lane_id lane, nanos begin, nanos dur, strid name)
{
    slices_push(s, &(struct slice){.begin = begin, .dur = dur, .lane = lane, .name = name});
}

TEST(slices_are_sorted_by_lane_then_begin_then_longest)
{
    struct slices s = {0};

    push(&s, 1, 10, 5, 1);
    push(&s, 0, 30, 5, 2);
    push(&s, 0, 20, 5, 3);
    push(&s, 0, 20, 9, 4);
    push(&s, 0, 20, 5, 5); /* equal to name 3: stays behind it */
    slices_sort(&s, false);

    const strid want[] = {4, 3, 5, 2, 1};
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(s.name[i], want[i]);
    assert_int_equal(slices_end(&s, 0), 29);
    slices_free(&s);
}

TEST(the_sort_tells_where_each_slice_went)
{
    struct slices s = {0};

    push(&s, 0, 30, 1, 1);
    push(&s, 0, 10, 1, 2);
    push(&s, 0, 20, 1, 3);
    uint32_t *place = slices_sort(&s, true);

    assert_int_equal(place[0], 2);
    assert_int_equal(place[1], 0);
    assert_int_equal(place[2], 1);
    mem_free(place);
    slices_free(&s);
}

TEST(a_long_shuffled_column_comes_out_in_order_with_its_rows_intact)
{
    struct slices s = {0};
    uint32_t seed = 1;

    for (strid i = 1; i <= 10000; i++) {
        seed = seed * 1664525u + 1013904223u;
        push(&s, seed >> 30, seed >> 12, i, i); /* dur equals name: a row must travel whole */
    }
    slices_sort(&s, false);

    for (size_t i = 0; i < s.n; i++) {
        assert_int_equal(s.dur[i], s.name[i]);
        if (i > 0) {
            assert_true(s.lane[i] >= s.lane[i - 1]);
            assert_true(s.lane[i] > s.lane[i - 1] || s.begin[i] >= s.begin[i - 1]);
        }
    }
    slices_free(&s);
}

TEST(a_part_is_sorted_without_touching_what_stands_before_it)
{
    struct slices s = {0};

    push(&s, 9, 900, 1, 1);
    push(&s, 8, 100, 1, 2);
    push(&s, 3, 50, 1, 3);
    push(&s, 2, 60, 1, 4);
    slices_sort_from(&s, 2, NULL);

    const strid names[] = {1, 2, 4, 3};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s.name[i], names[i]);
    assert_int_equal(s.begin[0], 900);
    assert_int_equal(s.lane[3], 3);
    slices_free(&s);
}

TEST(no_slice_costs_more_than_forty_bytes)
{
    struct slices s = {0};
    size_t bytes = sizeof(*s.begin) + sizeof(*s.dur) + sizeof(*s.lane) + sizeof(*s.name) +
                   sizeof(*s.set) + sizeof(*s.own) + sizeof(*s.kind);

    assert_in_range(bytes, 1, 40);
    assert_null(slices_sort(&s, true)); /* and an empty one sorts */
    assert_int_equal(s.n, 0);
}

TEST(threads_sort_alike)
{
    struct pool *pool = pool_new(3);
    struct slices one = {0}, many = {0};

    for (uint32_t i = 0; i < 150000; i++) {
        uint32_t lane = i * 2654435761u >> 30;
        push(&one, lane, i % 3 * 1000000 + i, i % 7, i); /* three sorted parts */
        push(&many, lane, i % 3 * 1000000 + i, i % 7, i);
    }
    slices_sort_from(&one, 5, NULL);
    slices_sort_from(&many, 5, pool);

    for (size_t i = 0; i < one.n; i++) {
        assert_int_equal(one.name[i], many.name[i]);
        assert_int_equal(one.begin[i], many.begin[i]);
        assert_int_equal(one.dur[i], many.name[i] % 7);
        assert_int_equal(one.lane[i], many.lane[i]);
        if (i > 5 && one.lane[i] == one.lane[i - 1])
            assert_true(one.begin[i - 1] <= one.begin[i]);
    }
    slices_free(&one);
    slices_free(&many);
    pool_free(pool);
}

TEST_MAIN("capture/slices", T(threads_sort_alike), T(the_sort_tells_where_each_slice_went),
          T(slices_are_sorted_by_lane_then_begin_then_longest),
          T(a_long_shuffled_column_comes_out_in_order_with_its_rows_intact),
          T(a_part_is_sorted_without_touching_what_stands_before_it),
          T(no_slice_costs_more_than_forty_bytes))
