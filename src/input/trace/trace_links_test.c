#include "input/trace/trace_links.h"

#include "base/testing.h"

static struct capture *cap;
static lane_id thread, stream;

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    thread = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD, .device = -1, .tid = 1});
    stream = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM, .device = 0});
    return 0;
}

static int done(void **state)
{
    (void)state;
    capture_free(cap);
    return 0;
}

static uint32_t links_put(enum slice_kind kind, nanos begin, int64_t number)
{
    struct attr link = attr_int(capture_key(cap, KEY_LINK), number);

    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = 1,
                                              .lane = kind == SLICE_RUNTIME ? thread : stream,
                                              .own = attrs_own(&cap->attrs, &link, number >= 0),
                                              .kind = kind});
}

static void assert_arrow(size_t i, uint32_t from, uint32_t to)
{
    assert_int_equal(cap->flows.at[i].kind, FLOW_LAUNCH);
    assert_int_equal(cap->flows.at[i].from, from);
    assert_int_equal(cap->flows.at[i].to, to);
}

TEST(work_is_joined_with_the_call_of_its_number)
{
    uint32_t launch = links_put(SLICE_RUNTIME, 0, 7), copy = links_put(SLICE_RUNTIME, 2, 8);
    uint32_t copied = links_put(SLICE_COPY, 5, 8), first = links_put(SLICE_COMPUTE, 6, 7);
    uint32_t second = links_put(SLICE_COMPUTE, 8, 7); /* of the same graph */

    trace_links_add(cap, 0);

    assert_int_equal(cap->flows.n, 3);
    assert_arrow(0, copy, copied);
    assert_arrow(1, launch, first);
    assert_arrow(2, launch, second);
}

TEST(an_arrow_that_is_there_is_not_drawn_again)
{
    uint32_t launch = links_put(SLICE_RUNTIME, 0, 7), kernel = links_put(SLICE_COMPUTE, 5, 7);

    capture_flow(cap, FLOW_LAUNCH, launch, kernel);
    trace_links_add(cap, 0);

    assert_int_equal(cap->flows.n, 1);
}

TEST(waits_and_work_without_a_call_stay_alone)
{
    links_put(SLICE_RUNTIME, 0, 7);
    links_put(SLICE_RUNTIME, 1, 0);  /* no number */
    links_put(SLICE_COMPUTE, 5, 0);  /* the same */
    links_put(SLICE_COMPUTE, 6, -1); /* without the attribute */
    links_put(SLICE_COMPUTE, 7, 9);  /* launched before the recording began */
    links_put(SLICE_WAIT, 8, 7);

    trace_links_add(cap, 0);

    assert_int_equal(cap->flows.n, 0);
}

TEST(slices_of_an_earlier_file_are_left_alone)
{
    links_put(SLICE_RUNTIME, 0, 7);
    uint32_t kernel = links_put(SLICE_COMPUTE, 5, 7);

    trace_links_add(cap, kernel);

    assert_int_equal(cap->flows.n, 0);
}

TEST_MAIN("input/trace/trace_links", TF(work_is_joined_with_the_call_of_its_number),
          TF(an_arrow_that_is_there_is_not_drawn_again),
          TF(waits_and_work_without_a_call_stay_alone),
          TF(slices_of_an_earlier_file_are_left_alone))
