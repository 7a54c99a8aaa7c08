#include "base/tables/pack_ints.h"

#include <stdlib.h>

#include "base/testing.h"

/* A reader of both forms, written from the format's description. */
struct reader {
    const uint8_t *at, *end;
};

static uint64_t read_varint(struct reader *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        assert_true(r->at < r->end);
        value |= (uint64_t)(*r->at & 0x7f) << shift;
        if (*r->at++ < 0x80)
            return value;
    }
}

static int64_t read_zigzag(struct reader *r)
{
    uint64_t v = read_varint(r);

    return (int64_t)(v >> 1 ^ (~(v & 1) + 1));
}

static uint64_t read_bits(const uint8_t *at, size_t i, unsigned width)
{
    uint64_t value = 0;

    for (unsigned b = 0; b < width; b++) {
        size_t bit = i * width + b;
        value |= (uint64_t)(at[bit / 8] >> bit % 8 & 1) << b;
    }
    return value;
}

static void check_delta(const int64_t *values, size_t n)
{
    struct text out = {0};
    pack_delta(&out, values, n);
    const uint8_t *packed = (const uint8_t *)(out.n > 0 ? out.at : "");
    struct reader r = {packed, packed + out.n};

    assert_int_equal(read_varint(&r), 128);
    assert_int_equal(read_varint(&r), 4);
    assert_int_equal(read_varint(&r), n);
    uint64_t value = (uint64_t)read_zigzag(&r);
    if (n > 0)
        assert_true((int64_t)value == values[0]);
    for (size_t i = 1; i < n;) {
        uint64_t least = (uint64_t)read_zigzag(&r);
        const uint8_t *widths = r.at;
        r.at += 4;
        for (size_t m = 0; m < 4 && i < n; m++) {
            for (size_t k = 0; k < 32 && i < n; k++, i++) {
                value += least + read_bits(r.at, k, widths[m]);
                assert_true((int64_t)value == values[i]);
            }
            r.at += 4 * (size_t)widths[m];
        }
    }
    assert_true(r.at == r.end);

    int64_t back[400];
    struct str in = text_view(&out);
    assert_true(pack_get_delta(&in, back, n) && in.n == 0);
    assert_memory_equal(back, values, n * sizeof(*values));
    for (size_t cut = 0; cut < out.n && n > 0; cut += 1 + cut / 8) { /* or a number too many */
        in = str_part(text_view(&out), 0, cut);
        assert_false(pack_get_delta(&in, back, n));
    }
    in = text_view(&out);
    assert_false(pack_get_delta(&in, back, n == 399 ? 398 : n + 1));
    text_free(&out);
}

TEST(differences_read_back_at_every_length_and_width)
{
    int64_t values[400];

    for (size_t i = 0; i < 400; i++)
        values[i] = (int64_t)((uint64_t)random() << (i % 40)) * (i % 3 == 0 ? -1 : 1);
    for (size_t n = 0; n < 400; n += n < 140 ? 1 : 37)
        check_delta(values, n);
    check_delta((int64_t[]){INT64_MIN, INT64_MAX, INT64_MIN, 0, -1, INT64_MAX}, 6);
}

TEST(equal_steps_cost_no_bits)
{
    struct text out = {0};
    int64_t values[129];

    for (int i = 0; i < 129; i++)
        values[i] = 1000 + 5 * i;
    pack_delta(&out, values, 129);
    assert_int_equal(out.n, 2 + 1 + 2 + 2 + 1 + 4); /* head: 128 4 129 1000; block: 5 and widths */
    text_free(&out);
}

static void check_hybrid(const uint32_t *values, size_t n, unsigned width)
{
    struct text out = {0};
    pack_hybrid(&out, values, n, width);
    const uint8_t *packed = (const uint8_t *)(out.n > 0 ? out.at : "");
    struct reader r = {packed, packed + out.n};
    size_t i = 0;

    while (r.at < r.end) {
        uint64_t head = read_varint(&r);
        assert_true(i < n);
        if ((head & 1) != 0) {
            for (size_t k = 0; k < (head >> 1) * 8; k++, i++)
                if (i < n)
                    assert_int_equal(read_bits(r.at, k, width), values[i]);
            r.at += (head >> 1) * width;
        } else {
            uint64_t value = read_bits(r.at, 0, (width + 7) / 8 * 8);
            r.at += (width + 7) / 8;
            for (size_t k = 0; k < head >> 1; k++, i++)
                assert_int_equal(values[i], value);
        }
    }
    assert_true(i >= n && i < n + 8);

    uint32_t back[1000];
    struct str in = text_view(&out);
    assert_true(pack_get_hybrid(&in, back, n, width) && in.n == 0);
    for (i = 0; i < n; i++)
        assert_int_equal(back[i], values[i]);
    in = str_part(text_view(&out), 0, out.n - 1);
    assert_false(out.n > 0 && n % 8 == 0 && pack_get_hybrid(&in, back, n, width));
    text_free(&out);
}

TEST(runs_and_packed_numbers_read_back)
{
    uint32_t values[1000];

    for (unsigned width = 1; width <= 32; width += width < 10 ? 1 : 11) {
        uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
        for (size_t i = 0; i < 1000;) {
            size_t run = random() % 3 == 0 ? (size_t)(random() % 60) + 1 : 1;
            uint32_t value = (uint32_t)random() & mask;
            for (; run > 0 && i < 1000; run--)
                values[i++] = value;
        }
        for (size_t n = 0; n <= 1000; n += n < 30 ? 1 : 97)
            check_hybrid(values, n, width);
    }
    memset(values, 0, sizeof(values));
    check_hybrid(values, 1000, 0);
    check_hybrid(values, 1000, 1);
}

TEST(numbers_without_a_sign_take_seven_bits_a_byte)
{
    struct text out = {0};

    pack_varint(&out, 300);
    pack_varint(&out, 0);
    assert_str(text_view(&out), "\xac\x02\x00");
    assert_int_equal(pack_zigzag(-3), 5);
    assert_int_equal(pack_zigzag(INT64_MIN), UINT64_MAX);
    text_free(&out);
}

TEST(hostile_numbers_are_refused)
{
    static const struct str wrong[] = {
        S_INIT("\x80"), S_INIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        S_INIT("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), S_INIT("")};
    uint64_t value;
    uint32_t numbers[8];
    int64_t longs[8];

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct str in = wrong[i];
        assert_false(pack_get_varint(&in, &value));
    }
    struct str most = S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01!");
    assert_true(pack_get_varint(&most, &value) && value == UINT64_MAX && most.n == 1);
    struct str endless = S("\x00\x05\x00\x05"); /* runs of no length */
    assert_false(pack_get_hybrid(&endless, numbers, 8, 8));
    struct str huge = S("\xff\xff\xff\xff\x0f\x00"); /* two milliard groups of no bits */
    assert_false(pack_get_hybrid(&huge, numbers, 8, 0));
    struct str wide = S("\x02\x00");
    assert_false(pack_get_hybrid(&wide, numbers, 1, 33));
    struct str blocks = S("\x00\x00\x02\x00\x00"); /* no block size */
    assert_false(pack_get_delta(&blocks, longs, 2));
    struct str bits = S("\x80\x01\x04\x02\x00\x00\x41\x00\x00\x00"); /* of 65 bits */
    assert_false(pack_get_delta(&bits, longs, 2));
}

TEST_MAIN("base/tables/pack_ints", T(hostile_numbers_are_refused),
          T(differences_read_back_at_every_length_and_width), T(equal_steps_cost_no_bits),
          T(runs_and_packed_numbers_read_back), T(numbers_without_a_sign_take_seven_bits_a_byte))
