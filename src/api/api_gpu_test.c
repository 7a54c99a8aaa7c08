#include <math.h>
#include <string.h>

#include "base/testing.h"
#include "strata/strata.h"

TEST(a_run_is_loaded_and_its_stages_read)
{
    struct strata_gpu_advice advice;
    struct strata_gpu_stage stage;
    struct strata_result *r;

    assert_int_equal(strata_gpu_load("examples/gpu-rules/run", NULL, &r), STRATA_OK);
    assert_int_equal(strata_gpu_stage_count(r), 2);
    assert_int_equal(strata_gpu_stage_get(r, 0, &stage), STRATA_OK);
    assert_string_equal(stage.name, "decode");
    assert_string_equal(stage.bound, "Latency");
    assert_string_equal(stage.reason, "occupancy");
    assert_true(stage.us > 1720 && stage.us < 1721 && stage.share > 0.92 && stage.share < 0.93);
    assert_true(stage.confidence == 1 && stage.occupancy_pct == 12.4);
    assert_int_equal(strata_gpu_stage_get(r, 2, &stage), STRATA_USAGE);
    assert_true(strata_gpu_advice_count(r) > 0);
    assert_int_equal(strata_gpu_advice_get(r, 0, &advice), STRATA_OK);
    assert_true(advice.gain_pct > 0 && advice.what[0] != '\0' && advice.evidence[0] != '\0');
    assert_non_null(strstr(strata_gpu_verdict(r), "Latency-bound: decode takes 92.9 %"));
    strata_result_free(r);
}

TEST(one_kernel_is_asked_for)
{
    struct strata_result *r;

    assert_int_equal(strata_gpu_load("examples/gpu-rules/run", "scale", &r), STRATA_OK);
    assert_int_equal(strata_gpu_stage_count(r), 1);
    strata_result_free(r);
    assert_int_equal(strata_gpu_load("examples/gpu-rules/run", "no such", &r), STRATA_NOT_FOUND);
    assert_int_equal(strata_gpu_stage_count(r), 0);
    assert_string_equal(strata_gpu_verdict(r), "");
    strata_result_free(r);
}

TEST(a_run_says_what_it_lacks)
{
    static const char *const none[] = {NULL}, *const command[] = {"true", NULL},
                             *const wrong[] = {"--mode", "no such", NULL};
    struct strata_result *r;

    assert_int_equal(strata_gpu_run(none, NULL, "x", &r), STRATA_USAGE);
    strata_result_free(r);
    assert_int_equal(strata_gpu_load(NULL, NULL, &r), STRATA_USAGE);
    strata_result_free(r);
    assert_int_not_equal(strata_gpu_run(command, wrong, "x", &r), STRATA_OK);
    assert_non_null(strstr(strata_result_error(r), "--mode"));
    strata_result_free(r);
}

TEST_MAIN("api/api_gpu", T(a_run_is_loaded_and_its_stages_read), T(one_kernel_is_asked_for),
          T(a_run_says_what_it_lacks))
