#include "opdb/rows/table_union.h"

#include "base/testing_folder.h"
#include "base/text/text.h"

static enum status write(struct text *out)
{
    struct place_files tree;

    assert_int_equal(place_find(&arena, scratch, NULL, 0, &tree, &diag), ST_OK);
    return table_union_write(&tree, false, text_sink(out), &diag);
}

TEST(columns_of_all_tables_are_joined)
{
    struct text out = {0};

    scratch_put("A/s/v1/Add.csv", "Input Shapes,us\n\"\"\"4,5\"\"\",2.5\t\n");
    scratch_put("A/s/v1/Mul.csv", " us ,Mine\n3,\n4\n");
    assert_int_equal(write(&out), ST_OK);
    struct str expected =
        arena_format(&arena,
                     "operator,device,stack,version,file,line,Input Shapes,us,Mine\n"
                     "Add,A,s,v1,%s/A/s/v1/Add.csv,2,\"\"\"4,5\"\"\",2.5,\n"
                     "Mul,A,s,v1,%s/A/s/v1/Mul.csv,2,,3,\nMul,A,s,v1,%s/A/s/v1/Mul.csv,3,,4,\n",
                     scratch, scratch, scratch);
    assert_string_equal(arena_cstr(&arena, text_view(&out)), expected.at);
    text_free(&out);
}

TEST(a_table_that_cannot_be_read_ends_it)
{
    struct text out = {0};

    scratch_put("Add.csv", "a,b\n\"1,2\n");
    assert_int_equal(write(&out), ST_FORMAT);
    assert_int_equal(out.n, 0);
    text_free(&out);
}

TEST_MAIN("opdb/rows/table_union", TS(columns_of_all_tables_are_joined),
          TS(a_table_that_cannot_be_read_ends_it))
