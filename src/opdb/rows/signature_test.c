#include "opdb/rows/signature.h"

#include "base/testing.h"

static struct arena arena;

#define ROW(in, dt, fm, out, odt)                                                                  \
    ((struct signature_row){{[ID_INPUT_SHAPES] = S(in),                                            \
                             [ID_INPUT_DTYPES] = S(dt),                                            \
                             [ID_INPUT_FORMATS] = S(fm),                                           \
                             [ID_OUTPUT_SHAPES] = S(out),                                          \
                             [ID_OUTPUT_DTYPES] = S(odt)}})

TEST(transposed_right_operands_are_one_case)
{
    struct signature_row a = ROW("\"24,512;4096,512\"", "A;B;C", "ND;ND;ND", "24,4096", "A");
    struct signature_row b = ROW("512,24;512,4096", "A;B", "ND;ND", "\"24,4096\"", "A");
    struct signature x = signature_of(&arena, S("MatMulV2_run.py"), &a);
    struct signature y = signature_of(&arena, S("MatMulV3"), &b);

    assert_str(x.part[0], "24,512;4096,512");
    assert_true(signature_equal(&x, &y));
    assert_int_equal(signature_hash(&x), signature_hash(&y));
    x = signature_of(&arena, S("MatMul"), &a);
    y = signature_of(&arena, S("MatMul"), &b);
    assert_false(signature_equal(&x, &y));
}

TEST(products_without_an_inner_dimension_take_the_general_rule)
{
    struct signature_row row = ROW("5,7;9,11", "A;B", "ND;ND", "5,11", "A");

    assert_str(signature_of(&arena, S("MatMulV2"), &row).part[0], "5,7;9,11");
    row.cell[ID_INPUT_SHAPES] = S("a,b;c,d");
    assert_str(signature_of(&arena, S("MatMulV2"), &row).part[0], "a,b;c,d");
}

TEST(attributes_without_a_shape_do_not_count)
{
    struct signature_row row =
        ROW("(1, 2);N/A;( 3 4 );()", "a;b;c;d;e", "1;2;3;4;5", " 1 , 2 ;;", "x;y;z;");
    struct signature s = signature_of(&arena, S("X"), &row);

    assert_int_equal(s.n, 5);
    assert_str(s.part[0], "1,2;;3,4");
    assert_str(s.part[1], "a;;c");
    assert_str(s.part[2], "1;;3");
    assert_str(s.part[3], "1,2");
    assert_str(s.part[4], "x");
}

TEST(operators_with_parameter_inputs_are_reduced)
{
    struct signature_row row = ROW("64,1728;1;2;16", "A;I;I;L", "ND;ND;ND;NZ", "16,1728", "A");
    struct signature s = signature_of(&arena, S("Index"), &row);

    assert_str(s.part[0], "64,1728;16");
    assert_str(s.part[1], "A;L");
    assert_str(s.part[2], "ND;NZ");
    row.cell[ID_INPUT_FORMATS] = S("NCHW;ND");
    s = signature_of(&arena, S("SliceAiCore"), &row);
    assert_str(s.part[0], "64,1728");
    assert_str(s.part[2], "ND");
    row.cell[ID_INPUT_FORMATS] = S("");
    assert_str(signature_of(&arena, S("Transpose"), &row).part[2], "");
}

TEST(the_ep_size_tells_dispatches_apart)
{
    struct signature_row row = ROW("8,16", "A", "ND", "8,16", "A");

    row.cell[ID_EP_SIZE] = S(" 16 ");
    struct signature s = signature_of(&arena, S("DispatchFFNCombine.csv"), &row);
    assert_int_equal(s.n, 6);
    assert_str(s.part[5], "16");
}

TEST(rows_are_found_by_signature)
{
    struct signature_index index = {0};
    bool is_new;

    for (uint32_t i = 0; i < 1000; i++) {
        struct signature s = {.n = 1, .part = {arena_format(&arena, "%u", i)}};
        assert_int_equal(signature_index_add(&index, &s, i, &is_new), i);
        assert_true(is_new);
    }
    struct signature s = {.n = 1, .part = {S("77")}};
    assert_int_equal(signature_index_add(&index, &s, 5000, &is_new), 77);
    assert_false(is_new);
    s.part[0] = S("x");
    assert_int_equal(signature_index_get(&index, &s), UINT32_MAX);
    signature_index_free(&index);
    assert_int_equal(signature_index_get(&index, &s), UINT32_MAX);
}

TEST(rows_are_shown_by_their_shapes)
{
    assert_str(signature_text(&arena, S("\"1\""), S("")), "\"1\" -> N/A");
}

static int signature_end(void **state __attribute__((unused)))
{
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(transposed_right_operands_are_one_case),
        T(products_without_an_inner_dimension_take_the_general_rule),
        T(attributes_without_a_shape_do_not_count),
        T(operators_with_parameter_inputs_are_reduced),
        T(the_ep_size_tells_dispatches_apart),
        T(rows_are_found_by_signature),
        T(rows_are_shown_by_their_shapes),
    };

    arena_init(&arena);
    return cmocka_run_group_tests_name("opdb/rows/signature", tests, NULL, signature_end);
}
