#include <stdlib.h>

#include "input/testing_import.h"

static enum status read_path(const char *path)
{
    enum status st =
        input_read(&input_torch_snapshot,
                   &(struct input_file){.path = path, .diag = &diag, .options = &options}, cap);

    if (st == ST_OK)
        capture_seal(cap);
    return st;
}

static enum status read_bytes(struct str bytes)
{
    return read_with(&input_torch_snapshot, bytes);
}

static struct str text_at(strid id)
{
    return capture_text(cap, id);
}

/* examples/snapshot: tests/data/memory/make_snapshots.py. */
TEST(events_blocks_and_ranges_are_kept)
{
    int64_t allocated, reserved;

    assert_int_equal(read_path("examples/snapshot/fits.pickle"), ST_OK);
    const struct snapshot *s = cap->snapshot;
    assert_int_equal(s->traces.n, 1);
    assert_int_equal(s->segments.n, 2);
    assert_int_equal(s->ranges.n, 6);
    const struct snapshot_trace *t = &s->traces.at[0];
    assert_int_equal(t->count[SNAPSHOT_ALLOC], 22);
    assert_int_equal(t->count[SNAPSHOT_FREE], 12);
    assert_int_equal(t->count[SNAPSHOT_FREE_COMPLETED], 12);
    assert_int_equal(t->count[SNAPSHOT_SEGMENT_ALLOC], 2);
    assert_int_equal(t->n, 36);
    snapshot_before(s, t, &allocated, &reserved);
    assert_int_equal(allocated, 0);
    assert_int_equal(reserved, 0);
    assert_true(s->has_times && !s->is_cut);
    assert_true(cap->clock.has_unix);
    const struct snapshot_event *first = &s->events.at[1];
    assert_int_equal(first->at, 1750000000000200000);
    assert_int_equal(first->bytes, 9 * 1048576 + 100);
    assert_str(text_at(first->stack),
               "functional.py:12:empty < model.py:8:__init__ < train.py:21:build");
    assert_str(text_at(s->ranges.at[0].name), "train step");
    assert_true(s->ranges.at[0].end > s->ranges.at[0].begin);
    assert_int_equal(cap->series.n, 2);
    assert_int_equal(diag.entries.n, 0);
}

TEST(frames_of_the_recorder_and_arguments_name_no_stack)
{
    bool is_found = false;

    read_path("examples/snapshot/fits.pickle");
    for (size_t i = 0; i < cap->snapshot->events.n; i++)
        is_found = is_found || str_equal(text_at(cap->snapshot->events.at[i].stack),
                                         S("LinearAlgebra.cpp:7:at::native::mm"));
    assert_true(is_found);
}

TEST(a_failure_has_what_was_free)
{
    const struct snapshot_event *failure = NULL;

    read_path("examples/snapshot/fails.pickle");
    for (size_t i = 0; i < cap->snapshot->events.n; i++)
        if (cap->snapshot->events.at[i].action == SNAPSHOT_OOM)
            failure = &cap->snapshot->events.at[i];
    assert_non_null(failure);
    assert_int_equal(failure->bytes, 66 * 1048576);
    assert_int_equal(failure->address, 22 * 1048576);
}

TEST(what_would_run_code_is_refused_with_its_place)
{
    assert_int_equal(read_bytes(S("\x80\x04"
                                  "cos\nsystem\n\x8c\x04true\x85R.")),
                     ST_FORMAT);
    assert_string_equal(diag.entries.at[0].code, "snapshot.opcode");
    assert_string_equal(diag.entries.at[0].first[0].text,
                        "opcode 0x63 at byte 2 would run code; strata reads data only");
    assert_int_equal(read_bytes(S("\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94.")), ST_FORMAT);
    assert_string_equal(diag.entries.at[0].first[1].text,
                        "opcode 0x93 at byte 16 would run code; strata reads data only");
}

TEST(damage_is_refused_where_nothing_came_before)
{
    static const struct str wrong[] = {
        S_INIT("\x80\x04}\x94(\x8c\x08segments\x94j\xf0\xff\xff\xffu."),
        S_INIT("\x80\x04}\x94(X\xff\xff\xff\xff"
               "abc"),
        S_INIT("\x80\x04}u."),
        S_INIT("\x80\x04]\x94h\x00"
               "a."),
        S_INIT("\x80\x04("),
        S_INIT("\x80\x04]]."),
        S_INIT("\x80\x04]q\x07."),
        S_INIT("\x80\x04\x8a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f."),
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(read_bytes(wrong[i]), ST_FORMAT);
        assert_int_equal(diag_count(&diag, "snapshot.damaged"), i + 1);
        assert_null(cap->snapshot);
    }
}

TEST(a_cut_file_keeps_what_was_complete)
{
    assert_int_equal(read_path("tests/fuzz/corpus/torch-snapshot/fails-cut"), ST_OK);

    assert_true(cap->snapshot->is_cut);
    assert_int_equal(diag_count(&diag, "snapshot.damaged"), 1);
    assert_int_equal(cap->snapshot->segments.n, 2);
    assert_int_equal(cap->snapshot->traces.n, 1);
    assert_in_range(cap->snapshot->events.n, 10, 27);
}

TEST(other_pickles_are_named)
{
    assert_int_equal(read_bytes(S("\x80\x04}\x94\x8c\x01"
                                  "a\x94K\x01s.")),
                     ST_FORMAT);
    assert_int_equal(diag_count(&diag, "snapshot.other"), 1);
}

TEST(a_bare_list_of_segments_has_no_events)
{
    assert_int_equal(read_path("tests/fuzz/corpus/torch-snapshot/list"), ST_OK);
    assert_int_equal(cap->snapshot->segments.n, 1);
    assert_int_equal(cap->snapshot->segments.at[0].bytes, 2097152);
    assert_int_equal(cap->snapshot->traces.n, 1);
    assert_int_equal(cap->snapshot->traces.at[0].n, 0);
}

TEST(the_last_of_equal_keys_counts)
{
    assert_int_equal(read_path("tests/fuzz/corpus/torch-snapshot/twice"), ST_OK);
    assert_int_equal(cap->snapshot->segments.n, 0);
}

TEST_MAIN("input/memory/in_torch_snapshot", TF(events_blocks_and_ranges_are_kept),
          TF(frames_of_the_recorder_and_arguments_name_no_stack), TF(a_failure_has_what_was_free),
          TF(what_would_run_code_is_refused_with_its_place),
          TF(damage_is_refused_where_nothing_came_before), TF(a_cut_file_keeps_what_was_complete),
          TF(other_pickles_are_named), TF(a_bare_list_of_segments_has_no_events),
          TF(the_last_of_equal_keys_counts))
