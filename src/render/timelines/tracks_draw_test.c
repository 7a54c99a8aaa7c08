/* Batches drawn side by side are the same bytes as drawn one after the other. */
#include "base/files/gz.h"
#include "base/run/pool.h"
#include "base/testing_arena.h"
#include "render/timelines/tracks.h"

enum { SLICES = 30000 }; /* several batches */

/* Two threads whose slices overlap, arrows between them, and a counter. */
static struct capture *many(void)
{
    struct capture *cap = capture_new();
    lane_id lanes[2];
    uint32_t last = 0, x = 1;
    series_id series =
        capture_series(cap, capture_intern(cap, S("py")), capture_intern(cap, S("mem")), 0);

    for (int i = 0; i < 2; i++)
        lanes[i] = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .process = capture_intern(cap, S("py")),
                                                       .pid = 40,
                                                       .tid = 41 + i});
    for (int i = 0; i < SLICES; i++, x = x * 1664525 + 1013904223) {
        uint32_t number = capture_slice(cap, &(struct slice){.begin = 1000 + 10 * (nanos)i,
                                                             .dur = x >> 22,
                                                             .lane = lanes[x >> 9 & 1],
                                                             .name = capture_intern(cap, S("op")),
                                                             .kind = SLICE_HOST_OP});
        if (i % 7 == 6)
            capture_flow(cap, FLOW_OTHER, last, number);
        if (i % 3 == 0)
            last = number;
        capture_sample(cap, series, 1000 + 10 * (nanos)i, i);
    }
    cap->name = "run";
    capture_seal(cap);
    return cap;
}

static struct text draw_render(const struct timeline_format *format, const struct capture *cap,
                               size_t width)
{
    struct text text = {0};
    struct timeline_options how = {.pool = width > 1 ? pool_new(width) : NULL};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(format->write(&cut, &how, text_sink(&text)));
    cut_fini(&cut);
    pool_free(how.pool);
    return text;
}

TEST(the_bytes_do_not_depend_on_the_number_of_threads)
{
    static const struct timeline_format *const formats[] = {&timeline_chrome, &timeline_chrome_gz,
                                                            &timeline_perfetto};
    struct capture *cap = many();

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        struct text one = draw_render(formats[i], cap, 1);
        for (size_t width = 2; width <= 8; width += 3) {
            struct text more = draw_render(formats[i], cap, width);
            assert_int_equal(one.n, more.n);
            assert_memory_equal(one.at, more.at, one.n);
            text_free(&more);
        }
        text_free(&one);
    }
    capture_free(cap);
}

TEST(blocks_are_one_member_with_the_plain_text)
{
    struct capture *cap = many();
    struct text plain = draw_render(&timeline_chrome, cap, 1),
                packed = draw_render(&timeline_chrome_gz, cap, 3);
    struct str text;

    assert_int_equal(gz_read_all(text_view(&packed), 64 << 20, "f", &diag, &arena, &text), ST_OK);
    assert_int_equal(diag.entries.n, 0);
    assert_int_equal(text.n, plain.n);
    assert_memory_equal(text.at, plain.at, plain.n);
    struct gz gz;
    struct str rest = text_view(&packed);
    char *out = mem_grow(NULL, 1, plain.n);
    gz_init(&gz);
    assert_int_equal(gz_read(&gz, &rest, out, plain.n), plain.n);
    gz_end(&gz);
    assert_int_equal(gz.begin, 0);
    gz_fini(&gz);
    mem_free(out);
    text_free(&plain);
    text_free(&packed);
    capture_free(cap);
}

TEST_MAIN("render/timelines/tracks_draw", T(the_bytes_do_not_depend_on_the_number_of_threads),
          TA(blocks_are_one_member_with_the_plain_text))
