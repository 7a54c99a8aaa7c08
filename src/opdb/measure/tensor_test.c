/*
 * Element types against bits worked out by hand.
 */
#include "opdb/measure/tensor.h"

#include <math.h>
#include <string.h>

#include "base/testing.h"

/* The bits of one value stored as a type. */
static uint64_t tensor_bits(enum dtype type, double value)
{
    uint64_t bits = 0;
    struct tensor t = {type, 1, {1}, &bits};

    tensor_put(&t, 0, value);
    return bits;
}

static double tensor_value(enum dtype type, uint64_t bits)
{
    struct tensor t = {type, 1, {1}, &bits};

    return tensor_at(&t, 0);
}

TEST(halves_round_to_the_nearest_and_ties_to_even)
{
    assert_int_equal(tensor_bits(DTYPE_F16, 1), 0x3c00);
    assert_int_equal(tensor_bits(DTYPE_F16, -0.0), 0x8000);
    /* Neighbours of 1 are 2^-10 apart above it. */
    assert_int_equal(tensor_bits(DTYPE_F16, 1 + 0x1p-11), 0x3c00);
    assert_int_equal(tensor_bits(DTYPE_F16, 1 + 0x3p-11), 0x3c02);
    assert_int_equal(tensor_bits(DTYPE_F16, 1 + 0x1.1p-11), 0x3c01);
    /* The largest is 65504; from half way to the next power of two on it is infinite. */
    assert_int_equal(tensor_bits(DTYPE_F16, 65504), 0x7bff);
    assert_int_equal(tensor_bits(DTYPE_F16, 65519.9), 0x7bff);
    assert_int_equal(tensor_bits(DTYPE_F16, 65520), 0x7c00);
    assert_int_equal(tensor_bits(DTYPE_F16, -1e300), 0xfc00);
    /* Subnormals are multiples of 2^-24. */
    assert_int_equal(tensor_bits(DTYPE_F16, 0x1p-24), 0x0001);
    assert_int_equal(tensor_bits(DTYPE_F16, 0x1p-25), 0x0000);
    assert_int_equal(tensor_bits(DTYPE_F16, 0x3p-25), 0x0002);
    assert_int_equal(tensor_bits(DTYPE_F16, 0x1p-14 - 0x1p-25), 0x0400); /* up to a normal one */
    assert_true(isnan(tensor_value(DTYPE_F16, tensor_bits(DTYPE_F16, NAN))));
    assert_true(tensor_value(DTYPE_F16, 0xfc00) == -INFINITY);
}

TEST(every_code_is_read_and_written_back_the_same)
{
    for (uint64_t bits = 0; bits < 0x10000; bits++) {
        double half = tensor_value(DTYPE_F16, bits), brain = tensor_value(DTYPE_BF16, bits);
        if (!isnan(half))
            assert_int_equal(tensor_bits(DTYPE_F16, half), bits);
        if (!isnan(brain))
            assert_int_equal(tensor_bits(DTYPE_BF16, brain), bits);
    }
    for (uint64_t bits = 0; bits < 0x100; bits++)
        if ((bits & 0x7f) != 0x7f)
            assert_int_equal(tensor_bits(DTYPE_F8E4M3, tensor_value(DTYPE_F8E4M3, bits)), bits);
}

TEST(eight_bits_have_no_infinity)
{
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, 1), 0x38);
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, 0x1p-9), 0x01); /* the smallest */
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, 448), 0x7e);    /* the largest */
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, 480), 0x7e);    /* would have the bits of NaN */
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, 1e9), 0x7e);
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, -INFINITY), 0xfe);
    assert_true(isnan(tensor_value(DTYPE_F8E4M3, tensor_bits(DTYPE_F8E4M3, NAN))));
    /* 1 and 1.125 are neighbours, 1.0625 is half way: the even one. */
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, 1.0625), 0x38);
    assert_int_equal(tensor_bits(DTYPE_F8E4M3, 1.1875), 0x3a);
}

TEST(brain_floats_are_the_upper_half_of_a_float)
{
    assert_int_equal(tensor_bits(DTYPE_BF16, 1), 0x3f80);
    assert_int_equal(tensor_bits(DTYPE_BF16, 1 + 0x1p-8), 0x3f80);
    assert_int_equal(tensor_bits(DTYPE_BF16, 1 + 0x3p-8), 0x3f82);
    assert_int_equal(tensor_bits(DTYPE_BF16, 3.4e38), 0x7f80); /* rounded up out of range */
    assert_true(isnan(tensor_value(DTYPE_BF16, tensor_bits(DTYPE_BF16, NAN))));
}

TEST(whole_numbers_saturate)
{
    assert_int_equal((int8_t)tensor_bits(DTYPE_I8, 2.5), 2);
    assert_int_equal((int8_t)tensor_bits(DTYPE_I8, 3.5), 4);
    assert_int_equal((int8_t)tensor_bits(DTYPE_I8, 127.5), 127);
    assert_int_equal((int8_t)tensor_bits(DTYPE_I8, -1e18), -128);
    assert_int_equal((int8_t)tensor_bits(DTYPE_I8, NAN), 0);
    assert_int_equal(tensor_bits(DTYPE_U8, -1), 0);
    assert_int_equal(tensor_bits(DTYPE_U8, 255.4), 255);
    assert_int_equal((int32_t)tensor_bits(DTYPE_I32, 3e9), INT32_MAX);
    assert_int_equal((int64_t)tensor_bits(DTYPE_I64, INFINITY), INT64_C(1) << 62);
    assert_int_equal(tensor_bits(DTYPE_BOOL, 0.1), 1);
    assert_int_equal(tensor_bits(DTYPE_BOOL, 0), 0);
}

TEST(sizes_that_no_memory_holds_are_refused)
{
    struct tensor t = {DTYPE_F32, 3, {2, 3, 4}, NULL};

    assert_int_equal(tensor_count(&t), 24);
    assert_int_equal(tensor_bytes(&t), 96);
    assert_int_equal(tensor_rows(&t), 6);
    assert_int_equal(tensor_back(&t, 0), 4);
    assert_int_equal(tensor_back(&t, 3), 1);
    t.rank = 0;
    assert_int_equal(tensor_count(&t), 1);
    t = (struct tensor){DTYPE_F64, 2, {INT64_C(1) << 40, INT64_C(1) << 40}, NULL};
    assert_int_equal(tensor_count(&t), -1);
    assert_int_equal(tensor_bytes(&t), -1);
    t.dim[1] = -1;
    assert_int_equal(tensor_count(&t), -1);
    t.dim[1] = 0;
    assert_int_equal(tensor_count(&t), 0);
    /* The count fits, its bytes would not. */
    t = (struct tensor){DTYPE_F64, 1, {INT64_C(1) << 60}, NULL};
    assert_int_equal(tensor_bytes(&t), -1);
}

TEST(types_are_found_by_their_names)
{
    assert_int_equal(tensor_dtype_of(S("DT_BF16")), DTYPE_BF16);
    assert_int_equal(tensor_dtype_of(S(" FLOAT ")), DTYPE_F32);
    assert_int_equal(tensor_dtype_of(S("FLOAT8_E4M3FN")), DTYPE_F8E4M3);
    assert_int_equal(tensor_dtype_of(S("DT_")), DTYPE_NONE);
    assert_int_equal(tensor_dtype_of(S("FLOAT1")), DTYPE_NONE);
    assert_int_equal(tensor_dtype_of((struct str){0}), DTYPE_NONE);
}

/* Any part of a tensor is filled alone as it would be with the rest. */
TEST(filling_a_part_gives_what_filling_all_gives)
{
    float all[600], part[600];
    struct tensor a = {DTYPE_F32, 1, {600}, all}, b = {DTYPE_F32, 1, {600}, part};

    tensor_fill(&a, 7, 0, 0, 600);
    memset(part, 0, sizeof(part));
    tensor_fill(&b, 7, 0, 290, 310);
    assert_memory_equal(all + 290, part + 290, 310 * sizeof(*all));
    for (size_t i = 0; i < 600; i++)
        assert_true(all[i] >= -1 && all[i] < 1);
}

TEST_MAIN("opdb/measure/tensor", T(halves_round_to_the_nearest_and_ties_to_even),
          T(every_code_is_read_and_written_back_the_same), T(eight_bits_have_no_infinity),
          T(brain_floats_are_the_upper_half_of_a_float), T(whole_numbers_saturate),
          T(sizes_that_no_memory_holds_are_refused), T(types_are_found_by_their_names),
          T(filling_a_part_gives_what_filling_all_gives))
