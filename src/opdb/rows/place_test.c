#include "opdb/rows/place.h"

#include "base/testing_folder.h"

#define arena arena
#define diag  diag

static const char *resolve(struct place_args args)
{
    const char *dir = NULL;

    return place_resolve(&arena, &args, &dir, &diag) == ST_OK ? dir : "-";
}

TEST(a_folder_given_outright_is_taken)
{
    assert_string_equal(resolve((struct place_args){.database_path = "x/y", .vllm = "1"}), "x/y");
}

TEST(parts_and_whole_names_give_the_same_folder)
{
    assert_string_equal(resolve((struct place_args){.data_root = "r",
                                                    .device = "TEST_DEVICE",
                                                    .vllm = "v0.18.0",
                                                    .torch = "2.9.0+cpu",
                                                    .cann = "8.5"}),
                        "r/TEST_DEVICE/vllm_ascend/vllm0.18.0_torch2.9.0_cann8.5");
    assert_string_equal(
        resolve((struct place_args){.data_root = "r", .vllm = " vllm1_torch2_cann3_x "}),
        "r/" PLACE_DEFAULT_DEVICE "/vllm_ascend/vllm1_torch2_cann3_x");
    assert_string_equal(resolve((struct place_args){.data_root = "r", .device = "HOST_CPU"}),
                        "r/HOST_CPU/cpu/strata1");
    assert_string_equal(resolve((struct place_args){.data_root = "r",
                                                    .device = "NVIDIA_H200_141G",
                                                    .stack_version = "cuda12.4"}),
                        "r/NVIDIA_H200_141G/cuda/cuda12.4");
}

TEST(unknown_devices_and_versions_are_usage_errors)
{
    assert_null(place_problem(&arena, &(struct place_args){.torch = "2.9"}));
    assert_null(place_problem(&arena, &(struct place_args){.device = "NVIDIA_H200_141G"}));
    assert_non_null(place_problem(&arena, &(struct place_args){.device = "NVIDIA_"}));
    assert_non_null(place_problem(&arena, &(struct place_args){.device = "ATLAS"}));
    assert_non_null(place_problem(&arena, &(struct place_args){.cann = "8 5"}));
}

TEST(the_stack_is_found_in_packages_and_toolkit_files)
{
    const char *root = scratch;

    scratch_put("lib/python3.11/site-packages/vllm_ascend-0.18.0.dist-info/METADATA",
                "Metadata-Version: 2.1\nName: Vllm-Ascend\nVersion: 0.18.0\n\nVersion: 9\n");
    scratch_put("lib/python3.11/site-packages/torch-2.9.0+cpu.dist-info/METADATA",
                "Name: torch\nVersion: 2.9.0+cpu\n");
    scratch_put("version.info", "Version=8.5.RC1\n");
    setenv("VIRTUAL_ENV", root, 1);
    setenv("ASCEND_HOME_PATH", root, 1);
    assert_string_equal(resolve((struct place_args){.data_root = "r", .device = "TEST_DEVICE"}),
                        "r/TEST_DEVICE/vllm_ascend/vllm0.18.0_torch2.9.0_cann8.5.RC1");
    unsetenv("VIRTUAL_ENV");
    unsetenv("ASCEND_HOME_PATH");
}

TEST(missing_parts_are_named_in_order)
{
    setenv("PATH", "/nonexistent", 1);
    setenv("HOME", "/nonexistent", 1);
    unsetenv("CONDA_PREFIX");
    assert_string_equal(resolve((struct place_args){.torch = "2.9"}), "-");
    assert_non_null(strstr(diag.entries.at[diag.entries.n - 1].first[0].text, "vLLM-Ascend, CANN"));
}

TEST(the_root_comes_from_option_or_environment)
{
    unsetenv("STRATA_PERFDB");
    assert_string_equal(place_root(&(struct place_args){0}), "perfdb");
    setenv("STRATA_PERFDB", "/data", 1);
    assert_string_equal(place_root(&(struct place_args){0}), "/data");
    assert_string_equal(place_root(&(struct place_args){.data_root = "x"}), "x");
}

TEST_MAIN("opdb/rows/place", TS(a_folder_given_outright_is_taken),
          TS(parts_and_whole_names_give_the_same_folder),
          TS(unknown_devices_and_versions_are_usage_errors),
          TS(the_stack_is_found_in_packages_and_toolkit_files),
          TS(missing_parts_are_named_in_order), TS(the_root_comes_from_option_or_environment))
