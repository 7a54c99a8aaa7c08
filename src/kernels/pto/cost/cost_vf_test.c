#include "kernels/pto/cost/cost_data.h"

#include "base/testing.h"

/* A loop of `inner` registers, `outer` times; more than one row leaves a gap between rows. */
static double cycles(enum pto_opcode op, enum pto_dtype t, int32_t inner, int32_t outer)
{
    int32_t e = t == PTO_F32 ? 64 : 128;
    struct pto_work w = {.op = op,
                         .arch = PTO_A5,
                         .src_dtype = t,
                         .dst_dtype = t,
                         .rows = outer,
                         .cols = outer > 1 ? inner * e + 32 : inner * e,
                         .v_row = outer,
                         .v_col = inner * e};
    struct pto_costs *c = pto_costs_new();
    struct pto_terms terms = pto_vf_terms(c, &w);

    pto_costs_free(c);
    return terms.units + terms.fixed;
}

TEST(simple_operations_take_a_cycle_an_iteration)
{
    assert_true(cycles(PTO_TADD, PTO_F32, 1, 1) == 55);
    assert_true(cycles(PTO_TADD, PTO_F32, 10, 1) == 64);
    assert_true(cycles(PTO_TADD, PTO_F32, 128, 1) == 182);
    assert_true(cycles(PTO_TMUL, PTO_F32, 1, 1) == 56);
    assert_true(cycles(PTO_TMAX, PTO_F16, 1, 1) == 54);
}

TEST(slow_operations_share_two_units)
{
    assert_true(cycles(PTO_TEXP, PTO_F32, 1, 1) == 64);
    assert_true(cycles(PTO_TEXP, PTO_F32, 2, 1) == 65);
    assert_true(cycles(PTO_TEXP, PTO_F32, 4, 1) == 69);
    assert_true(cycles(PTO_TEXP, PTO_F32, 100, 1) == 261);
    assert_true(cycles(PTO_TEXP, PTO_F16, 10, 1) == 102);
    assert_true(cycles(PTO_TDIV, PTO_F32, 128, 1) == 318);
    assert_true(cycles(PTO_TDIV, PTO_F16, 64, 1) == 319);
}

TEST(nested_loops_pay_for_entering_a_row)
{
    static const struct {
        int32_t inner, outer;
        double cycles;
    } cases[] = {{2, 2, 64},   {4, 2, 66},   {8, 2, 72},   {1, 4, 58},  {4, 4, 80},
                 {8, 4, 90},   {1, 8, 62},   {2, 8, 106},  {4, 8, 108}, {8, 8, 126},
                 {2, 16, 162}, {8, 16, 198}, {4, 32, 276}, {8, 32, 342}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_true(cycles(PTO_TADD, PTO_F32, cases[i].inner, cases[i].outer) == cases[i].cycles);
}

TEST(reductions_are_loops_over_rows_or_columns)
{
    /* 4 rows of two registers: 44 + 26, one more iteration, three rows of 7, one to enter. */
    assert_true(cycles(PTO_TROWSUM, PTO_F32, 2, 4) == 44 + 26 + 1 + 21 + 1);
    /* Two columns of registers, 4 rows each: 44 + 11, three iterations, one column, enter. */
    assert_true(cycles(PTO_TCOLSUM, PTO_F32, 2, 4) == 44 + 11 + 3 + 7 + 1);
}

TEST_MAIN("kernels/pto/cost/cost_vf", T(simple_operations_take_a_cycle_an_iteration),
          T(slow_operations_share_two_units), T(nested_loops_pay_for_entering_a_row),
          T(reductions_are_loops_over_rows_or_columns))
