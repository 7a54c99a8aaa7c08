#include "kernels/replay/slots.h"

#include <math.h>

#include "base/testing.h"

TEST(floats_become_the_bits_of_a_float32)
{
    static const struct {
        double value;
        int64_t bits;
    } cases[] = {
        {1.0, 0x3f800000},
        {0.125, 0x3e000000},
        {-2.0, INT64_C(0xc0000000)},
        {0.1, 0x3dcccccd},
        {0.0, 0},
        {1e-46, 0},
        {3.4028234663852886e38, 0x7f7fffff},
        {INFINITY, 0x7f800000},
    };
    int64_t bits;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(slot_f32_bits(cases[i].value, &bits));
        assert_int_equal(bits, cases[i].bits);
    }
    assert_false(slot_f32_bits(1e39, &bits));
    assert_false(slot_f32_bits(-3.5e38, &bits));
}

TEST(values_are_packed_by_type_and_mode)
{
    struct tree real = {.kind = TREE_REAL, .f = 1.0}, whole = {.kind = TREE_INT, .i = 5};
    struct slot s = {.dtype = slot_type_find(S("INT32"))};
    struct diag d;

    diag_init(&d);
    assert_int_equal(slot_pack(&s, &whole, (struct where){0}, &d), ST_OK);
    assert_int_equal(s.value, 5);
    assert_int_equal(slot_pack(&s, &real, (struct where){0}, &d), ST_FORMAT);
    s.is_packed = true;
    assert_int_equal(slot_pack(&s, &real, (struct where){0}, &d), ST_OK);
    assert_int_equal(s.value, 1065353216);
    s = (struct slot){.dtype = slot_type_find(S("FLOAT32_BITS"))};
    assert_int_equal(slot_pack(&s, &real, (struct where){0}, &d), ST_OK);
    assert_int_equal(s.value, 1065353216);
    assert_int_equal(slot_pack(&s, &whole, (struct where){0}, &d), ST_OK); /* packed already */
    assert_int_equal(s.value, 5);
    assert_int_equal(slot_pack(&s, NULL, (struct where){0}, &d), ST_FORMAT);
    diag_fini(&d);
}

static enum status slots_test_check(const struct slot *slots, size_t n, const char *text)
{
    struct slots list = {0};
    struct diag d;

    for (size_t i = 0; i < n; i++)
        vec_push(&list, slots[i]);
    diag_init(&d);
    enum status st = slots_check(&list, "a.json", &d);
    if (st != ST_OK)
        assert_non_null(strstr(d.entries.at[0].first[0].text, text));
    for (size_t i = 1; st == ST_OK && i < n; i++)
        assert_true(list.at[i - 1].index < list.at[i].index);
    diag_fini(&d);
    vec_free(&list);
    return st;
}

#define NUMBER(i)                                                                                  \
    {                                                                                              \
        .index = (i), .dtype = slot_type_find(S("INT64"))                                          \
    }

TEST(indexes_are_sorted_unique_and_in_range)
{
    assert_int_equal(slots_test_check((struct slot[]){NUMBER(47), NUMBER(0), NUMBER(5)}, 3, ""),
                     ST_OK);
    assert_int_equal(slots_test_check(NULL, 0, ""), ST_OK);
    assert_int_equal(slots_test_check((struct slot[]){NUMBER(1), NUMBER(0), NUMBER(1)}, 3,
                                      "Duplicate arg index 1"),
                     ST_FORMAT);
    assert_int_equal(
        slots_test_check((struct slot[]){NUMBER(48)}, 1,
                         "Arg index 48 is reserved for context pointers (slots 48, 49)"),
        ST_FORMAT);
    assert_int_equal(
        slots_test_check((struct slot[]){NUMBER(-1)}, 1, "Arg index -1 exceeds max slots (50)"),
        ST_FORMAT);
    assert_int_equal(
        slots_test_check((struct slot[]){NUMBER(50)}, 1, "Arg index 50 exceeds max slots (50)"),
        ST_FORMAT);
}

TEST(tensors_need_a_type_and_dimensions_that_fit)
{
    int64_t dims[] = {INT64_C(4294967295), INT64_C(4294967295), 2};
    struct slot tensor = {
        .is_tensor = true, .dtype = slot_type_find(S("FLOAT32")), .shape = dims, .rank = 1};
    int64_t bytes;

    assert_int_equal(slots_test_check(&tensor, 1, ""), ST_OK);
    assert_true(slot_bytes(&tensor, &bytes));
    assert_int_equal(bytes, INT64_C(4294967295) * 4);
    tensor.rank = 3;
    assert_int_equal(slots_test_check(&tensor, 1, "more than 2^63 bytes"), ST_LIMIT);
    tensor.rank = 0;
    assert_int_equal(slots_test_check(&tensor, 1, "dimensions"), ST_FORMAT);
    tensor.rank = 1;
    dims[0] = 0;
    assert_int_equal(slots_test_check(&tensor, 1, "dimension 0"), ST_FORMAT);
    dims[0] = 1;
    tensor.dtype = slot_type_find(S("FLOAT32_BITS"));
    assert_int_equal(slots_test_check(&tensor, 1, "FLOAT32_BITS"), ST_FORMAT);
}

TEST(slots_the_kernel_reads_and_nobody_fills_are_listed)
{
    struct slot given[] = {NUMBER(3)};
    struct slots slots = {.at = given, .n = 1, .cap = 1};
    struct kernel kernel = {.reads = {[3] = true, [17] = true, [30] = true, [48] = true}};
    struct arena arena;

    arena_init(&arena);
    assert_str(slots_missing(&slots, &kernel, &arena), "[17, 30]");
    kernel.reads[17] = kernel.reads[30] = false;
    assert_str(slots_missing(&slots, &kernel, &arena), "");
    arena_free(&arena);
}

TEST(identifiers)
{
    assert_true(slot_is_identifier(S("_a9")));
    assert_false(slot_is_identifier(S("")));
    assert_false(slot_is_identifier(S("9a")));
    assert_false(slot_is_identifier(S("a;b")));
    assert_false(slot_is_identifier(S("a\nb")));
}

TEST_MAIN("kernels/replay/slots", T(floats_become_the_bits_of_a_float32),
          T(values_are_packed_by_type_and_mode), T(indexes_are_sorted_unique_and_in_range),
          T(tensors_need_a_type_and_dimensions_that_fit),
          T(slots_the_kernel_reads_and_nobody_fills_are_listed), T(identifiers))
