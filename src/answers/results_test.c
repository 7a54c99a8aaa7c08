#include "answers/results.h"

#include "base/testing_arena.h"

TEST(a_captures_name_is_the_last_part_of_its_path)
{
    assert_string_equal(results_name(&arena, "a/run_1"), "run_1");
    assert_string_equal(results_name(&arena, "a/run_1///"), "run_1");
    assert_string_equal(results_name(&arena, "a/run_1/ASCEND_PROFILER_OUTPUT/"), "run_1");
    assert_string_equal(results_name(&arena, "run/mindstudio_profiler_output"), "run");
    assert_string_equal(results_name(&arena, "ASCEND_PROFILER_OUTPUT"), "ASCEND_PROFILER_OUTPUT");
    assert_string_equal(results_name(&arena, "x/a b+c.json.gz"), "a_b_c.json.gz");
    assert_string_equal(results_name(&arena, "/"), "capture");
}

TEST_MAIN("answers/results", TA(a_captures_name_is_the_last_part_of_its_path))
