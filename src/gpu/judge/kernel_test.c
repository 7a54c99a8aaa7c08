#include "gpu/judge/kernel.h"

#include <math.h>

#include "base/testing.h"

TEST(names_of_counters_lead_to_metrics)
{
    int rank;

    assert_int_equal(gpu_metric_of_counter(S("gpu__time_duration.sum"), &rank), GPU_M_DUR_NS);
    assert_int_equal(rank, 0);
    assert_int_equal(
        gpu_metric_of_counter(S("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), &rank),
        GPU_M_DRAM_PCT);
    assert_int_equal(rank, 1);
    assert_int_equal(gpu_metric_of_counter(S(""), &rank), -1);
    assert_int_equal(gpu_metric_of_name(S("occ_theory")), GPU_M_OCC_THEORY);
    for (int i = 0; i < GPU_METRICS; i++)
        assert_int_equal(gpu_metric_of_name(str_of(gpu_metric_name((enum gpu_metric)i))), i);
}

TEST(the_selected_warp_does_not_wait)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct str reason;
    double share;

    assert_false(gpu_kernel_top_stall(&k, &reason, &share));
    gpu_kernel_stall(&k, S("selected"), 50);
    gpu_kernel_stall(&k, S("wait"), 1);
    gpu_kernel_stall(&k, S("barrier"), 2);
    gpu_kernel_stall(&k, S("barrier"), 3); /* replaces */
    assert_true(gpu_kernel_top_stall(&k, &reason, &share));
    assert_str(reason, "barrier");
    assert_true(share == 0.75);
}

TEST(stand_ins_serve_where_the_throughput_is_missing)
{
    struct gpu_kernel k = gpu_kernel_none();
    const char *name;

    assert_true(isnan(gpu_chip_pct(&k, &name)));
    k.m[GPU_M_L1_LSU_PCT] = 61;
    k.m[GPU_M_L2_TAG_PCT] = 40;
    k.m[GPU_M_L2_XBAR_PCT] = 48;
    assert_true(gpu_l2_pct(&k) == 48);
    assert_true(gpu_chip_pct(&k, &name) == 61);
    assert_string_equal(name, "l1");
    k.m[GPU_M_L2_PCT] = 87;
    assert_true(gpu_chip_pct(&k, &name) == 87);
    assert_string_equal(name, "l2");
}

TEST(noise_of_the_tensor_counter_is_no_tensor_work)
{
    struct gpu_kernel k = gpu_kernel_none();
    const char *pipe;

    k.m[GPU_M_TC_PCT] = 0.014;
    k.m[GPU_M_ALU_PCT] = 2.8;
    k.m[GPU_M_FMA_PCT] = 15.7;
    assert_false(gpu_uses_tensor(&k));
    assert_true(gpu_compute_pct(&k, &pipe) == 15.7);
    assert_string_equal(pipe, "fma");
    k.m[GPU_M_TC_PCT] = 0.1;
    assert_true(gpu_compute_pct(&k, &pipe) == 0.1);
}

TEST(a_size_has_a_number_behind_the_name)
{
    assert_str(gpu_function_name(S("persistent#12")), "persistent");
    assert_str(gpu_function_name(S("persistent")), "persistent");
    assert_str(gpu_function_name(S("f(x)#")), "f(x)#");
    assert_str(gpu_function_name(S("#1")), "#1");
}

TEST_MAIN("gpu/judge/kernel", T(names_of_counters_lead_to_metrics),
          T(the_selected_warp_does_not_wait), T(stand_ins_serve_where_the_throughput_is_missing),
          T(noise_of_the_tensor_counter_is_no_tensor_work), T(a_size_has_a_number_behind_the_name))
