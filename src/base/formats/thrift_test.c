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

TEST_MAIN("base/formats/thrift", T(fields_carry_the_distance_to_the_one_before),
          T(structs_count_their_own_fields), T(lists_of_15_and_more_have_a_longer_head))
