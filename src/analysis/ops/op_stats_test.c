#include "analysis/ops/op_stats.h"

#include "analysis/module_testing.h"

static const struct op_stats *stats_find(enum op_by by)
{
    if (!cap->is_sealed) {
        is_gpu();
        start_study();
        module_forget();
    }
    return op_stats_find(&study, &(struct op_options){.by = by});
}

static const struct op_stat *row(const struct op_stats *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_equal(s->at[i].name, str_of(name)))
            return &s->at[i];
    return NULL;
}

/* A kernel of `us` under two operators, 10 us of host time for the inner and 30 for the outer. */
static void add_linear(long us, const char *shape)
{
    struct lane_key key = {.kind = LANE_THREAD, .name = capture_intern(cap, S("main"))};
    struct lane_key stream = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};
    struct attr set =
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, str_of(shape)));
    nanos at = modules.host;

    module_event("aten::linear", SLICE_HOST_OP, at, 30 * US);
    capture_slice(cap, &(struct slice){.begin = at + 5 * US,
                                       .dur = 20 * US,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, S("aten::addmm")),
                                       .set = attrs_set(&cap->attrs, &set, 1),
                                       .kind = SLICE_HOST_OP});
    uint32_t call = module_event("cudaLaunchKernel", SLICE_RUNTIME, at + 10 * US, 2 * US);
    uint32_t kernel = capture_slice(cap, &(struct slice){.begin = at + 40 * US,
                                                         .dur = us * US,
                                                         .lane = capture_lane(cap, stream),
                                                         .name = capture_intern(cap, S("gemm")),
                                                         .kind = SLICE_COMPUTE});
    capture_flow(cap, FLOW_LAUNCH, call, kernel);
    modules.host += 100 * US;
}

TEST(time_goes_to_the_operator_and_to_all_around_it)
{
    add_linear(8, "2,4;4,8");
    add_linear(2, "2,4;4,8");
    const struct op_stats *s = stats_find(OP_BY_OP);
    const struct op_stat *inner = row(s, "aten::addmm"), *outer = row(s, "aten::linear");
    assert_int_equal(s->n, 2);
    assert_int_equal(inner->device, 10 * US);
    assert_int_equal(inner->own_device, 10 * US);
    assert_int_equal(inner->kernels, 2);
    assert_int_equal(inner->host, 40 * US);
    assert_int_equal(outer->device, 10 * US);
    assert_int_equal(outer->own_device, 0);
    assert_int_equal(outer->own_kernels, 0);
    assert_int_equal(outer->host, 60 * US);
    assert_int_equal(outer->own_host, 20 * US);
    assert_int_equal(s->outside, 0);
}

TEST(shapes_tell_calls_apart)
{
    add_linear(8, "2,4;4,8");
    add_linear(2, "2,4;4,16");
    const struct op_stats *s = stats_find(OP_BY_SHAPE);
    assert_int_equal(s->n, 3);
    assert_str(s->at[1].shapes, "2,4;4,8");
    assert_int_equal(s->at[1].own_device, 8 * US);
    assert_int_equal(s->at[2].own_device, 2 * US);
}

TEST(ranges_hold_what_another_thread_launches_meanwhile)
{
    struct lane_key key = {.kind = LANE_THREAD, .name = capture_intern(cap, S("autograd"))};
    struct lane_key stream = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};
    struct slice call = {.begin = 50 * US,
                         .dur = 1 * US,
                         .lane = capture_lane(cap, key),
                         .name = capture_intern(cap, S("cudaLaunchKernel")),
                         .kind = SLICE_RUNTIME};
    struct slice kernel = {.begin = 60 * US,
                           .dur = 7 * US,
                           .lane = capture_lane(cap, stream),
                           .name = capture_intern(cap, S("dgrad")),
                           .kind = SLICE_COMPUTE};

    module_event("train", SLICE_ANNOTATION, 0, 200 * US);
    module_event("backward", SLICE_ANNOTATION, 40 * US, 20 * US);
    capture_flow(cap, FLOW_LAUNCH, capture_slice(cap, &call), capture_slice(cap, &kernel));
    call.begin = 300 * US;
    kernel.begin = 310 * US;
    capture_flow(cap, FLOW_LAUNCH, capture_slice(cap, &call), capture_slice(cap, &kernel));
    const struct op_stats *s = stats_find(OP_BY_RANGE);
    assert_int_equal(row(s, "backward")->own_device, 7 * US);
    assert_int_equal(row(s, "train")->own_device, 0);
    assert_int_equal(row(s, "train")->device, 7 * US);
    assert_int_equal(s->outside, 7 * US);
}

TEST(own_times_and_outside_add_up)
{
    for (int i = 0; i < 40; i++) {
        add_linear(i % 7 + 1, i % 2 ? "1" : "2");
        module_calls("Model(Embedding Layer*3(Attention(Linear*2) MLP(Linear*2)) Norm)");
        module_kernel("loose");
        module_restart();
    }
    for (int by = 0; by < OP_BYS; by++) {
        const struct op_stats *s = stats_find((enum op_by)by);
        nanos sum = s->outside;
        size_t kernels = s->outside_kernels;
        for (size_t i = 0; i < s->n; i++) {
            sum += s->at[i].own_device;
            kernels += s->at[i].own_kernels;
            assert_true(s->at[i].own_device <= s->at[i].device);
            assert_true(s->at[i].device <= s->device);
        }
        assert_int_equal(sum, s->device);
        assert_int_equal(kernels, s->kernels);
    }
    assert_int_equal(row(stats_find(OP_BY_MODULE), "Layer")->calls, 120);
    assert_int_equal(row(stats_find(OP_BY_MODULE), "Linear")->own_kernels, 480);
    assert_int_equal(stats_find(OP_BY_LAYER)->n, 3);
}

TEST(a_capture_of_nothing_has_no_rows)
{
    for (int by = 0; by < OP_BYS; by++)
        assert_int_equal(stats_find((enum op_by)by)->n, 0);
}

TEST_MAIN("analysis/ops/op_stats", CASE(time_goes_to_the_operator_and_to_all_around_it),
          CASE(shapes_tell_calls_apart), CASE(ranges_hold_what_another_thread_launches_meanwhile),
          CASE(own_times_and_outside_add_up), CASE(a_capture_of_nothing_has_no_rows))
