#include "kernels/incore/rows.h"

#include "base/testing.h"

TEST(the_first_free_row_is_taken)
{
    struct incore_rows rows = {0};

    incore_rows_begin(&rows);
    assert_int_equal(incore_rows_place(&rows, 0, 10, 0), 0);
    assert_int_equal(incore_rows_place(&rows, 1, 2, 0), 1);
    assert_int_equal(incore_rows_place(&rows, 2, 9, 0), 2);
    assert_int_equal(incore_rows_place(&rows, 3, 1, 0), 1); /* where one ends the next may begin */
    assert_int_equal(incore_rows_place(&rows, 10, 1, 0), 0);
    incore_rows_begin(&rows); /* another pipe */
    assert_int_equal(incore_rows_place(&rows, 0, 1, 0), 0);
    incore_rows_free(&rows);
}

TEST(a_thousand_at_once_get_a_thousand_rows)
{
    struct incore_rows rows = {0};

    incore_rows_begin(&rows);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(incore_rows_place(&rows, i, 2000, 0), i);
    assert_int_equal(incore_rows_place(&rows, 2007, 1, 0), 0);
    incore_rows_begin(&rows);
    assert_int_equal(incore_rows_place(&rows, 0, 1, 0), 0);
    incore_rows_free(&rows);
}

TEST(slack_forgives_the_last_digit)
{
    struct incore_rows rows = {0};

    incore_rows_begin(&rows);
    assert_int_equal(incore_rows_place(&rows, 0, 0.3, 0), 0);
    assert_int_equal(incore_rows_place(&rows, 0.1 + 0.1 + 0.0999999999, 1, 1e-9), 0);
    assert_int_equal(incore_rows_place(&rows, 0.9, 1, 1e-9), 1);
    incore_rows_free(&rows);
}

TEST_MAIN("kernels/incore/rows", T(the_first_free_row_is_taken),
          T(a_thousand_at_once_get_a_thousand_rows), T(slack_forgives_the_last_digit))
