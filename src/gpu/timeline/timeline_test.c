#include "gpu/timeline/timeline.h"

#include <math.h>

#include "gpu/timeline_testing.h"

static const struct interval all = {0, 0};

TEST(work_side_by_side_is_busy_once)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "a", 100, 200);
    scene_kernel(&s, "7", "b", 200, 300); /* touches */
    scene_kernel(&s, "13", "c", 250, 400);
    scene_put(&s, scene_stream(&s, "14"), SLICE_COPY, "Memcpy HtoD (Pinned -> Device)", 350, 500);
    scene_put(&s, scene_stream(&s, "14"), SLICE_COPY, "Memset (Device)", 600, 610);
    scene_of_test(&s, all);
    assert_int_equal(s.d->window.begin, 100);
    assert_int_equal(s.d->window.end, 610);
    assert_int_equal(s.d->busy, 410);
    assert_int_equal(s.d->kernel_busy, 300);
    assert_int_equal(s.d->kernel_sum, 350);
    assert_int_equal(s.d->busy_of[TIMELINE_MEMCPY], 150);
    assert_int_equal(s.d->busy_of[TIMELINE_MEMSET], 10);
    assert_int_equal(s.d->memcpy_hidden, 50);
    assert_int_equal(s.d->memcpy_compute, 50);
    assert_int_equal(s.d->memcpy_comm, 0);
    assert_int_equal(s.d->most_at_once, 2);
    assert_int_equal(s.d->gaps.all.n, 1);
    assert_int_equal(s.d->gaps.all.sum, 100);
    assert_int_equal(s.t->n_streams, 3);
    assert_int_equal(s.t->pairs.n, 1);
    assert_int_equal(s.t->pairs.at[0].overlap, 50);
    scene_end(&s);
}

TEST(ends_come_before_starts_of_the_same_moment)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "a", 0, 10);
    scene_kernel(&s, "8", "b", 10, 20);
    scene_of_test(&s, all);
    assert_int_equal(s.d->most_at_once, 1);
    scene_end(&s);
}

TEST(collectives_are_what_the_capture_says)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "gemm", 0, 100);
    scene_put(&s, scene_stream(&s, "8"), SLICE_COMM, "ncclDevKernel_AllReduce", 60, 160);
    scene_put(&s, scene_stream(&s, "8"), SLICE_COMM, "hcom_broadcast__445_0", 200, 210);
    scene_of_test(&s, all);
    assert_int_equal(s.d->busy_of[TIMELINE_COMM], 110);
    assert_int_equal(s.d->comm_overlap, 40);
    scene_end(&s);
}

TEST(efficiency_is_what_could_be_hidden_and_was)
{
    const nanos two[] = {100, 50};

    assert_true(timeline_efficiency(two, 2, 100) == 1);
    assert_true(timeline_efficiency(two, 2, 150) == 0);
    assert_true(timeline_efficiency(two, 2, 125) == 0.5);
    assert_true(isnan(timeline_efficiency(two, 1, 100)));
}

TEST(a_window_cuts_work_at_its_borders)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "a", 0, 100);
    scene_kernel(&s, "7", "b", 150, 300);
    scene_kernel(&s, "7", "c", 400, 500);
    scene_of_test(&s, (struct interval){50, 350});
    assert_int_equal(s.d->n, 2);
    assert_int_equal(s.d->busy, 200);
    assert_int_equal(s.d->gaps.all.n, 2); /* 100..150 and 300..350 */
    assert_int_equal(s.d->gaps.all.sum, 100);
    scene_end(&s);
}

TEST(a_graph_row_counts_only_where_its_nodes_are_missing)
{
    struct timeline_scene s;

    scene_begin(&s);
    uint32_t known = scene_call(&s, "cudaGraphLaunch", 0, 10);
    uint32_t bare = scene_call(&s, "cudaGraphLaunch", 400, 410);
    struct attr level = attr_int(capture_intern(s.cap, S("graph_level")), 1);
    struct slice row = {.lane = scene_stream(&s, "7"),
                        .name = capture_intern(s.cap, S("CUDA graph 1")),
                        .kind = SLICE_COMPUTE,
                        .set = attrs_set(&s.cap->attrs, &level, 1)};
    row.begin = 100;
    row.dur = 200;
    capture_flow(s.cap, FLOW_LAUNCH, known, capture_slice(s.cap, &row));
    capture_flow(s.cap, FLOW_LAUNCH, known, scene_kernel(&s, "8", "a", 110, 150));
    capture_flow(s.cap, FLOW_LAUNCH, known, scene_kernel(&s, "8", "b", 160, 200));
    row.begin = 500;
    row.dur = 50;
    capture_flow(s.cap, FLOW_LAUNCH, bare, capture_slice(s.cap, &row));
    scene_of_test(&s, all);
    assert_int_equal(s.d->busy, 40 + 40 + 50);
    assert_int_equal(s.d->kernel_busy, 80);
    assert_int_equal(s.d->graphs.launches, 2);
    assert_int_equal(s.d->graphs.with_nodes, 1);
    assert_int_equal(s.d->graphs.rows, 2);
    assert_int_equal(s.d->graphs.row_busy, 250);
    assert_int_equal(s.d->graphs.at.at[0].nodes, 2);
    assert_int_equal(s.d->graphs.node_gap.sum, 10);
    assert_int_equal(s.d->graphs.calls_without_work, 0);
    assert_int_equal(s.d->launches.latency.n, 1); /* one value for a launch */
    scene_end(&s);
}

TEST(graph_launches_without_kernels_are_noticed)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_call(&s, "cudaGraphLaunch", 0, 10);
    scene_call(&s, "cuGraphLaunch", 2, 8); /* the same one, inside */
    scene_call(&s, "cudaGraphLaunch", 20, 30);
    scene_kernel(&s, "7", "k", 100, 110);
    scene_of_test(&s, all);
    assert_int_equal(s.d->graphs.calls_without_work, 2);
    scene_end(&s);
}

TEST(launches_are_measured_from_their_call)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 5, 100);      /* starts before its call returns */
    scene_launch(&s, 20, 30, "7", 110, 200);   /* queued: 10 after its stream was free */
    scene_launch(&s, 250, 260, "7", 300, 310); /* the stream was empty */
    scene_of_test(&s, all);
    assert_int_equal(s.d->launches.latency.n, 3);
    assert_true(s.d->launches.latency.median == 50);
    assert_int_equal(s.d->launches.latency.p95, 90);
    assert_int_equal(s.d->launches.overlapped, 1);
    assert_int_equal(s.d->launches.queue.sum, 10 + 40);
    assert_int_equal(s.d->launches.host_bound, 1);
    assert_int_equal(s.d->launches.host_bound_gap, 100);
    assert_int_equal(s.d->launches.unlinked, 0);
    scene_end(&s);
}

TEST(a_stream_can_run_dry_during_a_launch)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 20, 100);
    scene_launch(&s, 90, 140, "7", 150, 200);  /* under way when the stream ran dry */
    scene_launch(&s, 190, 200, "7", 250, 300); /* returned just in time */
    scene_launch(&s, 280, 350, "8", 290, 400); /* another stream had nothing to wait for */
    scene_of_test(&s, all);
    assert_int_equal(s.d->launches.host_bound, 0);
    assert_int_equal(s.d->launches.in_launch, 1);
    assert_int_equal(s.d->launches.in_launch_gap, 50);
    scene_end(&s);
}

TEST(calls_are_found_by_correlation_when_arrows_are_missing)
{
    struct timeline_scene s;

    scene_begin(&s);
    struct attr link = attr_int(capture_key(s.cap, KEY_LINK), 77);
    struct slice call = {.lane = scene_thread(&s),
                         .name = capture_intern(s.cap, S("cudaLaunchKernel")),
                         .dur = 5,
                         .own = attrs_own(&s.cap->attrs, &link, 1),
                         .kind = SLICE_RUNTIME};
    struct slice work = {.lane = scene_stream(&s, "7"),
                         .name = capture_intern(s.cap, S("k")),
                         .begin = 30,
                         .dur = 5,
                         .own = attrs_own(&s.cap->attrs, &link, 1)};
    capture_slice(s.cap, &call);
    capture_slice(s.cap, &work);
    scene_of_test(&s, all);
    assert_int_equal(s.d->launches.latency.n, 1);
    assert_int_equal(s.d->launches.latency.max, 30);
    scene_end(&s);
}

TEST(a_graph_launched_on_another_device_has_work)
{
    struct timeline_scene a, b;

    scene_begin(&a);
    scene_begin(&b); /* the same calls, and the kernels of the other device */
    for (int i = 0; i < 2; i++) {
        uint32_t call = scene_call(&a, "cudaGraphLaunch", 10 * i, 10 * i + 2);
        if (i == 0)
            capture_flow(a.cap, FLOW_LAUNCH, call, scene_kernel(&a, "7", "k", 5, 8));
        call = scene_call(&b, "cudaGraphLaunch", 10 * i, 10 * i + 2);
        if (i == 1)
            capture_flow(b.cap, FLOW_LAUNCH, call, scene_kernel(&b, "7", "k", 15, 18));
    }
    scene_of_test(&a, all);
    scene_of_test(&b, all);
    assert_int_equal(a.d->graphs.calls_without_work, 1);
    timeline_count_empty_graphs((struct timeline *const[]){a.t, b.t}, 2);
    assert_int_equal(a.d->graphs.calls_without_work, 0);
    assert_int_equal(b.d->graphs.calls_without_work, 0);
    scene_end(&a);
    scene_end(&b);
}

TEST(a_window_parts_no_graph_from_its_work)
{
    struct timeline_scene s;

    scene_begin(&s);
    uint32_t call = scene_call(&s, "cudaGraphLaunch", 0, 2);
    capture_flow(s.cap, FLOW_LAUNCH, call, scene_kernel(&s, "7", "k", 5, 8));
    scene_kernel(&s, "7", "k", 50, 60);
    scene_of_test(&s, (struct interval){40, 70});
    assert_int_equal(s.d->graphs.calls_without_work, 0);
    scene_end(&s);
}

TEST(ranges_count_the_kernels_launched_inside)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_put(&s, scene_thread(&s), SLICE_ANNOTATION, "outer", 0, 100);
    scene_put(&s, scene_thread(&s), SLICE_ANNOTATION, "inner", 20, 60);
    scene_launch(&s, 5, 6, "7", 200, 210);
    scene_launch(&s, 30, 31, "7", 220, 230);
    scene_launch(&s, 70, 71, "7", 240, 250);
    scene_launch(&s, 150, 151, "7", 260, 270); /* behind both */
    scene_of_test(&s, all);
    assert_int_equal(s.t->ranges.n, 2);
    assert_int_equal(s.t->ranges.at[0].kernels, 3);
    assert_int_equal(s.t->ranges.at[0].begin, 200);
    assert_int_equal(s.t->ranges.at[0].end, 250);
    assert_int_equal(s.t->ranges.at[1].depth, 1);
    assert_int_equal(s.t->ranges.at[1].kernels, 1);
    scene_end(&s);
}

TEST(a_capture_without_device_work_has_no_device)
{
    struct timeline_scene s;

    scene_begin(&s);
    scene_call(&s, "cudaMalloc", 0, 10);
    scene_of_test(&s, all);
    assert_int_equal(s.t->n_devices, 0);
    scene_end(&s);
}

TEST_MAIN("gpu/timeline/timeline", T(work_side_by_side_is_busy_once),
          T(ends_come_before_starts_of_the_same_moment), T(collectives_are_what_the_capture_says),
          T(efficiency_is_what_could_be_hidden_and_was), T(a_window_cuts_work_at_its_borders),
          T(a_graph_row_counts_only_where_its_nodes_are_missing),
          T(graph_launches_without_kernels_are_noticed), T(launches_are_measured_from_their_call),
          T(a_stream_can_run_dry_during_a_launch),
          T(calls_are_found_by_correlation_when_arrows_are_missing),
          T(a_graph_launched_on_another_device_has_work), T(a_window_parts_no_graph_from_its_work),
          T(ranges_count_the_kernels_launched_inside),
          T(a_capture_without_device_work_has_no_device))
