/* What a trace holds besides its timeline: facts, notes, kernels seen, runs and counters. */
#include <math.h>

#include "base/testing.h"
#include "base/testing_folder.h"
#include "input/gpu_trace_testing.h"
#include "input/trace/gpu_trace.h"

static struct made made;

enum { ALPHA = 1, MODE, EVENT, CHIP, GH100, ODD, METRIC, CODE, WHY, RANGE };

/* Texts are numbered from 1, in this order. */
static void results_begin(void)
{
    static const char *const texts[] = {
        "alpha", "mode",       "event",        "chip", "GH100",
        "odd",   "sm__cycles", "not-replayed", "why",  "the inner range"};

    made_begin(&made);
    block_begin(&made, 1, 1);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        put_string(&made, texts[i]);
    put_kernel_site(&made, 0, 7, ALPHA);
}

static const char *trace_results_save(void)
{
    const char *path = scratch_path("trace-1.strata");
    FILE *f = fopen(path, "w");

    block_end(&made);
    assert_non_null(f);
    assert_int_equal(fwrite(made.bytes, 1, made.n, f), made.n);
    assert_int_equal(fclose(f), 0);
    return path;
}

TEST(facts_notes_and_kernels_seen_are_gathered)
{
    struct gpu_trace_results r;

    results_begin();
    PUT(&made, TRACE_INFO, MODE, EVENT);
    PUT(&made, TRACE_INFO, CHIP, GH100);
    PUT(&made, TRACE_INFO, ODD, WHY); /* a key that nobody asks for */
    PUT(&made, TRACE_NOTE, CODE, trace_zigzag(-3), WHY);
    PUT(&made, TRACE_SEEN, ALPHA, 12, 5);
    assert_int_equal(gpu_trace_results_read(trace_results_save(), &arena, &diag, &r), ST_OK);
    assert_string_equal(r.mode, "event");
    assert_string_equal(r.chip, "GH100");
    assert_string_equal(r.host, "");
    assert_int_equal(r.n_notes, 1);
    assert_string_equal(r.notes[0].code, "not-replayed");
    assert_string_equal(r.notes[0].text, "why");
    assert_int_equal(r.notes[0].result, -3);
    assert_int_equal(r.n_seen, 1);
    assert_string_equal(r.seen[0].name, "alpha");
    assert_int_equal(r.seen[0].launches, 12);
    assert_int_equal(r.seen[0].measured, 5);
}

TEST(runs_have_their_kernel_and_their_range)
{
    struct gpu_trace_results r;

    results_begin();
    PUT(&made, TRACE_RUN, trace_zigzag(1000), 250, trace_zigzag(0), 1, 3, RANGE);
    PUT(&made, TRACE_RUN, trace_zigzag(500), 240, trace_zigzag(1), 1, 3, RANGE);
    assert_int_equal(gpu_trace_results_read(trace_results_save(), &arena, &diag, &r), ST_OK);
    assert_int_equal(r.n_runs, 2);
    assert_string_equal(r.runs[0].name, "alpha");
    assert_string_equal(r.runs[0].range, "the inner range");
    assert_int_equal(r.runs[0].at, 1000);
    assert_int_equal(r.runs[0].duration_ns, 250);
    assert_int_equal(r.runs[1].number, 1);
    assert_int_equal(r.runs[1].launches, 3);
    assert_ptr_equal(r.runs[0].launch, r.runs[1].launch); /* one site, one launch */
}

TEST(the_first_list_of_metrics_holds_and_missing_values_are_unknown)
{
    struct gpu_trace_results r;
    double value = 42;

    results_begin();
    PUT(&made, TRACE_METRICS, 2, METRIC, ODD);
    PUT(&made, TRACE_METRICS, 1, WHY);
    PUT(&made, TRACE_COUNTER, trace_zigzag(10), 0, trace_zigzag(4), 1, 2, 1);
    memcpy(made.bytes + made.n, &value, sizeof(value));
    made.n += sizeof(value);
    assert_int_equal(gpu_trace_results_read(trace_results_save(), &arena, &diag, &r), ST_OK);
    assert_int_equal(r.n_metrics, 2);
    assert_string_equal(r.metrics[0], "sm__cycles");
    assert_int_equal(r.n_counters, 1);
    assert_int_equal(r.counters[0].number, 4);
    assert_int_equal(r.counters[0].passes, 2);
    assert_true(r.counters[0].values[0] == 42);
    assert_true(isnan(r.counters[0].values[1]));
}

TEST(a_trace_that_is_not_there_is_an_error)
{
    struct gpu_trace_results r;

    assert_int_equal(gpu_trace_results_read(scratch_path("none"), &arena, &diag, &r), ST_NOT_FOUND);
    assert_string_equal(r.mode, "");
}

TEST_MAIN("input/trace/gpu_trace_results", TS(facts_notes_and_kernels_seen_are_gathered),
          TS(runs_have_their_kernel_and_their_range),
          TS(the_first_list_of_metrics_holds_and_missing_values_are_unknown),
          TS(a_trace_that_is_not_there_is_an_error))
