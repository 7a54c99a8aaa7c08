/*
 * Runs against the stand-in for the CUDA driver and NVML (tests/fake-nvml).
 */
#include "driver/gpu_device.h"

#include <stdlib.h>

#include "base/testing_arena.h"

static struct nvml nvml;

static int device_enter(void **state)
{
    unsetenv("FAKE_CUDA_INIT");
    return arena_enter(state) != 0 || nvml_open(&nvml, &arena, NULL) != NVML_OK;
}

static int leave(void **state)
{
    nvml_close(&nvml);
    return arena_leave(state);
}

TEST(a_gpu_is_found_by_number_and_by_the_begin_of_its_uuid)
{
    struct gpu_card info;

    assert_int_equal(gpu_device_find(NULL, &nvml, &info, &diag), ST_OK);
    assert_string_equal(info.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    assert_string_equal(info.name, "NVIDIA H200");
    assert_int_equal(info.sm_count, 132);
    assert_int_equal(info.mem_clock_khz, 3201000);
    assert_string_equal(info.driver, "580.0");
    assert_non_null(info.handle);
    assert_int_equal(gpu_device_find("0", &nvml, &info, &diag), ST_OK);
    assert_int_equal(gpu_device_find("gpu-0011", &nvml, &info, &diag), ST_OK);
    assert_int_equal(gpu_device_find("1", &nvml, &info, &diag), ST_NOT_FOUND);
    assert_int_equal(gpu_device_find("GPU-ff", &nvml, &info, &diag), ST_NOT_FOUND);
}

TEST(a_driver_without_a_gpu_is_a_missing_tool)
{
    struct gpu_card info;

    setenv("FAKE_CUDA_INIT", "100", 1);
    assert_int_equal(gpu_device_find(NULL, &nvml, &info, &diag), ST_TOOL);
    assert_int_equal(diag_count(&diag, "gpu.no-gpu"), 1);
}

TEST(reasons_have_names)
{
    char buf[NVML_REASONS];

    assert_string_equal(nvml_reason_names(0, buf), "none");
    assert_string_equal(nvml_reason_names(0x6, buf), "application clocks, power cap");
}

#define ON_CARD(name) cmocka_unit_test_setup_teardown(name, device_enter, leave)

TEST_MAIN("driver/gpu_device", ON_CARD(a_gpu_is_found_by_number_and_by_the_begin_of_its_uuid),
          ON_CARD(a_driver_without_a_gpu_is_a_missing_tool), ON_CARD(reasons_have_names))
