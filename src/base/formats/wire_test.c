#include "base/formats/wire.h"

#include <math.h>

#include "base/testing_arena.h"

struct wire_sample {
    uint64_t u;
    int64_t i, near;
    bool is;
    double real;
    uint32_t place;
    struct str text, bytes;
    size_t n;
};

static void walk_sample(struct wire *w, struct wire_sample *s)
{
    wire_u64(w, &s->u);
    wire_i64(w, &s->i);
    wire_near(w, &s->near, 1000000);
    wire_bool(w, &s->is);
    wire_real(w, &s->real);
    wire_place(w, &s->place, 10);
    wire_text(w, &s->text);
    wire_bytes(w, &s->bytes);
    s->n = wire_count(w, s->n, 1);
}

static struct str wire_written(struct wire *w)
{
    return (struct str){(const char *)w->out.at, w->out.n};
}

TEST(what_is_written_is_read_back)
{
    struct wire_sample samples[] = {
        {0},
        {UINT64_MAX, INT64_MIN, INT64_MAX, true, -1e300, 9, S("name"), S("a\0b"), 0},
        {127, -64, 1000001, false, 0.1, 3, S(""), S("x"), 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct wire out = {0};
        walk_sample(&out, &samples[i]);
        struct wire in = {.in = wire_written(&out), .arena = &arena, .is_reading = true};
        struct wire_sample got = {0};
        walk_sample(&in, &got);
        assert_false(in.is_bad);
        assert_int_equal(in.in.n, 0);
        assert_true(got.u == samples[i].u && got.i == samples[i].i && got.near == samples[i].near);
        assert_true(got.is == samples[i].is && got.place == samples[i].place);
        assert_true(got.real == samples[i].real);
        assert_true(str_equal(got.text, samples[i].text));
        assert_true(str_equal(got.bytes, samples[i].bytes));
        vec_free(&out.out);
    }
}

TEST(bytes_that_are_cut_off_are_bad)
{
    struct wire_sample s = {300, -300, 0, true, 2.5, 7, S("text"), S("bytes"), 0};
    struct wire out = {0};

    walk_sample(&out, &s);
    for (size_t n = 0; n < out.out.n; n++) {
        struct wire in = {
            .in = str_part(wire_written(&out), 0, n), .arena = &arena, .is_reading = true};
        struct wire_sample got = {0};
        walk_sample(&in, &got);
        assert_true(in.is_bad);
    }
    vec_free(&out.out);
}

TEST(values_out_of_their_range_are_bad)
{
    struct wire count = {.in = S("\x7f"), .is_reading = true};
    assert_int_equal(wire_count(&count, 0, 1), 0);
    assert_true(count.is_bad);

    uint32_t place = 0;
    struct wire high = {.in = S("\x0a"), .is_reading = true};
    wire_place(&high, &place, 10);
    assert_true(high.is_bad);

    bool is = false;
    struct wire two = {.in = S("\x02"), .is_reading = true};
    wire_bool(&two, &is);
    assert_true(two.is_bad);

    uint64_t number = 0;
    struct wire long_one = {.in = S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
                            .is_reading = true};
    wire_u64(&long_one, &number);
    assert_true(long_one.is_bad);

    double real = NAN;
    struct wire out = {0};
    wire_real(&out, &real);
    assert_true(out.is_bad);
    vec_free(&out.out);
}

TEST_MAIN("base/formats/wire", TA(what_is_written_is_read_back), TA(bytes_that_are_cut_off_are_bad),
          TA(values_out_of_their_range_are_bad))
