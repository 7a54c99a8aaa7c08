#include "report/limits.h"

#include "base/testing.h"

static struct limit_list limits_sample(void)
{
    struct limit_list l = {.total = 1000};

    limits_add(&l, LIMIT_READ, 500);
    limits_add(&l, LIMIT_VECTOR, 300);
    limits_add(&l, LIMIT_LATENCY, 150);
    limits_add(&l, LIMIT_LATENCY, 50);
    limits_add(&l, LIMIT_WRITE, 0);
    return l;
}

TEST(what_cannot_win_is_not_tried)
{
    struct limit_list l = limits_sample();

    assert_int_equal(l.n, 3);
    assert_int_equal(limits_next(&l, false), LIMIT_READ);
    limits_try(&l, LIMIT_READ, 600);
    assert_int_equal(limits_next(&l, false), LIMIT_NOTHING);
    assert_int_equal(limits_next(&l, true), LIMIT_VECTOR);
    limits_judge(&l);
    assert_int_equal(l.bound, LIMIT_READ);
    assert_float_equal(limits_first(&l)->saved_share, 0.4, 1e-9);
    assert_float_equal(limits_first(&l)->path_share, 0.5, 1e-9);
}

TEST(the_largest_saving_wins_not_the_largest_part)
{
    struct limit_list l = limits_sample();

    limits_try(&l, LIMIT_READ, 900);
    assert_int_equal(limits_next(&l, false), LIMIT_VECTOR);
    limits_try(&l, LIMIT_VECTOR, 750);
    limits_judge(&l);
    assert_int_equal(l.bound, LIMIT_VECTOR);
}

TEST(waits_are_tried_whatever_their_part)
{
    struct limit_list l = limits_sample();

    limits_add(&l, LIMIT_BUFFERS, 1);
    assert_int_equal(limits_next(&l, false), LIMIT_BUFFERS);
    limits_try(&l, LIMIT_BUFFERS, 400);
    assert_int_equal(limits_next(&l, false), LIMIT_NOTHING);
}

TEST(savings_of_nothing_are_a_balance)
{
    struct arena arena;
    struct limit_list l = limits_sample(), none = {.total = 10};

    arena_init(&arena);
    limits_try(&l, LIMIT_READ, 995);
    limits_try(&l, LIMIT_VECTOR, 1010); /* never below zero */
    limits_try(&l, LIMIT_LATENCY, 1000);
    limits_judge(&l);
    assert_int_equal(l.bound, LIMIT_BALANCE);
    assert_null(limits_first(&l));
    assert_str(limits_text(&l, LANG_EN, &arena),
               "bound by balance: several resources are equally long: relieve them together");
    assert_int_equal(limits_others(&l, LANG_EN, &arena).n, 0);
    limits_judge(&none);
    assert_int_equal(none.bound, LIMIT_NOTHING);
    arena_free(&arena);
}

TEST(the_sentence_has_both_numbers_and_names_the_next)
{
    struct arena arena;
    struct limit_list l = limits_sample();

    arena_init(&arena);
    limits_try(&l, LIMIT_READ, 600);
    limits_try(&l, LIMIT_VECTOR, 800);
    limits_judge(&l);
    assert_str(limits_text(&l, LANG_EN, &arena),
               "bound by read: 50.0 % of the critical path, 40.0 % less time if it were free");
    assert_str(limits_others(&l, LANG_EN, &arena), "vector 20.0 %");
    arena_free(&arena);
}

TEST_MAIN("report/limits", T(what_cannot_win_is_not_tried),
          T(the_largest_saving_wins_not_the_largest_part), T(waits_are_tried_whatever_their_part),
          T(savings_of_nothing_are_a_balance), T(the_sentence_has_both_numbers_and_names_the_next))
