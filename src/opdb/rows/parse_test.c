#include "opdb/rows/parse.h"

#include "base/testing_folder.h"

/* The head of an export. */
static struct str head(void)
{
    struct str text =
        S("Type,OP State,Accelerator Core,Input Shapes,Input Data Types,Input Formats,"
          "Output Shapes,Output Data Types,Output Formats,Duration(us)");

    for (size_t i = 0; i < COUNTER_N; i++)
        text = arena_format(&arena, "%.*s,%.*s", STR_ARGS(text), STR_ARGS(column_counter[i]));
    return text;
}

/* An export with two shapes of Add. */
static const char *source(const char *duration)
{
    struct str heads = head();
    struct str text =
        arena_format(&arena, "%.*s\nAdd,d,V,4,F,ND,4,F,ND,%s\nAdd,d,V,5,F,ND,5,F,ND,2\n",
                     STR_ARGS(heads), duration);
    return scratch_put("in/kernel_details.csv", text.at);
}

static enum status plan_onto(struct parse_plan *plan, enum parse_mode mode)
{
    return parse_plan(plan, scratch_path("in"), scratch_path("db"), mode, &diag);
}

static struct str parse_cell(const struct op_table *t, size_t row, const char *column)
{
    return table_cell(t, row, table_column(t, str_of(column)));
}

TEST(names_of_files_are_made_safe)
{
    assert_str(parse_file_name(&arena, S("a<b>c:d\"/\\|?e*f")), "a_b_c_d_____e_f.csv");
    assert_str(parse_file_name(&arena, S("")), "UNKNOWN_TYPE.csv");
}

/* "a/b" and "a:b" are both a_b.csv; 252 bytes and ".csv" are one too many for a file. */
TEST(names_that_no_file_can_have_cost_their_table_alone)
{
    struct parse_plan plan;
    const char *types[] = {"a/b", "a:b", "Add", arena_printf(&arena, "%0251d", 7),
                           arena_printf(&arena, "%0252d", 7)};

    struct str text = head();
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        text = arena_format(&arena, "%.*s\n%s,d,V,4,F,ND,4,F,ND,1", STR_ARGS(text), types[i]);
    scratch_put("in/kernel_details.csv", text.at);
    assert_int_equal(plan_onto(&plan, PARSE_CAREFUL), ST_OK);
    assert_int_equal(plan.files.n, 3);
    assert_int_equal(plan.n_skipped, 2);
    assert_str(plan.files.at[0].op, "a_b");
    assert_str(plan.files.at[1].op, "Add");
    assert_int_equal(diag_count(&diag, "perfdb.same-name"), 1);
    assert_int_equal(diag_count(&diag, "perfdb.long-name"), 1);
    assert_int_equal(fs_mkdirs(scratch_path("db"), &diag), ST_OK);
    assert_int_equal(parse_write(&plan, &diag), ST_OK);
    parse_plan_free(&plan);
}

TEST(own_tables_are_replaced_without_asking)
{
    struct parse_plan plan;

    source("1");
    assert_int_equal(fs_mkdirs(scratch_path("db"), &diag), ST_OK);
    assert_int_equal(plan_onto(&plan, PARSE_CAREFUL), ST_OK);
    assert_int_equal(parse_write(&plan, &diag), ST_OK);
    parse_plan_free(&plan);
    assert_int_equal(plan_onto(&plan, PARSE_CAREFUL), ST_OK);
    assert_true(plan.files.at[0].is_there);
    assert_int_equal(plan.files.at[0].rows_dropped, 0);
    assert_true(table_equal(&plan.files.at[0].old, &plan.files.at[0].fresh));
    parse_plan_free(&plan);
}

TEST(measured_rows_and_unknown_columns_are_not_lost_by_accident)
{
    struct parse_plan plan;

    source("1");
    scratch_put("db/Add.csv", "Input Shapes,Output Shapes,Average Duration(us),Mine\n4,4,7,x\n");
    assert_int_equal(plan_onto(&plan, PARSE_CAREFUL), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&diag, "perfdb.would-lose"), 1);
    parse_plan_free(&plan);
    assert_int_equal(plan_onto(&plan, PARSE_OVERWRITE), ST_OK);
    assert_str(plan.files.at[0].columns_lost, "Average Duration(us), Mine");
    assert_int_equal(plan.files.at[0].rows_dropped, 0);
    parse_plan_free(&plan);
    scratch_put("db/Add.csv",
                "Input Shapes,Output Shapes,Runtime metadata_completeness\n4,4,dumped\n");
    assert_int_equal(plan_onto(&plan, PARSE_CAREFUL), ST_UNSUPPORTED);
    parse_plan_free(&plan);
}

TEST(merging_keeps_rows_and_cells)
{
    struct parse_plan plan;

    source("8");
    scratch_put("db/Add.csv", "Mine,Input Shapes,Output Shapes,Average Duration(us),OP State\n"
                              "x,9,9,7,old\ny, 4 ,4,6,old\n");
    assert_int_equal(plan_onto(&plan, PARSE_MERGE), ST_OK);
    const struct op_table *t = &plan.files.at[0].fresh;
    assert_int_equal(t->n_rows, 3);
    assert_str(t->columns.at[0], "Mine");
    assert_int_equal(t->columns.n, 2 + PARSED_N);
    assert_str(parse_cell(t, 0, "Mine"), "x");
    assert_str(parse_cell(t, 0, "OP State"), "old");
    assert_str(parse_cell(t, 1, "Mine"), "y");
    assert_str(parse_cell(t, 1, "Average Duration(us)"), "6");
    assert_str(parse_cell(t, 1, "OP State"), "d");
    assert_str(parse_cell(t, 1, "Profiling Average Duration(us)"), "8.000000");
    assert_str(parse_cell(t, 2, "Input Shapes"), "5");
    assert_str(parse_cell(t, 2, "Mine"), "");
    parse_plan_free(&plan);
}

TEST(a_source_that_is_missing_or_empty_is_told)
{
    struct parse_plan plan;

    assert_int_equal(plan_onto(&plan, PARSE_CAREFUL), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "perfdb.no-source"), 1);
    parse_plan_free(&plan);
    scratch_put("in/x.csv", "a\n");
    assert_int_equal(plan_onto(&plan, PARSE_CAREFUL), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "perfdb.no-exports"), 1);
    parse_plan_free(&plan);
}

TEST_MAIN("opdb/rows/parse", TS(names_of_files_are_made_safe),
          TS(names_that_no_file_can_have_cost_their_table_alone),
          TS(own_tables_are_replaced_without_asking),
          TS(measured_rows_and_unknown_columns_are_not_lost_by_accident),
          TS(merging_keeps_rows_and_cells), TS(a_source_that_is_missing_or_empty_is_told))
