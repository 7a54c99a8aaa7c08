#include "analysis/compare/runs.h"

#include <math.h>

#include "base/testing.h"
#include "base/testing_arena.h"
#include "report/envelope.h"

/* A file of --save with three figures; each list has a number for each run. */
static const struct tree *file_of(const char *names, const char *step, const char *idle,
                                  const char *kernel)
{
    struct tree_error error;

    return tree_read_json(&arena,
                          arena_format(&arena,
                                       "{\"schema\":\"strata.baseline/1\",\"runs\":[%s],"
                                       "\"figures\":[{\"name\":\"step\",\"ns\":[%s]},{\"name\":"
                                       "\"idle\",\"ns\":[%s]},{\"name\":\"MatMul\",\"ns\":[%s]}]}",
                                       names, step, idle, kernel),
                          &error);
}

static const char five[] = "\"a\",\"b\",\"c\",\"d\",\"e\"";

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

TEST(files_come_back)
{
    struct tree_error error;
    struct text json = {0};
    struct runs runs, again;

    runs_init(&runs, &arena);
    runs_init(&again, &arena);
    assert_true(runs_read(&runs, file_of("\"a\",\"b\"", "100,110", "5,6", "60,70")));
    assert_int_equal(runs.names.n, 2);
    assert_int_equal(runs.figures.n, 3);
    assert_int_equal(runs.figures.at[2].at[1], 70);
    assert_true(envelope_write(text_sink(&json),
                               &(struct envelope){.schema = &runs_schema,
                                                  .result = &runs,
                                                  .env = &(struct record_env){.arena = &arena}}));
    assert_true(runs_read(&again, tree_read_json(&arena, text_view(&json), &error)));
    assert_int_equal(again.figures.at[0].at[1], 110);
    assert_true(runs_read(&again, file_of("\"c\"", "90", "4", "50"))); /* added to the others */
    assert_int_equal(again.names.n, 3);
    assert_int_equal(again.figures.at[0].at[2], 90);
    text_free(&json);
    runs_free(&runs);
    runs_free(&again);
}

TEST(other_files_are_rejected)
{
    static const char *const wrong[] = {
        "7",
        "{}",
        "{\"schema\":\"strata.baseline/1\"}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[],\"figures\":[]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"figures\":[]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"figures\":[{\"name\":\"idle\",\"ns\":"
        "[1]}]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"figures\":[{\"name\":\"step\",\"ns\":"
        "[0]}]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"figures\":[{\"name\":\"step\",\"ns\":"
        "[9000000000000000000]}]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"ranks\":[],\"figures\":[{\"name\":"
        "\"step\",\"ns\":[1]}]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"ranks\":[1,2],\"figures\":[{\"name\":"
        "\"step\",\"ns\":[1]}]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"figures\":[{\"name\":\"step\",\"ns\":"
        "[1,2]}]}",
        "{\"schema\":\"strata.baseline/1\",\"runs\":[\"a\"],\"figures\":[{\"name\":\"step\",\"ns\":"
        "[\"1\"]}]}",
    };
    struct tree_error error;
    struct runs runs;

    runs_init(&runs, &arena);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(runs_read(&runs, tree_read_json(&arena, str_of(wrong[i]), &error)));
    assert_int_equal(runs.names.n, 0);
    runs_free(&runs);
}

static struct run_changes runs_test_compare(const struct tree *before, const struct tree *after)
{
    struct runs a, b;

    runs_init(&a, &arena);
    runs_init(&b, &arena);
    assert_true(runs_read(&a, before) && runs_read(&b, after));
    struct run_changes changes = runs_compare(&a, &b);
    runs_free(&a);
    runs_free(&b);
    return changes;
}

TEST(a_slower_kernel_is_found)
{
    struct run_changes c = runs_test_compare(
        file_of(five, "1000,1010,990,1005,995", "100,101,99,100,100", "600,606,594,603,597"),
        file_of(five, "1050,1060,1040,1055,1045", "100,101,99,100,100", "650,656,644,653,647"));

    assert_true(is_near(c.step.before, 1000) && is_near(c.step.after, 1050));
    assert_true(c.step.relative > 0.045 && c.step.relative < 0.055);
    assert_true(c.step.p < 0.05);
    assert_true(str_equal(c.at[0].name, S("MatMul"))); /* what grew most comes first */
    assert_true(is_near(c.at[0].share, 1));
    assert_true(c.at[0].own > 0.04);
    assert_true(runs_are_slower(&c, 0.025));
    assert_true(runs_are_slower(&c, 0.045)); /* near the limit: the kernel decides */
    assert_false(runs_are_slower(&c, 0.1));
    struct run_cause cause = runs_cause(&c, 0.025);
    assert_int_equal(cause.n, 1);
    assert_true(str_equal(cause.parts[0]->name, S("MatMul")) && is_near(cause.growth, 50));
}

/* Figures of a step of 1000 in which A, B and C take 200, 250 and 450, and idle time 100; the clock
 * of the machine differs from run to run. */
static const struct tree *runs_job_of(double a, double b, double c)
{
    static const double clocks[] = {0.97, 1.03, 1, 0.98, 1.02};
    const double parts[] = {100 + a + b + c, 100, a, b, c};
    static const char *const names[] = {"step", "idle", "A", "B", "C"};
    struct text json = {0};
    struct tree_error error;

    text_format(&json, "{\"schema\":\"strata.baseline/1\",\"runs\":[%s],\"figures\":[", five);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        text_format(&json, "%s{\"name\":\"%s\",\"ns\":[", i > 0 ? "," : "", names[i]);
        for (size_t k = 0; k < ARRAY_LEN(clocks); k++)
            text_format(&json, "%s%.0f", k > 0 ? "," : "", 1000 * parts[i] * clocks[k] + (double)k);
        text_put(&json, S("]}"));
    }
    text_put(&json, S("]}"));
    const struct tree *file = tree_read_json(&arena, arena_str(&arena, text_view(&json)), &error);
    text_free(&json);
    return file;
}

TEST(parts_that_grew_together_are_named_together)
{
    struct run_changes c =
        runs_test_compare(runs_job_of(200, 250, 450), runs_job_of(222, 278, 450));
    struct run_cause cause = runs_cause(&c, 0.025);

    assert_true(c.step.p > 0.05); /* the clocks hide it; the shares do not */
    assert_true(runs_are_slower(&c, 0.025));
    assert_false(cause.is_alike);
    assert_int_equal(cause.n, 2);
    assert_true(str_equal(cause.parts[0]->name, S("B")) && str_equal(cause.parts[1]->name, S("A")));
}

TEST(kernels_that_grew_without_idle_time)
{
    struct run_changes c =
        runs_test_compare(runs_job_of(200, 250, 450), runs_job_of(220, 275, 495));
    struct run_cause cause = runs_cause(&c, 0.025);

    assert_true(runs_are_slower(&c, 0.025) && cause.is_alike && cause.is_kernels);
    c = runs_test_compare(runs_job_of(200, 250, 450), runs_job_of(200, 280, 510));
    cause = runs_cause(&c, 0.025); /* more than half of the step, but not all of it */
    assert_true(runs_are_slower(&c, 0.025) && !cause.is_alike);
    assert_int_equal(cause.n, 2);
    assert_true(str_equal(cause.parts[0]->name, S("C")));
}

TEST(parts_that_are_slower_alike_count_by_size)
{
    struct run_changes c = runs_test_compare(
        file_of(five, "1000,1001,1002,1003,1004", "100,100,100,100,100", "600,600,601,602,602"),
        file_of(five, "1030,1031,1032,1033,1034", "103,103,103,103,103", "618,618,619,620,620"));

    assert_true(runs_are_slower(&c, 0.025));
    assert_false(runs_are_slower(&c, 0.035));
    assert_true(runs_cause(&c, 0.025).is_alike);
    assert_false(runs_cause(&c, 0.025).is_kernels);
}

TEST(slow_clocks_of_some_runs_are_noise)
{
    struct run_changes c = runs_test_compare(
        file_of(five, "1000,1001,1002,1003,1060", "100,100,100,100,106", "600,600,601,602,636"),
        file_of(five, "1001,1061,1062,1063,1064", "100,106,106,106,106", "600,636,637,638,638"));

    assert_true(c.step.relative > 0.05 && c.best < 0.01);
    assert_false(runs_are_slower(&c, 0.025));
}

TEST(a_faster_part_is_no_slower_rest)
{
    struct run_changes c = runs_test_compare(
        file_of(five, "1000,1001,1002,1003,1004", "100,100,100,100,100", "600,600,601,602,602"),
        file_of(five, "900,901,902,903,904", "100,100,100,100,100", "500,500,501,502,502"));

    assert_false(runs_are_slower(&c, 0.025));
    assert_true(runs_are_faster(&c, 0.025));
    assert_false(runs_are_faster(&c, 0.2));
}

TEST(ranks_are_taken_apart)
{
    struct tree_error error;
    struct runs runs;

    runs_init(&runs, &arena);
    assert_true(runs_read(&runs, tree_read_json(&arena,
                                                S("{\"schema\":\"strata.baseline/1\",\"runs\":"
                                                  "[\"a\",\"b\",\"c\"],\"ranks\":[1,0,1],"
                                                  "\"figures\":[{\"name\":\"step\",\"ns\":[5,6,7]},"
                                                  "{\"name\":\"Add\",\"ns\":[0,3,0]}]}"),
                                                &error)));
    struct run_ranks ranks = runs_ranks(&runs);
    assert_int_equal(ranks.n, 2);
    assert_int_equal(ranks.at[1], 1);
    struct runs one = runs_of_rank(&runs, 1);
    assert_int_equal(one.names.n, 2);
    assert_int_equal(one.figures.n, 1); /* Add is of the other */
    assert_int_equal(one.figures.at[0].at[1], 7);
    runs_free(&one);
    runs_free(&runs);
}

TEST(runs_that_mix_are_noise)
{
    struct run_changes c =
        runs_test_compare(file_of(five, "1000,900,1100,950,1050", "1,1,1,1,1", "9,9,9,9,9"),
                          file_of(five, "1090,940,1200,1000,1080", "1,1,1,1,1", "9,9,9,9,9"));

    assert_true(c.step.relative > 0.03 && c.step.p > 0.05);
    assert_false(runs_are_slower(&c, 0.01));
}

TEST(one_run_is_judged_by_size_alone)
{
    struct run_changes c = runs_test_compare(file_of("\"a\"", "1000", "100", "600"),
                                             file_of("\"b\"", "1100", "100", "700"));

    assert_true(isnan(c.step.p));
    assert_true(runs_are_slower(&c, 0.05));
    assert_false(runs_are_slower(&c, 0.2));
}

TEST(a_new_kernel_has_no_ratio)
{
    struct run_changes c = runs_test_compare(
        file_of(five, "1000,1000,1000,1000,1000", "1,1,1,1,1", "0,0,0,0,0"),
        file_of(five, "1100,1100,1100,1100,1100", "1,1,1,1,1", "100,100,100,100,100"));

    assert_true(isnan(c.at[0].relative));
    assert_true(c.at[0].own > 0.09);
}

TEST_MAIN("analysis/compare/runs", TA(files_come_back), TA(other_files_are_rejected),
          TA(a_slower_kernel_is_found), TA(parts_that_grew_together_are_named_together),
          TA(kernels_that_grew_without_idle_time), TA(parts_that_are_slower_alike_count_by_size),
          TA(slow_clocks_of_some_runs_are_noise), TA(a_faster_part_is_no_slower_rest),
          TA(ranks_are_taken_apart), TA(runs_that_mix_are_noise),
          TA(one_run_is_judged_by_size_alone), TA(a_new_kernel_has_no_ratio))
