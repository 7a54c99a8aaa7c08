#include "analysis/diagnose/whatif_answer.h"

#include "analysis/diagnose/testing_diagnose.h"
#include "analysis/diagnose/whatif.h"

static struct whatif what;

static void whatif_start(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    cap->facts.kind = capture_intern(cap, S("kineto"));
    if (cap->facts.device_name == 0)
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
    whatif_start();
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
    whatif_start();

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
    whatif_start();
    struct whatif_result r = change("no_alloc");

    assert_int_equal(what.profiled - r.profiled, 505 * US);
    whatif_fini(&what);
}

/* An allocation before the first kernel is no part of a recording without steps. */
TEST(what_goes_before_the_recording_saves_nothing)
{
    host(SLICE_RUNTIME, "cudaMalloc", 0, 5 * MS);
    for (int i = 0; i < 3; i++) {
        nanos at = (6 + i) * MS;
        launch(at, at + 10 * US, at + 11 * US, at + 900 * US);
    }
    whatif_start();
    struct whatif_result r = change("no_alloc");

    assert_int_equal(what.profiled, 2889 * US);
    assert_int_equal(r.profiled, what.profiled);
    whatif_fini(&what);
}

/* A pageable copy of 54 MB takes 10 ms, and the call with it; pinned 1 ms, and the call returns. */
static struct whatif_result pin_copies_on(const char *device)
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
    cap->facts.device_name = capture_intern(cap, str_of(device));
    whatif_start();
    struct whatif_result r = change("pinned_copies");
    whatif_fini(&what);
    return r;
}

TEST(pinned_copies_are_fast_and_do_not_block)
{
    struct whatif_result r = pin_copies_on("NVIDIA H200");

    assert_true(r.profiled < 3200 * US && r.profiled > 1900 * US);
}

/* An older bus has a quarter of that rate: 4 ms for the copy. */
TEST(pinned_copies_are_as_fast_as_the_bus)
{
    struct whatif_result r = pin_copies_on("Tesla V100-SXM2-32GB");

    assert_true(r.profiled > 4800 * US && r.profiled < 6200 * US);
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
    whatif_start();
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
    whatif_start();
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

/* Steps in which one operator runs on the device for `span`, launched early. */
static void operator_steps(const char *op, const char *shapes, const char *types,
                           const char *kernel, nanos span)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 20 * MS;
        step_mark(step, at, at + 20 * MS);
        shaped_op(op, shapes, types, at, at + 20 * US);
        launch_named(kernel, at + 5 * US, at + 10 * US, at + 11 * US, at + 11 * US + span);
        launch(at + 20 * MS - 20 * US, at + 20 * MS - 10 * US, at + 20 * MS - 9 * US,
               at + 20 * MS - 8 * US);
    }
}

/* The device time of a step's first task in the run that was made last, in microseconds. */
static nanos first_task_us(const char *text, size_t task_number)
{
    struct whatif_change c;

    assert_true(whatif_parse(str_of(text), &c));
    whatif_times(&what, &c, 1);
    uint32_t node = what.replay->node_of_task[task_number];
    return (what.times.end[node] - what.times.begin[node]) / US;
}

/* 4096 cubed at 65 % of 494.7 TFLOP/s: 427 us. */
TEST(slow_products_reach_tensor_cores)
{
    operator_steps("aten::mm", "4096,4096;4096,4096", "float;float", "ampere_sgemm_128x64", 9 * MS);
    whatif_start();

    assert_int_equal(first_task_us("gemm_at_roof", 0), 427);
    assert_int_equal(first_task_us("family_at_roof:gemm_tensor", 0), 9000);
    whatif_fini(&what);
}

/* 4096 cubed at 72 % of 989.4 TFLOP/s: 192 us; one that takes 200 us is good enough. */
TEST(inefficient_products_reach_their_roof)
{
    operator_steps("aten::mm", "4096,4096;4096,4096", "c10::BFloat16;c10::BFloat16",
                   "nvjet_hsh_64x64", MS);
    whatif_start();

    assert_int_equal(first_task_us("family_at_roof:gemm_tensor", 0), 192);
    assert_int_equal(first_task_us("family_at_roof:index_sort", 0), 1000);
    assert_int_equal(first_task_us("gemm_at_roof", 0), 1000);
    whatif_fini(&what);
}

TEST(good_products_stay)
{
    operator_steps("aten::mm", "4096,4096;4096,4096", "c10::BFloat16;c10::BFloat16",
                   "nvjet_hsh_64x64", 200 * US);
    whatif_start();

    assert_int_equal(first_task_us("family_at_roof", 0), 200);
    whatif_fini(&what);
}

/* 2 * (32*256*28*28) * (256*9) operations at 40 % of 494.7 TFLOP/s, since the output is as the next
 * operator has it: a quarter of the input. */
TEST(convolutions_take_their_output_from_the_next_operator)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 20 * MS;
        step_mark(step, at, at + 20 * MS);
        shaped_op("aten::cudnn_convolution", "32,256,56,56;256,256,3,3", "float;float", at,
                  at + 20 * US);
        launch_named("fft2d_r2c", at + 5 * US, at + 10 * US, at + 11 * US, at + 9 * MS);
        shaped_op("aten::relu", "32,256,28,28", "float", at + 30 * US, at + 50 * US);
        launch(at + 35 * US, at + 40 * US, at + 9001 * US, at + 9002 * US);
    }
    whatif_start();
    double flops = 2.0 * (32 * 256 * 28 * 28) * (256 * 9);

    assert_int_equal(first_task_us("gemm_at_roof", 0), (nanos)(flops / (494.7e6 * 0.4)));
    whatif_fini(&what);
}

/* 64 rows of 1 M floats: 268 MB at 7 % of 4800 GB/s and 85 us. */
TEST(sorting_becomes_top_k)
{
    operator_steps("aten::sort", "64,1048576;;", "float;Scalar;Scalar", "radixSort", 9 * MS);
    whatif_start();

    assert_int_equal(first_task_us("family_at_roof:index_sort", 0), 85 + 798);
    whatif_fini(&what);
}

TEST(doubles_become_floats)
{
    operator_steps("aten::add", "1048576;1048576", "double;double",
                   "at::native::vectorized_elementwise_kernel", 100 * US);
    whatif_start();

    assert_int_equal(first_task_us("no_fp64", 0), 50);
    whatif_fini(&what);
}

/* A scalar that Python passes is a double and means nothing. */
TEST(a_scalar_double_is_no_double)
{
    operator_steps("aten::mul", "1048576;", "float;double", "elementwise", 100 * US);
    whatif_start();

    assert_int_equal(first_task_us("no_fp64", 0), 100);
    whatif_fini(&what);
}

/* Scores of 64 x 2048 x 2048: two products of 34 GFLOP at 40 % of 989.4 TFLOP/s. */
TEST(attention_by_hand_becomes_one_kernel)
{
    static const struct {
        const char *op, *shapes, *kernel;
    } ops[] = {{"aten::bmm", "64,2048,64;64,64,2048", "nvjet"},
               {"aten::div", "4,16,2048,2048;", "elementwise"},
               {"aten::_softmax", "4,16,2048,2048;;", "softmax"},
               {"aten::bmm", "64,2048,2048;64,2048,64", "nvjet"},
               {"aten::add", "64,2048,64;64,2048,64", "elementwise"}};

    for (int step = 0; step < 3; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        for (int i = 0; i < 5; i++) {
            nanos begin = at + i * 20 * US;
            shaped_op(ops[i].op, ops[i].shapes, "c10::BFloat16;c10::BFloat16", begin,
                      begin + 15 * US);
            launch_named(ops[i].kernel, begin + 5 * US, begin + 10 * US,
                         at + 200 * US + i * 500 * US, at + 200 * US + i * 500 * US + 499 * US);
        }
    }
    whatif_start();
    struct whatif_change c = {WHATIF_FUSE_ATTENTION, S_INIT("")};
    whatif_times(&what, &c, 1);
    nanos sum = 0;
    for (size_t i = 0; i < 5; i++) {
        uint32_t node = what.replay->node_of_task[i];
        sum += what.times.end[node] - what.times.begin[node];
    }

    assert_int_equal(sum / US, 499 + (nanos)(2 * 2.0 * 64 * 2048 * 2048 * 64 / (989.4e6 * 0.4)));
    whatif_fini(&what);
}

/* Tasks of a step that are left after a change. */
static size_t tasks_left(const char *text, size_t step)
{
    struct whatif_change c;
    size_t n = 0;

    assert_true(whatif_parse(str_of(text), &c));
    whatif_times(&what, &c, 1);
    for (size_t i = 0; i < what.a->tasks.n; i++)
        n += what.a->tasks.at[i].step == step &&
             (what.change.drop[what.replay->node_of_task[i]] & REPLAY_GONE) == 0;
    return n;
}

static void elementwise_steps(const char *const *names, size_t n)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        for (size_t i = 0; i < n; i++) {
            nanos begin = at + (nanos)i * 20 * US, run = at + 400 * US + (nanos)i * 100 * US;
            shaped_op(names[i], "1024,1024", "float", begin, begin + 15 * US);
            launch_named("elementwise", begin + 5 * US, begin + 10 * US, run, run + 99 * US);
        }
    }
    whatif_start();
}

TEST(a_chain_of_elementwise_kernels_is_one)
{
    static const char *const ops[] = {"aten::mul", "aten::add", "aten::tanh"};

    elementwise_steps(ops, 3);
    assert_int_equal(tasks_left("fuse_elementwise", 1), 1);
    whatif_fini(&what);
}

/* Nothing says that the same kernel over and over depends on itself; a loop of three is three
 * kernels in one, each time. */
TEST(chains_that_repeat_are_loops)
{
    static const char *const same[] = {"aten::add", "aten::add", "aten::add", "aten::add"};

    elementwise_steps(same, 4);
    assert_int_equal(tasks_left("fuse_elementwise", 1), 4);
    whatif_fini(&what);
}

TEST(each_pass_of_a_loop_is_one_kernel)
{
    static const char *const loop[] = {"aten::mul", "aten::add", "aten::tanh",
                                       "aten::mul", "aten::add", "aten::tanh"};

    elementwise_steps(loop, 6);
    assert_int_equal(tasks_left("fuse_elementwise", 1), 2);
    whatif_fini(&what);
}

/* An operator, the shape of its largest input, and its kernel. */
struct member {
    const char *op, *shape, *kernel;
};

static void member_steps(const struct member *members, size_t n)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        for (size_t i = 0; i < n; i++) {
            nanos begin = at + (nanos)i * 20 * US, run = at + 400 * US + (nanos)i * 100 * US;
            shaped_op(members[i].op, members[i].shape, "float", begin, begin + 15 * US);
            launch_named(members[i].kernel, begin + 5 * US, begin + 10 * US, run, run + 99 * US);
        }
    }
    whatif_start();
}

/* A norm by hand: the mean and what works on rows belong to the chain; a second mean does not. */
TEST(chains_go_through_one_sum_and_parts_of_their_tensors)
{
    static const struct member norm[] = {{"aten::pow", "64,1024", "elementwise"},
                                         {"aten::mean", "64,1024", "reduce_kernel"},
                                         {"aten::rsqrt", "64,1", "elementwise"},
                                         {"aten::mul", "64,1024", "elementwise"},
                                         {"aten::mean", "64,1024", "reduce_kernel"}};

    member_steps(norm, 4);
    assert_int_equal(tasks_left("fuse_elementwise", 1), 1);
    whatif_fini(&what);
    study_end(&study);
    capture_free(cap);
    cap = capture_new();
    member_steps(norm, 5);
    assert_int_equal(tasks_left("fuse_elementwise", 1), 2);
    whatif_fini(&what);
}

TEST(other_tensors_begin_another_chain)
{
    static const struct member mixed[] = {{"aten::mul", "64,1024", "elementwise"},
                                          {"aten::add", "64,1024", "elementwise"},
                                          {"aten::tanh", "48,1024", "elementwise"}};

    member_steps(mixed, 3);
    assert_int_equal(tasks_left("fuse_elementwise", 1), 3);
    whatif_fini(&what);
}

/* Forty parameters, two operators each, in every step; nothing else is launched between steps. */
TEST(optimizers_are_fused_step_by_step)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_ANNOTATION, "Optimizer.step#SGD.step", at, at + 4900 * US);
        for (int i = 0; i < 80; i++) {
            nanos begin = at + i * 60 * US;
            shaped_op(i % 2 == 0 ? "aten::mul_" : "aten::add_", "512,512", "float", begin,
                      begin + 50 * US);
            launch(begin + 5 * US, begin + 10 * US, begin + 11 * US, begin + 13 * US);
        }
    }
    whatif_start();

    assert_int_equal(tasks_left("fuse_optimizer", 0), 1);
    assert_int_equal(tasks_left("fuse_optimizer", 1), 1);
    assert_int_equal(change("fuse_optimizer").profiled / US, 60 + 40 * 26 / 10);
    whatif_fini(&what);
}

/* One step of five takes three times as long. */
TEST(a_slow_step_becomes_like_the_others)
{
    nanos at = 0;

    for (int step = 0; step < 6; step++) {
        nanos span = step == 3 ? 3 * MS : MS;
        step_mark(step, at, at + span);
        launch(at + span - 20 * US, at + span - 10 * US, at + span - 9 * US, at + span);
        at += span;
    }
    whatif_start();

    assert_int_equal(what.profiled, 7 * MS / 5);
    assert_int_equal(change("even_step").profiled, MS);
    assert_int_equal(change("even_step:1").profiled, 7 * MS / 5);
    whatif_fini(&what);
}

/* Twenty copies of 256 bytes, waited for each: one is left. */
TEST(small_copies_become_one)
{
    struct attr bytes = attr_int(capture_intern(cap, S("bytes")), 256);

    for (int step = 0; step < 3; step++) {
        nanos at = step * MS;
        struct lane_key key = {
            .kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, S("7"))};
        step_mark(step, at, at + MS);
        for (int i = 0; i < 20; i++) {
            nanos begin = at + i * 40 * US;
            host(SLICE_HOST_OP, "aten::to", begin, begin + 30 * US);
            uint32_t from = host(SLICE_RUNTIME, "cudaMemcpyAsync", begin + 5 * US, begin + 10 * US);
            struct slice copy = {.begin = begin + 11 * US,
                                 .dur = US,
                                 .lane = capture_lane(cap, key),
                                 .name = capture_intern(cap, S("Memcpy HtoD (Pageable -> Device)")),
                                 .own = attrs_own(&cap->attrs, &bytes, 1),
                                 .kind = SLICE_COPY};
            capture_flow(cap, FLOW_LAUNCH, from, capture_slice(cap, &copy));
            host(SLICE_RUNTIME, "cudaStreamSynchronize", begin + 10 * US, begin + 16 * US);
        }
        launch(at + 900 * US, at + 910 * US, at + 911 * US, at + 920 * US);
    }
    whatif_start();

    assert_int_equal(tasks_left("pinned_copies", 1), 2);
    assert_true(change("pinned_copies").profiled_saving > 0.6);
    whatif_fini(&what);
}

TEST(sites_of_input_are_classes_of_host_work)
{
    for (int step = 0; step < 3; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_HOST_OP, "aten::randn", at, at + 4 * MS);
        launch(at + 4 * MS, at + 4010 * US, at + 4011 * US, at + 4900 * US);
    }
    whatif_start();

    assert_true(change("input_ready:cpu_operator").saving > 0.75);
    assert_true(change("input_ready:untraced").saving < 0.01);
    whatif_fini(&what);
}

/* Work of every kind, so that several changes save something. */
static void mixed_steps(void)
{
    for (int step = 0; step < 4; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_HOST_OP, "aten::randn", at, at + 2 * MS);
        for (int i = 0; i < 50; i++) {
            nanos begin = at + 2 * MS + i * 10 * US;
            launch(begin, begin + 6 * US, begin + 7 * US, begin + 9 * US);
        }
        host(SLICE_RUNTIME, "cudaMalloc", at + 3 * MS, at + 4 * MS);
        launch(at + 4 * MS, at + 4010 * US, at + 4011 * US, at + 4900 * US);
    }
}

TEST(results_do_not_depend_on_threads)
{
    struct whatif_change all[WHATIF_CANDIDATES];
    struct whatif_result one[WHATIF_CANDIDATES], many[WHATIF_CANDIDATES];
    struct whatif_result best_one[WHATIF_GREEDY], best_many[WHATIF_GREEDY];
    size_t n = whatif_candidates(all);

    mixed_steps();
    whatif_start();
    whatif_run_each(&what, all, n, one);
    size_t found = whatif_greedy(&what, all, one, n, 0.01, best_one);
    what.pool = pool_new(3);
    whatif_run_each(&what, all, n, many);

    assert_true(found > 1);
    assert_int_equal(whatif_greedy(&what, all, many, n, 0.01, best_many), found);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(one[i].profiled, many[i].profiled);
    for (size_t i = 0; i < found; i++)
        assert_int_equal(best_one[i].bare, best_many[i].bare);
    pool_free(what.pool);
    whatif_fini(&what);
}

TEST_MAIN("analysis/diagnose/whatif", T(names_of_changes_and_sites),
          CASE(launch_bound_steps_shrink_to_their_kernels),
          CASE(host_work_goes_when_input_is_ready), CASE(allocations_go),
          CASE(what_goes_before_the_recording_saves_nothing),
          CASE(pinned_copies_are_fast_and_do_not_block), CASE(pinned_copies_are_as_fast_as_the_bus),
          CASE(savings_of_a_combination_add_up), CASE(the_predicted_trace_holds_the_changed_times),
          CASE(slow_products_reach_tensor_cores), CASE(inefficient_products_reach_their_roof),
          CASE(good_products_stay), CASE(convolutions_take_their_output_from_the_next_operator),
          CASE(sorting_becomes_top_k), CASE(doubles_become_floats),
          CASE(a_scalar_double_is_no_double), CASE(attention_by_hand_becomes_one_kernel),
          CASE(a_chain_of_elementwise_kernels_is_one), CASE(chains_that_repeat_are_loops),
          CASE(each_pass_of_a_loop_is_one_kernel),
          CASE(chains_go_through_one_sum_and_parts_of_their_tensors),
          CASE(other_tensors_begin_another_chain), CASE(optimizers_are_fused_step_by_step),
          CASE(a_slow_step_becomes_like_the_others), CASE(small_copies_become_one),
          CASE(sites_of_input_are_classes_of_host_work), CASE(results_do_not_depend_on_threads))
