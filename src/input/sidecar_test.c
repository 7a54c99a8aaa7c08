#include "input/sidecar.h"

#include "input/testing_import.h"

/* One test file for the small importers: each reads its text into a capture. */
TEST(a_step_of_the_profiler_is_kept_in_nanoseconds)
{
    assert_int_equal(
        read_with(&input_step_trace_time,
                  S("Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,"
                    "Stage,Bubble,Communication(Not Overlapped and Exclude Receive),Preparing\n"
                    "50,8873.756000000001,101963.203,4028.6750000000175,105991.87800000001,"
                    "25744.050000000003,136581.0,0,101963.203,17902.5\n"
                    "51,x,1,1,1,1,1,1,1,1\n")),
        ST_OK);

    assert_int_equal(cap->step_traces.n, 1);
    const struct step_trace *t = &cap->step_traces.at[0];
    assert_str(capture_text(cap, t->step), "50");
    assert_int_equal(t->computing, 8873756);
    assert_int_equal(t->comm_exposed, 101963203);
    assert_int_equal(t->free_time, 25744050);
    assert_int_equal(t->preparing, 17902500);
    assert_int_equal(diag_count(&diag, "step-trace-time.bad-row"), 1);
}

TEST(an_old_table_has_no_preparing)
{
    read_with(
        &input_step_trace_time,
        S("Device_id,Step,Computing,Communication(Not Overlapped)\n3,,75174.57464453117,2\n"));
    assert_int_equal(cap->step_traces.at[0].preparing, -1);
    assert_int_equal(cap->step_traces.at[0].device, 3);
    assert_int_equal(cap->step_traces.at[0].step, 0);
    assert_int_equal(cap->step_traces.at[0].computing, 75174575);
}

TEST(operators_tell_what_was_recorded)
{
    struct str table = S("Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total "
                         "Duration(us)\r\naten::empty,\";\r\n\",\"a.py(1): f;\r\nb.py(2): "
                         "g\",1.5,2.5\r\naten::mm,,,x,1\r\n");

    assert_int_equal(input_probe(&input_operator_details, &(struct probe){"x", S("x"), table}), 90);
    assert_int_equal(read_with(&input_operator_details, table), ST_OK);
    assert_int_equal(cap->facts.with_stack, 1);
    assert_int_equal(cap->facts.record_shapes, UNKNOWN);
    assert_int_equal(cap->sources.at[0].rows, 1);
    assert_int_equal(diag_count(&diag, "operator-details.bad-row"), 1);
    assert_int_equal(read_with(&input_operator_details, S("a,b\n1,2\n")), ST_FORMAT);
}

TEST(a_flat_list_of_collectives_is_better_than_nothing)
{
    struct str list =
        S("[{\"collective_name\": \"hcom_send_1\", \"duration_us\": 12.5, \"x\": [1]}, "
          "{\"collective_name\": \"hcom_allReduce_1\"}, 7, "
          "{\"duration_us\": \"3\", \"collective_name\": \"hcom_allReduce_2\"}]");

    assert_int_equal(input_probe(&input_communication, &(struct probe){"x", S("x"), list}), 60);
    assert_int_equal(read_with(&input_communication, list), ST_OK);
    assert_int_equal(cap->comm_ops.n, 2);
    assert_int_equal(cap->comm_ops.at[0].elapse, 12500);
    assert_true(cap->comm_ops.at[0].is_p2p);
    assert_str(capture_text(cap, cap->comm_ops.at[1].name), "hcom_allReduce_2");
    assert_int_equal(cap->comm_ops.at[1].elapse, 3000);
    assert_int_equal(cap->sources.at[0].lost, 2);
    assert_int_equal(diag_count(&diag, "communication.flat"), 1);
}

TEST(a_flat_list_that_breaks_off_keeps_what_is_whole)
{
    read_with(&input_communication,
              S("[{\"collective_name\": \"a\", \"duration_us\": 1}, {\"collective_name\": \"b"));
    assert_int_equal(cap->comm_ops.n, 1);
    assert_int_equal(diag_count(&diag, "communication.damaged"), 1);
}

TEST(iterations_of_a_graph_are_marks)
{
    options.device = 0;
    read_with(&input_step_trace,
              S("Device_id,Iteration ID,FP Start(us),Iteration End(us),Iteration Time(us)\n"
                "0,4,1,110.500,100\n1,4,1,90,10\n0,5,1,N/A,100\n"));

    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->marks.at[0].source, MARK_STEP_TRACE);
    assert_int_equal(cap->marks.at[0].number, 4);
    assert_int_equal(cap->marks.at[0].begin, 10500);
    assert_int_equal(cap->marks.at[0].end, 110500);
    assert_int_equal(diag_count(&diag, "step-trace.bad-row"), 1);
}

TEST(memory_becomes_counters)
{
    read_with(&input_memory, S("Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB)\n"
                               "APP,20.000\t,,2109.5\nPTA,10.000\t,1.5,2\nPTA,30,x,2\n"));

    assert_int_equal(cap->series.n, 3);
    assert_str(capture_text(cap, cap->series.at[0].process), "APP");
    assert_str(capture_text(cap, cap->series.at[0].name), "Total Reserved");
    assert_int_equal(cap->series.at[0].samples.at[0].at, 20000);
    assert_true(cap->series.at[0].samples.at[0].value == 2109.5);
    assert_int_equal(diag_count(&diag, "memory.bad-row"), 1);
}

static const struct str two_ops = S_INIT(
    "{\"step7\": {\"p2p\": {}, \"collective\": {\"hcom_allReduce__1@77\": {"
    "\"Communication Time Info\": {\"Start Timestamp(us)\": 1736408883732241.5,"
    "\"Elapse Time(ms)\": 79.08952021875, \"Wait Time(ms)\": 5.5, \"Idle Time(ms)\": 2e-05},"
    "\"Communication Bandwidth Info\": {\"RDMA\": {\"Transit Size(MB)\": 1, \"Transit Time(ms)\": "
    "0.5}, \"HCCS\": {\"Transit Size(MB)\": 28.5, \"Transit Time(ms)\": 1.5}, \"SDMA\": {\"Transit "
    "Size(MB)\": 28.5, \"Transit Time(ms)\": 1.5}}}, \"hcom_send__2\": {\"Communication Time "
    "Info\": {\"Elapse Time(ms)\": 1}}, \"Total Op Info\": {\"Communication Time Info\": "
    "{\"Elapse Time(ms)\": 80}}}}}");

TEST(collectives_are_kept_with_their_step_and_group_and_without_their_total)
{
    assert_int_equal(read_with(&input_communication, two_ops), ST_OK);

    assert_int_equal(cap->comm_ops.n, 2);
    const struct comm_op *op = &cap->comm_ops.at[0];
    assert_str(capture_text(cap, op->name), "hcom_allReduce__1");
    assert_str(capture_text(cap, op->group), "77");
    assert_str(capture_text(cap, op->step), "7");
    assert_false(op->is_p2p);
    assert_int_equal(op->begin, 1736408883732241500);
    assert_int_equal(op->elapse, 79089520);
    assert_int_equal(op->wait, 5500000);
    assert_int_equal(op->idle, 20);
    assert_true(op->megabytes == 29.5); /* SDMA sums up HCCS; RDMA comes on top */
    assert_true(op->transit_ms == 2);
    assert_true(cap->comm_ops.at[1].is_p2p);
    assert_int_equal(diag.entries.n, 0);
}

TEST(a_document_that_breaks_off_keeps_its_whole_collectives)
{
    read_with(&input_communication, str_part(two_ops, 0, two_ops.n - 130));

    assert_int_equal(cap->comm_ops.n, 1);
    assert_int_equal(diag_count(&diag, "communication.damaged"), 1);
}

TEST(traffic_between_ranks_is_kept)
{
    read_with(&input_communication_matrix,
              S("{\"step7\": {\"collective\": {\"allreduce-top1@77\": {\"0-12\": {\"Transport "
                "Type\": \"HCCS\", \"Transit Size(MB)\": 37.5, \"Op Name\": \"hcom_1\"}, \"x\": "
                "{}}}}}"));

    assert_int_equal(cap->comm_links.n, 1);
    assert_str(capture_text(cap, cap->comm_links.at[0].transport), "HCCS");
    assert_str(capture_text(cap, cap->comm_links.at[0].op), "hcom_1");
    assert_int_equal(cap->comm_links.at[0].to, 12);
    assert_int_equal(diag_count(&diag, "communication-matrix.bad-ranks"), 1);
}

TEST(sums_over_many_ranks_keep_their_ranks)
{
    read_with(
        &input_communication,
        S("{\"p2p\": {\"step2\": {\"hcom_send__8_0@77\": {\"0\": {\"Communication Time Info\": "
          "{\"Elapse Time(ms)\": 0.5}}, \"1\": {\"Communication Time Info\": {\"Elapse Time(ms)\": "
          "0.75}}}, \"Total Op Info\": {\"0\": {}}}}, \"(0, 1)\": {\"step2\": {\"hcom_x@9\": "
          "{\"1\": {\"Communication Time Info\": {\"Elapse Time(ms)\": 1}}}}}}"));
    read_with(&input_step_trace_time,
              S("Step,Type,Index,Computing,Communication(Not Overlapped)\n2,rank,5,1.5,2\n"
                "2,stage,\"(0, 1)\",9,9\n2,rank,x,1,2\n"));
    read_with(&input_communication_matrix, S("{\"p2p\": {\"step2\": {\"hcom_send__8_0@77\": "
                                             "{\"0-8\": {\"Transport Type\": \"RDMA\"}}, "
                                             "\"Total Op Info\": {\"0-8\": {}}}}}"));

    assert_int_equal(cap->comm_ops.n, 3);
    assert_int_equal(cap->comm_ops.at[1].rank, 1);
    assert_int_equal(cap->comm_ops.at[1].elapse, 750000);
    assert_true(cap->comm_ops.at[1].is_p2p);
    assert_str(capture_text(cap, cap->comm_ops.at[2].step), "2");
    assert_false(cap->comm_ops.at[2].is_p2p);
    assert_int_equal(cap->step_traces.n, 1);
    assert_int_equal(cap->step_traces.at[0].rank, 5);
    assert_int_equal(cap->step_traces.at[0].computing, 1500);
    assert_int_equal(diag_count(&diag, "step-trace-time.bad-row"), 1);
    assert_int_equal(cap->comm_links.n, 1);
    assert_str(capture_text(cap, cap->comm_links.at[0].step), "2");
}

TEST(how_it_was_recorded_is_known)
{
    read_with(&input_profiler_info,
              S("{\"config\": {\"common_config\": {\"record_shapes\": true, \"with_stack\": false, "
                "\"activities\": [\"a\"]}, \"experimental_config\": {\"_profiler_level\": "
                "\"ProfilerLevel.Level2\"}}, \"rank_id\": 3}"));
    read_with(&input_profiler_info,
              S("{\"distributed_args\": {\"rank\": 9, \"world_size\": 8}, \"ENV_VARIABLES\": "
                "{\"rank_id\": 5}, \"parallel_group_info\": {\"77\": {\"group_name\": \"tp\", "
                "\"global_ranks\": [0, 4]}}}"));

    struct probe own = {"x", S("profiler_metadata.json"), S("{\"note\": \"mine\"}")};
    assert_int_equal(input_probe(&input_profiler_info, &own), 80);
    own.name = S("info.json");
    assert_int_equal(input_probe(&input_profiler_info, &own), 0);
    assert_int_equal(cap->facts.record_shapes, 1);
    assert_int_equal(cap->facts.with_stack, 0);
    assert_int_equal(cap->facts.level, 2);
    assert_int_equal(cap->facts.rank, 3);
    assert_int_equal(cap->facts.world_size, 8);
    assert_int_equal(cap->comm_groups.n, 1);
    assert_str(capture_text(cap, cap->comm_groups.at[0].name), "tp");
    assert_str(capture_text(cap, cap->comm_groups.at[0].ranks), "0,4");
}

TEST(an_unknown_rank_stays_unknown)
{
    read_with(&input_profiler_info, S("{\"rank_id\": -1}"));

    assert_int_equal(cap->facts.rank, UNKNOWN);
}

TEST(what_is_no_json_is_refused)
{
    assert_int_equal(read_with(&input_profiler_info, S("[1]")), ST_FORMAT);
    assert_int_equal(read_with(&input_communication, S("")), ST_FORMAT);
    assert_int_equal(read_with(&input_communication_matrix, S("x")), ST_FORMAT);
}

TEST_MAIN("input/sidecar", TF(a_step_of_the_profiler_is_kept_in_nanoseconds),
          TF(operators_tell_what_was_recorded),
          TF(a_flat_list_of_collectives_is_better_than_nothing),
          TF(a_flat_list_that_breaks_off_keeps_what_is_whole), TF(an_old_table_has_no_preparing),
          TF(iterations_of_a_graph_are_marks), TF(memory_becomes_counters),
          TF(collectives_are_kept_with_their_step_and_group_and_without_their_total),
          TF(a_document_that_breaks_off_keeps_its_whole_collectives),
          TF(traffic_between_ranks_is_kept), TF(sums_over_many_ranks_keep_their_ranks),
          TF(how_it_was_recorded_is_known), TF(an_unknown_rank_stays_unknown),
          TF(what_is_no_json_is_refused))
