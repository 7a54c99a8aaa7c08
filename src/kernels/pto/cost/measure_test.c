#include "kernels/pto/cost/measure.h"

#include "base/testing.h"

static enum status measure_read(struct pto_measures *m, struct diag *d, const char *text)
{
    return pto_measures_read(m, str_of(text), "m.csv", d);
}

TEST(rows_become_work)
{
    struct pto_measures m = {0};
    struct diag d;

    diag_init(&d);
    assert_int_equal(measure_read(&m, &d,
                                  "op,dtype,dst_dtype,rows,cols,valid_rows,valid_cols,cycles,arch\n"
                                  "TADD,f32,,64,64,0,0,160,\n"
                                  "pto.tcvt,Half,fp32,4,64,3,60,33.5,A5\n"),
                     ST_OK);
    assert_int_equal(m.rows.n, 2);
    assert_int_equal(m.rows.at[0].work.op, PTO_TADD);
    assert_int_equal(m.rows.at[0].work.dst_dtype, PTO_F32);
    assert_int_equal(m.rows.at[0].work.v_row, 64);
    assert_int_equal(m.rows.at[1].work.arch, PTO_A5);
    assert_int_equal(m.rows.at[1].work.src_dtype, PTO_F16);
    assert_int_equal(m.rows.at[1].work.v_col, 60);
    assert_true(m.rows.at[1].cycles == 33.5);
    assert_int_equal(m.rows.at[1].line, 3);
    diag_fini(&d);
    pto_measures_free(&m);
}

TEST(transfers_and_products_have_columns_of_their_own)
{
    struct pto_measures m = {0};
    struct diag d;

    diag_init(&d);
    assert_int_equal(measure_read(&m, &d,
                                  "op,dtype,rows,cols,cycles,from,to,bytes,m,k,n\n"
                                  "tload,f16,0,0,500,gm,mat,65536,,,\n"
                                  "tmatmul,f16,0,0,54,,,,40,50,60\n"),
                     ST_OK);
    assert_int_equal(m.rows.at[0].work.dst_space, PTO_MAT);
    assert_int_equal(m.rows.at[0].work.bytes, 65536);
    assert_int_equal(m.rows.at[1].work.k, 50);
    diag_fini(&d);
    pto_measures_free(&m);
}

TEST(rows_that_make_no_sense_are_counted)
{
    struct pto_measures m = {0};
    struct diag d;

    diag_init(&d);
    assert_int_equal(measure_read(&m, &d,
                                  "op,dtype,rows,cols,cycles,arch,valid_cols,from,to,bytes\n"
                                  "TNOTHING,f32,8,8,1,,,,,\n"
                                  "TADD,f64,8,8,1,,,,,\n"
                                  "TADD,f32,-8,8,1,,,,,\n"
                                  "TADD,f32,8,99999999999,1,,,,,\n"
                                  "TADD,f32,8,8,0,,,,,\n"
                                  "TADD,f32,8,8,nan,,,,,\n"
                                  "TADD,f32,8,8,1,a9,,,,\n"
                                  "TADD,f32,8,8,1,,9,,,\n"
                                  "TLOAD,f32,8,8,1,,,gm,moon,5\n"
                                  "TLOAD,f32,8,8,1,,,gm,vec,\n"
                                  "TADD,f32,8,8,30,,,,,\n"),
                     ST_OK);
    assert_int_equal(m.rows.n, 1);
    assert_int_equal(m.lost, 10);
    assert_int_equal(diag_count(&d, "pto-measure.bad-row"), 10);
    diag_fini(&d);
    pto_measures_free(&m);
}

TEST(a_table_without_measurements_is_an_error)
{
    static const char *const texts[] = {"", "op,dtype,rows,cols\nTADD,f32,8,8\n",
                                        "op,dtype,rows,cols,cycles\n",
                                        "op,dtype,rows,cols,cycles\nx,y,z,a,b\n"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct pto_measures m = {0};
        struct diag d;
        diag_init(&d);
        assert_int_equal(measure_read(&m, &d, texts[i]), ST_FORMAT);
        diag_fini(&d);
        pto_measures_free(&m);
    }
}

TEST_MAIN("kernels/pto/cost/measure", T(rows_become_work),
          T(transfers_and_products_have_columns_of_their_own),
          T(rows_that_make_no_sense_are_counted), T(a_table_without_measurements_is_an_error))
