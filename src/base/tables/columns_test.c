#include "base/tables/columns.h"

#include "base/testing.h"

static const struct column_info info[] = {
    {S_INIT("n"), VALUES_INT, false},
    {S_INIT("x"), VALUES_REAL, false},
    {S_INIT("t"), VALUES_TEXT, false},
};

TEST(values_and_gaps_stand_in_their_rows)
{
    struct column_chunk c;

    columns_init(&c, info, 3);
    for (int i = 0; i < 100; i++) {
        if (i % 3 == 0)
            column_put_null(&c.at[0]);
        else
            column_put_int(&c.at[0], i);
        column_put_real(&c.at[1], i / 2.0);
        column_put_text(&c.at[2], i % 2 == 0 ? S("even") : S("odd"));
    }
    assert_int_equal(columns_rows(&c), 100);
    assert_int_equal(c.at[0].nulls, 34);
    assert_false(column_has(&c.at[0], 99));
    assert_true(column_has(&c.at[0], 65));
    assert_int_equal(c.at[0].numbers[65], 65);
    assert_true(c.at[1].reals[3] == 1.5);
    assert_str(c.at[2].texts.at[c.at[2].places[7]], "odd");
    columns_clear(&c);
    assert_int_equal(columns_rows(&c), 0);
    column_put_null(&c.at[0]);
    assert_false(column_has(&c.at[0], 0));
    column_put_text(&c.at[2], S("again"));
    assert_str(c.at[2].texts.at[c.at[2].places[0]], "again");
    columns_fini(&c);
}

TEST(lasting_texts_are_kept_once)
{
    static const char text[] = "MatMulV2";
    struct column_chunk c;

    columns_init(&c, info, 3);
    column_put_lasting(&c.at[2], str_of(text));
    column_put_lasting(&c.at[2], str_part(str_of(text), 0, 6)); /* the same place, another text */
    column_put_lasting(&c.at[2], str_of(text));
    assert_int_equal(c.at[2].texts.n, 2);
    assert_int_equal(c.at[2].places[2], 0);
    assert_str(c.at[2].texts.at[1], "MatMul");
    columns_fini(&c);
}

TEST(what_is_not_utf8_is_repaired)
{
    struct column_chunk c;
    struct arena arena;

    columns_init(&c, info, 3);
    column_put_text(&c.at[2], S("a\xff"
                                "b\xc3\xa4"));
    column_put_text(&c.at[2], S(""));
    assert_str(c.at[2].texts.at[c.at[2].places[0]], "a\xef\xbf\xbd"
                                                    "b\xc3\xa4");
    assert_int_equal(c.at[2].texts.at[c.at[2].places[1]].n, 0);
    assert_true(column_has(&c.at[2], 1));
    columns_fini(&c);
    arena_init(&arena);
    assert_str(columns_utf8(&arena, S("\xe4\xb8")), "\xef\xbf\xbd"); /* half a character */
    arena_free(&arena);
}

TEST_MAIN("base/tables/columns", T(values_and_gaps_stand_in_their_rows),
          T(lasting_texts_are_kept_once), T(what_is_not_utf8_is_repaired))
