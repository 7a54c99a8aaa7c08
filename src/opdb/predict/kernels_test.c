#include "opdb/rows/exports.h"

#include "base/testing_folder.h"
#include "opdb/rows/cell.h"

/* The header of an export, and rows with the counters all alike. */
static const char *export_of(const char *rows[][5], size_t n)
{
    struct str text =
        S("Type,OP State,Accelerator Core,Input Shapes,Input Data Types,Input Formats,"
          "Output Shapes,Output Data Types,Output Formats,Duration(us)");

    for (size_t i = 0; i < COUNTER_N; i++)
        text = arena_format(&arena, "%.*s,%.*s", STR_ARGS(text), STR_ARGS(column_counter[i]));
    for (size_t r = 0; r < n; r++) {
        text = arena_format(&arena, "%.*s\n%s,%s,AI_CORE,%s,,ND,%s,,,%s", STR_ARGS(text),
                            rows[r][0], rows[r][1], rows[r][2], rows[r][3], rows[r][4]);
        for (size_t i = 0; i < COUNTER_N; i++)
            text = arena_format(&arena, "%.*s,%zu", STR_ARGS(text), r);
    }
    return scratch_put("kernel_details.csv", text.at);
}

TEST(durations_of_one_shape_are_pooled)
{
    const char *rows[][5] = {
        {"MatMulV2", "", "\"\"\"8,4\"\"\"", "\"\"\"8,2\"\"\"", "10.5"},
        {" MatMulV2 ", "dynamic", "\"\"\"8,4\"\"\"", "\"\"\"8,2\"\"\"", " 11.5 "},
        {"MatMulV2", "static", "\"\"\"8,4\"\"\"", "\"\"\"8,2\"\"\"", "abc"},
        {"MatMulV2", "", "\"\"\"8,4\"\"\"", "\"\"\"8,2\"\"\"", ""},
        {"MatMulV2", "", "\"\"\"8,4\"\"\"", "\"\"\"8,2\"\"\"", "9.25"},
        {"MatMulV2", "", "\"8,4\"", "\"8,2\"", "1"},
        {"hcom_allReduce_", "", "N/A", "N/A", "5"},
        {"X", "", "1", "\"\"\"n/a\"\"\"", "5"},
    };
    struct kernels k;

    kernels_init(&k);
    assert_int_equal(kernels_read(&k, export_of(rows, 8), &diag), ST_OK);
    assert_int_equal(k.rows, 8);
    assert_int_equal(k.groups.n, 2); /* the spelling of a shape matters */
    struct kernel_group *g = &k.groups.at[0];
    assert_str(g->cells[ID_OP_STATE], "dynamic");
    assert_str(g->cells[ID_INPUT_SHAPES], "\"8,4\"");
    struct kernel_stats s = kernels_stats(g);
    /* 31.25 / 5; sorted 0 0 9.25 10.5 11.5; sqrt(328.0625 / 5 - 39.0625) */
    assert_true(s.average == 6.25);
    assert_true(s.median == 9.25);
    assert_str(cell_text6(&arena, s.deviation), "5.152669");
    assert_true(s.counters[3] == (0 + 1 + 2 + 3 + 4) / 5.0);
    kernels_free(&k);
}

TEST(variants_of_a_kernel_are_renamed)
{
    const char *rows[][5] = {{"muls_add_kernel_1", "", "4", "4", "1"},
                             {"muls_add_kernel", "", "4", "4", "3"},
                             {"muls_add_kernel_0", "", "4", "4", "3"}};
    struct kernels k;

    kernels_init(&k);
    assert_int_equal(kernels_read(&k, export_of(rows, 3), &diag), ST_OK);
    assert_int_equal(k.types.n, 2);
    assert_int_equal(k.groups.at[0].n, 2);
    assert_true(kernels_stats(&k.groups.at[0]).median == 2);
    kernels_free(&k);
}

TEST(missing_columns_are_named_in_order)
{
    struct kernels k;
    const char *path = scratch_put("kernel_details.csv", "Name,Type,Duration(us)\n");

    kernels_init(&k);
    assert_int_equal(kernels_read(&k, path, &diag), ST_FORMAT);
    assert_non_null(strstr(diag.entries.at[0].first[0].text,
                           "columns: Accelerator Core, Input Data Types, Input Formats, "
                           "Input Shapes, OP State, Output Data Types"));
    kernels_free(&k);
}

TEST(attention_rows_are_counted_and_told_apart)
{
    const char *rows[][5] = {{"FusedInferAttentionScore", "", "1;2", "1", "1"},
                             {"Add", "", "1", "1", "1"},
                             {"FusedInferAttentionScore", "", "1;2", "1", "1"},
                             {"FusedInferAttentionScore", "", "1;3", "1", "1"}};
    struct kernels k;

    kernels_init(&k);
    assert_int_equal(kernels_read(&k, export_of(rows, 4), &diag), ST_OK);
    assert_int_equal(k.n_fia, 3);
    assert_int_equal(k.fia.n, 2);
    assert_int_equal(k.fia.at[1].index, 2);
    kernels_free(&k);
}

TEST_MAIN("opdb/predict/kernels", TS(durations_of_one_shape_are_pooled),
          TS(variants_of_a_kernel_are_renamed), TS(missing_columns_are_named_in_order),
          TS(attention_rows_are_counted_and_told_apart))
