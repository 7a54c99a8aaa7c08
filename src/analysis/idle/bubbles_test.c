/* The worked examples of docs/analyses/anomaly.md, and their edges. */
#include "analysis/idle/bubbles.h"

#include "analysis/steps/steps.h"
#include "analysis/testing_study.h"

static void add_on(const char *stream, const char *step, nanos begin, nanos end)
{
    struct attr own = attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, str_of(step)));
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, str_of(stream))};

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = end - begin,
                                       .lane = capture_lane(cap, key),
                                       .own = step != NULL ? attrs_own(&cap->attrs, &own, 1) : 0});
}

static void bubbles_add(const char *step, nanos begin, nanos end)
{
    add_on("2", step, begin, end);
}

static const struct bubbles *bubbles_look(void)
{
    start_study();
    return bubbles_find(&study);
}

/* house: step 0 is 0..100 ms, kernels [2,40) [35,60) [70,95): busy 58 + 25 = 83, idle 17. */
TEST(idle_time_splits_into_prelaunch_internal_and_tail)
{
    add_on("2", "0", 0, 0); /* an empty kernel marks the step's begin and adds no busy time */
    add_on("2", "0", 2 * MS, 40 * MS);
    add_on("3", "0", 35 * MS, 60 * MS);
    add_on("2", "0", 70 * MS, 95 * MS);
    add_on("2", "1", 100 * MS, 190 * MS);
    const struct bubbles *b = bubbles_look();
    const struct step_metrics *m = &b->metrics[0];

    assert_int_equal(study_steps(&study)->n, 2);
    assert_int_equal(m->service, 100 * MS);
    assert_int_equal(m->busy, 83 * MS);
    assert_int_equal(m->underfeed, 17 * MS);
    assert_int_equal(m->prelaunch, 2 * MS);
    assert_int_equal(m->internal, 10 * MS);
    assert_int_equal(m->tail, 5 * MS);
    assert_int_equal(m->prelaunch + m->internal + m->tail, m->underfeed);
    assert_int_equal(m->bubble_count, 1);
    assert_int_equal(m->largest.begin, 60 * MS);
    /* 10 ms is exactly a tenth of the step: heavy. 2 and 5 ms are not. */
    assert_int_equal(m->tags, TAG_DEVICE_IDLE_GAP_HEAVY | TAG_INTERNAL_BUBBLE_HEAVY);
    assert_int_equal(b->inventory[0].kernels, 4);
    assert_int_equal(b->inventory[0].n_streams, 2);
    assert_int_equal(b->metrics[1].underfeed, 0);
}

/* Window [0,30] us, kernels [0,10] [20,25]: busy 15, ratio 0.5, tail 5, internal 10. */
TEST(a_small_window_is_exact)
{
    bubbles_add("0", 0, 10 * US);
    bubbles_add("0", 20 * US, 25 * US);
    bubbles_add("1", 30 * US, 40 * US);
    const struct step_metrics *m = &bubbles_look()->metrics[0];

    assert_int_equal(m->busy, 15 * US);
    assert_true(m->underfeed_ratio == 0.5);
    assert_int_equal(m->tail, 5 * US);
    assert_int_equal(m->internal, 10 * US);
    /* Half idle is over 30 %, but no gap reaches 1 ms. */
    assert_int_equal(m->tags, TAG_DEVICE_IDLE_GAP_HEAVY);
}

/* Service 20 ms, kernels [2,12] [14,18]: three gaps of exactly a tenth, ratio exactly 0.30. */
TEST(exact_hits_of_a_threshold_are_heavy)
{
    bubbles_add("0", 0, 0);
    bubbles_add("0", 2 * MS, 12 * MS);
    bubbles_add("0", 14 * MS, 18 * MS);
    bubbles_add("1", 20 * MS, 40 * MS);
    const struct step_metrics *m = &bubbles_look()->metrics[0];

    assert_int_equal(m->tags, TAG_DEVICE_IDLE_GAP_HEAVY | TAG_PRELAUNCH_GAP_HEAVY |
                                  TAG_TAIL_GAP_HEAVY | TAG_INTERNAL_BUBBLE_HEAVY);
    assert_int_equal(m->underfeed, 6 * MS);
}

TEST(one_nanosecond_less_is_not_heavy)
{
    bubbles_add("0", 0, 0);
    bubbles_add("0", 2 * MS - 1, 18 * MS + 1);
    bubbles_add("1", 20 * MS, 40 * MS);

    assert_int_equal(bubbles_look()->metrics[0].tags, 0);
}

/* Kernels [1,7] and [9.99,10.09] in 10 ms steps: clipped to the border, counted where they begin.
 */
TEST(a_kernel_over_a_border_is_busy_in_both_steps_and_counted_in_the_first)
{
    bubbles_add("0", 0, 0);
    bubbles_add("0", 1 * MS, 7 * MS);
    bubbles_add("0", 9990 * US, 10090 * US);
    bubbles_add("1", 10 * MS, 10 * MS);
    bubbles_add("1", 11 * MS, 17 * MS);
    bubbles_add("2", 20 * MS, 21 * MS);
    const struct bubbles *b = bubbles_look();

    assert_int_equal(b->metrics[0].busy, 6010 * US);
    assert_int_equal(b->metrics[1].prelaunch, 0);
    assert_int_equal(b->metrics[1].busy, 6090 * US);
    assert_int_equal(b->inventory[0].kernels, 3);
    assert_int_equal(b->inventory[1].kernels, 2);
}

TEST(bubbles_are_listed_longest_first_with_their_neighbours)
{
    bubbles_add(NULL, 0, 1 * MS);
    bubbles_add(NULL, 1100 * US, 2 * MS); /* a gap of 100 us: just listed */
    bubbles_add(NULL, 2099 * US, 3 * MS); /* 99 us: not listed */
    bubbles_add(NULL, 5 * MS, 6 * MS);    /* 2 ms */
    const struct bubbles *b = bubbles_look();
    const struct slices *s = &cap->slices;

    assert_int_equal(study_steps(&study)->source, STEPS_PSEUDO);
    assert_int_equal(b->n, 2);
    assert_int_equal(b->list[0].at.begin, 3 * MS);
    assert_int_equal(s->begin[b->list[0].before], 2099 * US);
    assert_int_equal(s->begin[b->list[0].after], 5 * MS);
    assert_int_equal(b->list[1].at.begin, 1 * MS);
    assert_int_equal(b->list[1].ordinal, 0);
    assert_int_equal(b->list[0].ordinal, 1);
    assert_int_equal(b->metrics[0].bubble_count, 3);
    assert_int_equal(b->metrics[0].significant_count, 2);
    assert_int_equal(b->global.largest, 2 * MS);
    assert_int_equal(b->global.n_top, 3);
}

TEST(kernels_before_the_first_step_count_for_the_whole_only)
{
    bubbles_add(NULL, 0, 1 * MS);
    bubbles_add("7", 3 * MS, 4 * MS);
    const struct bubbles *b = bubbles_look();

    assert_int_equal(study_steps(&study)->kernels_before_first, 1);
    assert_int_equal(study_steps(&study)->at[0].number, 7);
    assert_int_equal(b->inventory[0].kernels, 1);
    assert_int_equal(b->global.span.begin, 0);
    assert_int_equal(b->global.gap, 2 * MS);
    assert_int_equal(b->metrics[0].service, 1 * MS);
}

TEST(a_capture_without_kernels_has_no_step)
{
    const struct bubbles *b = bubbles_look();

    assert_int_equal(study_steps(&study)->n, 0);
    assert_int_equal(b->n, 0);
    assert_int_equal(b->global.busy, 0);
}

TEST(times_at_the_ends_of_the_clock_do_not_wrap)
{
    bubbles_add(NULL, INT64_MIN, INT64_MIN + 1);
    bubbles_add(NULL, INT64_MAX - 1, INT64_MAX);
    const struct bubbles *b = bubbles_look();

    assert_int_equal(b->metrics[0].service, NANOS_LATEST - NANOS_EARLIEST); /* clamped */
    assert_int_equal(b->n, 1);
}

TEST_MAIN("analysis/idle/bubbles", CASE(idle_time_splits_into_prelaunch_internal_and_tail),
          CASE(a_small_window_is_exact), CASE(exact_hits_of_a_threshold_are_heavy),
          CASE(one_nanosecond_less_is_not_heavy),
          CASE(a_kernel_over_a_border_is_busy_in_both_steps_and_counted_in_the_first),
          CASE(bubbles_are_listed_longest_first_with_their_neighbours),
          CASE(kernels_before_the_first_step_count_for_the_whole_only),
          CASE(a_capture_without_kernels_has_no_step),
          CASE(times_at_the_ends_of_the_clock_do_not_wrap))
