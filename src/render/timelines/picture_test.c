#include "render/timelines/picture.h"

#include <math.h>

#include "base/testing.h"
#include "base/text/text.h"
#include "render/timelines/timeline.h"

/* Stream 2: a range of 100 ns around kernels in the first half of it and a collective at the end;
 * a host thread that is busy for a quarter. */
static struct capture *picture_sample(void)
{
    struct capture *cap = capture_new();
    lane_id host = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .name = capture_intern(cap, S("main"))});
    lane_id two = capture_lane(
        cap,
        (struct lane_key){.kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, S("2"))});
    const struct slice list[] = {
        {.begin = 1000, .dur = 100, .lane = two, .kind = SLICE_ANNOTATION},
        {.begin = 1000, .dur = 30, .lane = two, .kind = SLICE_COMPUTE},
        {.begin = 1020, .dur = 30, .lane = two, .kind = SLICE_COMPUTE},
        {.begin = 1090, .dur = 10, .lane = two, .kind = SLICE_COMM},
        {.begin = 1000, .dur = 25, .lane = host, .kind = SLICE_HOST_OP},
        {.begin = 1010, .dur = 5, .lane = host, .kind = SLICE_RUNTIME},
    };

    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        capture_slice(cap, &list[i]);
    capture_seal(cap);
    return cap;
}

static void picture_draw(const struct timeline_format *format, size_t width, struct text *out)
{
    struct capture *cap = picture_sample();
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(format->write(&cut, &(struct timeline_options){.width = width}, text_sink(out)));
    cut_fini(&cut);
    capture_free(cap);
}

static void near(double got, double expected)
{
    assert_true(fabs(got - expected) < 1e-9);
}

TEST(columns_are_shares_of_time)
{
    struct capture *cap = picture_sample();
    struct picture p;
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    picture_init(&p, &cut, 10);
    assert_int_equal(p.rows.n, 2);
    const struct picture_row *stream = &p.rows.at[0], *host = &p.rows.at[1]; /* the device first */
    near(stream->busy, 0.6);
    near(stream->cells[4].share, 1);
    near(stream->cells[5].share, 0);
    assert_int_equal(stream->cells[0].class, PICTURE_COMPUTE);
    assert_int_equal(stream->cells[9].class, PICTURE_COMM);
    near(host->busy, 0.25); /* a call inside another counts once */
    near(host->cells[2].share, 0.5);
    assert_true(p.has_class[PICTURE_COMM] && !p.has_class[PICTURE_COPY]);
    picture_fini(&p);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(a_window_is_the_whole_width)
{
    struct interval window = {1080, 1100};
    struct cut_options options = {.windows = {&window, 1}};
    struct capture *cap = picture_sample();
    struct picture p;
    struct cut cut;

    cut_init(&cut, cap, &options);
    picture_init(&p, &cut, 2);
    assert_int_equal(p.rows.n, 1);
    near(p.rows.at[0].cells[0].share, 0);
    near(p.rows.at[0].cells[1].share, 1);
    picture_fini(&p);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(characters_show_how_busy)
{
    struct text out = {0};

    picture_draw(&timeline_text, 55, &out);
    assert_true(str_contains(text_view(&out), S("██████████        ██  60 %")));
    assert_true(str_contains(text_view(&out), S("█████                 25 %")));
    assert_true(str_contains(text_view(&out), S("100.0 ns\n")));
    text_free(&out);
}

TEST(a_picture_has_the_width_asked_for)
{
    struct text out = {0};

    picture_draw(&timeline_png, 500, &out);
    assert_memory_equal(out.at, "\x89PNG\r\n\x1a\n", 8);
    assert_memory_equal(out.at + 16, "\0\0\1\364", 4);
    text_free(&out);
}

TEST(nothing_is_drawn_too)
{
    struct capture *cap = capture_new();
    struct text out = {0};
    struct cut cut;

    capture_seal(cap);
    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(timeline_text.write(&cut, &(struct timeline_options){0}, text_sink(&out)));
    assert_true(timeline_png.write(&cut, &(struct timeline_options){0}, text_sink(&out)));
    text_free(&out);
    cut_fini(&cut);
    capture_free(cap);
}

TEST_MAIN("render/timelines/picture", T(columns_are_shares_of_time), T(a_window_is_the_whole_width),
          T(characters_show_how_busy), T(a_picture_has_the_width_asked_for),
          T(nothing_is_drawn_too))
