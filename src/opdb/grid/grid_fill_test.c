
#include "base/testing.h"
#include "opdb/grid/grid_run.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

static struct diag d;
static struct grid_run run;

static int fill_begin(void **state)
{
    (void)state;
    diag_init(&d);
    return grid_run_open(&run, &(struct grid_options){.seed = "1"}, &d) != ST_OK;
}

static int fill_end(void **state)
{
    (void)state;
    grid_run_close(&run);
    diag_fini(&d);
    return 0;
}

static struct grid_fill fill_test_fill(struct op_table *t, const char *path, const char *text,
                                       int64_t budget)
{
    struct grid_fill result;
    struct str kernel = table_stem(path);

    assert_int_equal(table_parse(t, path, str_of(text), &d), ST_OK);
    assert_int_equal(grid_fill(t, &run.job, grid_run_pattern(&run, kernel), budget, &result, &d),
                     ST_OK);
    return result;
}

#define HEAD                                                                                       \
    "OP State,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"        \
    "Average Duration(us),aic_mac_ratio,Note\n"

TEST(new_rows_copy_the_template_and_have_no_timing)
{
    struct op_table t;
    struct grid_fill r =
        fill_test_fill(&t, "Tile.csv",
                       HEAD "dynamic,\"\"\"16,64;2\"\"\",DT_BF16;INT64,ND;ND,\"\"\"16,128\"\"\","
                            "DT_BF16,3.5,0.5,mine\n",
                       0);

    /* 13 token counts, 6 widths; 16 x 64 is there. */
    assert_int_equal(r.made, 78);
    assert_int_equal(r.appended, 77);
    assert_int_equal(t.n_rows, 78);
    assert_str(table_cell(&t, 1, table_column(&t, COL_INPUT_SHAPES)), "\"1,64;2\"");
    assert_str(table_cell(&t, 1, table_column(&t, COL_OUTPUT_SHAPES)), "\"1,128\"");
    assert_str(table_cell(&t, 1, table_column(&t, COL_AVERAGE)), "0");
    assert_str(table_cell(&t, 1, table_column(&t, S("aic_mac_ratio"))), "0");
    assert_str(table_cell(&t, 1, table_column(&t, S("Note"))), "mine");
    assert_str(table_cell(&t, 0, table_column(&t, COL_AVERAGE)), "3.5");
    table_free(&t);
}

TEST(slots_follow_the_template)
{
    struct op_table t;

    /* Five slots in the template; the fourth, the bias, has no type. */
    fill_test_fill(
        &t, "AddRmsNormBias.csv",
        HEAD "dynamic,1;1;1;;5;,FLOAT;FLOAT;FLOAT;DT_UNDEFINED,ND;ND;ND;ND,1,FLOAT,1,1,x\n", 0);
    assert_str(table_cell(&t, 1, table_column(&t, COL_INPUT_SHAPES)), "\"1,128;1,128;128;;\"");
    assert_str(table_cell(&t, 1, table_column(&t, COL_OUTPUT_SHAPES)), "\"1,128;1,1;1,128\"");
    table_free(&t);
}

TEST(rows_beyond_the_memory_are_left_out)
{
    struct op_table t;
    /* A row of Tile takes (t*d + 2 + 2*t*d) * 2 bytes: within 1000 bytes t*d is at most 166. */
    struct grid_fill r =
        fill_test_fill(&t, "Tile.csv", HEAD "dynamic,16;2,X;X,ND;ND,16,X,1,1,x\n", 1000);

    assert_int_equal(r.appended, 2); /* 1 x 64 and 1 x 128 */
    assert_int_equal(r.too_big, 76);
    table_free(&t);
}

TEST(products_are_the_same_whichever_way_round)
{
    struct op_table t;
    /* The second row is 1 x 128 times 128 x 192 with the weight transposed and another result. */
    struct grid_fill r =
        fill_test_fill(&t, "MatMulV2.csv",
                       HEAD "dynamic,\"2,3;4,3\",A;B,ND;ND,\"2,4\",C,1,1,x\n"
                            "dynamic,\"1,128;128,192\",A;B,ND;ND,\"1,192\",OTHER,1,1,x\n",
                       0);

    assert_int_equal(r.made, 37 * 37 * 37);
    assert_int_equal(r.appended, r.made - 1);
    table_free(&t);
}

TEST(attention_tables_get_their_columns)
{
    struct op_table t;

    fill_test_fill(&t, "FusedInferAttentionScore.csv",
                   HEAD "dynamic,1;1,X;X,ND;ND,1;,X;FLOAT,1,1,x\n", 0);
    assert_int_equal(t.columns.n, 9 + 15);
    assert_str(t.columns.at[9], "Runtime source_profile");
    assert_str(t.columns.at[23], "Runtime operator_input_shapes_raw");
    assert_str(table_cell(&t, 0, 9), "");
    assert_str(table_cell(&t, 1, table_column(&t, S("Runtime block_size"))), "128");
    table_free(&t);
}

TEST(a_missing_column_is_appended)
{
    struct op_table t;

    fill_test_fill(&t, "DispatchFFNCombine.csv", HEAD "dynamic,1,X,ND,1,X,1,1,x\n", 0);
    assert_str(t.columns.at[9], "EP Size");
    assert_str(table_cell(&t, 0, 9), "");
    assert_true(table_cell(&t, 1, 9).n > 0);
    table_free(&t);
}

TEST(tables_without_rows_or_shapes_stay)
{
    struct op_table t;

    assert_int_equal(fill_test_fill(&t, "Tile.csv", HEAD, 0).appended, 0);
    table_free(&t);
    assert_int_equal(fill_test_fill(&t, "Tile.csv", "a,b\n1,2\n", 0).appended, 0);
    assert_int_equal(t.n_rows, 1);
    table_free(&t);
    assert_int_equal(fill_test_fill(&t, "Tile.csv", "", 0).appended, 0);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(new_rows_copy_the_template_and_have_no_timing),
        T(slots_follow_the_template),
        T(rows_beyond_the_memory_are_left_out),
        T(products_are_the_same_whichever_way_round),
        T(attention_tables_get_their_columns),
        T(a_missing_column_is_appended),
        T(tables_without_rows_or_shapes_stay),
    };

    return cmocka_run_group_tests_name("opdb/grid/grid_fill", tests, fill_begin, fill_end);
}
