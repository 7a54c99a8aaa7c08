#include "opdb/measure/comm_jobs.h"

#include "base/testing.h"

static struct comm_rounds rounds;

TEST(one_node_has_twelve_launches)
{
    assert_true(comm_rounds_plan(&(struct comm_nodes){0}, &rounds));
    assert_int_equal(rounds.n, 12);
    assert_false(rounds.is_multi);
    assert_int_equal(rounds.n_sizes, 23);
    assert_int_equal(rounds.sizes[0], 128);
    assert_int_equal(rounds.sizes[22], 536870912);
    assert_string_equal(rounds.at[4].ops, "all_gather,reduce_scatter");
    assert_int_equal(rounds.at[4].processes, 16);
    assert_int_equal(rounds.at[4].port, 29704);
    assert_int_equal(rounds.at[11].processes, 2);
    assert_int_equal(rounds.at[11].port, 29711);
}

TEST(several_nodes_have_groups_from_32_on)
{
    static const int64_t sizes[] = {32, 64, 128, 256, 384, 512, 768};

    assert_true(comm_rounds_plan(&(struct comm_nodes){.nodes = 48, .port = 1000}, &rounds));
    assert_int_equal(rounds.n, 3);
    assert_true(rounds.is_multi);
    assert_int_equal(rounds.at[0].processes, 768);
    assert_int_equal(rounds.at[0].n_devices, 7);
    assert_memory_equal(rounds.at[0].devices, sizes, sizeof(sizes));
    assert_int_equal(rounds.at[2].port, 1003);
}

TEST(a_quick_round_has_five_sizes)
{
    assert_true(comm_rounds_plan(&(struct comm_nodes){.nodes = 2, .is_quick = true}, &rounds));
    assert_int_equal(rounds.n_sizes, 5);
    assert_int_equal(rounds.at[0].n_devices, 1);
}

TEST(too_few_processes_have_no_group)
{
    assert_false(comm_rounds_plan(&(struct comm_nodes){.nodes = 2, .processes = 8}, &rounds));
    assert_false(
        comm_rounds_plan(&(struct comm_nodes){.nodes = INT64_MAX, .processes = 8}, &rounds));
}

TEST_MAIN("opdb/measure/comm_rounds", T(one_node_has_twelve_launches),
          T(several_nodes_have_groups_from_32_on), T(a_quick_round_has_five_sizes),
          T(too_few_processes_have_no_group))
