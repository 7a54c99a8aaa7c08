#include "kernels/pto/cost/cost_data.h"

#include "base/testing.h"
#include "kernels/pto/testing_cost.h"

static double vector_sum_of(const struct pto_costs *c, struct pto_work w)
{
    struct pto_cost cost = pto_cost_of(c, &w);

    return cost.occupied + cost.latency;
}

/* By the law alone. */
static double cycles_of(struct pto_work w)
{
    struct pto_costs *c = pto_costs_new();

    c->use_table = false;
    double sum = vector_sum_of(c, w);
    pto_costs_free(c);
    return sum;
}

static double cycles(enum pto_opcode op, enum pto_dtype t, int32_t rows, int32_t cols)
{
    return cycles_of(tile(op, t, rows, cols));
}

#define assert_near(value, want, within)                                                           \
    assert_true((value) > (want) * (1 - (within)) && (value) < (want) * (1 + (within)))

TEST(scalar_operations_stream)
{
    assert_near(cycles(PTO_TADDS, PTO_F32, 64, 64), 64 + 25, 1e-9);
    assert_near(cycles(PTO_TADDS, PTO_F16, 64, 64), 32 + 25, 1e-9);
    /* 64 x 80 of f32: 80 repeats, rows that break a repeat run in count mode. */
    assert_near(cycles(PTO_TADDS, PTO_F32, 64, 80), 80 + 25 + 17, 1e-9);
    /* 256 repeats are one too many for an instruction. */
    assert_near(cycles(PTO_TADDS, PTO_F32, 255, 64), 255 + 25, 1e-9);
    assert_near(cycles(PTO_TADDS, PTO_F32, 256, 64), 256 + 25 + 17, 1e-9);
}

TEST(binary_operations_take_one_masked_repeat_for_a_short_row)
{
    assert_near(cycles(PTO_TSUB, PTO_F32, 64, 64), 2 * 64 + 25, 1e-9);
    assert_near(cycles(PTO_TSUB, PTO_F32, 64, 32), 2 * 64 + 25 + 17, 1e-9);
    assert_near(cycles(PTO_TMAX, PTO_I16, 64, 64), 167, 0.02); /* measured */
    assert_near(cycles(PTO_TADD, PTO_F32, 64, 64), 160, 0.02);
    assert_near(cycles(PTO_TADD, PTO_I32, 64, 64), 151, 0.02);
}

TEST(a_narrowed_tile_is_worked_on_row_by_row)
{
    struct pto_work w = {.op = PTO_TADDS,
                         .pipe = PTO_PIPE_V,
                         .src_dtype = PTO_F32,
                         .dst_dtype = PTO_F32,
                         .rows = 16,
                         .cols = 256,
                         .v_row = 16,
                         .v_col = 128};

    assert_near(cycles_of(w), 16 * 2 + 25, 1e-9);
    w.v_col = 100; /* the second repeat is masked */
    assert_near(cycles_of(w), 16 * 2 + 25 + 17, 1e-9);
}

TEST(conversions_go_by_the_wider_type)
{
    struct pto_work w = {.op = PTO_TCVT,
                         .pipe = PTO_PIPE_V,
                         .src_dtype = PTO_F16,
                         .dst_dtype = PTO_F32,
                         .rows = 64,
                         .cols = 64,
                         .v_row = 64,
                         .v_col = 64};

    assert_near(cycles_of(w), 64 + 27, 1e-9);
    w.src_dtype = PTO_F32;
    w.dst_dtype = PTO_I8;
    assert_near(cycles_of(w), 64 + 27, 1e-9);
}

/* Values of the fitted table at other rows than those the law was made from. */
TEST(reductions_follow_the_fit)
{
    assert_near(cycles(PTO_TROWSUM, PTO_F32, 48, 64), 0.1094 * 48 * 64 + 44, 0.01);
    assert_near(cycles(PTO_TROWSUM, PTO_F16, 48, 368), 0.0272 * 48 * 368 + 111, 0.02);
    assert_near(cycles(PTO_TROWMAX, PTO_F32, 48, 128), 0.0625 * 48 * 128 + 48, 0.01);
    assert_near(cycles(PTO_TROWMAX, PTO_F32, 48, 336), 0.0418 * 48 * 336 + 131, 0.03);
    assert_near(cycles(PTO_TCOLSUM, PTO_F16, 48, 400), 0.0616 * 48 * 400 + 29, 0.03);
    assert_near(cycles(PTO_TCOLMAX, PTO_F32, 48, 96), 0.3646 * 48 * 96 + 2, 0.01);
    assert_near(cycles(PTO_TROWEXPAND, PTO_F16, 48, 192), 0.0781 * 48 * 192 + 37, 0.01);
}

TEST(broadcasts_pay_for_spreading_the_rows)
{
    /* 16 rows of two repeats, 2 each, 26 + 18 fixed, and a cycle for eight rows. */
    assert_near(cycles(PTO_TROWEXPANDMUL, PTO_F32, 16, 128), 2 * 32 + 26 + 18 + 2, 1e-9);
    assert_near(cycles(PTO_TCOLEXPANDMUL, PTO_F32, 16, 128), 2 * 32 + 26, 1e-9);
}

TEST(sorting_moving_and_turning)
{
    assert_near(cycles(PTO_TMRGSORT, PTO_F32, 1, 1024), 4 * 78 + 20, 1e-9);
    assert_near(cycles(PTO_TMRGSORT, PTO_F16, 1, 2048), 4 * 78 + 20, 1e-9); /* as many records */
    assert_near(cycles(PTO_TSORT32, PTO_F32, 1, 1024), 32 * 95 + 6, 1e-9);
    assert_near(cycles(PTO_TMOV, PTO_F32, 64, 64), 64 + 2, 1e-9);
    assert_near(cycles(PTO_TTRANS, PTO_F32, 128, 128), 501, 0.01);
    assert_near(cycles(PTO_TGATHER, PTO_F32, 10, 64), 466 + 24, 1e-3);
}

TEST(more_rows_never_cost_less)
{
    static const int32_t cols[] = {8, 64, 72, 128, 200, 512};
    struct pto_costs *c = pto_costs_new();

    c->use_table = false;
    for (unsigned op = PTO_TADD; op <= PTO_TMRGSORT; op++)
        for (size_t i = 0; i < ARRAY_LEN(cols); i++)
            for (int32_t rows = 1; rows < 300; rows += 7)
                assert_true(
                    vector_sum_of(c, tile((enum pto_opcode)op, PTO_F16, rows + 7, cols[i])) >=
                    vector_sum_of(c, tile((enum pto_opcode)op, PTO_F16, rows, cols[i])));
    pto_costs_free(c);
}

TEST_MAIN("kernels/pto/cost/cost_vector", T(scalar_operations_stream),
          T(binary_operations_take_one_masked_repeat_for_a_short_row),
          T(a_narrowed_tile_is_worked_on_row_by_row), T(conversions_go_by_the_wider_type),
          T(reductions_follow_the_fit), T(broadcasts_pay_for_spreading_the_rows),
          T(sorting_moving_and_turning), T(more_rows_never_cost_less))
