#include "gpu/judge/rules.h"

#include <math.h>

#include "base/testing.h"

struct fixture {
    struct arena arena;
    struct gpu_kernel kernel;
    struct gpu_occupancy occupancy;
    struct gpu_roofline roofline;
    struct gpu_class class;
    struct gpu_peaks peaks;
    struct gpu_case c;
    struct gpu_opportunities found;
};

static void opportunities_begin(struct fixture *f, struct gpu_work work, double dur_ns)
{
    *f = (struct fixture){.peaks = {.gbps = 4800, .tflops = {[PEAK_BF16] = 1000}},
                          .occupancy = {.waves = 9, .limiter = "", .next_pct = NAN}};
    arena_init(&f->arena);
    f->kernel = gpu_kernel_none();
    f->kernel.cc = S("9.0");
    f->kernel.m[GPU_M_DUR_NS] = dur_ns;
    f->c = (struct gpu_case){&f->kernel, &f->occupancy, &f->roofline,        &f->class,
                             &f->peaks,  .work = work,  .peak_tflops = 1000, .share = 1};
}

static void opportunities_find(struct fixture *f)
{
    f->roofline = gpu_roofline_of(f->kernel.m[GPU_M_DUR_NS], f->c.work, gpu_dram_bytes(&f->kernel),
                                  1000, &f->peaks);
    f->class = gpu_classify(&f->kernel, &f->occupancy, &f->roofline);
    gpu_opportunities_find(&f->arena, &f->c, &f->found);
}

static void opportunities_end(struct fixture *f)
{
    vec_free(&f->found.all);
    gpu_kernel_free(&f->kernel);
    arena_free(&f->arena);
}

static const struct gpu_work unknown = {.flops = NAN, .bytes = NAN};

TEST(no_gain_passes_the_roof)
{
    struct fixture f;

    /* 80e9 bytes/(0.9*4800) = 18518.5 ns of 20000: 7.4 % at most, although the traffic doubled */
    opportunities_begin(&f, (struct gpu_work){.flops = 0, .bytes = 8e7}, 20000);
    f.kernel.m[GPU_M_DRAM_PCT] = 90;
    f.kernel.m[GPU_M_DRAM_RD] = 1.6e8;
    f.kernel.m[GPU_M_DRAM_WR] = 0;
    opportunities_find(&f);
    assert_int_equal(f.found.all.at[0].id, 1);
    assert_true(fabs(f.found.all.at[0].gain - 7.407) < 0.01);
    opportunities_end(&f);
}

TEST(tensor_cores_for_a_product_without_them)
{
    struct fixture f;

    opportunities_begin(&f, (struct gpu_work){1.374e11, 1.34e8, GPU_WORK_FORMULA, GPU_WORK_FORMULA},
                        27e6);
    f.kernel.m[GPU_M_TC_PCT] = 0;
    f.kernel.m[GPU_M_DRAM_PCT] = 1.3;
    f.c.is_tensor_type = f.c.is_gemm = true;
    opportunities_find(&f);
    assert_int_equal(f.found.all.at[0].id, 3);
    assert_true(f.found.all.at[0].gain == 95); /* clipped */
    opportunities_end(&f);
}

TEST(wgmma_only_where_mma_sync_is_busy)
{
    struct fixture f;

    opportunities_begin(&f, unknown, 1e6);
    f.kernel.m[GPU_M_TC_PCT] = 50;
    f.kernel.m[GPU_M_TC_HMMA] = 1e6;
    f.kernel.m[GPU_M_TC_GMMA] = 0;
    f.kernel.m[GPU_M_DRAM_PCT] = 10;
    opportunities_find(&f);
    assert_int_equal(f.found.all.at[0].id, 4);
    assert_true(fabs(f.found.all.at[0].gain - 100.0 / 3) < 1e-9);
    opportunities_end(&f);
    opportunities_begin(&f, unknown, 1e6);
    f.kernel.m[GPU_M_TC_PCT] = 28.7;
    f.kernel.m[GPU_M_TC_HMMA] = 1e6;
    f.kernel.m[GPU_M_TC_GMMA] = 0;
    opportunities_find(&f);
    assert_int_equal(f.found.all.n, 0);
    opportunities_end(&f);
}

TEST(an_empty_gpu_is_filled_up_to_its_saturation)
{
    struct fixture f;

    opportunities_begin(&f, unknown, 1e6);
    f.occupancy.waves = 0.25;
    f.occupancy.blocks_per_sm = 2;
    f.kernel.m[GPU_M_DRAM_PCT] = 36; /* u = 0.36 / 0.9 = 0.4 */
    opportunities_find(&f);
    assert_int_equal(f.found.all.at[0].id, 7);
    assert_true(fabs(f.found.all.at[0].gain - 60) < 1e-9);
    assert_str(f.found.all.at[0].trigger, "waves=0.25");
    opportunities_end(&f);
}

TEST(rules_of_one_family_count_once_and_local_ones_not_at_all)
{
    struct fixture f;
    struct gpu_rule a = {S("Occupancy"), S("TheoreticalOccupancy"),
                         S("OPT"),       S(""),
                         S("global"),    40},
                    b = {S("Occupancy"), S("AchievedOccupancy"), S("OPT"), S(""), S("global"), 38},
                    c = {S("Sched"), S("IssueSlotUtilization"), S("OPT"), S(""), S("local"), 80},
                    d = {S("Chart"), S("MemoryL2Compression"), S("OPT"), S(""), S("global"), 28.6};

    opportunities_begin(&f, unknown, 1e6);
    f.kernel.m[GPU_M_DRAM_PCT] = 65; /* the cap without formulas: 35 % */
    vec_push(&f.kernel.rules, a);
    vec_push(&f.kernel.rules, b);
    vec_push(&f.kernel.rules, c);
    vec_push(&f.kernel.rules, d);
    opportunities_find(&f);
    assert_int_equal(f.found.all.n, 3);
    assert_true(f.found.all.at[0].is_ranked && f.found.all.at[0].gain == 35);
    assert_str(f.found.all.at[0].name, "tool rule AchievedOccupancy");
    assert_false(f.found.all.at[1].is_ranked);
    assert_false(f.found.all.at[2].is_ranked);
    opportunities_end(&f);
}

TEST(a_stage_counts_by_its_share)
{
    struct fixture f;

    opportunities_begin(&f, unknown, 1e6);
    f.occupancy.waves = 1.5;
    f.kernel.m[GPU_M_DRAM_PCT] = 10;
    f.c.share = 0.5;
    opportunities_find(&f);
    assert_int_equal(f.found.all.at[0].id, 8);
    assert_true(fabs(f.found.all.at[0].gain - 12.5) < 1e-9);
    opportunities_end(&f);
}

TEST_MAIN("gpu/judge/opportunities", T(no_gain_passes_the_roof),
          T(tensor_cores_for_a_product_without_them), T(wgmma_only_where_mma_sync_is_busy),
          T(an_empty_gpu_is_filled_up_to_its_saturation),
          T(rules_of_one_family_count_once_and_local_ones_not_at_all),
          T(a_stage_counts_by_its_share))
