#include "opdb/predict/work.h"

#include "base/testing.h"
#include "ops/recorded_work.h"

static struct arena arena;

static struct call_work work(const char *kernel, const char *shapes, const char *types)
{
    struct cell_slots s = cell_slots(&arena, str_of(shapes)), t = cell_slots(&arena, str_of(types));
    struct query_inputs in = {ARENA_ARRAY(&arena, struct query_input, s.n + 1), s.n};
    struct call_work w;

    for (size_t i = 0; i < s.n; i++) {
        assert_true(cell_dims(&arena, s.at[i], &in.at[i].dims));
        in.at[i].dtype = t.at[t.n == 1 ? 0 : i];
    }
    assert_true(work_of(&arena, str_of(kernel), in, NULL, NULL, S(""), &w));
    return w;
}

TEST(a_transposed_weight_and_a_leading_one_make_the_same_call)
{
    arena_init(&arena);
    struct call_work a = work("MatMulV2", "16,5120;5120,768", "DT_BF16");
    struct call_work b = work("MatMulV2", "1,16,5120;768,5120", "bfloat16");

    assert_true(a.exact == b.exact);
    assert_true(a.regime == b.regime);
    assert_true(a.flops == 2.0 * 16 * 5120 * 768);
    /* 16 x 5120, 5120 x 768 and 16 x 768 numbers of two bytes. */
    assert_true(a.bytes == 2.0 * (16 * 5120 + 5120 * 768 + 16 * 768));
    arena_free(&arena);
}

TEST(types_are_kept_apart)
{
    arena_init(&arena);
    struct call_work bf16 = work("MatMulV2", "16,64;64,32", "bf16");
    struct call_work fp16 = work("MatMulV2", "16,64;64,32", "fp16");
    struct call_work fp8 = work("MatMulV2", "16,64;64,32", "float8_e4m3fn");

    assert_true(bf16.regime != fp16.regime);
    assert_true(fp16.regime != fp8.regime);
    assert_true(bf16.exact != fp16.exact);
    arena_free(&arena);
}

TEST(picking_rows_reads_only_those_rows)
{
    arena_init(&arena);
    struct call_work w = work("GatherV2", "151936,4096;8", "DT_BF16;INT64");

    assert_true(w.bytes == 2.0 * 8 * 4096 * 2 + 8 * 8);
    arena_free(&arena);
}

/* What a report says of an operator and what a row of a database is worth are one number. */
TEST(a_row_has_the_work_of_its_operator)
{
    static const struct {
        const char *kernel, *op, *shapes, *types;
    } calls[] = {
        {"MatMulV2", "aten::mm", "64,128;128,256", "float;float"},
        {"MatMulV2", "aten::mm", "64,128;128,256", "c10::BFloat16;c10::BFloat16"},
        {"MatMulV2", "aten::linear", "64,128;256,128", "c10::BFloat16;c10::BFloat16"},
        {"BatchMatMulV2", "aten::bmm", "8,32,64;8,64,16", "c10::Half;c10::Half"},
        {"MatMulV3", "aten::_scaled_mm", "64,128;128,256", "c10::Float8_e4m3fn;c10::Float8_e4m3fn"},
        {"GroupedMatmul", "aten::_grouped_mm", "100,64;3,64,32", "c10::BFloat16;c10::BFloat16"},
        {"Add", "aten::add", "64,1,32;1,128,32", "float;float"},
        {"Mul", "aten::mul", "64,128;64,128", "c10::Half;c10::Half"},
        {"Swish", "aten::silu", "64,128", "c10::BFloat16"},
        {"SoftmaxV2", "aten::_softmax", "64,128", "float"},
        {"GatherV2", "aten::embedding", "8000,512;9", "c10::BFloat16;long int"},
        {"SwiGlu", "_C::silu_and_mul", "64,256;64,128", "c10::Half;c10::Half"},
    };

    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        bool is_half = strcmp(calls[i].kernel, "SwiGlu") == 0; /* the operator has its output too */
        struct call_work row = work(calls[i].kernel, is_half ? "64,256" : calls[i].shapes,
                                    is_half ? "c10::Half" : calls[i].types);
        struct recorded_work op =
            recorded_work_of(&(struct recorded_call){.op = str_of(calls[i].op),
                                                     .shapes = str_of(calls[i].shapes),
                                                     .types = str_of(calls[i].types)});
        assert_true(op.bytes > 0);
        assert_true(row.bytes == op.bytes);
        assert_true(op.kind == RECORDED_WORK_MEMORY || row.flops == op.flops);
    }
    arena_free(&arena);
}

TEST(lengths_of_sequences_are_sums_or_each)
{
    struct work_lengths l;

    /* Two prompts of 4 and 8 tokens: 4 * 5 / 2 + 8 * 9 / 2 pairs. */
    assert_true(work_lengths_read(S("4,12"), S("4,12"), false, true, &l));
    assert_true(l.seqs == 2 && l.queries == 12 && l.keys == 12 && l.pairs == 10 + 36);
    /* One more token each over 100 and 200 keys in pages. */
    assert_true(work_lengths_read(S("1,2"), S("100,200"), true, true, &l));
    assert_true(l.queries == 2 && l.keys == 300 && l.pairs == 300);
    assert_false(work_lengths_read(S("x"), S("1"), true, true, &l));
}

static bool is_product(int64_t a, int64_t b, int64_t c, int64_t d, double made)
{
    int64_t left[] = {a, b}, right[] = {c, d};
    struct query_input in[] = {{{left, 2}, S_INIT("bf16")}, {{right, 2}, S_INIT("bf16")}};

    return work_is_product((struct query_inputs){in, 2}, made);
}

TEST(factors_fit_in_any_layout_and_make_their_output)
{
    assert_true(is_product(16, 64, 64, 32, 16 * 32));
    assert_true(is_product(16, 64, 32, 64, 16 * 32)); /* either is stored transposed */
    assert_true(is_product(64, 16, 64, 32, 16 * 32));
    assert_true(is_product(64, 16, 32, 64, 16 * 32));
    assert_true(is_product(16, 64, 64, 32, 0));
    assert_false(is_product(16, 64, 64, 32, 16 * 33));
    assert_false(is_product(16, 64, 33, 65, 0));
}

TEST(few_picks_follow_one_another)
{
    arena_init(&arena);
    assert_true(work("GatherV2", "1000,64;16", "bf16;int64").depth == 16);
    assert_true(work("GatherV2", "1000,64;17", "bf16;int64").depth == 1);
    arena_free(&arena);
}

TEST(zero_sizes_and_no_inputs_are_no_calls)
{
    int64_t zero[] = {0, 4};
    struct query_input in = {{zero, 2}, S_INIT("DT_BF16")};
    struct call_work w;

    arena_init(&arena);
    assert_false(work_of(&arena, S("Add"), (struct query_inputs){&in, 1}, NULL, NULL, S(""), &w));
    assert_false(work_of(&arena, S("Add"), (struct query_inputs){&in, 0}, NULL, NULL, S(""), &w));
    arena_free(&arena);
}

TEST_MAIN("opdb/predict/work", T(a_transposed_weight_and_a_leading_one_make_the_same_call),
          T(types_are_kept_apart), T(picking_rows_reads_only_those_rows),
          T(a_row_has_the_work_of_its_operator), T(lengths_of_sequences_are_sums_or_each),
          T(zero_sizes_and_no_inputs_are_no_calls),
          T(factors_fit_in_any_layout_and_make_their_output), T(few_picks_follow_one_another))
