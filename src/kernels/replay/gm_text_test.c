#include "kernels/replay/gm_text.h"

#include "base/testing.h"

#define HEAD                                                                                       \
    "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32, gm> {x = 1}, %n: index) {\n"                \
    "  %c1 = arith.constant 1 : index\n  %c4 = arith.constant 4 : index\n"                         \
    "  %c10 = arith.constant 10 : index\n  %c100 = arith.constant 100 : index\n"

static int64_t size_of(const char *text, size_t arg)
{
    struct arena arena;
    struct gm_text g;

    arena_init(&arena);
    gm_text_scan(&arena, str_of(text), S("k"), &g);
    int64_t elements = gm_text_elements(&g, arg);
    arena_free(&arena);
    return elements;
}

TEST(the_largest_view_counts)
{
    const char *text =
        HEAD "%v = pto.make_tensor_view %a, shape = [%c4, %c10], strides = [%c100, %c1] : t\n"
             "%w = pto.make_tensor_view %a, shape = [%c10, %c10] strides = [%c10, %c1] : t\n";

    assert_int_equal(size_of(text, 0), 1 + 3 * 100 + 9);
    assert_int_equal(size_of(text, 1), GM_TEXT_NO_VIEW);
}

TEST(numbers_are_followed_to_their_constants)
{
    assert_int_equal(size_of(HEAD "%x = arith.muli %c4, %c10 : index\n"
                                  "%y = arith.addi %x, %c1 : index\n"
                                  "%v = pto.make_tensor_view %b, shape = [%y], strides = [%c1]",
                             1),
                     41);
    assert_int_equal(size_of(HEAD "%x = arith.muli %n, %c10 : index\n"
                                  "%v = pto.make_tensor_view %b, shape = [%x], strides = [%c1]",
                             1),
                     256);
    assert_int_equal(
        size_of(HEAD "%v = pto.make_tensor_view %b, shape = [%c4, %undefined], strides = [%c1]", 1),
        4 * 256);
}

TEST(offsets_of_pointers_count)
{
    assert_int_equal(size_of(HEAD "%p = pto.addptr %a, %c100 : t\n%q = pto.addptr %p, %n : t\n"
                                  "%v = pto.make_tensor_view %p, shape = [%c4], strides = [%c1]",
                             0),
                     104);
    assert_int_equal(size_of(HEAD "%p = pto.addptr %a, %n : t\n"
                                  "%v = pto.make_tensor_view %p, shape = [%c4], strides = [%c1]",
                             0),
                     260);
}

TEST(both_halves_of_a_mixed_kernel_count_by_position)
{
    assert_int_equal(
        size_of("func.func @k_aic(%a: !pto.ptr<f32>) { %c = arith.constant 8 : index\n"
                "%v = pto.make_tensor_view %a, shape = [%c], strides = [%c] : t }\n"
                "func.func @k_aiv(%x: !pto.ptr<f32>) { %c = arith.constant 9 : index\n"
                "%v = pto.make_tensor_view %x, shape = [%c], strides = [%c] : t }\n"
                "func.func private @help(%x: !pto.ptr<f32>) { %c = arith.constant 99 : index\n"
                "%v = pto.make_tensor_view %x, shape = [%c], strides = [%c] : t }\n",
                0),
        1 + 8 * 9);
}

TEST(sizes_that_do_not_fit_are_told_so)
{
    assert_int_equal(size_of(HEAD
                             "%h = arith.constant 9223372036854775807 : index\n"
                             "%v = pto.make_tensor_view %a, shape = [%h, %h], strides = [%h, %h]",
                             0),
                     INT64_MAX);
    assert_int_equal(size_of("func.func @k(", 0), GM_TEXT_NO_VIEW);
    assert_int_equal(size_of("%v = pto.make_tensor_view %a, shape = [", 0), GM_TEXT_NO_VIEW);
}

TEST_MAIN("kernels/replay/gm_text", T(the_largest_view_counts),
          T(numbers_are_followed_to_their_constants), T(offsets_of_pointers_count),
          T(both_halves_of_a_mixed_kernel_count_by_position), T(sizes_that_do_not_fit_are_told_so))
