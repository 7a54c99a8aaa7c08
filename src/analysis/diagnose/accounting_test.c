#include "analysis/diagnose/accounting.h"

#include "analysis/diagnose/testing_diagnose.h"

static const struct accounting *account(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    start_study();
    return study_accounting(&study);
}

static nanos idle(const struct accounting *a, size_t step, enum idle_cause cause)
{
    return a->steps[step].by[ACCOUNT_IDLE + cause];
}

static void assert_exact(const struct accounting *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct account_step *s = &a->steps[i];
        assert_int_equal(s->compute + s->comm_exposed + s->copy_exposed + s->idle,
                         s->window.end - s->window.begin);
    }
}

/* Compute [0,40) and [60,100), a collective [30,70), a copy [0,120): the collective has [40,60)
 * for itself, the copy [100,120). */
TEST(compute_claims_before_collectives_and_those_before_copies)
{
    task("1", SLICE_COMPUTE, "elementwise", 0, 40 * US);
    task("1", SLICE_COMPUTE, "elementwise", 60 * US, 100 * US);
    task("2", SLICE_COMM, "nccl", 30 * US, 70 * US);
    task("3", SLICE_COPY, "Memcpy HtoD (Pageable -> Device)", 0, 120 * US);
    const struct accounting *a = account();

    assert_int_equal(a->n, 1);
    assert_true(a->is_pseudo);
    assert_int_equal(a->steps[0].by[ACCOUNT_COMPUTE + FAMILY_ELEMENTWISE], 80 * US);
    assert_int_equal(a->steps[0].comm_exposed, 20 * US);
    assert_int_equal(a->steps[0].by[ACCOUNT_COPY + COPY_H2D_PAGEABLE], 20 * US);
    assert_int_equal(a->steps[0].idle, 0);
    assert_exact(a);
}

/* Steps of two kinds, by their lengths; the first one does not count. */
static struct accounting steps_of_two_kinds(struct account_step *at, size_t n, nanos quick,
                                            nanos slow)
{
    for (size_t i = 0; i < n; i++) {
        nanos time = i % 4 == 1 ? slow : quick;
        at[i] = (struct account_step){
            .tasks = 1, .group = i % 4 == 1, .window = {0, time}, .by = {[FAMILY_OTHER] = time}};
    }
    return (struct accounting){.steps = at, .n = n};
}

TEST(steps_of_one_length_have_a_mean)
{
    struct account_step steps[9];
    struct accounting a = steps_of_two_kinds(steps, 9, 10 * US, 12 * US);
    struct account_mean mean = account_mean_of(&a);

    assert_false(mean.is_mixed);
    assert_int_equal(mean.steps, 8);
    assert_int_equal(mean.time, (2 * 12 + 6 * 10) * US / 8);
}

/* Two of 100 us among six of 10 us: 200 and 60 of 260 us. */
TEST(steps_that_differ_are_not_averaged)
{
    struct account_step steps[9];
    struct accounting a = steps_of_two_kinds(steps, 9, 10 * US, 100 * US);
    struct account_mean mean = account_mean_of(&a);

    assert_true(mean.is_mixed);
    assert_int_equal(mean.steps, 8);
    assert_int_equal(mean.units, 1);
    assert_int_equal(mean.time, 260 * US);
    assert_int_equal(mean.by[FAMILY_OTHER], 260 * US);
}

/* Two kernels at once: the first one that started has the time of both. */
TEST(the_kernel_that_started_first_has_the_time)
{
    task("1", SLICE_COMPUTE, "softmax", 0, 50 * US);
    task("2", SLICE_COMPUTE, "elementwise", 10 * US, 80 * US);
    const struct accounting *a = account();

    assert_int_equal(a->steps[0].by[ACCOUNT_COMPUTE + FAMILY_REDUCE], 50 * US);
    assert_int_equal(a->steps[0].by[ACCOUNT_COMPUTE + FAMILY_ELEMENTWISE], 30 * US);
}

/* The host runs ahead: both steps are launched before the device begins. */
TEST(windows_follow_the_launch_and_not_the_mark)
{
    step_mark(1, 0, 100 * US);
    step_mark(2, 100 * US, 200 * US);
    launch(10 * US, 20 * US, 300 * US, 400 * US);
    launch(110 * US, 120 * US, 401 * US, 600 * US);
    const struct accounting *a = account();

    assert_int_equal(a->n, 2);
    assert_int_equal(a->steps[0].window.begin, 0);
    assert_int_equal(a->steps[0].window.end, 400 * US);
    assert_int_equal(a->steps[1].window.end, 600 * US);
    assert_int_equal(idle(a, 1, CAUSE_DEVICE_LATENCY), 1 * US);
    assert_int_equal(a->step_time, 200 * US);
    assert_exact(a);
}

/* Work that was queued before the recording's first device event hides what ran before it. */
TEST(a_first_task_that_waited_begins_the_window)
{
    step_mark(1, 0, 100 * US);
    launch(10 * US, 20 * US, 7 * MS, 8 * MS);
    launch(30 * US, 40 * US, 8 * MS, 9 * MS);
    const struct accounting *a = account();

    assert_int_equal(a->steps[0].window.begin, 7 * MS);
    assert_int_equal(a->steps[0].idle, 0);
    assert_exact(a);
}

/* The call returns after the gap began, and the task begins long after that. */
TEST(what_begins_long_after_its_call_waits_for_something_else)
{
    launch(0, 5 * US, 6 * US, 10 * US);
    launch(20 * US, 25 * US, 50 * MS, 51 * MS);
    const struct accounting *a = account();

    assert_int_equal(idle(a, 0, CAUSE_DEVICE_LATENCY), 50 * MS - 25 * US - MS);
    assert_exact(a);
}

TEST(work_launched_before_the_recording_belongs_to_no_step)
{
    step_mark(1, 0, 100 * US);
    task("7", SLICE_COMPUTE, "orphan", 5 * US, 30 * US);
    launch(10 * US, 20 * US, 40 * US, 60 * US);
    const struct accounting *a = account();

    assert_int_equal(a->orphans, 1);
    assert_int_equal(a->steps[0].window.begin, 30 * US);
    assert_int_equal(a->steps[0].compute, 20 * US);
}

/* The device is done at 30 us. The thread waits until 40, frees memory until 60, an operator that
 * launches nothing takes 1 ms, then comes the launch. */
TEST(idle_time_is_what_the_launching_thread_did)
{
    step_mark(1, 0, 2 * MS);
    launch(0, 5 * US, 10 * US, 30 * US);
    host(SLICE_RUNTIME, "cudaStreamSynchronize", 6 * US, 40 * US);
    host(SLICE_RUNTIME, "cudaFree", 40 * US, 60 * US);
    host(SLICE_HOST_OP, "aten::randn", 60 * US, 1060 * US);
    launch(1060 * US, 1070 * US, 1072 * US, 1100 * US);
    const struct accounting *a = account();

    assert_int_equal(idle(a, 0, CAUSE_SYNC), 10 * US);
    assert_int_equal(idle(a, 0, CAUSE_ALLOCATOR), 20 * US);
    assert_int_equal(idle(a, 0, CAUSE_OPERATOR), 1 * MS);
    assert_int_equal(idle(a, 0, CAUSE_LAUNCH), (10 + 12) * US);
    /* The synchronise call is charged the 34 us it blocked, not the millisecond after it. */
    assert_int_equal(a->steps[0].drained, 34 * US);
    const struct idle_piece *sync = &a->pieces.at[1];
    assert_int_equal(sync->cause, CAUSE_SYNC);
    assert_int_equal(sync->enabled_by, sync->filled_by);
    assert_exact(a);
}

TEST(short_stretches_are_launch_overhead)
{
    step_mark(1, 0, 1 * MS);
    launch(0, 5 * US, 6 * US, 10 * US);
    host(SLICE_HOST_OP, "aten::to", 20 * US, 80 * US);
    launch(100 * US, 105 * US, 106 * US, 110 * US);
    const struct accounting *a = account();

    assert_int_equal(idle(a, 0, CAUSE_OPERATOR), 0);
    assert_int_equal(idle(a, 0, CAUSE_LAUNCH), a->steps[0].idle);
}

TEST(without_launches_the_cause_is_unknown_and_said)
{
    task("1", SLICE_COMPUTE, "a", 0, 10);
    task("1", SLICE_COMPUTE, "b", 50, 60);
    const struct accounting *a = account();

    assert_int_equal(idle(a, 0, CAUSE_UNKNOWN), 40);
    assert_non_null(a->missing);
}

TEST(a_capture_without_device_work_has_no_window)
{
    host(SLICE_HOST_OP, "aten::add", 0, 10);
    assert_int_equal(account()->n, 0);
}

/* ---- random captures against a slow evaluation ---- */

static uint64_t seed;

static nanos dice(nanos most)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (nanos)((seed >> 33) % (uint64_t)most);
}

static void fill_randomly(void)
{
    static const char *const streams[] = {"1", "2", "3"};
    static const enum slice_kind kinds[] = {SLICE_COMPUTE, SLICE_COMM, SLICE_COPY, SLICE_AICPU,
                                            SLICE_COMM_PART};
    nanos now = 0;

    for (int i = 0; i < 60; i++) {
        nanos begin = dice(2000), end = begin + dice(100);
        uint32_t t = task(streams[dice(3)], kinds[dice(5)], "k", begin, end);
        nanos call = now + dice(40);
        now = call + dice(30);
        if (dice(4) > 0)
            capture_flow(cap, FLOW_LAUNCH, host(SLICE_RUNTIME, "cudaLaunchKernel", call, now), t);
    }
    for (int i = 0; i < 10; i++) {
        nanos begin = dice(2000);
        host(dice(2) == 0 ? SLICE_HOST_OP : SLICE_RUNTIME,
             dice(2) == 0 ? "cudaDeviceSynchronize" : "cudaMalloc", begin, begin + dice(300));
    }
    for (int i = 0; i < 4; i++)
        step_mark(i, i * 500, i * 500 + dice(500));
}

/* The class at an instant, by asking every task. */
static int class_at(const struct accounting *a, nanos t)
{
    const struct device_task *best = NULL;

    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *k = &a->tasks.at[i];
        if (k->begin <= t && t < k->end && (best == NULL || k->class < best->class))
            best = k;
    }
    if (best == NULL)
        return ACCOUNT_IDLE;
    return best->class == TASK_COMPUTE ? best->family
           : best->class == TASK_COMM  ? ACCOUNT_COMM
                                       : ACCOUNT_COPY + best->copy;
}

TEST(random_captures_add_up_and_equal_a_slow_evaluation)
{
    for (uint64_t run = 1; run <= 200; run++) {
        seed = run;
        fill_randomly();
        const struct accounting *a = account();
        assert_exact(a);
        nanos pieces = 0;
        for (size_t i = 0; i < a->pieces.n; i++)
            pieces += a->pieces.at[i].at.end - a->pieces.at[i].at.begin;
        assert_int_equal(pieces, a->all.idle);
        for (size_t i = 0; i < a->n; i++) {
            nanos by[ACCOUNT_IDLE + 1] = {0};
            for (nanos t = a->steps[i].window.begin; t < a->steps[i].window.end; t++)
                by[class_at(a, t)]++;
            for (int k = 0; k < ACCOUNT_IDLE; k++)
                assert_int_equal(by[k], a->steps[i].by[k]);
            assert_int_equal(by[ACCOUNT_IDLE], a->steps[i].idle);
        }
        done(NULL);
        fresh(NULL);
    }
    start_study();
}

/* The main thread puts work into a queue at [10,11) us; a second thread takes it out at once and
 * launches at [12,20). Then the main thread waits in a call up to 500 us and goes on. */
static void queue_work(nanos put, nanos begin, nanos end)
{
    uint32_t in = host(SLICE_QUEUE, "Enqueue", put, put + US);
    uint32_t out = other_host(2, SLICE_QUEUE, "Dequeue@x", put + US, put + 10 * US);
    uint32_t from = other_host(2, SLICE_RUNTIME, "Node@launch", put + 2 * US, put + 9 * US);

    capture_flow(cap, FLOW_QUEUE, in, out);
    capture_flow(cap, FLOW_LAUNCH, from, task("7", SLICE_COMPUTE, "elementwise", begin, end));
}

TEST(work_of_a_queue_is_late_because_of_the_thread_that_fills_it)
{
    step_mark(1, 0, 100 * US);
    step_mark(2, 100 * US, 1 * MS);
    queue_work(10 * US, 20 * US, 30 * US);
    queue_work(95 * US, 150 * US, 160 * US); /* launched after the mark, asked for before it */
    host(SLICE_RUNTIME, "aclrtSynchronizeStream", 110 * US, 500 * US);
    queue_work(510 * US, 520 * US, 530 * US);
    const struct accounting *a = account();

    assert_int_equal(a->steps[0].tasks, 2);
    assert_int_equal(a->steps[0].window.end, 160 * US);
    assert_int_equal(idle(a, 1, CAUSE_SYNC), 340 * US);
    assert_int_equal(idle(a, 1, CAUSE_LAUNCH), 20 * US);
    assert_int_equal(idle(a, 1, CAUSE_UNTRACED), 0);
    assert_exact(a);
}

/* What one thread does may be drawn on two lanes: operators on one, calls on the other. */
TEST(lanes_of_one_thread_are_one_timeline)
{
    struct lane_key calls = {.kind = LANE_THREAD, .device = -1, .pid = 99, .tid = 1};

    step_mark(1, 0, 1 * MS);
    launch(0, 10 * US, 11 * US, 20 * US);
    host(SLICE_HOST_OP, "aten::mm", 30 * US, 200 * US);
    put(calls, SLICE_RUNTIME, "cudaMalloc", 40 * US, 150 * US);
    launch(160 * US, 170 * US, 171 * US, 180 * US);
    const struct accounting *a = account();

    assert_int_equal(a->host.count, 1);
    assert_int_equal(idle(a, 0, CAUSE_ALLOCATOR), 110 * US);
    assert_exact(a);
}

TEST(copies_of_ascend_count)
{
    task("2", SLICE_COMPUTE, "MatMul", 0, 50 * US);
    task("2", SLICE_COPY, "MEMCPY_ASYNC", 60 * US, 90 * US);
    task("2", SLICE_CONTROL, "EVENT_RECORD", 90 * US, 95 * US);
    task("2", SLICE_COMPUTE, "MatMul", 100 * US, 150 * US);
    const struct accounting *a = account();

    assert_int_equal(a->steps[0].copy_exposed, 30 * US);
    assert_int_equal(a->steps[0].idle, 20 * US);
    assert_exact(a);
}

TEST(steps_of_equal_work_are_a_group)
{
    nanos at = 0;

    for (int step = 0; step < 8; step++) {
        bool has_more = step % 4 == 1;
        nanos span = has_more ? 4 * MS : step == 6 ? 3 * MS : MS;
        step_mark(step, at, at + span);
        launch_named("a", at + span - 50 * US, at + span - 40 * US, at + span - 39 * US,
                     at + span - 30 * US);
        if (has_more)
            launch_named("b", at + span - 30 * US, at + span - 20 * US, at + span - 19 * US,
                         at + span - 10 * US);
        at += span;
    }
    const struct accounting *a = account();

    assert_int_equal(a->groups, 2);
    assert_int_equal(a->steps[1].group, a->steps[5].group);
    assert_int_equal(a->steps[0].group, a->steps[6].group);
    assert_true(a->steps[6].is_slow);
    assert_false(a->steps[4].is_slow);
}

/* The same kernel on four times as much data, and one step that only the host held up. */
TEST(steps_of_equal_kernels_that_compute_far_longer_are_a_group)
{
    nanos at = 0;

    for (int step = 0; step < 9; step++) {
        nanos work = step % 2 == 1 ? 400 * US : 100 * US, span = step == 4 ? 3 * MS : MS;
        step_mark(step, at, at + span);
        launch_named("a", at, at + 10 * US, at + 20 * US, at + 20 * US + work);
        at += span;
    }
    const struct accounting *a = account();

    assert_int_equal(a->groups, 2);
    assert_int_equal(a->steps[1].group, a->steps[7].group);
    assert_int_equal(a->steps[0].group, a->steps[4].group);
    assert_int_not_equal(a->steps[0].group, a->steps[1].group);
}

/* Host work right before a copy of 1 MB to the device made the input. */
TEST(host_work_before_a_copy_is_input)
{
    struct attr bytes = attr_int(capture_intern(cap, S("bytes")), 1 << 20);
    struct lane_key key = {.kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, S("7"))};

    step_mark(1, 0, 9 * MS);
    launch(0, 10 * US, 11 * US, 20 * US);
    uint32_t from = host(SLICE_RUNTIME, "cudaMemcpyAsync", 5 * MS, 5010 * US);
    struct slice copy = {.begin = 5011 * US,
                         .dur = 20 * US,
                         .lane = capture_lane(cap, key),
                         .name = capture_intern(cap, S("Memcpy HtoD (Pinned -> Device)")),
                         .own = attrs_own(&cap->attrs, &bytes, 1),
                         .kind = SLICE_COPY};
    capture_flow(cap, FLOW_LAUNCH, from, capture_slice(cap, &copy));
    launch(8 * MS, 8010 * US, 8011 * US, 8020 * US);
    const struct accounting *a = account();

    assert_int_equal(idle(a, 0, CAUSE_INPUT), 5 * MS - 20 * US);
    assert_int_equal(idle(a, 0, CAUSE_UNTRACED), 8 * MS - 5031 * US);
}

TEST(the_middle_of_no_values_is_zero)
{
    assert_int_equal(host_timeline_median(NULL, 0), 0);
}

TEST(every_class_has_a_label_of_its_own)
{
    for (int class = 0; class < ACCOUNT_CLASSES; class ++) {
        assert_non_null(account_class_label(class));
        for (int other = 0; other < class; other++)
            assert_ptr_not_equal(account_class_label(class), account_class_label(other));
    }
}

TEST_MAIN("analysis/diagnose/accounting", T(every_class_has_a_label_of_its_own),
          T(the_middle_of_no_values_is_zero), T(steps_of_one_length_have_a_mean),
          T(steps_that_differ_are_not_averaged),
          CASE(compute_claims_before_collectives_and_those_before_copies),
          CASE(the_kernel_that_started_first_has_the_time),
          CASE(windows_follow_the_launch_and_not_the_mark),
          CASE(a_first_task_that_waited_begins_the_window),
          CASE(what_begins_long_after_its_call_waits_for_something_else),
          CASE(work_launched_before_the_recording_belongs_to_no_step),
          CASE(idle_time_is_what_the_launching_thread_did),
          CASE(short_stretches_are_launch_overhead),
          CASE(without_launches_the_cause_is_unknown_and_said),
          CASE(a_capture_without_device_work_has_no_window),
          CASE(random_captures_add_up_and_equal_a_slow_evaluation),
          CASE(work_of_a_queue_is_late_because_of_the_thread_that_fills_it),
          CASE(lanes_of_one_thread_are_one_timeline), CASE(copies_of_ascend_count),
          CASE(steps_of_equal_work_are_a_group),
          CASE(steps_of_equal_kernels_that_compute_far_longer_are_a_group),
          CASE(host_work_before_a_copy_is_input))
