#include "gpu/judge/rules.h"

#include <math.h>

#include "base/testing.h"

struct reading {
    double tc, fma, dram, l1, l2, occ, waves;
};

static struct gpu_class classify_test_judge(struct reading x)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_occupancy o = {.waves = x.waves, .blocks_per_sm = 1, .limiter = ""};
    struct gpu_peaks none = {0};
    struct gpu_roofline r =
        gpu_roofline_of(NAN, (struct gpu_work){.flops = NAN, .bytes = NAN}, NAN, 0, &none);

    k.m[GPU_M_DUR_NS] = 100000;
    k.m[GPU_M_TC_PCT] = x.tc;
    k.m[GPU_M_FMA_PCT] = x.fma;
    k.m[GPU_M_DRAM_PCT] = x.dram;
    k.m[GPU_M_L1_PCT] = x.l1;
    k.m[GPU_M_L2_PCT] = x.l2;
    k.m[GPU_M_OCC] = x.occ;
    return gpu_classify(&k, &o, &r);
}

static void is(struct gpu_class c, enum gpu_bound bound, const char *sub, bool is_weak)
{
    assert_int_equal(c.bound, bound);
    assert_string_equal(c.sub, sub);
    assert_int_equal(c.is_weak, is_weak);
}

TEST(each_rule_has_its_class)
{
    is(classify_test_judge((struct reading){0, 6.2, 81.1, 27.9, 87.4, 93, 2}), GPU_MEMORY, "dram",
       false);
    is(classify_test_judge((struct reading){75, 5, 30, 30, 30, 20, 9}), GPU_COMPUTE, "tensor",
       false);
    is(classify_test_judge((struct reading){0, 65, 30, 30, 30, 20, 9}), GPU_COMPUTE, "fma", false);
    is(classify_test_judge((struct reading){80, 5, 75, 30, 30, 20, 9}), GPU_COMPUTE, "balanced",
       false);
    is(classify_test_judge((struct reading){61, 5, 95, 30, 30, 20, 9}), GPU_MEMORY, "balanced",
       false);
    is(classify_test_judge((struct reading){0.008, 25.3, 0.3, 97.2, 19.6, 97.9, 15.5}), GPU_MEMORY,
       "l1", false);
    is(classify_test_judge((struct reading){0, 10, 10.3, 40, 94, 60, 9}), GPU_MEMORY, "l2", false);
    is(classify_test_judge((struct reading){0, 20, 54.4, 40, 40, 60, 9}), GPU_MEMORY, "dram", true);
    is(classify_test_judge((struct reading){0, 10, 10, 10, 10, 1.6, 0.0002}), GPU_LATENCY,
       "underfill", false);
    is(classify_test_judge((struct reading){0, 10, 10, 10, 10, 16.7, 9}), GPU_LATENCY, "occupancy",
       false);
    is(classify_test_judge((struct reading){0, 10, 10, 10, 10, 60, 1.4}), GPU_LATENCY, "tail",
       false);
    is(classify_test_judge((struct reading){0, 10, 10, 10, 10, 60, 9}), GPU_LATENCY, "unknown",
       false);
}

TEST(thresholds_belong_to_the_upper_side)
{
    is(classify_test_judge((struct reading){0, 59.9, 70, 0, 0, 90, 9}), GPU_MEMORY, "dram", false);
    is(classify_test_judge((struct reading){60, 0, 69.9, 0, 0, 90, 9}), GPU_COMPUTE, "tensor",
       false);
    is(classify_test_judge((struct reading){0, 0, 52.5, 0, 0, 90, 9}), GPU_MEMORY, "dram", true);
    is(classify_test_judge((struct reading){0, 0, 52.4, 0, 0, 90, 9}), GPU_LATENCY, "unknown",
       false);
}

TEST(confidence_is_the_distance_to_the_nearest_boundary)
{
    assert_true(
        fabs(classify_test_judge((struct reading){0, 6, 75, 0, 0, 90, 9}).confidence - 0.5) < 1e-9);
    assert_true(classify_test_judge((struct reading){0, 6, 95, 0, 0, 90, 9}).confidence == 1);
    /* weak: at most one half; compute not collected: at most 0.7 */
    assert_true(classify_test_judge((struct reading){0, 6, 60, 0, 0, 90, 9}).confidence == 0.5);
    struct gpu_class c = classify_test_judge((struct reading){0, NAN, 95, 0, 0, 90, 9});
    assert_true(c.no_compute && c.confidence == 0.7);
}

TEST(without_counters_only_a_roof_that_is_reached_is_proven)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_occupancy o = {.waves = 9, .limiter = ""};
    struct gpu_peaks peaks = {.gbps = 1000, .tflops = {[PEAK_BF16] = 100}};
    struct gpu_roofline r =
        gpu_roofline_of(1e5, (struct gpu_work){.flops = 1e9, .bytes = 1e8}, NAN, 100, &peaks);

    k.m[GPU_M_DUR_NS] = 1e5;
    struct gpu_class c = gpu_classify(&k, &o, &r);
    is(c, GPU_MEMORY, "model", false); /* 10 FLOP/B below the ridge of 100 */
    assert_true(c.is_model && c.confidence == 0.5);

    r.pct_roof = 30; /* slower: any of the other limits may be it */
    is(gpu_classify(&k, &o, &r), GPU_UNPROVEN, "no counters", false);
    k.m[GPU_M_DUR_NS] = 3000;
    is(gpu_classify(&k, &o, &r), GPU_LATENCY, "launch", false);
}

TEST(underfill_needs_idle_multiprocessors)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_occupancy wide = {.waves = 0.125, .blocks_per_sm = 8, .limiter = ""},
                         narrow = {.waves = 0.125, .blocks_per_sm = 2, .limiter = ""},
                         full = {.waves = 0.97, .blocks_per_sm = 1, .limiter = ""};

    assert_false(gpu_is_underfilled(&k, &wide)); /* a block on each multiprocessor */
    assert_true(gpu_is_underfilled(&k, &narrow));
    assert_false(gpu_is_underfilled(&k, &full));
    k.m[GPU_M_SM_CYCLES] = 1000;
    k.m[GPU_M_SM_ACTIVE] = 950;
    assert_false(gpu_is_underfilled(&k, &narrow)); /* seen busy */
}

TEST(a_reading_on_the_border_proves_nothing)
{
    struct gpu_class c = classify_test_judge((struct reading){0, 60, 10, 0, 0, 90, 9});

    is(c, GPU_COMPUTE, "fma", false);
    is(gpu_class_shown(&c), GPU_UNPROVEN, "borderline", false);
}

TEST(locality_needs_more_traffic_than_work)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_occupancy o = {.waves = 9, .limiter = ""};
    struct gpu_peaks peaks = {.gbps = 4800};
    struct gpu_work copy = {.flops = 0, .bytes = 1e9};
    struct gpu_roofline once = gpu_roofline_of(3e5, copy, 1.01e9, 0, &peaks),
                        twice = gpu_roofline_of(6e5, copy, 2e9, 0, &peaks);

    k.m[GPU_M_DRAM_PCT] = 81;
    k.m[GPU_M_L2_HIT] = 51;
    assert_false(gpu_classify(&k, &o, &once).has_locality_issue);
    assert_true(gpu_classify(&k, &o, &twice).has_locality_issue);
}

TEST(local_memory_that_dominates_l1_is_a_spill)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_occupancy o = {.waves = 9, .limiter = ""};
    struct gpu_peaks none = {0};
    struct gpu_roofline r =
        gpu_roofline_of(NAN, (struct gpu_work){.flops = NAN, .bytes = NAN}, NAN, 0, &none);

    k.m[GPU_M_DUR_NS] = 165000;
    k.m[GPU_M_DRAM_PCT] = 22;
    k.m[GPU_M_LOCAL_LD] = k.m[GPU_M_LOCAL_ST] = 40;
    k.m[GPU_M_L1_SECT] = 1000; /* 8 % of it */
    is(gpu_classify(&k, &o, &r), GPU_LATENCY, "spill", false);
    k.m[GPU_M_L1_SECT] = 2000; /* 4 %, and nobody knows what the pipes did */
    is(gpu_classify(&k, &o, &r), GPU_UNPROVEN, "few counters", false);
    k.m[GPU_M_ISSUE_PCT] = 30;
    is(gpu_classify(&k, &o, &r), GPU_LATENCY, "unknown", false);
    k.m[GPU_M_ISSUE_PCT] = NAN;
    k.m[GPU_M_L1_SECT] = NAN;
    k.m[GPU_M_LOCAL_PER_THREAD] = 768;
    is(gpu_classify(&k, &o, &r), GPU_LATENCY, "spill", false);
}

TEST_MAIN("gpu/judge/classify", T(each_rule_has_its_class), T(thresholds_belong_to_the_upper_side),
          T(confidence_is_the_distance_to_the_nearest_boundary),
          T(without_counters_only_a_roof_that_is_reached_is_proven),
          T(underfill_needs_idle_multiprocessors), T(a_reading_on_the_border_proves_nothing),
          T(locality_needs_more_traffic_than_work), T(local_memory_that_dominates_l1_is_a_spill))
