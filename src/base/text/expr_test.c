#include "base/text/expr.h"

#include <math.h>
#include <stdio.h>

#include "base/testing.h"

static const struct str names[] = {S_INIT("tokens"), S_INIT("D"), S_INIT("big")};
static const int64_t values[] = {7, 5120, INT64_MAX};

static const struct expr_function functions[] = {
    {S_INIT("max"), EXPR_MAX, 0, NULL},
    {S_INIT("min"), EXPR_MIN, 0, NULL},
    {S_INIT("abs"), EXPR_ABS, 1, NULL},
    {S_INIT("align"), EXPR_ALIGN, 2, NULL},
};
static const struct expr_language language = {.functions = functions,
                                              .functions_n = ARRAY_LEN(functions)};

static const char *evaluate(const char *text, struct expr_value *out)
{
    static char reason[200];
    struct arena arena;
    struct expr e;

    arena_init(&arena);
    const char *error =
        expr_compile(&arena, &language, str_of(text), (struct expr_names){names, 3}, &e);
    if (error == NULL)
        error = expr_run(&e, values, out);
    if (error != NULL) {
        snprintf(reason, sizeof(reason), "%s", error);
        error = reason;
    }
    arena_free(&arena);
    return error;
}

static void assert_int(const char *text, int64_t expected)
{
    struct expr_value v;
    const char *error = evaluate(text, &v);

    if (error != NULL || v.kind != EXPR_INT || v.i != expected)
        fail_msg("%s: %s", text, error != NULL ? error : "another value");
}

static void assert_bool(const char *text, bool expected)
{
    struct expr_value v;
    const char *error = evaluate(text, &v);

    if (error != NULL || v.kind != EXPR_BOOL || v.i != expected)
        fail_msg("%s: %s", text, error != NULL ? error : "another value");
}

static void assert_real(const char *text, double expected)
{
    struct expr_value v;
    const char *error = evaluate(text, &v);

    if (error != NULL || v.kind != EXPR_REAL || v.r != expected)
        fail_msg("%s: %s", text, error != NULL ? error : "another value");
}

static void expr_assert_refused(const char *text)
{
    struct expr_value v;

    if (evaluate(text, &v) == NULL)
        fail_msg("%s: accepted", text);
}

TEST(operators_bind_as_in_ordinary_arithmetic)
{
    assert_int("1+2*3", 7);
    assert_int("(1+2)*3", 9);
    assert_int("10-4-3", 3);
    assert_int("-2**2", -4);
    assert_int("2**3**2", 512);
    assert_int("2*-3", -6);
    assert_int("- -3", 3);
    assert_int("100//7//2", 7);
    assert_int("D//2", 2560);
    assert_bool("not 1 == 2", true);
    assert_bool("1+1 == 2 and 2*2 < 5", true);
}

TEST(division_rounds_down_and_the_rest_has_the_sign_of_the_divisor)
{
    assert_int("7//2", 3);
    assert_int("-7//2", -4);
    assert_int("7//-2", -4);
    assert_int("-7%4", 1);
    assert_int("7%-4", -1);
    assert_int("-8%4", 0);
    assert_real("7/2", 3.5);
    assert_real("8/2", 4);
    assert_real("(7/2)//1", 3);
    assert_real("-(7/2)//1", -4);
    assert_real("-(7/2)%2", 0.5);
    assert_real("2**-1", 0.5);
}

TEST(large_quotients_are_rounded_once)
{
    /* 9223372036854775807 / 3 = 3074457345618258602.33; doubles are 512 apart there, and
     * 6004799503160661 * 512 = 3074457345618258432 is the nearest. */
    assert_real("big/3", 3074457345618258432.0);
    assert_real("1/big", 0x1p-63);
}

TEST(comparisons_chain_and_logic_returns_the_deciding_operand)
{
    assert_bool("1 < 2 < 3", true);
    assert_bool("1 < 3 < 2", false);
    assert_bool("3 > 2 > 1 == 1", true);
    assert_bool("2 < 1 < 1//0", false);
    assert_int("tokens and 0", 0);
    assert_int("0 or tokens", 7);
    assert_int("tokens or 1//0", 7);
    assert_int("0 and 1//0 or 4", 4);
    assert_bool("not tokens", false);
    assert_bool("tokens>8 or D>1", true);
    assert_int("(1<2)+(2<3)", 2);
    assert_bool("big == big/1", false); /* 2^63 - 1 is no double */
}

TEST(functions_take_their_arguments)
{
    assert_int("max(3,1,2)", 3);
    assert_int("min(3)", 3);
    assert_int("abs (-3)", 3);
    assert_int("align(tokens, 8)", 8);
    assert_int("align(16, 8)", 16);
    assert_int("min(4096, max(16, tokens*8))", 56);
    assert_real("max(1, 3/2)", 1.5);
}

TEST(what_is_not_in_the_language_is_refused)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "1.5",
                                        "D.real",
                                        "D__x",
                                        "open(1)",
                                        "max",
                                        "max()",
                                        "max(1,)",
                                        "abs(1,2)",
                                        "align(1)",
                                        "unknown",
                                        "1 2",
                                        "1 +",
                                        "(1",
                                        "1)",
                                        "()",
                                        "True",
                                        "0x10",
                                        "1_000",
                                        "~5",
                                        "5|2",
                                        "1 <> 2",
                                        "1 = 1",
                                        "a if b",
                                        "'x'",
                                        "[1]",
                                        "not",
                                        "and 1",
                                        "1 and",
                                        "007",
                                        "tokens(1)",
                                        "1;2",
                                        "1,2",
                                        "lambda",
                                        "5 == not 1",
                                        "9223372036854775808",
                                        "\xff"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        expr_assert_refused(texts[i]);
}

TEST(errors_while_running_are_told)
{
    static const char *const texts[] = {
        "7//0",      "7%0",         "7/0",           "7/0/1",  "big+1",       "-big-2",
        "big*2",     "2**63",       "(-big-1)//-1",  "0**-1",  "(-8)**(1/3)", "(2/1)**5000",
        "-(-big-1)", "abs(-big-1)", "align(big, 2)", "7%(0/1)"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        expr_assert_refused(texts[i]);
    assert_int("(-big-1)%-1", 0);
    assert_int("(-2)**63", INT64_MIN);
}

TEST(nesting_and_length_are_bounded)
{
    static char text[EXPR_BYTES + 2];
    struct expr_value v;

    memset(text, '(', 20000);
    assert_non_null(evaluate(text, &v));
    memset(text, '-', 20000);
    assert_non_null(evaluate(text, &v));
    for (size_t i = 0; i < 20000; i += 4)
        memcpy(text + i, "not ", 4);
    assert_non_null(evaluate(text, &v));
    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "1+", 2);
    text[sizeof(text) - 1] = '\0';
    assert_non_null(evaluate(text, &v)); /* one byte too long */
    text[EXPR_BYTES - 1] = '\0';
    assert_null(evaluate(text, &v));
    assert_int_equal(v.i, EXPR_BYTES / 2);
}

TEST(a_whole_number_is_cut_toward_zero)
{
    int64_t dim;

    assert_true(expr_whole((struct expr_value){.kind = EXPR_REAL, .r = -3.9}, &dim));
    assert_int_equal(dim, -3);
    assert_true(expr_whole((struct expr_value){.kind = EXPR_BOOL, .i = 1}, &dim));
    assert_int_equal(dim, 1);
    assert_false(expr_whole((struct expr_value){.kind = EXPR_REAL, .r = 1e19}, &dim));
    assert_false(expr_whole((struct expr_value){.kind = EXPR_REAL, .r = NAN}, &dim));
}

TEST_MAIN("base/text/expr", T(operators_bind_as_in_ordinary_arithmetic),
          T(division_rounds_down_and_the_rest_has_the_sign_of_the_divisor),
          T(large_quotients_are_rounded_once),
          T(comparisons_chain_and_logic_returns_the_deciding_operand),
          T(functions_take_their_arguments), T(what_is_not_in_the_language_is_refused),
          T(errors_while_running_are_told), T(nesting_and_length_are_bounded),
          T(a_whole_number_is_cut_toward_zero))
