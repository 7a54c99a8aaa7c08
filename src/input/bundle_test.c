#include "input/bundle.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/run/pool.h"
#include "base/testing_folder.h"
#include "capture/fleet.h"

static struct fleet *fleet;
static struct input_options options;

static int fresh(void **state)
{
    options = input_defaults();
    fleet = NULL;
    return enter(state);
}

static int done(void **state)
{
    fleet_free(fleet);
    return leave(state);
}

#define HEAD "Name,Start Time(us),Duration(us)\n"
static const char table[] = HEAD "Add,1,2\n";

static struct str bundle_kernel(size_t rank, size_t slice)
{
    const struct capture *cap = fleet->ranks.at[rank];

    return capture_text(cap, cap->slices.name[slice]);
}

TEST(ranks_come_in_the_order_of_their_numbers)
{
    scratch_put("a_ascend_pt/profiler_info_10.json", "{\"rank_id\": 10}");
    scratch_put("a_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", HEAD "Ten,1,2\n");
    scratch_put("b_ascend_pt/profiler_info_2.json", "{\"rank_id\": 2}");
    scratch_put("b_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", HEAD "Two,1,2\n");
    options.pool = pool_new(2);

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    pool_free(options.pool);
    assert_int_equal(fleet->ranks.n, 2);
    assert_int_equal(fleet->ranks.at[0]->facts.rank, 2);
    assert_str(bundle_kernel(0, 0), "Two");
    assert_string_equal(fleet->ranks.at[0]->name, "b_ascend_pt");
    assert_str(capture_text(fleet->ranks.at[0], fleet->ranks.at[0]->facts.kind), "ascend_pytorch");
    assert_int_equal(fleet->ranks.at[1]->facts.rank, 10);
    assert_int_equal(diag.entries.n, 0);
}

TEST(one_rank_can_be_chosen_and_must_be_there)
{
    struct capture *cap = NULL;

    scratch_put("a_ascend_pt/profiler_info_0.json", "{\"rank_id\": 0}");
    scratch_put("a_ascend_pt/kernel_details.csv", table);
    scratch_put("b_ascend_pt/profiler_info_1.json", "{\"rank_id\": 1}");
    scratch_put("b_ascend_pt/kernel_details.csv", HEAD "One,1,2\n");

    assert_int_equal(input_load(scratch, &options, &diag, &cap), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&diag, "input.several"), 1);
    assert_string_equal(diag.hints.at[0].text, "--rank with one of 0, 1");
    options.rank = 1;
    assert_int_equal(input_load(scratch, &options, &diag, &cap), ST_OK);
    assert_str(capture_text(cap, cap->slices.name[0]), "One");
    capture_free(cap);
    options.rank = 7;
    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "input.no-rank"), 1);
}

TEST(ranks_without_a_number_get_the_free_ones)
{
    scratch_put("x/kernel_details.csv", HEAD "X,1,2\n");
    scratch_put("y/kernel_details.csv", HEAD "Y,1,2\n");
    scratch_put("z_ascend_pt/profiler_info_0.json", "{\"rank_id\": 0}");
    scratch_put("z_ascend_pt/kernel_details.csv", HEAD "Z,1,2\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_str(bundle_kernel(0, 0), "Z");
    assert_str(bundle_kernel(1, 0), "X");
    assert_int_equal(fleet->ranks.at[1]->facts.rank, 1);
    assert_int_equal(fleet->ranks.at[2]->facts.rank, 2);
}

TEST(a_number_that_two_contents_claim_is_given_once)
{
    scratch_put("a/profiler_info.json", "{\"rank_id\": 0}");
    scratch_put("a/kernel_details.csv", HEAD "A,1,2\n");
    scratch_put("b/profiler_info.json", "{\"rank_id\": 0}");
    scratch_put("b/kernel_details.csv", HEAD "B,1,2\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
    assert_int_equal(fleet->ranks.at[0]->facts.rank, 0);
    assert_str(bundle_kernel(1, 0), "B");
    assert_int_equal(fleet->ranks.at[1]->facts.rank, 1);
    assert_int_equal(diag_count(&diag, "input.rank-shared"), 1);
}

TEST(a_rank_that_two_profilers_recorded_is_read_once)
{
    scratch_put("rank0_ascend_pt/profiler_info_0.json", "{\"rank_id\": 0}");
    scratch_put("rank0_ascend_pt/kernel_details.csv", HEAD "A,1748736000000000,20\n");
    scratch_put(
        "kineto/rank0.pt.trace.json",
        "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":0},\"traceEvents\":[{\"ph\":\"X\","
        "\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":1748736000000010,"
        "\"dur\":5}]}");
    scratch_put(
        "kineto/rank1.pt.trace.json",
        "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":1},\"traceEvents\":[{\"ph\":\"X\","
        "\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":1748736000000010,"
        "\"dur\":5}]}");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
    assert_str(bundle_kernel(0, 0), "A");
    assert_str(bundle_kernel(1, 0), "b");
    assert_int_equal(diag_count(&diag, "input.told-twice"), 1);
}

TEST(a_name_tells_the_rank_before_the_content_does)
{
    scratch_put("a_ascend_pt/profiler_info_5.json", "{\"rank_id\": 0}");
    scratch_put("a_ascend_pt/kernel_details.csv", HEAD "A,1,2\n");
    scratch_put("b_ascend_pt/profiler_info_6.json", "{\"rank_id\": 0}");
    scratch_put("b_ascend_pt/kernel_details.csv", HEAD "B,1,2\n");

    options.rank = 6;
    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    assert_int_equal(fleet->ranks.at[0]->facts.rank, 6);
    assert_str(bundle_kernel(0, 0), "B");
}

TEST(runs_at_other_times_are_no_twins)
{
    scratch_put("rank0_ascend_pt/profiler_info_0.json", "{\"rank_id\": 0}");
    scratch_put("rank0_ascend_pt/kernel_details.csv", HEAD "A,1748736000000000,20\n");
    scratch_put(
        "kineto/rank0.pt.trace.json",
        "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":0},\"traceEvents\":[{\"ph\":\"X\","
        "\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":1748736000000030,"
        "\"dur\":5}]}");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
    assert_int_equal(diag_count(&diag, "input.rank-shared"), 1);
}

TEST(of_two_recordings_of_a_rank_the_newer_is_read)
{
    scratch_put("h_1_20250101000000000_ascend_pt/profiler_info_0.json", "{\"rank_id\": 0}");
    scratch_put("h_1_20250101000000000_ascend_pt/kernel_details.csv", HEAD "New,1,2\n");
    scratch_put("h_2_20240101000000000_ascend_pt/profiler_info_0.json", "{\"rank_id\": 0}");
    scratch_put("h_2_20240101000000000_ascend_pt/kernel_details.csv", HEAD "Old,1,2\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    assert_str(bundle_kernel(0, 0), "New");
    assert_int_equal(diag_count(&diag, "input.rank-twice"), 1);
}

TEST(slices_of_a_table_are_one_table_and_older_exports_are_left_out)
{
    scratch_put("PROF_1_2_A/mindstudio_profiler_output/op_summary_slice_10_20250101.csv",
                HEAD "C,3,1\n");
    scratch_put("PROF_1_2_A/mindstudio_profiler_output/op_summary_slice_2_20250101.csv",
                HEAD "B,2,1\n");
    scratch_put("PROF_1_2_A/mindstudio_profiler_output/op_summary_slice_0_20250101.csv",
                HEAD "A,1,1\n");
    scratch_put("PROF_1_2_A/mindstudio_profiler_output/op_summary_20240101.csv", HEAD "Old,1,1\n");
    scratch_put("PROF_1_2_A/mindstudio_profiler_output/task_time_20250101.csv", HEAD "T,1,1\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    assert_int_equal(fleet->ranks.at[0]->slices.n, 3);
    assert_string_equal(fleet->ranks.at[0]->sources.at[1].path + strlen(scratch),
                        "/PROF_1_2_A/mindstudio_profiler_output/op_summary_slice_2_20250101.csv");
    assert_str(capture_text(fleet->ranks.at[0], fleet->ranks.at[0]->facts.kind), "msprof");
}

#define MSPROF      "PROF_1_2_A/mindstudio_profiler_output/msprof_slice_"
#define EVENT(more) "{\"ph\":\"X\",\"pid\":5,\"tid\":2," more "}"

/* Names of lanes may stand in another part than the events, and an arrow may go from one to the
 * other. */
TEST(slices_of_a_timeline_are_one_trace)
{
    scratch_put(MSPROF "0_20250101.json",
                "[" EVENT("\"ts\":\"10.5\",\"dur\":2,\"name\":\"Add\","
                          "\"args\":{\"Task Type\":\"AI_CORE\"}") ","
                                                                  "{\"ph\":\"f\",\"bp\":\"e\","
                                                                  "\"cat\":\"HostToDevice\",\"id\":"
                                                                  "\"7\",\"name\":\"h\",\"pid\":5,"
                                                                  "\"tid\":2,\"ts\":\"10.5\"}]");
    scratch_put(
        MSPROF "1_20250101.json",
        "[{\"ph\":\"X\",\"pid\":6,\"tid\":9,\"ts\":\"1\",\"dur\":2,\"name\":\"AscendCL@launch\"},"
        "{\"ph\":\"s\",\"cat\":\"HostToDevice\",\"id\":\"7\",\"name\":\"h\",\"pid\":6,\"tid\":9,"
        "\"ts\":\"1\"}]");
    scratch_put(MSPROF "2_20250101.json",
                "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"args\":{\"name\":\"Ascend "
                "Hardware\"}},"
                "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":6,\"args\":{\"name\":\"CANN\"}}]");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    const struct capture *cap = fleet->ranks.at[0];
    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->flows.n, 1);
    assert_int_equal(cap->flows.at[0].kind, FLOW_LAUNCH);
    assert_int_equal(cap->lanes.at[cap->slices.lane[0]].key.kind, LANE_STREAM);
    assert_int_equal(cap->slices.kind[0], SLICE_COMPUTE);
    assert_int_equal(cap->slices.kind[1], SLICE_RUNTIME);
    assert_int_equal(cap->sources.n, 3);
    assert_int_equal(cap->sources.at[1].rows, 2);
}

TEST(runs_of_one_format_count_whatever_they_are_called)
{
    static const char trace[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
        "\"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 1}]}";

    scratch_put("a.pt.trace.json", trace);
    scratch_put("mine.json", trace);
    scratch_put("other.json", "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}]");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
}

/* A recording of another profiler says nothing of one under a name of its own. */
TEST(runs_of_several_formats_count_whatever_they_are_called)
{
    scratch_put(
        "host.trace.json",
        "{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "
        "{\"name\": \"/device:GPU:0\"}}, {\"ph\": \"X\", \"name\": \"fusion\", \"pid\": 1, "
        "\"tid\": 1, \"ts\": 1, \"dur\": 1, \"args\": {\"hlo_op\": \"fusion\"}}]}");
    scratch_put("mine.json",
                "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", "
                "\"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 1}]}");
    scratch_put("other.json", "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}]");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
}

/* Iterations that were not exported are not missing. */
TEST(iterations_with_a_file_each_are_one_trace)
{
    static const char *const names[] = {"1", "2", "10"};
    char path[128], text[512];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "PROF_1_2_A/device_0/timeline/msprof_0_1_%s.json", names[i]);
        snprintf(text, sizeof(text),
                 "[{\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":\"Ascend Hardware\"},"
                 "\"ph\":\"M\"},{\"name\":\"thread_name\",\"pid\":3,\"tid\":9,\"args\":{\"name\":"
                 "\"Step Trace(Model ID:1)\"},\"ph\":\"M\"},{\"name\":\"Iteration %s\",\"pid\":3,"
                 "\"tid\":9,\"ts\":%s00,\"dur\":50,\"ph\":\"X\"},{\"name\":\"Add\",\"pid\":3,"
                 "\"tid\":1,\"ts\":%s05,\"dur\":2,\"ph\":\"X\",\"args\":{\"Task Type\":"
                 "\"AI_CORE\"}}]",
                 names[i], names[i], names[i]);
        scratch_put(path, text);
    }
    scratch_put("PROF_1_2_A/device_0/timeline/step_trace_0_1_1.json",
                "[{\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":\"Step Trace\"},"
                "\"ph\":\"M\"}]");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    const struct capture *cap = fleet->ranks.at[0];
    assert_int_equal(cap->marks.n, 3);
    assert_int_equal(cap->marks.at[2].number, 10);
    assert_int_equal(cap->marks.at[2].source, MARK_STEP_TRACE);
    assert_int_equal(cap->slices.n, 6);
    assert_int_equal(diag_count(&diag, "input.missing-part"), 0);
}

/* Three iterations, one of them exported twice, as tables without collectives and as timelines. */
TEST(iterations_of_tables_are_one_run_and_collectives_come_from_the_timeline)
{
    static const char *const names[] = {"1_20250101000000", "2_20250101000001", "10_20250101000002",
                                        "2_20240101000000"};
    static const char *const numbers[] = {"1", "2", "10", "2"};
    char path[128], text[1024];
    size_t collectives = 0;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "PROF_1_2_A/mindstudio_profiler_output/op_summary_0_1_%s.csv",
                 names[i]);
        snprintf(text, sizeof(text),
                 "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Stream ID\n"
                 "Add,Add,AI_CORE,%s05.0,2,3\n",
                 numbers[i]);
        scratch_put(path, text);
        snprintf(path, sizeof(path), "PROF_1_2_A/mindstudio_profiler_output/msprof_0_1_%s.json",
                 names[i]);
        snprintf(text, sizeof(text),
                 "[{\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":\"Ascend Hardware\"},"
                 "\"ph\":\"M\"},{\"name\":\"process_name\",\"pid\":4,\"args\":{\"name\":\"HCCL\"},"
                 "\"ph\":\"M\"},{\"name\":\"thread_name\",\"pid\":4,\"tid\":2,\"args\":{\"name\":"
                 "\"Group 1 Communication\"},\"ph\":\"M\"},{\"name\":\"Add\",\"pid\":3,\"tid\":3,"
                 "\"ts\":%s05,\"dur\":2,\"ph\":\"X\",\"args\":{\"Task Type\":\"AI_CORE\"}},"
                 "{\"name\":\"hcom_allReduce__1_%s_1\",\"pid\":4,\"tid\":2,\"ts\":%s08,\"dur\":5,"
                 "\"ph\":\"X\"}]",
                 numbers[i], numbers[i], numbers[i]);
        scratch_put(path, text);
    }

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    const struct capture *cap = fleet->ranks.at[0];
    for (size_t i = 0; i < cap->slices.n; i++)
        collectives += cap->slices.kind[i] == SLICE_COMM;
    assert_int_equal(collectives, 3);
    assert_int_equal(cap->slices.n, 6);
}

TEST(a_part_that_is_broken_or_missing_costs_itself)
{
    scratch_put(MSPROF "0_20250101.json", "[" EVENT("\"ts\":\"10.5\",\"dur\":2,\"name\":\"Add\","
                                                    "\"args\":{\"Task Type\":\"AI_CORE\"}") "]");
    scratch_put(MSPROF "1_20250101.json", "[{\"ph\":\"M\",\"name\":7}");
    scratch_put(MSPROF "3_20250101.json", "[" EVENT("\"ts\":\"20.5\",\"dur\":2,\"name\":\"Mul\","
                                                    "\"args\":{\"Task Type\":\"AI_CORE\"}") "]");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.at[0]->slices.n, 2);
    assert_int_equal(diag_count(&diag, "input.missing-part"), 1);
    assert_int_equal(diag_count(&diag, "trace.truncated"), 1);
}

TEST(a_table_of_two_devices_is_two_captures)
{
    scratch_put("kernel_details.csv", "Device_id," HEAD "1,B,1,2\n0,A,1,2\n1,B,5,2\n1,B,x,2\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
    assert_str(bundle_kernel(0, 0), "A");
    assert_int_equal(fleet->ranks.at[0]->facts.device, 0);
    assert_int_equal(fleet->ranks.at[1]->slices.n, 2);
    assert_int_equal(fleet->ranks.at[1]->facts.device, 1);
    assert_int_equal(fleet->ranks.at[1]->facts.rank, 1);
    assert_int_equal(diag_count(&diag, "kernel-details.no-start"), 1);
}

TEST(one_device_of_a_table_can_be_chosen)
{
    scratch_put("kernel_details.csv", "Device_id," HEAD "1,B,1,2\n0,A,1,2\n1,B,5,2\n");
    options.device = 1;

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    assert_int_equal(fleet->ranks.at[0]->slices.n, 2);
}

TEST(a_broken_sidecar_costs_itself)
{
    scratch_put("kernel_details.csv", table);
    scratch_put("communication.json", "\x01\x02 rubbish");
    scratch_put("step_trace_time.csv", "Step,Computing,Communication(Not Overlapped)\n1,2,3\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(diag_count(&diag, "input.refused"), 1);
    assert_int_equal(fleet->ranks.at[0]->step_traces.n, 1);
    assert_int_equal(fleet->ranks.at[0]->slices.n, 1);
}

#define CLUSTER "Step,Type,Index,Computing,Communication(Not Overlapped)\n2,rank,7,1,2\n"

TEST(sums_over_all_ranks_are_left_out_beside_a_run)
{
    scratch_put("a_ascend_pt/kernel_details.csv", table);
    scratch_put("a_ascend_pt/cluster_step_trace_time.csv", CLUSTER);
    scratch_put("cluster_analysis_output/cluster_step_trace_time.csv", CLUSTER);

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    assert_int_equal(fleet->ranks.at[0]->step_traces.n, 0);
    assert_int_equal(diag_count(&diag, "input.cluster-summary"), 1);
}

TEST(sums_over_all_ranks_alone_are_read)
{
    scratch_put("cluster_analysis_output/cluster_step_trace_time.csv", CLUSTER);

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.at[0]->step_traces.n, 1);
    assert_int_equal(fleet->ranks.at[0]->step_traces.at[0].rank, 7);
    assert_int_equal(diag_count(&diag, "input.no-timeline"), 1);
}

/* The timeline has a kernel that the table lacks. */
TEST(the_number_of_kernels_of_a_file_that_is_not_taken_is_kept)
{
    scratch_put("kernel_details.csv", HEAD "Add,10.5,2\n");
    scratch_put("trace_view.json",
                "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"args\":{\"name\":\"Ascend "
                "Hardware\"}}," EVENT(
                    "\"ts\":\"10.5\",\"dur\":2,\"name\":\"Add\","
                    "\"args\":{\"Task Type\":\"AI_CORE\"}") "," EVENT("\"ts\":\"20.5\",\"dur\":2,"
                                                                      "\"name\":\"Mul\","
                                                                      "\"args\":{\"Task "
                                                                      "Type\":\"AI_CORE\"}") "]");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.at[0]->slices.n, 1);
    assert_int_equal(fleet->ranks.at[0]->told.n, 1);
    assert_int_equal(fleet->ranks.at[0]->told.at[0].count, 2);
}

TEST(sums_alone_are_a_capture_without_kernels)
{
    scratch_put("op_statistic.csv", "OP Type,Core Type,Count,Total Time(us)\nAdd,AI_CORE,1,2\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.at[0]->slices.n, 0);
    assert_int_equal(diag_count(&diag, "input.no-timeline"), 1);
}

TEST(how_it_was_recorded_is_no_recording)
{
    scratch_put("profiler_info_0.json", "{\"rank_id\": 0}");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "input.nothing"), 1);
}

TEST(tables_under_names_of_their_own_are_runs_of_their_own)
{
    scratch_put("rank1.csv", HEAD "One,1,2\n");
    scratch_put("rank0.csv", HEAD "Zero,1,2\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
    assert_str(bundle_kernel(1, 0), "One");
    assert_string_equal(fleet->ranks.at[1]->name, "rank1.csv");
}

TEST(a_name_of_its_own_beside_a_usual_one_is_left_out)
{
    scratch_put("kernel_details.csv", table);
    scratch_put("copy.csv", HEAD "Copy,1,2\n");

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 1);
    assert_str(bundle_kernel(0, 0), "Add");
}

TEST(a_packed_table_is_known_by_its_content)
{
    gzFile f = gzopen(scratch_path("kernel_details.csv.gz"), "wb");

    assert_non_null(f);
    assert_int_equal(gzwrite(f, table, sizeof(table) - 1), (int)sizeof(table) - 1);
    gzclose(f);

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_OK);
    assert_str(bundle_kernel(0, 0), "Add");
}

TEST(several_paths_are_one_run)
{
    scratch_put("a/rank0.csv", HEAD "Zero,1,2\n");
    scratch_put("b/rank1.csv", HEAD "One,1,2\n");
    const char *const paths[] = {scratch_path("b/rank1.csv"), scratch_path("a")};

    assert_int_equal(input_load_paths(paths, 2, &options, &diag, &fleet), ST_OK);
    assert_int_equal(fleet->ranks.n, 2);
    assert_str(bundle_kernel(0, 0), "Zero");
}

TEST(a_kind_of_file_that_is_not_there_cannot_be_chosen)
{
    scratch_put("kernel_details.csv", table);
    options.source = INPUT_DB;

    assert_int_equal(input_load_all(scratch, &options, &diag, &fleet), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "input.no-source"), 1);
}

TEST_MAIN("input/bundle", TF(ranks_come_in_the_order_of_their_numbers),
          TF(one_rank_can_be_chosen_and_must_be_there),
          TF(ranks_without_a_number_get_the_free_ones),
          TF(a_number_that_two_contents_claim_is_given_once),
          TF(a_rank_that_two_profilers_recorded_is_read_once), TF(runs_at_other_times_are_no_twins),
          TF(a_name_tells_the_rank_before_the_content_does),
          TF(of_two_recordings_of_a_rank_the_newer_is_read),
          TF(slices_of_a_table_are_one_table_and_older_exports_are_left_out),
          TF(slices_of_a_timeline_are_one_trace), TF(iterations_with_a_file_each_are_one_trace),
          TF(iterations_of_tables_are_one_run_and_collectives_come_from_the_timeline),
          TF(runs_of_one_format_count_whatever_they_are_called),
          TF(runs_of_several_formats_count_whatever_they_are_called),
          TF(a_part_that_is_broken_or_missing_costs_itself),
          TF(a_table_of_two_devices_is_two_captures), TF(one_device_of_a_table_can_be_chosen),
          TF(a_broken_sidecar_costs_itself), TF(sums_over_all_ranks_are_left_out_beside_a_run),
          TF(sums_over_all_ranks_alone_are_read),
          TF(the_number_of_kernels_of_a_file_that_is_not_taken_is_kept),
          TF(sums_alone_are_a_capture_without_kernels), TF(how_it_was_recorded_is_no_recording),
          TF(tables_under_names_of_their_own_are_runs_of_their_own),
          TF(a_name_of_its_own_beside_a_usual_one_is_left_out),
          TF(a_packed_table_is_known_by_its_content), TF(several_paths_are_one_run),
          TF(a_kind_of_file_that_is_not_there_cannot_be_chosen))
