#include "analysis/diagnose/trace_replay.h"

#include "analysis/diagnose/testing_diagnose.h"

static struct trace_replay *replay(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    start_study();
    return trace_replay_build(study_accounting(&study), &study.scratch);
}

/* The end of the last step of a run. */
static nanos run_end(const struct trace_replay *r, const struct replay_change *c)
{
    struct replay_times times = replay_times_new(r->n);
    nanos ends[8];

    trace_replay_run(r, c, &times);
    trace_replay_ends(r, &times, ends);
    replay_times_free(&times);
    return ends[r->a->n - 1];
}

/* Ten launches of 10 us, a kernel of 2 us each right after its call; the queue never fills. */
static void fill_launch_bound(void)
{
    step_mark(1, 0, 1 * MS);
    for (int i = 0; i < 10; i++)
        launch(i * 20 * US + 10 * US, i * 20 * US + 20 * US, i * 20 * US + 21 * US,
               i * 20 * US + 23 * US);
}

TEST(a_node_and_its_times_take_at_most_64_bytes)
{
    assert_true(sizeof(struct replay_node) + 2 * sizeof(nanos) + 1 <= 64);
}

TEST(an_unchanged_replay_is_the_recording)
{
    fill_launch_bound();
    struct trace_replay *r = replay();
    struct replay_change plain = trace_replay_plain(r);

    assert_int_equal(r->latency, 1 * US);
    assert_int_equal(run_end(r, &plain), 203 * US);
    assert_true(r->identity_error < 1e-9);
    replay_change_free(&plain);
}

TEST(shorter_host_time_lets_the_device_start_earlier)
{
    fill_launch_bound();
    struct trace_replay *r = replay();
    struct replay_change c = trace_replay_plain(r);

    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].kind == REPLAY_HOST)
            c.lead[i] = 0; /* 100 us of stretches go */
    assert_int_equal(run_end(r, &c), 103 * US);
    replay_change_free(&c);
}

TEST(a_wait_ends_when_its_task_does)
{
    step_mark(1, 0, 1 * MS);
    launch(0, 10 * US, 11 * US, 111 * US);
    host(SLICE_RUNTIME, "cudaDeviceSynchronize", 10 * US, 115 * US);
    launch(120 * US, 125 * US, 126 * US, 130 * US);
    struct trace_replay *r = replay();
    struct replay_change c = trace_replay_plain(r);

    assert_int_equal(run_end(r, &c), 130 * US);
    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].kind == REPLAY_TASK && r->nodes[i].ref == 0)
            c.dur[i] = 10 * US; /* the kernel, and with it the wait, 90 us shorter */
    assert_int_equal(run_end(r, &c), 40 * US);
    replay_change_free(&c);
}

/* The kernel of stream 8 begins when the copy of stream 7 has ended, though launched long before:
 * it waited for it. */
TEST(a_late_start_right_after_another_streams_end_is_a_dependency)
{
    step_mark(1, 0, 1 * MS);
    capture_flow(cap, FLOW_LAUNCH, host(SLICE_RUNTIME, "cudaMemcpyAsync", 0, 5 * US),
                 task("7", SLICE_COPY, "Memcpy HtoD (Pinned -> Device)", 6 * US, 206 * US));
    capture_flow(cap, FLOW_LAUNCH, host(SLICE_RUNTIME, "cudaLaunchKernel", 10 * US, 15 * US),
                 task("8", SLICE_COMPUTE, "elementwise", 207 * US, 250 * US));
    for (int i = 3; i < 6; i++) /* the usual latency is 1 us */
        launch(i * 100 * US, i * 100 * US + 5 * US, i * 100 * US + 6 * US, i * 100 * US + 8 * US);
    struct trace_replay *r = replay();
    uint32_t node = r->node_of_task[1];
    struct replay_change c = trace_replay_plain(r);

    assert_int_equal(r->nodes[node].other, r->node_of_task[0]);
    struct replay_times times = replay_times_new(r->n);
    trace_replay_run(r, &c, &times);
    assert_true(times.begin[node] > 200 * US);
    c.drop[node] = REPLAY_DROP_OTHER;
    trace_replay_run(r, &c, &times);
    assert_int_equal(times.begin[node], 16 * US);
    replay_times_free(&times);
    replay_change_free(&c);
}

TEST(the_critical_path_ends_with_the_last_task)
{
    uint32_t path[64];
    struct replay_times times;

    fill_launch_bound();
    struct trace_replay *r = replay();
    struct replay_change plain = trace_replay_plain(r);
    times = replay_times_new(r->n);
    trace_replay_run(r, &plain, &times);
    size_t n = trace_replay_path(r, &times, path, 64);

    assert_int_equal(n, 11); /* ten calls and the last task */
    assert_int_equal(trace_replay_slice(r, path[n - 1]), r->a->tasks.at[9].slice);
    assert_int_equal(trace_replay_slice(r, path[0]), r->a->host.calls[0].slice);
    replay_times_free(&times);
    replay_change_free(&plain);
}

TEST(work_without_a_launch_keeps_its_distance)
{
    task("7", SLICE_COMPUTE, "a", 0, 10 * US);
    task("7", SLICE_COMPUTE, "b", 50 * US, 60 * US);
    struct trace_replay *r = replay();

    assert_true(r->identity_error < 1e-9);
}

TEST(a_step_without_work_has_no_end_of_its_own)
{
    step_mark(0, 0, 100 * US);
    step_mark(1, 100 * US, 200 * US);
    step_mark(2, 200 * US, 300 * US);
    launch(110 * US, 120 * US, 121 * US, 150 * US);
    struct trace_replay *r = replay();
    struct replay_change plain = trace_replay_plain(r);
    struct replay_times times = replay_times_new(r->n);
    nanos ends[3];

    trace_replay_run(r, &plain, &times);
    trace_replay_ends(r, &times, ends);
    assert_int_equal(ends[0], r->a->steps[0].window.end);
    assert_int_equal(ends[1], 150 * US);
    assert_int_equal(ends[2], 150 * US);
    replay_times_free(&times);
    replay_change_free(&plain);
}

/* A second thread launches what the main one puts into its queue: less work there lets it launch
 * earlier, but not before it is through with what it has. */
TEST(a_queue_hands_work_from_thread_to_thread)
{
    step_mark(1, 0, 1 * MS);
    for (int i = 0; i < 4; i++) {
        nanos at = i * 100 * US;
        uint32_t in = host(SLICE_QUEUE, "Enqueue", at + 90 * US, at + 91 * US);
        uint32_t out = other_host(2, SLICE_QUEUE, "Dequeue@x", at + 92 * US, at + 120 * US);
        uint32_t from = other_host(2, SLICE_RUNTIME, "Node@launch", at + 93 * US, at + 119 * US);
        capture_flow(cap, FLOW_QUEUE, in, out);
        capture_flow(cap, FLOW_LAUNCH, from,
                     task("7", SLICE_COMPUTE, "elementwise", at + 120 * US, at + 130 * US));
    }
    struct trace_replay *r = replay();
    struct replay_change c = trace_replay_plain(r);

    assert_int_equal(r->handover, 1 * US);
    assert_int_equal(run_end(r, &c), 430 * US);
    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].kind == REPLAY_HOST &&
            r->a->host.calls[r->nodes[i].ref].kind == CALL_ENQUEUE)
            c.lead[i] = 0;
    /* Four launches of 27 us, one after the other. */
    assert_int_equal(run_end(r, &c), 0 + 1 * US + 1 * US + 4 * 27 * US + 1 * US + 10 * US);
    replay_change_free(&c);
}

TEST_MAIN("analysis/diagnose/trace_replay", T(a_node_and_its_times_take_at_most_64_bytes),
          CASE(an_unchanged_replay_is_the_recording),
          CASE(shorter_host_time_lets_the_device_start_earlier),
          CASE(a_wait_ends_when_its_task_does),
          CASE(a_late_start_right_after_another_streams_end_is_a_dependency),
          CASE(the_critical_path_ends_with_the_last_task),
          CASE(work_without_a_launch_keeps_its_distance),
          CASE(a_step_without_work_has_no_end_of_its_own),
          CASE(a_queue_hands_work_from_thread_to_thread))
