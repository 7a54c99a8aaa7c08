#include "base/formats/json_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/testing_arena.h"

/* A token stream as text: `{ "key": "string" 12 true null } ] !offset` (an error), `.` (the end).
 */
struct dump {
    char at[4096];
    size_t n;
};

static void read_add(struct dump *d, const char *open, struct str s, const char *close)
{
    d->n +=
        (size_t)snprintf(d->at + d->n, sizeof(d->at) - d->n, "%s%.*s%s ", open, STR_ARGS(s), close);
    assert_true(d->n < sizeof(d->at));
}

static bool add_token(struct dump *d, const struct json *j)
{
    static const char *const plain[] = {
        [JSON_OBJECT] = "{", [JSON_OBJECT_END] = "}", [JSON_ARRAY] = "[", [JSON_ARRAY_END] = "]"};
    char number[32];

    switch (j->token) {
    case JSON_END:
        read_add(d, ".", S(""), "");
        return false;
    case JSON_ERROR:
        snprintf(number, sizeof(number), "!%llu", (unsigned long long)j->error_at);
        read_add(d, number, S(""), "");
        return false;
    case JSON_KEY:
        read_add(d, "\"", j->text, "\":");
        return true;
    case JSON_STRING:
        read_add(d, j->has_escapes ? "e\"" : "\"", j->text, "\"");
        return true;
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        read_add(d, "", j->text, "");
        return true;
    default:
        read_add(d, plain[j->token], S(""), "");
        return true;
    }
}

static void dump_whole(struct dump *d, struct json *j, struct str text, enum json_mode mode,
                       enum json_scanner scanner)
{
    d->n = 0;
    d->at[0] = '\0';
    json_begin(j, mode);
    json_use_scanner(j, scanner);
    json_window(j, text, true);
    do
        json_next(j);
    while (add_token(d, j));
}

/* The same in two windows, cut at `cut`; each piece is its own block of memory. */
static void dump_cut(struct dump *d, struct json *j, struct str text, enum json_mode mode,
                     size_t cut)
{
    char *first = malloc(cut + 1), *second = NULL;

    d->n = 0;
    memcpy(first, text.at, cut);
    json_begin(j, mode);
    json_window(j, (struct str){first, cut}, false);
    for (;;) {
        if (json_next(j) != JSON_MORE) {
            if (!add_token(d, j))
                break;
            continue;
        }
        assert_null(second);
        size_t keep = json_keep(j);
        assert_true(keep <= cut);
        size_t n = text.n - cut + keep;
        second = malloc(n + 1);
        memcpy(second, text.at + cut - keep, n);
        json_window(j, (struct str){second, n}, true);
    }
    free(first);
    free(second);
}

static struct json j;
static struct dump d;

#define assert_reads(mode, text, expected)                                                         \
    do {                                                                                           \
        for (int k_ = JSON_SCAN_BEST; k_ < JSON_SCANNERS; k_++) {                                  \
            dump_whole(&d, &j, S(text), mode, (enum json_scanner)k_);                              \
            assert_string_equal(d.at, expected);                                                   \
        }                                                                                          \
    } while (0)

TEST(every_kind_of_token_is_delivered_in_order)
{
    assert_reads(JSON_STRICT, " {\"a\": [1, -2.5e+3, true,false ,null], \"b\":{ },\"c\":\"x\"}\n",
                 "{ \"a\": [ 1 -2.5e+3 true false null ] \"b\": { } \"c\": \"x\" } . ");
    assert_reads(JSON_STRICT, "[]", "[ ] . ");
    assert_reads(JSON_STRICT, "12", "12 . ");
    assert_reads(JSON_STRICT, " \"\" ", "\"\" . ");
}

TEST(strings_come_raw_and_say_whether_they_hold_escapes)
{
    assert_reads(JSON_STRICT, "[\"a\\\"b\", \"\\\\\", \"plain\"]",
                 "[ e\"a\\\"b\" e\"\\\\\" \"plain\" ] . ");
}

TEST(strict_mode_refuses_what_the_rfc_does_not_have)
{
    /* The offset is that of the first byte that cannot be. */
    assert_reads(JSON_STRICT, "", "!0 ");
    assert_reads(JSON_STRICT, "[1,]", "[ 1 !3 ");
    assert_reads(JSON_STRICT, "[1 2]", "[ 1 !3 ");
    assert_reads(JSON_STRICT, "[01]", "[ !1 ");
    assert_reads(JSON_STRICT, "[1.]", "[ !1 ");
    assert_reads(JSON_STRICT, "[+1]", "[ !1 ");
    assert_reads(JSON_STRICT, "[-]", "[ !1 ");
    assert_reads(JSON_STRICT, "[.5]", "[ !1 ");
    assert_reads(JSON_STRICT, "[1e]", "[ !1 ");
    assert_reads(JSON_STRICT, "[NaN]", "[ !1 ");
    assert_reads(JSON_STRICT, "[tru]", "[ !1 ");
    assert_reads(JSON_STRICT, "{\"a\"}", "{ !4 ");
    assert_reads(JSON_STRICT, "{\"a\":}", "{ \"a\": !5 ");
    assert_reads(JSON_STRICT, "{1:2}", "{ !1 ");
    assert_reads(JSON_STRICT, "{\"a\":1,}", "{ \"a\": 1 !7 ");
    assert_reads(JSON_STRICT, "[1}", "[ 1 !2 ");
    assert_reads(JSON_STRICT, "[1][2]", "[ 1 ] !3 ");
    assert_reads(JSON_STRICT, "1 2", "1 !2 ");
    assert_reads(JSON_STRICT, "[\"a\"b]", "[ \"a\" !4 ");
    assert_reads(JSON_STRICT, "[\"a", "[ !3 ");
    assert_reads(JSON_STRICT, "[\"a\tb\"]", "[ !3 ");
    assert_reads(JSON_STRICT, "[\"\\x\"]", "[ !2 ");
    assert_reads(JSON_STRICT, "[\"\\u12g4\"]", "[ !2 ");
    assert_reads(JSON_STRICT, "[\"a\xC0\xAF\"]", "[ !3 ");
    assert_reads(JSON_STRICT, "\xEF\xBB\xBF[]", "!0 ");
    assert_reads(JSON_STRICT, "[\0]", "[ !1 ");
    assert_reads(JSON_STRICT, "[\\\"a\"]", "[ !1 ");
}

TEST(an_error_has_a_reason_and_a_place)
{
    uint64_t line = 0, column = 0;

    dump_whole(&d, &j, S("[1,\n  x]"), JSON_STRICT, JSON_SCAN_BEST);

    assert_string_equal(j.error, "not a value");
    assert_int_equal(j.status, ST_FORMAT);
    assert_int_equal(j.error_at, 6);
    assert_true(json_line(&j, j.error_at, &line, &column));
    assert_int_equal(line, 2);
    assert_int_equal(column, 3);
    assert_int_equal(json_next(&j), JSON_ERROR);
}

TEST(nesting_beyond_the_limit_is_an_error_of_its_own)
{
    char text[2 * LIMIT_JSON_DEPTH + 2];

    memset(text, '[', LIMIT_JSON_DEPTH);
    memset(text + LIMIT_JSON_DEPTH, ']', LIMIT_JSON_DEPTH);
    json_open(&j, (struct str){text, 2 * LIMIT_JSON_DEPTH}, JSON_STRICT);
    int closed = 0;
    while (json_next(&j) == JSON_ARRAY || j.token == JSON_ARRAY_END)
        closed += j.token == JSON_ARRAY_END;
    assert_int_equal(j.token, JSON_END);
    assert_int_equal(closed, LIMIT_JSON_DEPTH);

    memset(text, '[', LIMIT_JSON_DEPTH + 1);
    json_open(&j, (struct str){text, LIMIT_JSON_DEPTH + 1}, JSON_STRICT);
    while (json_next(&j) == JSON_ARRAY)
        continue;
    assert_int_equal(j.token, JSON_ERROR);
    assert_int_equal(j.status, ST_LIMIT);
    assert_int_equal(j.error_at, LIMIT_JSON_DEPTH);
}

TEST(lenient_mode_goes_on_and_counts)
{
    assert_reads(JSON_LENIENT, "[1,]", "[ 1 ] . ");
    assert_int_equal(j.recovered[JSON_TRAILING_COMMA].count, 1);
    assert_int_equal(j.recovered[JSON_TRAILING_COMMA].first, 3);
    assert_reads(JSON_LENIENT, "{\"a\":1,}", "{ \"a\": 1 } . ");
    assert_int_equal(j.recovered[JSON_TRAILING_COMMA].count, 1);
    assert_reads(JSON_LENIENT, "[{}{\"a\":1}]", "[ { } { \"a\": 1 } ] . ");
    assert_int_equal(j.recovered[JSON_MISSING_COMMA].count, 1);
    assert_int_equal(j.recovered[JSON_MISSING_COMMA].first, 3);
    assert_reads(JSON_LENIENT, "[1,2]\n[3][]", "[ 1 2 3 ] . ");
    assert_int_equal(j.recovered[JSON_JOINED_ARRAYS].count, 2);
    assert_int_equal(j.recovered[JSON_JOINED_ARRAYS].first, 6);
    assert_reads(JSON_LENIENT, "[NaN,-Infinity,inf,nan]", "[ NaN -Infinity inf nan ] . ");
    assert_int_equal(j.recovered[JSON_NOT_FINITE].count, 4);
    assert_reads(JSON_LENIENT, "[\"a\nb\",\"\x01\x02\"]", "[ \"a\nb\" \"\x01\x02\" ] . ");
    assert_int_equal(j.recovered[JSON_CONTROL].count, 2);
    assert_int_equal(j.recovered[JSON_CONTROL].first, 3);
    assert_reads(JSON_LENIENT, "[\"\xFF\",\"\xC3\xA9\"]", "[ \"\xFF\" \"\xC3\xA9\" ] . ");
    assert_int_equal(j.recovered[JSON_BAD_UTF8].count, 1);
    assert_reads(JSON_LENIENT, "\xEF\xBB\xBF[]", "[ ] . ");
    assert_int_equal(j.recovered[JSON_BYTE_ORDER_MARK].count, 1);
}

TEST(not_finite_literals_are_null_tokens)
{
    json_open(&j, S("[-Infinity]"), JSON_LENIENT);
    json_next(&j);
    assert_int_equal(json_next(&j), JSON_NULL);
    assert_str(j.text, "-Infinity");
}

TEST(truncated_text_delivers_what_is_complete_and_says_where_it_ends)
{
    /* The last number may go on, so it is not delivered. */
    assert_reads(JSON_LENIENT, "[{\"a\":1},{\"a\":12", "[ { \"a\": 1 } { \"a\": . ");
    assert_int_equal(j.recovered[JSON_TRUNCATED].count, 1);
    assert_int_equal(j.recovered[JSON_TRUNCATED].first, 16);
    assert_reads(JSON_LENIENT, "[{\"a\":\"b", "[ { \"a\": . ");
    assert_reads(JSON_LENIENT, "[1,", "[ 1 . ");
    assert_reads(JSON_LENIENT, "", ". ");
    assert_reads(JSON_STRICT, "[{\"a\":12", "[ { \"a\": 12 !8 ");
}

TEST(what_no_rule_covers_stays_an_error_in_lenient_mode)
{
    assert_reads(JSON_LENIENT, "[1,,2]", "[ 1 !3 ");
    assert_reads(JSON_LENIENT, "[1x]", "[ !1 ");
    assert_reads(JSON_LENIENT, "{}{}", "{ } !2 ");
    assert_reads(JSON_LENIENT, "[yes]", "[ !1 ");
}

TEST(any_cut_between_windows_gives_the_same_tokens)
{
    static const char *const texts[] = {
        "[{\"ph\": \"X\", \"ts\": \"17.5\", \"dur\": 13.733, \"args\": {\"a\\\\\": [1,2,{}]}},\n"
        " {\"name\": \"caf\xC3\xA9 \\ud83d\\ude00 \\\"q\\\"\", \"v\": -1.5e-7, \"t\": true}, null] "
        " ",
        "[1,2,]\n[ NaN, \"\x01\", \"\\\\\\\\\\\\\"]",
        "\xEF\xBB\xBF{\"a\":{\"b\":[[[]]]},}",
        "  12345  ",
        "[1,{\"a\":x}]",
        "{\"a\":[1,2",
    };
    struct dump whole, cut_up;

    for (size_t k = 0; k < ARRAY_LEN(texts); k++)
        for (int mode = JSON_STRICT; mode <= JSON_LENIENT; mode++) {
            struct str text = str_of(texts[k]);
            static struct json once;
            dump_whole(&whole, &once, text, (enum json_mode)mode, JSON_SCAN_BEST);
            for (size_t cut = 0; cut <= text.n; cut++) {
                dump_cut(&cut_up, &j, text, (enum json_mode)mode, cut);
                assert_string_equal(cut_up.at, whole.at);
                assert_memory_equal(j.recovered, once.recovered, sizeof(j.recovered));
            }
        }
}

/* Runs of backslashes and quotes at every place around the borders of blocks and batches. */
TEST(escapes_across_block_borders_are_resolved)
{
    static char text[JSON_SCAN_BLOCKS * 64 + 256];
    static const size_t borders[] = {64, 128, (size_t)JSON_SCAN_BLOCKS * 64};

    for (size_t k = 0; k < ARRAY_LEN(borders); k++)
        for (size_t run = 0; run <= 5; run++)
            for (size_t place = borders[k] - 6; place <= borders[k] + 2; place++)
                for (int scanner = JSON_SCAN_BEST; scanner < JSON_SCANNERS; scanner++) {
                    /* ["aaa…\\\\bbb",7]; an odd run is made even by a quote: \\\" */
                    memset(text, 'a', place);
                    memcpy(text, "[\"", 2);
                    memset(text + place, '\\', run);
                    size_t n = place + run;
                    if (run % 2 == 1)
                        text[n++] = '"';
                    memcpy(text + n, "bbb\",7]", 7);
                    json_begin(&j, JSON_STRICT);
                    json_use_scanner(&j, (enum json_scanner)scanner);
                    json_window(&j, (struct str){text, n + 7}, true);
                    assert_int_equal(json_next(&j), JSON_ARRAY);
                    assert_int_equal(json_next(&j), JSON_STRING);
                    assert_int_equal(j.text.n, n + 3 - 2);
                    assert_int_equal(j.has_escapes, run > 0);
                    assert_int_equal(json_next(&j), JSON_NUMBER);
                    assert_str(j.text, "7");
                    assert_int_equal(json_next(&j), JSON_ARRAY_END);
                    assert_int_equal(json_next(&j), JSON_END);
                }
}

/* Text made of the characters that matter, from a fixed linear congruential generator. */
static void compare_scanners(enum json_scanner scanner)
{
    static const char letters[] = "{}[]:,\"\"\\\\ \n\t\r1a-\x01\x0b\x00\x7f\x80\xc3\xff";
    static char text[JSON_SCAN_BLOCKS * 64 * 2 + 100];
    static struct json_scan fast, plain;
    uint32_t seed = 1;

    for (int round = 0; round < 200; round++) {
        size_t n = sizeof(text) - (size_t)round;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] =
                round % 4 == 0 ? (char)(seed >> 24) : letters[(seed >> 16) % (sizeof(letters) - 1)];
        }
        json_scan_init(&fast, scanner);
        json_scan_init(&plain, JSON_SCAN_PORTABLE);
        json_scan_start(&fast, text, n, (size_t)round % 70);
        json_scan_start(&plain, text, n, (size_t)round % 70);
        while (json_scan_fill(&plain)) {
            assert_true(json_scan_fill(&fast));
            assert_int_equal(fast.count, plain.count);
            assert_int_equal(fast.blocks, plain.blocks);
            assert_memory_equal(fast.mark, plain.mark, plain.count * sizeof(plain.mark[0]));
            for (size_t b = 0; b < plain.blocks; b++) {
                assert_true(fast.open[b] == plain.open[b] && fast.close[b] == plain.close[b]);
                assert_true(fast.clash[b] == plain.clash[b] && fast.odd_end[b] == plain.odd_end[b]);
            }
        }
        assert_false(json_scan_fill(&fast));
    }
}

TEST(all_scanners_give_the_same_masks_and_marks)
{
    /* On a processor without one of them the next simpler one is compared. */
    assert_true(json_scan_init(&j.scan, JSON_SCAN_BEST));
#if defined(__aarch64__)
    assert_true(json_scan_init(&j.scan, JSON_SCAN_NEON));
#endif
    for (int k = JSON_SCAN_BEST; k < JSON_SCANNERS; k++)
        compare_scanners((enum json_scanner)k);
}

TEST(keys_and_elements_are_walked_and_the_rest_is_skipped)
{
    struct str key, value;
    static const char text[] = "{\"skip\":{\"a\":[1,{\"b\":\"}\"}]},\"ts\":\"1.5\",\"list\":[10,["
                               "11],{\"x\":1},12],\"n\":null}";

    for (int mode = JSON_STRICT; mode <= JSON_LENIENT; mode++) {
        json_open(&j, S(text), (enum json_mode)mode);
        assert_int_equal(json_next(&j), JSON_OBJECT);
        assert_true(json_key(&j, &key));
        assert_str(key, "skip");
        assert_true(json_key(&j, &key));
        assert_str(key, "ts");
        assert_true(json_value(&j, &value));
        assert_int_equal(j.token, JSON_STRING);
        assert_str(value, "1.5");
        assert_true(json_key(&j, &key));
        assert_false(json_value(&j, &value)); /* an array is entered by json_next() */
        assert_int_equal(j.token, JSON_ARRAY);
        assert_int_equal(json_next(&j), JSON_ARRAY);
        assert_true(json_element(&j));
        assert_true(json_value(&j, &value));
        assert_str(value, "10");
        assert_true(json_element(&j));
        assert_true(json_skip(&j));
        assert_true(json_element(&j)); /* {"x":1}, left alone */
        assert_true(json_element(&j));
        assert_true(json_value(&j, &value));
        assert_str(value, "12");
        assert_false(json_element(&j));
        assert_int_equal(j.token, JSON_ARRAY_END);
        assert_true(json_key(&j, &key));
        assert_str(key, "n");
        assert_false(json_key(&j, &key));
        assert_int_equal(j.token, JSON_OBJECT_END);
        assert_int_equal(json_next(&j), JSON_END);
    }
}

TEST(strict_mode_checks_what_it_skips)
{
    json_open(&j, S("[{\"a\":01},2]"), JSON_STRICT);
    json_next(&j);
    assert_true(json_element(&j));
    assert_false(json_skip(&j));
    assert_int_equal(j.error_at, 6);
}

/* Skips a value of `n` filler bytes so that its brackets fall on every place of a block. */
TEST(skipping_finds_the_closing_bracket_across_blocks_and_batches)
{
    static char text[JSON_SCAN_BLOCKS * 64 * 3];

    for (size_t fill = 0; fill < sizeof(text) - 64; fill += fill < 200 ? 1 : 61)
        for (int scanner = JSON_SCAN_BEST; scanner < JSON_SCANNERS; scanner++) {
            /* [{"k":[[1],"}}aaa…"]},5] */
            size_t n = (size_t)snprintf(text, sizeof(text), "[{\"k\":[[1],\"}}");
            memset(text + n, 'a', fill);
            n += fill;
            n += (size_t)snprintf(text + n, sizeof(text) - n, "\"]},5]");
            json_begin(&j, JSON_LENIENT);
            json_use_scanner(&j, (enum json_scanner)scanner);
            json_window(&j, (struct str){text, n}, true);
            json_next(&j);
            assert_true(json_element(&j));
            assert_true(json_skip(&j));
            assert_int_equal(json_next(&j), JSON_NUMBER);
            assert_str(j.text, "5");
            assert_int_equal(json_next(&j), JSON_ARRAY_END);
        }
}

/* Pulls "a" of every element through a window of `size` bytes; marks make elements atomic. */
static void read_elements(struct str text, size_t size, struct dump *out)
{
    char *buf = malloc(size);
    size_t n = 0, used = 0;
    bool is_inside = false;

    out->n = 0;
    json_begin(&j, JSON_LENIENT);
    for (;;) {
        struct str key, value = S("?");
        json_mark(&j);
        if (!is_inside) {
            is_inside = json_next(&j) == JSON_ARRAY;
        } else if (json_element(&j) && json_next(&j) == JSON_OBJECT) {
            while (json_key(&j, &key))
                if (str_equal(key, S("a")))
                    json_value(&j, &value);
            if (j.token == JSON_OBJECT_END)
                read_add(out, "", value, "");
        }
        if (j.token == JSON_MORE) {
            size_t keep = json_keep(&j);
            assert_true(keep < size);
            memmove(buf, buf + n - keep, keep);
            size_t got = text.n - used < size - keep ? text.n - used : size - keep;
            memcpy(buf + keep, text.at + used, got);
            used += got;
            n = keep + got;
            json_window(&j, (struct str){buf, n}, used == text.n);
        } else if (j.token == JSON_ARRAY_END || j.token == JSON_END || j.token == JSON_ERROR) {
            assert_int_equal(json_offset(&j), text.n);
            break;
        }
    }
    free(buf);
}

TEST(a_marked_element_is_read_again_whole_in_the_next_window)
{
    static const char text[] =
        "[{\"a\":1,\"x\":[{},\"]\"]},{\"x\":\"\xFF\",\"a\":\"\x02\"}, {\"b\":3} ,"
        "{\"a\":44,\"c\":{\"a\":5}}]";

    for (size_t size = 32; size < sizeof(text) + 8; size++) {
        read_elements(S(text), size, &d);
        assert_string_equal(d.at, "1 \x02 ? 44 ");
        assert_int_equal(j.token, JSON_ARRAY_END);
        assert_int_equal(j.recovered[JSON_CONTROL].count, 1);
    }
}

/* Hands over the rest of `text` as a window of its own. */
static char *feed_rest(struct str text, size_t cut)
{
    size_t keep = json_keep(&j), n = text.n - cut + keep;
    char *rest = malloc(n);

    memcpy(rest, text.at + cut - keep, n);
    json_window(&j, (struct str){rest, n}, true);
    return rest;
}

TEST(without_a_mark_the_call_that_ran_out_is_repeated)
{
    static const char text[] = "{\"a\": 1, \"bc\" :\"x\" ,\"d\":22.5 , \"e\":[{}],\"f\":\"\\n\"}";

    for (size_t cut = 0; cut < sizeof(text) - 1; cut++)
        for (int mode = JSON_STRICT; mode <= JSON_LENIENT; mode++) {
            char *first = malloc(cut + 1), *rest = NULL;
            struct str key, value;
            memcpy(first, text, cut);
            json_begin(&j, (enum json_mode)mode);
            json_window(&j, (struct str){first, cut}, false);
            d.n = 0;
            if (json_next(&j) == JSON_MORE) {
                rest = feed_rest(S(text), cut);
                json_next(&j);
            }
            for (;;) {
                if (json_key(&j, &key)) {
                    read_add(&d, "", key, "");
                    if (!json_value(&j, &value) && j.token == JSON_MORE) {
                        rest = feed_rest(S(text), cut);
                        json_value(&j, &value);
                    }
                    if (j.token != JSON_ARRAY)
                        read_add(&d, "=", value, "");
                } else if (j.token == JSON_MORE) {
                    rest = feed_rest(S(text), cut);
                } else {
                    break;
                }
            }
            assert_int_equal(j.token, JSON_OBJECT_END);
            assert_string_equal(d.at, "a =1 bc =x d =22.5 e f =\\n ");
            free(first);
            free(rest);
        }
}

TEST(a_border_is_found_from_any_byte_of_a_trace)
{
    static const char text[] = "[{\"ph\":\"X\",\"args\":{\"l\":[{\"a\":1},{\"b\":2}]}}, "
                               "{\"name\":\"x,{ y\",\"ph\":\"M\"},{\"ph\":\"E\"}]";
    const size_t second = str_find(S(text), S("{\"name\""));
    const size_t third = str_find(S(text), S("{\"ph\":\"E\""));

    for (size_t from = 0; from < sizeof(text); from++) {
        bool is_cut;
        size_t at = json_border(S(text), from, S("ph"), &is_cut);
        size_t expected = from <= 1        ? 1
                          : from <= second ? second
                          : from <= third  ? third
                                           : sizeof(text) - 1;
        assert_int_equal(at, expected);
        assert_false(is_cut);
    }
}

TEST(a_reader_can_start_inside_an_array)
{
    static const char text[] = "[{\"a\":1},{\"a\":2},{\"a\":3}]";

    json_begin_inside(&j, JSON_LENIENT, 9);
    json_window(&j, str_part(S(text), 9, SIZE_MAX), true);
    assert_true(json_element(&j));
    assert_int_equal(json_offset(&j), 9);
    assert_true(json_skip(&j));
    assert_true(json_element(&j));
    assert_int_equal(json_offset(&j), 17);
    assert_false(json_element(&j));
    assert_int_equal(j.token, JSON_ARRAY_END);
}

/* Reads the "ph" events of `text`; damage is given up event by event. Returns the bytes lost. */
static uint64_t read_damaged(struct str text, size_t size, struct dump *out)
{
    char *buf = malloc(size);
    size_t n = 0, used = 0;
    bool is_inside = false, is_lost = false;

    out->n = 0;
    out->at[0] = '\0';
    json_begin(&j, JSON_LENIENT);
    for (;;) {
        struct str key, value = S("?");
        if (is_lost) {
            json_resync(&j, S("ph"));
            is_lost = false;
        } else {
            json_mark(&j);
            if (!is_inside) {
                is_inside = json_next(&j) == JSON_ARRAY;
            } else if (json_element(&j) && json_next(&j) == JSON_OBJECT) {
                while (json_key(&j, &key))
                    if (str_equal(key, S("ph")))
                        json_value(&j, &value);
                if (j.token == JSON_OBJECT_END)
                    read_add(out, "", value, "");
                else if (j.token != JSON_MORE)
                    is_lost = true;
            } else if (j.token == JSON_ERROR) {
                is_lost = true;
            }
            if (is_lost)
                continue;
        }
        if (j.token == JSON_MORE) {
            size_t keep = json_keep(&j);
            if (keep == size) {
                is_lost = true;
                continue;
            }
            memmove(buf, buf + n - keep, keep);
            size_t got = text.n - used < size - keep ? text.n - used : size - keep;
            memcpy(buf + keep, text.at + used, got);
            used += got;
            n = keep + got;
            json_window(&j, (struct str){buf, n}, used == text.n);
        } else if (j.token == JSON_ARRAY_END || j.token == JSON_END) {
            break;
        }
    }
    free(buf);
    return j.lost;
}

TEST(damage_costs_only_the_damaged_event)
{
    static const char *const bad[] = {
        "{\"ph\":\"X\",\"name\":\"a\"b\"}",         /* a quote too many */
        "{\"ph\":\"X\",\"args\":{\"s\":\"a\"b\"}}", /* the same in what is skipped */
        "{\"ph\":\"X\",\"name\":\"ab}",             /* a quote missing */
        "{\"ph\":\"X\",\"args\":{\"s\":{\"t\":1}}", /* a bracket missing */
        "{\"ph\":\"X\" \"name\":\"ab\"}",           /* a comma missing */
        "{\"ph\":\"X\",\"name\":\xF0\x01\x02}",     /* bytes overwritten */
    };

    for (size_t k = 0; k < ARRAY_LEN(bad); k++)
        for (size_t size = 96; size < 400; size += 7) {
            char text[512];
            int n = snprintf(text, sizeof(text),
                             "[{\"ph\":\"1\"},{\"ph\":\"2\"},%s,\n"
                             "{\"ph\":\"3\",\"args\":{\"x\":\"{\"}},{\"name\":\"}\",\"ph\":\"4\"},"
                             "{\"ph\":\"5\",\"args\":{\"x\":[{\"y\":1},{\"z\":2}]}}]",
                             bad[k]);
            uint64_t lost = read_damaged((struct str){text, (size_t)n}, size, &d);
            assert_string_equal(d.at, "1 2 3 4 5 ");
            assert_int_equal(j.recovered[JSON_RESYNCS].count, 1);
            assert_int_equal(j.recovered[JSON_RESYNCS].first, 22);
            /* From behind the second event to the third one's brace: two commas, a line end. */
            assert_int_equal(lost, strlen(bad[k]) + 3);
        }
}

TEST(a_bracket_too_many_behind_an_event_costs_none)
{
    uint64_t lost = read_damaged(S("[{\"ph\":\"1\"}},{\"ph\":\"2\"}]"), 100, &d);

    assert_string_equal(d.at, "1 2 ");
    assert_int_equal(lost, 2);
}

TEST(damage_in_the_last_event_ends_the_reading)
{
    read_damaged(S("[{\"ph\":\"1\"},{\"ph\":\"2\",\"args\":{\"a\"b\"}}]"), 100, &d);
    assert_string_equal(d.at, "1 ");
    assert_int_equal(j.token, JSON_END);
}

TEST(escapes_become_utf8)
{
    assert_str(json_text(S("plain caf\xC3\xA9"), &arena), "plain caf\xC3\xA9");
    assert_str(json_text(S("a\\n\\t\\\"\\\\\\/\\b\\f\\r"), &arena), "a\n\t\"\\/\b\f\r");
    assert_str(json_text(S("\\u0041\\u00e9\\u20AC"), &arena), "A\xC3\xA9\xE2\x82\xAC");
    assert_str(json_text(S("\\uD83D\\uDE00"), &arena), "\xF0\x9F\x98\x80");
    assert_str(json_text(S("\\u0000"), &arena), "\0");
}

TEST(what_has_no_meaning_becomes_a_replacement_character)
{
    assert_str(json_text(S("x\\uD83Dy"), &arena), "x\xEF\xBF\xBDy");
    assert_str(json_text(S("\\uDE00\\uD83D"), &arena), "\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_str(json_text(S("\\uD83D\\u0041"), &arena), "\xEF\xBF\xBD\x41");
    assert_str(json_text(S("a\x01z"), &arena), "a\xEF\xBF\xBDz");
    /* A cut sequence is one mistake, an overlong or surrogate one is one a byte. */
    assert_str(json_text(S("\xE2\x82z"), &arena), "\xEF\xBF\xBDz");
    assert_str(json_text(S("\xC0\xAF"), &arena), "\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_str(json_text(S("\xED\xA0\x80"), &arena), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_str(json_text(S("\xF4\x90\x80\x80"), &arena),
               "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_str(json_text(S("a\\x\\u12"), &arena), "a\\x\\u12");
}

static bool read_run(struct str *key, struct str *value, enum json_token *token)
{
    struct json_run run = json_run_begin(&j);
    bool is_taken = json_run_member(&run, key, value, token);

    json_run_end(&j, &run);
    return is_taken;
}

TEST(plain_members_are_taken_whole_and_others_are_left)
{
    struct str key, value;
    enum json_token token;

    /* The last members need marks behind them, so the text goes on. */
    json_open(&j,
              S("{\"a\": 1.5, \"b\" : \"x\", \"c\": [1], \"d\": \"\\n\", \"e\": -1, \"f\": true, "
                "\"g\": 7, \"h\": {\"i\": 1, \"j\": 2, \"k\": 3}}"),
              JSON_LENIENT);
    assert_int_equal(json_next(&j), JSON_OBJECT);
    struct json_run run = json_run_begin(&j);
    assert_true(json_run_member(&run, &key, &value, &token));
    assert_str(key, "a");
    assert_str(value, "1.5");
    assert_int_equal(token, JSON_NUMBER);
    assert_true(json_run_member(&run, &key, &value, &token));
    assert_str(value, "x");
    assert_int_equal(token, JSON_STRING);
    assert_false(json_run_member(&run, &key, &value, &token));
    json_run_end(&j, &run);
    for (const char *left = "cdef"; *left != '\0'; left++) {
        assert_false(read_run(&key, &value, &token));
        assert_true(json_key(&j, &key));
        assert_int_equal(key.at[0], *left);
        assert_false(read_run(&key, &value, &token)); /* a value comes */
        assert_true(json_skip(&j));
    }
    assert_true(read_run(&key, &value, &token));
    assert_str(key, "g");
    assert_true(json_key(&j, &key));
    assert_str(key, "h");
    assert_true(json_skip(&j));
    assert_false(read_run(&key, &value, &token)); /* the end comes */
    assert_false(json_key(&j, &key));
    assert_int_equal(j.token, JSON_OBJECT_END);
}

TEST_MAIN("base/formats/json_read", T(plain_members_are_taken_whole_and_others_are_left),
          T(every_kind_of_token_is_delivered_in_order),
          T(strings_come_raw_and_say_whether_they_hold_escapes),
          T(strict_mode_refuses_what_the_rfc_does_not_have), T(an_error_has_a_reason_and_a_place),
          T(nesting_beyond_the_limit_is_an_error_of_its_own), T(lenient_mode_goes_on_and_counts),
          T(not_finite_literals_are_null_tokens),
          T(truncated_text_delivers_what_is_complete_and_says_where_it_ends),
          T(what_no_rule_covers_stays_an_error_in_lenient_mode),
          T(any_cut_between_windows_gives_the_same_tokens),
          T(escapes_across_block_borders_are_resolved),
          T(all_scanners_give_the_same_masks_and_marks),
          T(keys_and_elements_are_walked_and_the_rest_is_skipped),
          T(strict_mode_checks_what_it_skips),
          T(skipping_finds_the_closing_bracket_across_blocks_and_batches),
          T(a_marked_element_is_read_again_whole_in_the_next_window),
          T(without_a_mark_the_call_that_ran_out_is_repeated),
          T(a_border_is_found_from_any_byte_of_a_trace), T(a_reader_can_start_inside_an_array),
          T(damage_costs_only_the_damaged_event), T(a_bracket_too_many_behind_an_event_costs_none),
          T(damage_in_the_last_event_ends_the_reading), TA(escapes_become_utf8),
          TA(what_has_no_meaning_becomes_a_replacement_character))
