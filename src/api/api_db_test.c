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

static struct strata_db_answer ask(struct strata_db *db, int m)
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
    struct strata_db_answer a = ask(db, 20);
    assert_string_equal(a.source, "MEASURED");
    assert_true(a.us == 20);
    a = ask(db, 21);
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

static void *ask_many(void *db)
{
    for (int i = 1; i < 500; i++)
        if (!(ask(db, 1 + i % 128).us > 0))
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
    strata_db_close(NULL);
}

TEST_MAIN("api/api_db", TS(rows_and_values_between_them_are_answered), TS(threads_share_a_handle),
          TS(a_folder_that_is_not_there_is_told))
