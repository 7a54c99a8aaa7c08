#include "gpu/timeline_testing.h"

static const struct interval all = {0, 0};

static struct str filler(const struct timeline_scene *s, size_t i)
{
    return capture_text(s->cap, s->cap->slices.name[s->d->gaps.at.at[i].filled_by]);
}

static nanos sum_of_causes(const struct timeline_device *d)
{
    nanos sum = 0;

    for (size_t i = 0; i < GAP_CAUSES; i++)
        sum += d->gaps.total[i];
    return sum;
}

/* One gap from 2000 to 10000: the host waits from 3000 to 9000, the rest is launching. */
TEST(a_gap_comes_in_pieces_with_a_cause_each)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 1000, 2000);
    scene_call(&s, "cudaStreamSynchronize", 3000, 9000);
    scene_launch(&s, 9500, 9600, "7", 10000, 11000);
    scene_of_test(&s, all);
    assert_int_equal(s.d->gaps.all.n, 1);
    assert_int_equal(s.d->gaps.all.sum, 8000);
    assert_int_equal(s.d->gaps.band[1], 1);
    assert_int_equal(s.d->gaps.total[CAUSE_SYNC], 6000);
    assert_int_equal(s.d->gaps.count[CAUSE_SYNC], 1);
    assert_int_equal(sum_of_causes(s.d), 8000);
    for (size_t i = 0; i < s.d->gaps.at.n; i++)
        if (s.d->gaps.at.at[i].cause == CAUSE_SYNC)
            assert_true(str_equal(filler(&s, i), S("cudaStreamSynchronize")));
    scene_end(&s);
}

/* The list is that of the study: what `strata query` calls gaps. */
TEST(pieces_are_those_of_the_study)
{
    struct timeline_scene s;

    scene_begin(&s);
    for (nanos i = 0; i < 20; i++)
        scene_launch(&s, 1000 * i, 1000 * i + 500, i % 2 == 0 ? "7" : "8", 1700 * i + 600,
                     1700 * i + 1000 + 40 * i);
    scene_of_test(&s, all);
    const struct accounting *a = s.d->account;
    assert_true(a->pieces.n > 5);
    assert_int_equal(s.d->gaps.at.n, a->pieces.n);
    for (size_t i = 0; i < a->pieces.n; i++) {
        assert_int_equal(s.d->gaps.at.at[i].begin, a->pieces.at[i].at.begin);
        assert_int_equal(s.d->gaps.at.at[i].end, a->pieces.at[i].at.end);
        assert_int_equal(s.d->gaps.at.at[i].cause, a->pieces.at[i].cause);
    }
    assert_int_equal(sum_of_causes(s.d), s.d->window.end - s.d->window.begin - s.d->busy);
    scene_end(&s);
}

TEST(a_piece_knows_the_work_around_it)
{
    struct timeline_scene s;

    scene_begin(&s);
    uint32_t first = scene_kernel(&s, "7", "a", 0, 100);
    uint32_t longest = scene_kernel(&s, "8", "b", 10, 200);
    scene_kernel(&s, "7", "c", 110, 120);
    uint32_t next = scene_kernel(&s, "7", "d", 300, 400);
    scene_of_test(&s, all);
    (void)first;
    assert_int_equal(s.d->gaps.at.n, 1);
    assert_true(s.cap->slices.begin[s.d->gaps.at.at[0].prev] == 10);
    assert_true(s.cap->slices.begin[s.d->gaps.at.at[0].next] == 300);
    assert_true(longest != next);
    scene_end(&s);
}

TEST(time_outside_of_all_steps_has_no_cause)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 100, 200); /* before the first mark */
    scene_launch(&s, 20, 30, "7", 400, 500);
    for (nanos i = 0; i < 3; i++) {
        nanos at = 1000 + 1000 * i;
        struct mark mark = {
            .source = MARK_PROFILER_STEP, .number = i, .begin = at, .end = at + 1000};
        scene_launch(&s, at + 100, at + 110, "7", at + 200, at + 900);
        vec_push(&s.cap->marks, mark);
    }
    scene_of_test(&s, all);
    assert_int_equal(s.d->gaps.total[GAP_OUTSIDE], 200 + 500);
    assert_int_equal(s.d->gaps.count[GAP_OUTSIDE], 2);
    assert_int_equal(s.d->window.begin, 100);
    assert_int_equal(sum_of_causes(s.d), s.d->window.end - s.d->window.begin - s.d->busy);
    scene_end(&s);
}

TEST(a_window_cuts_pieces)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "a", 0, 100);
    scene_kernel(&s, "7", "b", 1100, 1200);
    scene_kernel(&s, "7", "c", 2200, 2300);
    scene_of_test(&s, (struct interval){600, 1700});
    assert_int_equal(s.d->gaps.all.n, 2);
    assert_int_equal(s.d->gaps.all.sum, 500 + 500);
    assert_int_equal(s.d->gaps.total[CAUSE_UNKNOWN], 1000); /* no launch is recorded */
    scene_end(&s);
}

TEST_MAIN("gpu/timeline/timeline_gaps", T(a_gap_comes_in_pieces_with_a_cause_each),
          T(pieces_are_those_of_the_study), T(a_piece_knows_the_work_around_it),
          T(time_outside_of_all_steps_has_no_cause), T(a_window_cuts_pieces))
