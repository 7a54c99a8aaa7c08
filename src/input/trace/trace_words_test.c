#include "input/trace/trace_words.h"

#include "base/testing.h"

TEST(categories_are_known_in_any_case)
{
    assert_int_equal(trace_category(S("kernel")), HINT_COMPUTE);
    assert_int_equal(trace_category(S("Kernel")), HINT_COMPUTE);
    assert_int_equal(trace_category(S("Runtime")), HINT_RUNTIME);
    assert_int_equal(trace_category(S("gpu_user_annotation")), HINT_GPU_ANNOTATION);
    assert_int_equal(trace_category(S("cuda_sync")), HINT_WAIT);
    assert_int_equal(trace_category(S("Trace")), HINT_SKIP);
    assert_int_equal(trace_category(S("else")), HINT_PLAIN);
}

TEST(step_marks_need_a_number)
{
    assert_int_equal(trace_name(S("ProfilerStep#12")), NAME_STEP);
    assert_int_equal(trace_name(S("Iteration#3")), NAME_ITERATION);
    assert_int_equal(trace_name(S("Step 4")), NAME_ITERATION);
    assert_int_equal(trace_name(S("Step by step")), NAME_PLAIN);
    assert_int_equal(trace_name(S("step0")), NAME_RANGE);
    assert_int_equal(trace_name(S("iteration_3")), NAME_RANGE);
    assert_int_equal(trace_name(S("HCCL_x")), NAME_COLLECTIVE);
    assert_int_equal(trace_name(S("Hccl@hcom_allReduce_")), NAME_CALL);
}

TEST(arguments_mean_different_things_to_dialects)
{
    assert_int_equal(trace_argument(TRACE_ASCEND, S("item_id")).action, ARG_SKIP);
    assert_int_equal(trace_argument(TRACE_CHROME, S("item_id")).action, ARG_OTHER);
    assert_int_equal(trace_argument(TRACE_KINETO, S("registers per thread")).action, ARG_SET);
    assert_int_equal(trace_argument(TRACE_KINETO, S("correlation")).action, ARG_LINK);
    assert_int_equal(trace_argument(TRACE_ASCEND, S("notify_id")).action, ARG_ID);
    assert_int_equal(trace_argument(TRACE_CHROME, S("notify_id")).action, ARG_OTHER);
    assert_int_equal(trace_argument(TRACE_ASCEND, S("Input Dims")).key, KEY_INPUT_SHAPES);
}

TEST(arrows_have_kinds_by_category)
{
    assert_int_equal(trace_flow_kind(S("HostToDevice")), FLOW_LAUNCH);
    assert_int_equal(trace_flow_kind(S("ac2g")), FLOW_LAUNCH);
    assert_int_equal(trace_flow_kind(S("async_task_queue")), FLOW_QUEUE);
    assert_int_equal(trace_flow_kind(S("fwdbwd")), FLOW_BACKWARD);
    assert_int_equal(trace_flow_kind(S("")), FLOW_OTHER);
}

TEST_MAIN("input/trace/trace_words", T(categories_are_known_in_any_case),
          T(step_marks_need_a_number), T(arguments_mean_different_things_to_dialects),
          T(arrows_have_kinds_by_category))
