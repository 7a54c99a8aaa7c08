#include "gpu/collect/params.h"

#include <math.h>

#include "base/testing.h"

static void assign(struct gpu_params *p, struct arena *arena, const char *text)
{
    struct diag d;

    diag_init(&d);
    assert_int_equal(gpu_params_assign(p, arena, text, &d), ST_OK);
    diag_fini(&d);
}

TEST(a_slug_names_sizes_first_and_the_type_last)
{
    struct arena arena;
    struct gpu_params p = {0}, usual = {0};

    arena_init(&arena);
    assert_str(gpu_params_slug(&arena, &p, NULL), "default");
    assign(&p, &arena, "dtype=bfloat16");
    assign(&p, &arena, "t=4096");
    assign(&p, &arena, "h=128");
    assign(&p, &arena, "b=32");
    assign(&p, &arena, "s=1");
    assign(&p, &arena, "s=16"); /* the last one wins */
    assign(&usual, &arena, "h=128");
    assert_str(gpu_params_slug(&arena, &p, &usual), "b32_s16_t4096_bfloat16");
    assert_str(gpu_params_slug(&arena, &p, NULL), "b32_s16_t4096_h128_bfloat16");
    assign(&p, &arena, "mode_name=a/b c");
    assert_str(gpu_params_slug(&arena, &p, &usual), "b32_s16_t4096_mode_namea-b-c_bfloat16");
    gpu_params_free(&p);
    gpu_params_free(&usual);
    arena_free(&arena);
}

TEST(a_long_slug_is_cut_and_hashed)
{
    struct arena arena;
    struct gpu_params p = {0};
    char text[200];

    arena_init(&arena);
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "name=", 5);
    text[sizeof(text) - 1] = '\0';
    assign(&p, &arena, text);
    struct str slug = gpu_params_slug(&arena, &p, NULL);
    assert_int_equal(slug.n, 80 + 1 + 8);
    gpu_params_free(&p);
    arena_free(&arena);
}

TEST(names_of_params_json_are_taken)
{
    struct arena arena;
    struct gpu_params p = {0};
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    assert_int_equal(gpu_params_assign(&p, &arena, "device=1", &d), ST_FORMAT);
    assert_int_equal(diag_count(&d, "gpu.reserved-param"), 1);
    assert_int_equal(gpu_params_assign(&p, &arena, "b", &d), ST_FORMAT);
    assert_int_equal(gpu_params_assign(&p, &arena, "1b=2", &d), ST_FORMAT);
    assert_int_equal(diag_count(&d, "gpu.bad-param"), 2);
    diag_fini(&d);
    gpu_params_free(&p);
    arena_free(&arena);
}

static struct gpu_param sizes[] = {
    {S_INIT("b"), S_INIT("32"), 32, false},
    {S_INIT("t"), S_INIT("4096"), 4096, false},
    {S_INIT("dtype"), S_INIT("bf16"), NAN, true},
};

static const struct gpu_params formula_params = {{sizes, 3, 3}};

static double params_value_of(const char *text)
{
    struct arena arena;
    double value = -1;

    arena_init(&arena);
    const char *error = gpu_params_eval(&formula_params, &arena, str_of(text), &value);
    assert_null(error);
    arena_free(&arena);
    return value;
}

static void refuses(const char *text, const char *part)
{
    struct arena arena;
    double value;

    arena_init(&arena);
    const char *error = gpu_params_eval(&formula_params, &arena, str_of(text), &value);
    assert_non_null(error);
    assert_non_null(strstr(error, part));
    arena_free(&arena);
}

TEST(operators_bind_as_in_school_and_division_is_real)
{
    assert_true(params_value_of("1+2*3") == 7);
    assert_true(params_value_of("(1+2)*3") == 9);
    assert_true(params_value_of("7/2") == 3.5);
    assert_true(params_value_of("10 - 4 - 3") == 3);
    assert_true(params_value_of("17 % 5") == 2);
    assert_true(params_value_of("--2") == 2);
    assert_true(params_value_of("1.5e3+1e-1") == 1500.1);
}

TEST(functions_and_parameters)
{
    assert_true(params_value_of("max(b, t)") == 4096);
    assert_true(params_value_of("min(b,t)+ceil(2.1)+floor(2.9)+log2(8)") == 32 + 3 + 2 + 3);
    assert_true(params_value_of("bytesof(dtype)*b") == 64);
    assert_true(params_value_of("bytesof(fp8)") == 1);
    /* latent attention, b=32 h=128 s=1 t=4096 k=512 p=64: 2*32*128*4096*1088 = 3.651e10 */
    assert_true(params_value_of("2*b*128*1*t*(2*512+64)") == 36507222016.0);
}

TEST(mistakes_are_named)
{
    refuses("2*q", "no parameter \"q\"");
    refuses("dtype*2", "\"dtype\" is not a number");
    refuses("bytesof(nonsense)", "no type \"nonsense\"");
    refuses("sin(1)", "unknown function 'sin'");
    refuses("max(1)", "takes 2, not 1 arguments");
    refuses("(1", "')' expected");
    refuses("1/0", "not finite");
    refuses("1-2", "negative");
    refuses("2 3", "an operator expected");
    refuses("", "empty");
    refuses("1..2", "not a number");
}

TEST(deep_nesting_is_refused_not_followed)
{
    char text[2048];

    memset(text, '(', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    refuses(text, "too deeply");
}

TEST_MAIN("gpu/collect/params", T(a_slug_names_sizes_first_and_the_type_last),
          T(a_long_slug_is_cut_and_hashed), T(names_of_params_json_are_taken),
          T(operators_bind_as_in_school_and_division_is_real), T(functions_and_parameters),
          T(mistakes_are_named), T(deep_nesting_is_refused_not_followed))
