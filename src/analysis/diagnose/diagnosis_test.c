#include "analysis/diagnose/diagnosis.h"

#include "analysis/diagnose/root_limits.h"
#include "analysis/diagnose/testing_diagnose.h"
#include "report/report.h"

enum { STEPS = 6 };

static const struct diagnosis *diagnose_on(const char *device)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    cap->facts.kind = capture_intern(cap, S("kineto"));
    cap->facts.device_name = capture_intern(cap, str_of(device));
    start_study();
    return study_diagnosis(&study);
}

static const struct diagnosis *diagnose(void)
{
    return diagnose_on("NVIDIA H200");
}

static bool lists(const struct diagnosis *d, const char *id)
{
    for (size_t i = 0; i < d->n_causes; i++)
        if (strcmp(d->causes[i].id, id) == 0)
            return true;
    return false;
}

TEST(nothing_on_the_device_is_unknown)
{
    host(SLICE_HOST_OP, "aten::randn", 0, MS);
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "unknown");
    assert_int_equal(d->verdict.confidence, CONFIDENCE_UNKNOWN);
}

TEST(launches_without_kernels_say_that_the_device_was_not_recorded)
{
    host(SLICE_HOST_OP, "aten::mm", 0, MS);
    host(SLICE_RUNTIME, "cudaLaunchKernel", 10 * US, 20 * US);
    host(SLICE_HOST_OP, "aten::add", 2 * MS, 2100 * US);
    const struct diagnosis *d = diagnose();

    assert_true(str_find(d->text.english, S("1 launch:")) < d->text.english.n);
    assert_true(str_find(d->text.english, S("aten::mm (1.000 ms), aten::add")) < d->text.english.n);
}

TEST(a_host_that_launches_nothing_is_not_told_to_record_the_device)
{
    host(SLICE_HOST_OP, "aten::mm", 0, MS);
    const struct diagnosis *d = diagnose();

    assert_true(str_find(d->text.english, S("ProfilerActivity")) == d->text.english.n);
}

/* Kernels of a library are used by others; what the host does names the server. */
TEST(a_server_is_known_by_its_host)
{
    launch_named("void vllm::rms_norm_kernel", 0, 10 * US, 20 * US, MS);
    assert_string_equal(diagnose()->framework, "pytorch");
}

TEST(an_operator_of_a_server_names_it)
{
    host(SLICE_HOST_OP, "vllm::unified_attention", 0, 15 * US);
    launch(0, 10 * US, 20 * US, MS);
    assert_string_equal(diagnose()->framework, "vllm");
}

static const struct diagnosis *diagnose_launches(const char *kind)
{
    for (int i = 0; i < 400; i++)
        launch_named("saxpy", i * 10 * US, i * 10 * US + 6 * US, i * 10 * US + 7 * US,
                     i * 10 * US + 8 * US);
    cap->facts.vendor = VENDOR_NVIDIA;
    cap->facts.kind = capture_intern(cap, str_of(kind));
    start_study();
    return study_diagnosis(&study);
}

TEST(a_program_without_a_framework_gets_no_word_of_one)
{
    const struct diagnosis *d = diagnose_launches("nsys");

    assert_string_equal(d->verdict.id, "launch_bound");
    assert_true(str_find(d->text.english, S("torch")) == d->text.english.n);
}

TEST(a_program_of_pytorch_does)
{
    host(SLICE_HOST_OP, "aten::add", 0, 4 * MS);
    const struct diagnosis *d = diagnose_launches("nsys");

    assert_string_equal(d->framework, "pytorch");
    assert_true(str_find(d->text.english, S("torch.compile")) < d->text.english.n);
}

static const struct diagnosis *load(const char *loader)
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_ANNOTATION, loader, at, at + 4 * MS);
        launch(at + 4 * MS, at + 4010 * US, at + 4011 * US, at + 4900 * US);
    }
    return diagnose();
}

TEST(workers_that_are_used_are_not_advised)
{
    const struct diagnosis *d =
        load("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");

    assert_string_equal(d->verdict.id, "input_pipeline");
    assert_true(str_find(d->text.english, S("has workers already")) < d->text.english.n);
}

TEST(workers_that_are_not_used_are)
{
    const struct diagnosis *d = load("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");

    assert_true(str_find(d->text.english, S("Use DataLoader workers")) < d->text.english.n);
}

/* Kernels back to back, launched a step ahead. */
static void keep_busy(void)
{
    for (int step = 0; step < STEPS; step++) {
        step_mark(step, step * 100 * US, (step + 1) * 100 * US);
        for (int i = 0; i < 4; i++) {
            nanos at = step * 100 * US + i * 20 * US, run = MS + (step * 4 + i) * 501 * US;
            launch(at, at + 5 * US, run, run + 500 * US);
        }
    }
}

TEST(a_busy_device_is_healthy)
{
    keep_busy();
    shaped_op("aten::mm", "512,512;512,512", "c10::BFloat16;c10::BFloat16", 0, 4 * US);
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "healthy");
    assert_int_equal(d->verdict.confidence, CONFIDENCE_SURE);
    assert_int_equal(d->n_causes, 0);
}

/* Which kernels could be fused, or in another type, is not seen. */
TEST(a_busy_device_without_shapes_is_likely_healthy_at_most)
{
    keep_busy();
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "healthy");
    assert_int_equal(d->verdict.confidence, CONFIDENCE_LIKELY);
}

TEST(a_busy_device_that_nobody_knows_is_not_called_healthy)
{
    keep_busy();
    const struct diagnosis *d = diagnose_on("NVIDIA Z9");

    assert_string_equal(d->verdict.id, "unknown");
    assert_true(str_find(d->text.english, S("--chip")) < d->text.english.n);
}

/* What the recording says of the device will do. */
TEST(a_busy_device_may_be_known_by_what_it_is_made_of)
{
    keep_busy();
    cap->facts.device_cores = 50;
    cap->facts.device_cc = capture_intern(cap, S("8.6"));
    assert_string_equal(diagnose_on("NVIDIA Z9")->verdict.id, "healthy");
}

/* A graph of these kernels in each step, a step ahead of the device. */
static void replay_graphs(const char *const names[4])
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 100 * US;
        step_mark(step, at, at + 100 * US);
        uint32_t from = host(SLICE_RUNTIME, "cudaGraphLaunch", at + US, at + 10 * US);
        for (int i = 0; i < 4; i++) {
            nanos run = MS + (step * 4 + i) * 501 * US;
            capture_flow(cap, FLOW_LAUNCH, from,
                         task("7", SLICE_COMPUTE, names[i], run, run + 500 * US));
        }
    }
}

TEST(products_in_a_graph_are_judged)
{
    static const char *const names[4] = {"ampere_sgemm_128x64_tn", "softplus_elementwise",
                                         "ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nt"};

    replay_graphs(names);
    const struct diagnosis *d = diagnose();
    assert_string_equal(d->verdict.id, "gemm_no_tensor_core");
    assert_true(d->verdict.confidence < CONFIDENCE_SURE); /* a graph has no shapes */
}

TEST(doubles_in_a_graph_are_doubles)
{
    static const char *const names[4] = {"cutlass_80_tensorop_d884gemm_64x64", "vectorized_add",
                                         "cutlass_80_tensorop_d884gemm_64x64", "vectorized_mul"};

    replay_graphs(names);
    const struct diagnosis *d = diagnose();
    assert_string_equal(d->verdict.id, "fp64_used");
    assert_false(lists(d, "gemm_no_tensor_core"));
}

TEST(products_on_tensor_cores_in_a_graph_are_healthy)
{
    static const char *const names[4] = {"nvjet_hsh_128x64", "elementwise_add", "nvjet_hsh_64x64",
                                         "log_softmax_forward"};

    replay_graphs(names);
    assert_string_equal(diagnose()->verdict.id, "healthy");
}

TEST(attention_by_hand_in_a_graph_is_not_healthy)
{
    static const char *const names[4] = {"nvjet_hsh_128x64", "softmax_warp_forward",
                                         "nvjet_hsh_64x64", "nvjet_hsh_64x128"};

    replay_graphs(names);
    const struct diagnosis *d = diagnose();
    assert_string_equal(d->verdict.id, "unknown");
    assert_true(str_find(d->text.english, S("attention")) < d->text.english.n);
}

TEST(kernels_of_unknown_kind_are_not_healthy)
{
    static const char *const names[4] = {"nvjet_hsh_128x64", "my_kernel", "nvjet_hsh_64x64",
                                         "nvjet_hsh_64x128"};

    replay_graphs(names);
    assert_string_equal(diagnose()->verdict.id, "unknown");
}

/* Memory is allocated before the first kernel, and the host sleeps between kernels. */
TEST(what_is_not_seen_in_the_steps_is_not_named)
{
    host(SLICE_RUNTIME, "cudaMalloc", 0, 50 * MS);
    for (int i = 0; i < 5; i++) {
        nanos at = (50 + 10 * i) * MS;
        launch(at, at + 5 * US, at + 6 * US, at + MS);
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "host_untraced");
    for (size_t i = 0; i < d->n_causes; i++)
        assert_true(d->causes[i].found.n_sites > 0);
}

/* A steady loop of 2 us kernels behind a first launch of 80 ms. `first`: what that one launches;
 * `is_busy`: the device has something to do all the time but for that. */
static void start_then_loop(const char *first, bool is_busy)
{
    nanos run = is_busy ? 49 * US : 2 * US;

    for (int i = 0; i < 200; i++) {
        nanos at = i * 50 * US + (i > 100 ? 80 * MS : 0);
        launch(at, at + 6 * US, at + 7 * US, at + 7 * US + run);
        if (i == 100)
            launch_named(first, at + 60 * US, at + 80 * MS, at + 80 * MS + US,
                         at + 80 * MS + 40 * US);
    }
}

TEST(a_first_call_is_a_start_up)
{
    start_then_loop("convolution", true);
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "start_up");
    assert_true(d->verdict.saving > 79 * MS && d->verdict.saving < 81 * MS);
    assert_int_equal(d->n_causes, 1);
    assert_true(str_find(d->text.english, S("In the other 10.")) < d->text.english.n);
}

/* The same call for a kernel that ran before is none, and one launch is not launches as such. */
TEST(a_late_call_for_a_known_kernel_is_no_start_up)
{
    start_then_loop("elementwise", true);
    const struct diagnosis *d = diagnose();

    assert_false(lists(d, "start_up"));
    assert_false(lists(d, "launch_bound"));
    assert_string_equal(d->verdict.id, "unknown");
}

/* The steady part is judged by itself: the launches of the loop are worth 9 % of all. */
TEST(the_rest_of_a_start_up_has_a_cause_of_its_own)
{
    start_then_loop("convolution", false);
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "start_up");
    assert_true(lists(d, "launch_bound"));
    assert_true(str_find(d->text.english, S("Launch-bound")) < d->text.english.n);
}

/* A copy that is new, and whose call lasts long because a kernel does. */
TEST(a_first_copy_behind_long_work_is_no_start_up)
{
    for (int i = 0; i < 20; i++)
        launch(i * 2 * MS, i * 2 * MS + 6 * US, i * 2 * MS + 7 * US, i * 2 * MS + 1990 * US);
    uint32_t from = host(SLICE_RUNTIME, "cudaMemcpyAsync", 38100 * US, 40100 * US);
    capture_flow(cap, FLOW_LAUNCH, from,
                 task("7", SLICE_COPY, "Memcpy DtoH (Device -> Pageable)", 39996 * US, 40095 * US));
    start_study();
    assert_int_equal(study_accounting(&study)->all.by[ACCOUNT_IDLE + CAUSE_START_UP], 0);
}

/* Kernels back to back, and one long silence behind the first of them or in their middle. */
static const struct diagnosis *be_silent_at(int place)
{
    nanos at = 0;

    for (int i = 0; i < 200; i++) {
        at += i == place ? 100 * MS : 0;
        launch(at, at + 5 * US, at + 6 * US, at + 995 * US);
        at += MS;
    }
    return diagnose();
}

TEST(what_happens_once_at_an_edge_is_no_cause)
{
    assert_false(lists(be_silent_at(1), "host_untraced"));
}

TEST(what_happens_in_the_middle_is_one)
{
    assert_true(lists(be_silent_at(100), "host_untraced"));
}

/* A pool of memory that only grows belongs to the start; one that is given back does not. */
static void allocate_in_a_loop(bool is_freed)
{
    for (int i = 0; i < 100; i++) {
        nanos at = i * MS;
        host(SLICE_RUNTIME, "cudaMalloc", at, at + 300 * US);
        if (is_freed)
            host(SLICE_RUNTIME, "cudaFree", at + 300 * US, at + 600 * US);
        launch(at + 600 * US, at + 606 * US, at + 607 * US, at + 990 * US);
    }
}

TEST(memory_that_is_given_back_is_a_matter_of_the_allocator)
{
    allocate_in_a_loop(true);
    assert_string_equal(diagnose()->verdict.id, "allocator");
}

TEST(memory_that_is_kept_is_not)
{
    allocate_in_a_loop(false);
    assert_false(lists(diagnose(), "allocator"));
}

/* 200 launches of 10 us for kernels of 1 us. */
TEST(short_kernels_are_launch_bound)
{
    for (int step = 0; step < STEPS; step++) {
        step_mark(step, step * 2 * MS, (step + 1) * 2 * MS);
        for (int i = 0; i < 200; i++) {
            nanos at = step * 2 * MS + i * 10 * US;
            launch(at, at + 6 * US, at + 7 * US, at + 8 * US);
        }
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "launch_bound");
    assert_int_equal(d->verdict.confidence, CONFIDENCE_SURE);
    assert_true(d->verdict.saving_share > 0.6);
    assert_true(d->causes[0].found.n_sites > 0);
    assert_int_equal(d->causes[0].found.count, 200);
}

/* 100 short launches, and a copy of pageable memory that has nothing to do with them. */
static void launch_and_copy(nanos copy)
{
    nanos whole = 1500 * US + copy;

    for (int step = 0; step < STEPS; step++) {
        nanos at = step * whole;
        step_mark(step, at, at + whole);
        for (int i = 0; i < 100; i++)
            launch(at + i * 15 * US, at + i * 15 * US + 13 * US, at + i * 15 * US + 13 * US,
                   at + i * 15 * US + 14 * US);
        uint32_t from = host(SLICE_RUNTIME, "cudaMemcpyAsync", at + 1500 * US, at + whole - 5 * US);
        struct attr bytes = attr_int(capture_intern(cap, S("bytes")), 1000000);
        uint32_t to = capture_slice(
            cap, &(struct slice){.begin = at + 1505 * US,
                                 .dur = copy - 12 * US,
                                 .lane = capture_lane(
                                     cap, (struct lane_key){.kind = LANE_STREAM,
                                                            .device = 0,
                                                            .name = capture_intern(cap, S("7"))}),
                                 .name = capture_intern(cap, S("Memcpy HtoD (Pageable -> Device)")),
                                 .own = attrs_own(&cap->attrs, &bytes, 1),
                                 .kind = SLICE_COPY});
        capture_flow(cap, FLOW_LAUNCH, from, to);
    }
}

/* Half of the launches' saving does not make the copies the cause, as neither takes the other with
 * it; more than it does. */
TEST(a_specific_cause_beside_a_larger_one_does_not_lead)
{
    launch_and_copy(1000 * US);
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "launch_bound");
    assert_true(lists(d, "pageable_copy"));
}

TEST(a_specific_cause_that_saves_more_leads)
{
    launch_and_copy(3000 * US);
    assert_string_equal(diagnose()->verdict.id, "pageable_copy");
}

/* A wait in the middle of a step: it is not one graph. */
TEST(launches_around_waits_save_at_most)
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 2 * MS;
        step_mark(step, at, at + 2 * MS);
        for (int i = 0; i < 200; i++) {
            nanos call = at + i * 10 * US;
            if (i == 100)
                host(SLICE_RUNTIME, "cudaStreamSynchronize", call, call + 9 * US);
            else
                launch(call, call + 6 * US, call + 7 * US, call + 8 * US);
        }
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "launch_bound");
    assert_int_equal(d->verdict.bound, SAVING_AT_MOST);
    assert_true(str_find(d->text.english, S("Saves up to")) < d->text.english.n);
}

/* Equal products one by one could be one. */
TEST(launches_of_equal_products_save_at_least)
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 2 * MS;
        step_mark(step, at, at + 2 * MS);
        for (int i = 0; i < 100; i++) {
            nanos call = at + i * 20 * US;
            shaped_op("aten::mm", "16,64;64,64", "c10::BFloat16;c10::BFloat16", call,
                      call + 19 * US);
            launch_named("nvjet_hsh", call + 10 * US, call + 14 * US, call + 15 * US,
                         call + 18 * US);
        }
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "launch_bound");
    assert_int_equal(d->verdict.bound, SAVING_AT_LEAST);
    assert_true(str_find(d->text.english, S("Saves at least")) < d->text.english.n);
}

/* An operator that is slow for every new shape, and quick for shapes it knows. */
TEST(plans_for_new_shapes_are_compilation)
{
    static const char *const shapes[STEPS] = {"4,1,64", "4,2,64", "4,3,64",
                                              "4,4,64", "4,5,64", "4,6,64"};

    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 40 * MS;
        step_mark(step, at, at + 40 * MS);
        for (int i = 0; i < 8; i++) {
            nanos begin = at + (i > 0 ? 30 * MS + i * MS : 0),
                  call = i > 0 ? begin + 20 * US : at + 30 * MS;
            shaped_op("aten::attention", shapes[step], "c10::BFloat16", begin, call + 10 * US);
            launch(call, call + 5 * US, call + 6 * US, call + 100 * US);
        }
    }
    assert_string_equal(diagnose()->verdict.id, "compilation");
}

/* The host is late by a third: that may be the profiler, and is said. */
TEST(what_the_profiler_may_explain_is_possible_at_most)
{
    for (int step = 0; step < STEPS; step++) {
        step_mark(step, step * 3 * MS, (step + 1) * 3 * MS);
        for (int i = 0; i < 100; i++) {
            nanos at = step * 3 * MS + i * 30 * US;
            launch(at, at + 6 * US, at + 7 * US, at + 27 * US);
        }
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "launch_bound");
    assert_int_equal(d->verdict.confidence, CONFIDENCE_POSSIBLE);
    assert_true(str_find(d->text.english, S("without the profiler")) < d->text.english.n);
}

/* The launching thread sleeps so long before each of these launches. */
static void wait_before_launches(nanos wait, nanos more)
{
    nanos at = 0;

    for (int step = 0; step < STEPS; step++) {
        nanos end = at + wait + more * step + MS;
        step_mark(step, at, end);
        launch(end - MS, end - 990 * US, end - 989 * US, end - 100 * US);
        at = end;
    }
}

TEST(pieces_of_the_switch_interval_name_the_interpreter_lock)
{
    wait_before_launches(4110 * US, 0);
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "host_untraced");
    assert_true(str_find(d->text.english, S("interpreter lock")) < d->text.english.n);
}

/* An operator stands still in each step, as long as Python lets another thread run, or twice that.
 */
static const struct diagnosis *hold_operators(nanos once, nanos twice)
{
    nanos at = 0;

    for (int step = 0; step < STEPS; step++) {
        nanos wait = step % 2 == 0 ? once : twice, end = at + wait + MS;
        step_mark(step, at, end);
        host(SLICE_HOST_OP, "aten::linear", at + 10 * US, at + 10 * US + wait);
        launch(end - 900 * US, end - 890 * US, end - 889 * US, end - 100 * US);
        at = end;
    }
    return diagnose();
}

TEST(operators_that_wait_for_the_interpreter_lock_are_no_work)
{
    const struct diagnosis *d = hold_operators(5100 * US, 10200 * US);

    assert_string_equal(d->verdict.id, "host_untraced");
    assert_true(str_find(d->text.english, S("interpreter lock")) < d->text.english.n);
}

TEST(operators_of_one_length_are_work_even_of_a_switch_interval)
{
    assert_string_equal(hold_operators(5100 * US, 5100 * US)->verdict.id, "cpu_operator");
}

/* A lock is waited for once and several times; what each step has is its own length. */
TEST(operators_of_one_length_are_work_even_of_two_switch_intervals)
{
    assert_string_equal(hold_operators(10300 * US, 10300 * US)->verdict.id, "cpu_operator");
}

TEST(other_pieces_do_not)
{
    wait_before_launches(5600 * US, 200 * US);
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "host_untraced");
    assert_true(str_find(d->text.english, S("no recorded event")) < d->text.english.n);
}

/* A call of the operating system fills that time, or a tenth of it. */
static const struct diagnosis *wait_in_system(nanos wait)
{
    wait_before_launches(6 * MS, 0);
    for (int step = 0; step < STEPS; step++)
        host(SLICE_OS, "getc", step * 7 * MS + 100 * US, step * 7 * MS + 100 * US + wait);
    return diagnose();
}

TEST(a_wait_in_the_operating_system_is_named)
{
    const struct diagnosis *d = wait_in_system(5 * MS);

    assert_string_equal(d->verdict.id, "host_untraced");
    assert_true(str_find(d->text.english, S("getc")) < d->text.english.n);
    assert_true(str_find(d->text.english, S("what it reads")) < d->text.english.n);
}

TEST(a_short_call_of_the_operating_system_explains_nothing)
{
    const struct diagnosis *d = wait_in_system(500 * US);

    assert_true(str_find(d->text.english, S("no recorded event")) < d->text.english.n);
}

static void stall(const char *name)
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_HOST_OP, name, at, at + 4 * MS);
        launch(at + 4 * MS, at + 4010 * US, at + 4011 * US, at + 4900 * US);
    }
}

TEST(host_work_is_named_by_what_it_is)
{
    stall("aten::randn");
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "cpu_operator");
    assert_str(d->causes[0].found.sites[0].name, "aten::randn");
}

TEST(data_loaders_are_input)
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 5 * MS;
        step_mark(step, at, at + 5 * MS);
        host(SLICE_ANNOTATION, "enumerate(DataLoader)#__next__", at, at + 4 * MS);
        launch(at + 4 * MS, at + 4010 * US, at + 4011 * US, at + 4900 * US);
    }
    assert_string_equal(diagnose()->verdict.id, "input_pipeline");
}

/* The queue is full, and yet the device waits before every other kernel. */
TEST(queued_work_that_is_held_up_is_not_healthy)
{
    for (int step = 0; step < STEPS; step++) {
        step_mark(step, step * 100 * US, (step + 1) * 100 * US);
        for (int i = 0; i < 4; i++) {
            nanos at = step * 100 * US + i * 20 * US, run = MS + (step * 4 + i) * 1000 * US;
            launch(at, at + 5 * US, run, run + 500 * US);
        }
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "device_dependency");
    assert_int_equal(d->verdict.bound, SAVING_AT_MOST);
    assert_true(d->verdict.confidence < CONFIDENCE_LIKELY);
    assert_true(str_find(d->text.english, S("for 50.0 % of")) < d->text.english.n);
}

/* One step works longer on larger tensors; the host runs ahead, so that the steps behind it seem
 * quick. */
TEST(a_step_on_larger_tensors_is_more_work)
{
    nanos run = MS;

    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 500 * US;
        bool is_long = step == 3;
        step_mark(step, at, at + 500 * US);
        run = run > at ? run : at;
        for (int i = 0; i < 4; i++) {
            nanos call = at + i * 100 * US, last = is_long ? 500 * US : 60 * US;
            nanos begin = run > call + 7 * US ? run : call + 7 * US;
            shaped_op("aten::mul", is_long ? "8,4096" : "8,512", "float", call - US, call + 9 * US);
            launch(call, call + 6 * US, begin, begin + last);
            run = begin + last + US;
        }
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "slow_step_more_work");
    assert_int_equal(d->verdict.bound, SAVING_IN_RECORDING);
    assert_true(str_find(d->text.english, S("other shapes")) < d->text.english.n);
}

/* One step of six waits 50 ms, the others take 1. */
TEST(a_slow_step_leads_over_what_it_is_full_of)
{
    nanos at = 0;

    for (int step = 0; step < STEPS; step++) {
        nanos wait = step == 3 ? 50 * MS : 0;
        step_mark(step, at, at + MS + wait);
        at += wait;
        launch(at, at + 5 * US, at + 6 * US, at + 990 * US);
        at += MS;
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "slow_step_same_work");
    assert_int_equal(d->slow.step, 3);
    assert_true(lists(d, "host_untraced"));
}

TEST(more_kernels_in_a_slow_step_are_more_work)
{
    nanos at = 0;

    for (int step = 0; step < STEPS; step++) {
        int kernels = step == 4 ? 30 : 3;
        step_mark(step, at, at + kernels * MS);
        for (int i = 0; i < kernels; i++, at += MS)
            launch(at, at + 5 * US, at + 6 * US, at + 990 * US);
    }
    assert_string_equal(diagnose()->verdict.id, "slow_step_more_work");
}

/* ---- ranking ---- */

static struct root_finder ranked(size_t n, const struct found_cause *causes)
{
    struct root_finder f = {.n = n};

    memcpy(f.found, causes, n * sizeof(*causes));
    root_rank(&f);
    return f;
}

TEST(a_specific_cause_with_half_of_a_generic_one_leads)
{
    struct found_cause causes[] = {{.cause = ROOT_LAUNCH_BOUND, .saving = 0.5},
                                   {.cause = ROOT_ALLOCATOR, .saving = 0.3}};

    assert_int_equal(ranked(2, causes).found[0].cause, ROOT_ALLOCATOR);
    causes[1].saving = 0.2;
    assert_int_equal(ranked(2, causes).found[0].cause, ROOT_LAUNCH_BOUND);
}

/* Ranks that launch late are awaited; and what can be changed leads over what no change hides. */
TEST(what_no_change_hides_gives_way)
{
    struct found_cause late[] = {{.cause = ROOT_LAUNCH_BOUND, .saving = 0.35},
                                 {.cause = ROOT_COMM_EXPOSED, .saving = 0.2, .is_share = true}};
    struct found_cause copies[] = {{.cause = ROOT_COMM_EXPOSED, .saving = 0.2, .is_share = true},
                                   {.cause = ROOT_PAGEABLE_COPY, .saving = 0.15}};

    assert_int_equal(ranked(2, late).found[0].cause, ROOT_LAUNCH_BOUND);
    assert_int_equal(ranked(2, copies).found[0].cause, ROOT_PAGEABLE_COPY);
}

/* Values that are read one by one, by a PyTorch that does not pin them. */
TEST(values_that_are_read_are_waits_and_not_copies)
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 4 * MS;
        step_mark(step, at, at + 4 * MS);
        for (int i = 0; i < 4; i++, at += MS) {
            launch(at, at + 5 * US, at + 6 * US, at + 600 * US);
            host(SLICE_HOST_OP, "aten::item", at + 10 * US, at + 620 * US);
            uint32_t from = host(SLICE_RUNTIME, "cudaMemcpyAsync", at + 12 * US, at + 610 * US);
            capture_flow(cap, FLOW_LAUNCH, from,
                         task("7", SLICE_COPY, "Memcpy DtoH (Device -> Pageable)", at + 601 * US,
                              at + 603 * US));
            for (int k = 0; k < 20; k++) {
                nanos call = at + 620 * US + k * 18 * US;
                launch(call, call + 10 * US, call + 11 * US, call + 12 * US);
            }
        }
    }
    const struct diagnosis *d = diagnose();

    assert_false(lists(d, "pageable_copy"));
    assert_true(lists(d, "host_sync") || lists(d, "launch_bound"));
}

/* Kernels that are launched while a graph is captured do not run. */
TEST(capturing_a_graph_is_compilation)
{
    for (int step = 0; step < STEPS; step++) {
        nanos at = step * 20 * MS;
        step_mark(step, at, at + 20 * MS);
        launch(at, at + 5 * US, at + 6 * US, at + MS);
        host(SLICE_RUNTIME, "cudaStreamBeginCapture", at + MS, at + 1010 * US);
        for (int i = 0; i < 900; i++)
            host(SLICE_RUNTIME, "cudaLaunchKernel", at + MS + (i + 1) * 20 * US,
                 at + MS + (i + 1) * 20 * US + 8 * US);
        host(SLICE_RUNTIME, "cudaStreamEndCapture", at + 19100 * US, at + 19110 * US);
    }
    const struct diagnosis *d = diagnose();

    assert_string_equal(d->verdict.id, "compilation");
    assert_true(d->verdict.saving_share > 0.8);
}

/* One product after the other in a recording shorter than what the profiler is thought to cost. */
TEST(a_short_recording_has_a_time_without_the_profiler)
{
    host(SLICE_RUNTIME, "cudaFuncGetAttributes", 0, 30 * US);
    for (int i = 0; i < 5; i++) {
        nanos at = 40 * US + i * 30 * US;
        host(SLICE_HOST_OP, "aten::mm", at, at + 25 * US);
        launch(at + 10 * US, at + 20 * US, at + 21 * US, at + 38 * US);
    }
    const struct diagnosis *d = diagnose();

    assert_true(d->is_pseudo);
    assert_true(d->bare >= 5 * 17 * US);
    assert_true(strcmp(d->verdict.id, "healthy") != 0);
}

TEST(casts_of_a_chain_and_what_has_no_name_do_not_lead)
{
    struct found_cause chain[] = {{.cause = ROOT_ELEMENTWISE_UNFUSED, .saving = 0.5, .share = 0.8},
                                  {.cause = ROOT_LAYOUT_COPIES, .saving = 0.4, .share = 0.4}};
    struct found_cause doubles[] = {
        {.cause = ROOT_ELEMENTWISE_UNFUSED, .saving = 0.8, .share = 0.8},
        {.cause = ROOT_FP64_USED, .saving = 0.3, .share = 0.7}};
    struct found_cause unnamed[] = {{.cause = ROOT_LAUNCH_BOUND, .saving = 0.5},
                                    {.cause = ROOT_HOST_UNTRACED, .saving = 0.4}};

    assert_int_equal(ranked(2, chain).found[0].cause, ROOT_ELEMENTWISE_UNFUSED);
    assert_int_equal(ranked(2, doubles).found[0].cause, ROOT_FP64_USED);
    assert_int_equal(ranked(2, unnamed).found[0].cause, ROOT_LAUNCH_BOUND);
}

TEST(tasks_lead_over_launches_by_their_own_time)
{
    struct found_cause causes[] = {{.cause = ROOT_LAUNCH_BOUND, .saving = 0.5},
                                   {.cause = ROOT_LAYOUT_COPIES, .saving = 0.4, .share = 0.1}};

    assert_int_equal(ranked(2, causes).found[0].cause, ROOT_LAUNCH_BOUND);
    causes[1].share = 0.3;
    assert_int_equal(ranked(2, causes).found[0].cause, ROOT_LAYOUT_COPIES);
}

TEST(data_read_back_does_not_lead_over_pageable_memory)
{
    struct found_cause causes[] = {{.cause = ROOT_COPY_UNNEEDED, .saving = 0.9},
                                   {.cause = ROOT_PAGEABLE_COPY, .saving = 0.5}};

    assert_int_equal(ranked(2, causes).found[0].cause, ROOT_PAGEABLE_COPY);
}

TEST(small_savings_are_no_verdict)
{
    struct root_finder f = {.n = 2,
                            .found = {{.cause = ROOT_HOST_SYNC, .saving = 0.04},
                                      {.cause = ROOT_ALLOCATOR, .saving = 0.01}}};

    assert_false(root_rank(&f));
    assert_int_equal(f.n, 1);
}

/* ---- properties ---- */

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % sides;
}

/* Random steps of launches, copies, collectives and pauses. */
static void random_steps(uint32_t *seed)
{
    nanos at = 0;

    for (int step = 0; step < 4; step++) {
        nanos begin = at;
        for (uint32_t i = 0, n = 2 + dice(seed, 5); i < n; i++) {
            nanos run = (1 + dice(seed, 100)) * US;
            at += dice(seed, 3) == 0 ? dice(seed, 3000) * US : dice(seed, 20) * US;
            if (dice(seed, 4) == 0)
                task("9", dice(seed, 2) ? SLICE_COPY : SLICE_COMM,
                     dice(seed, 2) ? "Memcpy HtoD (Pinned -> Device)" : "ncclKernel", at, at + run);
            else
                launch(at, at + 4 * US, at + 5 * US, at + 5 * US + run);
            at += run + 6 * US;
        }
        step_mark(step, begin, at);
    }
}

TEST(healthy_runs_neither_idle_nor_copy_nor_communicate_much)
{
    uint32_t seed = 1;

    for (int i = 0; i < 200; i++) {
        random_steps(&seed);
        const struct diagnosis *d = diagnose();
        double worst = 0, idle = 0, all = 0;
        for (size_t k = 0; k < d->n_classes; k++) {
            const char *name = d->classes[k].name;
            all += d->classes[k].share;
            if (strncmp(name, "idle.", 5) == 0 && strcmp(name, "idle.device_latency") != 0)
                idle += d->classes[k].share;
            if (strncmp(name, "comm", 4) == 0 || strncmp(name, "copy_exposed.h", 14) == 0)
                worst = d->classes[k].share > worst ? d->classes[k].share : worst;
        }
        assert_true(all > 0.999 && all < 1.001);
        /* Idle time counts as it would be without the profiler. */
        double left =
            d->bare < d->profiled ? idle - 1 + (double)d->bare / (double)d->profiled : idle;
        if (strcmp(d->verdict.id, "healthy") == 0)
            assert_true(worst < 0.11 && left < 0.11);
        for (size_t k = 0; k < d->n_causes; k++)
            assert_true(d->causes[k].saving_share <= 1 && d->causes[k].score <= 1);
        done(NULL);
        fresh(NULL);
    }
    start_study();
}

TEST(the_report_fits_a_screen)
{
    stall("aten::randn");
    struct report *r = report_new(LANG_ZH, S("x"));

    diagnosis_describe(diagnose(), r);
    assert_true(r->blocks.n >= 3 && r->blocks.n < 12);
    report_free(r);
}

TEST(frameworks_are_told_by_their_names)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    start_study();
    assert_int_equal(framework_of(cap), FRAMEWORK_PYTORCH);
    assert_ptr_equal(root_cause_action(ROOT_ALLOCATOR, FRAMEWORK_VLLM),
                     root_cause_action(ROOT_ALLOCATOR, FRAMEWORK_PYTORCH));
    assert_ptr_not_equal(root_cause_action(ROOT_LAUNCH_BOUND, FRAMEWORK_VLLM),
                         root_cause_action(ROOT_LAUNCH_BOUND, FRAMEWORK_SGLANG));
    for (int i = 0; i < ROOT_CAUSES; i++)
        assert_non_null(root_cause_what(i));
}

TEST_MAIN(
    "analysis/diagnose/diagnosis", CASE(what_happens_once_at_an_edge_is_no_cause),
    CASE(what_happens_in_the_middle_is_one),
    CASE(launches_without_kernels_say_that_the_device_was_not_recorded),
    CASE(a_host_that_launches_nothing_is_not_told_to_record_the_device),
    CASE(a_server_is_known_by_its_host), CASE(an_operator_of_a_server_names_it),
    CASE(a_program_without_a_framework_gets_no_word_of_one), CASE(a_program_of_pytorch_does),
    CASE(workers_that_are_used_are_not_advised), CASE(workers_that_are_not_used_are),
    CASE(a_busy_device_that_nobody_knows_is_not_called_healthy),
    CASE(a_busy_device_may_be_known_by_what_it_is_made_of), CASE(products_in_a_graph_are_judged),
    CASE(doubles_in_a_graph_are_doubles), CASE(products_on_tensor_cores_in_a_graph_are_healthy),
    CASE(attention_by_hand_in_a_graph_is_not_healthy),
    CASE(kernels_of_unknown_kind_are_not_healthy), CASE(a_first_call_is_a_start_up),
    CASE(a_late_call_for_a_known_kernel_is_no_start_up),
    CASE(the_rest_of_a_start_up_has_a_cause_of_its_own),
    CASE(a_first_copy_behind_long_work_is_no_start_up),
    CASE(memory_that_is_given_back_is_a_matter_of_the_allocator), CASE(memory_that_is_kept_is_not),
    CASE(a_specific_cause_beside_a_larger_one_does_not_lead),
    CASE(a_specific_cause_that_saves_more_leads),
    CASE(pieces_of_the_switch_interval_name_the_interpreter_lock), CASE(other_pieces_do_not),
    CASE(operators_that_wait_for_the_interpreter_lock_are_no_work),
    CASE(operators_of_one_length_are_work_even_of_a_switch_interval),
    CASE(operators_of_one_length_are_work_even_of_two_switch_intervals),
    CASE(a_busy_device_without_shapes_is_likely_healthy_at_most),
    CASE(a_wait_in_the_operating_system_is_named),
    CASE(a_short_call_of_the_operating_system_explains_nothing),
    CASE(nothing_on_the_device_is_unknown), CASE(a_busy_device_is_healthy),
    CASE(what_is_not_seen_in_the_steps_is_not_named), CASE(short_kernels_are_launch_bound),
    CASE(launches_around_waits_save_at_most), CASE(launches_of_equal_products_save_at_least),
    CASE(plans_for_new_shapes_are_compilation), CASE(queued_work_that_is_held_up_is_not_healthy),
    CASE(a_step_on_larger_tensors_is_more_work),
    CASE(what_the_profiler_may_explain_is_possible_at_most), CASE(host_work_is_named_by_what_it_is),
    CASE(data_loaders_are_input), CASE(a_slow_step_leads_over_what_it_is_full_of),
    CASE(more_kernels_in_a_slow_step_are_more_work),
    CASE(a_specific_cause_with_half_of_a_generic_one_leads), CASE(what_no_change_hides_gives_way),
    CASE(values_that_are_read_are_waits_and_not_copies), CASE(capturing_a_graph_is_compilation),
    CASE(a_short_recording_has_a_time_without_the_profiler),
    CASE(casts_of_a_chain_and_what_has_no_name_do_not_lead),
    CASE(tasks_lead_over_launches_by_their_own_time),
    CASE(data_read_back_does_not_lead_over_pageable_memory), CASE(small_savings_are_no_verdict),
    CASE(healthy_runs_neither_idle_nor_copy_nor_communicate_much), CASE(the_report_fits_a_screen),
    CASE(frameworks_are_told_by_their_names))
