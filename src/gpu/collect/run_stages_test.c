/*
 * How launches become stages, with a spec and without.
 */
#include <math.h>
#include <stdio.h>

#include "base/testing_arena.h"
#include "gpu/collect/run.h"

static struct gpu_run run;

static int fresh(void **state)
{
    gpu_run_init(&run);
    return arena_enter(state);
}

static int done(void **state)
{
    gpu_run_free(&run);
    return arena_leave(state);
}

static void stages_add_launch(const char *name, double ns)
{
    struct gpu_kernel k = gpu_kernel_none();

    k.id = run.kernels.n;
    k.name = arena_str(&run.arena, str_of(name));
    k.m[GPU_M_DUR_NS] = ns;
    k.launches = 1;
    vec_push(&run.kernels, k);
}

static enum status stages_make(const struct gpu_spec *spec, struct gpu_work_option option)
{
    return gpu_run_stages(&run, spec, option, &diag);
}

static const struct gpu_work_option nothing = {0};

TEST(names_with_a_hundredth_of_the_time_are_stages)
{
    /* 10 000 ns in all: "late" has 1 %, "small" and "tiny" less. */
    stages_add_launch("small", 99);
    stages_add_launch("late", 100);
    stages_add_launch("main", 4900);
    stages_add_launch("tiny", 1);
    stages_add_launch("main", 4900);
    assert_int_equal(stages_make(NULL, nothing), ST_OK);
    assert_int_equal(run.stages.n, 3);
    /* In the order of their first launch; the rest comes last. */
    assert_str(run.stages.at[0].name, "late");
    assert_str(run.stages.at[1].name, "main");
    assert_str(run.stages.at[2].name, "other");
    assert_int_equal(run.stages.at[1].kernels.n, 2);
    assert_int_equal(run.stages.at[2].kernels.n, 2);
    assert_true(run.has_auto_stages);
}

TEST(no_more_stages_than_can_be_read)
{
    char name[16];

    for (int i = 0; i < 80; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        stages_add_launch(name, 1000 + i);
    }
    assert_int_equal(stages_make(NULL, nothing), ST_OK);
    assert_int_equal(run.stages.n, 65);
    /* The 64 longest have one of their own: from k16 on. */
    assert_str(run.stages.at[0].name, "k16");
    assert_int_equal(run.stages.at[64].kernels.n, 16);
}

TEST(one_name_is_a_stage_without_any_time)
{
    stages_add_launch("k", NAN);
    stages_add_launch("k", -5);
    assert_int_equal(stages_make(NULL, nothing), ST_OK);
    assert_int_equal(run.stages.n, 1);
    assert_int_equal(run.stages.at[0].kernels.n, 2);
}

#define LONG "kernel_with_a_name_that_is_longer_than_the_sixty_bytes_of_a_stage_"

TEST(short_names_that_meet_are_numbered)
{
    stages_add_launch(LONG "a", 100);
    stages_add_launch(LONG "b", 100);
    stages_add_launch("odd\nname", 100);
    stages_add_launch(LONG "c", 100);
    assert_int_equal(stages_make(NULL, nothing), ST_OK);
    assert_int_equal(run.stages.n, 4);
    assert_int_equal(run.stages.at[0].name.n, 60);
    assert_true(str_ends(run.stages.at[1].name, S("#2")));
    assert_str(run.stages.at[2].name, "odd name"); /* names stand in headings */
    assert_true(str_ends(run.stages.at[3].name, S("#3")));
}

TEST(a_spec_selects_by_expression_or_range)
{
    struct gpu_spec spec = {0};

    stages_add_launch("gemm_a", 10);
    stages_add_launch("softmax", 10);
    stages_add_launch("gemm_b", 10);
    run.kernels.at[1].nvtx = S("gemm.*");
    vec_push(&spec.stages, ((struct gpu_spec_stage){.name = S("products"), .select = S("^gemm")}));
    vec_push(&spec.stages,
             ((struct gpu_spec_stage){.name = S("range"), .select = S("nvtx:gemm.*")}));
    vec_push(&spec.stages, ((struct gpu_spec_stage){.name = S("none"), .select = S("conv")}));
    assert_int_equal(stages_make(&spec, nothing), ST_OK);
    assert_int_equal(run.stages.at[0].kernels.n, 2);
    assert_int_equal(run.stages.at[0].kernels.at[1], 2);
    assert_int_equal(run.stages.at[1].kernels.n, 1); /* the name of a range is no expression */
    assert_int_equal(run.stages.at[1].kernels.at[0], 1);
    assert_int_equal(run.stages.at[2].kernels.n, 0);
    assert_int_equal(run.notes.n, 1); /* a stage without launches is no silence */
    vec_free(&spec.stages);
}

TEST(formulas_and_expressions_that_make_no_sense_are_errors)
{
    static const struct gpu_spec_stage bad[] = {
        {.name = S_INIT("s"), .select = S_INIT("(")},
        {.name = S_INIT("s"), .select = S_INIT("k"), .flops = S_INIT("2*m*n*k")},
        {.name = S_INIT("s"), .select = S_INIT("k"), .bytes = S_INIT("1/0 +")},
    };

    stages_add_launch("k", 10);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct gpu_spec spec = {0};
        vec_push(&spec.stages, bad[i]);
        assert_int_equal(stages_make(&spec, nothing), ST_FORMAT);
        vec_free(&spec.stages);
    }
}

TEST(work_of_the_command_line_is_of_one_stage)
{
    struct gpu_work_option work = {.flops = S("2*1e6"), .dtype = S("fp16")};

    stages_add_launch("k", 10);
    assert_int_equal(stages_make(NULL, work), ST_OK);
    assert_true(run.stages.at[0].work.flops == 2e6);
    assert_int_equal(run.stages.at[0].work.flops_source, GPU_WORK_FORMULA);
    assert_str(run.stages.at[0].dtype, "fp16");
    gpu_run_no_stages(&run);
    stages_add_launch("other_k", 10);
    assert_int_equal(stages_make(NULL, work), ST_FORMAT);
    assert_string_equal(diag.entries.at[0].code, "gpu.several-stages");
}

TEST_MAIN("gpu/collect/run_stages", TF(names_with_a_hundredth_of_the_time_are_stages),
          TF(no_more_stages_than_can_be_read), TF(one_name_is_a_stage_without_any_time),
          TF(short_names_that_meet_are_numbered), TF(a_spec_selects_by_expression_or_range),
          TF(formulas_and_expressions_that_make_no_sense_are_errors),
          TF(work_of_the_command_line_is_of_one_stage))
