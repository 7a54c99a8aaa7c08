#include "base/text/text_out.h"

#include <math.h>

#include "base/formats/json_write.h"
#include "base/testing.h"

TEST(numbers_are_exact_to_both_ends_of_64_bits)
{
    struct text text = {0};
    struct text_out out;

    text_out_open(&out, text_sink(&text));
    text_out_i64(&out, 0);
    text_out_put(&out, S(" "));
    text_out_i64(&out, -7);
    text_out_put(&out, S(" "));
    text_out_i64(&out, 100);
    text_out_put(&out, S(" "));
    text_out_i64(&out, INT64_MIN);
    text_out_put(&out, S(" "));
    text_out_u64(&out, UINT64_MAX);
    assert_true(text_out_close(&out));

    assert_str(((struct str){text.at, text.n}),
               "0 -7 100 -9223372036854775808 18446744073709551615");
    text_free(&text);
}

TEST(microseconds_equal_what_num_prints)
{
    static const nanos times[] = {0,    1,         999,       1000,      -1,
                                  -999, -12345678, INT64_MAX, INT64_MIN, 1712195495519695812};

    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        struct text text = {0};
        struct text_out out;
        char want[NUM_TEXT];
        size_t n = num_print_us(want, times[i]);
        text_out_open(&out, text_sink(&text));
        text_out_us(&out, times[i]);
        text_out_close(&out);
        assert_int_equal(text.n, n);
        assert_memory_equal(text.at, want, n);
        text_free(&text);
    }
}

TEST(doubles_keep_their_value)
{
    struct text text = {0};
    struct text_out out;

    text_out_open(&out, text_sink(&text));
    text_out_f64(&out, 3);
    text_out_put(&out, S(" "));
    text_out_f64(&out, -0.0);
    text_out_put(&out, S(" "));
    text_out_f64(&out, 0.1);
    text_out_put(&out, S(" "));
    text_out_f64(&out, NAN);
    text_out_close(&out);

    assert_str(((struct str){text.at, text.n}), "3 -0 0.1 null");
    text_free(&text);
}

TEST(quoted_text_is_what_the_json_writer_writes)
{
    static const struct str texts[] = {
        S_INIT(""),           S_INIT("plain"),
        S_INIT("a\"b\\c/d"),  S_INIT("\b\t\n\v\f\r\x01\x1f\x7f"),
        S_INIT("naïve ∑ 😀"),  S_INIT("\xff\xc3(\xe2\x82"),
        S_INIT("nul\0in it"),
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct text text = {0}, want = {0};
        struct json_writer w;
        struct text_out out;
        json_write_init(&w, text_sink(&want), JSON_COMPACT);
        json_write_string(&w, texts[i]);
        json_write_finish(&w);
        text_out_open(&out, text_sink(&text));
        text_out_quoted(&out, texts[i]);
        text_out_close(&out);
        assert_int_equal(text.n, want.n);
        assert_memory_equal(text.at, want.at, want.n);
        text_free(&text);
        text_free(&want);
    }
}

TEST(more_than_a_buffer_goes_through_in_order)
{
    struct text text = {0};
    struct text_out out;

    text_out_open(&out, text_sink(&text));
    for (int i = 0; i < 40000; i++)
        text_out_put(&out, i % 2 == 0 ? S("abc") : S("de"));
    assert_true(text_out_close(&out));

    assert_int_equal(text.n, 100000);
    assert_int_equal(out.total, 100000);
    for (size_t i = 0; i < text.n; i++)
        assert_int_equal(text.at[i], "abcde"[i % 5]);
    text_free(&text);
}

static bool out_refuse(void *ctx, struct str text)
{
    (void)text;
    ++*(int *)ctx;
    return false;
}

TEST(a_sink_that_failed_is_not_asked_again)
{
    struct text_out out;
    int asked = 0;

    text_out_open(&out, (struct sink){out_refuse, &asked});
    for (int i = 0; i < 70000; i++)
        text_out_put(&out, S("abc"));
    assert_false(text_out_close(&out));
    assert_int_equal(asked, 1);
}

TEST_MAIN("base/text/text_out", T(numbers_are_exact_to_both_ends_of_64_bits),
          T(microseconds_equal_what_num_prints), T(doubles_keep_their_value),
          T(quoted_text_is_what_the_json_writer_writes),
          T(more_than_a_buffer_goes_through_in_order), T(a_sink_that_failed_is_not_asked_again))
