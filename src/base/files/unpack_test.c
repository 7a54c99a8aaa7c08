#include "base/files/unpack.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/files/zstd_pack.h"
#include "base/testing.h"

static void check(enum unpack_codec codec, struct str packed, struct str plain)
{
    char *out = malloc(plain.n + 1); /* exact, so that a byte too many shows */

    assert_true(unpack_block(codec, packed, out, plain.n));
    if (plain.n > 0)
        assert_memory_equal(out, plain.at, plain.n);
    assert_false(unpack_block(codec, packed, out, plain.n + 1));
    if (plain.n > 0)
        assert_false(unpack_block(codec, packed, out, plain.n - 1));
    for (size_t cut = 0; cut < packed.n; cut += 1 + cut / 16)
        assert_false(unpack_block(codec, str_part(packed, 0, cut), out, plain.n));
    free(out);
}

static void check_append(enum unpack_codec codec, struct str packed, struct str plain)
{
    struct text out = {0};

    text_put(&out, S("before "));
    assert_true(unpack_append(codec, packed, plain.n, &out));
    assert_true(str_equal(str_part(text_view(&out), 7, out.n), plain));
    text_clear(&out);
    assert_false(unpack_append(codec, packed, plain.n - 1, &out)); /* a bomb ends at its limit */
    assert_true(out.n <= plain.n - 1);
    text_clear(&out);
    assert_false(unpack_append(codec, str_part(packed, 0, packed.n / 2), plain.n, &out));
    assert_true(str_starts(plain, text_view(&out)));
    text_free(&out);
}

/* Worked out by hand from Snappy's format description. */
TEST(snappy_has_literals_and_copies)
{
    check(UNPACK_SNAPPY, S("\x00"), S(""));
    check(UNPACK_SNAPPY,
          S("\x03\x08"
            "abc"),
          S("abc"));
    check(UNPACK_SNAPPY,
          S("\x09\x08"
            "abc\x09\x03"),
          S("abcabcabc")); /* six bytes, three back */
    check(UNPACK_SNAPPY,
          S("\x07\x00"
            "a\x16\x01\x00"),
          S("aaaaaaa")); /* a copy of two bytes' offset */
    check(UNPACK_SNAPPY,
          S("\x07\x00"
            "a\x17\x01\x00\x00\x00"),
          S("aaaaaaa"));
    check(UNPACK_SNAPPY,
          S("\x02\xf0\x01"
            "ab"),
          S("ab"));
}

TEST(hostile_snappy_is_refused)
{
    static const struct str wrong[] = {
        S_INIT("\x04\x01\x01"), /* a copy of what is not there */
        S_INIT("\x04\x00"
               "a\x01\x00"), /* nothing back */
        S_INIT("\x04\xfc\xff\xff\xff\xff"
               "abcd"), /* a literal of 4 GiB */
        S_INIT("\x80\x80\x80\x80\x80\x80\x01\x00"
               "a"), /* a size of six bytes */
        S_INIT("\x04\x0c"
               "abcde"), /* something behind the end */
    };
    char out[4];

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(unpack_block(UNPACK_SNAPPY, wrong[i], out, sizeof(out)));
}

TEST(zlib_gzip_and_zstd_unpack_to_their_size)
{
    struct text plain = {0}, zstd = {0};
    unsigned char packed[20000];
    uLongf n = sizeof(packed);

    for (int i = 0; i < 30000; i++)
        text_format(&plain, "%d,", i * i % 1000);
    assert_int_equal(compress2(packed, &n, (const Bytef *)plain.at, plain.n, 9), Z_OK);
    check(UNPACK_ZLIB, (struct str){(char *)packed, n}, text_view(&plain));
    check_append(UNPACK_ZLIB, (struct str){(char *)packed, n}, text_view(&plain));
    zstd_pack(&zstd, text_view(&plain));
    check(UNPACK_ZSTD, text_view(&zstd), text_view(&plain));
    check_append(UNPACK_ZSTD, text_view(&zstd), text_view(&plain));
    check(UNPACK_STORED, S("abc"), S("abc"));
    text_free(&plain);
    text_free(&zstd);
}

TEST_MAIN("base/files/unpack", T(snappy_has_literals_and_copies), T(hostile_snappy_is_refused),
          T(zlib_gzip_and_zstd_unpack_to_their_size))
