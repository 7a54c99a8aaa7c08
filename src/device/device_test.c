#include "device/device.h"

#include <math.h>

#include "base/testing.h"

static void assert_near(double value, double wanted, double within)
{
    assert_true(fabs(value - wanted) <= within);
}

static double ridge_of(const char *name)
{
    const struct device *d = device_find(&device_builtin, str_of(name));

    assert_non_null(d);
    return device_ridge(d, PEAK_BF16);
}

TEST(ridge_points_are_peak_over_bandwidth)
{
    /* 1000 * TFLOP/s / GB/s: 989.4/4800, 989.4/3352, 312/2039, 165.2/1008, 209.5/1792. */
    assert_near(ridge_of("H200"), 206.1, 0.05);
    assert_near(ridge_of("H100 80GB HBM3"), 295.2, 0.05);
    assert_near(ridge_of("A100-SXM4-80GB"), 153.0, 0.05);
    assert_near(ridge_of("RTX 4090"), 163.9, 0.05);
    assert_near(ridge_of("RTX 5090"), 116.9, 0.05);
    assert_near(ridge_of("B200"), 293, 0.5);
}

TEST(an_unpublished_peak_has_no_ridge_point)
{
    const struct device *d = device_find(&device_builtin, S("Ascend910B1"));

    assert_non_null(d);
    assert_true(device_ridge(d, PEAK_BF16) == 0);
    assert_true(device_ridge(d, PEAK_FP4) == 0);
}

TEST(the_longest_name_wins)
{
    assert_string_equal(device_find(&device_builtin, S("NVIDIA H200"))->name, "H200");
    assert_string_equal(device_find(&device_builtin, S("NVIDIA H200 NVL"))->name, "H200 NVL");
    assert_string_equal(device_find(&device_builtin, S("AMD Instinct MI300X OAM"))->name, "MI300X");
    assert_string_equal(device_find(&device_builtin, S("AMD Instinct MI250X"))->name, "MI250X");
    assert_string_equal(device_find(&device_builtin, S("NVIDIA L40S"))->name, "L40S");
    assert_string_equal(device_find(&device_builtin, S("Ascend910B4"))->name, "910B4");
    assert_string_equal(device_find(&device_builtin, S("Ascend 910B4-1"))->name, "910B4-1");
}

TEST(letter_case_and_vendor_words_do_not_count)
{
    assert_string_equal(device_find(&device_builtin, S("nvidia geforce rtx 5090"))->name,
                        "RTX 5090");
    assert_string_equal(device_find(&device_builtin, S("NVIDIA A100-SXM4-80GB"))->name,
                        "A100-SXM4-80GB");
    assert_string_equal(device_find(&device_builtin, S("a100 80gb pcie"))->name, "A100 80GB PCIe");
    assert_string_equal(device_find(&device_builtin, S("  RTX4090 "))->name, "RTX 4090");
}

TEST(a_name_nobody_knows_finds_nothing)
{
    assert_null(device_find(&device_builtin, S("")));
    assert_null(device_find(&device_builtin, S("NVIDIA")));
    assert_null(device_find(&device_builtin, S("H100")));
    assert_null(device_find(&device_builtin, S("910")));
}

TEST(a_name_that_goes_on_is_another_part)
{
    assert_string_equal(device_find(&device_builtin, S("NVIDIA A100-PCIE-40GB"))->name,
                        "A100-PCIE-40GB");
    assert_string_equal(device_find(&device_builtin, S("NVIDIA A10"))->name, "A10");
    assert_string_equal(device_find(&device_builtin, S("NVIDIA A10G"))->name, "A10G");
    assert_null(device_find(&device_builtin, S("NVIDIA A1000")));
    assert_null(device_find(&device_builtin, S("Tesla T400")));
    assert_null(device_find(&device_builtin, S("NVIDIA GeForce RTX 3080 Laptop GPU")));
    assert_string_equal(device_find(&device_builtin, S("NVIDIA GeForce RTX 2080 Ti"))->name,
                        "RTX 2080 Ti");
    assert_string_equal(device_find(&device_builtin, S("Ascend910_9391"))->name, "910_93");
}

/* 30 multiprocessors of 512 operations a cycle at 1.5 GHz. */
TEST(a_recording_may_tell_what_its_device_can_do)
{
    struct arena arena;
    struct device_traits t = {
        .name = S("NVIDIA RTX A123"), .cc = S("8.6"), .cores = 30, .clock_mhz = 1500, .gbps = 300};

    arena_init(&arena);
    const struct device *d = device_of_traits(&t, &arena);
    assert_non_null(d);
    assert_near(d->tflops[PEAK_TF32], 30 * 1.5e-3 * 512, 0.01);
    assert_near(d->gbps, 300, 0);
    t.cc = S("7.5");
    d = device_of_traits(&t, &arena);
    assert_true(d->tflops[PEAK_TF32] == 0 && d->tflops[PEAK_FP16] > 0);
    t.cc = S("3.0"); /* whose rates nobody wrote down */
    assert_null(device_of_traits(&t, &arena));
    t = (struct device_traits){.cores = 104, .memory_bytes = 64.0 * 1024 * 1024 * 1024};
    assert_string_equal(device_of_traits(&t, &arena)->vendor, "AMD");
    t.cc = S("9.0"); /* which is no Hopper */
    assert_string_equal(device_of_traits(&t, &arena)->vendor, "AMD");
    t.cores = 105;
    assert_null(device_of_traits(&t, &arena));
    arena_free(&arena);
}

TEST(a_beginning_of_a_name_lists_its_family)
{
    size_t h100 = 0, ascend = 0;

    for (size_t i = 0; i < device_builtin.n; i++) {
        h100 += device_has_prefix(&device_builtin.at[i], S("h100"));
        ascend += device_has_prefix(&device_builtin.at[i], S("Ascend"));
    }
    assert_int_equal(h100, 3);
    assert_int_equal(ascend, 10);
}

TEST(every_row_names_its_source_and_bandwidth)
{
    assert_int_equal(device_builtin.n, 86);
    for (size_t i = 0; i < device_builtin.n; i++) {
        assert_non_null(device_builtin.at[i].source);
        assert_non_null(device_builtin.at[i].vendor);
        assert_true(device_builtin.at[i].gbps > 0);
        assert_ptr_equal(device_find(&device_builtin, str_of(device_builtin.at[i].name)),
                         &device_builtin.at[i]);
    }
}

TEST(rates_times_cores_times_clock_give_the_quoted_peaks)
{
    /* 4096 ops * 132 cores * 1.83 GHz = 989.4e12; 2048 * 108 * 1.41 = 311.9; 512 * 128 * 2.52 =
     * 165.15; the mma.sync rate is two thirds of the wgmma one. */
    static const char *const names[] = {"H200", "A100-SXM4-40GB", "RTX 4090", "RTX 5090"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct device *d = device_find(&device_builtin, str_of(names[i]));
        const struct device_rate *r = device_rate_of(d);
        assert_non_null(r);
        double tflops = r->ops[PEAK_BF16] * d->cores * d->clock_mhz * 1e6 / 1e12;
        assert_near(tflops / d->tflops[PEAK_BF16], 1, 0.002);
    }
    assert_near(device_rate_of(device_find(&device_builtin, S("H200")))->bf16_mma_sync, 2730.67,
                0.005);
    assert_null(device_rate_of(device_find(&device_builtin, S("910B3"))));
}

TEST_MAIN("device/device", T(a_name_that_goes_on_is_another_part),
          T(a_recording_may_tell_what_its_device_can_do), T(ridge_points_are_peak_over_bandwidth),
          T(an_unpublished_peak_has_no_ridge_point), T(the_longest_name_wins),
          T(letter_case_and_vendor_words_do_not_count), T(a_name_nobody_knows_finds_nothing),
          T(a_beginning_of_a_name_lists_its_family), T(every_row_names_its_source_and_bandwidth),
          T(rates_times_cores_times_clock_give_the_quoted_peaks))
