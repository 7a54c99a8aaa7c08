#include "base/text/utf16.h"

#include "base/testing.h"
#include "base/testing_arena.h"

#define BYTES(text) ((struct str){text, sizeof(text) - 1})

#define assert_plain(text, expected) assert_str(utf16_plain(&arena, text), expected)

TEST(both_byte_orders_are_read)
{
    assert_plain(BYTES("\xff\xfe"
                       "a\0\n\0"),
                 "a\n");
    assert_plain(BYTES("\xfe\xff\0a\0\n"), "a\n");
    assert_plain(BYTES("\xff\xfe"), "");
}

TEST(every_length_of_utf8_is_written)
{
    /* U+00E9, U+2014, U+1F600 */
    assert_plain(BYTES("\xff\xfe\xe9\x00\x14\x20\x3d\xd8\x00\xde"),
                 "\xc3\xa9\xe2\x80\x94\xf0\x9f\x98\x80");
}

TEST(what_is_cut_or_alone_is_replaced)
{
    assert_plain(BYTES("\xff\xfe"
                       "a\0b"),
                 "a\xef\xbf\xbd");
    assert_plain(BYTES("\xff\xfe\x3d\xd8"), "\xef\xbf\xbd");
    assert_plain(BYTES("\xff\xfe\x3d\xd8"
                       "a\0"),
                 "\xef\xbf\xbd"
                 "a");
    assert_plain(BYTES("\xff\xfe\x00\xde"), "\xef\xbf\xbd");
}

TEST(other_text_is_left_alone)
{
    struct str text = S("\xef\xbb\xbf"
                        "a");

    assert_false(utf16_is(text));
    assert_ptr_equal(utf16_plain(&arena, text).at, text.at);
    assert_plain(S(""), "");
}

TEST_MAIN("base/text/utf16", TA(both_byte_orders_are_read), TA(every_length_of_utf8_is_written),
          TA(what_is_cut_or_alone_is_replaced), TA(other_text_is_left_alone))
