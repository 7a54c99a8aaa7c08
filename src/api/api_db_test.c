#include <pthread.h>
#include <stdio.h>

#include "base/testing_folder.h"
#include "strata/strata.h"

static void make_table(void)
{
    FILE *f = fopen(scratch_path("MatMulV2.csv"), "w");

    assert_non_null(f);
    fputs("Input Shapes,Input Data Types,Input Formats,Average Duration(us)\n", f);
    for (int m = 1; m <= 64; m++)
        fprintf(f, "\"%d,512;512,256\",DT_BF16;DT_BF16,ND;ND,%d\n", 2 * m, 10 + m);
    fclose(f);
}

static struct strata_db_answer db_ask(struct strata_db *db, int m)
{
    struct strata_db_answer a;
    char shapes[64];

    snprintf(shapes, sizeof(shapes), "%d,512;512,256", m);
    struct strata_db_question q = {.kernel = "MatMulV2", .shapes = shapes, .dtypes = "bf16"};
    assert_int_equal(strata_db_query(db, &q, &a), STRATA_OK);
    return a;
}

TEST(rows_and_values_between_them_are_answered)
{
    struct strata_db *db;

    make_table();
    assert_int_equal(strata_db_open(scratch_path("."), &db), STRATA_OK);
    struct strata_db_answer a = db_ask(db, 20);
    assert_string_equal(a.source, "MEASURED");
    assert_true(a.us == 20);
    a = db_ask(db, 21);
    assert_string_equal(a.source, "INTERPOLATED");
    assert_true(a.us > 19 && a.us < 22 && a.low_us < a.us && a.us < a.high_us);
    struct strata_db_question q = {.kernel = "Nothing", .shapes = "1", .dtypes = "bf16"};
    assert_int_equal(strata_db_query(db, &q, &a), STRATA_OK);
    assert_string_equal(a.miss, "csv_not_found");
    q = (struct strata_db_question){.kernel = "MatMulV2", .shapes = "1,x", .dtypes = "bf16"};
    assert_int_equal(strata_db_query(db, &q, &a), STRATA_OK);
    assert_string_equal(a.miss, "invalid_args");
    strata_db_close(db);
}

static struct strata_db_answer asked(struct strata_db *db, struct strata_db_question q)
{
    struct strata_db_answer a;

    assert_int_equal(strata_db_query(db, &q, &a), STRATA_OK);
    return a;
}

#define ASKED(db, ...) asked(db, (struct strata_db_question){__VA_ARGS__})

TEST(operators_of_a_framework_and_collectives_are_answered)
{
    struct strata_db *db;

    make_table();
    scratch_put("hcom_allReduce_.csv", "message_bytes,num_devices,Average Duration(us)\n"
                                       "1024,8,20\n2048,8,22\n4096,8,26\n8192,8,34\n");
    scratch_put("op_mapping.yaml",
                "operator_mappings:\n"
                "  aten.mm.default: {kernel_type: Absent, alternate_kernel_types: [MatMulV2]}\n"
                "  aten.view.default: {zero_cost: true}\n"
                "  both: {composite: true, sub_kernels: [MatMulV2, hcom_allReduce_]}\n"
                "  half: {composite: true, sub_kernels: [MatMulV2, Absent]}\n");
    assert_int_equal(strata_db_open(scratch, &db), STRATA_OK);
    struct strata_db_answer a =
        ASKED(db, .op_name = "aten.mm.default", .shapes = "20,512;512,256", .dtypes = "bf16");
    assert_true(a.us == 20 && strcmp(a.source, "MEASURED") == 0);
    a = ASKED(db, .comm = "all_reduce", .bytes = 2048, .num_devices = 8);
    assert_true(a.us == 22 && strcmp(a.source, "MEASURED") == 0);
    a = ASKED(db, .comm = "all_reduce", .bytes = 3000, .num_devices = 8);
    assert_true(a.us > 21 && a.us < 27 && strcmp(a.source, "INTERPOLATED") == 0);
    a = ASKED(db, .op_name = "both", .shapes = "20,512;512,256", .dtypes = "bf16", .bytes = 2048,
              .num_devices = 8);
    assert_true(a.us == 42 && strcmp(a.source, "MEASURED") == 0);
    a = ASKED(db, .op_name = "half", .shapes = "20,512;512,256", .dtypes = "bf16");
    assert_true(a.us == 20 && strcmp(a.source, "PARTIAL") == 0);
    a = ASKED(db, .op_name = "torch.ops.aten.view.default");
    assert_true(a.us == 0 && a.miss == NULL);
    assert_string_equal(ASKED(db, .op_name = "aten.none").miss, "unmapped");
    assert_string_equal(ASKED(db, .comm = "all_reduce", .bytes = 2048).miss, "invalid_args");
    assert_string_equal(ASKED(db, .comm = "gossip", .bytes = 1, .num_devices = 2).miss,
                        "invalid_args");
    assert_string_equal(ASKED(db, .kernel = "MatMulV2", .comm = "all_reduce").miss, "invalid_args");
    assert_int_equal(strata_db_query(db, &(struct strata_db_question){0}, &a), STRATA_USAGE);
    strata_db_close(db);
}

/* A product of 2 x 4096^3 operations takes at least 137 us at 1 PFLOP/s. */
TEST(without_rows_the_roof_of_the_device_answers)
{
    struct strata_db *db;

    scratch_put("NVIDIA_H200_141G/none.txt", "");
    assert_int_equal(strata_db_open(scratch_path("NVIDIA_H200_141G"), &db), STRATA_OK);
    struct strata_db_answer a =
        ASKED(db, .kernel = "MatMulV2", .shapes = "4096,4096;4096,4096", .dtypes = "bf16");
    assert_string_equal(a.source, "ANALYTIC");
    assert_true(a.low_us > 100 && a.low_us < a.us && a.us < a.high_us && a.high_us < 1000);
    a = ASKED(db, .kernel = "MatMulV2", .shapes = "4096,4096;4096,4096", .dtypes = "double");
    assert_true(a.low_us > 1000);
    a = ASKED(db, .kernel = "Nothing", .shapes = "4096,4096", .dtypes = "bf16");
    assert_string_equal(a.miss, "csv_not_found");
    a = ASKED(db, .kernel = "SwiGlu", .shapes = "4096,4096", .dtypes = "int64");
    assert_string_equal(a.source, "ANALYTIC");
    static const char *const types[] = {"none", NULL, "int64"}; /* without a rate or a size */
    for (size_t i = 0; i < 3; i++) {
        a = ASKED(db, .kernel = "MatMulV2", .shapes = "4096,4096;4096,4096", .dtypes = types[i]);
        assert_non_null(a.miss);
    }
    strata_db_close(db);
}

static void *ask_many(void *db)
{
    for (int i = 1; i < 500; i++)
        if (!(db_ask(db, 1 + i % 128).us > 0))
            return db;
    return NULL;
}

TEST(threads_share_a_handle)
{
    struct strata_db *db;
    pthread_t threads[4];
    void *failed;

    make_table();
    assert_int_equal(strata_db_open(scratch_path("."), &db), STRATA_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_many, db), 0);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    strata_db_close(db);
}

TEST(a_folder_that_is_not_there_is_told)
{
    struct strata_db *db;

    assert_int_equal(strata_db_open(scratch_path("none"), &db), STRATA_NOT_FOUND);
    assert_non_null(strstr(strata_db_error(db), "not found"));
    strata_db_close(db);
    assert_int_equal(strata_db_open(NULL, &db), STRATA_USAGE);
    assert_non_null(strstr(strata_db_error(db), "dir is NULL"));
    strata_db_close(db);
    strata_db_close(NULL);
}

TEST_MAIN("api/api_db", TS(rows_and_values_between_them_are_answered),
          TS(operators_of_a_framework_and_collectives_are_answered),
          TS(without_rows_the_roof_of_the_device_answers), TS(threads_share_a_handle),
          TS(a_folder_that_is_not_there_is_told))
