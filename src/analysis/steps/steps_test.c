#include "analysis/steps/steps.h"

#include "analysis/testing_study.h"

static void steps_kernel(nanos begin, nanos end)
{
    struct lane_key key = {.kind = LANE_STREAM};

    capture_slice(
        cap, &(struct slice){.begin = begin, .dur = end - begin, .lane = capture_lane(cap, key)});
}

static void mark(enum mark_source source, const char *name, int64_t number, nanos begin, nanos end)
{
    vec_push(&cap->marks, ((struct mark){.source = source,
                                         .name = capture_intern(cap, str_of(name)),
                                         .number = number,
                                         .begin = begin,
                                         .end = end}));
}

static const struct steps *look_with(struct study_options options)
{
    capture_seal(cap);
    study_begin(&study, cap, options);
    return study_steps(&study);
}

static const struct steps *steps_look(void)
{
    return look_with(study_defaults());
}

static uint32_t host(const char *name, nanos begin, nanos end)
{
    struct lane_key key = {.kind = LANE_THREAD};

    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = end - begin,
                                              .lane = capture_lane(cap, key),
                                              .kind = SLICE_ANNOTATION,
                                              .name = capture_intern(cap, str_of(name))});
}

TEST(a_step_lasts_until_the_next_mark_and_the_last_until_its_last_kernel)
{
    steps_kernel(5, 8);
    steps_kernel(120, 160);
    steps_kernel(210, 290);
    mark(MARK_PROFILER_STEP, "ProfilerStep#2", 2, 200, 230);
    mark(MARK_PROFILER_STEP, "ProfilerStep#1", 1, 100, 150);
    const struct steps *s = steps_look();

    assert_int_equal(s->n, 2);
    assert_int_equal(s->source, STEPS_PROFILER);
    assert_str(s->at[0].id, "ProfilerStep#1");
    assert_int_equal(s->at[0].window.end, 200);
    assert_int_equal(s->at[1].window.end, 290);
    assert_int_equal(s->kernels_before_first, 1);
}

TEST(a_last_step_without_kernels_ends_with_its_mark)
{
    steps_kernel(5, 8);
    mark(MARK_PROFILER_STEP, "ProfilerStep#1", 1, 0, 50);
    mark(MARK_PROFILER_STEP, "ProfilerStep#2", 2, 50, 90);

    assert_int_equal(steps_look()->at[1].window.end, 90);
}

TEST(the_profilers_steps_win_over_iterations)
{
    steps_kernel(5, 8);
    mark(MARK_ITERATION, "Iteration 1", 1, 0, 10);
    mark(MARK_ITERATION, "Iteration 2", 2, 10, 20);
    mark(MARK_PROFILER_STEP, "ProfilerStep#7", 7, 0, 20);
    const struct steps *s = steps_look();

    assert_int_equal(s->n, 1);
    assert_int_equal(s->at[0].number, 7);
    assert_string_equal(step_source_name(s->source), "profiler_step");
}

TEST(of_nested_marks_the_outer_one_counts)
{
    steps_kernel(5, 8);
    mark(MARK_ITERATION, "Step 1", 1, 0, 100);
    mark(MARK_ITERATION, "Step 7", 7, 20, 40); /* inside the first */
    mark(MARK_ITERATION, "Step 2", 2, 100, 200);
    const struct steps *s = steps_look();

    assert_int_equal(s->n, 2);
    assert_int_equal(s->at[1].number, 2);
}

TEST(marks_without_kernels_are_steps_all_the_same)
{
    mark(MARK_PROFILER_STEP, "ProfilerStep#3", 3, 10, 30);
    const struct steps *s = steps_look();

    assert_int_equal(s->n, 1);
    assert_int_equal(s->at[0].window.begin, 10);
    assert_int_equal(s->at[0].window.end, 30);
}

TEST(ranges_that_match_a_pattern_are_steps)
{
    struct study_options options = study_defaults();

    steps_kernel(5, 8);
    steps_kernel(60, 70);
    host("train batch 3", 0, 40);
    host("train batch 30", 10, 20); /* inside the first */
    host("train batch 4", 50, 80);
    host("other", 90, 95);
    options.step_marker = "^train batch [0-9]+$";
    const struct steps *s = look_with(options);

    assert_int_equal(s->n, 2);
    assert_string_equal(step_source_name(s->source), "marker");
    assert_int_equal(s->at[0].number, 3);
    assert_int_equal(s->at[0].window.end, 50);
    assert_int_equal(s->at[1].window.end, 70);
}

TEST(passes_and_nothing_at_all_can_be_asked_for)
{
    struct interval passes[] = {{5, 20}, {20, 40}};
    struct study_options options = study_defaults();

    steps_kernel(5, 8);
    steps_kernel(25, 38);
    mark(MARK_PROFILER_STEP, "ProfilerStep#1", 1, 0, 50);
    options.step_choice = STEP_CHOICE_PASSES;
    options.passes = (struct interval_set){passes, 2};
    assert_int_equal(look_with(options)->n, 2);
    assert_str(study_steps(&study)->at[1].id, "pass#1");
    assert_int_equal(study_steps(&study)->at[1].window.end, 38);
    study_end(&study);
    options.step_choice = STEP_CHOICE_NONE;
    study_begin(&study, cap, options);
    assert_int_equal(study_steps(&study)->source, STEPS_PSEUDO);
}

TEST(a_step_may_begin_with_the_first_kernel_launched_in_it)
{
    struct study_options options = study_defaults();
    struct lane_key key = {.kind = LANE_STREAM};
    lane_id lane = capture_lane(cap, key);
    uint32_t call[2], work[2];

    for (int i = 0; i < 2; i++) {
        call[i] = host("launch", 10 + 100 * i, 12 + 100 * i);
        work[i] =
            capture_slice(cap, &(struct slice){.begin = 30 + 100 * i, .dur = 5, .lane = lane});
        capture_flow(cap, FLOW_LAUNCH, call[i], work[i]);
    }
    mark(MARK_PROFILER_STEP, "ProfilerStep#1", 1, 0, 100);
    mark(MARK_PROFILER_STEP, "ProfilerStep#2", 2, 100, 200);
    options.device_windows = true;
    const struct steps *s = look_with(options);

    assert_int_equal(s->at[0].window.begin, 30);
    assert_int_equal(s->at[0].window.end, 130);
    assert_int_equal(s->at[1].window.begin, 130);
    assert_int_equal(s->at[1].window.end, 135);
    assert_int_equal(s->at[1].mark, 100);
}

TEST(work_that_repeats_is_a_step_only_where_that_is_wanted)
{
    for (int i = 0; i < 4; i++) {
        host("round", i * 100, i * 100 + 90);
        steps_kernel(i * 100 + 20, i * 100 + 30);
    }
    const struct steps *s = look_with(study_with_passes());

    assert_int_equal(s->n, 4);
    assert_int_equal(s->found, FOUND_RANGES);
    assert_str(s->at[3].id, "unit#3");
    study_end(&study);
    study_begin(&study, cap, study_defaults());
    assert_int_equal(study_steps(&study)->source, STEPS_PSEUDO);
    assert_int_equal(study_steps(&study)->found, FOUND_NOT);
}

TEST_MAIN("analysis/steps/steps",
          CASE(a_step_lasts_until_the_next_mark_and_the_last_until_its_last_kernel),
          CASE(a_last_step_without_kernels_ends_with_its_mark),
          CASE(the_profilers_steps_win_over_iterations), CASE(of_nested_marks_the_outer_one_counts),
          CASE(marks_without_kernels_are_steps_all_the_same),
          CASE(ranges_that_match_a_pattern_are_steps),
          CASE(passes_and_nothing_at_all_can_be_asked_for),
          CASE(a_step_may_begin_with_the_first_kernel_launched_in_it),
          CASE(work_that_repeats_is_a_step_only_where_that_is_wanted))
