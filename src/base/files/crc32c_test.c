#include "base/files/crc32c.h"

#include <string.h>

#include "base/testing.h"

/* Bit by bit, as the definition says. */
static uint32_t slow(const uint8_t *at, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

TEST(the_check_value_of_the_standard)
{
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(0, "", 0), 0);
}

TEST(every_length_and_place_agrees_with_the_definition)
{
    uint8_t bytes[80];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t from = 0; from < 9; from++)
        for (size_t n = 0; from + n <= sizeof(bytes); n++)
            assert_int_equal(crc32c(0, bytes + from, n), slow(bytes + from, n));
}

TEST(pieces_give_the_checksum_of_the_whole)
{
    const char *text = "a chain of blocks that only grows";

    for (size_t cut = 0; cut <= strlen(text); cut++)
        assert_int_equal(crc32c(crc32c(0, text, cut), text + cut, strlen(text) - cut),
                         crc32c(0, text, strlen(text)));
}

TEST_MAIN("base/files/crc32c", T(the_check_value_of_the_standard),
          T(every_length_and_place_agrees_with_the_definition),
          T(pieces_give_the_checksum_of_the_whole))
