/*
 * Gates at their limits, on captures whose times are known.
 */
#include "answers/answer_check.h"

#include <math.h>
#include <string.h>

#include "base/testing_folder.h"
#include "base/text/text.h"
#include "capture/fleet.h"

#define HEAD                                                                                       \
    "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\n"
/* Two steps of 100 us: idle for 20 us, and for 10 us. */
#define STEPS                                                                                      \
    HEAD "1,0,a,MatMul,AI_CORE,0,40,0\n"                                                           \
         "1,0,b,MatMul,AI_CORE,60,40,0\n"                                                          \
         "2,0,a,MatMul,AI_CORE,100,40,0\n"                                                         \
         "2,0,b,MatMul,AI_CORE,150,50,0\n"

static void check_read(void *ctx, const struct fleet *fleet)
{
    *(size_t *)ctx += fleet->ranks.n;
}

/* One capture against the limits; how many fail. */
static size_t check_fails(const char *path, double max_idle, nanos max_step,
                          struct gate_results *out)
{
    size_t read = 0;
    const char *paths[] = {path};
    struct check_job job = {.paths = paths,
                            .n_paths = 1,
                            .was_read = check_read,
                            .ctx = &read,
                            .input = input_defaults(),
                            .max_idle = max_idle,
                            .max_step = max_step};

    assert_int_equal(answer_check(&job, &arena, &diag, out), ST_OK);
    assert_int_equal(read, 1);
    return out->failed;
}

TEST(a_limit_that_is_met_exactly_is_kept)
{
    const char *path = scratch_put("kernel_details.csv", STEPS);
    struct gate_results out;

    assert_int_equal(check_fails(path, 0.15, 100000, &out), 0);
    assert_int_equal(out.all.n, 2);
    gate_results_free(&out);
    assert_int_equal(check_fails(path, 0.1499, 99999, &out), 2);
    assert_non_null(strstr(out.all.at[0].text, "15.0 %"));
    assert_non_null(strstr(out.all.at[0].text, "200.0 us"));
    assert_non_null(strstr(out.all.at[1].text, "2 of 2 steps"));
    gate_results_free(&out);
}

TEST(a_limit_that_is_not_given_is_no_gate)
{
    const char *path = scratch_put("kernel_details.csv", STEPS);
    struct gate_results out;

    assert_int_equal(check_fails(path, NAN, 0, &out), 0);
    assert_int_equal(out.all.n, 0);
    gate_results_free(&out);
    assert_int_equal(check_fails(path, 0, 0, &out), 1); /* no idle time at all */
    assert_int_equal(out.all.n, 1);
    gate_results_free(&out);
}

/* An idle step that is short counts as little as it takes: 15 of 110 us. */
TEST(shares_are_of_the_time_of_all_steps)
{
    const char *path = scratch_put("kernel_details.csv", HEAD "1,0,a,MatMul,AI_CORE,0,40,0\n"
                                                              "1,0,b,MatMul,AI_CORE,50,50,0\n"
                                                              "2,0,a,MatMul,AI_CORE,100,2,0\n"
                                                              "2,0,b,MatMul,AI_CORE,107,3,0\n");
    struct gate_results out;

    assert_int_equal(check_fails(path, 15.0 / 110, 0, &out), 0);
    gate_results_free(&out);
    assert_int_equal(check_fails(path, 0.136, 0, &out), 1);
    gate_results_free(&out);
}

TEST(what_cannot_be_compared_fails_unless_that_is_allowed)
{
    static const char *const texts[] = {"step_ms>5%"};
    struct diff_gate gate = {.metric = UNIT_LENGTH, .limit = 0.05};
    const char *path = scratch_put("after/kernel_details.csv", STEPS);
    const char *before =
        scratch_put("before/kernel_details.csv", STEPS "3,0,a,MatMul,AI_CORE,200,90,0\n");
    size_t read = 0;

    for (int allows = 0; allows < 2; allows++) {
        struct gate_results out = {0};
        struct check_job job = {.paths = &path,
                                .n_paths = 1,
                                .baseline = before,
                                .allows_unknown = allows,
                                .was_read = check_read,
                                .ctx = &read,
                                .input = input_defaults(),
                                .compare = compare_defaults(),
                                .max_idle = NAN,
                                .changes = &gate,
                                .change_texts = texts,
                                .n_changes = 1};
        assert_int_equal(answer_check(&job, &arena, &diag, &out), ST_OK);
        assert_int_equal(out.all.n, 1);
        assert_int_equal(out.all.at[0].verdict, GATE_UNKNOWN); /* too few steps */
        assert_int_equal(out.failed, !allows);
        gate_results_free(&out);
    }
}

TEST(a_file_of_record_is_known_by_its_head)
{
    assert_true(check_is_saved(scratch_put("a", "{\"schema\":\"strata.baseline/3\"}")));
    assert_false(check_is_saved(scratch_put("b", "{\"schema\":\"strata.check/2\"}")));
    assert_false(check_is_saved(scratch_put("c", "")));
    assert_false(check_is_saved(scratch_path("none")));
}

TEST(a_damaged_baseline_is_refused)
{
    static const char *const texts[] = {"{\"schema\":\"strata.baseline/3\"",
                                        "{\"schema\":\"strata.baseline/3\",\"runs\":7}",
                                        "[\"strata.baseline/\"]"};
    const char *path = scratch_put("kernel_details.csv", STEPS);
    size_t read = 0;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct gate_results out = {0};
        struct check_job job = {.paths = &path,
                                .n_paths = 1,
                                .baseline = scratch_put("base.json", texts[i]),
                                .was_read = check_read,
                                .ctx = &read,
                                .input = input_defaults(),
                                .compare = compare_defaults(),
                                .max_idle = NAN};
        assert_int_equal(answer_check(&job, &arena, &diag, &out), ST_FORMAT);
        assert_string_equal(diag.entries.at[0].code, "check.bad-baseline");
        gate_results_free(&out);
    }
}

TEST(failures_are_failures_in_every_form)
{
    const char *path = scratch_put("kernel_details.csv", STEPS);
    struct gate_results out;
    struct text junit = {0}, github = {0};

    assert_int_equal(check_fails(path, 0.1, 200000, &out), 1);
    gate_results_junit(&out, &junit);
    gate_results_github(&out, &github);
    assert_true(str_contains(text_view(&junit), S("tests=\"2\"")));
    assert_true(str_contains(text_view(&junit), S("failures=\"1\"")));
    assert_true(str_contains(text_view(&github), S("::error")));
    text_free(&junit);
    text_free(&github);
    gate_results_free(&out);
}

TEST_MAIN("answers/answer_check", TS(a_limit_that_is_met_exactly_is_kept),
          TS(a_limit_that_is_not_given_is_no_gate), TS(shares_are_of_the_time_of_all_steps),
          TS(what_cannot_be_compared_fails_unless_that_is_allowed),
          TS(a_file_of_record_is_known_by_its_head), TS(a_damaged_baseline_is_refused),
          TS(failures_are_failures_in_every_form))
