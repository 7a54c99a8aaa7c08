#include "opdb/grid/grid_shapes.h"

#include <stdio.h>

#include "base/testing_arena.h"

static struct grid_shapes shapes_parse(const char *cell)
{
    struct grid_shapes shapes;

    assert_true(grid_shapes_parse(&arena, str_of(cell), &shapes));
    return shapes;
}

TEST(slots_are_kept_but_for_an_empty_last_one)
{
    assert_int_equal(shapes_parse("\"16,5120;5120;\"").n, 2);
    assert_int_equal(shapes_parse("16,5120;;5120").n, 3);
    assert_int_equal(shapes_parse("16;;;").n, 3);
    assert_int_equal(shapes_parse(";").n, 1);
    assert_int_equal(shapes_parse("\"\"").n, 0);
    assert_int_equal(shapes_parse("\" N/A \"").n, 0);
    assert_str(grid_shapes_text(&arena, shapes_parse("\"1,2\";\"3\"")), "1,2;3");
    assert_int_equal(shapes_parse(" n/a ").n, 0);
    assert_int_equal(shapes_parse("(2, 3);();NULL;(4)").n, 4);
    assert_str(grid_shapes_text(&arena, shapes_parse("(2, 3);();NULL;(4 5)")), "2,3;;;4,5");
}

TEST(numbers_are_printed_to_their_ends)
{
    const int64_t dim[] = {INT64_MIN, INT64_MAX, 0, -7};
    struct grid_shape shape = {dim, 4};

    assert_str(grid_shapes_text(&arena, (struct grid_shapes){&shape, 1}),
               "-9223372036854775808,9223372036854775807,0,-7");
    assert_str(grid_shapes_text(&arena, (struct grid_shapes){0}), "");
}

TEST(a_cell_that_holds_no_numbers_is_told_and_counted)
{
    struct grid_shapes shapes;

    assert_false(grid_shapes_parse(&arena, S("16,x;2;3"), &shapes));
    assert_int_equal(shapes.n, 3);
}

static int order(const char *a, const char *b)
{
    return grid_shapes_compare(shapes_parse(a), shapes_parse(b));
}

TEST(order_goes_by_slot_and_by_dimension)
{
    assert_true(order("1,2;3", "1,10;1") < 0);
    assert_true(order("2", "10") < 0);
    assert_true(order("1", "1,1") < 0);
    assert_true(order("1;1", "1") > 0);
    assert_true(order("1;;5", "1;2") < 0);
    assert_int_equal(order("1;2;", "1;2"), 0);
}

TEST(attributes_are_split_by_slot)
{
    struct grid_texts texts = grid_texts_split(&arena, S("DT_BF16;; NULL ;"));
    assert_int_equal(texts.n, 4);
    assert_false(grid_text_is_absent(texts.at[0]));
    assert_true(grid_text_is_absent(texts.at[1]));
    assert_true(grid_text_is_absent(texts.at[2]));
    assert_true(grid_text_is_absent(S("dt_undefined")));
    assert_int_equal(grid_texts_split(&arena, S("")).n, 0);
}

static void assert_parts(const char *text, const char *expected)
{
    char joined[100] = "";
    struct str rest = str_of(text), part;

    while (grid_shape_part(&rest, &part))
        snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "[%.*s]",
                 STR_ARGS(part));
    assert_string_equal(joined, expected);
}

TEST(a_shape_is_cut_at_its_own_commas)
{
    assert_parts("128, 512", "[128][512]");
    assert_parts("max(1, D//tp), 16", "[max(1, D//tp)][16]");
    assert_parts(" ,a,,b", "[a][b]");
    assert_parts("", "");
    assert_parts(" , ", "");
}

TEST(the_parentheses_around_a_shape_are_optional)
{
    assert_str(grid_shape_inside(S("(tokens, D)")), "tokens, D");
    assert_str(grid_shape_inside(S(" tokens, D ")), "tokens, D");
    assert_str(grid_shape_inside(S("((tokens, D))")), "tokens, D");
    assert_str(grid_shape_inside(S("(D, max(1,2))")), "D, max(1,2)");
    assert_str(grid_shape_inside(S("(D), max(1,2)")), "(D), max(1,2)");
    assert_str(grid_shape_inside(S("(D, max(1,2)")), "D, max(1,2)");
    assert_str(grid_shape_inside(S("D, 4)")), "D, 4");
    assert_str(grid_shape_inside(S("()")), "");
    assert_str(grid_shape_inside(S("( )")), "");
}

TEST_MAIN("opdb/grid/grid_shapes", TA(slots_are_kept_but_for_an_empty_last_one),
          TA(numbers_are_printed_to_their_ends),
          TA(a_cell_that_holds_no_numbers_is_told_and_counted),
          TA(order_goes_by_slot_and_by_dimension), TA(attributes_are_split_by_slot),
          T(a_shape_is_cut_at_its_own_commas), T(the_parentheses_around_a_shape_are_optional))
