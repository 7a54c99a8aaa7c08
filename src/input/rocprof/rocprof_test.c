/* Names and shapes of AMD's profilers. */
#include "input/rocprof/rocprof.h"

#include "base/testing.h"

static void devices_by_number(void **state)
{
    (void)state;
    assert_int_equal(rocprof_device(S("Agent 4")), 4);
    assert_int_equal(rocprof_device(S("GPU 0")), 0);
    assert_int_equal(rocprof_device(S(" 7 ")), 7);
    assert_int_equal(rocprof_device(S("")), -1);
    assert_int_equal(rocprof_device(S("Agent")), -1);
    assert_int_equal(rocprof_device(S("Agent 99999999999")), -1);
}

static void kernels_without_the_linkers_words(void **state)
{
    (void)state;
    assert_str(rocprof_kernel_name(S("gemm(float*) [clone .kd]")), "gemm(float*)");
    assert_str(rocprof_kernel_name(S("gemm.kd")), "gemm");
    assert_str(rocprof_kernel_name(S("gemm")), "gemm");
    assert_str(rocprof_kernel_name(S(".kd")), "");
}

static void grids_in_workgroups(void **state)
{
    struct capture *cap = capture_new();
    struct attr set[2];

    (void)state;
    assert_int_equal(
        rocprof_shapes(cap, (const int64_t[3]){65536, 2, 1}, (const int64_t[3]){256, 1, 1}, set),
        2);
    assert_str(capture_text(cap, set[0].text), "256,2,1");
    assert_str(capture_text(cap, set[1].text), "256,1,1");
    assert_int_equal(
        rocprof_shapes(cap, (const int64_t[3]){100, 1, 1}, (const int64_t[3]){64, 1, 1}, set), 2);
    assert_str(capture_text(cap, set[0].text), "2,1,1");
    assert_int_equal(
        rocprof_shapes(cap, (const int64_t[3]){0, 1, 1}, (const int64_t[3]){64, 1, 1}, set), 0);
    capture_free(cap);
}

static void markers_are_ranges(void **state)
{
    (void)state;
    assert_int_equal(rocprof_call_kind(S("MARKER_CORE_API")), SLICE_ANNOTATION);
    assert_int_equal(rocprof_call_kind(S("HIP_RUNTIME_API")), SLICE_RUNTIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_by_number),
        cmocka_unit_test(kernels_without_the_linkers_words),
        cmocka_unit_test(grids_in_workgroups),
        cmocka_unit_test(markers_are_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
