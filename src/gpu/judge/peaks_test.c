#include "gpu/judge/roofline.h"

#include <math.h>

#include "base/testing.h"

static void near(double value, double expected, double tolerance)
{
    assert_true(fabs(value - expected) <= tolerance);
}

TEST(a_device_speaks_for_itself)
{
    struct gpu_device d = {.name = S("NVIDIA H200"),
                           .sm_count = 132,
                           .sm_clock_khz = 1980000,
                           .mem_clock_khz = 3201000,
                           .bus_bits = 6016,
                           .l2_bytes = 62914560};
    struct gpu_peaks p = gpu_peaks_of(&device_builtin, &d, (struct gpu_peak_override){0});

    assert_int_equal(p.source, GPU_PEAKS_DEVICE);
    near(p.gbps, 4814.3, 0.05);
    near(p.tflops[PEAK_BF16], 1070.5, 0.1); /* 132 * 4096 * 1.98e9 */
    near(p.datasheet[PEAK_BF16], 989.4, 0.001);
    assert_str(p.cc, "9.0");
}

TEST(the_table_serves_machines_without_the_chip)
{
    struct gpu_device d = {.name = S("H200")};
    struct gpu_peaks p = gpu_peaks_of(&device_builtin, &d, (struct gpu_peak_override){0});

    assert_int_equal(p.source, GPU_PEAKS_TABLE);
    near(gpu_ridge(&p, PEAK_BF16), 206.1, 0.05);
    assert_true(p.sm_count == 132);
}

TEST(the_user_has_the_last_word)
{
    struct gpu_device d = {.name = S("H200")};
    struct gpu_peaks p = gpu_peaks_of(&device_builtin, &d, (struct gpu_peak_override){500, 1000});

    assert_int_equal(p.source, GPU_PEAKS_USER);
    near(gpu_ridge(&p, PEAK_FP8), 500, 1e-9);
}

TEST(an_unknown_chip_has_no_peaks)
{
    struct gpu_device d = {.name = S("Abacus 1")};
    struct gpu_peaks p = gpu_peaks_of(&device_builtin, &d, (struct gpu_peak_override){0});

    assert_int_equal(p.source, GPU_PEAKS_NONE);
    assert_true(p.gbps == 0 && gpu_ridge(&p, PEAK_BF16) == 0);
}

TEST_MAIN("gpu/judge/peaks", T(a_device_speaks_for_itself),
          T(the_table_serves_machines_without_the_chip), T(the_user_has_the_last_word),
          T(an_unknown_chip_has_no_peaks))
