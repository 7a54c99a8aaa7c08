#include "gpu/params.h"

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

TEST_MAIN("gpu/params", T(a_slug_names_sizes_first_and_the_type_last),
          T(a_long_slug_is_cut_and_hashed), T(names_of_params_json_are_taken))
