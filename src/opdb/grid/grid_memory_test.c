#include "opdb/grid/grid_shapes.h"

#include "base/testing_arena.h"

static int64_t bytes_of(const char *cell, const char *dtypes)
{
    struct grid_shapes shapes;

    assert_true(grid_shapes_parse(&arena, str_of(cell), &shapes));
    return grid_memory_bytes(shapes, grid_dtype_list(&arena, str_of(dtypes)));
}

TEST(elements_count_by_their_type)
{
    assert_int_equal(bytes_of("4;", "\"INT64\""), 32);
    assert_int_equal(bytes_of("1024;1024", "FLOAT"), 4096 + 2048); /* beyond the list: 2 bytes */
    assert_int_equal(bytes_of("8;8", "dt_complex128; BOOL"), 128 + 8);
    /* An empty part shifts the types behind it. */
    assert_int_equal(bytes_of("8;;8", "INT8;;INT64"), 8 + 16);
    /* Three times 32768 x 55296 of two bytes are 10.125 GiB. */
    assert_int_equal(3 * bytes_of("32768,55296", "DT_BF16"), (int64_t)(10.125 * 0x1p30));
}

TEST(sums_beyond_64_bits_stay_at_the_end)
{
    const char huge[] = "9223372036854775807,9223372036854775807";

    assert_true(bytes_of(huge, "") == INT64_MAX);
    assert_true(bytes_of("9223372036854775807,9223372036854775807;9", "") == INT64_MAX);
    assert_int_equal(bytes_of("9223372036854775807,9223372036854775807,0", ""), 0);
    assert_int_equal(bytes_of("-3,2", "INT32"), -24);
}

TEST(sizes_have_two_decimals)
{
    assert_str(grid_memory_text(&arena, 0), "0 B");
    assert_str(grid_memory_text(&arena, 1023), "1023 B");
    assert_str(grid_memory_text(&arena, 1536), "1.50 KiB");
    assert_str(grid_memory_text(&arena, 12345678901), "11.50 GiB");
    assert_str(grid_memory_text(&arena, (int64_t)1 << 42), "4096.00 GiB");
}

TEST_MAIN("opdb/grid/grid_memory", TA(elements_count_by_their_type),
          TA(sums_beyond_64_bits_stay_at_the_end), TA(sizes_have_two_decimals))
