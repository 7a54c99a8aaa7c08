#include "base/formats/thrift.h"

#include "base/testing.h"

TEST(fields_carry_the_distance_to_the_one_before)
{
    struct thrift t = {0};

    thrift_i32(&t, 1, -1);
    thrift_i64(&t, 3, 300);
    thrift_binary(&t, 30, S("ab")); /* too far: the number itself, zigzag */
    thrift_end(&t);
    assert_str(text_view(&t.out), "\x15\x01\x26\xd8\x04\x08\x3c\x02"
                                  "ab\x00");
    text_free(&t.out);
}

TEST(structs_count_their_own_fields)
{
    struct thrift t = {0};

    thrift_struct(&t, 2);
    thrift_i32(&t, 1, 7);
    thrift_end(&t);
    thrift_i32(&t, 3, 8);
    thrift_end(&t);
    assert_str(text_view(&t.out), "\x2c\x15\x0e\x00\x15\x10\x00");
    text_free(&t.out);
}

TEST(lists_of_15_and_more_have_a_longer_head)
{
    struct thrift t = {0};

    thrift_list(&t, 1, THRIFT_I32, 2);
    thrift_item_int(&t, 3);
    thrift_item_int(&t, -3);
    thrift_list(&t, 2, THRIFT_BINARY, 1);
    thrift_item_binary(&t, S("x"));
    thrift_list(&t, 3, THRIFT_STRUCT, 16);
    for (int i = 0; i < 16; i++) {
        thrift_item(&t);
        thrift_end(&t);
    }
    thrift_end(&t);
    assert_str(text_view(&t.out),
               "\x19\x25\x06\x05\x19\x18\x01x\x19\xfc\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    text_free(&t.out);
}

/* Fields 1 (-5), 20 (a list of two structs, each with a text) and 21 (skipped). */
TEST(what_was_written_is_read)
{
    struct thrift t = {0};
    enum thrift_type type;
    int id;

    thrift_i64(&t, 1, -5);
    thrift_list(&t, 20, THRIFT_STRUCT, 2);
    for (int i = 0; i < 2; i++) {
        thrift_item(&t);
        thrift_binary(&t, 3, i == 0 ? S("ab") : S(""));
        thrift_end(&t);
    }
    thrift_struct(&t, 21);
    thrift_list(&t, 1, THRIFT_I32, 3);
    for (int i = 0; i < 3; i++)
        thrift_item_int(&t, 1000 * i);
    thrift_end(&t);
    thrift_i32(&t, 22, 9);
    thrift_end(&t);

    struct thrift_in in = {.text = text_view(&t.out)};
    assert_true(thrift_next(&in, &id, &type) && id == 1 && type == THRIFT_I64);
    assert_int_equal(thrift_number(&in), -5);
    assert_true(thrift_next(&in, &id, &type) && id == 20 && type == THRIFT_LIST);
    assert_int_equal(thrift_items(&in, &type), 2);
    for (int i = 0; i < 2; i++) {
        thrift_open(&in);
        assert_true(thrift_next(&in, &id, &type) && id == 3);
        assert_true(str_equal(thrift_bytes(&in), i == 0 ? S("ab") : S("")));
        assert_false(thrift_next(&in, &id, &type));
    }
    assert_true(thrift_next(&in, &id, &type) && id == 21 && type == THRIFT_STRUCT);
    thrift_skip(&in, type);
    assert_true(thrift_next(&in, &id, &type) && id == 22);
    assert_int_equal(thrift_number(&in), 9);
    assert_false(thrift_next(&in, &id, &type));
    assert_false(in.is_bad);
    text_free(&t.out);
}

TEST(hostile_messages_end_early)
{
    static const struct str wrong[] = {
        S_INIT(""),
        S_INIT("\x15"),
        S_INIT("\x1f"),
        S_INIT("\x18\x05"
               "abc"),
        S_INIT("\x19\xf5\xff\xff\xff\x7f\x01"), /* a list of more than there is */
        S_INIT("\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c"),
        S_INIT("\x1b\xff\xff\x03\x55"),
        S_INIT("\x05\xff\xff\xff\xff\x0f\x00")};
    enum thrift_type type;
    int id;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct thrift_in in = {.text = wrong[i]};
        while (thrift_next(&in, &id, &type))
            thrift_skip(&in, type);
        assert_true(in.is_bad);
    }
}

TEST_MAIN("base/formats/thrift", T(what_was_written_is_read), T(hostile_messages_end_early),
          T(fields_carry_the_distance_to_the_one_before), T(structs_count_their_own_fields),
          T(lists_of_15_and_more_have_a_longer_head))
