#include "gpu/ncu/ncu_page.h"

#include "base/testing_arena.h"

static double units_number(const char *text, enum gpu_number_style style)
{
    double value = -1;

    assert_true(gpu_number(str_of(text), style, &value));
    return value;
}

TEST(separators_between_thousands_go)
{
    assert_true(units_number("1,230,503,936", GPU_NUMBERS_ENGLISH) == 1230503936.0);
    assert_true(units_number("6,107,384.74", GPU_NUMBERS_ENGLISH) == 6107384.74);
    assert_true(units_number("3.176800", GPU_NUMBERS_ENGLISH) == 3.1768);
    assert_true(units_number("1.230.503,5", GPU_NUMBERS_CONTINENTAL) == 1230503.5);
    assert_true(units_number("12,5", GPU_NUMBERS_CONTINENTAL) == 12.5);
    assert_true(units_number("1.234", GPU_NUMBERS_CONTINENTAL) == 1234);
}

TEST(what_is_missing_is_no_number)
{
    static const char *const missing[] = {"n/a", "nan", "", "-", "CachePreferNone", "inf"};
    double value;

    for (size_t i = 0; i < ARRAY_LEN(missing); i++)
        assert_false(gpu_number(str_of(missing[i]), GPU_NUMBERS_ENGLISH, &value));
}

TEST(a_file_shows_its_style)
{
    assert_int_equal(gpu_number_evidence(S("1,234.5")), 1);
    assert_int_equal(gpu_number_evidence(S("1.234,5")), -1);
    assert_int_equal(gpu_number_evidence(S("1.234.567")), -1);
    assert_int_equal(gpu_number_evidence(S("1,234,567")), 1);
    assert_int_equal(gpu_number_evidence(S("97.15")), 1);
    assert_int_equal(gpu_number_evidence(S("97,15")), -1);
    assert_int_equal(gpu_number_evidence(S("1.234")), 0);
    assert_int_equal(gpu_number_evidence(S("(16, 16, 1)")), 0);
    assert_int_equal(gpu_number_evidence(S("-1.234.567,5")), -1);
    assert_int_equal(gpu_number_evidence(S("2025.3.1")), 0); /* a version */
    assert_int_equal(gpu_number_evidence(S("10.0,5.1")), 0);
}

TEST(units_have_a_base)
{
    double factor;

    assert_str(gpu_base_unit(&arena, S("Mbyte"), &factor), "byte");
    assert_true(factor == 1e6);
    assert_str(gpu_base_unit(&arena, S("Tbyte/s"), &factor), "byte/s");
    assert_true(factor == 1e12);
    assert_str(gpu_base_unit(&arena, S("Kbyte/block"), &factor), "byte/block");
    assert_true(factor == 1e3);
    assert_str(gpu_base_unit(&arena, S("sector/us"), &factor), "sector/s");
    assert_true(factor == 1e6);
    assert_str(gpu_base_unit(&arena, S("us"), &factor), "ns");
    assert_true(factor == 1e3);
    assert_str(gpu_base_unit(&arena, S("furlong"), &factor), "furlong");
    assert_true(factor == 1);
}

TEST_MAIN("gpu/collect/units", T(separators_between_thousands_go), T(what_is_missing_is_no_number),
          T(a_file_shows_its_style), TA(units_have_a_base))
