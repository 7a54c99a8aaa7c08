#include "gpu/judge/roofline.h"

#include <math.h>

#include "base/testing.h"

static void near(double value, double expected, double relative)
{
    assert_true(fabs(value - expected) <= fabs(expected) * relative);
}

static const struct gpu_peaks h200 = {.gbps = 4800, .tflops = {[PEAK_BF16] = 989.4}};

TEST(latent_attention_has_the_floor_of_the_slower_side)
{
    /* b=32 h=128 s=1 t=4096 k=512 p=64, 2 bytes: 2bhst(2k+p) and 2(bhs(2k+p) + bt(k+p)) */
    double f = 2.0 * 32 * 128 * 4096 * 1088, b = 2 * (32.0 * 128 * 1088 + 32.0 * 4096 * 576);
    struct gpu_roofline r =
        gpu_roofline_of(73800, (struct gpu_work){.flops = f, .bytes = b}, NAN, 989.4, &h200);

    near(f, 3.651e10, 0.001);
    near(b, 1.599e8, 0.001);
    near(r.ai, 228.3, 0.001);
    near(r.floor_ns, 36900, 0.001);
    near(r.gap, 2.0, 0.001);
    near(r.pct_roof, 50, 0.001);
    assert_string_equal(r.bound, "compute");
}

TEST(work_without_operations_is_judged_by_its_bytes)
{
    struct gpu_roofline r = gpu_roofline_of(509000, (struct gpu_work){.flops = 0, .bytes = 2.147e9},
                                            2.2e9, 989.4, &h200);

    near(r.pct_roof, 87.9, 0.001); /* 4218 of 4800 GB/s */
    near(r.traffic, 1.0247, 0.001);
    assert_string_equal(r.bound, "memory");
    assert_false(r.is_over_roof || r.is_over_dram || r.is_too_fast);
}

TEST(impossible_readings_are_flagged)
{
    struct gpu_work w = {.flops = 1e12, .bytes = 1e6};
    struct gpu_roofline r = gpu_roofline_of(400000, w, 2e9, 989.4, &h200);

    assert_true(r.is_over_roof); /* 2500 TFLOP/s */
    assert_true(r.is_too_fast);
    assert_true(r.is_over_dram); /* 5000 GB/s */
}

TEST(what_is_missing_stays_missing)
{
    struct gpu_peaks none = {0};
    struct gpu_roofline r =
        gpu_roofline_of(1000, (struct gpu_work){.flops = NAN, .bytes = NAN}, NAN, 0, &none);

    assert_true(isnan(r.tflops) && isnan(r.pct_roof) && isnan(r.floor_ns) && isnan(r.gap));
    assert_string_equal(r.bound, "");
    assert_false(r.is_over_roof || r.is_over_dram || r.is_too_fast || r.is_cached);
}

TEST(the_median_has_an_interval)
{
    double ns[] = {9, 1, 5, 3, 7, 2, 8, 4, 6, 10};
    struct gpu_timing t = gpu_timing_of(ns, 10);

    assert_true(t.median == 5.5 && t.min == 1 && t.p10 == 1 && t.p90 == 9);
    /* ranks floor(5 - 3.099) = 1 and ceil(6 + 3.099) = 10; MAD of 1..10 around 5.5 is 2.5 */
    assert_true(t.low == 1 && t.high == 10);
    near(t.cv, 1.4826 * 2.5 / 5.5, 1e-12);
}

TEST(no_runs_have_no_timing)
{
    struct gpu_timing t = gpu_timing_of(NULL, 0);

    assert_true(isnan(t.median) && isnan(t.cv));
}

TEST(operations_are_counted_by_kind)
{
    struct gpu_kernel k = gpu_kernel_none();

    assert_true(isnan(gpu_counted_flops(&k).total));
    k.m[GPU_M_OPS_BF16] = 100;
    k.m[GPU_M_FFMA] = 10;
    k.m[GPU_M_HFMA] = 1;
    assert_true(gpu_counted_flops(&k).total == 124);
    k.m[GPU_M_HALF_OPS] = 5; /* of which one is fused */
    k.m[GPU_M_DOUBLE_OPS] = 7;
    k.m[GPU_M_DFMA] = 3;
    struct gpu_flops f = gpu_counted_flops(&k);
    assert_true(f.of[GPU_FLOPS_FP16] == 12 && f.of[GPU_FLOPS_FP64] == 10);
    assert_true(f.total == 142 && isnan(f.of[GPU_FLOPS_TENSOR_FP8]));
    k.m[GPU_M_THREAD_INST_ON] = 100; /* five of a hundred: constants on their way to registers */
    assert_true(gpu_counted_flops(&k).total == 130);
}

TEST(busy_tensor_cores_without_operations_leave_the_sum_unknown)
{
    struct gpu_kernel k = gpu_kernel_none();

    k.m[GPU_M_FFMA] = 10;
    k.m[GPU_M_TC_PCT] = 80;
    k.m[GPU_M_OPS_BF16] = 0;
    struct gpu_flops f = gpu_counted_flops(&k);
    assert_true(isnan(f.total) && f.of[GPU_FLOPS_FP32] == 20);
    k.m[GPU_M_OPS_FP16_GMMA] = 1000;
    assert_true(gpu_counted_flops(&k).total == 1020);
}

TEST(the_type_that_takes_longest_has_the_roof)
{
    struct gpu_peaks peaks = {.tflops = {[PEAK_FP32] = 60, [PEAK_BF16] = 1000}};
    struct gpu_kernel k = gpu_kernel_none();

    struct gpu_flops none = gpu_counted_flops(&k);
    assert_true(gpu_flops_main(&none, &peaks) == GPU_FLOP_TYPES);
    k.m[GPU_M_OPS_BF16] = 500;
    k.m[GPU_M_FADD] = 40;
    struct gpu_flops f = gpu_counted_flops(&k);
    assert_true(gpu_flops_main(&f, &peaks) == GPU_FLOPS_FP32);
    k.m[GPU_M_FADD] = 20;
    f = gpu_counted_flops(&k);
    assert_true(gpu_flops_main(&f, &peaks) == GPU_FLOPS_TENSOR_BF16);
    assert_true(gpu_flop_peak(GPU_FLOPS_TENSOR_BF16) == PEAK_BF16);
}

TEST(levels_of_memory_have_their_own_bytes)
{
    struct gpu_peaks peaks = {.gbps = 4000};
    struct gpu_level level[GPU_LEVELS];
    struct gpu_kernel k = gpu_kernel_none();

    k.m[GPU_M_DUR_NS] = 1000;
    k.m[GPU_M_L1_SECT] = 100000;
    k.m[GPU_M_L1_PEAK] = 32e12;
    k.m[GPU_M_DRAM_RD] = 1e6;
    k.m[GPU_M_DRAM_WR] = 1e6;
    gpu_levels_of(&k, 6.4e6, &peaks, level);
    near(level[GPU_LEVEL_L1].bytes, 3.2e6, 1e-12);
    near(level[GPU_LEVEL_L1].pct, 10, 1e-12);
    near(level[GPU_LEVEL_L1].ai, 2, 1e-12);
    assert_true(isnan(level[GPU_LEVEL_L2].bytes) && isnan(level[GPU_LEVEL_L2].ai));
    near(level[GPU_LEVEL_DRAM].gbps, 2000, 1e-12);
    near(level[GPU_LEVEL_DRAM].pct, 50, 1e-12);
}

TEST_MAIN("gpu/judge/roofline", T(latent_attention_has_the_floor_of_the_slower_side),
          T(work_without_operations_is_judged_by_its_bytes), T(impossible_readings_are_flagged),
          T(what_is_missing_stays_missing), T(the_median_has_an_interval),
          T(no_runs_have_no_timing), T(operations_are_counted_by_kind),
          T(busy_tensor_cores_without_operations_leave_the_sum_unknown),
          T(the_type_that_takes_longest_has_the_roof), T(levels_of_memory_have_their_own_bytes))
