#include "capture/cut.h"

#include "base/testing.h"
#include "capture/title.h"

static strid part_put(struct capture *cap, const char *text)
{
    return capture_intern(cap, str_of(text));
}

/* A stream with two kernels that a thread launched, and a mark for each. */
static struct capture *part_sample(void)
{
    struct capture *cap = capture_new();
    strid unused = part_put(cap, "unused"), key = part_put(cap, "bytes");
    lane_id stream = capture_lane(
        cap, (struct lane_key){.kind = LANE_STREAM, .device = 0, .name = part_put(cap, "7")});
    lane_id host = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .process = part_put(cap, "py"),
                                                       .name = part_put(cap, "main")});

    for (int i = 0; i < 2; i++) {
        struct attr set[] = {attr_text(capture_key(cap, KEY_TYPE), part_put(cap, "MatMul"))};
        struct attr own[] = {attr_int(key, 100 + i),
                             attr_text(unused, part_put(cap, i ? "b" : "a"))};
        uint32_t kernel = capture_slice(
            cap, &(struct slice){1000 * i + 200, 100, stream, part_put(cap, i ? "second" : "first"),
                                 attrs_set(&cap->attrs, set, 1), attrs_own(&cap->attrs, own, 2),
                                 SLICE_COMPUTE});
        uint32_t call = capture_slice(
            cap, &(struct slice){1000 * i, 50, host, part_put(cap, "launch"), 0, 0, SLICE_RUNTIME});
        capture_flow(cap, FLOW_LAUNCH, call, kernel);
        vec_push(&cap->marks, ((struct mark){MARK_ITERATION, part_put(cap, "Step"), i, 1000 * i,
                                             1000 * i + 1000}));
    }
    capture_sample(cap, capture_series(cap, 0, part_put(cap, "mem"), part_put(cap, "B")), 1100, 5);
    cap->facts.vendor = VENDOR_ASCEND;
    cap->facts.device_name = part_put(cap, "chip");
    cap->facts.device_cc = part_put(cap, "9.0");
    cap->name = "run";
    capture_seal(cap);
    return cap;
}

TEST(a_window_becomes_a_capture_that_stands_alone)
{
    struct capture *cap = part_sample();
    struct interval window = {1000, 2000};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.windows = {&window, 1}});
    struct capture *part = capture_part(&cut);
    cut_fini(&cut);
    capture_free(cap);
    assert_true(part->is_sealed);
    assert_int_equal(part->slices.n, 2);
    assert_int_equal(part->lanes.n, 2);
    assert_int_equal(part->flows.n, 1);
    assert_int_equal(part->marks.n, 1);
    assert_int_equal(part->marks.at[0].number, 1);
    assert_int_equal(part->series.at[0].samples.n, 1);
    uint32_t kernel = part->flows.at[0].to;
    assert_int_equal(part->slices.begin[kernel], 1200);
    assert_true(str_equal(capture_text(part, part->slices.name[kernel]), S("second")));
    assert_true(str_equal(capture_slice_text(part, kernel, KEY_TYPE), S("MatMul")));
    struct attr own =
        attrs_get(&part->attrs, part->slices.own[kernel], intern_find(&part->strings, S("bytes")));
    assert_int_equal(own.number, 101);
    assert_true(str_equal(capture_text(part, part->facts.device_name), S("chip")));
    assert_true(str_equal(capture_text(part, part->facts.device_cc), S("9.0")));
    assert_int_equal(intern_find(&part->strings, S("first")), 0);
    assert_string_equal(part->name, "run");
    capture_free(part);
}

TEST(an_empty_cut_is_an_empty_capture)
{
    struct capture *cap = part_sample();
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){.nothing = true});
    struct capture *part = capture_part(&cut);
    assert_int_equal(part->slices.n, 0);
    assert_int_equal(part->marks.n, 0);
    capture_free(part);
    cut_fini(&cut);
    capture_free(cap);
}

/* The second clock is 300 ns ahead and gains 1 in 100 from 1000 on. */
TEST(ranks_are_joined_on_one_clock)
{
    struct capture *caps[] = {part_sample(), part_sample()};
    const struct join_part parts[] = {
        {.cap = caps[0], .label = S("Rank 0"), .rank = 0},
        {.cap = caps[1], .shift = {1000, 300, 0, 0.01}, .label = S("Rank 1"), .rank = 1}};
    char title[TITLE_TEXT];

    caps[1]->facts.device_cc = 0;
    struct capture *all = capture_join(parts, 2, caps[0]->clock);
    capture_free(caps[0]);
    capture_free(caps[1]);
    assert_int_equal(all->lanes.n, 4);
    assert_int_equal(all->slices.n, 8);
    assert_int_equal(all->flows.n, 4);
    assert_int_equal(all->kernels_read, 0); /* as the parts have it */
    assert_int_equal(all->series.n, 2);
    for (lane_id i = 0; i < all->lanes.n; i++) {
        const struct lane *lane = &all->lanes.at[i];
        nanos second = all->slices.begin[lane->first + lane->n - 1];
        nanos length = all->slices.dur[lane->first + lane->n - 1];
        bool is_stream = lane->key.kind == LANE_STREAM;
        assert_true(str_equal(title_process(all, i, title),
                              is_stream ? (lane->rank == 0 ? S("Rank 0 Ascend Hardware")
                                                           : S("Rank 1 Ascend Hardware"))
                                        : (lane->rank == 0 ? S("Rank 0 py") : S("Rank 1 py"))));
        /* 1200 to 1300, and 898 to 997; 1000, and 700 */
        assert_int_equal(second,
                         lane->rank == 0 ? (is_stream ? 1200 : 1000) : (is_stream ? 898 : 700));
        assert_int_equal(length, lane->rank == 0 ? (is_stream ? 100 : 50) : (is_stream ? 99 : 50));
    }
    assert_true(str_equal(capture_text(all, all->facts.device_name), S("chip")));
    assert_int_equal(all->facts.device_cc, 0); /* they do not agree */
    assert_int_equal(all->facts.rank, UNKNOWN);
    capture_free(all);
}

TEST(one_joined_capture_keeps_its_names_and_facts)
{
    struct capture *cap = part_sample();
    const struct join_part part = {.cap = cap, .shift = {.offset = -50}, .rank = 3};

    cap->facts.rank = 3;
    struct capture *one = capture_join(&part, 1, cap->clock);
    capture_free(cap);
    assert_int_equal(one->facts.rank, 3);
    assert_int_equal(one->slices.n, 4);
    assert_int_equal(one->marks.at[0].begin, 50);
    assert_int_equal(one->series.at[0].samples.at[0].at, 1150);
    assert_int_equal(one->lanes.at[0].key.process, 0);
    assert_string_equal(one->name, "run");
    capture_free(one);
}

TEST_MAIN("capture/part", T(a_window_becomes_a_capture_that_stands_alone),
          T(an_empty_cut_is_an_empty_capture), T(ranks_are_joined_on_one_clock),
          T(one_joined_capture_keeps_its_names_and_facts))
