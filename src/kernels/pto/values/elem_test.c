#include "kernels/pto/values/elem.h"

#include <math.h>
#include <string.h>

#include "base/testing.h"

static const struct pto_convert rint_auto = {PTO_ROUND_RINT, PTO_SATURATION_AUTO, false};

static uint64_t f32_bits(float x)
{
    return pto_elem_from_f32(x, PTO_F32);
}

static uint64_t convert(float x, enum pto_dtype to, enum pto_round round)
{
    return pto_elem_convert(f32_bits(x), PTO_F32, to,
                            (struct pto_convert){round, PTO_SATURATION_AUTO, false});
}

TEST(every_code_survives_a_trip_through_f32)
{
    static const enum pto_dtype types[] = {PTO_F16,  PTO_BF16,   PTO_F8E4M3,   PTO_F8E5M2,
                                           PTO_HIF8, PTO_F8E8M0, PTO_F4E2M1X2, PTO_F4E1M2X2};
    for (size_t k = 0; k < ARRAY_LEN(types); k++) {
        bool four = pto_elem_lanes(types[k]) == 2;
        uint64_t n = four ? 16 : pto_dtype_size(types[k]) == 1 ? 256 : 65536;
        for (uint64_t code = 0; code < n; code++) {
            float x = pto_elem_f32(code, types[k]);
            if (isnan(x) || (isinf(x) && pto_dtype_size(types[k]) == 1))
                continue; /* NaN codes are many; small formats saturate */
            uint64_t back = pto_elem_convert(f32_bits(x), PTO_F32, types[k], rint_auto);
            assert_int_equal(back, code);
        }
    }
}

/* The quick conversions of runs and the exact ones of single values agree. */
TEST(quick_and_exact_conversions_agree)
{
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t bits = (uint32_t)(seed >> 32);
        if (i % 4 == 0) /* close to the range of f16 */
            bits = (bits & 0x8fffffff) | 0x30000000 | (bits & 0x1f000000);
        float x = pto_elem_f32(bits, PTO_F32);
        if (isnan(x))
            continue;
        assert_int_equal(pto_elem_from_f32(x, PTO_F16),
                         pto_elem_convert(bits, PTO_F32, PTO_F16, rint_auto));
        assert_int_equal(pto_elem_from_f32(x, PTO_BF16),
                         pto_elem_convert(bits, PTO_F32, PTO_BF16, rint_auto));
        assert_int_equal(pto_elem_from_f64((double)x, PTO_F32), bits);
    }
}

TEST(halves_are_what_the_standard_says)
{
    assert_int_equal(pto_elem_from_f32(1.0f, PTO_F16), 0x3c00);
    assert_int_equal(pto_elem_from_f32(65504.0f, PTO_F16), 0x7bff);
    assert_int_equal(pto_elem_from_f32(65519.996f, PTO_F16), 0x7bff);
    assert_int_equal(pto_elem_from_f32(65520.0f, PTO_F16), 0x7c00);
    assert_int_equal(pto_elem_from_f32(0x1p-24f, PTO_F16), 1);
    assert_int_equal(pto_elem_from_f32(0x1p-25f, PTO_F16), 0);
    assert_int_equal(pto_elem_from_f32(-0.0f, PTO_F16), 0x8000);
    assert_int_equal(pto_elem_from_f32(3.140625f, PTO_BF16), 0x4049);
}

TEST(every_mode_rounds_its_way)
{
    /* 1 + 2^-11 lies midway between 1 and the next f16. */
    const float half = 1 + 0x1p-11f;
    assert_int_equal(convert(half, PTO_F16, PTO_ROUND_RINT), 0x3c00);
    assert_int_equal(convert(half, PTO_F16, PTO_ROUND_NONE), 0x3c00);
    assert_int_equal(convert(half, PTO_F16, PTO_ROUND_AWAY), 0x3c01);
    assert_int_equal(convert(half, PTO_F16, PTO_ROUND_FLOOR), 0x3c00);
    assert_int_equal(convert(half, PTO_F16, PTO_ROUND_CEIL), 0x3c01);
    assert_int_equal(convert(-half, PTO_F16, PTO_ROUND_FLOOR), 0xbc01);
    assert_int_equal(convert(-half, PTO_F16, PTO_ROUND_TRUNC), 0xbc00);
    assert_int_equal(convert(half, PTO_F16, PTO_ROUND_ODD), 0x3c01);
    assert_int_equal(convert(1 + 0x1p-10f + 0x1p-13f, PTO_F16, PTO_ROUND_ODD), 0x3c01);
    struct pto_convert reference = {PTO_ROUND_AWAY, PTO_SATURATION_AUTO, true};
    assert_int_equal(pto_elem_convert(f32_bits(half), PTO_F32, PTO_F16, reference), 0x3c00);
    assert_int_equal((int64_t)convert(-2.5f, PTO_I32, PTO_ROUND_RINT), -2);
    assert_int_equal((int64_t)convert(-2.5f, PTO_I32, PTO_ROUND_AWAY), -3);
    assert_int_equal((int64_t)convert(-2.5f, PTO_I32, PTO_ROUND_TRUNC), -2);
    assert_int_equal((int64_t)convert(-2.5f, PTO_I32, PTO_ROUND_CEIL), -2);
    assert_int_equal((int64_t)convert(-2.5f, PTO_I32, PTO_ROUND_FLOOR), -3);
}

static uint64_t saturate(float x, enum pto_dtype to, enum pto_saturation how)
{
    return pto_elem_convert(f32_bits(x), PTO_F32, to,
                            (struct pto_convert){PTO_ROUND_RINT, how, false});
}

TEST(values_beyond_the_range_saturate_or_not)
{
    assert_int_equal((int64_t)saturate(1e20f, PTO_I8, PTO_SATURATION_AUTO), 127);
    assert_int_equal((int64_t)saturate(-1e20f, PTO_I64, PTO_SATURATION_ON), INT64_MIN);
    assert_int_equal((int64_t)saturate(INFINITY, PTO_I32, PTO_SATURATION_ON), INT32_MAX);
    assert_int_equal(saturate(NAN, PTO_I32, PTO_SATURATION_ON), 0);
    assert_int_equal(saturate(-5, PTO_U8, PTO_SATURATION_ON), 0);
    assert_int_equal((int64_t)saturate(300, PTO_I8, PTO_SATURATION_OFF), 44);
    assert_int_equal(saturate(1e6f, PTO_F16, PTO_SATURATION_AUTO), 0x7c00);
    assert_int_equal(saturate(1e6f, PTO_F16, PTO_SATURATION_ON), 0x7bff);
    assert_int_equal(saturate(1e6f, PTO_F8E4M3, PTO_SATURATION_AUTO), 0x7e);
    assert_int_equal(saturate(1e6f, PTO_F8E4M3, PTO_SATURATION_OFF), 0x7f);
    assert_int_equal(saturate(-1e6f, PTO_F8E5M2, PTO_SATURATION_OFF), 0xfc);
    assert_int_equal(saturate(1e6f, PTO_HIF8, PTO_SATURATION_AUTO), 0x6e);
    assert_int_equal(saturate(1e6f, PTO_HIF8, PTO_SATURATION_OFF), 0x6f);
    assert_int_equal(saturate(100, PTO_F4E2M1X2, PTO_SATURATION_OFF), 7);
}

TEST(integers_become_floats_with_one_rounding)
{
    assert_int_equal(pto_elem_from_i64((1ll << 53) + 1, PTO_F32), f32_bits(0x1p53f));
    /* 2^24 + 1 + 2^-something: a double would have rounded first. */
    int64_t big = (1ll << 62) + (1ll << 38) + 1;
    assert_int_equal(pto_elem_from_i64(big, PTO_F32), f32_bits(0x1.000002p62f));
    assert_int_equal(pto_elem_from_i64(INT64_MIN, PTO_F32), f32_bits(-0x1p63f));
    assert_int_equal(pto_elem_from_i64(-3, PTO_U8), 253);
    assert_int_equal((int64_t)pto_elem_from_i64(200, PTO_I8), -56);
}

TEST(hif8_has_tapered_precision)
{
    assert_true(pto_elem_f32(0x08, PTO_HIF8) == 1.0f);
    assert_true(pto_elem_f32(0x6e, PTO_HIF8) == 32768.0f);
    assert_true(isinf(pto_elem_f32(0x6f, PTO_HIF8)));
    assert_true(isnan(pto_elem_f32(0x80, PTO_HIF8)));
    assert_true(pto_elem_f32(0x01, PTO_HIF8) == 0x1p-22f);
    assert_true(pto_elem_f32(0x07, PTO_HIF8) == 0x1p-16f);
    assert_int_equal(pto_elem_from_f32(15.6f, PTO_HIF8), pto_elem_from_f32(16.0f, PTO_HIF8));
    assert_int_equal(pto_elem_from_f32(0x1p-24f, PTO_HIF8), 0);
}

TEST(elements_are_stored_little_endian)
{
    unsigned char bytes[8] = {0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0};
    assert_int_equal((int64_t)pto_elem_load(bytes, PTO_I8), -2);
    assert_int_equal((int64_t)pto_elem_load(bytes, PTO_I32), -2);
    assert_int_equal(pto_elem_load(bytes, PTO_U32), 0xfffffffe);
    assert_int_equal(pto_elem_load(bytes, PTO_I64), 0x1fffffffe);
    pto_elem_store(bytes, PTO_U16, 0x1234);
    assert_int_equal(bytes[0], 0x34);
    assert_int_equal(bytes[1], 0x12);
    assert_int_equal(bytes[2], 0xff);
}

TEST(pairs_come_apart_and_together)
{
    assert_int_equal(pto_elem_lanes(PTO_F4E2M1X2), 2);
    assert_int_equal(pto_elem_lane(0xa3, PTO_F4E2M1X2, 0), 3);
    assert_int_equal(pto_elem_lane(0xa3, PTO_F4E2M1X2, 1), 10);
    assert_int_equal(pto_elem_join(3, 10, PTO_F4E2M1X2), 0xa3);
    assert_int_equal(pto_elem_join(0x1234, 0x5678, PTO_BF16X2), 0x56781234);
    assert_int_equal(pto_elem_lane_type(PTO_HIF8X2), PTO_HIF8);
}

TEST(extremes_of_a_type)
{
    assert_int_equal(pto_elem_highest(PTO_F32), 0x7f800000);
    assert_int_equal(pto_elem_lowest(PTO_F16), 0xfc00);
    assert_int_equal(pto_elem_highest(PTO_F8E4M3), 0x7e);
    assert_int_equal((int64_t)pto_elem_lowest(PTO_I16), INT16_MIN);
    assert_int_equal(pto_elem_highest(PTO_U64), UINT64_MAX);
    assert_int_equal(pto_elem_lowest(PTO_U8), 0);
}

TEST_MAIN("kernels/pto/values/elem", T(every_code_survives_a_trip_through_f32),
          T(quick_and_exact_conversions_agree), T(halves_are_what_the_standard_says),
          T(every_mode_rounds_its_way), T(values_beyond_the_range_saturate_or_not),
          T(integers_become_floats_with_one_rounding), T(hif8_has_tapered_precision),
          T(elements_are_stored_little_endian), T(pairs_come_apart_and_together),
          T(extremes_of_a_type))
