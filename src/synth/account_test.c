#include "synth/account.h"

#include "base/testing.h"

TEST(touching_and_overlapping_spans_become_one)
{
    const struct account_span spans[] = {
        {0, 10, 1}, {10, 20, 1}, {15, 30, 1}, {40, 50, 1}, {45, 45, 1}};
    struct spans out = {0};

    account_sweep(spans, ARRAY_LEN(spans), 1, 0, &out);
    assert_int_equal(out.list.n, 2);
    assert_int_equal(out.list.at[0].begin, 0);
    assert_int_equal(out.list.at[0].end, 30);
    assert_int_equal(account_length(&out), 40);
    assert_int_equal(account_length_in(&out, 25, 42), 7);
    vec_free(&out.list);
}

TEST(what_another_set_covers_is_left_out)
{
    const struct account_span spans[] = {{0, 100, 2}, {10, 20, 1}, {20, 30, 1}, {90, 120, 1}};
    struct spans out = {0};

    account_sweep(spans, ARRAY_LEN(spans), 2, 1, &out);
    assert_int_equal(out.list.n, 2);
    assert_int_equal(account_length(&out), 10 + 60);
    vec_free(&out.list);
}

TEST(idle_time_is_what_comes_before_between_and_after)
{
    /* 20 ms with work in [2,12) and [14,18) ms: every gap is exactly a tenth, so all are heavy. */
    struct spans work = {0};
    vec_push(&work.list, ((struct account_span){2000000, 12000000, 1}));
    vec_push(&work.list, ((struct account_span){14000000, 18000000, 1}));
    struct account_window w = account_window(&work, 0, 20000000);

    assert_int_equal(w.busy, 14000000);
    assert_int_equal(w.underfeed, 6000000);
    assert_int_equal(w.prelaunch, 2000000);
    assert_int_equal(w.internal, 2000000);
    assert_int_equal(w.tail, 2000000);
    assert_int_equal(w.bubbles, 1);
    assert_int_equal(w.significant, 3);
    assert_int_equal(account_tags(&w), TAG_IDLE | TAG_PRELAUNCH | TAG_TAIL | TAG_INTERNAL);
    struct account_span gap;
    assert_true(account_gap(&work, 0, 20000000, 13000000, &gap));
    assert_int_equal(gap.begin, 12000000);
    assert_int_equal(gap.end, 14000000);
    assert_false(account_gap(&work, 0, 20000000, 3000000, &gap));
    vec_free(&work.list);
}

TEST(a_window_without_work_is_all_prelaunch)
{
    struct spans none = {0};
    struct account_window w = account_window(&none, 5, 25);

    assert_int_equal(w.prelaunch, 20);
    assert_int_equal(w.tail, 0);
    assert_int_equal(w.underfeed, 20);
    assert_int_equal(w.bubbles, 0);
}

TEST_MAIN("synth/account", T(touching_and_overlapping_spans_become_one),
          T(what_another_set_covers_is_left_out),
          T(idle_time_is_what_comes_before_between_and_after),
          T(a_window_without_work_is_all_prelaunch))
