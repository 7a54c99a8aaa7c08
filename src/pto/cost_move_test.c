#include "pto/cost_data.h"

#include "base/testing.h"

static struct pto_cost cost_of(struct pto_work w)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_cost cost = pto_cost_of(c, &w);

    pto_costs_free(c);
    return cost;
}

static bool is_near(double value, double want)
{
    return value > want * 0.9999 && value < want * 1.0001;
}

static struct pto_work panel(int32_t cores)
{
    return (struct pto_work){.op = PTO_TLOAD,
                             .src_space = PTO_GM,
                             .dst_space = PTO_MAT,
                             .bytes = 192 << 10,
                             .cores = cores};
}

TEST(cores_share_what_l2_delivers)
{
    struct pto_work store = {.op = PTO_TSTORE,
                             .src_space = PTO_ACC,
                             .dst_space = PTO_GM,
                             .bytes = 128 << 10,
                             .cores = 24};

    assert_true(is_near(cost_of(panel(1)).occupied, 196608 / 166.0));
    assert_true(is_near(cost_of(panel(2)).occupied, 196608 / 166.0));
    assert_true(is_near(cost_of(panel(24)).occupied, 196608 / 85.0));
    assert_true(is_near(cost_of(panel(24)).latency, 192));
    assert_true(is_near(cost_of(store).occupied, 131072 / 73.0));
}

TEST(misses_of_l2_are_slower)
{
    struct pto_work w = panel(1);

    w.l2_miss = 1;
    assert_true(is_near(cost_of(w).occupied, 4.5 * 196608 / 166.0));
    w.l2_miss = 0.5; /* 0.5 + 0.5/4.5 of the rate */
    assert_true(is_near(cost_of(w).occupied, 196608 / (166.0 * 11 / 18)));
    w.l2_miss = 7; /* no more than all */
    assert_true(is_near(cost_of(w).occupied, 4.5 * 196608 / 166.0));
}

TEST(short_rows_cost_by_the_row)
{
    struct pto_work w = {.op = PTO_TLOAD,
                         .src_space = PTO_GM,
                         .dst_space = PTO_VEC,
                         .bytes = 6400,
                         .row_bytes = 64,
                         .n_rows = 100};

    assert_true(is_near(cost_of(w).occupied, 400));
    w.row_bytes = 6400;
    w.n_rows = 1;
    assert_true(is_near(cost_of(w).occupied, 6400 / 123.0));
}

TEST(a_load_that_transposes_has_its_own_curve)
{
    struct pto_work w = panel(1);

    w.is_transposed = true;
    assert_true(is_near(cost_of(w).latency, 780));
    assert_true(is_near(cost_of(w).occupied, 196608 / 166.0));
}

TEST(extracting_a_pair_of_tiles_costs_what_the_gemm_anchor_shows)
{
    struct pto_work a = {
        .op = PTO_TEXTRACT, .src_space = PTO_MAT, .dst_space = PTO_LEFT, .bytes = 16 << 10};
    struct pto_work b = {
        .op = PTO_TEXTRACT, .src_space = PTO_MAT, .dst_space = PTO_RIGHT, .bytes = 32 << 10};

    assert_true(is_near(cost_of(a).occupied, 64 + 45));
    assert_true(is_near(cost_of(b).occupied, 256 + 45));
}

TEST(fifos_use_the_paths_of_their_architecture)
{
    struct pto_work push = {
        .op = PTO_TPUSH_TO_AIV, .src_space = PTO_ACC, .dst_space = PTO_GM, .bytes = 13100};
    struct pto_work pop = {.op = PTO_TPOP_FROM_AIC, .arch = PTO_A5, .pipe = PTO_PIPE_S};

    assert_true(is_near(cost_of(push).occupied, 100));
    push.arch = PTO_A5;
    push.dst_space = PTO_VEC;
    assert_true(is_near(cost_of(push).occupied, 13100 / 128.0));
    assert_true(is_near(cost_of(pop).occupied, 1));
}

TEST(products_count_fractals)
{
    struct pto_work w = {.op = PTO_TMATMUL, .src_dtype = PTO_F16, .m = 40, .k = 50, .n = 60};

    assert_true(is_near(cost_of(w).occupied, 3 * 4 * 4 + 6));
    w = (struct pto_work){.op = PTO_TMATMUL_ACC, .src_dtype = PTO_F32, .m = 120, .k = 110, .n = 50};
    assert_true(is_near(cost_of(w).occupied, 8 * 14 * 4 * 2 + 6));
    w = (struct pto_work){.op = PTO_TMATMUL_BIAS, .src_dtype = PTO_I8, .m = 6, .k = 7, .n = 8};
    assert_true(is_near(cost_of(w).occupied, 7));
}

TEST(a_path_that_does_not_exist_costs_the_issue)
{
    struct pto_work w = {
        .op = PTO_TLOAD, .src_space = PTO_GM, .dst_space = PTO_LEFT, .bytes = 1 << 20};

    assert_true(is_near(cost_of(w).occupied, 1));
}

TEST_MAIN("pto/cost_move", T(cores_share_what_l2_delivers), T(misses_of_l2_are_slower),
          T(short_rows_cost_by_the_row), T(a_load_that_transposes_has_its_own_curve),
          T(extracting_a_pair_of_tiles_costs_what_the_gemm_anchor_shows),
          T(fifos_use_the_paths_of_their_architecture), T(products_count_fractals),
          T(a_path_that_does_not_exist_costs_the_issue))
