#include <stdlib.h>

#include "base/text/text.h"
#include "input/testing_import.h"

/* Traces that tests/data/captures/foreign/make.py has made; others are built here. */
#define FOREIGN "tests/data/captures/foreign/"

/* ---- packets ---- */

static struct text trace;

static void put_number(struct text *out, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        text_put(out, (struct str){(char[]){(char)(n | 0x80)}, 1});
    text_put(out, (struct str){(char[]){(char)n}, 1});
}

static void put_field(struct text *out, unsigned field, uint64_t n)
{
    put_number(out, field << 3);
    put_number(out, n);
}

static void put_bytes(struct text *out, unsigned field, struct str bytes)
{
    put_number(out, field << 3 | 2);
    put_number(out, bytes.n);
    text_put(out, bytes);
}

/* A packet of sequence 1 with one member. */
static void put_packet(unsigned field, const struct text *member, int64_t at, unsigned flags)
{
    struct text packet = {0};

    if (at >= 0)
        put_field(&packet, 8, (uint64_t)at);
    put_field(&packet, 10, 1);
    put_field(&packet, 13, flags);
    put_bytes(&packet, field, text_view(member));
    put_bytes(&trace, 1, text_view(&packet));
    text_free(&packet);
}

static void put_event(int64_t at, unsigned type, unsigned track, const char *name, unsigned flags)
{
    struct text event = {0};

    put_field(&event, 9, type);
    put_field(&event, 11, track);
    if (name != NULL)
        put_bytes(&event, 23, str_of(name));
    put_packet(11, &event, at, flags);
    text_free(&event);
}

static void put_track(unsigned uuid, unsigned parent, const char *name)
{
    struct text track = {0};

    put_field(&track, 1, uuid);
    if (parent != 0)
        put_field(&track, 5, parent);
    put_bytes(&track, 2, str_of(name));
    put_packet(60, &track, -1, 0);
    text_free(&track);
}

static enum status read_trace(void)
{
    enum status st = read_with(&input_perfetto, text_view(&trace));

    text_free(&trace);
    if (st == ST_OK)
        capture_seal(cap);
    return st;
}

static enum status perfetto_path(const char *path)
{
    enum status st =
        input_read(&input_perfetto,
                   &(struct input_file){.path = path, .diag = &diag, .options = &options}, cap);

    if (st == ST_OK)
        capture_seal(cap);
    return st;
}

static size_t perfetto_count(enum slice_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        n += cap->slices.kind[i] == kind;
    return n;
}

static const struct lane *lane_of_slice(size_t i)
{
    return &cap->lanes.at[cap->slices.lane[i]];
}

/* ---- tracks ---- */

TEST(an_end_closes_the_innermost_slice_of_its_track)
{
    put_track(5, 0, "outer track");
    put_track(6, 5, "inner track");
    put_event(10, 1, 6, "outer", 1);
    put_event(20, 1, 6, "inner", 0);
    put_event(25, 3, 6, "mark", 0);
    put_event(30, 2, 6, NULL, 0);
    put_event(50, 2, 6, NULL, 0);
    put_event(60, 2, 6, NULL, 0); /* nothing is open */
    put_event(70, 1, 6, "open", 0);
    put_event(90, 3, 5, "last", 0);
    assert_int_equal(read_trace(), ST_OK);

    assert_int_equal(cap->slices.n, 5);
    size_t first = cap->lanes.at[cap->slices.lane[0]].n == 4 ? 0 : 1;
    assert_int_equal(cap->slices.begin[first], 10);
    assert_int_equal(cap->slices.dur[first], 40);
    assert_int_equal(cap->slices.dur[first + 1], 10);
    assert_int_equal(cap->slices.dur[first + 2], 0);
    assert_int_equal(cap->slices.dur[first + 3], 20); /* to the last event of the trace */
    assert_str(capture_text(cap, lane_of_slice(first)->key.name), "inner track");
    assert_str(capture_text(cap, lane_of_slice(first)->key.process), "outer track");
    assert_int_equal(diag_count(&diag, "perfetto.unmatched"), 1);
}

TEST(tracks_above_themselves_and_events_without_state_do_no_harm)
{
    put_track(5, 6, "a");
    put_track(6, 5, "b");
    put_event(10, 3, 6, "once", 0);
    struct text packet = {0};
    put_field(&packet, 10, 1);
    put_field(&packet, 42, 1); /* what the sequence has interned is lost */
    put_bytes(&trace, 1, text_view(&packet));
    text_free(&packet);
    put_event(20, 3, 6, "twice", 2);
    put_event(30, 3, 6, "again", 1);
    assert_int_equal(read_trace(), ST_OK);

    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(diag_count(&diag, "perfetto.skipped"), 1);
}

TEST(warps_of_a_kernel_count_32_bits)
{
    put_track(5, 0, "SM_003");
    put_track(6, 5, "blk3_g0");
    put_event(4294967000, 1, 6, "run_mma", 1);
    put_event(104, 2, 6, NULL, 0);
    assert_int_equal(read_trace(), ST_OK);

    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(cap->slices.dur[0], 400);
    assert_int_equal(cap->slices.kind[0], SLICE_COMPUTE);
    assert_int_equal(lane_of_slice(0)->key.kind, LANE_PIPE);
}

TEST(a_trace_that_is_cut_keeps_what_is_whole)
{
    put_track(5, 0, "t");
    put_event(10, 1, 5, "a", 1);
    put_event(20, 2, 5, NULL, 0);
    trace.n -= 3;
    assert_int_equal(read_trace(), ST_OK);
    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(cap->slices.dur[0], 0);
    assert_int_equal(diag_count(&diag, "perfetto.damaged"), 1);
}

TEST(bytes_without_a_packet_are_refused)
{
    text_put(&trace, (struct str){"\x0a\xff\xff\xff\xff\xff", 6});
    assert_int_equal(read_trace(), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "perfetto.no-packet"), 1);
}

/* ---- writers ---- */

TEST(work_of_rocprofv3_is_placed_by_its_annotations)
{
    options.device = 2;
    assert_int_equal(perfetto_path(FOREIGN "perfetto_rocm/rocm.pftrace"), ST_OK);

    assert_int_equal(perfetto_count(SLICE_COMPUTE), 18);
    assert_int_equal(perfetto_count(SLICE_COMM), 3);
    assert_int_equal(perfetto_count(SLICE_COPY), 3);
    assert_int_equal(perfetto_count(SLICE_RUNTIME), 48);
    assert_int_equal(cap->flows.n, 24);
    assert_int_equal(cap->flows.at[0].kind, FLOW_LAUNCH);
    assert_int_equal(cap->series.n, 1);
    assert_true(cap->series.at[0].samples.at[0].value == 64.0 * 1024);
    assert_int_equal(cap->facts.vendor, VENDOR_AMD);
    assert_true(cap->clock.has_unix);
    assert_int_equal(cap->clock.to_unix, 1700000000000000000);
}

TEST(stages_of_a_gpu_have_queues_kernels_and_calls)
{
    options.device = 0;
    assert_int_equal(perfetto_path(FOREIGN "perfetto_gpu/gpu.pftrace"), ST_OK);

    assert_int_equal(perfetto_count(SLICE_COMPUTE), 18);
    assert_int_equal(perfetto_count(SLICE_COMM), 3);
    assert_int_equal(perfetto_count(SLICE_COPY), 3);
    assert_int_equal(cap->flows.n, 24);
    assert_int_equal(cap->series.n, 1);
    assert_int_equal(cap->series.at[0].samples.n, 24);
    /* The value looks back: the first sample has what the second packet says. */
    assert_true(cap->series.at[0].samples.at[0].value == 0.25);
    assert_true(cap->series.at[0].samples.at[23].value == 0);
    assert_str(capture_text(cap, cap->facts.device_name), "NVIDIA H100 80GB HBM3");
    for (size_t i = 0; i < cap->slices.n; i++)
        if (cap->slices.kind[i] == SLICE_COMPUTE) {
            struct attr grid =
                attrs_get(&cap->attrs, cap->slices.set[i], intern_find(&cap->strings, S("grid")));
            assert_str(capture_text(cap, grid.text), "512,2,1");
        }
}

TEST_MAIN("input/perfetto/in_perfetto", TF(an_end_closes_the_innermost_slice_of_its_track),
          TF(tracks_above_themselves_and_events_without_state_do_no_harm),
          TF(warps_of_a_kernel_count_32_bits), TF(a_trace_that_is_cut_keeps_what_is_whole),
          TF(bytes_without_a_packet_are_refused),
          TF(work_of_rocprofv3_is_placed_by_its_annotations),
          TF(stages_of_a_gpu_have_queues_kernels_and_calls))
