/* Pictures are read back with zlib alone. */
#include <zlib.h>

#include "base/formats/png.h"
#include "base/testing.h"
#include "base/text/text.h"

static uint32_t u32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The data of the first chunk of a type; its checksum is right. */
static struct str chunk_of(struct str file, const char *type)
{
    for (size_t at = 8; at + 12 <= file.n;) {
        size_t n = u32(file.at + at);
        uint32_t sum = (uint32_t)crc32(0, (const Bytef *)file.at + at + 4, (uInt)(n + 4));
        assert_int_equal(sum, u32(file.at + at + 8 + n));
        if (memcmp(file.at + at + 4, type, 4) == 0)
            return (struct str){file.at + at + 8, n};
        at += n + 12;
    }
    return S("");
}

TEST(pixels_come_back)
{
    static const uint32_t colors[] = {0xffffff, 0x102030};
    static const uint8_t pixels[] = {0, 1, 0, 1, 1, 0};
    const struct png png = {3, 2, pixels, colors, 2};
    struct text file = {0};
    Bytef rows[64];
    uLongf n = sizeof(rows);

    assert_true(png_write(&png, text_sink(&file)));
    struct str view = text_view(&file);
    assert_memory_equal(view.at, "\x89PNG\r\n\x1a\n", 8);
    struct str head = chunk_of(view, "IHDR");
    assert_int_equal(u32(head.at), 3);
    assert_int_equal(u32(head.at + 4), 2);
    assert_memory_equal(chunk_of(view, "PLTE").at, "\xff\xff\xff\x10\x20\x30", 6);
    struct str data = chunk_of(view, "IDAT");
    assert_int_equal(uncompress(rows, &n, (const Bytef *)data.at, data.n), Z_OK);
    assert_int_equal(n, 8);
    assert_memory_equal(rows, "\0\0\1\0\0\1\1\0", 8);
    assert_int_equal(chunk_of(view, "IEND").n, 0);
    text_free(&file);
}

TEST(large_pictures_are_packed)
{
    static const uint32_t colors[] = {0xffffff};
    static uint8_t pixels[1000 * 1000];
    const struct png png = {1000, 1000, pixels, colors, 1};
    struct text file = {0};

    assert_true(png_write(&png, text_sink(&file)));
    assert_true(file.n < 10000);
    text_free(&file);
}

static bool png_refuse(void *ctx, struct str text)
{
    (void)ctx, (void)text;
    return false;
}

TEST(a_failing_sink_is_told)
{
    static const uint32_t colors[] = {0};
    static const uint8_t pixel[] = {0};
    const struct png png = {1, 1, pixel, colors, 1};

    assert_false(png_write(&png, (struct sink){png_refuse, NULL}));
}

TEST_MAIN("base/formats/png", T(pixels_come_back), T(large_pictures_are_packed),
          T(a_failing_sink_is_told))
