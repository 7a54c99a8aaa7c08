#include "analysis/tables/collectives.h"

#include "analysis/module_testing.h"

static void collectives_add(const char *name, const char *group, int64_t in, int64_t out,
                            int64_t ranks, nanos begin, nanos dur)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, S("20"))};
    struct attr set[] = {
        attr_text(capture_intern(cap, S("Collective name")), capture_intern(cap, str_of(name))),
        attr_text(capture_intern(cap, S("dtype")), capture_intern(cap, S("BFloat16"))),
        attr_text(capture_intern(cap, S("Process Group Description")),
                  capture_intern(cap, str_of(group))),
        attr_int(capture_intern(cap, S("Group size")), ranks),
    };
    struct attr own[] = {
        attr_int(capture_intern(cap, S("In msg nelems")), in),
        attr_int(capture_intern(cap, S("Out msg nelems")), out),
    };

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, S("ncclDevKernel_x")),
                                       .set = attrs_set(&cap->attrs, set, ARRAY_LEN(set)),
                                       .own = attrs_own(&cap->attrs, own, ARRAY_LEN(own)),
                                       .kind = SLICE_COMM});
}

static void collectives_compute(nanos begin, nanos dur)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, S("gemm")),
                                       .kind = SLICE_COMPUTE});
}

static const struct collectives *collectives_test_find(void)
{
    is_gpu();
    cap->facts.device_name = capture_intern(cap, S("NVIDIA H200"));
    start_study();
    return collectives_find(&study);
}

/* 64 MB in 1 ms among 8: 64 GB/s, times 2 * 7/8 on the bus, of 450 GB/s of links. */
TEST(bandwidth_is_that_of_the_algorithm_and_of_the_bus)
{
    collectives_add("allreduce", "tp", 32000000, 32000000, 8, 0, 1000 * US);
    collectives_add("allreduce", "tp", 32000000, 32000000, 8, 2000 * US, 1000 * US);
    const struct collectives *c = collectives_test_find();
    assert_int_equal(c->n, 2);
    assert_int_equal(c->n_rows, 1);
    const struct collective_row *row = &c->rows[0];
    assert_int_equal(row->kind, COLLECTIVE_ALL_REDUCE);
    assert_int_equal(row->calls, 2);
    assert_true(row->bytes == 64e6 && row->algorithm == 64 && row->bus == 112);
    assert_true(row->link_share > 0.2488 && row->link_share < 0.2489);
}

TEST(an_all_gather_is_as_large_as_what_it_makes)
{
    collectives_add("_allgather_base", "dp", 1000, 8000, 8, 0, 10 * US);
    const struct collective_row *row = &collectives_test_find()->rows[0];
    assert_int_equal(row->kind, COLLECTIVE_ALL_GATHER);
    assert_true(row->bytes == 16000);
    assert_true(row->bus == row->algorithm * 7 / 8);
}

TEST(what_no_compute_hides_is_exposed_by_group)
{
    collectives_add("allreduce", "tp", 100, 100, 2, 0, 100 * US);
    collectives_add("allreduce", "dp", 100, 100, 2, 50 * US, 100 * US);
    collectives_compute(0, 80 * US);
    const struct collectives *c = collectives_test_find();
    assert_int_equal(c->time, 150 * US);
    assert_int_equal(c->exposed, 70 * US);
    assert_int_equal(c->n_steps, 2);
    assert_str(c->steps[0].group, "dp");
    assert_int_equal(c->steps[0].exposed, 70 * US);
    assert_int_equal(c->steps[1].exposed, 20 * US);
}

TEST(names_tell_the_kind)
{
    assert_int_equal(collective_kind_of(S("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)")),
                     COLLECTIVE_REDUCE_SCATTER);
    assert_int_equal(collective_kind_of(S("void vllm::cross_device_reduce_2stage<half, 8>()")),
                     COLLECTIVE_ALL_REDUCE);
    assert_int_equal(collective_kind_of(S(
                         "void (anonymous namespace)::multimem_all_reduce_kernel<float>(float*)")),
                     COLLECTIVE_ALL_REDUCE);
    assert_int_equal(collective_kind_of(S("void dpsk::ep::internode::dispatch<false, 8>(int4*)")),
                     COLLECTIVE_DISPATCH);
    assert_int_equal(collective_kind_of(S("hcom_alltoallv__123_0_1")), COLLECTIVE_ALL_TO_ALL);
    assert_int_equal(collective_kind_of(S("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)")),
                     COLLECTIVE_SEND_RECV);
    assert_int_equal(collective_kind_of(S("ncclDevKernel_Generic(x)")), COLLECTIVE_OTHER);
    assert_true(collective_bus_factor(COLLECTIVE_ALL_REDUCE, UNKNOWN) == 0);
}

TEST(a_capture_without_collectives_has_no_rows)
{
    collectives_compute(0, 10 * US);
    assert_int_equal(collectives_test_find()->n_rows, 0);
}

TEST_MAIN("analysis/tables/collectives", CASE(bandwidth_is_that_of_the_algorithm_and_of_the_bus),
          CASE(an_all_gather_is_as_large_as_what_it_makes),
          CASE(what_no_compute_hides_is_exposed_by_group), T(names_tell_the_kind),
          CASE(a_capture_without_collectives_has_no_rows))
