#include "base/tables/vec.h"

#include "base/testing.h"

struct numbers {
    VEC_OF(int) v;
};

TEST(an_empty_vec_owns_nothing)
{
    struct numbers x = {0};

    assert_null(x.v.at);
    vec_free(&x.v);
    assert_int_equal(x.v.n, 0);
}

TEST(pushed_elements_keep_their_order)
{
    struct numbers x = {0};

    for (int i = 0; i < 100000; i++)
        vec_push(&x.v, i);
    assert_int_equal(x.v.n, 100000);
    assert_true(x.v.cap >= x.v.n);
    assert_true(x.v.cap < 2 * x.v.n);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(x.v.at[i], i);
    vec_free(&x.v);
    assert_null(x.v.at);
    assert_int_equal(x.v.cap, 0);
}

TEST(reserving_makes_room_once)
{
    struct numbers x = {0};

    vec_reserve(&x.v, 1000);
    assert_true(x.v.cap >= 1000);
    assert_int_equal(x.v.n, 0);
    int *before = x.v.at;
    for (int i = 0; i < 1000; i++)
        vec_push(&x.v, i);
    assert_ptr_equal(x.v.at, before);
    size_t cap = x.v.cap;
    vec_reserve(&x.v, 10); /* never shrinks */
    assert_int_equal(x.v.cap, cap);
    vec_free(&x.v);
}

TEST(an_element_can_be_pushed_again)
{
    struct numbers x = {0};

    vec_push(&x.v, 7);
    for (int i = 0; i < 100; i++)
        vec_push(&x.v, x.v.at[0]); /* read after the array moved */
    assert_int_equal(x.v.at[100], 7);
    vec_free(&x.v);
}

struct pair {
    int a, b;
};

TEST(structs_are_pushed_by_value)
{
    struct {
        VEC_OF(struct pair) v;
    } x = {0};

    vec_push(&x.v, ((struct pair){1, 2}));
    vec_push(&x.v, ((struct pair){3, 4}));
    assert_int_equal(x.v.at[1].b, 4);
    vec_free(&x.v);
}

TEST_MAIN("base/tables/vec", T(an_empty_vec_owns_nothing), T(pushed_elements_keep_their_order),
          T(reserving_makes_room_once), T(an_element_can_be_pushed_again),
          T(structs_are_pushed_by_value))
