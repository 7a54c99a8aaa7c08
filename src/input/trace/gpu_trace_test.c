#include "input/trace/gpu_trace.h"

#include "base/testing.h"
#include "input/gpu_trace_testing.h"

static struct made made;
static struct diag diag;
static struct gpu_trace trace;

static enum status open_made(void)
{
    diag_fini(&diag);
    diag_init(&diag);
    return gpu_trace_open(&trace, "t", (struct str){(const char *)made.bytes, made.n}, false,
                          &diag);
}

static void count_event(void *ctx, const struct gpu_trace_event *e)
{
    ((int64_t *)ctx)[0]++;
    ((int64_t *)ctx)[1] = e->start;
    ((int64_t *)ctx)[2] = e->correlation;
}

TEST(differences_add_up_within_a_block)
{
    int64_t seen[3] = {0};

    made_begin(&made);
    block_begin(&made, 1, 1);
    put_string(&made, "k");
    put_kernel_site(&made, 0, 7, 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(1000), 5, trace_zigzag(3), 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(-200), 5, trace_zigzag(1), 1);
    block_end(&made);
    assert_int_equal(open_made(), ST_OK);
    gpu_trace_walk(&trace, &(struct gpu_trace_sink){.ctx = seen, .event = count_event});
    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 800);
    assert_int_equal(seen[2], 4);
    assert_int_equal(trace.process, 42);
    assert_int_equal(gpu_trace_field(&trace, 1, PLACE_STREAM), 7);
    assert_int_equal(gpu_trace_field(&trace, 1, KERNEL_CHANNEL), 0);
    assert_int_equal(gpu_trace_field(&trace, 99, PLACE_STREAM), 0);
    assert_int_equal(diag_count(&diag, "strata-trace.no-end"), 1);
    gpu_trace_close(&trace);
}

/* Three blocks; the middle one has a wrong byte. Numbers of the third go on behind the second. */
TEST(a_lost_block_costs_only_itself)
{
    int64_t seen[3] = {0};

    made_begin(&made);
    block_begin(&made, 1, 1);
    put_string(&made, "first");
    put_kernel_site(&made, 0, 7, 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(10), 5, 0, 1);
    block_end(&made);
    block_begin(&made, 2, 2);
    put_string(&made, "second");
    put_kernel_site(&made, 0, 7, 2);
    PUT(&made, TRACE_KERNEL, trace_zigzag(20), 5, 0, 2);
    block_end(&made);
    made.bytes[made.n - 1] ^= 1;
    block_begin(&made, 3, 3);
    put_string(&made, "third");
    put_kernel_site(&made, 0, 9, 3);
    PUT(&made, TRACE_KERNEL, trace_zigzag(30), 5, 0, 3);
    PUT(&made, TRACE_END, 3, 0, 0);
    block_end(&made);
    assert_int_equal(open_made(), ST_OK);
    gpu_trace_walk(&trace, &(struct gpu_trace_sink){.ctx = seen, .event = count_event});
    assert_int_equal(seen[0], 2);
    assert_int_equal(trace.lost, 3);
    assert_int_equal(trace.bad_blocks, 1);
    assert_true(trace.has_end);
    assert_true(str_equal(gpu_trace_string(&trace, 3), S("third")));
    assert_true(str_equal(gpu_trace_string(&trace, 2), S("")));
    assert_int_equal(gpu_trace_kind(&trace, 2), 0);
    assert_int_equal(gpu_trace_field(&trace, 3, PLACE_STREAM), 9);
    assert_int_equal(diag_count(&diag, "strata-trace.damaged-block"), 1);
    gpu_trace_close(&trace);
}

/* The second of three blocks brings neither texts nor sites. */
TEST(sites_are_found_without_the_records)
{
    made_begin(&made);
    block_begin(&made, 1, 1);
    put_string(&made, "first");
    put_kernel_site(&made, 0, 7, 1);
    PUT(&made, TRACE_KERNEL, trace_zigzag(10), 5, 0, 1);
    block_end(&made);
    block_begin(&made, 2, 2);
    PUT(&made, TRACE_KERNEL, trace_zigzag(20), 5, 0, 1);
    block_end(&made);
    block_begin(&made, 2, 2);
    put_string(&made, "second");
    put_kernel_site(&made, 3, 9, 2);
    PUT(&made, TRACE_END, 3, 0, 0);
    block_end(&made);
    struct str text = {(const char *)made.bytes, made.n};
    assert_int_equal(gpu_trace_open(&trace, "t", text, true, &diag), ST_OK);
    assert_int_equal(trace.records, 1);
    assert_int_equal(trace.sites.n, 3);
    assert_int_equal(gpu_trace_field(&trace, 2, PLACE_DEVICE), 3);
    assert_true(str_equal(gpu_trace_string(&trace, 2), S("second")));
    gpu_trace_close(&trace);
    assert_int_equal(open_made(), ST_OK);
    assert_int_equal(trace.records, 2);
    assert_int_equal(trace.sites.n, 3);
    gpu_trace_close(&trace);
}

TEST(a_head_that_lies_is_damage)
{
    made_begin(&made);
    block_begin(&made, 4000000000u, 1); /* texts that no lost bytes can have held */
    put_string(&made, "x");
    block_end(&made);
    assert_int_equal(open_made(), ST_OK);
    assert_int_equal(trace.bad_blocks, 1);
    assert_int_equal(trace.strings.n, 1);
    gpu_trace_close(&trace);
}

/* Every one of these ends inside a record or has a number that cannot be. */
TEST(records_that_cannot_be_are_damage)
{
    static const uint8_t wrong[][6] = {
        {TRACE_STRING, 200},
        {TRACE_SITE, 0, 0},
        {TRACE_SITE, 1, 33},
        {TRACE_SITE, 1, 2, 1},
        {TRACE_KERNEL, 1, 1},
        {TRACE_CALL | TRACE_WITH_GRAPH, 1, 1, 1, 1},
        {TRACE_COUNTER, 1, 1, 1, 1, 1},
        {TRACE_METRICS, 65},
        {TRACE_NOTE, 1},
        {0, 1, 1},
        {15, 1, 1},
        {63, 1, 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        made_begin(&made);
        block_begin(&made, 1, 1);
        memcpy(made.bytes + made.n, wrong[i], sizeof(wrong[i]));
        made.n += wrong[i][0] == TRACE_SITE && wrong[i][2] == 2 ? 4 : 3;
        if (wrong[i][0] >= TRACE_CALL)
            made.n += 2;
        block_end(&made);
        assert_int_equal(open_made(), ST_OK);
        assert_int_equal(trace.bad_blocks, 1);
        gpu_trace_close(&trace);
    }
}

TEST(other_files_are_refused)
{
    made_begin(&made);
    made.bytes[0] = 'X';
    assert_int_equal(open_made(), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "strata-trace.no-head"), 1);
    gpu_trace_close(&trace);
    made_begin(&made);
    made.bytes[8] = 2;
    assert_int_equal(open_made(), ST_UNSUPPORTED);
    gpu_trace_close(&trace);
    made.n = 5;
    assert_int_equal(open_made(), ST_FORMAT);
    gpu_trace_close(&trace);
    diag_fini(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(differences_add_up_within_a_block),   T(a_lost_block_costs_only_itself),
        T(sites_are_found_without_the_records), T(a_head_that_lies_is_damage),
        T(records_that_cannot_be_are_damage),   T(other_files_are_refused),
    };

    diag_init(&diag);
    return cmocka_run_group_tests_name("input/trace/gpu_trace", tests, NULL, NULL);
}
