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
    assert_int_equal(attrs_get(&a, first, 3)->time, 1500);
    assert_null(attrs_get(&a, first, 4));
    attrs_fini(&a);
}

TEST(the_empty_run_has_no_attribute)
{
    struct attrs a;

    attrs_init(&a);

    assert_int_equal(attrs_set(&a, NULL, 0), 0);
    assert_int_equal(attrs_own(&a, NULL, 0), 0);
    assert_null(attrs_get(&a, 0, 1));
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
        assert_int_equal(attrs_get(&a, runs[i], 1)->text, i % 70);
    }
    attrs_fini(&a);
}

TEST_MAIN("capture/attrs", T(equal_sets_are_stored_once), T(own_runs_are_never_shared),
          T(the_empty_run_has_no_attribute), T(thousands_of_sets_keep_their_numbers))
