#include "analysis/tables/queue.h"

#include "analysis/module_testing.h"

static void queue_test_launch(nanos call, nanos begin, nanos dur)
{
    struct lane_key stream = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};
    uint32_t from = module_event("cudaLaunchKernel", SLICE_RUNTIME, call, 2 * US);

    capture_flow(cap, FLOW_LAUNCH, from,
                 capture_slice(cap, &(struct slice){.begin = begin,
                                                    .dur = dur,
                                                    .lane = capture_lane(cap, stream),
                                                    .name = capture_intern(cap, S("k")),
                                                    .kind = SLICE_COMPUTE}));
}

static const struct queue *queue_test_find(void)
{
    is_gpu();
    start_study();
    return queue_find(&study);
}

/* Calls at 0, 10 and 20 us; kernels at [5, 45), [46, 66) and [166, 176): queued 1, 2, 3, 2, 1. */
TEST(launches_wait_until_their_kernels_end)
{
    queue_test_launch(0, 5 * US, 40 * US);
    queue_test_launch(10 * US, 46 * US, 20 * US);
    queue_test_launch(20 * US, 166 * US, 10 * US);
    const struct queue *q = queue_test_find();
    assert_int_equal(q->n, 1);
    const struct queue_stream *s = &q->at[0];
    assert_str(s->name, "7");
    assert_int_equal(s->linked, 3);
    assert_int_equal(s->most, 3);
    /* (10 * 1 + 10 * 2 + 25 * 3 + 21 * 2 + 110 * 1) / 176 */
    assert_true(s->mean > 1.460 && s->mean < 1.461);
    assert_true(s->empty == 0);
    assert_int_equal(s->ahead.median, 34 * US);
    assert_int_equal(s->ahead.most, 144 * US);
    assert_int_equal(s->latency.n, 1); /* the first alone found the stream idle */
    assert_int_equal(s->latency.median, 5 * US);
    assert_int_equal(s->gaps[QUEUE_GAP_2US], 1);
    assert_int_equal(s->gap_time[QUEUE_GAP_1MS], 100 * US);
}

TEST(a_stream_without_launches_is_empty)
{
    queue_test_launch(0, 5 * US, 10 * US);
    queue_test_launch(35 * US, 40 * US, 10 * US);
    const struct queue_stream *s = &queue_test_find()->at[0];
    assert_int_equal(s->most, 1);
    assert_true(s->empty == 0.4); /* 20 of 50 us */
    assert_int_equal(s->latency.n, 2);
    assert_int_equal(s->gap_time[QUEUE_GAP_100US], 25 * US);
}

TEST(no_kernels_no_streams)
{
    assert_int_equal(queue_test_find()->n, 0);
}

TEST_MAIN("analysis/tables/queue", CASE(launches_wait_until_their_kernels_end),
          CASE(a_stream_without_launches_is_empty), CASE(no_kernels_no_streams))
