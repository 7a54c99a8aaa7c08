#include "input/dedup.h"

#include "base/testing.h"

static struct capture *cap;

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    cap->facts.vendor = VENDOR_ASCEND;
    return 0;
}

static int done(void **state)
{
    (void)state;
    capture_free(cap);
    return 0;
}

static lane_id stream(const char *name)
{
    return capture_lane(cap, (struct lane_key){.kind = LANE_STREAM,
                                               .device = 0,
                                               .name = capture_intern(cap, str_of(name))});
}

static uint32_t dedup_add(const char *on, enum slice_kind kind, const char *name, const char *type,
                          nanos begin, nanos dur)
{
    struct attr set = attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, str_of(type)));

    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = dur,
                                              .lane = stream(on),
                                              .name = capture_intern(cap, str_of(name)),
                                              .set = *type ? attrs_set(&cap->attrs, &set, 1) : 0,
                                              .kind = kind});
}

TEST(a_collective_listed_twice_stays_once_on_its_stream_with_the_larger_duration)
{
    dedup_add("N/A", SLICE_COMM, "hcom_allReduce__1", "hcom_allReduce_", 5000100, 900);
    uint32_t launch = dedup_add("2", SLICE_COMPUTE, "Add", "Add", 5000100, 900);
    uint32_t twice =
        dedup_add("64", SLICE_COMM, "hcom_allReduce__1", "HCOM_allReduce_", 5000900, 700);
    dedup_add("N/A", SLICE_COMM, "hcom_allReduce__2", "hcom_allReduce_", 5001000, 900);
    capture_flow(cap, FLOW_LAUNCH, launch, twice);

    assert_int_equal(dedup_kernels(cap), 1);
    assert_int_equal(cap->kernels_read, 4);
    assert_int_equal(cap->slices.n, 3);
    uint32_t to = cap->flows.at[0].to;
    assert_int_equal(cap->slices.begin[to], 5000900);
    assert_int_equal(cap->slices.dur[to], 900);
    assert_str(capture_text(cap, cap->lanes.at[cap->slices.lane[to]].key.name), "64");
}

TEST(collectives_of_a_gpu_that_begin_at_once_are_two)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    dedup_add("20", SLICE_COMM, "ncclDevKernel_SendRecv", "", 5000100, 900);
    dedup_add("21", SLICE_COMM, "ncclDevKernel_SendRecv", "", 5000200, 700);

    assert_int_equal(dedup_kernels(cap), 0);
    assert_int_equal(cap->slices.n, 2);
}

TEST(equal_compute_kernels_are_two_kernels)
{
    dedup_add("2", SLICE_COMPUTE, "Add", "Add", 5000, 10);
    dedup_add("2", SLICE_COMPUTE, "Add", "Add", 5000, 10);

    assert_int_equal(dedup_kernels(cap), 0);
    assert_int_equal(cap->slices.n, 2);
}

TEST(nine_tenths_inside_a_collective_make_a_half_of_it)
{
    dedup_add("N/A", SLICE_COMM, "hcom_allGather__1", "", 1000, 1000);
    uint32_t inside = dedup_add("3", SLICE_COMM_PART, "allgatherAicpuKernel", "", 1100, 500);
    uint32_t edge =
        dedup_add("3", SLICE_COMM_PART, "allgatherAicpuKernel", "", 900, 1000); /* 900 in */
    uint32_t over =
        dedup_add("3", SLICE_COMM_PART, "allgatherAicpuKernel", "", 899, 1000); /* 899 in */
    uint32_t after = dedup_add("3", SLICE_COMM_PART, "allgatherAicpuKernel", "", 1101, 1000);

    dedup_kernels(cap);

    assert_int_equal(cap->slices.kind[inside], SLICE_COMM_PART);
    assert_int_equal(cap->slices.kind[edge], SLICE_COMM_PART);
    assert_int_equal(cap->slices.kind[over], SLICE_COMM);
    assert_int_equal(cap->slices.kind[after], SLICE_COMM);
}

TEST(a_half_without_any_collective_is_communication)
{
    uint32_t lone = dedup_add("3", SLICE_COMM_PART, "allgatherAivKernel", "", 1100, 500);

    dedup_kernels(cap);

    assert_int_equal(cap->slices.kind[lone], SLICE_COMM);
}

TEST(the_twin_of_a_fused_operator_is_communication)
{
    dedup_add("2", SLICE_COMPUTE, "MoeFused_1", "MoeFused", 0, 100);
    uint32_t twin = dedup_add("3", SLICE_AICPU, "MoeFusedAicpu_1", "MoeFusedAicpu", 0, 100);
    uint32_t other = dedup_add("3", SLICE_AICPU, "CastAicpu", "CastAicpu", 0, 100);

    dedup_kernels(cap);

    assert_int_equal(cap->slices.kind[twin], SLICE_COMM);
    assert_int_equal(cap->slices.kind[other], SLICE_AICPU);
}

TEST(arrows_of_dropped_slices_go_with_them)
{
    uint32_t a = dedup_add("2", SLICE_COMPUTE, "a", "", 0, 1);
    uint32_t b = dedup_add("2", SLICE_COMPUTE, "b", "", 1, 1);
    uint32_t c = dedup_add("2", SLICE_COMPUTE, "c", "", 2, 1);

    capture_flow(cap, FLOW_LAUNCH, a, b);
    capture_flow(cap, FLOW_LAUNCH, b, c);
    dedup_drop(cap, (const uint32_t[]){UINT32_MAX, 1, 2});

    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->flows.n, 1);
    assert_int_equal(cap->flows.at[0].from, 0);
    assert_int_equal(cap->flows.at[0].to, 1);
}

TEST(an_empty_capture_has_nothing_to_join)
{
    assert_int_equal(dedup_kernels(cap), 0);
}

TEST_MAIN("input/dedup",
          TF(a_collective_listed_twice_stays_once_on_its_stream_with_the_larger_duration),
          TF(collectives_of_a_gpu_that_begin_at_once_are_two),
          TF(equal_compute_kernels_are_two_kernels),
          TF(nine_tenths_inside_a_collective_make_a_half_of_it),
          TF(a_half_without_any_collective_is_communication),
          TF(the_twin_of_a_fused_operator_is_communication),
          TF(arrows_of_dropped_slices_go_with_them), TF(an_empty_capture_has_nothing_to_join))
