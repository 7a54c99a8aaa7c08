#include "opdb/rows/capture_rows.h"

#include "base/db_testing.h"
#include "base/testing_folder.h"
#include "opdb/rows/table.h"

static struct capture_rows_count capture_rows_parse(const char *path)
{
    const char *dir = scratch_path("db");
    struct capture_rows_count count;

    assert_int_equal(fs_mkdirs(dir, &diag), ST_OK);
    assert_int_equal(capture_rows(path, dir, false, &count, &diag), ST_OK);
    return count;
}

static const char *capture_rows_cell(const char *table, const char *column)
{
    struct op_table t;

    assert_int_equal(table_read(&t, scratch_path(table), &diag), ST_OK);
    assert_int_equal(t.n_rows, 1);
    const char *text = arena_cstr(&arena, table_cell(&t, 0, table_column(&t, str_of(column))));
    table_free(&t);
    return text;
}

static const char *put_bytes(const char *name, struct str bytes)
{
    const char *path = scratch_path(name);
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes.at, 1, bytes.n, f), bytes.n);
    fclose(f);
    return path;
}

/* Shapes are in the name of the range around the launch, the type in the name of the kernel. */
TEST(ranges_of_pytorch_have_shapes_in_nsys)
{
    struct str bytes = db_made(
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
        "INSERT INTO StringIds VALUES (1,'cudaLaunchKernel'),(2,'sm90_gemm_bf16_128'),"
        "(3,'aten::mm, op_id = 7, seq = 3, sizes = [[16, 64], [64, 32]], input_op_ids = [(1,0)]');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId,"
        "globalPid, demangledName, shortName);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100000,112000,0,7,101,33554432,2,2);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50000,60000,33554437,101,1);"
        "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid);"
        "INSERT INTO NVTX_EVENTS VALUES (40000,70000,59,NULL,3,33554437);");
    struct capture_rows_count count = capture_rows_parse(put_bytes("run.sqlite", bytes));

    free((void *)(uintptr_t)bytes.at);
    assert_int_equal(count.kernels, 1);
    assert_int_equal(count.placed, 1);
    assert_string_equal(capture_rows_cell("db/MatMulV2.csv", "Input Shapes"), "\"16,64;64,32\"");
    assert_string_equal(capture_rows_cell("db/MatMulV2.csv", "Input Data Types"),
                        "DT_BF16;DT_BF16");
    assert_string_equal(capture_rows_cell("db/MatMulV2.csv", "Profiling Average Duration(us)"),
                        "12.000000");
}

/* Tables and small files of one folder describe the same kernels: they count once. */
TEST(files_of_a_rank_are_one_capture)
{
    scratch_put("run/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
                "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
                "Block Dim\n0,aclnnMatmul_MatMulCommon_MatMulV2,N/A,N/A,50.000\t,8.000,0.0,0\n");
    scratch_put("run/rank0_ascend_pt/profiler_info_0.json", "{}");
    struct capture_rows_count count = capture_rows_parse(scratch_path("run"));

    assert_int_equal(count.captures, 1);
    assert_int_equal(count.kernels, 1);
    assert_int_equal(count.placed, 0); /* nothing here has its shapes */
    count = capture_rows_parse(scratch_path("run/rank0_ascend_pt"));
    assert_int_equal(count.captures, 1);
}

TEST_MAIN("opdb/rows/capture_rows", TS(ranges_of_pytorch_have_shapes_in_nsys),
          TS(files_of_a_rank_are_one_capture))
