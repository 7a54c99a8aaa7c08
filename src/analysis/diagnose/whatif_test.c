#include "analysis/diagnose/whatif_answer.h"

#include "analysis/diagnose/testing_diagnose.h"
#include "analysis/diagnose/whatif_trace.h"

static struct whatif what;

static void start(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    cap->facts.kind = capture_intern(cap, S("kineto"));
    cap->facts.device_name = capture_intern(cap, S("NVIDIA H200"));
    start_study();
    whatif_init(&what, &study, study_accounting(&study));
}

static struct whatif_result change(const char *text)
{
    struct whatif_change one;

    assert_true(whatif_parse(str_of(text), &one));
    return whatif_run(&what, &one, 1);
}

TEST(names_of_changes_and_sites)
{
    struct whatif_change c;

    assert_true(whatif_parse(S("no_sync:aten::item"), &c));
    assert_int_equal(c.id, WHATIF_NO_SYNC);
    assert_str(c.site, "aten::item");
    assert_true(whatif_parse(S("no_alloc"), &c));
    assert_int_equal(c.site.n, 0);
    assert_false(whatif_parse(S("magic"), &c));
}

/* Two steps: 100 launches of 10 us, a kernel of 2 us each. Without launch cost the kernels lie
 * half a microsecond apart. */
TEST(launch_bound_steps_shrink_to_their_kernels)
{
    for (int step = 0; step < 2; step++) {
        step_mark(step, step * MS, (step + 1) * MS);
        for (int i = 0; i < 100; i++) {
            nanos at = step * MS + i * 10 * US;
            launch(at, at + 6 * US, at + 7 * US, at + 9 * US);
        }
    }
    start();
    struct whatif_result r = change("no_launch_cost");

    assert_int_equal(what.profiled, 1 * MS);
    assert_int_equal(r.bare, 100 * 2500);
    assert_true(r.profiled > r.bare); /* recording a graph costs time for every node */
    assert_true(what.bare < what.profiled);
    whatif_fini(&what);
}

TEST(host_work_goes_when_input_is_ready)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_HOST_OP, "aten::randn", at, at + 4 * MS);
        launch(at + 4 * MS, at + 4010 * US, at + 4011 * US, at + 4900 * US);
    }
    start();

    assert_true(change("input_ready").saving > 0.75);
    assert_true(change("input_ready:aten::randn").saving > 0.75);
    assert_true(change("input_ready:aten::other").saving < 0.01);
    whatif_fini(&what);
}

TEST(allocations_go)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * MS;
        step_mark(step, at, at + MS);
        host(SLICE_RUNTIME, "cudaMalloc", at, at + 500 * US);
        launch(at + 510 * US, at + 520 * US, at + 521 * US, at + 530 * US);
    }
    start();
    struct whatif_result r = change("no_alloc");

    assert_int_equal(what.profiled - r.profiled, 505 * US);
    whatif_fini(&what);
}

/* A pageable copy of 54 MB takes 10 ms, and the call with it; pinned 1 ms, and the call returns. */
TEST(pinned_copies_are_fast_and_do_not_block)
{
    struct attr bytes = attr_int(capture_intern(cap, S("bytes")), 54000000);

    for (int step = 0; step < 3; step++) {
        nanos at = step * 12 * MS;
        struct lane_key key = {
            .kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, S("7"))};
        step_mark(step, at, at + 12 * MS);
        uint32_t from = host(SLICE_RUNTIME, "cudaMemcpyAsync", at, at + 10 * MS);
        struct slice copy = {.begin = at + 5 * US,
                             .dur = 9990 * US,
                             .lane = capture_lane(cap, key),
                             .name = capture_intern(cap, S("Memcpy HtoD (Pageable -> Device)")),
                             .own = attrs_own(&cap->attrs, &bytes, 1),
                             .kind = SLICE_COPY};
        capture_flow(cap, FLOW_LAUNCH, from, capture_slice(cap, &copy));
        launch(at + 10 * MS, at + 10010 * US, at + 10011 * US, at + 11 * MS);
    }
    start();
    struct whatif_result r = change("pinned_copies");

    assert_true(r.profiled < 3200 * US && r.profiled > 1900 * US);
    whatif_fini(&what);
}

TEST(savings_of_a_combination_add_up)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_HOST_OP, "aten::randn", at, at + 3 * MS);
        host(SLICE_RUNTIME, "cudaMalloc", at + 3 * MS, at + 4 * MS);
        launch(at + 4010 * US, at + 4020 * US, at + 4021 * US, at + 4900 * US);
    }
    start();
    const struct whatif_answer *a = whatif_answer_find(&study, &what, NULL, 0);

    assert_true(a->n >= 2);
    double sum = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += a->together[i].saving;
    const struct whatif_result *last = &a->together[a->n - 1];
    double all = 1 - (double)last->bare / (double)a->bare;
    assert_true(sum - all < 1e-9 && all - sum < 1e-9);
    assert_true(a->together[0].saving >= a->together[1].saving);
    whatif_fini(&what);
}

TEST(the_predicted_trace_holds_the_changed_times)
{
    struct whatif_change c = {WHATIF_NO_ALLOC, S_INIT("")};

    step_mark(0, 0, MS);
    host(SLICE_RUNTIME, "cudaMalloc", 0, 500 * US);
    launch(500 * US, 510 * US, 511 * US, 520 * US);
    start();
    struct capture *predicted = whatif_trace(&what, &c, 1);
    size_t kernels = 0;

    for (size_t i = 0; i < predicted->slices.n; i++)
        if (slice_is_kernel((enum slice_kind)predicted->slices.kind[i])) {
            kernels++;
            assert_int_equal(predicted->slices.begin[i], 11 * US);
            assert_int_equal(predicted->slices.dur[i], 9 * US);
        }
    assert_int_equal(kernels, 1);
    assert_int_equal(predicted->slices.n, cap->slices.n);
    capture_free(predicted);
    whatif_fini(&what);
}

TEST_MAIN("analysis/diagnose/whatif", T(names_of_changes_and_sites),
          CASE(launch_bound_steps_shrink_to_their_kernels),
          CASE(host_work_goes_when_input_is_ready), CASE(allocations_go),
          CASE(pinned_copies_are_fast_and_do_not_block), CASE(savings_of_a_combination_add_up),
          CASE(the_predicted_trace_holds_the_changed_times))
