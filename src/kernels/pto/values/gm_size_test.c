#include "kernels/pto/values/gm_size.h"

#include "kernels/pto/testing_pto.h"

/* Sizes of the first function of a text, problems or not. */
static void sizes(const char *args, const char *body, const struct pto_gm_scalar *scalars,
                  struct pto_gm_size *out)
{
    struct arena arena;
    struct pto_module m;

    arena_init(&arena);
    struct str text = arena_format(
        &arena,
        "module {\nfunc.func @k(%s) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        "%%c0 = arith.constant 0 : index\n%%c1 = arith.constant 1 : index\n"
        "%%c8 = arith.constant 8 : index\n%%c100 = arith.constant 100 : "
        "index\n%s\nreturn\n}\n%s}\n",
        args, body,
        "func.func private @help(%p: !pto.ptr<f32>, %n: index) {\n"
        "%one = arith.constant 1 : index\n"
        "%v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %one] : "
        "!pto.tensor_view<?x?xf32>\nreturn\n}\n");
    (void)testing_read(&m, text);
    pto_gm_sizes(&m, &m.functions.at[0], scalars, false, out);
    pto_module_fini(&m);
    arena_free(&arena);
}

#define ONE "%a: !pto.ptr<f32>, %n: index"

TEST(the_largest_view_counts)
{
    struct pto_gm_size s[2];

    sizes(ONE,
          "%v = pto.make_tensor_view %a, shape = [%c8, %c8], strides = [%c100, %c1] : "
          "!pto.tensor_view<?x?xf32>\n"
          "%w = pto.make_tensor_view %a, shape = [%c8], strides = [%c1] : !pto.tensor_view<?xf32>",
          NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 7 * 100 + 7 + 1);
    assert_int_equal(pto_gm_bytes(&s[0]), 708 * 4);
    assert_true(s[0].is_pointer && s[0].has_view && !s[0].is_dynamic);
    assert_false(s[1].is_pointer);
}

TEST(numbers_of_run_time_count_as_256_unless_they_are_given)
{
    static const char *body =
        "%v = pto.make_tensor_view %a, shape = [%n, %c8], strides = [%c8, %c1] : "
        "!pto.tensor_view<?x?xf32>";
    struct pto_gm_scalar given[2] = {{0}, {true, 10}};
    struct pto_gm_size s[2];

    sizes(ONE, body, NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 256 * 8);
    assert_true(s[0].is_dynamic);
    sizes(ONE, body, given, s);
    assert_int_equal(pto_gm_elements(&s[0]), 80);
    assert_false(s[0].is_dynamic);
}

TEST(constants_are_computed)
{
    struct pto_gm_size s[2];

    sizes(ONE,
          "%x = arith.muli %c8, %c100 : index\n%y = arith.addi %x, %c1 : index\n"
          "%v = pto.make_tensor_view %a, shape = [%y], strides = [%c1] : !pto.tensor_view<?xf32>",
          NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 801);
}

TEST(offsets_of_pointers_and_scalars_count)
{
    struct pto_gm_size s[2];

    sizes(ONE,
          "%p = pto.addptr %a, %c100 : !pto.ptr<f32> -> !pto.ptr<f32>\n"
          "%v = pto.make_tensor_view %p, shape = [%c8], strides = [%c1] : !pto.tensor_view<?xf32>",
          NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 108);
    sizes(ONE,
          "%v = pto.make_tensor_view %a, shape = [%c8], strides = [%c1] : !pto.tensor_view<?xf32>\n"
          "%x = pto.load_scalar %a[%c100] : !pto.ptr<f32> -> f32",
          NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 101);
}

TEST(a_pointer_without_a_view_is_large)
{
    struct pto_gm_size s[2];

    sizes(ONE, "", NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 1 << 20);
}

TEST(views_in_called_functions_count_for_the_caller)
{
    struct pto_gm_size s[2];

    sizes(ONE, "func.call @help(%a, %c8) : (!pto.ptr<f32>, index) -> ()", NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 64);
}

TEST(problems_of_the_text_do_not_matter)
{
    struct pto_gm_size s[2];

    sizes(ONE,
          "%v = pto.make_tensor_view %a, shape = [%nowhere, %c8], strides = [%c8, %c1] : "
          "!pto.tensor_view<?x?xf32>",
          NULL, s);
    assert_int_equal(pto_gm_elements(&s[0]), 2048);
}

TEST(sizes_that_do_not_fit_stay_large)
{
    struct pto_gm_scalar given[2] = {{0}, {true, INT64_MAX}};
    struct pto_gm_size s[2];

    sizes(ONE,
          "%v = pto.make_tensor_view %a, shape = [%n, %n], strides = [%n, %c1] : "
          "!pto.tensor_view<?x?xf32>",
          given, s);
    assert_true(pto_gm_bytes(&s[0]) == SIZE_MAX);
}

TEST_MAIN("kernels/pto/values/gm_size", T(the_largest_view_counts),
          T(numbers_of_run_time_count_as_256_unless_they_are_given), T(constants_are_computed),
          T(offsets_of_pointers_and_scalars_count), T(a_pointer_without_a_view_is_large),
          T(views_in_called_functions_count_for_the_caller), T(problems_of_the_text_do_not_matter),
          T(sizes_that_do_not_fit_stay_large))
