#include "analysis/tables/inventory.h"

#include "base/testing.h"

static uint32_t inventory_add(struct capture *cap, enum lane_kind lane, enum slice_kind kind,
                              nanos begin, nanos dur, attr_run set)
{
    struct lane_key key = {.kind = lane, .name = capture_intern(cap, S("x"))};
    struct slice slice = {
        .begin = begin, .dur = dur, .lane = capture_lane(cap, key), .kind = kind, .set = set};

    return capture_slice(cap, &slice);
}

static bool misses(const struct inventory *inv, const char *name)
{
    for (size_t i = 0; i < inv->gaps.n; i++)
        if (strcmp(inv->gaps.at[i].name, name) == 0)
            return true;
    return false;
}

TEST(slices_are_counted_by_kind_and_lanes_by_use)
{
    struct capture *cap = capture_new();
    struct inventory inv;
    struct attr shapes =
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, S("4,4")));
    attr_run set = attrs_set(&cap->attrs, &shapes, 1);

    capture_lane(cap, (struct lane_key){.kind = LANE_PIPE}); /* stays empty */
    uint32_t launch = inventory_add(cap, LANE_THREAD, SLICE_RUNTIME, 10, 5, 0);
    uint32_t kernel = inventory_add(cap, LANE_STREAM, SLICE_COMPUTE, 100, 50, set);
    inventory_add(cap, LANE_STREAM, SLICE_COMPUTE, 150, 25, set);
    inventory_add(cap, LANE_COMM, SLICE_COMM, 120, 100, 0);
    capture_flow(cap, FLOW_LAUNCH, launch, kernel);
    capture_seal(cap);
    inventory_init(&inv, cap);

    assert_int_equal(inv.span.begin, 10);
    assert_int_equal(inv.span.end, 220);
    assert_int_equal(inv.device.begin, 100);
    assert_int_equal(inv.kernels.count, 3);
    assert_int_equal(inv.host.count, 1);
    assert_int_equal(inv.kinds[SLICE_COMPUTE].count, 2);
    assert_int_equal(inv.kinds[SLICE_COMPUTE].dur, 75);
    assert_int_equal(inv.lanes[LANE_STREAM], 1);
    assert_int_equal(inv.lanes[LANE_PIPE], 0);
    assert_int_equal(inv.flows[FLOW_LAUNCH], 1);
    assert_int_equal(inv.attrs.n, 1);
    assert_str(inv.attrs.at[0].key, "input_shapes");
    assert_int_equal(inv.attrs.at[0].slices, 2); /* one set, two slices */
    assert_false(misses(&inv, "host_events"));
    assert_false(misses(&inv, "shapes"));
    assert_true(misses(&inv, "steps"));
    assert_true(misses(&inv, "stacks"));
    inventory_fini(&inv);
    capture_free(cap);
}

TEST(an_empty_capture_misses_kernels_and_host_events)
{
    struct capture *cap = capture_new();
    struct inventory inv;

    capture_seal(cap);
    inventory_init(&inv, cap);

    assert_int_equal(inv.span.dur, 0);
    assert_true(misses(&inv, "kernels"));
    assert_true(misses(&inv, "host_events"));
    assert_false(misses(&inv, "shapes")); /* nothing that could have any */
    inventory_fini(&inv);
    capture_free(cap);
}

TEST_MAIN("analysis/tables/inventory", T(slices_are_counted_by_kind_and_lanes_by_use),
          T(an_empty_capture_misses_kernels_and_host_events))
