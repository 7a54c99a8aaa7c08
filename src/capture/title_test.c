#include "capture/title.h"

#include "base/testing.h"

static lane_id lane(struct capture *cap, struct lane_key key, struct str name)
{
    key.name = capture_intern(cap, name);
    return capture_lane(cap, key);
}

TEST(streams_are_called_as_their_viewer_calls_them)
{
    struct capture *cap = capture_new();
    char buf[TITLE_TEXT];
    lane_id two = lane(cap, (struct lane_key){.kind = LANE_STREAM, .device = 1}, S("2"));
    lane_id comm = lane(cap, (struct lane_key){.kind = LANE_COMM, .device = -1}, S("N/A"));
    lane_id none = lane(cap, (struct lane_key){.kind = LANE_STREAM, .device = -1}, S("N/A"));

    cap->facts.vendor = VENDOR_ASCEND;
    assert_str(title_lane(cap, two, buf), "Stream 2");
    assert_str(title_lane(cap, comm, buf), "communication");
    assert_str(title_lane(cap, none, buf), "no stream");
    assert_str(title_process(cap, two, buf), "Ascend Hardware");
    assert_str(title_process(cap, comm, buf), "Communication");
    cap->facts.vendor = VENDOR_NVIDIA;
    assert_str(title_lane(cap, two, buf), "stream 2");
    assert_str(title_process(cap, two, buf), "GPU 1");
    assert_str(title_process(cap, comm, buf), "GPU");
    cap->facts.device = 4;
    assert_str(title_process(cap, comm, buf), "GPU 4");
    cap->facts.vendor = VENDOR_UNKNOWN;
    assert_str(title_process(cap, two, buf), "GPU 1");
    capture_free(cap);
}

TEST(threads_without_a_name_are_called_by_their_number)
{
    struct capture *cap = capture_new();
    char buf[TITLE_TEXT];
    struct lane_key key = {.kind = LANE_THREAD, .device = -1, .pid = 7, .tid = 1207};
    lane_id bare = lane(cap, key, S(""));
    key.process = capture_intern(cap, S("python"));
    lane_id named = lane(cap, key, S("autograd"));

    assert_str(title_lane(cap, bare, buf), "thread 1207");
    assert_str(title_process(cap, bare, buf), "process 7");
    assert_str(title_lane(cap, named, buf), "autograd");
    assert_str(title_process(cap, named, buf), "python");
    capture_free(cap);
}

TEST(other_lanes_keep_their_name_or_get_a_number)
{
    struct capture *cap = capture_new();
    char buf[TITLE_TEXT];
    lane_id pipe = lane(cap, (struct lane_key){.kind = LANE_PIPE, .device = -1}, S("MTE2"));
    lane_id bare = lane(cap, (struct lane_key){.kind = LANE_OTHER, .device = -1}, S(""));
    lane_id host = lane(cap, (struct lane_key){.kind = LANE_THREAD, .device = -1}, S("main"));

    assert_str(title_lane(cap, pipe, buf), "MTE2");
    assert_str(title_lane(cap, bare, buf), "lane 1");
    assert_str(title_process(cap, host, buf), "host");
    assert_str(title_process(cap, pipe, buf), "device");
    capture_free(cap);
}

TEST_MAIN("capture/title", T(streams_are_called_as_their_viewer_calls_them),
          T(threads_without_a_name_are_called_by_their_number),
          T(other_lanes_keep_their_name_or_get_a_number))
