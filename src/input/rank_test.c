#include "input/rank.h"

#include "base/testing.h"

TEST(a_name_is_taken_apart)
{
    struct name_parts p = rank_name_parts(S("op_summary_slice_3_20250101120000.csv"));

    assert_str(p.base, "op_summary");
    assert_str(p.stamp, "20250101120000");
    assert_int_equal(p.slice, 3);
    assert_str(p.ext, "csv");
    p = rank_name_parts(S("kernel_details.csv"));
    assert_str(p.base, "kernel_details");
    assert_str(p.stamp, "");
    assert_int_equal(p.slice, -1);
    p = rank_name_parts(S("msprof_slice_0_20250101.json.gz"));
    assert_str(p.base, "msprof");
    assert_int_equal(p.slice, 0);
    assert_str(p.ext, "json.gz");
    assert_false(p.is_iteration);
    p = rank_name_parts(S("msprof_0_2_10.json"));
    assert_str(p.base, "msprof");
    assert_str(p.stamp, "");
    assert_int_equal(p.slice, 10);
    assert_true(p.is_iteration);
    p = rank_name_parts(S("op_summary_0_2_10_20250101120000.csv"));
    assert_str(p.base, "op_summary");
    assert_str(p.stamp, "20250101120000");
    assert_int_equal(p.slice, 10);
    assert_true(p.is_iteration);
    assert_false(rank_name_parts(S("op_summary_0_20250101120000.csv")).is_iteration);
    assert_false(rank_name_parts(S("step_trace_0_2_10.json")).is_iteration);
    assert_false(rank_name_parts(S("msprof_2_10.json")).is_iteration);
    assert_str(rank_name_parts(S("README")).base, "README");
    assert_str(rank_name_parts(S("_7")).base, ""); /* nothing is left of it */
    assert_str(rank_name_parts(S("")).base, "");
}

static void assert_folder(const char *path, size_t root, const char *want)
{
    struct str got = str_part(str_of(path), 0, rank_folder(str_of(path), root));

    assert_true(str_equal(got, str_of(want)));
}

TEST(the_folder_of_a_rank_is_the_outermost_that_looks_like_one)
{
    assert_folder("c/h_1_2_ascend_pt/ASCEND_PROFILER_OUTPUT/x.csv", 0, "c/h_1_2_ascend_pt");
    assert_folder("c/h_ascend_pt/PROF_1_2_A/mindstudio_profiler_output/x.csv", 0, "c/h_ascend_pt");
    assert_folder("c/PROF_1_2_A/device_0/x.csv", 0, "c/PROF_1_2_A");
    assert_folder("c/run7/ASCEND_PROFILER_OUTPUT/x.csv", 0, "c/run7");
    assert_folder("c/run7/x.csv", 0, "c/run7");
    assert_folder("c/OPPROF_1/simulator/core0.veccore0/trace.json", 0, "c/OPPROF_1");
    assert_folder("c/OPPROF_1/dump/core0.instr_log.dump", 0, "c/OPPROF_1");
    assert_folder("c/run/core0.veccore0/trace.json", 1, "c/run");
    assert_folder("run/core0.veccore0/trace.json", 3, "run");
    assert_folder("run/core0.veccore0/trace.json", 18, "run/core0.veccore0");
    assert_folder("run/corelib/trace.json", 3, "run/corelib");
    assert_folder("c/dump/rank0/kernel_details.csv", 0, "c/dump/rank0");
    assert_folder("/x.csv", 0, "/");
    assert_folder("x.csv", 0, "");
    assert_folder("ASCEND_PROFILER_OUTPUT/x.csv", 0, "ASCEND_PROFILER_OUTPUT");
}

TEST(folders_above_the_given_one_say_nothing)
{
    const char *path = "old_ascend_pt/sub/x.csv";

    assert_folder(path, strlen("old_ascend_pt/sub"), "old_ascend_pt/sub");
}

TEST(time_stamps_stand_at_a_fixed_place_of_a_folder_s_name)
{
    assert_str(rank_folder_stamp(S("host_67889_20260725180104147_ascend_pt")), "20260725180104147");
    assert_str(rank_folder_stamp(S("PROF_000001_20240101120000000_ABCDEF")), "20240101120000000");
    assert_str(rank_folder_stamp(S("rank0_ascend_pt")), "");
    assert_str(rank_folder_stamp(S("notes")), "");
    assert_true(rank_compare_stamps(S("20240101"), S("20250101")) < 0);
    assert_true(rank_compare_stamps(S("9"), S("10")) < 0);
    assert_int_equal(rank_compare_stamps(S("007"), S("7")), 0);
}

TEST(a_rank_is_told_by_the_names_of_files)
{
    assert_int_equal(rank_of_file(S("profiler_info_12.json")), 12);
    assert_int_equal(rank_of_file(S("profiler_info.json")), -1);
    assert_int_equal(rank_of_file(S("ascend_pytorch_profiler_3.db")), 3);
    assert_int_equal(rank_of_file(S("msmonitor_99_20250101000000000_5.db")), 5);
    assert_int_equal(rank_of_file(S("op_summary_20250101.csv")), -1);
    assert_int_equal(rank_in_text(S("sampled_rank-0.json.gz")), 0);
    assert_int_equal(rank_in_text(S("Rank_17")), 17);
    assert_int_equal(rank_in_text(S("ranking rank34")), 34);
    assert_int_equal(rank_in_text(S("frank.json")), -1);
}

TEST_MAIN("input/rank", T(a_name_is_taken_apart),
          T(the_folder_of_a_rank_is_the_outermost_that_looks_like_one),
          T(folders_above_the_given_one_say_nothing),
          T(time_stamps_stand_at_a_fixed_place_of_a_folder_s_name),
          T(a_rank_is_told_by_the_names_of_files))
