#include "gpu/judge/variants.h"

#include <math.h>

#include "base/testing.h"

static const uint64_t site[KERNEL_FIELDS];

/* Two stages of a group, a and b, with 20 % and `busy` % of the memory bandwidth. */
static void make_run(struct gpu_run *run, double busy)
{
    static const char *const names[] = {"a", "b"};

    gpu_run_init(run);
    for (size_t i = 0; i < 2; i++) {
        struct gpu_kernel k = gpu_kernel_none();
        k.name = str_of(names[i]);
        k.m[GPU_M_DRAM_PCT] = i == 0 ? 20 : busy;
        vec_push(&run->kernels, k);
    }
    for (size_t i = 0; i < 2; i++) {
        vec_push(&run->stages, ((struct gpu_stage){.name = str_of(names[i]), .group = S("pair")}));
        vec_push(&run->stages.at[i].kernels, i);
        run->stages.at[i].main = &run->kernels.at[i];
        run->stages.at[i].share = 0.5;
    }
}

static struct gpu_launch overlap_launch(const char *name, int64_t start, int64_t duration)
{
    return (struct gpu_launch){
        .launch = site, .name = str_of(name), .start = start, .duration_ns = duration};
}

TEST(stages_one_after_the_other_could_run_side_by_side)
{
    struct gpu_launch launches[] = {overlap_launch("a", 0, 600), overlap_launch("b", 600, 400),
                                    overlap_launch("other", 0, 5000)};
    struct gpu_run run;

    make_run(&run, 20);
    gpu_overlap_judge(&run, launches, 3);
    assert_int_equal(run.extra.n, 1);
    assert_int_equal(run.extra.at[0].id, 13);
    /* The longest takes 600 of 1000; the work (0.2/0.9 of it) fits into that. */
    assert_true(fabs(run.extra.at[0].gain - 40) < 1e-9);
    assert_true(str_equal(run.extra.at[0].trigger, S("E=0.00 of pair")));
    gpu_run_free(&run);
}

TEST(work_that_fills_the_chip_bounds_the_gain)
{
    struct gpu_launch launches[] = {overlap_launch("a", 0, 450), overlap_launch("b", 450, 450)};
    struct gpu_run run;

    make_run(&run, 70);
    gpu_overlap_judge(&run, launches, 2);
    /* 450 * 0.2/0.9 + 450 * 0.7/0.9 = 450, as long as the longest: 50 %. */
    assert_true(fabs(run.extra.at[0].gain - 50) < 1e-9);
    gpu_run_free(&run);
    make_run(&run, 88);
    gpu_overlap_judge(&run, launches, 2);
    /* 450 * (0.2 + 0.88) / 0.9 = 540 of 900. */
    assert_true(fabs(run.extra.at[0].gain - 40) < 1e-9);
    gpu_run_free(&run);
}

TEST(stages_that_overlap_or_have_no_counters_are_left_alone)
{
    struct gpu_launch beside[] = {overlap_launch("a", 0, 500), overlap_launch("b", 10, 500)};
    struct gpu_launch apart[] = {overlap_launch("a", 0, 500), overlap_launch("b", 500, 500)};
    struct gpu_run run;

    make_run(&run, 20);
    gpu_overlap_judge(&run, beside, 2);
    assert_int_equal(run.extra.n, 0);
    assert_int_equal(run.notes.n, 1);
    run.kernels.at[1].m[GPU_M_DRAM_PCT] = NAN;
    gpu_overlap_judge(&run, apart, 2);
    assert_int_equal(run.extra.n, 0);
    gpu_overlap_judge(&run, apart, 0);
    assert_int_equal(run.extra.n, 0);
    gpu_run_free(&run);
}

TEST_MAIN("gpu/judge/overlap", T(stages_one_after_the_other_could_run_side_by_side),
          T(work_that_fills_the_chip_bounds_the_gain),
          T(stages_that_overlap_or_have_no_counters_are_left_alone))
