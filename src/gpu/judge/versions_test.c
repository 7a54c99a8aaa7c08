#include "gpu/judge/compare.h"

#include <math.h>

#include "base/testing_arena.h"
#include "base/testing_folder.h"

#define BLOCK(name, us)                                                                            \
    "<!-- strata:begin " name " -->\n| Duration          | " us " \xce\xbcs | -- |\n"              \
    "| TC Util           | 36%     | -- |\n\n**Bottleneck**: Memory-bound\n<!-- strata:end " name  \
    " -->\n"

TEST(a_log_gives_its_versions)
{
    struct gpu_versions v = {.allowed = 5};
    const char *path = scratch_put("log.md", "# Log\n" BLOCK("v1", "100.00") "text\n" BLOCK(
                                                 "v2", "50.00") BLOCK("v3", "53.00"));

    assert_int_equal(gpu_versions_of_log(&v, path, &arena, &diag), ST_OK);
    assert_int_equal(v.at.n, 3);
    assert_str(v.at.at[1].version, "v2");
    assert_str(v.at.at[1].bound, "Memory");
    assert_true(v.at.at[1].tc_pct == 36);
    assert_true(v.at.at[1].change == -50 && v.at.at[1].verdict == NOISE_UNKNOWN);
    assert_int_equal(v.at.at[2].gate, GATE_UNKNOWN); /* 6 %: two durations alone tell nothing */
    assert_int_equal(v.gate, GATE_UNKNOWN);
    assert_true(fabs(v.at.at[2].total + 47) < 1e-9);
    gpu_versions_free(&v);
}

TEST(twice_as_long_and_as_long_need_no_more)
{
    struct gpu_versions v = {.allowed = 5};
    const char *path = scratch_put("log.md", BLOCK("v1", "100.00") BLOCK("v2", "100.00"));

    assert_int_equal(gpu_versions_of_log(&v, path, &arena, &diag), ST_OK);
    assert_int_equal(v.gate, GATE_PASS);
    path = scratch_put("more.md", BLOCK("v3", "201.00"));
    assert_int_equal(gpu_versions_of_log(&v, path, &arena, &diag), ST_OK);
    assert_int_equal(v.at.at[2].verdict, NOISE_SLOWER);
    assert_int_equal(v.gate, GATE_FAIL);
    gpu_versions_free(&v);
}

TEST(a_log_without_versions_is_refused)
{
    struct gpu_versions v = {0};
    const char *path = scratch_put("other.md", "<!-- strata:begin v1 -->\nno end\n");

    assert_int_equal(gpu_versions_of_log(&v, path, &arena, &diag), ST_FORMAT);
    assert_int_equal(v.at.n, 0);
    gpu_versions_free(&v);
}

TEST_MAIN("gpu/judge/versions", TS(a_log_gives_its_versions),
          TS(twice_as_long_and_as_long_need_no_more), TS(a_log_without_versions_is_refused))
