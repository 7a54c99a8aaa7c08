#include "opdb/rows/place.h"

#include "base/testing_arena.h"

TEST(version_texts_are_words_with_single_joints)
{
    struct str out;

    assert_true(version_check(S(" 8.5.RC1 "), &out));
    assert_str(out, "8.5.RC1");
    assert_true(version_check(S("0.18.0+cu-1_2"), &out));
    assert_false(version_check(S(""), &out));
    assert_false(version_check(S("  "), &out));
    assert_false(version_check(S("a b"), &out));
    assert_false(version_check(S("_x"), &out));
    assert_false(version_check(S("x."), &out));
    assert_false(version_check(S("1..2"), &out));
    assert_false(version_check(S("x@y"), &out));
}

TEST(three_parts_make_a_folder)
{
    const struct str a[] = {S_INIT("VLLM0.18.0"), S_INIT("torch2.9.0+git"), S_INIT("v8.5")};
    const struct str b[] = {S_INIT(" V1 "), S_INIT("TORCH2"), S_INIT("CANN8.5.RC1")};

    assert_str(version_dir(&arena, a), "vllm0.18.0_torch2.9.0_cannv8.5");
    assert_str(version_dir(&arena, b), "vllm1_torch2_cann8.5.RC1");
}

TEST(whole_folder_names_are_known)
{
    assert_true(version_is_dir(S(" vllm1_torch2_cann3 ")));
    assert_true(version_is_dir(S("vllm1_torch2_cann3_shape_generated")));
    assert_true(version_is_dir(S("vllm_torch_torch_cann_cann1")));
    assert_false(version_is_dir(S("vllm_torch_cann")));
    assert_false(version_is_dir(S("Vllm1_torch2_cann3")));
    assert_false(version_is_dir(S("vllm1_torch2_cann")));
    assert_false(version_is_dir(S("vllm1_torch2")));
    assert_false(version_is_dir(S("vllm")));
}

TEST(installers_leave_their_version_in_files)
{
    struct str out;

    assert_true(version_in_text(S("x=1\nVersion : 7.0 \r\n"), &out));
    assert_str(out, "7.0");
    assert_true(version_in_text(S("runtime_running_version=[7.6:8.0]\nVersion=7.6"), &out));
    assert_str(out, "7.6");
    assert_true(version_in_text(S("x-version: 2.0-b+1;"), &out));
    assert_str(out, "2.0-b+1");
    assert_true(version_in_text(S("version=8.5 beta"), &out));
    assert_str(out, "8.5");
    assert_true(version_in_text(S("version=\n7"), &out));
    assert_str(out, "7");
    assert_false(version_in_text(S("{\"version\": \"8.5\"}"), &out));
    assert_false(version_in_text(S("version_dir=CANN-8.5\n"), &out));
    assert_false(version_in_text(S(""), &out));
}

TEST_MAIN("opdb/rows/version", T(version_texts_are_words_with_single_joints),
          TA(three_parts_make_a_folder), T(whole_folder_names_are_known),
          T(installers_leave_their_version_in_files))
