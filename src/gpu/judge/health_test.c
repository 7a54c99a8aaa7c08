#include "gpu/judge/rules.h"

#include <math.h>

#include "base/testing.h"

static const struct gpu_occupancy two_waves = {.waves = 2, .limiter = ""};

static struct gpu_roofline roofline(double bytes, double moved, double l2)
{
    struct gpu_peaks peaks = {.gbps = 4800, .l2_bytes = l2};

    return gpu_roofline_of(1e5, (struct gpu_work){.flops = NAN, .bytes = bytes}, moved, 0, &peaks);
}

TEST(a_plain_copy_is_healthy_although_half_of_it_misses)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_roofline r = roofline(5e8, 5.1e8, 6e7);
    struct gpu_health_row rows[GPU_HEALTH_ROWS];

    k.m[GPU_M_TC_PCT] = 0;
    k.m[GPU_M_DRAM_PCT] = 81;
    k.m[GPU_M_OCC] = 93;
    k.m[GPU_M_L2_HIT] = 51;
    k.m[GPU_M_LOCAL_LD] = k.m[GPU_M_LOCAL_ST] = 0;
    gpu_health_check(&k, &two_waves, &r, false, rows);
    assert_int_equal(rows[0].state, GPU_HEALTH_NONE);
    assert_int_equal(rows[1].state, GPU_HEALTH_OK);
    assert_int_equal(rows[2].state, GPU_HEALTH_OK);
    assert_string_equal(rows[3].note, "streaming");
    assert_int_equal(rows[4].state, GPU_HEALTH_OK);
    assert_int_equal(rows[5].state, GPU_HEALTH_OK);
}

TEST(limits_have_a_band_of_a_tenth)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_roofline r = roofline(NAN, NAN, 0);
    struct gpu_health_row rows[GPU_HEALTH_ROWS];

    k.m[GPU_M_DRAM_PCT] = 63; /* 70 - 7 */
    k.m[GPU_M_OCC] = 22;
    gpu_health_check(&k, &two_waves, &r, false, rows);
    assert_int_equal(rows[1].state, GPU_HEALTH_WARN);
    assert_int_equal(rows[2].state, GPU_HEALTH_BAD);
    assert_string_equal(rows[3].note, "not collected");
}

TEST(a_tensor_type_without_tensor_instructions_is_bad)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_roofline r = roofline(1e6, NAN, 6e7);
    struct gpu_health_row rows[GPU_HEALTH_ROWS];

    k.m[GPU_M_TC_PCT] = 0;
    k.m[GPU_M_DRAM_PCT] = 1;
    k.m[GPU_M_LOCAL_LD] = 2;
    k.m[GPU_M_LOCAL_ST] = 1;
    k.m[GPU_M_SPILL_REQ] = 0;
    gpu_health_check(&k, &two_waves, &r, true, rows);
    assert_int_equal(rows[0].state, GPU_HEALTH_BAD);
    assert_string_equal(rows[1].note, "cache-resident");
    assert_true(rows[4].value == 96 && rows[4].state == GPU_HEALTH_BAD);
    assert_non_null(strstr(rows[4].if_not, "local array"));
}

TEST_MAIN("gpu/judge/health", T(a_plain_copy_is_healthy_although_half_of_it_misses),
          T(limits_have_a_band_of_a_tenth), T(a_tensor_type_without_tensor_instructions_is_bad))
