/* Packed traces that are damaged: what zlib gives of them is read, and nothing else. */
#include "input/load.h"

#include "base/files/gz.h"
#include "base/files/gz_write.h"
#include "base/testing_folder.h"
#include "base/text/text.h"
#include "capture/capture.h"
#include "input/input.h"

enum { EVENTS = 4000 };

/* What the tests look at in a capture. */
struct content {
    size_t slices, names;
    nanos sum;
};

static void load_write_file(const char *name, struct str text)
{
    struct outfile f;

    assert_int_equal(outfile_open(&f, scratch_path(name), &diag), ST_OK);
    outfile_write(&f, text);
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
}

/* Loads a trace; `code` is what the diag must have counted once, NULL nothing. */
static struct content load_test_load(const char *name, struct str text, const char *code)
{
    struct input_options options = input_defaults();
    struct content content = {0};
    struct capture *cap = NULL;

    load_write_file(name, text);
    assert_int_equal(input_load(scratch_path(name), &options, &diag, &cap), ST_OK);
    if (code != NULL)
        assert_int_equal(diag_count(&diag, code), 1);
    diag_fini(&diag);
    diag_init(&diag);
    content.slices = cap->slices.n;
    content.names = cap->strings.strings.n;
    for (size_t i = 0; i < cap->slices.n; i++)
        content.sum += cap->slices.begin[i] % 1000003 * (nanos)(cap->slices.dur[i] % 1009 + 1);
    capture_free(cap);
    return content;
}

static struct str load_pack(struct text *packed)
{
    struct gz_write gz;
    struct text text = {0};

    text_put(&text, S("{\"traceEvents\":["));
    for (unsigned i = 0, x = 1; i < EVENTS; i++, x = x * 1664525 + 1013904223)
        text_format(&text,
                    "%s{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%u.%03u,\"dur\":%u,"
                    "\"name\":\"op%u\",\"args\":{\"n\":%u}}\n",
                    i > 0 ? "," : "", x % 3, i * 10, x >> 24, x % 9, x >> 20, x);
    text_put(&text, S("]}"));
    gz_write_open(&gz, text_sink(packed));
    struct sink sink = gz_write_sink(&gz);
    assert_true(sink.write(sink.ctx, text_view(&text)));
    assert_true(gz_write_close(&gz));
    text_free(&text);
    return text_view(packed);
}

/* What zlib unpacks up to a fault. */
static struct str unpack(struct str packed)
{
    struct str text = S("");
    struct diag quiet;

    diag_init(&quiet);
    assert_int_equal(gz_read_all(packed, 1 << 24, "f", &quiet, &arena, &text), ST_OK);
    diag_fini(&quiet);
    return text;
}

static void assert_same(struct content a, struct content b)
{
    assert_int_equal(a.slices, b.slices);
    assert_int_equal(a.names, b.names);
    assert_int_equal(a.sum, b.sum);
}

TEST(a_packed_trace_is_read_like_a_plain_one)
{
    struct text packed = {0};
    struct str file = load_pack(&packed);
    struct content whole = load_test_load("whole.json.gz", file, NULL);

    assert_int_equal(whole.slices, EVENTS);
    assert_same(whole, load_test_load("plain.json", unpack(file), NULL));
    text_free(&packed);
}

TEST(of_a_packed_trace_cut_short_all_that_was_there_is_read)
{
    struct text packed = {0};
    struct str file = load_pack(&packed);

    for (size_t n = 1000; n < file.n; n += file.n / 7) {
        struct str cut = {file.at, n};
        struct content content = load_test_load("cut.json.gz", cut, "gz.truncated");
        assert_in_range(content.slices, 1, EVENTS - 1);
        assert_same(content, load_test_load("plain.json", unpack(cut), NULL));
    }
    text_free(&packed);
}

TEST(of_a_damaged_packed_trace_what_came_before_is_read)
{
    struct text packed = {0};
    struct str file = load_pack(&packed);
    size_t fewer = 0;

    for (size_t at = 1001; at < file.n; at += file.n / 23) {
        packed.at[at] ^= 0x10;
        struct content content = load_test_load("damaged.json.gz", file, "gz.corrupt");
        assert_same(content, load_test_load("plain.json", unpack(file), NULL));
        fewer += content.slices < EVENTS;
        packed.at[at] ^= 0x10;
    }
    assert_true(fewer > 0);
    text_free(&packed);
}

TEST_MAIN("input/load", TS(a_packed_trace_is_read_like_a_plain_one),
          TS(of_a_packed_trace_cut_short_all_that_was_there_is_read),
          TS(of_a_damaged_packed_trace_what_came_before_is_read))
