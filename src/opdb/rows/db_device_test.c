#include "opdb/rows/db_device.h"

#include "base/testing_folder.h"

#define HEAD  "Input Shapes,Average Duration(us)\n"
#define EMPTY HEAD "\"8,4\",0\n"
#define TIMED HEAD "\"8,4\",3.49\n"

static struct db_device found_in(const char *dir, const char *told)
{
    struct db_device db;

    assert_int_equal(db_device_find(&arena, dir, told, &db, &diag), ST_OK);
    return db;
}

static enum status admits(const char *dir, enum db_kind kind, const char *name)
{
    struct db_device db = found_in(dir, NULL);

    return db_device_admit(dir, &db, &(struct db_source){kind, str_of(name)}, &diag);
}

static const char *table_folder(const char *table)
{
    return arena_cstr(&arena, str_part(str_of(table), 0, str_of(table).n - strlen("/Add.csv")));
}

TEST(a_path_names_its_device)
{
    const char *a3 =
        table_folder(scratch_put("ATLAS_800_A3_752T_128G_DIE/vllm_ascend/v1/Add.csv", TIMED));
    const char *h200 = table_folder(scratch_put("NVIDIA_H200_141G/cuda/12.4/Add.csv", TIMED));

    assert_int_equal(found_in(a3, NULL).kind, DB_KIND_ASCEND);
    assert_string_equal(found_in(a3, NULL).source, "the path");
    assert_int_equal(admits(a3, DB_KIND_CPU, "Some CPU, 2 processors"), ST_UNSUPPORTED);
    assert_int_equal(admits(a3, DB_KIND_ASCEND, "Ascend910B1"), ST_UNSUPPORTED);
    assert_int_equal(admits(a3, DB_KIND_ASCEND, "Ascend910_9391"), ST_OK);
    assert_int_equal(admits(h200, DB_KIND_CUDA, "NVIDIA H200"), ST_OK);
    assert_int_equal(admits(h200, DB_KIND_CUDA, "NVIDIA H100 80GB HBM3"), ST_UNSUPPORTED);
    assert_int_equal(admits(h200, DB_KIND_CPU, ""), ST_UNSUPPORTED);
    assert_null(db_device_of_path("/home/t4x/tables"));
    assert_string_equal(db_device_of_path("examples/perfdb/h200")->name, "H200");
}

TEST(a_mapping_names_it_too_and_must_agree)
{
    const char *dir = table_folder(scratch_put("plain/Add.csv", TIMED));
    const char *h200 = table_folder(scratch_put("h200/Add.csv", TIMED));
    struct db_device db;

    scratch_put("plain/op_mapping.yaml", "device: TEST_DEVICE\n");
    scratch_put("h200/op_mapping.yaml", "device: TEST_DEVICE\n");
    assert_int_equal(found_in(dir, NULL).kind, DB_KIND_ASCEND);
    assert_int_equal(admits(dir, DB_KIND_CPU, "Some CPU, 2 processors"), ST_UNSUPPORTED);
    assert_int_equal(db_device_find(&arena, h200, NULL, &db, &diag), ST_UNSUPPORTED);
    assert_string_equal(diag.entries.at[diag.entries.n - 1].code, "perfdb.two-devices");
}

TEST(the_first_times_decide)
{
    const char *dir = table_folder(scratch_put("new/Add.csv", EMPTY));
    struct db_source cpu = {DB_KIND_CPU, S("Some CPU, 2 processors")};
    struct db_device db = found_in(dir, NULL);

    assert_int_equal(db.kind, DB_KIND_UNKNOWN);
    assert_int_equal(db_device_admit(dir, &db, &cpu, &diag), ST_OK);
    assert_int_equal(db_device_write(dir, &db, &cpu, &diag), ST_OK);
    scratch_put("new/Add.csv", TIMED);
    db = found_in(dir, NULL);
    assert_true(db.kind == DB_KIND_CPU && db.is_written && db.has_times);
    assert_int_equal(admits(dir, DB_KIND_CPU, "Some CPU, 2 processors"), ST_OK);
    assert_int_equal(admits(dir, DB_KIND_CPU, "Some CPU, 4 processors"), ST_UNSUPPORTED);
    assert_int_equal(admits(dir, DB_KIND_CUDA, "NVIDIA H200"), ST_UNSUPPORTED);
}

TEST(times_of_nobody_take_no_others)
{
    const char *dir = table_folder(scratch_put("plain/Add.csv", TIMED));
    struct db_source gpu = {DB_KIND_CUDA, S("NVIDIA H200")};
    struct db_device db = found_in(dir, NULL);

    assert_int_equal(db_device_admit(dir, &db, &gpu, &diag), ST_UNSUPPORTED);
    assert_string_equal(diag.entries.at[0].code, "perfdb.unnamed-device");
    db = found_in(dir, "NVIDIA_H200_141G");
    assert_int_equal(db_device_admit(dir, &db, &gpu, &diag), ST_OK);
    db = found_in(dir, "HOST_CPU"); /* of which processor? */
    assert_int_equal(db_device_admit(dir, &db,
                                     &(struct db_source){DB_KIND_CPU, S("Some CPU, 2 processors")},
                                     &diag),
                     ST_UNSUPPORTED);
}

TEST(boards_have_the_peaks_of_their_chips)
{
    assert_true(db_device_chip(S("ATLAS_800_A2_376T_64G"))->tflops[PEAK_FP16] == 376);
    assert_true(db_device_chip(S("ATLAS_800_A2_280T_64G_PCIE"))->tflops[PEAK_BF16] == 245.8);
    assert_null(db_device_chip(S("TEST_DEVICE")));
    assert_string_equal(db_device_chip(S("NVIDIA_H100_SXM"))->name, "H100 80GB HBM3");
    assert_string_equal(db_device_chip(S("H100_PCIE"))->name, "H100 PCIe");
    assert_null(db_device_chip(S("vllm0.18.0_torch2.9.0_cann8.5")));
}

TEST_MAIN("opdb/rows/db_device", TS(a_path_names_its_device),
          TS(a_mapping_names_it_too_and_must_agree), TS(the_first_times_decide),
          TS(times_of_nobody_take_no_others), TS(boards_have_the_peaks_of_their_chips))
