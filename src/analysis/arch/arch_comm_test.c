#include "analysis/arch/arch_comm.h"

#include "analysis/arch_testing.h"

static const struct arch_comm *comm(void)
{
    start_study();
    struct arch_ops *ops = arch_ops_find(&study, NULL);
    return arch_comm_find(&study, ops, arch_markers_find(&study, ops));
}

/* Compute [0,10) ms; collectives [6,12) and [8,14): union 8 ms, sum 12 ms, hidden [6,10). */
TEST(hidden_communication_is_measured_by_union_and_by_sum)
{
    add_on("1", "MatMul", 0, 10 * MS);
    add_on("2", "hcom_allReduce_1", 6 * MS, 6 * MS);
    add_on("3", "hcom_allGather_1", 8 * MS, 6 * MS);
    const struct arch_comm *c = comm();
    assert_int_equal(c->comm_union, 8 * MS);
    assert_int_equal(c->comm_sum, 12 * MS);
    assert_int_equal(c->hidden, 4 * MS);
    assert_int_equal(c->exposed, 4 * MS);
    assert_true(c->hidden_fraction == 0.5);
    assert_true(c->hidden_by_sum == 4.0 / 12);
    assert_int_equal(c->wall, 14 * MS);
    assert_true(c->sum_over_wall == 22.0 / 14);
}

TEST(streams_have_purposes)
{
    add_on("1", "MatMul", 0, 10 * MS);
    add_on("2", "hcom_allReduce_1", 6 * MS, 2 * MS);
    add_on("3", "hcom_alltoallv_1", 8 * MS, 1 * MS);
    add_on("4", "MatMul", 12 * MS, 500 * US);
    const struct arch_comm *c = comm();
    assert_int_equal(c->n_streams, 4);
    assert_string_equal(c->streams[0].purpose, "main compute");
    assert_string_equal(c->streams[1].purpose, "collectives");
    assert_string_equal(c->streams[2].purpose, "all-to-all");
    assert_string_equal(c->streams[3].purpose, "auxiliary compute");
    assert_true(c->streams[1].main_overlap == 1);
    assert_true(c->streams[3].main_overlap == 0);
}

TEST(hiding_has_three_names)
{
    assert_string_equal(arch_hidden_name(0.91), "well hidden");
    assert_string_equal(arch_hidden_name(0.9), "partly hidden");
    assert_string_equal(arch_hidden_name(0.5), "partly hidden");
    assert_string_equal(arch_hidden_name(0.49), "exposed");
}

TEST_MAIN("analysis/arch/arch_comm", CASE(hidden_communication_is_measured_by_union_and_by_sum),
          CASE(streams_have_purposes), T(hiding_has_three_names))
