#include "gpu/collect/gpu_recorded.h"

#include <math.h>

#include "base/testing.h"
#include "base/testing_folder.h"
#include "input/gpu_trace_testing.h"

static struct made made;

/* Counters of a launch: the first of two metrics or the second; the other one has no value. */
static void put_counter(uint64_t site, uint64_t later, uint64_t number, int metric)
{
    double values[2] = {metric == 0 ? 10 : NAN, metric == 1 ? 20 : NAN};

    PUT(&made, TRACE_COUNTER, trace_zigzag((int64_t)later), 0, trace_zigzag((int64_t)number), site,
        1, 2);
    memcpy(made.bytes + made.n, values, sizeof(values));
    made.n += sizeof(values);
}

static void recorded_save(const char *name)
{
    FILE *f = fopen(scratch_path(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(made.bytes, 1, made.n, f), made.n);
    assert_int_equal(fclose(f), 0);
}

/* Launches at these times: alpha, beta, alpha. */
static void recorded_make(const char *name, const char *first, const char *second, uint64_t begin)
{
    made_begin(&made);
    block_begin(&made, 1, 1);
    put_string(&made, first);
    put_string(&made, second);
    put_string(&made, "sm__warps_active.avg");
    put_string(&made, "sm__cycles_elapsed.avg");
    put_kernel_site(&made, 0, 7, 1);
    put_kernel_site(&made, 0, 7, 2);
    PUT(&made, TRACE_METRICS, 2, 3, 4);
    put_counter(1, begin, 0, 0);
    put_counter(2, 10, 1, 0);
    put_counter(1, 10, 1, 1);
    block_end(&made);
    recorded_save(name);
}

TEST(the_last_counted_kernel_is_the_last_in_time)
{
    struct gpu_recorded r;

    recorded_make("trace-1.strata", "alpha", "beta", 1000);
    assert_int_equal(gpu_recorded_read(scratch, &arena, &r, &diag), ST_OK);
    assert_int_equal(r.counted.n, 2); /* both launches of alpha together */
    assert_str(r.counted.at[1].kernel.name, "beta");
    assert_str(r.last_counted, "alpha");
    gpu_recorded_free(&r);
}

TEST(processes_are_compared_by_time)
{
    struct gpu_recorded r;

    recorded_make("trace-1.strata", "late", "beta", 5000);
    recorded_make("trace-2.strata", "early", "beta", 1000);
    assert_int_equal(gpu_recorded_read(scratch, &arena, &r, &diag), ST_OK);
    assert_int_equal(r.files, 2);
    assert_str(r.last_counted, "late");
    gpu_recorded_free(&r);
}

TEST_MAIN("gpu/collect/gpu_recorded", TS(the_last_counted_kernel_is_the_last_in_time),
          TS(processes_are_compared_by_time))
