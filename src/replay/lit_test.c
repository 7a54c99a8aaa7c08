#include "replay/lit.h"

#include "base/testing_arena.h"

static struct lit lit;

static enum status read(struct str text)
{
    return lit_read_json(&arena, text, "in.json", &lit, &diag);
}

TEST(a_document_becomes_a_tree_with_lines)
{
    assert_int_equal(read(S("{\"a\": [1, -2.5, true, null],\n \"b\": \"x\\u0041\"}")), ST_OK);
    const struct lit *a = lit_get(&lit, S("a"));
    assert_int_equal(a->n, 4);
    assert_int_equal(a->at[0].kind, LIT_INT);
    assert_true(a->at[1].kind == LIT_FLOAT && a->at[1].f == -2.5);
    assert_int_equal(a->at[2].kind, LIT_BOOL);
    assert_int_equal(a->at[3].kind, LIT_NONE);
    assert_str(lit_text(lit_get(&lit, S("b"))), "xA");
    assert_int_equal(lit_get(&lit, S("b"))->line, 2);
    assert_null(lit_get(&lit, S("c")));
}

TEST(integers_keep_64_bits_and_larger_ones_are_no_integers)
{
    int64_t value;
    double real;

    assert_int_equal(read(S("[-9223372036854775808, 18446744073709551615, "
                            "18446744073709551616]")),
                     ST_OK);
    assert_true(lit_int(&lit.at[0], &value) && value == INT64_MIN);
    assert_true(lit.at[1].is_unsigned && (uint64_t)lit.at[1].i == UINT64_MAX);
    assert_false(lit_int(&lit.at[1], &value));
    assert_true(lit_number(&lit.at[1], &real) && real == 0x1p64);
    assert_true(lit_number(&lit.at[0], &real) && real == -0x1p63);
    assert_false(lit_number(&lit.at[2], &real));
    assert_int_equal(lit.at[2].kind, LIT_COMPUTED);
}

TEST(the_last_of_two_equal_keys_wins)
{
    int64_t value;

    assert_int_equal(read(S("{\"a\": 1, \"a\": 2}")), ST_OK);
    assert_true(lit_int(lit_get(&lit, S("a")), &value));
    assert_int_equal(value, 2);
}

TEST(damage_is_told_with_its_line)
{
    static const char *const texts[] = {"", "{", "[1,]", "{\"a\" 1}", "[1] 2", "nul"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(read(str_of(texts[i])), ST_FORMAT);
        assert_int_equal(diag_count(&diag, "replay.bad-json"), i + 1);
    }
}

TEST(deep_nesting_is_refused)
{
    char text[2 * (LIT_DEPTH + 2)];

    memset(text, '[', sizeof(text) / 2);
    memset(text + sizeof(text) / 2, ']', sizeof(text) / 2);
    assert_int_equal(read((struct str){text, sizeof(text)}), ST_LIMIT);
}

TEST_MAIN("replay/lit", TA(a_document_becomes_a_tree_with_lines),
          TA(integers_keep_64_bits_and_larger_ones_are_no_integers),
          TA(the_last_of_two_equal_keys_wins), TA(damage_is_told_with_its_line),
          TA(deep_nesting_is_refused))
