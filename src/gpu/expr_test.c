#include "gpu/expr.h"

#include <math.h>

#include "base/testing.h"

static const struct gpu_param params[] = {
    {S_INIT("b"), S_INIT("32"), 32, false},
    {S_INIT("t"), S_INIT("4096"), 4096, false},
    {S_INIT("dtype"), S_INIT("bf16"), NAN, true},
};

static double value_of(const char *text)
{
    struct arena arena;
    double value = -1;

    arena_init(&arena);
    const char *error =
        gpu_expr_eval(&arena, str_of(text), (struct gpu_param_list){params, 3}, &value);
    assert_null(error);
    arena_free(&arena);
    return value;
}

static void refuses(const char *text, const char *part)
{
    struct arena arena;
    double value;

    arena_init(&arena);
    const char *error =
        gpu_expr_eval(&arena, str_of(text), (struct gpu_param_list){params, 3}, &value);
    assert_non_null(error);
    assert_non_null(strstr(error, part));
    arena_free(&arena);
}

TEST(operators_bind_as_in_school_and_division_is_real)
{
    assert_true(value_of("1+2*3") == 7);
    assert_true(value_of("(1+2)*3") == 9);
    assert_true(value_of("7/2") == 3.5);
    assert_true(value_of("10 - 4 - 3") == 3);
    assert_true(value_of("17 % 5") == 2);
    assert_true(value_of("--2") == 2);
    assert_true(value_of("1.5e3+1e-1") == 1500.1);
}

TEST(functions_and_parameters)
{
    assert_true(value_of("max(b, t)") == 4096);
    assert_true(value_of("min(b,t)+ceil(2.1)+floor(2.9)+log2(8)") == 32 + 3 + 2 + 3);
    assert_true(value_of("bytesof(dtype)*b") == 64);
    assert_true(value_of("bytesof(fp8)") == 1);
    /* latent attention, b=32 h=128 s=1 t=4096 k=512 p=64: 2*32*128*4096*1088 = 3.651e10 */
    assert_true(value_of("2*b*128*1*t*(2*512+64)") == 36507222016.0);
}

TEST(mistakes_are_named)
{
    refuses("2*q", "no parameter \"q\"");
    refuses("dtype*2", "\"dtype\" is no number");
    refuses("bytesof(nonsense)", "no type \"nonsense\"");
    refuses("sin(1)", "no function \"sin\"");
    refuses("max(1)", "two values");
    refuses("(1", "closing bracket");
    refuses("1/0", "not finite");
    refuses("1-2", "negative");
    refuses("2 3", "does not belong");
    refuses("", "missing at the end");
    refuses("1..2", "no number");
}

TEST(deep_nesting_is_refused_not_followed)
{
    char text[2048];

    memset(text, '(', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    refuses(text, "too deeply");
}

TEST_MAIN("gpu/expr", T(operators_bind_as_in_school_and_division_is_real),
          T(functions_and_parameters), T(mistakes_are_named),
          T(deep_nesting_is_refused_not_followed))
