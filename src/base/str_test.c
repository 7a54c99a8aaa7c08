#include "base/str.h"

#include "base/testing.h"

static const struct str nothing = {NULL, 0};

TEST(views_are_equal_by_bytes)
{
    assert_true(str_equal(S("a\0b"), S("a\0b")));
    assert_false(str_equal(S("a\0b"), S("a\0c")));
    assert_false(str_equal(S("a"), S("ab")));
    assert_true(str_equal(nothing, S("")));
    assert_true(str_equal(str_of(NULL), nothing));
    assert_true(str_equal(str_of("abc"), S("abc")));
}

TEST(starts_and_ends_need_the_whole_affix)
{
    assert_true(str_starts(S("trace_view.json"), S("trace")));
    assert_false(str_starts(S("trac"), S("trace")));
    assert_true(str_ends(S("trace_view.json"), S(".json")));
    assert_false(str_ends(S("json"), S(".json")));
    assert_true(str_starts(nothing, S("")));
    assert_true(str_ends(nothing, nothing));
    assert_true(str_starts_nocase(S("AiCore_x"), S("AICORE")));
    assert_false(str_starts_nocase(S("Ai"), S("AICORE")));
}

TEST(parts_stay_inside_the_text)
{
    assert_str(str_part(S("abcdef"), 2, 3), "cde");
    assert_str(str_part(S("abcdef"), 4, 100), "ef");
    assert_str(str_part(S("abcdef"), 6, 1), "");
    assert_str(str_part(S("abcdef"), 99, 1), "");
    assert_str(str_part(S("abcdef"), 1, SIZE_MAX), "bcdef");
    assert_int_equal(str_part(nothing, 1, 1).n, 0);
}

TEST(order_is_by_unsigned_bytes_then_length)
{
    assert_true(str_compare(S("a"), S("b")) < 0);
    assert_true(str_compare(S("b"), S("a")) > 0);
    assert_true(str_compare(S("a"), S("ab")) < 0);
    assert_true(str_compare(S("ab"), S("a")) > 0);
    assert_true(str_compare(S("Z"), S("a")) < 0);
    assert_true(str_compare(S("\xc3"), S("z")) > 0);
    assert_int_equal(str_compare(S("a\0b"), S("a\0b")), 0);
    assert_int_equal(str_compare(nothing, S("")), 0);
    struct str pair[] = {S("b"), S("a")};
    assert_true(str_order(&pair[0], &pair[1]) > 0);
}

TEST(folding_touches_ascii_letters_only)
{
    assert_true(str_equal_nocase(S("HcCl_@["), S("hCcL_@[")));
    assert_false(str_equal_nocase(S("@"), S("`"))); /* 0x40 and 0x60, beside the letters */
    assert_false(str_equal_nocase(S("["), S("{")));
    assert_false(str_equal_nocase(S("\xc4"), S("\xe4")));
    assert_true(str_equal_nocase(nothing, S("")));
    assert_true(str_contains_nocase(S("hcom_allReduce__123"), S("ALLREDUCE")));
    assert_false(str_contains_nocase(S("allReduc"), S("allReduce")));
    assert_true(str_contains_nocase(S("abc"), S("C")));
    assert_true(str_contains_nocase(S("abc"), S("")));
    assert_true(str_contains_nocase(nothing, nothing));
    assert_false(str_contains_nocase(nothing, S("a")));
}

TEST(finding_gives_the_first_position_or_the_length)
{
    assert_int_equal(str_find(S("abcabc"), S("bc")), 1);
    assert_int_equal(str_find(S("abcabc"), S("x")), 6);
    assert_int_equal(str_find(S("abc"), S("")), 0);
    assert_int_equal(str_find(S("ab"), S("abc")), 2);
    assert_int_equal(str_find(nothing, S("a")), 0);
    assert_int_equal(str_find_char(S("a=b=c"), '='), 1);
    assert_int_equal(str_find_char(S("abc"), '='), 3);
    assert_int_equal(str_find_char(S("a\0b"), '\0'), 1);
    assert_int_equal(str_find_char(nothing, 'a'), 0);
}

TEST(containing_finding_in_a_list_and_names)
{
    static const struct str list[] = {S_INIT("a"), S_INIT("bc")};

    assert_true(str_contains(S("abc"), S("bc")));
    assert_false(str_contains(S("abc"), S("cb")));
    assert_false(str_contains(nothing, S("a")));
    assert_true(str_is_one_of(S("bc"), list, 2));
    assert_false(str_is_one_of(S("b"), list, 2));
    assert_true(STR_ANY(str_starts, S("bcd"), list));
    assert_false(STR_ANY(str_starts, S("b"), list));
    assert_true(str_is_name(S("_a9")));
    assert_false(str_is_name(S("9a")));
    assert_false(str_is_name(S("a-b")));
    assert_false(str_is_name(S("")));
}

TEST(digits_are_counted_at_both_ends)
{
    assert_int_equal(str_digits(S("12a3")), 2);
    assert_int_equal(str_digits(S("a3")), 0);
    assert_int_equal(str_digits(S("123")), 3);
    assert_int_equal(str_digits(nothing), 0);
    assert_int_equal(str_last_digits(S("1a23")), 2);
    assert_int_equal(str_last_digits(S("3a")), 0);
    assert_int_equal(str_last_digits(S("123")), 3);
}

TEST(width_counts_columns)
{
    assert_int_equal(str_chars(S("a\xe6\x9c\xaa\xc2\xb5")), 3);
    assert_int_equal(str_width(S("")), 0);
    assert_int_equal(str_width(S("busy")), 4);
    assert_int_equal(str_width(S("\xC2\xB5s \xE2\x80\x93")),
                     4);                                  /* a micro sign, s, a blank, a dash */
    assert_int_equal(str_width(S("\u7a7a\u95f2 ms")), 7); /* Chinese is two columns wide */
    assert_int_equal(str_width(S("\uff1a")), 2);
    assert_int_equal(str_width(S("\u2502\u2026")), 2);
    assert_int_equal(str_width(S("\xe7\xa9")), 1); /* cut off in the middle */
    assert_int_equal(str_width(S("\x80x")), 2);
}

TEST(fits_whole_characters)
{
    assert_true(str_equal(str_fit(S("busy"), 9), S("busy")));
    assert_true(str_equal(str_fit(S("busy"), 2), S("bu")));
    assert_true(str_equal(str_fit(S("\u7a7a\u95f2"), 3), S("\u7a7a")));
    assert_true(str_equal(str_fit(S("\u7a7a\u95f2"), 1), S("")));
}

TEST(trimming_removes_blanks_at_both_ends)
{
    assert_str(str_trim(S(" \t\r\na b\t \r\n")), "a b");
    assert_str(str_trim(S(" \t ")), "");
    assert_str(str_trim(S("")), "");
    assert_str(str_trim(S("\fa\v")), "\fa\v");
    assert_int_equal(str_trim(nothing).n, 0);
}

TEST(splitting_keeps_empty_pieces)
{
    struct str rest = S("a,,b,"), piece;

    assert_true(str_split(&rest, ',', &piece));
    assert_str(piece, "a");
    assert_true(str_split(&rest, ',', &piece));
    assert_str(piece, "");
    assert_true(str_split(&rest, ',', &piece));
    assert_str(piece, "b");
    assert_true(str_split(&rest, ',', &piece));
    assert_str(piece, "");
    assert_false(str_split(&rest, ',', &piece));

    rest = S("");
    assert_true(str_split(&rest, ',', &piece));
    assert_str(piece, "");
    assert_false(str_split(&rest, ',', &piece));
}

TEST(the_base_name_ignores_slashes_at_the_end)
{
    assert_str(str_basename(S("a/b.csv")), "b.csv");
    assert_str(str_basename(S("b.csv")), "b.csv");
    assert_str(str_basename(S("/b.csv")), "b.csv");
    assert_str(str_basename(S("a/b/")), "b");
    assert_str(str_basename(S("a//")), "a");
    assert_str(str_basename(S("/")), "/");
    assert_str(str_basename(S("//")), "/");
    assert_str(str_basename(S("")), "");
}

TEST(distance_counts_single_changes)
{
    assert_int_equal(str_distance(S("anomaly"), S("anomaly"), 3), 0);
    assert_int_equal(str_distance(S("anomaly"), S("anomly"), 3), 1);   /* drop */
    assert_int_equal(str_distance(S("anomaly"), S("annomaly"), 3), 1); /* insert */
    assert_int_equal(str_distance(S("anomaly"), S("anonaly"), 3), 1);  /* replace */
    assert_int_equal(str_distance(S("anomaly"), S("anmoaly"), 3), 1);  /* swap */
    assert_int_equal(str_distance(S("kitten"), S("sitting"), 5), 3);
    assert_int_equal(str_distance(S(""), S("abc"), 5), 3);
    assert_int_equal(str_distance(S("abc"), S(""), 5), 3);
    assert_int_equal(str_distance(nothing, nothing, 5), 0);
}

TEST(distance_stops_past_the_most_asked_for)
{
    char name[65];

    memset(name, 'n', sizeof(name));
    assert_int_equal(str_distance(S("kitten"), S("sitting"), 2), 3);
    assert_int_equal(str_distance(S("abc"), S("xyzuvw"), 2), 3);
    assert_int_equal(str_distance((struct str){name, 64}, (struct str){name, 63}, 2), 1);
    /* Longer than any name of ours. */
    assert_int_equal(str_distance((struct str){name, 65}, (struct str){name, 65}, 2), 3);
}

TEST_MAIN("base/str", T(views_are_equal_by_bytes), T(starts_and_ends_need_the_whole_affix),
          T(parts_stay_inside_the_text), T(order_is_by_unsigned_bytes_then_length),
          T(folding_touches_ascii_letters_only), T(finding_gives_the_first_position_or_the_length),
          T(containing_finding_in_a_list_and_names), T(digits_are_counted_at_both_ends),
          T(width_counts_columns), T(fits_whole_characters),
          T(trimming_removes_blanks_at_both_ends), T(splitting_keeps_empty_pieces),
          T(the_base_name_ignores_slashes_at_the_end), T(distance_counts_single_changes),
          T(distance_stops_past_the_most_asked_for))
