#include "opdb/predict/query_match.h"

#include "base/testing.h"

static struct arena arena;

/* The rule for inputs given as a cell, all of one type. */
static const char *rule(const char *kernel, const char *asked, const char *dtype,
                        const char *shapes, const char *dtypes, const char *formats)
{
    struct cell_slots slots = cell_slots(&arena, str_of(asked));
    struct query_inputs in = {ARENA_ARRAY(&arena, struct query_input, slots.n + 1), slots.n};
    struct query_row row;

    for (size_t i = 0; i < in.n; i++) {
        assert_true(cell_dims(&arena, slots.at[i], &in.at[i].dims));
        in.at[i].dtype = query_dtype(str_of(dtype));
    }
    if (!query_row_read(&arena, str_of(shapes), str_of(dtypes), str_of(formats), -1, &row))
        return "unreadable";
    const char *found = query_match(&arena, str_of(kernel), in, &row);
    return found != NULL ? found : "none";
}

#define BF "DT_BF16;DT_BF16;DT_BF16;DT_BF16;DT_BF16"

TEST(weights_may_be_transposed)
{
    assert_string_equal(rule("MatMulV2", "16,5;5,7", "bf16", "\"16,5;7,5\"", BF, "ND;ND"),
                        "transpose");
    assert_string_equal(rule("MatMulV2", "16,5;5,7", "bf16", "16,5;5,7", BF, "ND;ND"), "identity");
    assert_string_equal(rule("Add", "16,5;5,7", "bf16", "16,5;7,5", BF, "ND;ND"), "none");
    assert_string_equal(rule("MatMulV2", "5,16;5,7", "bf16", "16,5;5,7", BF, "ND;ND"), "none");
    assert_string_equal(rule("GroupedMatmul", "128,7;4,7,9", "bf16", "128,7;4,9,7", BF, ""),
                        "batched_transpose");
    /* (K/16, N/16, 16, 16) of the weight is (K, N) */
    assert_string_equal(
        rule("MatMulV3", "8,5120;5120,768", "bf16", "8,5120;320,48,16,16", BF, "ND;FRACTAL_NZ"),
        "identity");
}

TEST(types_agree_or_are_as_good)
{
    assert_string_equal(rule("MatMulV2", "2,3;3,4", "float32", "2,3;3,4", BF, ""), "identity");
    assert_string_equal(rule("MatMulV3", "2,3;3,4", "float32", "2,3;3,4", BF, ""), "none");
    assert_string_equal(rule("Add", "2;2", "float16", "2;2", BF, ""), "identity");
    assert_string_equal(rule("Add", "2;2", "int8", "2;2", "INT8;INT8", ""), "identity");
    assert_string_equal(rule("Add", "2;2", "int8", "2;2", "INT8", ""), "none");
}

TEST(lengths_may_be_rounded_up)
{
    assert_string_equal(rule("RmsNorm", "72,5;5", "bf16", "65,5;5", BF, ""), "padding");
    assert_string_equal(rule("RmsNorm", "8,5;5", "bf16", "5,5;5", BF, ""), "none");
    assert_string_equal(rule("RmsNorm", "64,5;5", "bf16", "72,5;5", BF, ""), "none");
    assert_true(query_is_padded(32, 17));
    assert_true(query_is_padded(64, 33));
    assert_true(query_is_padded(72, 65));
    assert_false(query_is_padded(24, 17));
    assert_false(query_is_padded(16, 16));
}

TEST(batches_of_one_come_and_go)
{
    assert_string_equal(rule("RmsNorm", "1,16,5;5", "bf16", "16,5;5", BF, ""), "batch_strip");
    assert_string_equal(rule("RmsNorm", "16,5;5", "bf16", "1,16,5;5", BF, ""), "batch_strip");
    assert_string_equal(rule("Add", "1,30,5;1,30,5", "bf16", "1,20,5;1,20,5", BF, ""), "none");
    assert_string_equal(rule("Add", "1,32,5;1,32,5", "bf16", "1,20,5;1,20,5", BF, ""),
                        "batch_strip+padding");
}

TEST(three_dimensions_are_folded_to_two)
{
    assert_string_equal(rule("RmsNorm", "2,16,5;5", "bf16", "32,5;5", BF, ""), "flatten_3d");
    assert_string_equal(rule("RmsNorm", "2,16,5;5", "bf16", "31,5;5", BF, ""),
                        "flatten_3d+padding");
    assert_string_equal(rule("DynamicQuant", "16,8,128", "bf16", "16,1024", BF, ""),
                        "merge_last_dims");
    assert_string_equal(rule("RmsNorm", "16,8,128", "bf16", "16,1024", BF, ""), "none");
}

TEST(kernels_with_another_order_of_inputs)
{
    assert_string_equal(rule("SwiGlu", "1,16,32;16,32", "bf16", "16,64", BF, ""), "identity");
    assert_string_equal(rule("ApplyRotaryPosEmb", "1,8,16,9;1,2,16,9;1,16,9;1,16,9", "bf16",
                             "1,16,2,9;1,16,8,9;1,16,1,9;1,16,1,9", BF, ""),
                        "identity");
    assert_string_equal(rule("ReshapeAndCacheNdKernel", "7,9;7,9;2,10,16,1,9;7", "bf16",
                             "7,1,9;7,1,9;10,16,1,9;10,16,1,9;7", BF, ""),
                        "identity");
    assert_string_equal(rule("Index", "1,16", "int64", "16,1", "INT64", ""),
                        "singleton_axis_transpose");
}

TEST(rows_with_odd_cells_do_not_match)
{
    assert_string_equal(rule("Add", "2;2", "bf16", "a;2", BF, ""), "unreadable");
    assert_string_equal(rule("Add", "2;2", "bf16", "", "", ""), "none");
    assert_string_equal(rule("Add", "2;2", "bf16", "2;;2", BF, ""), "identity");
    assert_string_equal(
        rule("X", "2", "bf16", "9223372036854775807,2,2,9223372036854775807", BF, "FRACTAL_NZ"),
        "unreadable");
}

static int match_end(void **state __attribute__((unused)))
{
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(weights_may_be_transposed),          T(types_agree_or_are_as_good),
        T(lengths_may_be_rounded_up),          T(batches_of_one_come_and_go),
        T(three_dimensions_are_folded_to_two), T(kernels_with_another_order_of_inputs),
        T(rows_with_odd_cells_do_not_match),
    };

    arena_init(&arena);
    return cmocka_run_group_tests_name("opdb/predict/query_match", tests, NULL, match_end);
}
