#include "analysis/steps.h"

#include "analysis/study.h"
#include "base/testing.h"

static struct capture *cap;
static struct study st;

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    return 0;
}

static int done(void **state)
{
    (void)state;
    study_end(&st);
    capture_free(cap);
    return 0;
}

static void mark(enum mark_source source, const char *name, int64_t number, nanos begin, nanos end)
{
    vec_push(&cap->marks,
             ((struct mark){source, capture_intern(cap, str_of(name)), number, begin, end}));
}

static void kernel(nanos begin, nanos dur, const char *step)
{
    struct attr own = attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, str_of(step)));
    lane_id lane = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM});

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = lane,
                                       .own = *step ? attrs_own(&cap->attrs, &own, 1) : 0});
}

static const struct steps *find(void)
{
    capture_seal(cap);
    study_begin(&st, cap, study_defaults());
    return study_steps(&st);
}

TEST(marks_of_the_profiler_come_before_all_others)
{
    mark(MARK_ITERATION, "Iteration 1", 1, 0, 900);
    mark(MARK_PROFILER_STEP, "ProfilerStep#8", 8, 500, 600);
    mark(MARK_PROFILER_STEP, "ProfilerStep#7", 7, 100, 400);
    kernel(50, 10, "3");
    kernel(550, 200, "3");
    const struct steps *steps = find();

    assert_string_equal(step_source_name(steps->source), "profiler_step");
    assert_int_equal(steps->n, 2);
    assert_str(steps->at[0].id, "ProfilerStep#7");
    assert_int_equal(steps->at[0].number, 7);
    assert_int_equal(steps->at[0].window.begin, 100);
    assert_int_equal(steps->at[0].window.end, 500); /* where the next begins */
    assert_int_equal(steps->at[1].window.end, 750); /* with its last kernel */
    assert_int_equal(steps->kernels_before_first, 1);
}

TEST(a_last_step_without_kernels_ends_with_its_mark)
{
    mark(MARK_PROFILER_STEP, "ProfilerStep#1", 1, 100, 400);
    mark(MARK_PROFILER_STEP, "ProfilerStep#2", 2, 500, 640);
    kernel(150, 10, "");
    const struct steps *steps = find();

    assert_int_equal(steps->at[1].window.begin, 500);
    assert_int_equal(steps->at[1].window.end, 640);
}

TEST(steps_without_any_kernel_are_steps)
{
    mark(MARK_PROFILER_STEP, "ProfilerStep#1", 1, 100, 400);
    const struct steps *steps = find();

    assert_int_equal(steps->n, 1);
    assert_int_equal(steps->at[0].window.end, 400);
}

TEST(of_nested_iterations_the_outermost_count)
{
    mark(MARK_ITERATION, "Iteration 1", 1, 0, 1000);
    mark(MARK_ITERATION, "Step 10", 10, 0, 500);
    mark(MARK_ITERATION, "Step 11", 11, 500, 1000);
    mark(MARK_ITERATION, "Iteration 2", 2, 1000, 2000);
    kernel(100, 10, "3");
    const struct steps *steps = find();

    assert_string_equal(step_source_name(steps->source), "iteration");
    assert_int_equal(steps->n, 2);
    assert_str(steps->at[0].id, "Iteration 1");
    assert_int_equal(steps->at[0].window.end, 1000);
    assert_str(steps->at[1].id, "Iteration 2");
}

TEST(the_column_comes_before_the_iterations_of_graph_modes)
{
    mark(MARK_STEP_TRACE, "Iteration", 1, 0, 1000);
    kernel(100, 10, "3");
    const struct steps *steps = find();

    assert_string_equal(step_source_name(steps->source), "step_id_column");
    assert_str(steps->at[0].id, "Step#3");
}

TEST(graph_modes_tell_their_iterations)
{
    mark(MARK_STEP_TRACE, "Iteration", 4, 0, 1000);
    kernel(100, 10, "");
    const struct steps *steps = find();

    assert_string_equal(step_source_name(steps->source), "step_trace");
    assert_str(steps->at[0].id, "Iteration#4");
}

TEST(without_marks_there_is_one_step_and_without_kernels_none)
{
    const struct steps *steps = find();

    assert_int_equal(steps->n, 0);
    assert_string_equal(step_source_name(steps->source), "pseudo");
}

#define C(name) cmocka_unit_test_setup_teardown(name, fresh, done)
TEST_MAIN("analysis/steps", C(marks_of_the_profiler_come_before_all_others),
          C(a_last_step_without_kernels_ends_with_its_mark), C(steps_without_any_kernel_are_steps),
          C(of_nested_iterations_the_outermost_count),
          C(the_column_comes_before_the_iterations_of_graph_modes),
          C(graph_modes_tell_their_iterations),
          C(without_marks_there_is_one_step_and_without_kernels_none))
