#include "analysis/compare/noise.h"

#include <math.h>

#include "base/testing_arena.h"

enum { UNITS = 30 };

/* Lengths about 1 ms that vary by some percent, the same on every run. */
static struct noise_side side_of(double factor, double percent, size_t n, unsigned phase)
{
    double *at = ARENA_ARRAY(&arena, double, n);
    size_t *first = ARENA_ARRAY(&arena, size_t, 2);

    for (size_t i = 0; i < n; i++)
        at[i] = 1e6 * factor * (1 + percent / 100 * sin((double)(i * i + phase)));
    first[1] = n;
    return (struct noise_side){at, first, 1};
}

static struct noise_change judge(struct noise_side a, struct noise_side b)
{
    return noise_judge(&arena, a, b,
                       (struct noise_options){.between = NOISE_BETWEEN, .limit = NOISE_LIMIT});
}

TEST(a_change_beyond_the_noise_is_told)
{
    struct noise_change c = judge(side_of(1, 2, UNITS, 1), side_of(1.2, 2, UNITS, 5));

    assert_int_equal(c.verdict, NOISE_SLOWER);
    assert_int_equal(c.gate, GATE_FAIL);
    assert_true(c.low < c.relative && c.relative < c.high && c.low > 0.1);
    assert_true(c.probability > 0.99);
    c = judge(side_of(1.2, 2, UNITS, 1), side_of(1, 2, UNITS, 5));
    assert_int_equal(c.verdict, NOISE_FASTER);
    assert_int_equal(c.gate, GATE_PASS);
}

TEST(only_an_interval_with_zero_is_noise)
{
    struct noise_change c = judge(side_of(1, 2, UNITS, 1), side_of(1, 2, UNITS, 9));

    assert_int_equal(c.verdict, NOISE_NOTHING);
    assert_true(c.low <= 0 && c.high >= 0);
    assert_int_equal(c.gate, GATE_PASS);
}

TEST(few_units_tell_nothing_but_twice_as_long)
{
    struct noise_change c = judge(side_of(1, 2, 4, 1), side_of(1.5, 2, UNITS, 5));

    assert_int_equal(c.verdict, NOISE_UNKNOWN);
    assert_int_equal(c.gate, GATE_UNKNOWN);
    assert_true(isnan(c.low));
    c = judge(side_of(1, 2, 1, 1), side_of(3, 2, 1, 5));
    assert_int_equal(c.gate, GATE_FAIL);
    assert_true(c.is_doubled);
}

TEST(a_wide_scatter_is_neither_passed_nor_failed)
{
    struct noise_change c = judge(side_of(1, 30, 8, 1), side_of(1.06, 30, 8, 5));

    assert_int_equal(c.gate, GATE_UNKNOWN);
    assert_true(c.needed > 8);
}

TEST(slow_units_count_and_are_a_finding)
{
    struct noise_side a = side_of(1, 1, UNITS, 1), b = side_of(1, 1, UNITS, 5);
    double *at = ARENA_ARRAY(&arena, double, UNITS);

    for (size_t i = 0; i < UNITS; i++)
        at[i] = b.at[i] * (i % 3 == 0 ? 2 : 1);
    b.at = at;
    struct noise_change c = judge(a, b);
    assert_true(c.relative > 0.3);
    assert_int_equal(c.slow[0], 0);
    assert_int_equal(c.slow[1], UNITS / 3);
    assert_true(noise_tail_grew(&c));
    assert_int_equal(c.gate, GATE_FAIL);
}

/* A few units of very different length on both sides; all others take by a factor longer. */
static struct noise_side blurred(double factor, unsigned phase)
{
    struct noise_side s = side_of(factor, 1, UNITS, phase);
    double *at = ARENA_ARRAY(&arena, double, UNITS);

    for (size_t i = 0; i < UNITS; i++)
        at[i] = s.at[i] * ((i + phase) % 8 == 0 ? 2 + (double)(i % 5) : 1);
    s.at = at;
    return s;
}

TEST(a_typical_unit_is_told_where_slow_ones_blur_the_mean)
{
    struct noise_change c = judge(blurred(1, 0), blurred(1.12, 5));

    assert_true(c.low < 0 && c.high > 0);
    assert_true(c.typical_low > 0.05 && c.typical_high < 0.2);
    assert_true(c.is_typical && c.relative > 0);
    assert_int_equal(c.verdict, NOISE_SLOWER);
    assert_int_equal(c.gate, GATE_FAIL);
    c = judge(blurred(1.12, 5), blurred(1, 0));
    assert_int_equal(c.verdict, NOISE_FASTER);
}

TEST(a_typical_unit_does_not_excuse_the_mean)
{
    struct noise_side a = side_of(1, 1, UNITS, 1), b = side_of(0.9, 1, UNITS, 5);
    double *at = ARENA_ARRAY(&arena, double, UNITS);

    for (size_t i = 0; i < UNITS; i++)
        at[i] = b.at[i] * (i % 6 == 0 ? 2 : 1);
    b.at = at;
    struct noise_change c = judge(a, b);
    assert_true(c.relative > 0.02 && c.typical_high < 0);
    assert_true(c.gate != GATE_PASS);
    assert_true(c.verdict != NOISE_FASTER);
}

TEST(neighbours_that_are_alike_widen_the_interval)
{
    double walk[UNITS], mixed[UNITS];
    size_t first[] = {0, UNITS};

    for (size_t i = 0; i < UNITS; i++)
        walk[i] = 1e6 * (1 + 0.03 * sin((double)i / 5));
    for (size_t i = 0; i < UNITS; i++)
        mixed[i] = walk[i * 7 % UNITS];
    struct noise_change slow = judge((struct noise_side){walk, first, 1},
                                     (struct noise_side){walk, first, 1}),
                        fast = judge((struct noise_side){mixed, first, 1},
                                     (struct noise_side){mixed, first, 1});
    assert_true(slow.autocorrelation > 0.7 && slow.block > 1);
    assert_true(slow.high - slow.low > 1.3 * (fast.high - fast.low));
}

TEST(four_runs_a_side_are_measured)
{
    double at[4 * UNITS];
    size_t first[5];

    for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
        at[i] = 1e6 * (1 + 0.05 * (double)(i / UNITS % 2));
    for (size_t r = 0; r < 5; r++)
        first[r] = r * UNITS;
    struct noise_side s = {at, first, 4};
    struct noise_change c = judge(s, s);
    assert_true(c.is_measured && c.between > 0.02 && c.between < 0.04);
    assert_true(c.high > 0.04);
}

TEST(the_same_samples_give_the_same_bits)
{
    struct noise_change a = judge(side_of(1, 2, UNITS, 1), side_of(1.04, 2, UNITS, 5)),
                        b = judge(side_of(1, 2, UNITS, 1), side_of(1.04, 2, UNITS, 5));

    assert_true(a.low == b.low && a.high == b.high && a.probability == b.probability);
}

TEST_MAIN("analysis/compare/noise", TA(a_change_beyond_the_noise_is_told),
          TA(only_an_interval_with_zero_is_noise), TA(few_units_tell_nothing_but_twice_as_long),
          TA(a_wide_scatter_is_neither_passed_nor_failed), TA(slow_units_count_and_are_a_finding),
          TA(a_typical_unit_is_told_where_slow_ones_blur_the_mean),
          TA(a_typical_unit_does_not_excuse_the_mean),
          TA(neighbours_that_are_alike_widen_the_interval), TA(four_runs_a_side_are_measured),
          TA(the_same_samples_give_the_same_bits))
