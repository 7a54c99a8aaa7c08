#include "capture/attrs.h"

#include "base/testing.h"

TEST(equal_sets_are_stored_once)
{
    struct attrs a;
    struct attr one[] = {attr_text(1, 7), attr_int(2, -5)};
    struct attr other[] = {attr_text(1, 7), attr_int(2, -6)};

    attrs_init(&a);
    attr_run first = attrs_set(&a, one, 2);
    attr_run second = attrs_set(&a, other, 2);

    assert_int_not_equal(first, 0);
    assert_int_not_equal(first, second);
    assert_int_equal(attrs_set(&a, one, 2), first);
    assert_int_equal(attrs_set(&a, other, 2), second);
    assert_int_not_equal(attrs_set(&a, one, 1), first); /* a prefix is another set */
    attrs_fini(&a);
}

TEST(own_runs_are_never_shared)
{
    struct attrs a;
    struct attr wait = attr_time(3, 1500);

    attrs_init(&a);
    attr_run first = attrs_own(&a, &wait, 1);

    assert_int_not_equal(attrs_own(&a, &wait, 1), first);
    assert_int_equal(attrs_get(&a, first, 3).time, 1500);
    assert_int_equal(attrs_get(&a, first, 4).type, ATTR_NONE);
    attrs_fini(&a);
}

TEST(the_empty_run_has_no_attribute)
{
    struct attrs a;

    attrs_init(&a);

    assert_int_equal(attrs_set(&a, NULL, 0), 0);
    assert_int_equal(attrs_own(&a, NULL, 0), 0);
    assert_int_equal(attrs_get(&a, 0, 1).type, ATTR_NONE);
    attrs_fini(&a);
}

TEST(thousands_of_sets_keep_their_numbers)
{
    struct attrs a;
    attr_run runs[5000];

    attrs_init(&a);
    for (int i = 0; i < 5000; i++) {
        struct attr list[] = {attr_text(1, (strid)(i % 70)), attr_int(2, i / 70)};
        runs[i] = attrs_set(&a, list, 2);
    }
    for (int i = 0; i < 5000; i++) {
        struct attr list[] = {attr_text(1, (strid)(i % 70)), attr_int(2, i / 70)};
        assert_int_equal(attrs_set(&a, list, 2), runs[i]);
        assert_int_equal(attrs_get(&a, runs[i], 1).text, i % 70);
    }
    attrs_fini(&a);
}

TEST(a_new_set_is_found_again)
{
    struct attrs a;
    struct attr one[] = {attr_text(1, 10), attr_text(2, 12)};
    struct attr other[] = {attr_text(1, 11), attr_text(2, 12)};
    struct attr newer[] = {attr_text(1, 40), attr_text(2, 12)};
    struct attr numbers[] = {attr_int(1, 7)};

    attrs_init(&a);
    attr_run first = attrs_set_new(&a, one, 2);
    attr_run last = attrs_set_new(&a, newer, 2);
    assert_int_not_equal(first, last);
    assert_int_equal(attrs_get(&a, last, 1).text, 40);
    assert_int_equal(attrs_set(&a, one, 2), first);
    assert_int_equal(attrs_set(&a, newer, 2), last);
    assert_int_equal(attrs_set_new(&a, one, 2), first); /* it was not new after all */
    attr_run third = attrs_set(&a, other, 2);           /* has the newest text of the first */
    assert_int_not_equal(third, first);
    assert_int_equal(attrs_set(&a, other, 2), third);
    assert_int_equal(attrs_set_new(&a, numbers, 1), attrs_set(&a, numbers, 1));
    attrs_clear(&a);
    assert_int_equal(attrs_set(&a, newer, 2), attrs_set(&a, newer, 2));
    assert_int_equal(attrs_get(&a, attrs_set(&a, newer, 2), 1).text, 40);
    attrs_fini(&a);
}

TEST(values_come_back_as_they_were_put)
{
    struct attrs a;
    struct attr list[] = {
        attr_int(1, INT64_MIN),   attr_int(2, INT64_MAX), attr_real(3, -0.1),
        attr_text(4, UINT32_MAX), attr_time(5, -1),       attr_int(6, 4294967295),
    };
    struct attr got;
    size_t n = 0;

    attrs_init(&a);
    attr_run run = attrs_own(&a, list, 6);
    struct attr_walk walk = attrs_walk(&a, run);
    for (; attrs_next(&walk, &got); n++) {
        assert_int_equal(got.key, list[n].key);
        assert_int_equal(got.type, list[n].type);
        assert_true(got.bits == list[n].bits);
    }
    assert_int_equal(n, 6);
    assert_true(attrs_get(&a, run, 3).real == -0.1);
    assert_true(attrs_has_text(&a, 4));
    assert_false(attrs_has_text(&a, 5));
    attrs_fini(&a);
}

TEST(a_small_number_costs_two_bytes)
{
    struct attrs a;
    struct attr task = attr_int(1, 17);

    attrs_init(&a);
    attr_run first = attrs_own(&a, &task, 1);

    assert_int_equal(attrs_own(&a, &task, 1) - first, 2);
    attrs_fini(&a);
}

TEST(runs_move_to_another_store_with_new_text_numbers)
{
    struct attrs from, to;
    const strid strings[] = {0, 30, 20, 10};
    struct attr_map map = {.strings = strings};
    struct attr one = attr_int(9, 1), list[] = {attr_text(1, 2), attr_int(3, -70000)};

    attrs_init(&from);
    attrs_init(&to);
    attrs_own(&to, &one, 1); /* so that the shapes have other numbers there */
    attr_run run = attrs_copy_own(&to, &from, attrs_own(&from, list, 2), &map);

    assert_int_equal(attrs_get(&to, run, 30).text, 20);
    assert_int_equal(attrs_get(&to, run, 10).number, -70000);
    assert_int_equal(attrs_copy_own(&to, &from, 0, &map), 0);
    vec_free(&map.shapes);
    attrs_fini(&from);
    attrs_fini(&to);
}

TEST(a_cleared_store_is_empty_and_usable)
{
    struct attrs a;
    struct attr one = attr_int(1, 1), two = attr_int(2, 2);

    attrs_init(&a);
    attrs_set(&a, &one, 1);
    attr_run first = attrs_set(&a, &one, 1);
    attrs_clear(&a);

    assert_int_equal(attrs_set(&a, &two, 1), first);
    assert_int_equal(attrs_get(&a, first, 2).number, 2);
    attrs_fini(&a);
}

TEST(runs_go_and_shapes_stay)
{
    struct attrs a;
    struct attr one = attr_int(1, 1), two[] = {attr_int(2, 2), attr_int(3, 4)};

    attrs_init(&a);
    attr_run first = attrs_set(&a, &one, 1);
    attrs_own(&a, two, 2);
    size_t shapes = a.shapes.n;
    attrs_clear_runs(&a);

    assert_int_equal(attrs_own(&a, two, 2), first);
    assert_int_equal(attrs_get(&a, first, 3).number, 4);
    attr_run again = attrs_set(&a, &one, 1);
    assert_int_equal(attrs_get(&a, again, 1).number, 1);
    assert_int_equal(a.shapes.n, shapes);
    attrs_fini(&a);
}

TEST_MAIN("capture/attrs", T(runs_go_and_shapes_stay), T(values_come_back_as_they_were_put),
          T(a_small_number_costs_two_bytes), T(runs_move_to_another_store_with_new_text_numbers),
          T(a_cleared_store_is_empty_and_usable), T(equal_sets_are_stored_once),
          T(own_runs_are_never_shared), T(the_empty_run_has_no_attribute),
          T(thousands_of_sets_keep_their_numbers), T(a_new_set_is_found_again))
