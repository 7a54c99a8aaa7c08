#include "kernels/pto/cost/cost_data.h"

#include "base/testing.h"
#include "kernels/pto/testing_cost.h"

static struct pto_work function(enum pto_opcode op, enum pto_dtype from, enum pto_dtype to,
                                int32_t rows, int32_t cols, int32_t v_col)
{
    return (struct pto_work){.op = op,
                             .arch = PTO_A5,
                             .pipe = PTO_PIPE_V,
                             .src_dtype = from,
                             .dst_dtype = to,
                             .rows = rows,
                             .cols = cols,
                             .v_row = rows,
                             .v_col = v_col};
}

static int64_t cycles(struct pto_work w)
{
    struct pto_costs *c = pto_costs_new();
    int64_t n = pto_cost_cycles(pto_cost_of(c, &w));

    pto_costs_free(c);
    return n;
}

TEST(curves_give_the_cycles_of_flat_and_nested_loops)
{
    /* 1.2469671*10 + 55.073657; (1.8749443*10 + 2.8762808)*10 + 44.344619 */
    assert_int_equal(cycles(function(PTO_TADD, PTO_F32, PTO_F32, 1, 640, 640)), 68);
    assert_int_equal(cycles(function(PTO_TADD, PTO_F32, PTO_F32, 10, 672, 640)), 261);
    /* A type without a curve takes that of its size. */
    assert_int_equal(cycles(function(PTO_TADD, PTO_I32, PTO_I32, 1, 640, 640)), 68);
    assert_int_equal(cycles(function(PTO_TADD, PTO_BF16, PTO_BF16, 1, 1280, 1280)), 68);
}

TEST(loops_follow_the_shape)
{
    struct pto_work one_row = function(PTO_TADD, PTO_F32, PTO_F32, 1, 64, 10);
    struct pto_work scalar = function(PTO_TADDS, PTO_F32, PTO_F32, 1, 64, 10);
    struct pto_work widen = function(PTO_TCVT, PTO_F16, PTO_F32, 4, 128, 128);
    struct pto_work narrow = function(PTO_TCVT, PTO_F32, PTO_F16, 4, 256, 128);

    assert_true(pto_a5_loops(&one_row).is_flat);
    assert_false(pto_a5_loops(&scalar).is_flat);
    assert_true(pto_a5_loops(&widen).inner == 8);  /* 512 elements, 64 at a time */
    assert_true(pto_a5_loops(&narrow).inner == 1); /* 128 at a time, row by row */
    assert_true(pto_a5_loops(&narrow).outer == 4);
}

TEST(high_precision_and_parity_have_their_own_curves)
{
    struct pto_work w = function(PTO_TRECIP, PTO_F32, PTO_F32, 1, 128, 128);

    assert_int_equal(cycles(w), 68); /* 1.9081456*2 + 64.516464 */
    w.is_high_precision = true;
    assert_int_equal(cycles(w), 739); /* 345.21788*2 + 48.715084 */
    /* 1.9336735*2 + 58.846939 and 3.9142857*3 + 63.885714 */
    assert_int_equal(cycles(function(PTO_TSEL, PTO_F32, PTO_F32, 1, 128, 128)), 63);
    assert_int_equal(cycles(function(PTO_TSEL, PTO_F32, PTO_F32, 1, 192, 192)), 76);
}

TEST(rows_of_one_narrowing_iteration_run_as_one_loop)
{
    struct pto_costs *c = pto_costs_new();
    struct diag d;
    struct pto_work w = function(PTO_TCVT, PTO_F32, PTO_F8E4M3, 10, 192, 128);

    diag_init(&d);
    /* 12.319672*10 + 55.295082; measured 181 */
    assert_int_equal(pto_cost_cycles(pto_cost_of(c, &w)), 178);
    assert_int_equal(pto_costs_read(c, S("key,value\na5.vf.refine,0\n"), "x", &d), ST_OK);
    /* (87.638195 - 30.013071)*10 + 7.6069652 */
    assert_int_equal(pto_cost_cycles(pto_cost_of(c, &w)), 584);
    diag_fini(&d);
    pto_costs_free(c);
}

TEST(a_falling_curve_never_goes_below_the_closed_form)
{
    /* -1.7704918*1 + 82.442623, then 44 + 11 + (n - 1) */
    assert_int_equal(cycles(function(PTO_TCVT, PTO_F16, PTO_F32, 1, 64, 64)), 81);
    assert_int_equal(cycles(function(PTO_TCVT, PTO_F16, PTO_F32, 64, 64, 64)), 55 + 63);
}

TEST_MAIN("kernels/pto/cost/cost_a5", T(curves_give_the_cycles_of_flat_and_nested_loops),
          T(loops_follow_the_shape), T(high_precision_and_parity_have_their_own_curves),
          T(rows_of_one_narrowing_iteration_run_as_one_loop),
          T(a_falling_curve_never_goes_below_the_closed_form))
