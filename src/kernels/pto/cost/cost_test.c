#include "kernels/pto/cost/cost_data.h"

#include <math.h>

#include "base/testing.h"
#include "kernels/pto/testing_cost.h"

static int64_t cycles(const struct pto_costs *c, struct pto_work w)
{
    return pto_cost_cycles(pto_cost_of(c, &w));
}

TEST(a_small_kernel_costs_what_its_three_parts_cost)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_work load = {.op = PTO_TLOAD,
                            .pipe = PTO_PIPE_MTE2,
                            .src_space = PTO_GM,
                            .dst_space = PTO_VEC,
                            .bytes = 4096};
    struct pto_work store = {.op = PTO_TSTORE,
                             .pipe = PTO_PIPE_MTE3,
                             .src_space = PTO_VEC,
                             .dst_space = PTO_GM,
                             .bytes = 4096};

    /* 18 + 179 + 4096/123 = 230.3; 16 repeats + 25 = 41; 124 + 4096/77 = 177.2 */
    assert_int_equal(cycles(c, load), 230);
    assert_int_equal(cycles(c, tile(PTO_TADDS, PTO_F32, 16, 64)), 41);
    assert_int_equal(cycles(c, store), 177);
    pto_costs_free(c);
}

TEST(latency_is_not_queue_time)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_work w = tile(PTO_TADDS, PTO_F32, 16, 64);

    c->use_table = false;
    struct pto_cost cost = pto_cost_of(c, &w);
    assert_true(cost.occupied == 16);
    assert_true(cost.latency == 25);
    pto_costs_free(c);
}

TEST(every_operation_costs_something_finite_on_every_shape)
{
    static const int32_t sizes[] = {0, 1, 16, 63, 64, 65, 4096, INT32_MAX};
    static const enum pto_dtype types[] = {PTO_NO_DTYPE, PTO_I8, PTO_F16, PTO_F32, PTO_F4E2M1X2};
    struct pto_costs *c = pto_costs_new();

    for (int arch = PTO_A2A3; arch <= PTO_A5; arch++)
        for (unsigned op = PTO_OP_NONE; op < PTO_OP_COUNT; op++)
            for (size_t r = 0; r < ARRAY_LEN(sizes); r++)
                for (size_t t = 0; t < ARRAY_LEN(types); t++) {
                    struct pto_work w = tile((enum pto_opcode)op, types[t], sizes[r],
                                             sizes[ARRAY_LEN(sizes) - 1 - r]);
                    w.arch = (enum pto_arch)arch;
                    w.m = w.k = w.n = sizes[r];
                    struct pto_cost cost = pto_cost_of(c, &w);
                    assert_true(isfinite(cost.occupied) && cost.occupied >= 0);
                    assert_true(isfinite(cost.latency) && cost.latency >= 0);
                }
    pto_costs_free(c);
}

TEST(every_vector_operation_has_a_law_on_both_architectures)
{
    static const enum pto_opcode vector[] = {
#define PTO_OP(code, name, pipe, ...) PTO_IS_##pipe(PTO_##code)
#define PTO_IS_V(code)                code,
#define PTO_IS_NONE(code)
#define PTO_IS_S(code)
#define PTO_IS_M(code)
#define PTO_IS_OP(code)
#define PTO_IS_FIX(code)
#define PTO_IS_FIFO(code)
#define PTO_IS_MTE2(code)
#define PTO_IS_MOVE(code)
#define PTO_IS_STORE(code)
#include "kernels/pto/text/ops.def"
#undef PTO_OP
    };
    struct pto_costs *c = pto_costs_new();

    for (size_t i = 0; i < ARRAY_LEN(vector); i++) {
        struct pto_work w = tile(vector[i], PTO_F32, 64, 64);
        assert_true(cycles(c, w) > 1);
        w.arch = PTO_A5;
        assert_true(cycles(c, w) > 1);
    }
    pto_costs_free(c);
}

TEST(scalar_work_and_views)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_work indexes = tile(PTO_TCI, PTO_I32, 1, 100);

    indexes.pipe = PTO_PIPE_S;
    assert_int_equal(cycles(c, (struct pto_work){.op = PTO_ADDI}), 1);
    assert_int_equal(cycles(c, (struct pto_work){.op = PTO_REMSI}), 15);
    assert_int_equal(cycles(c, (struct pto_work){.op = PTO_CONSTANT}), 0);
    assert_int_equal(cycles(c, (struct pto_work){.op = PTO_PARTITION_VIEW}), 0);
    assert_int_equal(cycles(c, (struct pto_work){.op = PTO_SET_FLAG}), 1);
    assert_int_equal(cycles(c, (struct pto_work){.op = PTO_LOAD_SCALAR}), 300);
    assert_int_equal(cycles(c, indexes), 200);
    assert_true(pto_costs_get(c, PTO_COST_LAUNCH) == 4905);
    pto_costs_free(c);
}

TEST(an_empty_valid_shape_costs_the_issue)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_work w = tile(PTO_TADD, PTO_F32, 16, 64);

    w.v_row = w.v_col = 0;
    assert_int_equal(cycles(c, w), 1);
    pto_costs_free(c);
}

static enum status cost_read(struct pto_costs *c, struct diag *d, const char *text)
{
    return pto_costs_read(c, str_of(text), "x.csv", d);
}

TEST(a_cost_file_replaces_single_constants)
{
    struct pto_costs *c = pto_costs_new();
    struct diag d;
    struct pto_work w = tile(PTO_TSUB, PTO_F32, 64, 64);
    struct pto_work load = {
        .op = PTO_TLOAD, .src_space = PTO_GM, .dst_space = PTO_MAT, .bytes = 1000};

    diag_init(&d);
    assert_int_equal(cycles(c, w), 153);
    assert_int_equal(cost_read(c, &d,
                               "key,value,origin\n"
                               "a2a3.tsub.f32,3,mine\n"
                               "a2a3.gm.mat.rate,100,mine\n"
                               "a2a3.gm.mat.latency,50,mine\n"
                               "launch,7,mine\n"),
                     ST_OK);
    /* The fitted row of 64 columns no longer speaks for tsub: 3*64 + 25. */
    assert_int_equal(cycles(c, w), 217);
    assert_int_equal(cycles(c, load), 60);
    assert_true(pto_costs_get(c, PTO_COST_LAUNCH) == 7);
    diag_fini(&d);
    pto_costs_free(c);
}

TEST(mistakes_in_a_cost_file_name_the_line)
{
    static const struct {
        const char *text, *code;
        uint64_t line;
    } cases[] = {
        {"key,value\nlaunch,1\na2a3.tadd.f64,1\n", "pto-cost.unknown-key", 3},
        {"key,value\nlunch,1\n", "pto-cost.unknown-key", 2},
        {"key,value\na2a3.gm.left.rate,1\n", "pto-cost.unknown-key", 2},
        {"key,value\na7.tadd.f32,1\n", "pto-cost.unknown-key", 2},
        {"key,value\n,1\n", "pto-cost.unknown-key", 2},
        {"key,value\nlaunch,1\nlaunch,1\n", "pto-cost.twice", 3},
        {"key,value\nlaunch,-1\n", "pto-cost.bad-value", 2},
        {"key,value\nlaunch,many\n", "pto-cost.bad-value", 2},
        {"key,value\na5.gm.vec.rate,0\n", "pto-cost.bad-value", 2},
        {"key,value\na2a3.tadd.f32,-2\n", "pto-cost.bad-value", 2},
        {"name,value\nlaunch,1\n", "pto-cost.no-columns", 1},
        {"", "pto-cost.no-columns", 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pto_costs *c = pto_costs_new();
        struct diag d;

        diag_init(&d);
        assert_int_equal(cost_read(c, &d, cases[i].text), ST_FORMAT);
        assert_int_equal(d.entries.n, 1);
        assert_string_equal(d.entries.at[0].code, cases[i].code);
        assert_int_equal(d.entries.at[0].first[0].where.line, cases[i].line);
        diag_fini(&d);
        pto_costs_free(c);
    }
}

TEST_MAIN("kernels/pto/cost/cost", T(a_small_kernel_costs_what_its_three_parts_cost),
          T(latency_is_not_queue_time), T(every_operation_costs_something_finite_on_every_shape),
          T(every_vector_operation_has_a_law_on_both_architectures), T(scalar_work_and_views),
          T(an_empty_valid_shape_costs_the_issue), T(a_cost_file_replaces_single_constants),
          T(mistakes_in_a_cost_file_name_the_line))
