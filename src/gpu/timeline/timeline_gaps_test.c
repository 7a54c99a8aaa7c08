#include "gpu/timeline_testing.h"

static const struct interval all = {0, 0};

static enum timeline_cause cause_of_gap(struct timeline_scene *s, size_t i)
{
    assert_true(i < s->d->gaps.at.n);
    return (enum timeline_cause)s->d->gaps.at.at[i].cause;
}

static struct str host_api(const struct timeline_scene *s, size_t i)
{
    return capture_text(s->cap, s->d->gaps.at.at[i].host_api);
}

TEST(a_host_that_waits_is_a_sync)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 1000, 2000);
    scene_call(&s, "cudaStreamSynchronize", 3000, 9000);
    scene_call(&s, "cuStreamSynchronize", 3100, 8900); /* inside it: the same time */
    scene_launch(&s, 9500, 9600, "7", 10000, 11000);
    scene_of_test(&s, all);
    assert_int_equal(cause_of_gap(&s, 0), GAP_SYNC);
    assert_true(str_equal(host_api(&s, 0), S("cudaStreamSynchronize")));
    assert_int_equal(s.d->gaps.total[GAP_SYNC], 8000);
    assert_int_equal(s.d->gaps.band[1], 1);
    scene_end(&s);
}

TEST(less_than_half_a_wait_is_a_late_host)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 1000, 2000);
    scene_call(&s, "cudaMemcpy", 3000, 6000);
    scene_launch(&s, 9500, 9600, "7", 10000, 11000);
    scene_of_test(&s, all);
    assert_int_equal(cause_of_gap(&s, 0), GAP_HOST);
    assert_true(str_equal(host_api(&s, 0), S("cudaLaunchKernel")));
    scene_end(&s);
}

TEST(a_launch_still_under_way_is_a_late_host)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 1000, 2000);
    scene_launch(&s, 1500, 4000, "7", 6000, 7000);    /* the queue was empty at 2000 */
    scene_launch(&s, 5000, 7000, "7", 9000, 10000);   /* back at 7000: it was not */
    scene_launch(&s, 9500, 10400, "7", 10500, 11000); /* too short to tell */
    scene_of_test(&s, all);
    assert_int_equal(cause_of_gap(&s, 0), GAP_HOST);
    assert_true(str_equal(host_api(&s, 0), S("cudaLaunchKernel")));
    assert_int_equal(cause_of_gap(&s, 1), GAP_UNKNOWN);
    assert_int_equal(cause_of_gap(&s, 2), GAP_TIGHT);
    scene_end(&s);
}

TEST(nodes_wait_for_the_graph_and_not_for_its_call)
{
    struct timeline_scene s;

    scene_begin(&s);
    uint32_t call = scene_call(&s, "cudaGraphLaunch", 0, 9000);
    capture_flow(s.cap, FLOW_LAUNCH, call, scene_kernel(&s, "7", "a", 1000, 2000));
    capture_flow(s.cap, FLOW_LAUNCH, call, scene_kernel(&s, "7", "b", 5000, 6000));
    scene_of_test(&s, all);
    assert_int_equal(cause_of_gap(&s, 0), GAP_GRAPH);
    assert_int_equal(s.d->launches.in_launch, 0);
    scene_end(&s);
}

TEST(queued_work_behind_an_event_depends_on_it)
{
    struct timeline_scene s;

    scene_begin(&s);
    lane_id sync = capture_lane(s.cap, (struct lane_key){.kind = LANE_OTHER,
                                                         .device = 0,
                                                         .name = capture_intern(s.cap, S("Sync"))});
    struct attr stream = attr_int(capture_intern(s.cap, S("stream")), 8);
    scene_launch(&s, 0, 10, "8", 1000, 2000);
    capture_slice(s.cap, &(struct slice){.lane = sync,
                                         .begin = 20,
                                         .dur = 1,
                                         .name = capture_intern(s.cap, S("Stream Wait Event")),
                                         .own = attrs_own(&s.cap->attrs, &stream, 1),
                                         .kind = SLICE_WAIT});
    scene_launch(&s, 30, 40, "8", 5000, 6000);
    scene_launch(&s, 50, 60, "8", 9000, 9500); /* no wait since the last launch */
    scene_of_test(&s, all);
    assert_int_equal(cause_of_gap(&s, 0), GAP_DEPENDENCY);
    assert_int_equal(cause_of_gap(&s, 1), GAP_UNKNOWN);
    scene_end(&s);
}

TEST(the_profiler_and_code_loading_are_overhead)
{
    struct timeline_scene s;

    scene_begin(&s);
    lane_id lane = capture_lane(
        s.cap, (struct lane_key){.kind = LANE_OTHER, .name = capture_intern(s.cap, S("Overhead"))});
    scene_launch(&s, 0, 10, "7", 1000, 2000);
    scene_put(&s, lane, SLICE_OTHER, "Buffer Flush", 2500, 5000);
    scene_launch(&s, 20, 30, "7", 6000, 7000);
    scene_call(&s, "cuModuleLoadData", 7000, 9000);
    scene_launch(&s, 40, 50, "7", 9000, 9500);
    scene_of_test(&s, all);
    assert_int_equal(cause_of_gap(&s, 0), GAP_OVERHEAD);
    assert_int_equal(cause_of_gap(&s, 1), GAP_OVERHEAD);
    assert_int_equal(s.d->overhead, 4500);
    scene_end(&s);
}

TEST(between_nodes_it_is_the_graph)
{
    struct timeline_scene s;

    scene_begin(&s);
    uint32_t call = scene_call(&s, "cudaGraphLaunch", 0, 10);
    capture_flow(s.cap, FLOW_LAUNCH, call, scene_kernel(&s, "7", "a", 1000, 2000));
    capture_flow(s.cap, FLOW_LAUNCH, call, scene_kernel(&s, "7", "b", 5000, 6000));
    scene_launch(&s, 20, 30, "7", 6500, 7000);
    scene_launch(&s, 40, 50, "7", 9000, 9500);
    scene_of_test(&s, all);
    assert_int_equal(cause_of_gap(&s, 0), GAP_GRAPH);
    assert_int_equal(cause_of_gap(&s, 1), GAP_TIGHT);
    assert_int_equal(cause_of_gap(&s, 2), GAP_UNKNOWN);
    assert_int_equal(s.d->gaps.band[0], 1);
    assert_int_equal(s.d->gaps.band[1], 2);
    scene_end(&s);
}

TEST_MAIN("gpu/timeline/timeline_gaps", T(a_host_that_waits_is_a_sync),
          T(less_than_half_a_wait_is_a_late_host), T(a_launch_still_under_way_is_a_late_host),
          T(nodes_wait_for_the_graph_and_not_for_its_call),
          T(queued_work_behind_an_event_depends_on_it),
          T(the_profiler_and_code_loading_are_overhead), T(between_nodes_it_is_the_graph))
