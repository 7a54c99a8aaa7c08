#include "analysis/idle/host_names.h"

#include "base/testing.h"

static enum call_kind call(const char *name)
{
    return host_call_kind(str_of(name));
}

TEST(calls_are_known_by_their_names)
{
    assert_int_equal(call("cudaLaunchKernelExC"), CALL_LAUNCH);
    assert_int_equal(call("cudaMemsetAsync"), CALL_LAUNCH);
    assert_int_equal(call("cudaGraphLaunch"), CALL_GRAPH);
    assert_int_equal(call("cudaGraphInstantiateWithFlags"), CALL_COMPILE);
    assert_int_equal(call("cudaMemcpyAsync"), CALL_COPY);
    assert_int_equal(call("cudaStreamSynchronize"), CALL_SYNC);
    assert_int_equal(call("AscendCL@aclrtSynchronizeStream"), CALL_SYNC);
    assert_int_equal(call("AscendCL@opCompile"), CALL_COMPILE);
    assert_int_equal(call("hipFree"), CALL_ALLOC);
    assert_int_equal(call("cuMemSetAccess"), CALL_ALLOC);
    assert_int_equal(call("cudaStreamWaitEvent"), CALL_EVENT);
}

TEST(questions_do_not_touch_the_device)
{
    assert_int_equal(call("cudaStreamIsCapturing"), CALL_NONE);
    assert_int_equal(call("cudaEventQuery"), CALL_NONE);
    assert_int_equal(call("cudaPointerGetAttributes"), CALL_NONE);
    assert_int_equal(call("cudaGetErrorString"), CALL_NONE);
}

TEST(ranges_mean_something_for_what_they_enclose)
{
    assert_int_equal(host_range_kind(S("enumerate(DataLoader)#_Next.__next__")), RANGE_INPUT);
    assert_int_equal(host_range_kind(S("Optimizer.step#Adam.step")), RANGE_OPTIMIZER);
    assert_int_equal(host_range_kind(S("torch/_dynamo/convert_frame.py")), RANGE_COMPILE);
    assert_int_equal(host_range_kind(S("Torch-Compiled Region: 0/0")), RANGE_PLAIN);
    assert_int_equal(host_range_kind(S("ProfilerStep#3")), RANGE_PLAIN);
}

TEST(types_of_tensors_are_seen)
{
    assert_int_equal(host_types_seen(S("double;float"), S("2,3;4")), HOST_TYPES_F64);
    assert_int_equal(host_types_seen(S("double;float"), S(";4")), 0); /* a number, no tensor */
    assert_int_equal(host_types_seen(S("float;double"), S("2;3")),
                     HOST_TYPES_F32_FIRST | HOST_TYPES_F64);
    assert_int_equal(host_types_seen(S("float"), S("")), HOST_TYPES_F32_FIRST);
}

TEST_MAIN("analysis/idle/host_names", T(calls_are_known_by_their_names),
          T(questions_do_not_touch_the_device), T(ranges_mean_something_for_what_they_enclose),
          T(types_of_tensors_are_seen))
