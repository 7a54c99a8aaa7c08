#include "input/ascend/kernel_index.h"

#include "base/testing_arena.h"
#include "capture/capture.h"

static void kernel_index_add(struct capture *cap, const char *name, nanos begin,
                             enum slice_kind kind)
{
    struct lane_key key = {.kind = LANE_STREAM};

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, str_of(name)),
                                       .kind = kind});
}

TEST(a_kernel_is_found_within_two_nanoseconds)
{
    struct capture *cap = capture_new();
    uint32_t found;

    kernel_index_add(cap, "a", 1000, SLICE_COMPUTE);
    kernel_index_add(cap, "b", 1000, SLICE_COMM);
    kernel_index_add(cap, "a", 1004, SLICE_COMPUTE);
    kernel_index_add(cap, "wait", 1000, SLICE_WAIT);
    struct kernel_index *x = kernel_index_build(cap, &arena);
    strid a = capture_intern(cap, S("a")), b = capture_intern(cap, S("b"));
    strid wait = capture_intern(cap, S("wait"));

    for (nanos away = -2; away <= 1; away++) {
        assert_true(kernel_index_find(x, a, 1000 + away, &found));
        assert_int_equal(found, 0);
    }
    assert_true(kernel_index_find(x, a, 1002, &found)); /* between two: the first */
    assert_int_equal(found, 0);
    assert_true(kernel_index_find(x, a, 1006, &found));
    assert_int_equal(found, 2);
    assert_false(kernel_index_find(x, a, 997, &found));
    assert_false(kernel_index_find(x, a, 1007, &found));
    assert_true(kernel_index_find(x, b, 1001, &found));
    assert_int_equal(found, 1);
    assert_false(kernel_index_find(x, wait, 1000, &found));
    capture_free(cap);
}

TEST(borders_between_units_and_the_ends_of_time_are_no_obstacle)
{
    struct capture *cap = capture_new();
    uint32_t found;

    for (nanos t = -20; t <= 20; t += 5)
        kernel_index_add(cap, "k", t, SLICE_COMPUTE);
    kernel_index_add(cap, "k", INT64_MIN, SLICE_COMPUTE);
    kernel_index_add(cap, "k", INT64_MAX, SLICE_COMPUTE);
    struct kernel_index *x = kernel_index_build(cap, &arena);
    strid k = capture_intern(cap, S("k"));

    for (nanos t = -22; t <= 22; t++) {
        assert_true(kernel_index_find(x, k, t, &found));
        assert_in_range(cap->slices.begin[found] - t + 2, 0, 4);
    }
    assert_true(kernel_index_find(x, k, INT64_MIN + 1, &found));
    assert_true(kernel_index_find(x, k, INT64_MAX - 1, &found));
    capture_free(cap);
}

TEST_MAIN("input/ascend/kernel_index", TA(a_kernel_is_found_within_two_nanoseconds),
          TA(borders_between_units_and_the_ends_of_time_are_no_obstacle))
