#include "render/timelines/tracks.h"

#include "base/testing_arena.h"

static struct capture *cap;
static struct cut cut;
static struct tracks tracks;
static bool device_pids;

static lane_id lane(struct lane_key key, const char *process, const char *name)
{
    key.process = capture_intern(cap, str_of(process));
    key.name = capture_intern(cap, str_of(name));
    lane_id id = capture_lane(cap, key);
    capture_slice(cap, &(struct slice){.begin = 0, .dur = 1, .lane = id});
    return id;
}

static void lay_out(void)
{
    capture_seal(cap);
    cut_init(&cut, cap, &(struct cut_options){0});
    tracks_init(&tracks, &cut, device_pids);
}

static void tracks_done(void)
{
    tracks_fini(&tracks);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(numbers_of_the_source_are_kept_and_others_get_the_smallest_free_ones)
{
    cap = capture_new();
    cap->facts.vendor = VENDOR_ASCEND;
    lane_id stream = lane((struct lane_key){.kind = LANE_STREAM, .device = 0}, "", "7");
    lane_id comm = lane((struct lane_key){.kind = LANE_COMM, .device = 0}, "", "N/A");
    lane_id thread =
        lane((struct lane_key){.kind = LANE_THREAD, .device = -1, .pid = 1, .tid = 9}, "py", "a");
    lane_id bare = lane((struct lane_key){.kind = LANE_THREAD, .device = -1, .pid = 1}, "py", "b");
    lay_out();

    assert_int_equal(tracks.processes.n, 3);
    assert_str(tracks.processes.at[0].name, "Ascend Hardware");
    assert_str(tracks.processes.at[1].name, "Communication");
    assert_int_equal(tracks.processes.at[0].pid, 2); /* 1 is the thread's */
    assert_int_equal(tracks.processes.at[1].pid, 3);
    assert_int_equal(tracks.processes.at[2].pid, 1);
    assert_int_equal(tracks.lanes[stream].process, 0);
    assert_int_equal(tracks.lanes[stream].tid, 7);
    assert_int_equal(tracks.lanes[comm].tid, 1);
    assert_int_equal(tracks.lanes[thread].tid, 9);
    assert_int_equal(tracks.lanes[bare].tid, 1);
    assert_int_equal(tracks_fresh_tid(&tracks, 2), 2);
    assert_int_equal(tracks_fresh_tid(&tracks, 0), 1);
    tracks_done();
}

TEST(a_number_that_two_processes_claim_goes_to_the_first)
{
    cap = capture_new();
    cap->facts.vendor = VENDOR_ASCEND;
    lane((struct lane_key){.kind = LANE_THREAD, .device = -1, .pid = 5, .tid = 6}, "one", "a");
    lane((struct lane_key){.kind = LANE_THREAD, .device = -1, .pid = 5, .tid = 6}, "two", "a");
    lane_id twin =
        lane((struct lane_key){.kind = LANE_THREAD, .device = -1, .pid = 5, .tid = 6}, "one", "b");
    lay_out();

    assert_int_equal(tracks.processes.at[0].pid, 5);
    assert_int_equal(tracks.processes.at[1].pid, 1);
    assert_int_equal(tracks.lanes[twin].process, 0);
    assert_int_equal(tracks.lanes[twin].tid, 1); /* 6 is taken */
    tracks_done();
}

TEST(devices_are_processes_of_their_own_and_counters_join_theirs)
{
    cap = capture_new();
    cap->facts.vendor = VENDOR_ASCEND;
    lane((struct lane_key){.kind = LANE_STREAM, .device = 0}, "", "2");
    lane((struct lane_key){.kind = LANE_STREAM, .device = 1}, "", "2");
    lane((struct lane_key){.kind = LANE_STREAM, .device = 1}, "NPU", "2");
    series_id inside = capture_series(cap, capture_intern(cap, S("NPU")), 1, 0);
    series_id alone = capture_series(cap, capture_intern(cap, S("board")), 1, 0);
    capture_sample(cap, inside, 0, 1);
    capture_sample(cap, alone, 0, 1);
    lay_out();

    assert_int_equal(tracks.processes.n, 4);
    assert_int_equal(tracks.series[inside], 2);
    assert_int_equal(tracks.series[alone], 3);
    assert_str(tracks.processes.at[3].name, "board");
    assert_int_equal(tracks.processes.at[3].pid, 4);
    tracks_done();
}

TEST(a_gpu_may_have_its_number_for_a_process)
{
    device_pids = true;
    cap = capture_new();
    cap->facts.vendor = VENDOR_NVIDIA;
    lane((struct lane_key){.kind = LANE_STREAM, .device = 0}, "", "7");
    lane((struct lane_key){.kind = LANE_STREAM, .device = 1}, "", "-1");
    lane((struct lane_key){.kind = LANE_THREAD, .device = -1, .pid = 1}, "init", "main");
    lay_out();
    device_pids = false;

    assert_int_equal(tracks.processes.at[0].pid, 0);
    assert_str(tracks.processes.at[1].name, "GPU 1");
    assert_int_equal(tracks.processes.at[1].pid, 2); /* 1 is the thread's */
    assert_int_equal(tracks.lanes[1].tid, -1);
    tracks_done();
}

TEST(arrows_are_listed_by_the_slice_they_lead_to)
{
    cap = capture_new();
    cap->facts.vendor = VENDOR_ASCEND;
    lane((struct lane_key){.kind = LANE_STREAM, .device = 0}, "", "2");
    lane((struct lane_key){.kind = LANE_STREAM, .device = 0}, "", "3");
    capture_flow(cap, FLOW_OTHER, 0, 1);
    capture_flow(cap, FLOW_OTHER, 1, 0);
    capture_flow(cap, FLOW_OTHER, 1, 1);
    lay_out();

    assert_int_equal(tracks.by_to[0], 1);
    assert_int_equal(tracks.by_to[1], 0);
    assert_int_equal(tracks.by_to[2], 2);
    size_t flow = SIZE_MAX;
    struct tracks_arrows arrows = tracks_arrows_from(&tracks, 0);
    assert_true(tracks_arrow_from(&arrows, 0, &flow) && flow == 0);
    assert_false(tracks_arrow_from(&arrows, 0, &flow));
    assert_true(tracks_arrow_to(&arrows, 0, &flow) && flow == 1);
    assert_false(tracks_arrow_to(&arrows, 0, &flow));
    assert_true(tracks_arrow_from(&arrows, 1, &flow) && flow == 1);
    assert_true(tracks_arrow_from(&arrows, 1, &flow) && flow == 2);
    arrows = tracks_arrows_from(&tracks, 1);
    assert_true(tracks_arrow_from(&arrows, 1, &flow) && flow == 1);
    assert_true(tracks_arrow_to(&arrows, 1, &flow) && flow == 0);
    assert_true(tracks_arrow_to(&arrows, 1, &flow) && flow == 2);
    assert_false(tracks_arrow_to(&arrows, 1, &flow));
    tracks_done();
}

TEST(rows_are_named_after_their_lane)
{
    cap = capture_new();
    cap->facts.vendor = VENDOR_ASCEND;
    lane_id id = lane((struct lane_key){.kind = LANE_STREAM, .device = 0}, "", "2");
    lay_out();
    assert_str(tracks_row_name(&tracks, id, 0, &arena), "Stream 2");
    assert_str(tracks_row_name(&tracks, id, 1, &arena), "Stream 2 (2)");
    tracks_done();
}

TEST(slices_nest_on_the_first_row_on_which_they_fit)
{
    struct tracks_rows rows = {0};

    assert_int_equal(tracks_place(&rows, 0, 100), 0);
    assert_int_equal(tracks_place(&rows, 0, 100), 0);   /* equal ones nest */
    assert_int_equal(tracks_place(&rows, 10, 50), 0);   /* inside */
    assert_int_equal(tracks_place(&rows, 20, 60), 1);   /* overlaps the last one */
    assert_int_equal(tracks_place(&rows, 30, 40), 0);   /* inside the innermost */
    assert_int_equal(tracks_place(&rows, 50, 100), 0);  /* begins where that one ended */
    assert_int_equal(tracks_place(&rows, 55, 120), 2);  /* neither fits */
    assert_int_equal(tracks_place(&rows, 60, 200), 1);  /* row 1 is free again */
    assert_int_equal(tracks_place(&rows, 100, 100), 0); /* no length, nothing open */
    tracks_next_lane(&rows);
    assert_int_equal(rows.n, 0);
    assert_int_equal(tracks_place(&rows, 5, 6), 0);
    tracks_rows_free(&rows);
}

TEST(beyond_the_nesting_rows_a_row_is_used_again_when_its_slice_has_ended)
{
    struct tracks_rows rows = {0};

    for (int i = 0; i < TRACKS_NESTING_ROWS; i++)
        assert_int_equal(tracks_place(&rows, i, 1000 + i), i);
    assert_int_equal(tracks_place(&rows, 40, 2000), 32);
    assert_int_equal(tracks_place(&rows, 41, 2001 + 1), 33);
    assert_int_equal(tracks_place(&rows, 42, 2003), 34);
    /* All nesting rows are busy with slices that end later than these begin and before they end. */
    for (int i = 0; i < TRACKS_NESTING_ROWS; i++)
        tracks_place(&rows, 1500, 3000 + i);
    assert_int_equal(tracks_place(&rows, 2001, 9000), 32);
    assert_int_equal(tracks_place(&rows, 2002, 9000), 33);
    assert_int_equal(tracks_place(&rows, 2002, 9001), 35);
    tracks_rows_free(&rows);
}

struct ends {
    size_t n;
    size_t rows[8];
    nanos at[8];
};

static void note_end(void *ctx, size_t row, nanos end)
{
    struct ends *e = ctx;

    e->rows[e->n] = row;
    e->at[e->n++] = end;
}

TEST(ends_are_told_innermost_first_before_the_row_goes_on)
{
    struct ends ends = {0};
    struct tracks_rows rows = {.ended = note_end, .ctx = &ends};

    tracks_place(&rows, 0, 100);
    tracks_place(&rows, 10, 100);
    tracks_place(&rows, 20, 30);
    tracks_place(&rows, 40, 50);
    assert_int_equal(ends.n, 1);
    assert_int_equal(ends.at[0], 30);
    tracks_next_lane(&rows);
    assert_int_equal(ends.n, 4);
    assert_int_equal(ends.at[1], 50);
    assert_int_equal(ends.at[2], 100);
    assert_int_equal(ends.at[3], 100);
    assert_int_equal(ends.rows[3], 0);
    tracks_rows_free(&rows);
}

TEST(a_lane_of_many_overlapping_slices_stays_fast)
{
    struct tracks_rows rows = {0};
    size_t most = 0;

    for (nanos i = 0; i < 200000; i++) {
        size_t row = tracks_place(&rows, i, i + 1000000);
        most = row > most ? row : most;
    }
    assert_int_equal(most, 199999);
    tracks_rows_free(&rows);
}

TEST_MAIN("render/timelines/tracks",
          T(numbers_of_the_source_are_kept_and_others_get_the_smallest_free_ones),
          T(a_number_that_two_processes_claim_goes_to_the_first),
          T(devices_are_processes_of_their_own_and_counters_join_theirs),
          T(a_gpu_may_have_its_number_for_a_process),
          T(arrows_are_listed_by_the_slice_they_lead_to), TA(rows_are_named_after_their_lane),
          T(slices_nest_on_the_first_row_on_which_they_fit),
          T(beyond_the_nesting_rows_a_row_is_used_again_when_its_slice_has_ended),
          T(ends_are_told_innermost_first_before_the_row_goes_on),
          T(a_lane_of_many_overlapping_slices_stays_fast))
