#include "ops/dtype.h"

#include "base/testing.h"

/* ---- every vendor's names ---- */

TEST(names_of_all_vendors_are_one_type)
{
    static const struct {
        enum dtype type;
        const char *names[10];
    } cases[] = {
        {DTYPE_BF16,
         {"bf16", "BF16", "bfloat16", "BFLOAT16", "DT_BF16", "DT_BFLOAT16", "torch.bfloat16",
          "c10::BFloat16", "bfloat16_t", "__nv_bfloat16"}},
        {DTYPE_F16,
         {"f16", "fp16", "half", "float16", "FLOAT16", "DT_FLOAT16", "DT_FP16", "c10::Half",
          "torch.float16", "float16_t"}},
        {DTYPE_F32, {"f32", "fp32", "float", "FLOAT", "DT_FLOAT", "float32", "torch.float32"}},
        {DTYPE_F64, {"f64", "fp64", "double", "DOUBLE", "float64"}},
        {DTYPE_F8E4M3,
         {"f8e4m3fn", "FLOAT8_E4M3FN", "c10::Float8_e4m3fn", "fp8", "float8_e4m3", "e4m3"}},
        {DTYPE_F8E5M2, {"f8e5m2", "FLOAT8_E5M2", "c10::Float8_e5m2", "fp8_e5m2", "e5m2"}},
        {DTYPE_I8, {"int8", "INT8", "DT_INT8", "s8", "signed char", "char", "int8_t"}},
        {DTYPE_U8, {"uint8", "UINT8", "u8", "unsigned char", "uint8_t", "byte"}},
        {DTYPE_I32, {"int", "INT32", "s32", "DT_INT32", "int32_t"}},
        {DTYPE_I64, {"long int", "long", "INT64", "s64", "torch.int64"}},
        {DTYPE_BOOL, {"bool", "BOOL", "pred", "DT_BOOL"}},
        {DTYPE_C64, {"complex64", "c64", "c10::complex<float>"}},
        {DTYPE_NONE, {"", "  ", "DT_UNDEFINED", "undefined"}},
        {DTYPE_UNKNOWN, {"Scalar", "TensorList", "bf17", "float 32"}},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t k = 0; k < ARRAY_LEN(cases[i].names) && cases[i].names[k] != NULL; k++)
            assert_int_equal(dtype_of(str_of(cases[i].names[k])), cases[i].type);
}

TEST(a_name_longer_than_any_is_unknown)
{
    char name[4096];

    memset(name, 'x', sizeof(name));
    assert_int_equal(dtype_of((struct str){name, sizeof(name)}), DTYPE_UNKNOWN);
    assert_int_equal(dtype_of((struct str){NULL, 0}), DTYPE_NONE);
}

/* A word in two rows would make the second row's a lie. */
TEST(each_row_has_its_words_for_itself)
{
    static const struct {
        enum dtype type;
        struct str words[4];
    } rows[] = {
#define DTYPE(code, bits, kind, name, ascend, runtime, words, inside)                              \
    {DTYPE_##code, {S_INIT(name), S_INIT(ascend), S_INIT(runtime), S_INIT(words)}},
#include "ops/dtypes.def"
#undef DTYPE
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(rows[i].words); k++) {
            struct str rest = rows[i].words[k], word;
            while (rest.n > 0 && str_split(&rest, ',', &word))
                assert_int_equal(dtype_of(word), rows[i].type);
        }
}

/* ---- columns ---- */

TEST(sizes_and_kinds_are_those_of_the_row)
{
    assert_true(dtype_bytes(DTYPE_BF16) == 2);
    assert_true(dtype_bytes(DTYPE_F4E2M1) == 0.5);
    assert_true(dtype_bytes(DTYPE_C128) == 16);
    assert_true(dtype_bytes(DTYPE_NONE) == 0);
    assert_true(dtype_bytes(DTYPE_UNKNOWN) == 0);
    assert_true(dtype_is_float(DTYPE_TF32));
    assert_false(dtype_is_float(DTYPE_I64));
    assert_false(dtype_is_float(DTYPE_C64));
    assert_str(dtype_ascend(DTYPE_F16), "DT_FLOAT16");
    assert_str(dtype_runtime(DTYPE_F16), "FLOAT16");
    assert_string_equal(dtype_name(DTYPE_U8), "uint8");
}

TEST(the_name_of_a_kernel_tells_its_type)
{
    assert_int_equal(dtype_in(S("ncclDevKernel_AllReduce_Sum_bf16_RING_LL")), DTYPE_BF16);
    assert_int_equal(dtype_in(S("ampere_fp16_s16816gemm_fp16_64x64")), DTYPE_F16);
    assert_int_equal(dtype_in(S("ncclDevKernel_AllReduce_Sum_f32_TREE_LL")), DTYPE_F32);
    assert_int_equal(dtype_in(S("reduce_kernel")), DTYPE_NONE);
}

TEST_MAIN("ops/dtype", T(names_of_all_vendors_are_one_type), T(a_name_longer_than_any_is_unknown),
          T(each_row_has_its_words_for_itself), T(sizes_and_kinds_are_those_of_the_row),
          T(the_name_of_a_kernel_tells_its_type))
