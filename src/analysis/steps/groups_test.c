#include "analysis/steps/groups.h"

#include <math.h>

#include "analysis/idle/bubbles.h"
#include "analysis/steps/boundary.h"
#include "analysis/testing_study.h"

static void groups_add(char step, const char *name, const char *shape, nanos begin, nanos dur)
{
    struct lane_key key = {.kind = LANE_STREAM};
    struct attr set =
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, str_of(shape)));
    struct attr own =
        attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, (struct str){&step, 1}));

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, str_of(name)),
                                       .set = attrs_set(&cap->attrs, &set, 1),
                                       .own = attrs_own(&cap->attrs, &own, 1)});
}

static const struct groups *groups_look(void)
{
    start_study();
    return study_groups(&study);
}

TEST(order_statistics_are_interpolated)
{
    double values[] = {40, 10, 30, 20};
    struct spread s = spread_of(values, 4);

    assert_true(s.avg == 25);
    assert_true(s.median == 25);
    assert_true(s.p90 == 37); /* position 2.7: 30 + 0.7 * 10 */
    assert_true(s.p95 == 38.5);
    assert_true(spread_of(values, 1).p95 == 10);
    assert_true(spread_of(values, 0).avg == 0);
}

TEST(idle_habits_have_names)
{
    assert_int_equal(idle_pattern_raw(1, 1, 1), IDLE_PRELAUNCH);
    assert_int_equal(idle_pattern_raw(0, 2, 1), IDLE_TAIL);
    assert_int_equal(idle_pattern_raw(0, 0, 0), IDLE_NONE);
    assert_int_equal(idle_pattern_of(1000, 9, 5, 2), IDLE_NONE); /* below 1 % of the step */
    assert_int_equal(idle_pattern_of(100, 30, 10, 10), IDLE_INTER_STEP);
    assert_int_equal(idle_pattern_of(100, 40, 5, 1), IDLE_PRELAUNCH); /* the tail is no fifth */
    assert_int_equal(idle_pattern_of(100, 8, 1, 10), IDLE_MIXED);
    assert_int_equal(idle_pattern_of(100, 7.9, 1, 10), IDLE_INTERNAL);
    assert_string_equal(idle_pattern_name(IDLE_INTERNAL), "internal_bubble");
}

/* Three decode steps of two operators and one prefill of another kind. */
TEST(steps_of_one_template_form_a_group)
{
    groups_add('0', "Mm", "1", 0, 4 * MS);
    groups_add('0', "Add", "1", 6 * MS, 1 * MS);
    groups_add('1', "Pre", "1", 10 * MS, 20 * MS);
    groups_add('2', "Mm", "1", 30 * MS, 4 * MS);
    groups_add('2', "Add", "2", 36 * MS, 1 * MS);
    groups_add('3', "Mm", "1", 40 * MS, 4 * MS);
    groups_add('3', "Add", "1", 46 * MS, 4 * MS);
    const struct groups *g = groups_look();

    assert_int_equal(g->n, 2);
    assert_int_equal(g->at[0].n, 3); /* 30 ms in all, against 20 */
    assert_int_equal(g->dominant, 0);
    assert_int_equal(g->of_step[1], 1);
    assert_true(g->at[0].has_bubbles && g->at[0].is_stable);
    assert_true(g->at[0].has_shape_variants);
    assert_false(g->at[1].has_bubbles);
    assert_true(g->at[0].metrics[GROUP_SERVICE].avg == 10 * MS);
}

/* Windows [0, 100), [100, 110) and [110, 210): 50, 9 and 50 idle. */
TEST(shares_are_ratios_of_sums)
{
    nanos idle = 0, time = 0;
    double mean = 0;

    for (int i = 0; i < 3; i++) {
        static const nanos begins[] = {0, 100, 110}, lasts[] = {99, 109, 209};
        groups_add((char)('0' + i), "Mm", "1", begins[i] * MS, (i == 1 ? 1 : 49) * MS / 2);
        groups_add((char)('0' + i), "Add", "1", lasts[i] * MS, MS);
    }
    const struct group *g = &groups_look()->at[0];
    const struct bubbles *b = study_bubbles(&study);
    size_t counted[3], n = group_counted_steps(&study, g, counted);
    for (size_t i = 0; i < n; i++) {
        idle += b->metrics[counted[i]].underfeed;
        time += b->metrics[counted[i]].service;
        mean += b->metrics[counted[i]].underfeed_ratio / (double)n;
    }
    assert_true(n >= 2);
    assert_true(fabs(g->underfeed_of_sums - (double)idle / (double)time) < 1e-12);
    assert_true(fabs(g->metrics[GROUP_UNDERFEED_RATIO].avg - mean) < 1e-12);
    assert_true(fabs(mean - g->underfeed_of_sums) > 0.01);
}

TEST(gaps_that_wander_are_no_habit)
{
    groups_add('0', "A", "", 0, 1 * MS);
    groups_add('0', "B", "", 8 * MS, 1 * MS); /* gap [1,8) */
    groups_add('0', "A", "", 9 * MS, 1 * MS);
    groups_add('1', "A", "", 10 * MS, 1 * MS);
    groups_add('1', "B", "", 11 * MS, 1 * MS);
    groups_add('1', "A", "", 19 * MS, 1 * MS); /* gap [12,19) */
    const struct groups *g = groups_look();

    assert_int_equal(g->n, 1);
    assert_true(g->at[0].has_bubbles);
    assert_false(g->at[0].is_stable); /* midpoints 0.45 and 0.55; neighbours A-B and B-A */
}

TEST(a_short_last_step_is_partial)
{
    for (int i = 0; i < 10; i++) {
        groups_add('0', "A", "", i * MS, MS);
        groups_add('1', "A", "", (10 + i) * MS, MS);
    }
    for (int i = 0; i < 7; i++)
        groups_add('2', "A", "", (20 + i) * MS, MS);
    groups_look();
    const struct boundary *edge = study_boundary(&study);

    assert_false(edge->is_partial[0]);
    assert_false(edge->is_partial[1]);
    assert_true(edge->is_partial[2]); /* 7 is below 80 % of 10 */
}

TEST(a_gap_at_the_end_of_the_recording_is_the_recordings)
{
    groups_add('0', "A", "", 0, MS);
    groups_add('0', "A", "", 500 * MS, MS); /* a gap in the middle */
    groups_add('1', "A", "", 1000 * MS, 0);
    groups_add('1', "A", "", 1600 * MS, 400 * MS); /* the step begins with a gap of 600 ms */
    groups_look();
    const struct bubbles *b = study_bubbles(&study);
    const struct boundary *edge = study_boundary(&study);

    assert_int_equal(edge->epsilon, 1 * MS);
    for (size_t i = 0; i < b->n; i++)
        assert_false(edge->is_bubble[i] && b->list[i].at.begin == 1000 * MS);
    /* [1, 500) begins within 1 ms of the start. */
    assert_true(edge->is_partial[0]);
}

TEST_MAIN("analysis/steps/groups", T(order_statistics_are_interpolated), T(idle_habits_have_names),
          CASE(steps_of_one_template_form_a_group), CASE(shares_are_ratios_of_sums),
          CASE(gaps_that_wander_are_no_habit), CASE(a_short_last_step_is_partial),
          CASE(a_gap_at_the_end_of_the_recording_is_the_recordings))
