#include "base/formats/json_write.h"

#include <math.h>

#include "base/formats/json_read.h"
#include "base/testing_arena.h"

static struct json_writer w;
static struct text buffer;

static void write_start(enum json_layout layout)
{
    text_free(&buffer);
    json_write_init(&w, text_sink(&buffer), layout);
}

static struct str write_written(void)
{
    assert_true(json_write_finish(&w));
    return (struct str){buffer.at, buffer.n};
}

static void write_sample(void)
{
    json_write_object(&w);
    json_write_key(&w, S("name"));
    json_write_string(&w, S("a\"b"));
    json_write_key(&w, S("list"));
    json_write_array(&w);
    json_write_i64(&w, INT64_MIN);
    json_write_u64(&w, UINT64_MAX);
    json_write_bool(&w, true);
    json_write_bool(&w, false);
    json_write_null(&w);
    json_write_end(&w);
    json_write_key(&w, S("none"));
    json_write_object(&w);
    json_write_end(&w);
    json_write_end(&w);
}

TEST(compact_output_has_no_blanks)
{
    write_start(JSON_COMPACT);
    write_sample();
    assert_str(write_written(), "{\"name\":\"a\\\"b\",\"list\":[-9223372036854775808,"
                                "18446744073709551615,true,false,null],\"none\":{}}");
}

TEST(indented_output_has_a_line_for_each_member)
{
    write_start(JSON_INDENTED);
    write_sample();
    assert_str(write_written(), "{\n"
                                "  \"name\": \"a\\\"b\",\n"
                                "  \"list\": [\n"
                                "    -9223372036854775808,\n"
                                "    18446744073709551615,\n"
                                "    true,\n"
                                "    false,\n"
                                "    null\n"
                                "  ],\n"
                                "  \"none\": {}\n"
                                "}\n");
}

TEST(a_member_is_put_with_its_key)
{
    write_start(JSON_COMPACT);
    json_write_object(&w);
    json_put_object(&w, "o");
    json_put_str(&w, "s", S("a"));
    json_put_text(&w, "t", "b");
    json_put_text(&w, "no_text", NULL);
    json_put_str_or_null(&w, "full", S("c"));
    json_put_str_or_null(&w, "empty", S(""));
    json_put_known(&w, "known", true, -2);
    json_put_known(&w, "unknown", false, -2);
    json_put_i64(&w, "i", -1);
    json_put_u64(&w, "u", UINT64_MAX);
    json_write_end(&w);
    json_put_array(&w, "l");
    json_write_end(&w);
    json_put_f64(&w, "f", 0.5);
    json_put_f64(&w, "no_number", NAN);
    json_put_bool(&w, "b", true);
    json_put_null(&w, "n");
    json_write_end(&w);
    assert_str(write_written(), "{\"o\":{\"s\":\"a\",\"t\":\"b\",\"no_text\":null,\"full\":\"c\","
                                "\"empty\":null,\"known\":-2,\"unknown\":null,\"i\":-1,"
                                "\"u\":18446744073709551615},\"l\":[],\"f\":0.5,\"no_number\":null,"
                                "\"b\":true,\"n\":null}");
}

TEST(times_are_put_exactly)
{
    write_start(JSON_COMPACT);
    json_write_array(&w);
    json_write_us(&w, 1500);
    json_write_ms(&w, 1500);
    json_write_ms(&w, 2000000);
    json_write_ms(&w, INT64_MIN);
    json_write_end(&w);
    assert_str(write_written(), "[1.500,0.0015,2.0,-9223372036854.775808]");
}

TEST(numbers_keep_all_their_digits)
{
    write_start(JSON_COMPACT);
    json_write_array(&w);
    json_write_f64(&w, 0.1);
    json_write_f64(&w, NAN);
    json_write_f64(&w, -INFINITY);
    json_write_us(&w, 1500);
    json_write_us(&w, 1736412474700001007);
    json_write_us(&w, -1);
    json_write_number(&w, S("1.2300e5"));
    json_write_end(&w);
    assert_str(write_written(), "[0.1,null,null,1.500,1736412474700001.007,-0.001,1.2300e5]");
}

TEST(strings_are_escaped_and_always_utf8)
{
    static const unsigned char turned[] = {0xc2, 0x9b, 0xe2, 0x80, 0xae, 0xc2, 0xa0}; /* U+202E */
    write_start(JSON_COMPACT);
    json_write_array(&w);
    json_write_string(&w, S("\\ / \b\f\n\r\t \x01\x0b\x1f\x7f\0"));
    json_write_string(&w, S("caf\xC3\xA9 \xF0\x9F\x98\x80"));
    json_write_string(&w, S("\xFF\xE2\x82z\xED\xA0\x80"));
    json_write_string(&w, (struct str){(const char *)turned, sizeof(turned)});
    json_write_string(&w, S(""));
    json_write_end(&w);
    assert_str(write_written(), "[\"\\\\ / \\b\\f\\n\\r\\t \\u0001\\u000b\\u001f\\u007f\\u0000\","
                                "\"caf\xC3\xA9 \xF0\x9F\x98\x80\","
                                "\"\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\","
                                "\"\\u009b\\u202e\xC2\xA0\","
                                "\"\"]");
}

TEST(a_document_may_be_a_single_value)
{
    write_start(JSON_COMPACT);
    json_write_i64(&w, 7);
    assert_str(write_written(), "7");
}

/* 3 000 strings of 0 to 99 bytes with the values 0 to 127 in turn, are read back by the strict
 * reader. */
TEST(what_is_written_reads_back)
{
    static struct json j;
    char text[100];

    write_start(JSON_INDENTED);
    json_write_array(&w);
    for (int k = 0; k < 3000; k++) {
        for (int i = 0; i < k % 100; i++)
            text[i] = (char)((k * 7 + i) % 128);
        json_write_string(&w, (struct str){text, (size_t)(k % 100)});
    }
    json_write_end(&w);

    json_open(&j, write_written(), JSON_STRICT);
    assert_int_equal(json_next(&j), JSON_ARRAY);
    for (int k = 0; k < 3000; k++) {
        assert_int_equal(json_next(&j), JSON_STRING);
        struct str s = json_text(j.text, &arena);
        assert_int_equal(s.n, k % 100);
        for (size_t i = 0; i < s.n; i++)
            assert_int_equal(s.at[i], (k * 7 + (int)i) % 128);
    }
    assert_int_equal(json_next(&j), JSON_ARRAY_END);
    assert_int_equal(json_next(&j), JSON_END);
}

static bool json_write_refuse(void *ctx, struct str text)
{
    int *calls = ctx;

    (void)text;
    ++*calls;
    return false;
}

TEST(a_failing_sink_is_remembered_and_not_called_again)
{
    int calls = 0;

    json_write_init(&w, (struct sink){json_write_refuse, &calls}, JSON_COMPACT);
    json_write_array(&w);
    for (int k = 0; k < 10000; k++)
        json_write_i64(&w, k);
    json_write_end(&w);
    assert_false(json_write_finish(&w));
    assert_int_equal(calls, 1);
    text_free(&buffer);
}

TEST_MAIN("base/formats/json_write", T(compact_output_has_no_blanks),
          T(indented_output_has_a_line_for_each_member), T(a_member_is_put_with_its_key),
          T(times_are_put_exactly), T(numbers_keep_all_their_digits),
          T(strings_are_escaped_and_always_utf8), T(a_document_may_be_a_single_value),
          TA(what_is_written_reads_back), T(a_failing_sink_is_remembered_and_not_called_again))
