#include "base/testing_folder.h"
#include "capture/capture.h"
#include "input/import.h"
#include "input/trace/trace_read.h"

static struct capture *cap;

static int fresh(void **state)
{
    cap = capture_new();
    return enter(state);
}

static int done(void **state)
{
    capture_free(cap);
    return leave(state);
}

static void ascend_read(struct str text)
{
    struct input_file in = {.path = "t.json", .text = text, .diag = &diag};

    assert_int_equal(trace_read(&(struct import){.in = &in, .cap = cap}, TRACE_ASCEND, "test"),
                     ST_OK);
    capture_seal(cap);
}

static enum slice_kind ascend_kind(const char *name)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (str_equal(capture_text(cap, cap->slices.name[i]), str_of(name)))
            return (enum slice_kind)cap->slices.kind[i];
    fail_msg("no slice %s", name);
    return SLICE_OTHER;
}

#define PROCESS(pid, name)                                                                         \
    "{\"name\":\"process_name\",\"pid\":" pid ",\"args\":{\"name\":\"" name "\"},\"ph\":\"M\"},"
#define LABEL(pid, label)                                                                          \
    "{\"name\":\"process_labels\",\"pid\":" pid ",\"args\":{\"labels\":\"" label                   \
    "\"},\"ph\":\"M\"},"
#define ROW(pid, tid, name)                                                                        \
    "{\"name\":\"thread_name\",\"pid\":" pid ",\"tid\":" tid ",\"args\":{\"name\":\"" name         \
    "\"},\"ph\":\"M\"},"
#define EVENT(pid, tid, name, ts, dur)                                                             \
    "{\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur            \
    ",\"ph\":\"X\"}"
#define KERNEL(name, ts, dur)                                                                      \
    "{\"name\":\"" name "\",\"pid\":3,\"tid\":1,\"ts\":" ts ",\"dur\":" dur                        \
    ",\"ph\":\"X\",\"args\":{\"Task Type\":\"AI_CORE\"}},"
#define DEVICE PROCESS("3", "Ascend Hardware") KERNEL("MatMul", "100", "50")
#define PLANES                                                                                     \
    ROW("4", "0", "Plane 0")                                                                       \
    EVENT("4", "0", "Notify_Wait", "200", "20") "," EVENT("4", "0", "Memcpy", "220", "80")

/* Graphs name collectives after their node: "Default/AllReduce-op534_0". */
TEST(whatever_stands_on_a_row_of_collectives_is_one)
{
    ascend_read(S("[" DEVICE PROCESS("4", "HCCL") PLANES "," ROW("4", "7", "Communication Kernel")
                      EVENT("4", "7", "Default/AllReduce-op534_0", "200", "100") "]"));

    assert_int_equal(ascend_kind("Default/AllReduce-op534_0"), SLICE_COMM);
    assert_int_equal(ascend_kind("Memcpy"), SLICE_OTHER);
}

TEST(without_whole_collectives_their_parts_are_the_communication)
{
    ascend_read(S("[" DEVICE PROCESS("4", "Communication") PLANES "]"));

    assert_int_equal(ascend_kind("Memcpy"), SLICE_COMM_PART);
    assert_int_equal(ascend_kind("Notify_Wait"), SLICE_COMM_PART);
}

TEST(iterations_of_the_device_are_marks_and_their_parts_are_not)
{
    ascend_read(S("[" DEVICE ROW("3", "9", "Step Trace(Model ID:1)")
                      EVENT("3", "9", "Iteration 6", "100", "70") "," EVENT(
                          "3", "9", "FP_BP Time 6", "100",
                          "60") "," EVENT("3", "9", "Iteration Refresh 6", "160", "10") "]"));

    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->marks.at[0].source, MARK_STEP_TRACE);
    assert_int_equal(cap->marks.at[0].number, 6);
    assert_int_equal(cap->marks.at[0].end, 170000);
    assert_int_equal(ascend_kind("FP_BP Time 6"), SLICE_OTHER);
}

#define OVERLAP(comm, exposed)                                                                     \
    PROCESS("4", "HCCL")                                                                           \
    ROW("4", "7", "Communication Kernel")                                                          \
    EVENT("4", "7", "hcom_allReduce_", "140", "100")                                               \
    "," PROCESS("5", "Overlap Analysis") EVENT("5", "0", "Computing", "100", "50") "," EVENT(      \
        "5", "1", "Communication", "140",                                                          \
        comm) "," EVENT("5", "2", "Communication(Not Overlapped)", "150", exposed) "]"

TEST(what_the_file_says_of_itself_is_compared)
{
    ascend_read(S("[" DEVICE OVERLAP("100", "90")));
    assert_int_equal(diag.entries.n, 0);
}

TEST(a_deviation_from_what_the_file_says_is_told)
{
    ascend_read(S("[" DEVICE OVERLAP("103", "90")));
    assert_int_equal(diag_count(&diag, "trace.overlap-analysis"), 1);
}

TEST(rows_of_mindspore_are_known_by_their_labels)
{
    ascend_read(S("[" EVENT("0", "5", "Conv2D-op8", "10", "5") "," EVENT(
        "0", "100000", "Model ID: 1 Iteration ID: 4", "10",
        "30") "," EVENT("0", "100001", "Default", "10",
                        "30") "," EVENT("9000", "0", "GetNext-op1", "10",
                                        "5") "," EVENT("10000", "7", "AllReduce-op9", "20",
                                                       "15") "," EVENT("12000", "7999",
                                                                       "computation_op", "10",
                                                                       "5") "," LABEL("0",
                                                                                      "AICORE OP")
                      LABEL("9000", "AICPU OP") LABEL("10000", "Communication Op")
                          LABEL("12000", "Op Overlap Analyse") ROW("0", "100001", "Scope Name") ROW(
                              "0", "100000", "Steps") "{\"ph\":\"M\",\"name\":\"x\",\"pid\":0}]"));

    assert_int_equal(ascend_kind("Conv2D-op8"), SLICE_COMPUTE);
    assert_int_equal(ascend_kind("GetNext-op1"), SLICE_AICPU);
    assert_int_equal(ascend_kind("AllReduce-op9"), SLICE_COMM);
    assert_int_equal(ascend_kind("Default"), SLICE_OTHER);
    assert_int_equal(ascend_kind("computation_op"), SLICE_OTHER);
    assert_int_equal(cap->marks.n, 1);
    assert_int_equal(cap->marks.at[0].number, 4);
    assert_str(capture_text(cap, cap->facts.kind), "ascend_mindspore");
}

/* Before version 2 there were no labels. */
TEST(rows_of_mindspore_are_known_by_nodes_of_the_graph)
{
    ascend_read(S("[" EVENT("1", "519", "AssignAdd-op14", "10", "5") "," EVENT(
        "9000", "0", "GetNext", "3", "5") "," EVENT("10000", "519", "stream_519_parallel_0", "10",
                                                    "5") "]"));

    assert_int_equal(ascend_kind("AssignAdd-op14"), SLICE_COMPUTE);
    assert_int_equal(ascend_kind("GetNext"), SLICE_AICPU);
    assert_int_equal(ascend_kind("stream_519_parallel_0"), SLICE_OTHER);
}

TEST(rows_of_others_without_a_name_stay_threads)
{
    ascend_read(S("[" EVENT("1", "519", "forward", "10", "5") "," EVENT("9000", "0", "GetNext", "3",
                                                                        "5") "]"));

    assert_int_equal(ascend_kind("forward"), SLICE_OTHER);
    assert_int_equal(ascend_kind("GetNext"), SLICE_OTHER);
}

TEST_MAIN("input/trace/trace_ascend", TF(whatever_stands_on_a_row_of_collectives_is_one),
          TF(without_whole_collectives_their_parts_are_the_communication),
          TF(iterations_of_the_device_are_marks_and_their_parts_are_not),
          TF(what_the_file_says_of_itself_is_compared),
          TF(a_deviation_from_what_the_file_says_is_told),
          TF(rows_of_mindspore_are_known_by_their_labels),
          TF(rows_of_mindspore_are_known_by_nodes_of_the_graph),
          TF(rows_of_others_without_a_name_stay_threads))
