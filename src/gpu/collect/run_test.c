#include "gpu/collect/run.h"

#include <math.h>

#include "base/testing.h"
#include "base/testing_arena.h"

static struct gpu_run run;

static void run_test_add(const char *name, uint32_t grid, double ns, uint64_t launches)
{
    struct gpu_kernel k = gpu_kernel_none();

    k.id = run.kernels.n;
    k.name = str_of(name);
    k.grid[0] = grid;
    k.grid[1] = k.grid[2] = 1;
    k.m[GPU_M_DUR_NS] = ns;
    k.launches = launches;
    vec_push(&run.kernels, k);
}

/* The only stage. */
static const struct gpu_stage *judged(void)
{
    assert_int_equal(gpu_run_stages(&run, NULL, (struct gpu_work_option){0}, &diag), ST_OK);
    gpu_run_judge(&run);
    assert_int_equal(run.stages.n, 1);
    return &run.stages.at[0];
}

static int run_test_begin(void **state)
{
    gpu_run_init(&run);
    return arena_enter(state);
}

static int run_test_end(void **state)
{
    gpu_run_free(&run);
    return arena_leave(state);
}

TEST(the_middle_of_the_launches_counts)
{
    run_test_add("k", 8, 300, 0);
    run_test_add("k", 8, 100, 0);
    run_test_add("k", 8, 200, 0);
    run_test_add("k", 8, 500, 0);
    const struct gpu_stage *s = judged();
    assert_true(s->dur_ns == 250);
    assert_int_equal(s->main->id, 2);
}

TEST(a_launch_without_a_time_is_not_one_of_0_ns)
{
    run_test_add("k", 8, NAN, 0);
    run_test_add("k", 8, 200, 0);
    run_test_add("k", 8, NAN, 0);
    const struct gpu_stage *s = judged();
    assert_true(s->dur_ns == 200);
    assert_int_equal(s->timing.n, 1);
    assert_int_equal(s->main->id, 1);
}

TEST(without_any_time_there_is_still_a_kernel_to_look_at)
{
    run_test_add("k", 8, NAN, 0);
    const struct gpu_stage *s = judged();
    assert_true(isnan(s->dur_ns));
    assert_int_equal(s->main->id, 0);
}

TEST(launches_that_stand_together_weigh_as_many)
{
    run_test_add("k", 4096, 900, 2);
    run_test_add("k", 8, 10, 5);
    run_test_add("k", 16, 20, 3);
    const struct gpu_stage *s = judged();
    assert_true(s->dur_ns == 15); /* the 5th and the 6th of ten */
    assert_int_equal(s->main->id, 1);
}

TEST(other_durations_are_added_up_alike)
{
    run_test_add("k", 8, 10, 5);
    run_test_add("k", 16, 20, 1);
    const double ns[] = {7, 70}, none[] = {NAN, NAN};
    const struct gpu_stage *s = judged();
    assert_true(gpu_run_stage_time(&run, s, ns) == 7);
    assert_true(isnan(gpu_run_stage_time(&run, s, none)));
    assert_true(s->dur_ns == 10);
}

TEST(counts_that_cannot_be_do_not_overflow)
{
    run_test_add("k", 8, 10, UINT64_MAX);
    run_test_add("k", 8, 20, UINT64_MAX);
    run_test_add("k", 8, 30, UINT64_MAX);
    assert_true(judged()->dur_ns == 20);
}

#define TW(name) cmocka_unit_test_setup_teardown(name, run_test_begin, run_test_end)

TEST_MAIN("gpu/collect/run", TW(the_middle_of_the_launches_counts),
          TW(a_launch_without_a_time_is_not_one_of_0_ns),
          TW(without_any_time_there_is_still_a_kernel_to_look_at),
          TW(launches_that_stand_together_weigh_as_many), TW(other_durations_are_added_up_alike),
          TW(counts_that_cannot_be_do_not_overflow))
