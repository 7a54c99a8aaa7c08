#include "replay/lit.h"

#include "base/testing.h"

struct fixture {
    struct arena arena;
    struct diag diag;
    struct lit lit;
};

static enum status read(struct fixture *f, struct str text)
{
    arena_init(&f->arena);
    diag_init(&f->diag);
    return lit_read_json(&f->arena, text, "in.json", &f->lit, &f->diag);
}

static void done(struct fixture *f)
{
    arena_free(&f->arena);
    diag_fini(&f->diag);
}

TEST(a_document_becomes_a_tree_with_lines)
{
    struct fixture f;

    assert_int_equal(read(&f, S("{\"a\": [1, -2.5, true, null],\n \"b\": \"x\\u0041\"}")), ST_OK);
    const struct lit *a = lit_get(&f.lit, S("a"));
    assert_int_equal(a->n, 4);
    assert_int_equal(a->at[0].kind, LIT_INT);
    assert_true(a->at[1].kind == LIT_FLOAT && a->at[1].f == -2.5);
    assert_int_equal(a->at[2].kind, LIT_BOOL);
    assert_int_equal(a->at[3].kind, LIT_NONE);
    assert_str(lit_text(lit_get(&f.lit, S("b"))), "xA");
    assert_int_equal(lit_get(&f.lit, S("b"))->line, 2);
    assert_null(lit_get(&f.lit, S("c")));
    done(&f);
}

TEST(integers_keep_64_bits_and_larger_ones_are_no_integers)
{
    struct fixture f;
    int64_t value;
    double real;

    assert_int_equal(read(&f, S("[-9223372036854775808, 18446744073709551615, "
                                "18446744073709551616]")),
                     ST_OK);
    assert_true(lit_int(&f.lit.at[0], &value) && value == INT64_MIN);
    assert_true(f.lit.at[1].is_unsigned && (uint64_t)f.lit.at[1].i == UINT64_MAX);
    assert_false(lit_int(&f.lit.at[1], &value));
    assert_true(lit_number(&f.lit.at[1], &real) && real == 0x1p64);
    assert_true(lit_number(&f.lit.at[0], &real) && real == -0x1p63);
    assert_false(lit_number(&f.lit.at[2], &real));
    assert_int_equal(f.lit.at[2].kind, LIT_COMPUTED);
    done(&f);
}

TEST(the_last_of_two_equal_keys_wins)
{
    struct fixture f;
    int64_t value;

    assert_int_equal(read(&f, S("{\"a\": 1, \"a\": 2}")), ST_OK);
    assert_true(lit_int(lit_get(&f.lit, S("a")), &value));
    assert_int_equal(value, 2);
    done(&f);
}

TEST(damage_is_told_with_its_line)
{
    static const char *const texts[] = {"", "{", "[1,]", "{\"a\" 1}", "[1] 2", "nul"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct fixture f;
        assert_int_equal(read(&f, str_of(texts[i])), ST_FORMAT);
        assert_int_equal(diag_count(&f.diag, "replay.bad-json"), 1);
        done(&f);
    }
}

TEST(deep_nesting_is_refused)
{
    char text[2 * (LIT_DEPTH + 2)];
    struct fixture f;

    memset(text, '[', sizeof(text) / 2);
    memset(text + sizeof(text) / 2, ']', sizeof(text) / 2);
    assert_int_equal(read(&f, (struct str){text, sizeof(text)}), ST_LIMIT);
    done(&f);
}

TEST_MAIN("replay/lit", T(a_document_becomes_a_tree_with_lines),
          T(integers_keep_64_bits_and_larger_ones_are_no_integers),
          T(the_last_of_two_equal_keys_wins), T(damage_is_told_with_its_line),
          T(deep_nesting_is_refused))
