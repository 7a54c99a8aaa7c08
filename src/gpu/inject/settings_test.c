#include "gpu/inject/settings.h"

#include <stdlib.h>

#include "base/testing.h"

static const char *const variables[] = {
    "STRATA_TRACE_DIR",     "STRATA_INJECT_MODE",       "STRATA_INJECT_PRESET",
    "STRATA_INJECT_GRAPHS", "STRATA_INJECT_LATENCY",    "STRATA_INJECT_DEVICE",
    "STRATA_INJECT_KERNEL", "STRATA_INJECT_RANGE",      "STRATA_INJECT_SKIP",
    "STRATA_INJECT_COUNT",  "STRATA_INJECT_PER_KERNEL", "STRATA_INJECT_METRICS",
    "STRATA_INJECT_PASSES", "STRATA_INJECT_PERIOD_MS",
};

static void clear(void)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
}

TEST(defaults_hold_for_an_empty_environment)
{
    struct settings s;

    clear();
    setenv("STRATA_INJECT_COUNT", "", 1);
    settings_read(&s);
    assert_null(s.folder);
    assert_null(s.bad);
    assert_int_equal(s.mode, INJECT_TRACE);
    assert_int_equal(s.preset, PRESET_STD);
    assert_int_equal(s.device, -1);
    assert_int_equal(s.per_kernel, 3);
    assert_int_equal(s.passes, 2);
    assert_int_equal(s.period_ms, 200);
    assert_true(settings_wants(&s, "anything"));
}

TEST(lists_are_cut_and_names_found)
{
    struct settings s;

    clear();
    setenv("STRATA_INJECT_MODE", "counters", 1);
    setenv("STRATA_INJECT_METRICS", "a.sum,,b.avg", 1);
    setenv("STRATA_INJECT_RANGE", "step, one\nstep two", 1);
    setenv("STRATA_INJECT_KERNEL", "^gemm|softmax$", 1);
    settings_read(&s);
    assert_int_equal(s.mode, INJECT_COUNTERS);
    assert_int_equal(s.n_metrics, 2);
    assert_string_equal(s.metrics[1], "b.avg");
    assert_int_equal(s.n_ranges, 2);
    assert_string_equal(s.ranges[0], "step, one");
    assert_true(settings_wants(&s, "_ZN3lib9gemm_fastEv"));
    assert_true(settings_wants(&s, "softmax"));
    assert_false(settings_wants(&s, "_Z6mygemmv"));
    regfree(&s.kernel);
}

TEST(values_that_cannot_be_read_are_named)
{
    static const char *const wrong[][2] = {
        {"STRATA_INJECT_MODE", "fast"},     {"STRATA_INJECT_SKIP", "1x"},
        {"STRATA_INJECT_COUNT", "-3"},      {"STRATA_INJECT_PASSES", "99999999999999999999"},
        {"STRATA_INJECT_KERNEL", "(gemm"},  {"STRATA_INJECT_GRAPHS", "yes"},
        {"STRATA_INJECT_PERIOD_MS", "1e3"},
    };
    struct settings s;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        clear();
        setenv(wrong[i][0], wrong[i][1], 1);
        settings_read(&s);
        assert_non_null(s.bad);
        assert_string_equal(s.bad, wrong[i][0]);
        assert_false(s.has_kernel);
    }
}

TEST_MAIN("gpu/inject/settings", T(defaults_hold_for_an_empty_environment),
          T(lists_are_cut_and_names_found), T(values_that_cannot_be_read_are_named))
