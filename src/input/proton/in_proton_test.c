#include <stdlib.h>

#include "base/text/text.h"
#include "input/testing_import.h"

static double sample(const char *process, const char *name)
{
    for (size_t i = 0; i < cap->series.n; i++)
        if (str_equal(capture_text(cap, cap->series.at[i].process), str_of(process)) &&
            str_equal(capture_text(cap, cap->series.at[i].name), str_of(name)))
            return cap->series.at[i].samples.at[0].value;
    return -1;
}

/* Children stand before the frame, as the writer sorts keys. */
#define LEAF                                                                                       \
    "{\"children\":[],\"frame\":{\"name\":\"k\"},\"metrics\":{\"time "                             \
    "(ns)\":64,\"device_id\":\"0\"}}"
#define TREE                                                                                       \
    "[{\"children\":[{\"children\":[" LEAF "],\"frame\":{\"name\":\"a\\\"b\"},\"metrics\":{}}],"   \
    "\"frame\":{\"name\":\"ROOT\"},\"metrics\":{\"time (ns)\":0}},"                                \
    "{\"CUDA\":{\"0\":{\"num_sms\":132,\"clock_rate\":1980000}}}]"

TEST(sums_are_counters_by_path)
{
    assert_int_equal(read_with(&input_proton, S(TREE)), ST_OK);
    assert_true(sample("ROOT/a\"b/k", "time (ns)") == 64);
    assert_true(sample("ROOT", "time (ns)") == 0);
    assert_int_equal(cap->series.n, 2);
    assert_int_equal(cap->facts.device_cores, 132);
    assert_int_equal(cap->facts.device_clock, 1980000000);
    assert_int_equal(cap->facts.vendor, VENDOR_NVIDIA);
}

TEST(a_tree_that_is_cut_keeps_nodes_with_a_name)
{
    assert_int_equal(
        read_with(&input_proton,
                  S("[{\"frame\":{\"name\":\"ROOT\"},\"metrics\":{\"count\":3},\"chi")),
        ST_OK);
    assert_true(sample("ROOT", "count") == 3);
    assert_int_equal(diag_count(&diag, "proton.damaged"), 1);
}

TEST(other_lists_and_deep_ones_are_no_tree)
{
    struct text deep = {0};

    assert_int_equal(read_with(&input_proton, S("[1,[2],{\"children\":3}]")), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "proton.no-node"), 1);
    for (size_t i = 0; i < 3000; i++)
        text_put(&deep, S("[{\"children\":"));
    assert_int_equal(read_with(&input_proton, text_view(&deep)), ST_FORMAT);
    text_free(&deep);
}

#define EVENT(tid, more)                                                                           \
    "{\"ph\":\"X\",\"name\":\"mma\",\"pid\":\"gemm Core7 CTA1\",\"tid\":\"" tid "\"," more "}"

TEST(lines_of_a_warp_are_one_lane)
{
    assert_int_equal(
        read_with(
            &input_proton_warps,
            S("{\"traceEvents\":[" EVENT("warp 4 (line 0)", "\"ts\":0.291,\"dur\":1.5") "," EVENT(
                "warp 4 (line 1)",
                "\"ts\":0.5920000000000001,\"dur\":0.25") "," EVENT("warp 0 (line 0)",
                                                                    "\"cat\":\"flow\",\"ts\":1,"
                                                                    "\"dur\":0,\"bind_id\":9,"
                                                                    "\"flow_out\":"
                                                                    "true") "," EVENT("warp 4 "
                                                                                      "(line 0)",
                                                                                      "\"cat\":"
                                                                                      "\"flow\","
                                                                                      "\"ts\":2,"
                                                                                      "\"dur\":0,"
                                                                                      "\"bind_"
                                                                                      "id\":9,"
                                                                                      "\"flow_in\":"
                                                                                      "true") "," EVENT("line 0",
                                                                                                        "\"ts\":"
                                                                                                        "2,"
                                                                                                        "\"dur\":"
                                                                                                        "0") "]"
                                                                                                             "}")),
        ST_OK);
    assert_int_equal(cap->lanes.n, 2);
    assert_int_equal(cap->lanes.at[0].key.kind, LANE_PIPE);
    assert_str(capture_text(cap, cap->lanes.at[0].key.process), "SM 7");
    assert_str(capture_text(cap, cap->lanes.at[0].key.name), "CTA 1 warp 4 of gemm");
    assert_int_equal(cap->slices.n, 4);
    assert_int_equal(cap->slices.begin[1], 592);
    assert_int_equal(cap->flows.n, 1);
    assert_int_equal(cap->flows.at[0].from, 2);
    assert_int_equal(cap->flows.at[0].kind, FLOW_FLAG);
    assert_int_equal(diag_count(&diag, "proton.bad-event"), 1);
}

TEST_MAIN("input/proton/in_proton", TF(sums_are_counters_by_path),
          TF(a_tree_that_is_cut_keeps_nodes_with_a_name), TF(other_lists_and_deep_ones_are_no_tree),
          TF(lines_of_a_warp_are_one_lane))
