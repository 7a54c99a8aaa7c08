#include "analysis/ops/module_tree.h"

#include <stdlib.h>

#include "analysis/module_testing.h"

static const struct module_tree *tree_find(void)
{
    is_gpu();
    start_study();
    module_forget();
    return study_module_tree(&study);
}

static const struct module_node *named(const struct module_tree *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_equal(capture_text(cap, t->at[i].name), str_of(name)))
            return &t->at[i];
    fail();
    return NULL;
}

TEST(classes_are_names_without_their_number)
{
    assert_str(module_class_of(S("nn.Module: Linear_12")), "Linear");
    assert_str(module_class_of(S("nn.Module: Conv2d_0")), "Conv2d");
    assert_str(module_class_of(S("nn.Module: Odd")), "Odd");
    assert_str(module_class_of(S("nn.Module: Conv2d")), "Conv2d");
    assert_int_equal(module_class_of(S("aten::linear")).n, 0);
    assert_int_equal(module_class_of(S("nn.Module: ")).n, 0);
}

TEST(kernels_belong_to_every_module_around_their_launch)
{
    module_calls("Model(Embedding Layer*2(Attention MLP))");
    module_kernel("argmax");
    const struct module_tree *t = tree_find();
    assert_int_equal(named(t, "nn.Module: Model_0")->kernels, 5);
    assert_int_equal(named(t, "nn.Module: Model_0")->own_kernels, 0);
    assert_int_equal(named(t, "nn.Module: Layer_1")->device, 20 * US);
    assert_int_equal(named(t, "nn.Module: MLP_1")->own_device, 10 * US);
    assert_int_equal(t->outside_kernels, 1);
    assert_int_equal(t->outside, 10 * US);
    assert_int_equal(t->device, 60 * US);
}

TEST(backward_kernels_belong_to_the_forward_module)
{
    struct lane_key key = {.kind = LANE_THREAD, .name = capture_intern(cap, S("autograd"))};
    struct lane_key stream = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};
    struct slice op = {.begin = 1 * MS,
                       .dur = 5 * US,
                       .lane = capture_lane(cap, key),
                       .name = capture_intern(cap, S("MmBackward0")),
                       .kind = SLICE_HOST_OP};
    struct slice kernel = {.begin = 1 * MS + 10 * US,
                           .dur = 7 * US,
                           .lane = capture_lane(cap, stream),
                           .name = capture_intern(cap, S("gemm")),
                           .kind = SLICE_COMPUTE};

    modules.host = 100;
    uint32_t forward = module_event("aten::mm", SLICE_HOST_OP, 1200, 500);
    module_calls("Model(Linear)");
    uint32_t backward = capture_slice(cap, &op);
    op.begin += 1 * US;
    op.dur = 1 * US;
    op.kind = SLICE_RUNTIME;
    uint32_t call = capture_slice(cap, &op), to = capture_slice(cap, &kernel);
    capture_flow(cap, FLOW_LAUNCH, call, to);
    capture_flow(cap, FLOW_BACKWARD, forward, backward);
    const struct module_tree *t = tree_find();
    assert_int_equal(t->outside_kernels, 0);
    assert_int_equal(named(t, "nn.Module: Model_0")->device, 17 * US);
}

/* Device time of the outermost modules and of kernels outside adds up to all of it; that of a
 * module to its own kernels and those of the modules inside. */
TEST(device_time_adds_up)
{
    srand(7);
    for (int i = 0; i < 200; i++) {
        static const char *const texts[] = {"A(B C*3(D E))", "B", "C(A(D*2) B)", "F*3(G*2(D B))",
                                            "A(A(A))"};
        if (rand() % 4 == 0)
            module_kernel("loose");
        module_calls(texts[rand() % 5]);
        if (rand() % 3 == 0)
            module_restart();
    }
    const struct module_tree *t = tree_find();
    nanos top = t->outside, own = t->outside;
    size_t kernels = t->outside_kernels;
    for (size_t i = 0; i < t->n; i++) {
        own += t->at[i].own_device;
        kernels += t->at[i].own_kernels;
    }
    for (size_t i = 0; i < study_kernels(&study).n; i++)
        if (t->of_kernel[i] != MODULE_NONE)
            top += cap->slices.dur[study_kernels(&study).at[i]];
    assert_int_equal(own, t->device);
    assert_int_equal(top, t->device);
    assert_int_equal(kernels, study_kernels(&study).n);
    for (uint32_t m = 0; m < t->n; m++) {
        nanos sum = 0;
        for (size_t i = 0; i < study_kernels(&study).n; i++) {
            uint32_t call = t->of_kernel[i];
            while (call != MODULE_NONE && t->calls[call].module != m)
                call = t->calls[call].parent;
            if (call != MODULE_NONE)
                sum += cap->slices.dur[study_kernels(&study).at[i]];
        }
        assert_int_equal(sum, t->at[m].device);
    }
}

TEST(a_capture_of_nothing_has_no_modules)
{
    const struct module_tree *t = tree_find();

    assert_int_equal(t->n, 0);
    assert_int_equal(t->device, 0);
}

TEST_MAIN("analysis/ops/module_tree", CASE(classes_are_names_without_their_number),
          CASE(kernels_belong_to_every_module_around_their_launch),
          CASE(backward_kernels_belong_to_the_forward_module), CASE(device_time_adds_up),
          CASE(a_capture_of_nothing_has_no_modules))
