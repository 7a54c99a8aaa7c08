#include "analysis/idle/stream_gaps.h"

#include "analysis/diagnose/testing_diagnose.h"

static struct stream_gaps gaps_test_find(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    start_study();
    return stream_gaps_find(cap, study_accounting(&study), &study.scratch);
}

static void launch_on(const char *stream, nanos call, nanos begin, nanos end)
{
    capture_flow(cap, FLOW_LAUNCH, host(SLICE_RUNTIME, "cudaLaunchKernel", call, call + 5 * US),
                 task(stream, SLICE_COMPUTE, "elementwise", begin, end));
}

/* Two streams take turns though all was launched at the beginning: each waits for the other. */
TEST(streams_that_take_turns_wait_for_each_other)
{
    step_mark(1, 0, 1 * MS);
    launch_on("7", 0, 50 * US, 150 * US);
    launch_on("8", 10 * US, 151 * US, 250 * US);
    launch_on("7", 20 * US, 251 * US, 350 * US);
    launch_on("8", 30 * US, 351 * US, 450 * US);
    struct stream_gaps gaps = gaps_test_find();

    assert_int_equal(gaps.n, 2);
    for (size_t i = 0; i < gaps.n; i++) {
        assert_int_equal(gaps.at[i].cause, CAUSE_DEVICE_DEPENDENCY);
        assert_int_equal(gaps.at[i].busy, 99 * US);
        assert_int_not_equal(gaps.at[i].waits_for, NO_SLICE);
    }
}

TEST(a_stream_may_be_launched_late)
{
    step_mark(1, 0, 1 * MS);
    launch_on("7", 0, 6 * US, 20 * US);
    launch_on("8", 10 * US, 16 * US, 500 * US);
    launch_on("7", 300 * US, 306 * US, 320 * US);
    struct stream_gaps gaps = gaps_test_find();

    assert_int_equal(gaps.n, 1);
    assert_int_equal(gaps.at[0].cause, CAUSE_LAUNCH);
    assert_int_equal(gaps.at[0].at.begin, 20 * US);
    assert_int_equal(gaps.at[0].at.end, 306 * US);
}

TEST(time_in_which_no_stream_works_is_no_gap_of_a_stream)
{
    step_mark(1, 0, 1 * MS);
    launch_on("7", 0, 6 * US, 20 * US);
    launch_on("7", 300 * US, 306 * US, 320 * US);

    assert_int_equal(gaps_test_find().n, 0);
}

TEST_MAIN("analysis/idle/stream_gaps", CASE(streams_that_take_turns_wait_for_each_other),
          CASE(a_stream_may_be_launched_late),
          CASE(time_in_which_no_stream_works_is_no_gap_of_a_stream))
