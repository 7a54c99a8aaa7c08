#include "input/trace/step_name.h"

#include "base/testing.h"

static int64_t name_number_of(struct str name, enum mark_source want)
{
    enum mark_source source;
    int64_t number;

    if (!step_name_parse(name, &source, &number))
        return -1;
    assert_int_equal(source, want);
    return number;
}

TEST(the_marks_of_profilers_are_known)
{
    assert_int_equal(name_number_of(S("ProfilerStep#50"), MARK_PROFILER_STEP), 50);
    assert_int_equal(name_number_of(S("Iteration#3"), MARK_ITERATION), 3);
    assert_int_equal(name_number_of(S("Step#0"), MARK_ITERATION), 0);
    assert_int_equal(name_number_of(S("step 12"), MARK_ITERATION), 12);
    assert_int_equal(name_number_of(S("iteration_7"), MARK_ITERATION), 7);
    assert_int_equal(name_number_of(S("step7"), MARK_ITERATION), 7);
}

TEST(names_that_only_look_like_marks_are_not)
{
    assert_int_equal(name_number_of(S(""), MARK_ITERATION), -1);
    assert_int_equal(name_number_of(S("ProfilerStep#"), MARK_ITERATION), -1);
    assert_int_equal(name_number_of(S("Step#-1"), MARK_ITERATION), -1);
    assert_int_equal(name_number_of(S("step 3 of 5"), MARK_ITERATION), -1);
    assert_int_equal(name_number_of(S("optimizer.step"), MARK_ITERATION), -1);
    assert_int_equal(name_number_of(S("Step#99999999999999999999"), MARK_ITERATION), -1);
}

TEST_MAIN("input/trace/step_name", T(the_marks_of_profilers_are_known),
          T(names_that_only_look_like_marks_are_not))
