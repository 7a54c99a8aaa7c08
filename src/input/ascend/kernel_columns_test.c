#include "input/ascend/kernel_columns.h"

#include "base/testing.h"

TEST(every_generation_of_headers_is_known)
{
    struct csv csv;

    csv_open(&csv, S("Op Name,Task Start Time(us),task_duration,Step ID,Block Num\n"));
    assert_int_equal(kernel_column(&csv, COL_NAME), 0);
    assert_int_equal(kernel_column(&csv, COL_START), 1);
    assert_int_equal(kernel_column(&csv, COL_DUR), 2);
    assert_int_equal(kernel_column(&csv, COL_STEP), 3);
    assert_int_equal(kernel_column(&csv, COL_BLOCK_DIM), 4);
    assert_int_equal(kernel_column(&csv, COL_INPUT_SHAPES), -1);
}

/* A header of two generations: the newer name counts. */
TEST(the_first_of_several_names_counts)
{
    struct csv csv;

    csv_open(&csv, S("kernel_name,Name,name\n"));
    assert_int_equal(kernel_column(&csv, COL_NAME), 1);
}

TEST_MAIN("input/ascend/kernel_columns", T(every_generation_of_headers_is_known),
          T(the_first_of_several_names_counts))
