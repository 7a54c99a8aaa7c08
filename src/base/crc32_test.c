#include "base/crc32.h"

#include <zlib.h>

#include "base/testing.h"

TEST(the_check_value_is_that_of_gzip)
{
    assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(crc32_add(0, "", 0), 0);
}

TEST(all_lengths_and_places_agree_with_zlib)
{
    static unsigned char bytes[2048];
    uint32_t seed = 1;

    for (size_t i = 0; i < sizeof(bytes); i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    for (size_t n = 0; n < 600; n++)
        for (size_t at = 0; at < 17; at++)
            assert_int_equal(crc32_add(seed, bytes + at, n), crc32_z(seed, bytes + at, n));
    assert_int_equal(crc32_add(0, bytes, sizeof(bytes)), crc32_z(0, bytes, sizeof(bytes)));
}

TEST(parts_make_the_same_as_the_whole)
{
    static const char text[] =
        "one block after the other, of any length, and then some bytes more, "
        "so that there is a rest behind the blocks and the last one is short";
    uint32_t whole = crc32_add(0, text, sizeof(text));

    for (size_t cut = 0; cut <= sizeof(text); cut++)
        assert_int_equal(crc32_add(crc32_add(0, text, cut), text + cut, sizeof(text) - cut), whole);
}

TEST_MAIN("base/crc32", T(the_check_value_is_that_of_gzip),
          T(all_lengths_and_places_agree_with_zlib), T(parts_make_the_same_as_the_whole))
