#include "render/timelines/timeline.h"

#include <signal.h>

#include "base/files/gz.h"
#include "base/formats/json_write.h"
#include "base/run/cancel.h"
#include "base/testing_arena.h"

/* A launch on a thread, its kernel, one that overlaps it, and a counter. */
static struct capture *chrome_sample(void)
{
    struct capture *cap = capture_new();
    lane_id host = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .process = capture_intern(cap, S("py")),
                                                       .name = capture_intern(cap, S("main")),
                                                       .pid = 40,
                                                       .tid = 41});
    lane_id stream = capture_lane(
        cap,
        (struct lane_key){.kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, S("7"))});
    struct attr set[] = {
        attr_text(capture_key(cap, KEY_CAT), capture_intern(cap, S("kernel"))),
        attr_int(capture_intern(cap, S("regs")), 32),
        attr_real(capture_intern(cap, S("occ")), 0.5),
    };
    struct attr own[] = {
        attr_time(capture_key(cap, KEY_WAIT), 694),
        attr_int(capture_intern(cap, S("regs")), 40),
    };
    uint32_t call = capture_slice(cap, &(struct slice){.begin = 1500,
                                                       .dur = 250,
                                                       .lane = host,
                                                       .name = capture_intern(cap, S("la\"unch")),
                                                       .kind = SLICE_RUNTIME});
    uint32_t kernel =
        capture_slice(cap, &(struct slice){.begin = 2000,
                                           .dur = 1000,
                                           .lane = stream,
                                           .name = capture_intern(cap, S("gemm")),
                                           .set = attrs_set(&cap->attrs, set, ARRAY_LEN(set)),
                                           .own = attrs_own(&cap->attrs, own, ARRAY_LEN(own)),
                                           .kind = SLICE_COMPUTE});
    capture_slice(cap, &(struct slice){.begin = 2500,
                                       .dur = 1000,
                                       .lane = stream,
                                       .name = capture_intern(cap, S("copy")),
                                       .kind = SLICE_COPY});
    capture_flow(cap, FLOW_LAUNCH, call, kernel);
    capture_sample(
        cap, capture_series(cap, capture_intern(cap, S("py")), capture_intern(cap, S("mem")), 0),
        1000, 4096);
    cap->name = "run";
    cap->clock = (struct clock){.hz = 1000000000, .to_unix = 5, .has_unix = true};
    cap->facts.rank = 3;
    cap->facts.vendor = VENDOR_NVIDIA;
    capture_seal(cap);
    return cap;
}

static struct text chrome_render(const struct timeline_format *format, const struct capture *cap,
                                 const struct cut_options *where)
{
    struct text text = {0};
    struct timeline_options how = {0};
    struct cut cut;

    cut_init(&cut, cap, where);
    assert_true(format->write(&cut, &how, text_sink(&text)));
    cut_fini(&cut);
    return text;
}

TEST(every_kind_of_event_is_a_line_of_its_own)
{
    struct capture *cap = chrome_sample();
    struct text text = chrome_render(&timeline_chrome, cap, &(struct cut_options){0});

    assert_str(
        ((struct str){text.at, text.n}),
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"strata\",\"source\":\"run\","
        "\"origin\":\"measured\"},\"baseTimeNanoseconds\":5,"
        "\"distributedInfo\":{\"rank\":3},\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":40,\"args\":{\"name\":\"py\"}},\n"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":40,\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"GPU 0\"}},\n"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"args\":{\"sort_index\":1}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":40,\"tid\":41,\"args\":{\"name\":\"main\"}"
        "},\n"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":40,\"tid\":41,"
        "\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"X\",\"pid\":40,\"tid\":41,\"ts\":1.500,\"dur\":0.250,\"cat\":\"cuda_runtime\","
        "\"name\":\"la\\\"unch\"},\n"
        "{\"ph\":\"s\",\"id\":1,\"pid\":40,\"tid\":41,\"ts\":1.500,\"cat\":\"ac2g\","
        "\"name\":\"ac2g\"},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,\"args\":{\"name\":"
        "\"stream 7\"}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":7,"
        "\"args\":{\"sort_index\":1000}},\n"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":2.000,\"dur\":1.000,\"cat\":\"kernel\","
        "\"name\":\"gemm\",\"args\":{\"occ\":0.5,\"wait_ns\":694,\"regs\":40}},\n"
        "{\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"pid\":0,\"tid\":7,\"ts\":2.000,\"cat\":\"ac2g\","
        "\"name\":\"ac2g\"},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":1,\"args\":{\"name\":"
        "\"stream 7 (2)\"}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":1,"
        "\"args\":{\"sort_index\":1001}},\n"
        "{\"ph\":\"M\",\"name\":\"strata_row_of\",\"pid\":0,\"tid\":1,\"args\":{\"name\":7}},\n"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":2.500,\"dur\":1.000,\"cat\":\"gpu_memcpy\","
        "\"name\":\"copy\"},\n"
        "{\"ph\":\"C\",\"pid\":40,\"ts\":1.000,\"name\":\"mem\",\"args\":{\"value\":4096}}\n"
        "]}\n");
    text_free(&text);
    capture_free(cap);
}

TEST(an_ascend_device_is_told_as_its_own_timelines_tell_it)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_ASCEND;
    lane_id lane = capture_lane(
        cap,
        (struct lane_key){.kind = LANE_STREAM, .device = 5, .name = capture_intern(cap, S("2"))});
    struct attr core = attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, S("AI_CORE")));

    capture_slice(cap, &(struct slice){.begin = 1,
                                       .dur = 2,
                                       .lane = lane,
                                       .name = capture_intern(cap, S("MatMul")),
                                       .set = attrs_set(&cap->attrs, &core, 1)});
    capture_seal(cap);
    struct text text = chrome_render(&timeline_chrome, cap, &(struct cut_options){0});
    struct str s = {text.at, text.n};

    assert_true(str_contains(s, S("\"Ascend Hardware\"")));
    assert_true(str_contains(s, S("\"args\":{\"labels\":\"NPU 5\"}")));
    assert_true(str_contains(s, S("\"cat\":\"compute\",\"name\":\"MatMul\","
                                  "\"args\":{\"Task Type\":\"AI_CORE\"}")));
    text_free(&text);
    capture_free(cap);
}

TEST(an_empty_cut_is_still_a_trace)
{
    struct capture *cap = chrome_sample();
    struct text text = chrome_render(&timeline_chrome, cap, &(struct cut_options){.nothing = true});
    struct str s = {text.at, text.n};

    assert_true(str_ends(s, S("\"traceEvents\":[\n]}\n")));
    text_free(&text);
    capture_free(cap);
}

TEST(a_cut_leaves_out_lanes_and_arrows_that_lost_an_end)
{
    struct capture *cap = chrome_sample();
    const char *lane = "stream 7";
    struct text text =
        chrome_render(&timeline_chrome, cap, &(struct cut_options){.lanes = &lane, .lanes_n = 1});
    struct str s = {text.at, text.n};

    assert_true(str_contains(s, S("\"gemm\"")));
    assert_int_equal(str_find(s, S("main")), s.n);
    assert_int_equal(str_find(s, S("ac2g")), s.n);
    assert_int_equal(str_find(s, S("\"ph\":\"C\"")), s.n);
    text_free(&text);
    capture_free(cap);
}

TEST(the_packed_form_holds_the_same_text)
{
    struct capture *cap = chrome_sample();
    struct text plain = chrome_render(&timeline_chrome, cap, &(struct cut_options){0});
    struct text packed = chrome_render(&timeline_chrome_gz, cap, &(struct cut_options){0});
    struct str text;

    assert_int_equal(
        gz_read_all((struct str){packed.at, packed.n}, 1 << 20, "x", &diag, &arena, &text), ST_OK);
    assert_int_equal(text.n, plain.n);
    assert_memory_equal(text.at, plain.at, plain.n);
    text_free(&plain);
    text_free(&packed);
    capture_free(cap);
}

static bool chrome_refuse(void *ctx, struct str text)
{
    (void)ctx, (void)text;
    return false;
}

TEST(a_full_sink_is_reported_by_every_format)
{
    struct capture *cap = chrome_sample();
    struct timeline_options how = {0};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    for (size_t i = 0; i < timeline_count; i++)
        assert_false(timeline_list[i]->write(&cut, &how, (struct sink){chrome_refuse, NULL}));
    cut_fini(&cut);
    capture_free(cap);
}

TEST(an_interrupted_user_ends_every_format_early)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_ASCEND;
    struct timeline_options how = {0};
    struct cut cut;
    lane_id lane = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM, .device = 0});

    for (nanos i = 0; i < 20000; i++)
        capture_slice(cap, &(struct slice){.begin = i, .dur = 1, .lane = lane});
    capture_seal(cap);
    cut_init(&cut, cap, &(struct cut_options){0});
    cancel_request(SIGINT);
    for (size_t i = 0; i < timeline_count; i++) {
        struct text text = {0};
        assert_false(timeline_list[i]->write(&cut, &how, text_sink(&text)));
        text_free(&text);
    }
    cancel_clear();
    cut_fini(&cut);
    capture_free(cap);
}

TEST(formats_are_found_by_name_and_by_the_longest_ending)
{
    assert_ptr_equal(timeline_find(S("perfetto")), &timeline_perfetto);
    assert_null(timeline_find(S("papyrus")));
    assert_ptr_equal(timeline_by_ending(S("a/b.json")), &timeline_chrome);
    assert_ptr_equal(timeline_by_ending(S("b.json.gz")), &timeline_chrome_gz);
    assert_ptr_equal(timeline_by_ending(S("x.pftrace")), &timeline_perfetto);
    assert_ptr_equal(timeline_by_ending(S("x.perfetto-trace")), &timeline_perfetto);
    assert_ptr_equal(timeline_by_ending(S("x.csv")), &timeline_csv);
    assert_null(timeline_by_ending(S("x.gz")));
}

TEST_MAIN("render/timelines/chrome", T(every_kind_of_event_is_a_line_of_its_own),
          T(an_ascend_device_is_told_as_its_own_timelines_tell_it),
          T(an_empty_cut_is_still_a_trace), T(a_cut_leaves_out_lanes_and_arrows_that_lost_an_end),
          TA(the_packed_form_holds_the_same_text), T(a_full_sink_is_reported_by_every_format),
          T(an_interrupted_user_ends_every_format_early),
          T(formats_are_found_by_name_and_by_the_longest_ending))
