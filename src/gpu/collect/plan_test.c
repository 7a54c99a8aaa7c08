#include "gpu/collect/plan.h"

#include "base/testing_arena.h"

static struct gpu_plan plan;

static int plan_done(void **state)
{
    gpu_plan_free(&plan);
    plan = (struct gpu_plan){0};
    return arena_leave(state);
}

static struct gpu_profile_job plan_job_of(const char *const *argv)
{
    struct gpu_profile_job job = {.argv = argv};

    while (argv[job.argc] != NULL)
        job.argc++;
    return job;
}

TEST(an_interpreter_lends_its_name_to_nobody)
{
    const char *const python[] = {"/usr/bin/python3.11", "-u", "src/train.py", "--x", NULL};
    const char *const plain[] = {"./build/demo.bin", NULL};
    struct gpu_profile_job job = plan_job_of(python);

    assert_int_equal(gpu_plan_make(&plan, &job, &arena, &diag), ST_OK);
    assert_str(plan.kernel, "train");
    gpu_plan_free(&plan);
    job = plan_job_of(plain);
    assert_int_equal(gpu_plan_make(&plan, &job, &arena, &diag), ST_OK);
    assert_str(plan.kernel, "demo.bin");
    assert_str(plan.slug, "default");
    assert_int_equal(plan.stages.n, 0);
}

TEST(the_spec_gives_command_stages_and_parameters)
{
    const char *const none[] = {NULL};
    const char *params[] = {"t=128"};
    struct gpu_profile_job job = plan_job_of(none);

    job.ask.spec = "examples/gpu/specs/mla_v1.json";
    job.ask.params = (struct words){params, 1, 0};
    assert_int_equal(gpu_plan_make(&plan, &job, &arena, &diag), ST_OK);
    assert_str(plan.kernel, "mla_decode");
    assert_str(plan.slug, "b32_s1_t128_bf16");
    assert_int_equal(plan.stages.n, 2);
    assert_string_equal(plan.selections[1].regex, "^mla_combine");
    assert_non_null(strstr(plan.command, "--t 128"));
    assert_non_null(plan.check);
}

TEST(a_selection_names_a_stage_or_makes_one)
{
    const char *const argv[] = {"./demo", NULL};
    struct gpu_profile_job job = plan_job_of(argv);

    job.ask.spec = "examples/gpu/specs/mla_v1.json";
    job.select = "combine";
    assert_int_equal(gpu_plan_make(&plan, &job, &arena, &diag), ST_OK);
    assert_int_equal(plan.stages.n, 1);
    assert_string_equal(plan.selections[0].regex, "^mla_combine");
    gpu_plan_free(&plan);
    job.ask.spec = NULL;
    job.select = "nvtx:step";
    assert_int_equal(gpu_plan_make(&plan, &job, &arena, &diag), ST_OK);
    assert_string_equal(plan.selections[0].range, "step");
    assert_null(plan.selections[0].regex);
}

TEST(event_mode_times_one_stage)
{
    const char *const argv[] = {"./demo", NULL};
    struct gpu_profile_job job = plan_job_of(argv);

    job.ask.spec = "examples/gpu/specs/mla_v1.json";
    job.mode = PROFILE_EVENT;
    assert_int_equal(gpu_plan_make(&plan, &job, &arena, &diag), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "gpu.many-stages"), 1);
}

TEST(words_are_quoted_where_a_shell_would_need_it)
{
    const char *const argv[] = {"a", "b c", "", "$d", NULL};

    assert_string_equal(gpu_command_line(argv, &arena), "a 'b c' '' '$d'");
}

#define TP(name) cmocka_unit_test_setup_teardown(name, arena_enter, plan_done)

TEST_MAIN("gpu/collect/plan", TP(an_interpreter_lends_its_name_to_nobody),
          TP(the_spec_gives_command_stages_and_parameters),
          TP(a_selection_names_a_stage_or_makes_one), TP(event_mode_times_one_stage),
          TA(words_are_quoted_where_a_shell_would_need_it))
