#include "render/proto/perfetto.pb-c.h"

#include "base/formats/json_write.h"
#include "base/testing.h"
#include "render/timelines/timeline.h"

static Strata__Perfetto__Trace *perfetto_render(const struct capture *cap)
{
    struct text bytes = {0};
    struct timeline_options how = {0};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(timeline_perfetto.write(&cut, &how, text_sink(&bytes)));
    cut_fini(&cut);
    Strata__Perfetto__Trace *trace =
        strata__perfetto__trace__unpack(NULL, bytes.n, (const uint8_t *)bytes.at);
    text_free(&bytes);
    assert_non_null(trace);
    return trace;
}

static void assert_event(const Strata__Perfetto__TracePacket *p, unsigned type, uint64_t uuid,
                         uint64_t at)
{
    assert_non_null(p->track_event);
    assert_int_equal(p->track_event->type, type);
    assert_int_equal(p->track_event->track_uuid, uuid);
    assert_int_equal(p->timestamp, at);
    assert_int_equal(p->trusted_packet_sequence_id, 1);
}

TEST(a_slice_is_a_begin_and_an_end_on_a_track_told_before)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_ASCEND;
    lane_id stream = capture_lane(
        cap,
        (struct lane_key){.kind = LANE_STREAM, .device = 2, .name = capture_intern(cap, S("7"))});
    struct attr own[] = {attr_time(capture_key(cap, KEY_WAIT), -5),
                         attr_real(capture_intern(cap, S("occ")), 0.25)};

    capture_slice(cap, &(struct slice){.begin = 100,
                                       .dur = 50,
                                       .lane = stream,
                                       .name = capture_intern(cap, S("gemm")),
                                       .own = attrs_own(&cap->attrs, own, 2)});
    capture_slice(cap, &(struct slice){.begin = 120, .dur = 50, .lane = stream}); /* crosses it */
    capture_seal(cap);
    Strata__Perfetto__Trace *t = perfetto_render(cap);

    assert_int_equal(t->n_packet, 7);
    assert_int_equal(t->packet[0]->sequence_flags, 1);
    assert_string_equal(t->packet[0]->track_descriptor->process->process_name, "Ascend Hardware");
    assert_int_equal(t->packet[0]->track_descriptor->child_ordering, 3);
    assert_string_equal(t->packet[1]->track_descriptor->name, "Stream 7");
    assert_string_equal(t->packet[1]->track_descriptor->description,
                        "strata: {\"kind\":\"stream\",\"device\":2,\"name\":\"7\"}");
    assert_int_equal(t->packet[1]->track_descriptor->parent_uuid, 1);
    assert_null(t->packet[1]->track_descriptor->thread);
    assert_event(t->packet[2], 1, 2, 100);
    assert_string_equal(t->packet[2]->track_event->name, "gemm");
    assert_string_equal(t->packet[2]->track_event->categories[0], "compute");
    assert_int_equal(t->packet[2]->track_event->n_debug_annotations, 2);
    assert_string_equal(t->packet[2]->track_event->debug_annotations[0]->name, "wait_ns");
    assert_int_equal(t->packet[2]->track_event->debug_annotations[0]->int_value, -5);
    assert_true(t->packet[2]->track_event->debug_annotations[1]->double_value == 0.25);
    assert_string_equal(t->packet[3]->track_descriptor->name, "Stream 7 (2)");
    assert_int_equal(t->packet[3]->track_descriptor->parent_uuid, 2);
    assert_event(t->packet[4], 1, 3, 120);
    assert_event(t->packet[5], 2, 2, 150);
    assert_event(t->packet[6], 2, 3, 170);
    strata__perfetto__trace__free_unpacked(t, NULL);
    capture_free(cap);
}

TEST(threads_counters_and_arrows_have_their_own_fields)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_ASCEND;
    lane_id host = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .name = capture_intern(cap, S("main")),
                                                       .pid = 40,
                                                       .tid = 41});
    uint32_t a = capture_slice(cap, &(struct slice){.begin = 1, .dur = 1, .lane = host});
    uint32_t b = capture_slice(cap, &(struct slice){.begin = 5, .dur = 0, .lane = host});

    capture_flow(cap, FLOW_LAUNCH, a, b);
    capture_sample(
        cap, capture_series(cap, 0, capture_intern(cap, S("power")), capture_intern(cap, S("W"))),
        3, 71.5);
    capture_seal(cap);
    Strata__Perfetto__Trace *t = perfetto_render(cap);

    assert_int_equal(t->n_packet, 8);
    const Strata__Perfetto__ThreadDescriptor *thread = t->packet[1]->track_descriptor->thread;
    assert_int_equal(thread->pid, 40);
    assert_int_equal(thread->tid, 41);
    assert_string_equal(thread->thread_name, "main");
    assert_event(t->packet[2], 1, 2, 1);
    assert_int_equal(t->packet[2]->track_event->n_flow_ids, 1);
    assert_int_equal(t->packet[2]->track_event->flow_ids[0], 8); /* the first arrow, a launch */
    assert_event(t->packet[3], 2, 2, 2);
    assert_event(t->packet[4], 1, 2, 5);
    assert_int_equal(t->packet[4]->track_event->terminating_flow_ids[0], 8);
    assert_event(t->packet[5], 2, 2, 5);
    assert_string_equal(t->packet[6]->track_descriptor->counter->unit_name, "W");
    assert_event(t->packet[7], 4, 3, 3);
    assert_true(t->packet[7]->track_event->double_counter_value == 71.5);
    strata__perfetto__trace__free_unpacked(t, NULL);
    capture_free(cap);
}

TEST(times_before_zero_are_shifted_and_the_clock_tells_where_they_lie)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_ASCEND;
    lane_id lane = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM, .device = 0});

    capture_slice(cap, &(struct slice){.begin = -30, .dur = 10, .lane = lane});
    cap->clock = (struct clock){.hz = 1000000000, .to_unix = 1000, .has_unix = true};
    capture_seal(cap);
    Strata__Perfetto__Trace *t = perfetto_render(cap);

    const Strata__Perfetto__ClockSnapshot *clocks = t->packet[0]->clock_snapshot;
    assert_int_equal(clocks->n_clocks, 2);
    assert_int_equal(clocks->primary_trace_clock, 6);
    assert_int_equal(clocks->clocks[0]->clock_id, 6);
    assert_int_equal(clocks->clocks[0]->timestamp, 0);
    assert_int_equal(clocks->clocks[1]->clock_id, 1);
    assert_int_equal(clocks->clocks[1]->timestamp, 970);
    assert_event(t->packet[3], 1, 2, 0);
    assert_event(t->packet[4], 2, 2, 10);
    strata__perfetto__trace__free_unpacked(t, NULL);
    capture_free(cap);
}

TEST_MAIN("render/timelines/perfetto", T(a_slice_is_a_begin_and_an_end_on_a_track_told_before),
          T(threads_counters_and_arrows_have_their_own_fields),
          T(times_before_zero_are_shifted_and_the_clock_tells_where_they_lie))
