#include "capture/cut.h"

#include "base/testing.h"

/* Two streams and a thread; an arrow from the thread to each stream; a counter.
 * Numbers after the seal: stream 1: 0 [0,100) 1 [100,150) 2 [300,310)
 *                         stream 2: 3 [120,400)  4 [250,250)    thread: 5 [10,20) 6 [90,105) */
static struct capture *cut_sample(void)
{
    struct capture *cap = capture_new();
    lane_id one = capture_lane(
        cap,
        (struct lane_key){.kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, S("1"))});
    lane_id two = capture_lane(
        cap,
        (struct lane_key){.kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, S("2"))});
    lane_id host = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .process = capture_intern(cap, S("py")),
                                                       .name = capture_intern(cap, S("main"))});
    strid k = capture_intern(cap, S("k"));
    uint32_t a = capture_slice(cap, &(struct slice){0, 100, one, k, 0, 0, SLICE_COMPUTE});
    capture_slice(cap, &(struct slice){100, 50, one, k, 0, 0, SLICE_COMPUTE});
    capture_slice(cap, &(struct slice){300, 10, one, k, 0, 0, SLICE_COMPUTE});
    uint32_t b = capture_slice(cap, &(struct slice){120, 280, two, k, 0, 0, SLICE_COMM});
    capture_slice(cap, &(struct slice){250, 0, two, k, 0, 0, SLICE_COPY});
    uint32_t c = capture_slice(cap, &(struct slice){10, 10, host, k, 0, 0, SLICE_RUNTIME});
    uint32_t d = capture_slice(cap, &(struct slice){90, 15, host, k, 0, 0, SLICE_RUNTIME});
    capture_flow(cap, FLOW_LAUNCH, c, a);
    capture_flow(cap, FLOW_LAUNCH, d, b);
    series_id s = capture_series(cap, capture_intern(cap, S("py")), capture_intern(cap, S("mem")),
                                 capture_intern(cap, S("B")));
    for (int i = 0; i < 5; i++)
        capture_sample(cap, s, i * 100, i);
    cap->facts.vendor = VENDOR_ASCEND;
    capture_seal(cap);
    return cap;
}

TEST(without_options_everything_stays)
{
    struct capture *cap = cut_sample();
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_int_equal(cut.slices, 7);
    assert_int_equal(cut.kernels, 5);
    assert_int_equal(cut.flows, 2);
    assert_int_equal(cut.samples, 5);
    assert_int_equal(cut.lanes_n, 3);
    assert_int_equal(cut.span.begin, 0);
    assert_int_equal(cut.span.end, 400);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(a_window_keeps_what_overlaps_it_and_nothing_that_only_touches_it)
{
    struct capture *cap = cut_sample();
    struct interval w[] = {{100, 250}};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.windows = {w, 1}});

    /* [0,100) ends where the window begins, the copy at 250 lies on its end. */
    assert_false(cut_has(&cut, 0));
    assert_true(cut_has(&cut, 1));
    assert_false(cut_has(&cut, 2));
    assert_true(cut_has(&cut, 3));
    assert_false(cut_has(&cut, 4));
    assert_false(cut_has(&cut, 5));
    assert_true(cut_has(&cut, 6));
    assert_int_equal(cut.flows, 1);
    assert_int_equal(cut.samples, 2);
    assert_int_equal(cut_slice(&cut, 3).dur, 280);
    assert_int_equal(cut.span.begin, 90);
    assert_int_equal(cut.span.end, 400);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(clipping_cuts_at_the_first_and_the_last_window_a_slice_touches)
{
    struct capture *cap = cut_sample();
    struct interval w[] = {{95, 130}, {200, 220}, {260, 305}};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.windows = {w, 3}, .clip = true});

    assert_int_equal(cut_slice(&cut, 0).begin, 95); /* [0,100) */
    assert_int_equal(cut_slice(&cut, 0).dur, 5);
    assert_int_equal(cut_slice(&cut, 1).dur, 30);    /* [100,150) to 130 */
    assert_int_equal(cut_slice(&cut, 2).dur, 5);     /* [300,310) to 305 */
    assert_int_equal(cut_slice(&cut, 3).begin, 120); /* [120,400) to 305 */
    assert_int_equal(cut_slice(&cut, 3).dur, 185);
    assert_int_equal(cut_slice(&cut, 6).begin, 95); /* [90,105): its end is inside */
    assert_int_equal(cut_slice(&cut, 6).dur, 10);
    assert_int_equal(cut.span.begin, 95);
    assert_int_equal(cut.span.end, 305);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(a_slice_without_length_is_in_the_window_that_holds_its_begin)
{
    struct capture *cap = cut_sample();
    struct interval w[] = {{250, 251}};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.windows = {w, 1}, .clip = true});
    assert_true(cut_has(&cut, 4));
    assert_int_equal(cut_slice(&cut, 4).begin, 250);
    assert_int_equal(cut_slice(&cut, 4).dur, 0);
    assert_int_equal(cut.slices, 2);
    cut_fini(&cut);
    capture_free(cap);
}

static size_t with_lane(const struct capture *cap, const char *glob, size_t *samples)
{
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.lanes = &glob, .lanes_n = 1});
    size_t slices = cut.slices;
    *samples = cut.samples;
    cut_fini(&cut);
    return slices;
}

TEST(lanes_are_chosen_by_name_title_or_process)
{
    struct capture *cap = cut_sample();
    size_t samples;

    assert_int_equal(with_lane(cap, "2", &samples), 2);
    assert_int_equal(samples, 0);
    assert_int_equal(with_lane(cap, "Stream *", &samples), 5);
    assert_int_equal(with_lane(cap, "Ascend*/Stream 1", &samples), 3);
    assert_int_equal(with_lane(cap, "py/*", &samples), 2);
    assert_int_equal(samples, 5);
    assert_int_equal(with_lane(cap, "mem", &samples), 0);
    assert_int_equal(samples, 5);
    assert_int_equal(with_lane(cap, "Main", &samples), 0);
    capture_free(cap);
}

TEST(an_arrow_goes_when_one_end_does)
{
    struct capture *cap = cut_sample();
    const char *globs[] = {"main", "2"};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.lanes = globs, .lanes_n = 2});
    assert_int_equal(cut.slices, 4);
    assert_int_equal(cut.flows, 1);
    assert_int_equal(cut.lanes_n, 2);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(no_time_at_all_keeps_nothing)
{
    struct capture *cap = cut_sample();
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.nothing = true});
    assert_int_equal(cut.slices + cut.samples + cut.flows + cut.lanes_n, 0);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(the_span_of_counters_alone_is_theirs)
{
    struct capture *cap = capture_new();

    assert_int_equal(cut_span(cap).end, 0);
    capture_series(cap, 0, capture_intern(cap, S("empty")), 0);
    series_id s = capture_series(cap, 0, capture_intern(cap, S("mem")), 0);
    capture_sample(cap, s, 70, 1);
    capture_sample(cap, s, 40, 1);
    capture_seal(cap);
    assert_int_equal(cut_span(cap).begin, 40);
    assert_int_equal(cut_span(cap).end, 70);
    capture_free(cap);
}

TEST_MAIN("capture/cut", T(without_options_everything_stays),
          T(a_window_keeps_what_overlaps_it_and_nothing_that_only_touches_it),
          T(clipping_cuts_at_the_first_and_the_last_window_a_slice_touches),
          T(a_slice_without_length_is_in_the_window_that_holds_its_begin),
          T(lanes_are_chosen_by_name_title_or_process), T(an_arrow_goes_when_one_end_does),
          T(no_time_at_all_keeps_nothing), T(the_span_of_counters_alone_is_theirs))
