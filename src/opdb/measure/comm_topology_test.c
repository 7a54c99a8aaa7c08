#include "opdb/measure/comm_model.h"

#include "base/testing_arena.h"

static struct comm_grid grid;

static int topology_begin(void **state)
{
    assert_true(comm_grid_set(&grid, (const int64_t[]){48, 8, 2}, 3));
    return arena_enter(state);
}

#define TW(name) cmocka_unit_test_setup_teardown(name, topology_begin, arena_leave)

TEST(coordinates_come_from_the_inside)
{
    int64_t c[3];

    comm_coords(&grid, 5, c);
    assert_true(c[0] == 0 && c[1] == 2 && c[2] == 1);
    comm_coords(&grid, 767, c);
    assert_true(c[0] == 47 && c[1] == 7 && c[2] == 1);
}

TEST(the_tier_is_the_outermost_difference)
{
    assert_int_equal(comm_tier(&grid, (const int64_t[]){0, 1}, 2), 2);
    assert_int_equal(comm_tier(&grid, (const int64_t[]){0, 1, 2, 3}, 4), 1);
    assert_int_equal(comm_tier(&grid, (const int64_t[]){15, 16}, 2), 0);
    assert_int_equal(comm_tier(&grid, (const int64_t[]){5, 5}, 2), 2);
    assert_int_equal(comm_tier(&grid, NULL, 0), 2);
    assert_int_equal(comm_tier_first(&grid, 1), 2);
    assert_int_equal(comm_tier_first(&grid, 2), 2);
    assert_int_equal(comm_tier_first(&grid, 16), 1);
    assert_int_equal(comm_tier_first(&grid, 17), 0);
    assert_int_equal(comm_tier_first(&grid, INT64_MAX), 0);
}

TEST(a_group_begins_where_its_anchor_s_part_begins)
{
    struct str why;
    int64_t base;

    assert_true(comm_group(&grid, 37, 16, 1, &arena, &base, &why));
    assert_int_equal(base, 32);
    assert_true(comm_group(&grid, 37, 2, 2, &arena, &base, &why));
    assert_int_equal(base, 36);
    assert_false(comm_group(&grid, 37, 17, 1, &arena, &base, &why));
    assert_str(why, "num_devices=17 exceeds span size 16 for tier=1, grid_shape=[48, 8, 2]");
    assert_false(comm_group(&grid, 0, 1, 3, &arena, &base, &why));
}

TEST(a_plan_lists_what_can_be_and_warns_of_the_rest)
{
    const enum collective ops[] = {COMM_ALL_TO_ALL};
    const int64_t ranks[] = {64, 1024}, bytes[] = {1, 2};
    const size_t tiers[] = {0, 1};
    struct comm_plan plan = {ops, 1, ranks, 2, NULL, 0, bytes, 2};
    struct comm_configs out = {0};

    comm_configs(&grid, &plan, &arena, &out);
    assert_int_equal(out.at.n, 2);
    assert_int_equal(out.at.at[1].bytes, 2);
    assert_int_equal(out.warnings.n, 1);
    assert_str(out.warnings.at[0], "WARNING: skipping tier=0, num_devices=1024: num_devices=1024 "
                                   "exceeds span size 768 for tier=0, grid_shape=[48, 8, 2]");
    plan.tiers = tiers;
    plan.n_tiers = 2;
    comm_configs(&grid, &plan, &arena, &out);
    assert_int_equal(out.at.n, 4);
    assert_int_equal(out.warnings.n, 4);
    vec_free(&out.at);
    vec_free(&out.warnings);
}

TEST(grids_that_are_none_are_refused)
{
    struct comm_grid g;
    const int64_t huge[] = {INT64_MAX, 2}, zero[] = {4, 0};

    assert_false(comm_grid_set(&g, zero, 2));
    assert_false(comm_grid_set(&g, huge, 2));
    assert_false(comm_grid_set(&g, huge, 0));
}

TEST(the_launch_is_added_for_one_device_only)
{
    double us = 50.25, gbps = 0;

    /* 65536 bytes in 57.95 us are 1.1309 GB/s. */
    comm_add_dispatch(COMM_CALIBRATED_DEVICE, COMM_ALL_REDUCE, 16, 65536, &us, &gbps);
    assert_true(us == 57.95 && gbps == 1.13);
    comm_add_dispatch(S("NVIDIA_H200_141G"), COMM_ALL_REDUCE, 16, 65536, &us, &gbps);
    comm_add_dispatch(COMM_CALIBRATED_DEVICE, COMM_ALL_REDUCE, 8, 65536, &us, &gbps);
    assert_true(us == 57.95);
}

TEST_MAIN("opdb/measure/comm_topology", TW(coordinates_come_from_the_inside),
          TW(the_tier_is_the_outermost_difference),
          TW(a_group_begins_where_its_anchor_s_part_begins),
          TW(a_plan_lists_what_can_be_and_warns_of_the_rest), TW(grids_that_are_none_are_refused),
          TW(the_launch_is_added_for_one_device_only))
