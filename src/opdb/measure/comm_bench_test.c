#include "opdb/measure/comm_bench.h"

#include <math.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/testing_folder.h"

static struct comm_bench bench;

static int bench_begin(void **state)
{
    comm_bench_init(&bench);
    bench.dtype = "DT_BF16";
    return enter(state);
}

static int bench_end(void **state)
{
    comm_bench_free(&bench);
    return leave(state);
}

#define TB(name) cmocka_unit_test_setup_teardown(name, bench_begin, bench_end)

static void bench_add(enum collective op, int64_t bytes, int64_t ranks, double us)
{
    double seconds[] = {us * 3e-6, us * 1e-6, us * 0.5e-6};

    comm_bench_add(&bench, &(struct comm_config){op, bytes, ranks, 0, 1}, seconds, 3);
}

TEST(a_row_is_the_median)
{
    bench_add(COMM_ALL_REDUCE, 1024, 4, 12.344);
    assert_true(bench.results.at[0].us == 12.34);
    assert_true(bench.results.at[0].gbps == 0.08);
    assert_true(bench.results.at[0].dispatch_us == 0);
    assert_int_equal(bench.results.at[0].calls, 3);
}

/* 7.7 us for 16 devices of the one device whose launches are known. */
TEST(the_time_of_the_launch_is_added_for_one_device)
{
    bench.device = COMM_CALIBRATED_DEVICE;
    bench_add(COMM_ALL_REDUCE, 1000000, 16, 92.3);
    assert_true(bench.results.at[0].us == 100.0);
    assert_true(bench.results.at[0].gbps == 10.0);
    assert_true(bench.results.at[0].dispatch_us == 7.7);
}

TEST(rows_are_appended_below_one_header)
{
    const char *path = scratch_path("hcom_allReduce_.csv");
    struct mapfile file;

    bench_add(COMM_ALL_REDUCE, 1024, 4, 10);
    bench_add(COMM_ALL_GATHER, 1024, 4, 10);
    assert_int_equal(comm_bench_append(&bench, 0, COMM_ALL_REDUCE, path, &diag), ST_OK);
    bench_add(COMM_ALL_REDUCE, 2048, 4, 20);
    assert_int_equal(comm_bench_append(&bench, 2, COMM_ALL_REDUCE, path, &diag), ST_OK);
    assert_int_equal(mapfile_open(&file, path, &diag), ST_OK);
    assert_str(file.text,
               "message_bytes,num_devices,dtype,topology_tier,Duration(us),bandwidth_gbps\r\n"
               "1024,4,DT_BF16,1,10.00,0.10\r\n"
               "2048,4,DT_BF16,1,20.00,0.10\r\n");
    mapfile_close(&file);
}

TEST(another_file_is_left_alone)
{
    scratch_put("other.csv", "a,b\n1,2\n");
    bench_add(COMM_ALL_REDUCE, 1024, 4, 10);
    assert_int_equal(
        comm_bench_append(&bench, 0, COMM_ALL_REDUCE, scratch_path("other.csv"), &diag), ST_FORMAT);
}

TEST(a_line_through_exact_rows_explains_all)
{
    for (int64_t bytes = 1000; bytes <= 1000000; bytes *= 10)
        bench_add(COMM_BROADCAST, bytes, 4, 5 + (double)bytes / 1000);
    comm_bench_fit(&bench);
    assert_int_equal(bench.model.fits.n, 1);
    assert_true(fabs(bench.model.fits.at[0].line.alpha_us - 5) < 1e-6);
    assert_true(fabs(bench.model.fits.at[0].line.beta_us - 1e-3) < 1e-9);
    assert_true(fabs(bench.model.fits.at[0].r2 - 1) < 1e-9);
}

TEST(types_have_three_names)
{
    const char *name;
    size_t which;

    assert_true(comm_bench_dtype(S("torch.bfloat16"), &name, &which));
    assert_string_equal(name, "DT_BF16");
    assert_true(comm_bench_dtype(S("fp32"), &name, &which));
    assert_string_equal(name, "DT_FLOAT");
    assert_false(comm_bench_dtype(S("fp8"), &name, &which));
}

TEST_MAIN("opdb/measure/comm_bench", TB(a_row_is_the_median),
          TB(the_time_of_the_launch_is_added_for_one_device),
          TB(rows_are_appended_below_one_header), TB(another_file_is_left_alone),
          TB(a_line_through_exact_rows_explains_all), TB(types_have_three_names))
