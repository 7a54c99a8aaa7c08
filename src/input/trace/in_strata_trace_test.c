#include "base/testing.h"
#include "capture/capture.h"
#include "input/gpu_trace_testing.h"
#include "input/input.h"

static struct made made;
static struct diag diag;

/* The sealed capture of what was made. */
static struct capture *import(int64_t device)
{
    struct input_options options = input_defaults();
    struct capture *cap = capture_new();

    diag_fini(&diag);
    diag_init(&diag);
    options.device = device;
    struct input_file in = {.path = "trace-42.strata",
                            .text = {(const char *)made.bytes, made.n},
                            .diag = &diag,
                            .options = &options};
    assert_int_equal(input_read(&input_strata_trace, &in, cap), ST_OK);
    capture_seal(cap);
    return cap;
}

static void trace_begin(void)
{
    made_begin(&made);
    block_begin(&made, 1, 1);
}

static void strata_trace_end(void)
{
    PUT(&made, TRACE_END, 0, 0, 0);
    block_end(&made);
}

/* Runtime and driver call of one launch both carry its correlation. */
TEST(an_arrow_starts_at_the_runtime_call)
{
    trace_begin();
    put_string(&made, "_Z4gemmv");
    put_string(&made, "cuLaunchKernel");
    put_string(&made, "cudaLaunchKernel_v7000");
    put_kernel_site(&made, 0, 7, 1);
    PUT(&made, TRACE_SITE, TRACE_SITE_CALL, 4, 1, 307, 77, 2);
    PUT(&made, TRACE_SITE, TRACE_SITE_CALL, 4, 2, 211, 77, 3);
    PUT(&made, TRACE_CALL, trace_zigzag(110), 20, trace_zigzag(9), 2, 0);
    PUT(&made, TRACE_CALL, trace_zigzag(-10), 50, 0, 3, 0);
    PUT(&made, TRACE_KERNEL, trace_zigzag(200), 30, trace_zigzag(9), 1);
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_int_equal(cap->slices.n, 3);
    assert_int_equal(cap->flows.n, 1);
    size_t from = cap->flows.at[0].from, to = cap->flows.at[0].to;
    assert_true(str_equal(capture_text(cap, cap->slices.name[from]), S("cudaLaunchKernel")));
    assert_int_equal(cap->slices.kind[to], SLICE_COMPUTE);
    assert_int_equal(cap->slices.begin[to], 200);
    strid grid = capture_intern(cap, S("grid"));
    struct attr shape = attrs_get(&cap->attrs, cap->slices.set[to], grid);
    assert_true(str_equal(capture_text(cap, shape.text), S("64,1,1")));
    capture_free(cap);
}

static void put_clocks(int64_t real, int64_t mono, int64_t raw)
{
    PUT(&made, TRACE_CLOCK, trace_zigzag(real), trace_zigzag(mono), trace_zigzag(raw),
        trace_zigzag(real), 100);
}

TEST(times_of_the_monotonic_clock_are_mapped_to_the_time_of_day)
{
    trace_begin();
    put_string(&made, "clock");
    put_string(&made, "mono");
    put_clocks(5000000000, 70, 3000);
    PUT(&made, TRACE_INFO, 1, 2);
    put_clocks(9000000000, 71, 3001); /* set meanwhile: of no interest to this clock */
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_true(cap->clock.has_unix);
    assert_int_equal(cap->clock.to_unix, 5000000000 - 3000);
    assert_int_equal(diag.entries.n, 0);
    capture_free(cap);
}

TEST(a_clock_that_was_set_is_told)
{
    static const struct {
        int64_t real; /* ns that passed on it, while ten seconds passed */
        bool is_told;
    } cases[] = {{10000000000, false}, {10005000000, false}, {10050000000, true}, {-5, true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        trace_begin();
        put_clocks(1000000000000, 70, 3000);
        put_clocks(1000000000000 + cases[i].real, 70 + 10000000000, 10000003000);
        strata_trace_end();
        struct capture *cap = import(-1);
        assert_int_equal(cap->clock.to_unix, 0);
        assert_int_equal(diag.entries.n, cases[i].is_told ? 1 : 0);
        if (cases[i].is_told)
            assert_string_equal(diag.entries.at[0].code, "strata-trace.clock-set");
        capture_free(cap);
    }
}

TEST(one_device_is_read_at_a_time)
{
    trace_begin();
    put_string(&made, "k");
    put_kernel_site(&made, 3, 7, 1);
    put_kernel_site(&made, 1, 8, 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(200), 30, trace_zigzag(1), 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(10), 30, trace_zigzag(1), 2);
    PUT(&made, TRACE_KERNEL, trace_zigzag(10), 30, trace_zigzag(1), 2);
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->facts.device, 1);
    assert_int_equal(diag_count(&diag, "strata-trace.several-devices"), 1);
    capture_free(cap);
    cap = import(3);
    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(diag_count(&diag, "strata-trace.several-devices"), 0);
    capture_free(cap);
    int64_t list[4];
    struct input_file in = {.path = "t", .text = {(const char *)made.bytes, made.n}, .diag = &diag};
    assert_int_equal(input_strata_trace.devices(&in, list, 4), 2);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 3);
}

/* Not collected, end before begin, longer than a week: dropped and counted; a site that was in a
 * lost block too. */
TEST(records_without_good_times_are_losses)
{
    trace_begin();
    put_string(&made, "k");
    put_kernel_site(&made, 0, 7, 1);
    PUT(&made, TRACE_KERNEL, 0, 0, 0, 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(100), (uint64_t)-5, 0, 1);
    PUT(&made, TRACE_KERNEL, 0, UINT64_C(8) * 86400 * 1000000000, 0, 1);
    PUT(&made, TRACE_KERNEL, 0, 5, 0, 55);
    PUT(&made, TRACE_KERNEL, 0, 5, 0, 1);
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(cap->sources.at[0].lost, 4);
    assert_int_equal(diag_count(&diag, "strata-trace.no-site"), 1);
    assert_int_equal(diag_count(&diag, "strata-trace.no-time"), 1);
    assert_int_equal(diag_count(&diag, "strata-trace.bad-duration"), 2);
    capture_free(cap);
}

TEST(a_record_with_the_site_of_another_kind_is_a_loss)
{
    trace_begin();
    put_string(&made, "k");
    PUT(&made, TRACE_SITE, TRACE_SITE_MARK, 4, 2, 77, 1, 0);
    PUT(&made, TRACE_KERNEL, trace_zigzag(100), 5, 0, 1);
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_int_equal(cap->slices.n, 0);
    assert_int_equal(cap->sources.at[0].lost, 1);
    capture_free(cap);
}

/* Range 5 begins in front of 6 and ends behind it; 7 never ends; 8 is a moment. */
TEST(ranges_are_paired_by_their_numbers)
{
    trace_begin();
    put_string(&made, "outer");
    put_string(&made, "step 3");
    PUT(&made, TRACE_SITE, TRACE_SITE_MARK, 4, 2, 77, 1, 0);
    PUT(&made, TRACE_SITE, TRACE_SITE_MARK, 4, 2, 77, 2, 0);
    PUT(&made, TRACE_SITE, TRACE_SITE_MARK, 4, 4, 77, 0, 0);
    PUT(&made, TRACE_SITE, TRACE_SITE_MARK, 4, 1, 77, 1, 0);
    PUT(&made, TRACE_MARK, trace_zigzag(100), 0, trace_zigzag(5), 1);
    PUT(&made, TRACE_MARK, trace_zigzag(10), 0, trace_zigzag(1), 2);
    PUT(&made, TRACE_MARK, trace_zigzag(10), 0, trace_zigzag(0), 3);
    PUT(&made, TRACE_MARK, trace_zigzag(10), 0, trace_zigzag(-1), 3);
    PUT(&made, TRACE_MARK, trace_zigzag(10), 0, trace_zigzag(2), 1);
    PUT(&made, TRACE_MARK, trace_zigzag(60), 0, trace_zigzag(1), 4);
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_int_equal(cap->slices.n, 4);
    const nanos begins[] = {100, 110, 140, 200}, durations[] = {30, 10, 60, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(cap->slices.begin[i], begins[i]);
        assert_int_equal(cap->slices.dur[i], durations[i]);
    }
    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->marks.at[0].number, 3);
    assert_int_equal(diag_count(&diag, "strata-trace.open-range"), 1);
    capture_free(cap);
}

/* Correlation 2 has nodes and a row of the whole graph, 3 the row alone. */
TEST(whole_graphs_count_where_their_nodes_are_missing)
{
    trace_begin();
    put_string(&made, "node");
    put_kernel_site(&made, 0, 7, 1);
    PUT(&made, TRACE_SITE, TRACE_SITE_PLACE, 3, 0, 1, 7);
    PUT(&made, TRACE_KERNEL | TRACE_WITH_GRAPH, trace_zigzag(100), 10, trace_zigzag(2), 1, 4, 9);
    PUT(&made, TRACE_GRAPH, trace_zigzag(100), 10, trace_zigzag(2), 2, 4);
    PUT(&made, TRACE_GRAPH, trace_zigzag(100), 40, trace_zigzag(1), 2, 4);
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_int_equal(cap->slices.n, 2);
    assert_true(str_equal(capture_text(cap, cap->slices.name[1]), S("CUDA graph 4")));
    assert_int_equal(cap->slices.begin[1], 200);
    assert_int_equal(diag_count(&diag, "strata-trace.graph-level"), 1);
    capture_free(cap);
}

/* Correlations far apart need another table; both give arrows. */
TEST(odd_correlations_have_arrows_too)
{
    trace_begin();
    put_string(&made, "k");
    put_kernel_site(&made, 0, 7, 1);
    PUT(&made, TRACE_SITE, TRACE_SITE_CALL, 4, 2, 211, 77, 1);
    PUT(&made, TRACE_CALL, trace_zigzag(100), 5, trace_zigzag(UINT32_MAX), 2, 0);
    PUT(&made, TRACE_KERNEL, trace_zigzag(200), 5, trace_zigzag(UINT32_MAX), 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(10), 5, trace_zigzag(5), 1); /* beyond 32 bits */
    strata_trace_end();
    struct capture *cap = import(-1);
    assert_int_equal(cap->slices.n, 3);
    assert_int_equal(cap->flows.n, 1);
    capture_free(cap);
    diag_fini(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_arrow_starts_at_the_runtime_call),
        T(times_of_the_monotonic_clock_are_mapped_to_the_time_of_day),
        T(a_clock_that_was_set_is_told),
        T(one_device_is_read_at_a_time),
        T(records_without_good_times_are_losses),
        T(a_record_with_the_site_of_another_kind_is_a_loss),
        T(ranges_are_paired_by_their_numbers),
        T(whole_graphs_count_where_their_nodes_are_missing),
        T(odd_correlations_have_arrows_too),
    };

    diag_init(&diag);
    return cmocka_run_group_tests_name("input/trace/in_strata_trace", tests, NULL, NULL);
}
