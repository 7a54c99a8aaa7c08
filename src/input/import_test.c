#include "input/import.h"

#include "input/testing_import.h"

/* A table with no words of its own: its rows are name, begin and duration. */
static enum import_row import_take_row(struct import *i, const struct csv *csv, void *ctx)
{
    struct slice s = {.lane = capture_lane(i->cap, (struct lane_key){.kind = LANE_STREAM})};

    (void)ctx;
    s.name = capture_intern(i->cap, csv_cell(csv, 0));
    if (!num_us(csv_cell(csv, 1), &s.begin) || !num_us(csv_cell(csv, 2), &s.dur) ||
        !import_lasts(s.dur))
        return import_row(false);
    capture_slice(i->cap, &s);
    return import_row(true);
}

static const struct import_table table = {
    .columns = {S_INIT("name"), S_INIT("begin"), S_INIT("dur")},
    .take = import_take_row,
};
static const struct input_format format = {
    .name = "plain", .vendor = VENDOR_NVIDIA, .source = SOURCE_KERNEL_TABLE, .table = &table};

TEST(a_table_needs_only_its_columns_and_its_rows)
{
    assert_int_equal(read_with(&format, S("name,begin,dur\na,1,2\nb,x,2\nc,4,0.5\n")), ST_OK);
    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->slices.begin[1], 4000);
    assert_int_equal(cap->facts.vendor, VENDOR_NVIDIA);
    assert_int_equal(cap->sources.at[0].rows, 2);
    assert_int_equal(cap->sources.at[0].lost, 1);
    assert_int_equal(cap->sources.at[0].kind, SOURCE_KERNEL_TABLE);
    assert_int_equal(diag_count(&diag, "input.bad-row"), 1);
}

TEST(durations_are_neither_negative_nor_longer_than_a_week)
{
    assert_true(import_lasts(0));
    assert_true(import_lasts(import_longest));
    assert_false(import_lasts(import_longest + 1));
    assert_false(import_lasts(-1));
    read_with(&format, S("name,begin,dur\na,1,-2\nb,1,999999999999\n"));
    assert_int_equal(cap->slices.n, 0);
    assert_int_equal(cap->sources.at[0].lost, 2);
}

TEST(another_table_is_refused_and_leaves_no_trace)
{
    assert_int_equal(read_with(&format, S("name,begin\na,1\n")), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "input.no-header"), 1);
    assert_int_equal(cap->sources.n, 0);
    assert_int_equal(cap->facts.vendor, VENDOR_UNKNOWN);
}

TEST_MAIN("input/import", TF(a_table_needs_only_its_columns_and_its_rows),
          TF(durations_are_neither_negative_nor_longer_than_a_week),
          TF(another_table_is_refused_and_leaves_no_trace))
