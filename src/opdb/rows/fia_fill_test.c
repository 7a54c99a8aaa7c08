
#include "base/testing_folder.h"
#include "opdb/rows/fia.h"

#define TABLE                                                                                      \
    "Input Shapes,Runtime source_profile\n"                                                        \
    "\"\"\"16,4;8;8;;2;;2\"\"\",p\n"                                                               \
    "\"9,9;8;8\",q\n"

static struct str fill_cell(const struct op_table *t, size_t row, const char *column)
{
    return table_cell(t, row, table_column(t, str_of(column)));
}

TEST(a_row_expands_to_the_records_that_fit)
{
    struct fia_fill fill;
    const char *csv = scratch_put("f.csv", TABLE);
    const char *jsonl = scratch_put(
        "f.jsonl",
        "{\"query_shape\":[16,4],\"key_shape\":[8],\"value_shape\":[8],\"atten_mask_shape\":[2],"
        "\"actual_seq_lengths_kv\":[10,20],\"num_heads\":4}\n"
        "   \n"
        "{\"query_shape\":[16,4],\"key_shape\":[8],\"value_shape\":[8],\"atten_mask_shape\":[2],"
        "\"actual_seq_lengths_kv\":[10,21],\"block_table_shape\":null}\n"
        "{\"query_shape\":[16,4],\"key_shape\":[8],\"value_shape\":[8],\"atten_mask_shape\":[2],"
        "\"actual_seq_lengths_kv\":[10,20],\"num_heads\":8,\"input_layout\":\"T\\u004eD\"}\n");

    assert_int_equal(fia_fill(&fill, csv, jsonl, S("tag"), &diag), ST_OK);
    assert_int_equal(fill.rows, 2);
    assert_int_equal(fill.matched, 1);
    assert_int_equal(fill.table.n_rows, 3);
    /* The last record with the same values gives the payload, the first its place. */
    assert_str(fill_cell(&fill.table, 0, "Runtime num_heads"), "8");
    assert_str(fill_cell(&fill.table, 0, "Runtime input_layout"), "TND");
    assert_str(fill_cell(&fill.table, 0, "Runtime avg_seq_len"), "15.000000");
    assert_str(fill_cell(&fill.table, 0, "Runtime source_profile"), "p");
    assert_str(fill_cell(&fill.table, 1, "Runtime actual_seq_lengths_kv_values"), "10,21");
    assert_str(fill_cell(&fill.table, 1, "Runtime num_heads"), "");
    assert_str(fill_cell(&fill.table, 1, "Runtime metadata_completeness"), "tag");
    assert_str(fill_cell(&fill.table, 2, "Runtime metadata_completeness"), "");
    fia_fill_free(&fill);
}

static enum status fill_with(const char *csv, const char *jsonl)
{
    struct fia_fill fill;
    enum status st = fia_fill(&fill, csv, jsonl, S("t"), &diag);

    fia_fill_free(&fill);
    return st;
}

TEST(what_cannot_be_joined_is_told_with_its_line)
{
    const char *csv = scratch_put("f.csv", TABLE);

    assert_int_equal(fill_with(csv, scratch_put("a", "{}\n{\"query_shape\": [1 2]}\n")), ST_FORMAT);
    assert_int_equal(diag.entries.at[0].first[0].where.line, 2);
    assert_int_equal(fill_with(csv, scratch_put("a", "{\"query_shape\": \"x\"}")), ST_FORMAT);
    assert_int_equal(fill_with(csv, scratch_put("a", "{\"num_heads\": [1]}")), ST_FORMAT);
    assert_int_equal(fill_with(csv, scratch_put("a", "[]")), ST_FORMAT);
    assert_int_equal(fill_with(csv, scratch_put("a", "{} {}")), ST_FORMAT);
    assert_int_equal(fill_with(csv, scratch_path("none")), ST_NOT_FOUND);
    assert_int_equal(fill_with(scratch_path("none"), scratch_put("a", "")), ST_NOT_FOUND);
    assert_int_equal(fill_with(scratch_put("e.csv", ""), scratch_put("a", "")), ST_FORMAT);
    csv = scratch_put("f.csv", "Input Shapes\n\"a,b;1;1\"\n");
    assert_int_equal(fill_with(csv, scratch_put("a", "")), ST_FORMAT);
}

TEST_MAIN("opdb/rows/fia_fill", TS(a_row_expands_to_the_records_that_fit),
          TS(what_cannot_be_joined_is_told_with_its_line))
