#include "perfdb/grid_shapes.h"

#include "base/testing.h"

static struct arena arena;

static struct grid_shapes parse(const char *cell)
{
    struct grid_shapes shapes;

    assert_true(grid_shapes_parse(&arena, str_of(cell), &shapes));
    return shapes;
}

TEST(slots_are_kept_but_for_an_empty_last_one)
{
    arena_init(&arena);
    assert_int_equal(parse("\"16,5120;5120;\"").n, 2);
    assert_int_equal(parse("16,5120;;5120").n, 3);
    assert_int_equal(parse("16;;;").n, 3);
    assert_int_equal(parse(";").n, 1);
    assert_int_equal(parse("\"\"").n, 0);
    assert_int_equal(parse("\" N/A \"").n, 0);
    assert_str(grid_shapes_text(&arena, parse("\"1,2\";\"3\"")), "1,2;3");
    assert_int_equal(parse(" n/a ").n, 0);
    assert_int_equal(parse("(2, 3);();NULL;(4)").n, 4);
    assert_str(grid_shapes_text(&arena, parse("(2, 3);();NULL;(4 5)")), "2,3;;;4,5");
    arena_free(&arena);
}

TEST(numbers_are_printed_to_their_ends)
{
    const int64_t dim[] = {INT64_MIN, INT64_MAX, 0, -7};
    struct grid_shape shape = {dim, 4};

    arena_init(&arena);
    assert_str(grid_shapes_text(&arena, (struct grid_shapes){&shape, 1}),
               "-9223372036854775808,9223372036854775807,0,-7");
    assert_str(grid_shapes_text(&arena, (struct grid_shapes){0}), "");
    arena_free(&arena);
}

TEST(a_cell_that_holds_no_numbers_is_told_and_counted)
{
    struct grid_shapes shapes;

    arena_init(&arena);
    assert_false(grid_shapes_parse(&arena, S("16,x;2;3"), &shapes));
    assert_int_equal(shapes.n, 3);
    arena_free(&arena);
}

static int order(const char *a, const char *b)
{
    return grid_shapes_compare(parse(a), parse(b));
}

TEST(order_goes_by_slot_and_by_dimension)
{
    arena_init(&arena);
    assert_true(order("1,2;3", "1,10;1") < 0);
    assert_true(order("2", "10") < 0);
    assert_true(order("1", "1,1") < 0);
    assert_true(order("1;1", "1") > 0);
    assert_true(order("1;;5", "1;2") < 0);
    assert_int_equal(order("1;2;", "1;2"), 0);
    arena_free(&arena);
}

TEST(attributes_are_split_by_slot)
{
    arena_init(&arena);
    struct grid_texts texts = grid_texts_split(&arena, S("DT_BF16;; NULL ;"));
    assert_int_equal(texts.n, 4);
    assert_false(grid_text_is_absent(texts.at[0]));
    assert_true(grid_text_is_absent(texts.at[1]));
    assert_true(grid_text_is_absent(texts.at[2]));
    assert_true(grid_text_is_absent(S("dt_undefined")));
    assert_int_equal(grid_texts_split(&arena, S("")).n, 0);
    arena_free(&arena);
}

TEST_MAIN("perfdb/grid_shapes", T(slots_are_kept_but_for_an_empty_last_one),
          T(numbers_are_printed_to_their_ends), T(a_cell_that_holds_no_numbers_is_told_and_counted),
          T(order_goes_by_slot_and_by_dimension), T(attributes_are_split_by_slot))
