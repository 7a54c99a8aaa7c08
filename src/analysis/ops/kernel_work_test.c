#include "analysis/ops/kernel_work.h"

#include "analysis/module_testing.h"

static void add_operator(const char *op, const char *shapes, const char *types, int kernels,
                         enum slice_kind kind)
{
    struct lane_key thread = {.kind = LANE_THREAD, .name = capture_intern(cap, S("main"))};
    struct lane_key stream = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};
    struct attr set[] = {
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, str_of(shapes))),
        attr_text(capture_key(cap, KEY_INPUT_DTYPES), capture_intern(cap, str_of(types))),
    };
    nanos at = modules.host;

    capture_slice(cap, &(struct slice){.begin = at,
                                       .dur = 50 * US,
                                       .lane = capture_lane(cap, thread),
                                       .name = capture_intern(cap, str_of(op)),
                                       .set = shapes[0] ? attrs_set(&cap->attrs, set, 2) : 0,
                                       .kind = SLICE_HOST_OP});
    for (int i = 0; i < kernels; i++) {
        uint32_t call = module_event("cudaLaunchKernel", SLICE_RUNTIME, at + (i + 1) * US, US / 2);
        capture_flow(cap, FLOW_LAUNCH, call,
                     capture_slice(cap, &(struct slice){.begin = at + (60 + 20 * i) * US,
                                                        .dur = 20 * US,
                                                        .lane = capture_lane(cap, stream),
                                                        .name = capture_intern(cap, S("k")),
                                                        .kind = kind}));
    }
    modules.host += 200 * US;
}

static const struct kernel_works *work_find(const char *device)
{
    is_gpu();
    cap->facts.device_name = capture_intern(cap, str_of(device));
    start_study();
    module_forget();
    return kernel_works_find(&study, NULL);
}

/* 2 * 4096 * 1024 * 1024 = 8.59e9 operations: 8.68 us at 989.4 TFLOP/s, 12.06 us at 72 % of it. */
TEST(the_longest_kernel_of_an_operator_has_its_work)
{
    add_operator("aten::mm", "4096,1024;1024,1024", "c10::BFloat16;c10::BFloat16", 2,
                 SLICE_COMPUTE);
    cap->slices.dur[cap->slices.n - 3] = 10 * US; /* of the first kernel */
    const struct kernel_works *w = work_find("NVIDIA H200");
    assert_true(w->at[1].flops == 8589934592.0);
    assert_true(w->at[1].matrix == w->at[1].flops);
    assert_true(w->at[1].bytes == 2.0 * (4096 * 1024 + 1024 * 1024 + 4096 * 1024));
    assert_in_range((long)w->at[1].peak, 8681, 8682);
    assert_true(w->at[0].flops == 0);
    /* The roof of both, as their times are. */
    assert_in_range((long)(w->at[0].roof * 3), 12057, 12060);
    assert_in_range((long)(w->at[1].roof * 3 / 2), 12057, 12060);
    assert_int_equal(w->by[WORK_KNOWN], 30 * US);
}

/* 3 * 4 MiB at 85 % of 4800 GB/s: 3.08 us; 3 * 4 KiB: no kernel takes less than 3 us. */
TEST(elementwise_work_is_judged_by_its_bytes)
{
    add_operator("aten::add", "1024,1024;1024,1024;", "float;float;Scalar", 1, SLICE_COMPUTE);
    add_operator("aten::add", "1024;1024;", "float;float;Scalar", 1, SLICE_COMPUTE);
    const struct kernel_works *w = work_find("NVIDIA H200");
    assert_in_range((long)w->at[0].roof, 3083, 3085);
    assert_int_equal((long)w->at[1].roof, 3000);
    assert_true(w->at[0].flops == 1048576 && w->at[0].matrix == 0 && w->at[0].peak == 0);
}

TEST(what_is_not_known_has_its_reason)
{
    add_operator("aten::mm", "", "", 1, SLICE_COMPUTE);
    add_operator("my::operator", "4,4;4,4", "float;float", 1, SLICE_COMPUTE);
    add_operator("aten::copy_", "4,4;4,4", "float;float", 1, SLICE_COPY);
    module_kernel("loose");
    const struct kernel_works *w = work_find("NVIDIA H200");
    assert_int_equal(w->by[WORK_KNOWN], 0);
    assert_int_equal(w->by[WORK_NO_SHAPES], 20 * US);
    assert_int_equal(w->by[WORK_NO_RULE], 20 * US);
    assert_int_equal(w->by[WORK_OTHER], 20 * US);
    assert_int_equal(w->by[WORK_NO_OPERATOR], 10 * US);
}

/* 2 * 4096^3 operations in 20 us would be 6.9 PFLOP/s. */
TEST(shapes_that_do_not_fit_the_time_are_not_believed)
{
    add_operator("aten::mm", "4096,4096;4096,4096", "c10::BFloat16;c10::BFloat16", 1,
                 SLICE_COMPUTE);
    const struct kernel_works *w = work_find("NVIDIA H200");
    assert_int_equal(w->by[WORK_NO_FIT], 20 * US);
    assert_true(w->at[0].flops == 0 && w->at[0].roof == 0);
}

TEST(an_unknown_device_has_work_but_no_roof)
{
    add_operator("aten::mm", "64,64;64,64", "c10::Half;c10::Half", 1, SLICE_COMPUTE);
    const struct kernel_works *w = work_find("Frobnicator 9");
    assert_null(w->device);
    assert_true(w->at[0].flops == 2.0 * 64 * 64 * 64);
    assert_true(w->at[0].roof == 0);
    const struct device *h200 = device_find(&device_builtin, S("H200"));
    assert_true(kernel_works_find(&study, h200)->at[0].roof > 0);
}

TEST_MAIN("analysis/ops/kernel_work", CASE(the_longest_kernel_of_an_operator_has_its_work),
          CASE(elementwise_work_is_judged_by_its_bytes), CASE(what_is_not_known_has_its_reason),
          CASE(shapes_that_do_not_fit_the_time_are_not_believed),
          CASE(an_unknown_device_has_work_but_no_roof))
