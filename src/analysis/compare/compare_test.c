#include "analysis/compare/compare.h"

#include <math.h>

#include "analysis/study.h"
#include "base/testing_arena.h"

enum { US = 1000, MS = 1000000 };

static struct capture *caps[SIDES];
static struct study studies[SIDES];

static int compare_fresh(void **state)
{
    for (int i = 0; i < SIDES; i++)
        caps[i] = capture_new();
    return arena_enter(state);
}

static int compare_done(void **state)
{
    for (int i = 0; i < SIDES; i++) {
        study_end(&studies[i]);
        capture_free(caps[i]);
    }
    return arena_leave(state);
}

static void compare_add(enum side side, int step, const char *name, enum slice_kind kind,
                        nanos begin, nanos dur)
{
    struct capture *cap = caps[side];
    struct lane_key key = {.kind = LANE_STREAM};
    char digit = (char)('0' + step);
    struct attr own =
        attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, (struct str){&digit, 1}));

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, str_of(name)),
                                       .own = attrs_own(&cap->attrs, &own, 1),
                                       .kind = kind});
}

/* A step of 10 ms: Mm at once for `mm`, then AllReduce for 1 ms from 5 ms on. */
static void add_step(enum side side, int step, nanos mm)
{
    nanos begin = (nanos)step * 10 * MS;

    compare_add(side, step, "Mm", SLICE_COMPUTE, begin, mm);
    compare_add(side, step, "AllReduce", SLICE_COMM, begin + 5 * MS, MS);
}

static const struct comparison *compare_look(void)
{
    for (int i = 0; i < SIDES; i++) {
        capture_seal(caps[i]);
        study_begin(&studies[i], caps[i], study_defaults());
        compare_prepare(&studies[i]);
    }
    return compare_find(&studies[SIDE_A], &studies[SIDE_B], compare_defaults(), &arena);
}

TEST(a_capture_equals_itself)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < 5; i++)
            add_step((enum side)side, i, 2 * MS + i);
    const struct comparison *c = compare_look();

    assert_int_equal(c->n_groups, 1);
    assert_int_equal(c->n_unmatched[SIDE_A] + c->n_unmatched[SIDE_B], 0);
    assert_true(c->relative == 0);
    assert_true(c->groups[0].is_same_work && c->groups[0].is_judged);
    for (int m = 0; m < COMPARE_METRICS; m++) {
        assert_true(c->groups[0].metrics[m].delta == 0);
        assert_int_equal(c->groups[0].metrics[m].kind, CHANGE_NONE);
    }
    assert_null(compare_gate(c, SIZE_MAX, COMPARE_SERVICE, 0));
}

/* Mm takes 2.00 to 2.04 ms in A and 3.00 to 3.04 ms in B: medians 2.02 and 3.02, half of the
 * distances from them are at most 10 us. The last step ends with its AllReduce, after 6 ms. */
TEST(a_slower_operator_is_found_with_its_size)
{
    for (int i = 0; i < 5; i++) {
        add_step(SIDE_A, i, 2 * MS + i * 10 * US);
        add_step(SIDE_B, i, 3 * MS + i * 10 * US);
    }
    const struct compare_group *g = &compare_look()->groups[0];
    const struct change *busy = &g->metrics[COMPARE_BUSY];

    assert_int_equal(g->n_ops, 2);
    assert_str(g->ops[0].key, "Mm");
    assert_true(g->ops[0].change.median[SIDE_A] == 2.02 * MS);
    assert_true(g->ops[0].change.delta == MS);
    assert_int_equal(g->ops[0].change.kind, CHANGE_MORE);
    assert_true(fabs(g->ops[0].change.spread[SIDE_A] - 14826) < 1e-6);
    assert_int_equal(g->ops[0].calls[SIDE_A], 5);
    assert_int_equal(g->ops[0].total[SIDE_B], 15100 * US);
    assert_int_equal(g->ops[1].change.kind, CHANGE_NONE);
    assert_int_equal(busy->kind, CHANGE_MORE);
    assert_true(busy->median[SIDE_A] == 3.02 * MS); /* with 1 ms of AllReduce */
    assert_true(fabs(busy->p - 2.0 / 252) < 1e-12); /* C(10, 5) orders */
    assert_true(g->metrics[COMPARE_COMM].median[SIDE_B] == MS);
    assert_int_equal(g->metrics[COMPARE_INTERNAL].kind, CHANGE_LESS);
    assert_int_equal(g->metrics[COMPARE_SERVICE].kind, CHANGE_NONE); /* still 10 ms */
}

/* The medians are 20 % apart, but B has both the least and the largest. */
TEST(scatter_is_no_change)
{
    static const nanos a[] = {1900, 2000, 2000, 2100, 2900}, b[] = {1000, 1100, 2400, 2400, 3000};

    for (int i = 0; i < 5; i++) {
        add_step(SIDE_A, i, a[i] * US);
        add_step(SIDE_B, i, b[i] * US);
    }
    const struct compare_group *g = &compare_look()->groups[0];

    assert_int_equal(g->metrics[COMPARE_BUSY].kind, CHANGE_NOISE);
    assert_true(g->metrics[COMPARE_BUSY].p > 0.05);
}

TEST(small_changes_count_as_none)
{
    for (int i = 0; i < 5; i++) {
        add_step(SIDE_A, i, 2 * MS);
        add_step(SIDE_B, i, 2 * MS + 9 * US); /* 0.3 % of the busy time, and below 10 us */
    }
    const struct compare_group *g = &compare_look()->groups[0];

    assert_int_equal(g->metrics[COMPARE_BUSY].kind, CHANGE_NONE);
    assert_true(g->metrics[COMPARE_BUSY].delta == 9 * US);
}

TEST(one_step_cannot_tell_noise)
{
    add_step(SIDE_A, 0, 2 * MS);
    add_step(SIDE_B, 0, 4 * MS);
    const struct compare_group *g = &compare_look()->groups[0];

    assert_false(g->is_judged);
    assert_true(isnan(g->metrics[COMPARE_BUSY].p));
    assert_int_equal(g->metrics[COMPARE_BUSY].kind, CHANGE_MORE); /* by its size */
}

/* Prefill is the largest group of A and the second of B; B has one more kind. */
TEST(groups_are_matched_by_their_operators)
{
    for (int i = 0; i < 2; i++) {
        compare_add(SIDE_A, i, "Prefill", SLICE_COMPUTE, i * 10 * MS, 9 * MS);
        compare_add(SIDE_A, 2 + i, "Decode", SLICE_COMPUTE, (20 + i) * MS, MS);
        compare_add(SIDE_B, i, "Prefill", SLICE_COMPUTE, i * 10 * MS, 9 * MS);
        compare_add(SIDE_B, 2 + i, "Decode", SLICE_COMPUTE, (20 + i * 30) * MS, MS);
        compare_add(SIDE_B, 4 + i, "Sample", SLICE_COMPUTE, (80 + i) * MS, MS / 2);
    }
    const struct comparison *c = compare_look();

    assert_int_equal(c->n_groups, 2);
    assert_int_equal(c->groups[0].index[SIDE_A], 0);
    assert_int_equal(c->groups[0].index[SIDE_B], 1);
    assert_int_equal(c->groups[1].index[SIDE_A], 1);
    assert_int_equal(c->groups[1].index[SIDE_B], 0);
    assert_int_equal(c->n_unmatched[SIDE_A], 0);
    assert_int_equal(c->n_unmatched[SIDE_B], 1);
    assert_int_equal(c->unmatched[SIDE_B][0], 2);
    assert_int_equal(c->n_totals, 3);
    assert_str(c->totals[0].key, "Sample"); /* 1 ms more; the others are equal, by name */
    assert_str(c->totals[1].key, "Decode");
    assert_int_equal(c->totals[0].calls[SIDE_A], 0);
}

/* 10 ms become 12 in the four steps that are followed by another: 20 % in the median. */
TEST(a_gate_is_shut_above_its_limit)
{
    for (int i = 0; i < 5; i++) {
        compare_add(SIDE_A, i, "Mm", SLICE_COMPUTE, i * 10 * MS, 10 * MS);
        compare_add(SIDE_B, i, "Mm", SLICE_COMPUTE, i * 12 * MS, 12 * MS);
    }
    const struct comparison *c = compare_look();

    assert_true(fabs(c->relative - 0.2) < 1e-12);
    assert_non_null(compare_gate(c, SIZE_MAX, COMPARE_SERVICE, 0.19));
    assert_non_null(compare_gate(c, 0, COMPARE_SERVICE, 0.19));
    assert_null(compare_gate(c, 1, COMPARE_SERVICE, 0.19));
    assert_null(compare_gate(c, SIZE_MAX, COMPARE_SERVICE, 0.2));
    assert_null(compare_gate(c, SIZE_MAX, COMPARE_TAIL, 0));
}

TEST(captures_without_kernels_compare_to_nothing)
{
    const struct comparison *c = compare_look();

    assert_int_equal(c->n_groups, 0);
    assert_true(isnan(c->relative));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, compare_fresh, compare_done)

TEST_MAIN("analysis/compare/compare", CASE(a_capture_equals_itself),
          CASE(a_slower_operator_is_found_with_its_size), CASE(scatter_is_no_change),
          CASE(small_changes_count_as_none), CASE(one_step_cannot_tell_noise),
          CASE(groups_are_matched_by_their_operators), CASE(a_gate_is_shut_above_its_limit),
          CASE(captures_without_kernels_compare_to_nothing))
