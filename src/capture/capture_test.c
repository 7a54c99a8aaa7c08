#include "capture/capture.h"

#include "base/limits.h"
#include "base/testing.h"

static lane_id stream(struct capture *cap, const char *name)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, str_of(name))};

    return capture_lane(cap, key);
}

TEST(a_lane_is_its_key)
{
    struct capture *cap = capture_new();
    lane_id two = stream(cap, "2");

    assert_int_not_equal(stream(cap, "3"), two);
    assert_int_equal(stream(cap, "2"), two);
    struct lane_key other = cap->lanes.at[two].key;
    other.device = 1;
    assert_int_not_equal(capture_lane(cap, other), two);
    assert_int_equal(cap->lanes.n, 3);
    capture_free(cap);
}

TEST(neighbours_are_told_apart)
{
    enum { SIDE = 40 };
    struct capture *cap = capture_new();
    struct lane_key key = {.kind = LANE_THREAD};

    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < SIDE * SIDE; i++) {
            key.tid = (int64_t)i / SIDE - SIDE / 2;
            key.name = i % SIDE;
            assert_int_equal(capture_lane(cap, key), i);
        }
    assert_int_equal(cap->lanes.n, SIDE * SIDE);
    capture_free(cap);
}

TEST(the_seal_groups_slices_by_lane_and_says_what_there_is)
{
    struct capture *cap = capture_new();
    lane_id a = stream(cap, "2"), b = stream(cap, "N/A");

    capture_slice(cap, &(struct slice){.begin = 50, .dur = 5, .lane = a});
    capture_slice(cap, &(struct slice){.begin = 10, .dur = 9, .lane = b, .kind = SLICE_COMM});
    capture_slice(cap, &(struct slice){.begin = 20, .dur = 5, .lane = a});
    capture_seal(cap);

    assert_int_equal(cap->lanes.at[a].first, 0);
    assert_int_equal(cap->lanes.at[a].n, 2);
    assert_int_equal(cap->lanes.at[b].first, 2);
    assert_int_equal(cap->slices.begin[0], 20);
    assert_int_equal(cap->has, HAS_KERNELS | HAS_COMM);
    capture_free(cap);
}

TEST(a_slice_answers_for_its_own_values_and_its_set)
{
    struct capture *cap = capture_new();
    struct attr set = attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, S("MatMul")));
    struct attr own = attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, S("7")));

    capture_slice(cap, &(struct slice){.lane = stream(cap, "2"),
                                       .set = attrs_set(&cap->attrs, &set, 1),
                                       .own = attrs_own(&cap->attrs, &own, 1)});
    capture_seal(cap);

    assert_str(capture_slice_text(cap, 0, KEY_TYPE), "MatMul");
    assert_str(capture_slice_text(cap, 0, KEY_STEP), "7");
    assert_str(capture_slice_text(cap, 0, KEY_CORE), "");
    assert_int_equal(cap->has, HAS_KERNELS | HAS_STEPS);
    capture_free(cap);
}

TEST(functions_on_the_timeline_are_stacks)
{
    struct capture *cap = capture_new();

    capture_slice(cap, &(struct slice){.lane = stream(cap, "1"), .kind = SLICE_PYTHON});
    capture_seal(cap);
    assert_int_equal(cap->has, HAS_HOST | HAS_STACKS);
    capture_free(cap);
}

TEST(arrows_follow_their_slices_through_the_seal)
{
    struct capture *cap = capture_new();
    lane_id lane = stream(cap, "2");
    uint32_t late = capture_slice(cap, &(struct slice){.begin = 50, .lane = lane});
    uint32_t early = capture_slice(cap, &(struct slice){.begin = 10, .lane = lane});

    capture_flow(cap, FLOW_LAUNCH, early, late);
    capture_seal(cap);

    assert_int_equal(cap->slices.begin[cap->flows.at[0].from], 10);
    assert_int_equal(cap->slices.begin[cap->flows.at[0].to], 50);
    assert_string_equal(flow_kind_name(cap->flows.at[0].kind), "launch");
    capture_free(cap);
}

TEST(many_arrows_are_put_in_order_of_both_ends)
{
    enum { SLICES = 60 };
    struct capture *cap = capture_new();
    lane_id lane = stream(cap, "2");

    for (int i = 0; i < SLICES; i++)
        capture_slice(cap, &(struct slice){.begin = SLICES - i, .lane = lane});
    for (uint32_t i = 0; i < SLICES; i++) {
        capture_flow(cap, FLOW_LAUNCH, i / 4 * 7 % SLICES, i * 13 % SLICES);
        capture_flow(cap, FLOW_LAUNCH, i, 0);
    }
    capture_seal(cap);
    assert_int_equal(cap->flows.n, 2 * SLICES);
    for (size_t i = 1; i < cap->flows.n; i++) {
        const struct flow *a = &cap->flows.at[i - 1], *b = &cap->flows.at[i];
        assert_true(a->from < b->from || (a->from == b->from && a->to <= b->to));
    }
    assert_int_equal(cap->flows.at[0].from, 0); /* the slice that came last */
    capture_free(cap);
}

TEST(samples_are_put_in_order_of_time)
{
    struct capture *cap = capture_new();
    series_id read = capture_series(cap, 0, capture_intern(cap, S("HBM read")), 0);

    capture_sample(cap, read, 20, 2.5);
    capture_sample(cap, read, 10, 1.5);
    assert_int_equal(capture_series(cap, 0, capture_intern(cap, S("HBM read")), 0), read);
    capture_seal(cap);

    assert_int_equal(cap->series.at[read].samples.at[0].at, 10);
    assert_int_equal(cap->has, HAS_COUNTERS);
    capture_free(cap);
}

TEST(of_two_marks_with_one_number_the_earlier_stays)
{
    struct capture *cap = capture_new();

    vec_push(&cap->marks, ((struct mark){.number = 7, .begin = 300, .end = 400}));
    vec_push(&cap->marks, ((struct mark){.number = 9, .begin = 50, .end = 60}));
    vec_push(&cap->marks, ((struct mark){.number = 7, .begin = 100, .end = 200}));
    capture_seal(cap);

    assert_int_equal(cap->marks.n, 2);
    assert_int_equal(cap->marks.at[0].number, 9);
    assert_int_equal(cap->marks.at[1].begin, 100);
    assert_int_equal(cap->has, HAS_STEPS);
    capture_free(cap);
}

TEST(lanes_past_the_limit_are_one)
{
    struct capture *cap = capture_new();
    struct lane_key key = {.kind = LANE_STREAM, .device = 0};

    for (key.tid = 0; key.tid < LIMIT_LANES + 3; key.tid++)
        assert_int_equal(capture_lane(cap, key), key.tid < LIMIT_LANES ? key.tid : LIMIT_LANES);
    assert_int_equal(cap->lanes.n, LIMIT_LANES + 1);
    assert_int_equal(cap->lanes.at[LIMIT_LANES].key.kind, LANE_OTHER);
    key.tid = 5;
    assert_int_equal(capture_lane(cap, key), 5);
    capture_free(cap);
}

TEST(an_empty_capture_seals)
{
    struct capture *cap = capture_new();

    capture_seal(cap);

    assert_int_equal(cap->has, 0);
    capture_free(cap);
    capture_free(NULL);
}

/* Differences of any two ends and the sum of all lengths stay below 2^63. */
TEST(times_that_cannot_be_are_cut_by_the_seal)
{
    static const nanos times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 5, INT64_MAX - 1, INT64_MAX};
    struct capture *cap = capture_new();
    lane_id lane = stream(cap, "1");
    nanos sum = 0, first = INT64_MAX, last = INT64_MIN, length;

    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        for (size_t k = 0; k < ARRAY_LEN(times); k++)
            capture_slice(cap, &(struct slice){times[i], times[k], lane, 0, 0, 0, SLICE_COMPUTE});
    for (size_t i = 0; i < 100000; i++)
        capture_slice(cap, &(struct slice){5, NANOS_LATEST >> 15, lane, 0, 0, 0, SLICE_COMPUTE});
    series_id series = capture_series(cap, 0, 0, 0);
    capture_sample(cap, series, INT64_MIN, 1);
    capture_seal(cap);
    for (size_t i = 0; i < cap->slices.n; i++) {
        nanos end;
        assert_false(__builtin_add_overflow(cap->slices.begin[i], cap->slices.dur[i], &end));
        assert_false(__builtin_add_overflow(sum, cap->slices.dur[i], &sum));
        first = cap->slices.begin[i] < first ? cap->slices.begin[i] : first;
        last = end > last ? end : last;
    }
    assert_false(__builtin_sub_overflow(last, first, &length));
    assert_true(cap->series.at[series].samples.at[0].at == NANOS_EARLIEST);
    assert_true(cap->times_clipped > 28); /* four of seven begins, and more */
    capture_free(cap);
}

TEST(times_of_the_world_are_left_alone)
{
    struct capture *cap = capture_new();
    lane_id lane = stream(cap, "1");

    capture_slice(cap, &(struct slice){1736412474700900500, 40000, lane, 0, 0, 0, SLICE_COMPUTE});
    capture_slice(cap, &(struct slice){-40, 40, lane, 0, 0, 0, SLICE_COMPUTE});
    capture_seal(cap);
    assert_int_equal(cap->times_clipped, 0);
    assert_true(cap->slices.begin[1] == 1736412474700900500 && cap->slices.dur[1] == 40000);
    capture_free(cap);
}

TEST_MAIN("capture/capture", T(a_lane_is_its_key), T(neighbours_are_told_apart),
          T(the_seal_groups_slices_by_lane_and_says_what_there_is),
          T(a_slice_answers_for_its_own_values_and_its_set),
          T(functions_on_the_timeline_are_stacks), T(arrows_follow_their_slices_through_the_seal),
          T(many_arrows_are_put_in_order_of_both_ends), T(samples_are_put_in_order_of_time),
          T(of_two_marks_with_one_number_the_earlier_stays), T(lanes_past_the_limit_are_one),
          T(times_that_cannot_be_are_cut_by_the_seal), T(times_of_the_world_are_left_alone),
          T(an_empty_capture_seals))
