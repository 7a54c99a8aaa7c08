#include "kernels/replay/discover.h"

#include <stdio.h>
#include <unistd.h>

#include "base/testing_folder.h"

static struct kernel_sources discover_test_find(const char *below, const char *func)
{
    struct discover_job job = {.build_dir = scratch_path(below), .funcs = {&func, func != NULL, 1}};
    struct kernel_sources out;

    discover_kernels(&job, &arena, &out, &diag);
    return out;
}

TEST(kernels_of_a_build_come_in_order)
{
    scratch_put("a/ptoas/b.cpp", "");
    scratch_put("a/ptoas/a.cpp", "");
    scratch_put("a/ptoas/a.pto", "");
    scratch_put("a/next_levels/x/ptoas/a.cpp", "");
    scratch_put("a/next_levels/x-y/ptoas/c.cpp", "");
    scratch_put("a/other/ptoas/d.cpp", "");
    struct kernel_sources got = discover_test_find("a", NULL);
    assert_int_equal(got.n, 4);
    assert_string_equal(got.at[0].name, "a");
    assert_non_null(got.at[0].pto);
    assert_string_equal(got.at[1].name, "b");
    assert_null(got.at[1].pto);
    assert_string_equal(got.at[2].name, "a__2"); /* x before x-y */
    assert_string_equal(got.at[3].name, "c");
    assert_int_equal(discover_test_find("a", "c").n, 1);
    assert_int_equal(discover_test_find("a", "e").n, 0);
    assert_non_null(strstr(diag.hints.at[0].text, "none of the 4 kernels"));
}

/* Few files that many folders lead to. */
TEST(every_kernel_of_a_large_build_is_found)
{
    enum { FILES = 330, FOLDERS = 304 };
    struct discover_job job = {.build_dir = scratch_path("m"),
                               .source_glob = scratch_path("m/d*/*.cpp")};
    struct kernel_sources got;
    char name[32];

    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "m/d0/k%d.cpp", i);
        scratch_put(name, "");
    }
    for (int i = 1; i < FOLDERS; i++) {
        snprintf(name, sizeof(name), "m/d%d", i);
        assert_int_equal(symlink("d0", scratch_path(name)), 0);
    }
    assert_int_equal(discover_kernels(&job, &arena, &got, &diag), ST_OK);
    assert_int_equal(got.n, FILES * FOLDERS);
    snprintf(name, sizeof(name), "k%d__%d", FILES - 1, FOLDERS);
    bool is_found = false;
    for (size_t i = 0; i < got.n; i++)
        is_found = is_found || strcmp(got.at[i].name, name) == 0;
    assert_true(is_found);
}

TEST(kernels_of_one_name_are_numbered)
{
    char name[64];

    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof(name), "n/next_levels/%02d/ptoas/k.cpp", i);
        scratch_put(name, "");
    }
    scratch_put("n/ptoas/k__3.cpp", "");
    struct kernel_sources got = discover_test_find("n", NULL);
    assert_int_equal(got.n, 13);
    assert_string_equal(got.at[0].name, "k__3");
    assert_string_equal(got.at[1].name, "k");
    assert_string_equal(got.at[2].name, "k__2");
    assert_string_equal(got.at[3].name, "k__4");
    assert_string_equal(got.at[12].name, "k__13");
}

TEST(folders_below_the_limit_are_reported)
{
    char name[256] = "p/next_levels";

    for (int i = 0; i < 50; i++)
        strcat(name, "/x");
    strcat(name, "/ptoas/k.cpp");
    scratch_put(name, "");
    assert_int_equal(discover_test_find("p", NULL).n, 0);
    assert_int_not_equal(diag_count(&diag, "incore-run.depth"), 0);
}

TEST(earlier_results_are_no_kernels)
{
    scratch_put("b/deep/er/ptoas/k.cpp", "");
    scratch_put("b/run/cases/ptoas/k_msprof/k.cpp", "");
    scratch_put("b/run/cases/ptoas/old.cpp", "");
    scratch_put("b/insight_1/ptoas/old.cpp", "");
    struct kernel_sources got = discover_test_find("b", NULL);
    assert_int_equal(got.n, 1);
    assert_string_equal(got.at[0].name, "k");
}

TEST(texts_serve_where_there_is_no_source)
{
    scratch_put("c/ptoas/k.pto", "");
    scratch_put("d/k.pto", "");
    assert_int_equal(discover_test_find("c", NULL).n, 1);
    assert_null(discover_test_find("c", NULL).at[0].cpp);
    assert_int_equal(discover_test_find("d", NULL).n, 1);
}

TEST(texts_and_sources_are_found_at_any_depth)
{
    static const char source[] = "#include <pto/pto-inst.hpp>\n#define AICORE [aicore]\n"
                                 "extern \"C\" __global__ AICORE void k(__gm__ float *x)\n{\n}\n";
    /* A program that launches a kernel only declares it. */
    static const char host[] = "#include <pto/pto-inst.hpp>\n#define AICORE [aicore]\n"
                               "extern \"C\" __global__ AICORE void k(__gm__ float *x);\n"
                               "void launch(float *x) { k<<<1, nullptr, 0>>>(x); }\n";

    scratch_put("e/top.pto", "");
    scratch_put("e/a/b/deep.pto", "");
    scratch_put("e/a/own.cpp", source);
    scratch_put("e/a/paired.cpp", source);
    scratch_put("e/a/paired.pto", "");
    scratch_put("e/a/host.cpp", "int main() {}");
    scratch_put("e/a/launch.cpp", host);
    struct kernel_sources got = discover_test_find("e", NULL);
    assert_int_equal(got.n, 4);
    assert_string_equal(got.at[0].name, "deep");
    assert_string_equal(got.at[1].name, "own");
    assert_null(got.at[1].pto);
    assert_string_equal(got.at[2].name, "paired");
    assert_non_null(got.at[2].pto);
    assert_string_equal(got.at[3].name, "top");
}

TEST(the_newest_new_build_is_taken)
{
    const char *old_path[] = {"o"}, *paths[] = {"o", "n", "m"};
    int64_t old_time[] = {50}, times[] = {90, 70, 80};
    struct discover_builds before = {old_path, old_time, 1}, now = {paths, times, 3};

    assert_string_equal(discover_pick(&now, &before, 0), "m");
    assert_string_equal(discover_pick(&(struct discover_builds){paths, times, 1}, &before, 60),
                        "o");
    assert_null(discover_pick(&(struct discover_builds){0}, &before, 0));
}

TEST(a_text_tells_its_target)
{
    assert_string_equal(discover_target(S("module {pto.target_arch = \"a5\"} {")), "a5");
    assert_string_equal(discover_target(S("module {pto.target_arch=\"a3\"} {")), "a2a3");
    assert_string_equal(discover_target(S("// pto.target_arch\nmodule {")), "a2a3");
    assert_string_equal(discover_target(S("")), "a2a3");
}

TEST_MAIN("kernels/replay/discover", TS(kernels_of_a_build_come_in_order),
          TS(every_kernel_of_a_large_build_is_found), TS(kernels_of_one_name_are_numbered),
          TS(folders_below_the_limit_are_reported), TS(earlier_results_are_no_kernels),
          TS(texts_serve_where_there_is_no_source), TS(texts_and_sources_are_found_at_any_depth),
          T(the_newest_new_build_is_taken), T(a_text_tells_its_target))
