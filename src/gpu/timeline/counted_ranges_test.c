#include "gpu/timeline/timeline_out.h"

#include "gpu/timeline_testing.h"

TEST(ranges_of_a_trace_are_kernels_with_counters)
{
    struct timeline_scene s;
    struct gpu_run run;

    scene_begin(&s);
    gpu_run_init(&run);
    struct attr counters[] = {
        attr_text(s.cap->keys[KEY_CAT], capture_intern(s.cap, S("cuda_profiler_range"))),
        attr_int(capture_intern(s.cap, S("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum")),
                 7),
        attr_real(capture_intern(s.cap, S("gpu__time_duration.sum")), 1.5),
        attr_int(capture_intern(s.cap, S("stream")), 3),
    };
    struct slice range = {.dur = 100,
                          .lane = scene_thread(&s),
                          .name = capture_intern(s.cap, S("k(int)")),
                          .set = attrs_set(&s.cap->attrs, counters, ARRAY_LEN(counters)),
                          .kind = SLICE_OTHER};
    capture_slice(s.cap, &range);
    scene_call(&s, "cudaFree", 5, 6);
    scene_of_test(&s, (struct interval){0, 0});
    assert_int_equal(gpu_ranges_read(s.cap, &run), 1);
    assert_str(run.kernels.at[0].name, "k(int)");
    assert_true(run.kernels.at[0].m[GPU_M_FFMA] == 7);
    assert_true(run.kernels.at[0].m[GPU_M_DUR_NS] == 1.5);
    assert_int_equal(run.kernels.at[0].values.n, 2);
    gpu_run_free(&run);
    scene_end(&s);
}

TEST_MAIN("gpu/timeline/counted_ranges", T(ranges_of_a_trace_are_kernels_with_counters))
