#include "input/nsys/nsys_gpu.h"

#include <sqlite3.h>

#include "base/testing_folder.h"

static const char *export(const char *sql)
{
    const char *path = fs_join(&arena, scratch, "run.sqlite");
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    return path;
}

TEST(a_gpu_is_found_by_its_name)
{
    struct nsys_gpu gpu = {0};
    const char *path =
        export("CREATE TABLE TARGET_INFO_GPU(id, name, smCount, memoryBandwidth, clockRate, "
               "computeMajor, computeMinor, totalMemory);"
               "INSERT INTO TARGET_INFO_GPU VALUES(0,'one',10,1000,1500000000,8,9,7),"
               "(1,'NVIDIA Next',200,9000000000000,2000000000,12,1,8);");

    assert_true(nsys_gpu_read(path, S("NVIDIA Next"), &gpu));
    assert_true(gpu.sms == 200 && gpu.bytes_per_second == 9000000000000 && gpu.major == 12);
    assert_true(gpu.minor == 1 && gpu.clock_hz == 2000000000 && gpu.l2_bytes == 0);
    assert_true(nsys_gpu_read(path, S(""), &gpu) && gpu.sms == 10);
    assert_false(nsys_gpu_read(path, S("another"), &gpu));
}

TEST(other_files_tell_nothing)
{
    struct nsys_gpu gpu;

    scratch_put("a.csv", "Name\n1\n");
    assert_false(nsys_gpu_read(fs_join(&arena, scratch, "a.csv"), S(""), &gpu));
    assert_false(nsys_gpu_read(fs_join(&arena, scratch, "nowhere"), S(""), &gpu));
    assert_false(nsys_gpu_read(export("CREATE TABLE a(b);"), S(""), &gpu));
}

TEST_MAIN("input/nsys/nsys_gpu", TS(a_gpu_is_found_by_its_name), TS(other_files_tell_nothing))
