#include "base/testing.h"
#include "capture/capture.h"
#include "input/input.h"

static struct capture *cap;
static struct diag diag;

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    diag_init(&diag);
    return 0;
}

static int done(void **state)
{
    (void)state;
    diag_fini(&diag);
    capture_free(cap);
    return 0;
}

static enum status exe_read_text(const struct input_format *format, const char *path,
                                 struct str text)
{
    enum status st =
        input_read(format, &(struct input_file){.path = path, .text = text, .diag = &diag}, cap);

    capture_seal(cap);
    return st;
}

static const struct str table = S_INIT("instr,addr,pipe,call_count,cycles,running_time(us),detail\n"
                                       "MOV,282130232,MTE2,64,102084,11.130000,\"Src:OUT,Dst:L1\"\n"
                                       "ADD,0x10,SCALAR,1,x,0.010000,\"\"\n"
                                       "SPR,282130212,MTE2,64,84762,11.000000,\"SPR:MTE2\"\n"
                                       "BAD,1,MTE2,64,84762,soon,\"\"\n");

TEST(rows_stand_one_behind_the_other_on_their_pipe)
{
    assert_int_equal(
        exe_read_text(&input_instr_exe, "d/core0.veccore0_instr_exe_20240429111143146.csv", table),
        ST_OK);
    const struct slices *s = &cap->slices;
    assert_int_equal(s->n, 3);
    assert_str(capture_text(cap, cap->lanes.at[0].key.process), "core0.veccore0");
    assert_str(capture_text(cap, cap->lanes.at[0].key.name), "MTE2");
    assert_int_equal(s->begin[0], 0);
    assert_int_equal(s->dur[0], 11130);
    assert_int_equal(s->begin[1], 11130);
    assert_int_equal(s->dur[1], 11000);
    assert_int_equal(s->dur[2], 10);
    assert_int_equal(cap->sources.at[0].rows, 3);
    assert_int_equal(cap->sources.at[0].lost, 1);
}

TEST(addresses_become_hexadecimal)
{
    assert_int_equal(exe_read_text(&input_instr_exe, "x.csv", table), ST_OK);
    strid key = capture_intern(cap, S("pc_addr"));
    assert_str(capture_text(cap, attrs_get(&cap->attrs, cap->slices.set[0], key).text),
               "0x10d0f738");
    assert_str(capture_text(cap, attrs_get(&cap->attrs, cap->slices.set[2], key).text), "0x10");
    assert_int_equal(
        attrs_get(&cap->attrs, cap->slices.own[0], capture_intern(cap, S("cycles"))).number,
        102084);
}

TEST(a_table_of_lines_may_be_a_header_only)
{
    assert_int_equal(exe_read_text(&input_code_exe, "core0_code_exe.csv",
                                   S("code,call_count,cycles,running_time(us)\n")),
                     ST_OK);
    assert_int_equal(cap->slices.n, 0);
}

TEST(lines_of_code_are_slices)
{
    assert_int_equal(exe_read_text(&input_code_exe, "core0_code_exe.csv",
                                   S("code,call_count,cycles,running_time(us)\n"
                                     "/a.cpp:7,4,100,0.060000\n")),
                     ST_OK);
    assert_int_equal(cap->slices.n, 1);
    assert_str(capture_text(cap, cap->slices.name[0]), "/a.cpp:7");
    assert_int_equal(cap->slices.dur[0], 60);
}

TEST(another_table_is_an_error)
{
    assert_int_equal(exe_read_text(&input_instr_exe, "x.csv", S("a,b\n1,2\n")), ST_FORMAT);
}

/* ---- trace.json, which shares its reader with visualize_data.bin ---- */

static const struct str one_core = S_INIT(
    "{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":1,\"traceEvents\":["
    "{\"args\":{\"name\":\"MTE9\"},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":64,\"tid\":0},"
    "{\"name\":\"MOV\",\"ph\":\"X\",\"pid\":60,\"tid\":1,\"ts\":1,\"dur\":2},"
    "{\"name\":\"NEW\",\"ph\":\"X\",\"pid\":64,\"tid\":1,\"ts\":1,\"dur\":2},"
    "{\"name\":\"SET_FLAG\",\"ph\":\"X\",\"pid\":60,\"tid\":2,\"ts\":3,\"dur\":0.002},"
    "{\"name\":\"WAIT_FLAG\",\"ph\":\"X\",\"pid\":30,\"tid\":1,\"ts\":1,\"dur\":3},"
    "{\"id\":\"0\",\"name\":\"flow\",\"ph\":\"s\",\"pid\":\"60\",\"tid\":\"2\",\"ts\":3.001},"
    "{\"id\":\"0\",\"name\":\"flow\",\"ph\":\"t\",\"pid\":\"30\",\"tid\":\"1\",\"ts\":4}]}");

TEST(a_trace_of_one_core_names_pipes_by_numbers)
{
    assert_int_equal(
        exe_read_text(&input_core_trace, "simulator/core0.veccore0/trace.json", one_core), ST_OK);
    assert_int_equal(cap->lanes.n, 3);
    assert_str(capture_text(cap, cap->lanes.at[0].key.process), "core0.veccore0");
    assert_str(capture_text(cap, cap->lanes.at[0].key.name), "MTE2");
    assert_str(capture_text(cap, cap->lanes.at[1].key.name), "MTE9");
    assert_str(capture_text(cap, cap->lanes.at[2].key.name), "VECTOR");
    assert_int_equal(cap->flows.n, 1);
    assert_str(capture_text(cap, cap->slices.name[cap->flows.at[0].from]), "SET_FLAG");
    assert_str(capture_text(cap, cap->slices.name[cap->flows.at[0].to]), "WAIT_FLAG");
}

static const char *format_of(struct str head)
{
    struct probe p = {.path = "trace.json", .name = S("trace.json"), .head = head};
    const struct input_format *format = NULL;

    return input_pick(&p, NULL, &diag, &format) == ST_OK ? format->name : "none";
}

TEST(traces_of_others_are_left_to_their_readers)
{
    assert_string_equal(format_of(one_core), "core-trace");
    assert_string_equal(format_of(S("{\"traceEvents\":[{\"name\":\"profilingType\",\"ph\":\"X\","
                                    "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"cat\":\"op\"}]}")),
                        "chrome-trace");
    assert_string_equal(format_of(S("{\"schemaVersion\":1,\"deviceProperties\":[],"
                                    "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
                                    "\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2}]}")),
                        "kineto");
}

TEST_MAIN("input/incore/in_instr_exe", TF(rows_stand_one_behind_the_other_on_their_pipe),
          TF(addresses_become_hexadecimal), TF(a_table_of_lines_may_be_a_header_only),
          TF(lines_of_code_are_slices), TF(another_table_is_an_error),
          TF(a_trace_of_one_core_names_pipes_by_numbers),
          TF(traces_of_others_are_left_to_their_readers))
