#include "kernels/pto/cost/cost_data.h"

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

static struct pto_miss miss_of(struct pto_work w, const char *file)
{
    struct pto_costs *c = pto_costs_new();
    struct diag d;

    diag_init(&d);
    assert_int_equal(pto_costs_read(c, str_of(file), "x.csv", &d), ST_OK);
    struct pto_miss miss = pto_miss_of(c, &w);
    diag_fini(&d);
    pto_costs_free(c);
    return miss;
}

TEST(misses_of_l2_are_slower)
{
    struct pto_miss one = miss_of(panel(1), "key,value\na2a3.gm.mat.miss_rate,83\n");
    struct pto_miss half = miss_of(panel(1), "key,value\ngm.miss,2\n");

    assert_true(is_near(one.occupied, 1 / 83.0 - 1 / 166.0));
    assert_true(is_near(half.occupied, one.occupied)); /* the rate over gm.miss */
    assert_true(one.latency > 0 && one.service == 0);
}

TEST(memory_is_shared_by_the_cores_that_stream)
{
    static const char file[] = "key,value\na2a3.hbm,480\nhbm.row,256\n";
    struct pto_work w = panel(24);
    struct pto_miss all = miss_of(w, file);

    assert_true(is_near(all.service, 24 / 480.0));
    assert_true(all.part == 1);
    w.row_bytes = 128; /* each row costs as much as one of 256 bytes */
    w.n_rows = w.bytes / 128;
    assert_true(is_near(miss_of(w, file).service, 2 * 24 / 480.0));
    w.cores = 16;
    w.is_panel = true; /* one of four rows of four cores */
    assert_true(is_near(miss_of(w, file).part, 0.25));
    assert_true(is_near(miss_of(w, file).service, 2 * 16 / 480.0 / 4));
}

TEST(short_rows_cost_by_the_row)
{
    struct pto_work w = {.op = PTO_TLOAD,
                         .src_space = PTO_GM,
                         .dst_space = PTO_VEC,
                         .bytes = 6400,
                         .row_bytes = 64,
                         .n_rows = 100};

    assert_true(is_near(cost_of(w).occupied, 18 + 400));
    w.row_bytes = 6400;
    w.n_rows = 1;
    assert_true(is_near(cost_of(w).occupied, 18 + 6400 / 123.0));
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

TEST_MAIN("kernels/pto/cost/cost_move", T(cores_share_what_l2_delivers), T(misses_of_l2_are_slower),
          T(memory_is_shared_by_the_cores_that_stream), T(short_rows_cost_by_the_row),
          T(a_load_that_transposes_has_its_own_curve),
          T(extracting_a_pair_of_tiles_costs_what_the_gemm_anchor_shows),
          T(fifos_use_the_paths_of_their_architecture), T(products_count_fractals),
          T(a_path_that_does_not_exist_costs_the_issue))
