/*
 * Files for MindStudio Insight, from small captures.
 */
#include "render/insight/insight.h"

#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/formats/json_write.h"
#include "base/testing.h"
#include "capture/capture.h"

static struct capture *cap;
static struct cut cut;
static struct text out;

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    cap->clock.hz = 1000000000;
    out = (struct text){0};
    return 0;
}

static int done(void **state)
{
    (void)state;
    cut_fini(&cut);
    capture_free(cap);
    text_free(&out);
    return 0;
}

static strid id(const char *text)
{
    return capture_intern(cap, str_of(text));
}

static uint32_t insight_add(const char *core, const char *pipe, const char *name, nanos begin,
                            nanos dur, const char *pc, const char *code, int64_t bytes)
{
    struct attr set[2] = {attr_text(id("pc_addr"), id(pc)), attr_text(id("code"), id(code))};
    struct attr own[2] = {attr_text(id("detail"), id("Src:OUT,")),
                          attr_int(id("process_bytes"), bytes)};
    struct slice s = {
        .begin = begin,
        .dur = dur,
        .lane = capture_lane(cap, (struct lane_key){.kind = LANE_PIPE,
                                                    .device = -1,
                                                    .process = id(core),
                                                    .name = id(pipe)}),
        .name = id(name),
        .set = attrs_set(&cap->attrs, set, 2),
        .own = attrs_own(&cap->attrs, own, bytes > 0 ? 2 : 1),
        .kind = SLICE_INSTR,
    };

    return capture_slice(cap, &s);
}

static void seal(void)
{
    capture_seal(cap);
    cut_init(&cut, cap, &(struct cut_options){0});
}

static struct str insight_written(void)
{
    return (struct str){out.at, out.n};
}

/* The payload of the first block of a type. */
static struct str block_of(uint8_t type)
{
    struct timeline_options how = {0};
    struct bin_blocks b;
    struct bin_block block;

    if (out.n == 0)
        assert_true(timeline_insight.write(&cut, &how, text_sink(&out)));
    bin_blocks_open(&b, insight_written());
    while (bin_blocks_next(&b, &block))
        if (block.type == type)
            return block.payload;
    assert_int_equal(b.fault, BIN_FINE);
    return S("");
}

static void assert_has(struct str text, const char *part)
{
    if (!str_contains(text, str_of(part)))
        print_error("%s\nis not in\n%.*s\n", part, STR_ARGS(text));
    assert_true(str_contains(text, str_of(part)));
}

/* Two lines of a.cpp: line 7 at 0x40, 0x44 and 0x60 on two cores, line 9 once. b.cpp has no text.
 */
TEST(lines_of_files_that_travel_along_get_numbers)
{
    capture_document_add(cap, (struct document){.type = BIN_SOURCE,
                                                .version = BIN_MARK,
                                                .path = S("a.cpp"),
                                                .text = S("int x;\n")});
    cap->facts.device_name = id("Ascend910B4"); /* 1650 MHz: 1000 ns are 1650 cycles */
    insight_add("core0.veccore0", "MTE2", "MOV", 0, 1000, "0x40", "a.cpp:7", 64);
    insight_add("core0.veccore0", "MTE2", "MOV", 1000, 1000, "0x44",
                "x/ascend-toolkit/k.h:1\na.cpp:7", 64);
    insight_add("core0.veccore1", "MTE2", "MOV", 0, 2000, "0x60", "a.cpp:7", 0);
    insight_add("core0.veccore1", "MTE2", "MOV", 0, 1000, "0x64", "a.cpp:9", 0);
    insight_add("core0.veccore1", "MTE2", "MOV", 0, 1000, "0x68", "b.cpp:1", 0);
    seal();
    struct str files = block_of(BIN_API_FILE);
    assert_has(files, "\"Cores\":[\"core0.veccore0\",\"core0.veccore1\"]");
    assert_has(files, "\"Files\":[{\"Lines\":[{\"Address Range\":[[\"0x00000040\",\"0x00000044\"],"
                      "[\"0x00000060\",\"0x00000060\"]],\"Cycles\":[3300,3300],"
                      "\"GPR Count\":[0,0],\"Instructions Executed\":[2,1],\"Line\":7,"
                      "\"Process Bytes\":[128,-1]},{\"Address Range\"");
    assert_has(files, "\"Line\":9,\"Process Bytes\":[-1,-1]}],\"Source\":\"a.cpp\"}]");
    assert_has(block_of(BIN_API_INSTR), "\"AscendC Inner Code\":\"a.cpp:7\",\"Cycles\":[1650,0]");
}

TEST(a_table_that_is_there_is_written_as_it_is_and_made_anew_for_a_part)
{
    const char *lanes[] = {"MTE2"};

    capture_document_add(
        cap,
        (struct document){.type = BIN_API_INSTR, .version = BIN_NEW, .text = S("{\"Cores\":[]}")});
    insight_add("core0", "MTE2", "MOV", 0, 10, "0x40", "", 0);
    insight_add("core0", "VECTOR", "VADD", 0, 10, "0x44", "", 0);
    seal();
    assert_str(block_of(BIN_API_INSTR), "{\"Cores\":[]}");
    cut_fini(&cut);
    text_free(&out);
    out = (struct text){0};
    cut_init(&cut, cap, &(struct cut_options){.lanes = lanes, .lanes_n = 1});
    struct str table = block_of(BIN_API_INSTR);
    assert_has(table, "\"Address\":\"0x40\"");
    assert_int_equal(str_find(table, S("0x44")), table.n);
}

/* Cycles come back exactly: what ends where another begins still does. */
TEST(cycles_are_written_so_that_sums_are_exact)
{
    struct timeline_options how = {0};
    double ts, dur, next;

    cap->clock.hz = 1850000000;
    insight_add("core0", "SCALAR", "A", 11035, 1, "0x40", "", 0);
    insight_add("core0", "SCALAR", "B", 11036, 3, "0x44", "", 0);
    seal();
    assert_true(insight_write_trace(&cut, &how, text_sink(&out)));
    const char *text = arena_cstr(&cap->arena, insight_written());
    const char *a = strstr(text, "\"name\":\"A\""), *b = strstr(text, "\"name\":\"B\"");
    assert_non_null(a);
    assert_non_null(b);
    ts = strtod(strstr(a, "\"ts\":") + 5, NULL);
    next = strtod(strstr(b, "\"ts\":") + 5, NULL);
    const char *before = a;
    while (strncmp(before, "\"dur\":", 6) != 0)
        before--;
    dur = strtod(before + 6, NULL);
    assert_true(ts + dur == next);
    assert_true(ts * 1850 > 11034.99 && ts * 1850 < 11035.01);
}

/* 0x40 runs twice, overlapped: 20 us are 37 000 cycles at 1850 MHz, and 15 us of them busy. */
TEST(sums_of_a_core_come_with_the_most_cycles_first)
{
    insight_add("core0", "MTE2", "MOV,\"x\"", 0, 10000, "0x40", "", 0);
    insight_add("core0", "MTE2", "MOV,\"x\"", 5000, 10000, "0x40", "", 0);
    insight_add("core0", "VECTOR", "VADD", 0, 50000, "0x44", "k.cpp:3", 0);
    insight_add("core1", "VECTOR", "VADD", 0, 90000, "0x48", "k.cpp:3", 0);
    seal();
    assert_true(insight_write_instr_exe(&cut, id("core0"), text_sink(&out)));
    assert_str(insight_written(), "instr,addr,pipe,call_count,cycles,running_time(us),detail\n"
                                  "VADD,68,VECTOR,1,92500,50.000000,\"Src:OUT,\"\n"
                                  "\"MOV,\"\"x\"\"\",64,MTE2,2,37000,15.000000,\"Src:OUT,\"\n");
    out.n = 0;
    assert_true(insight_write_code_exe(&cut, id("core0"), text_sink(&out)));
    assert_str(insight_written(), "code,call_count,cycles,running_time(us)\n"
                                  "k.cpp:3,1,92500,50.000000\n");
}

TEST(a_trace_of_one_core_spreads_what_overlaps_over_threads)
{
    insight_add("core0", "MTE2", "MOV", 0, 10, "0x40", "", 0);
    insight_add("core0", "MTE2", "MOV", 10, 10, "0x40", "", 0); /* the tick at 10 is taken */
    insight_add("core0", "MTE2", "MOV", 21, 10, "0x40", "", 0);
    insight_add("core1", "MTE2", "MOV", 0, 10, "0x40", "", 0);
    seal();
    assert_true(insight_write_core_trace(&cut, id("core0"), text_sink(&out)));
    assert_has(insight_written(),
               "{\"args\":{\"name\":\"MTE2\"},\"name\":\"process_name\",\"ph\":\"M\","
               "\"pid\":60,\"tid\":0}");
    assert_has(insight_written(), "{\"args\":{\"name\":\"MTE2_2\"},\"name\":\"thread_name\"");
    assert_has(insight_written(), "\"pid\":60,\"tid\":2,\"ts\":0.010}");
    assert_has(insight_written(), "\"pid\":60,\"tid\":1,\"ts\":0.021}");
    assert_int_equal(str_find(insight_written(), S("MTE2_3")), insight_written().n);
}

TEST(cores_come_in_the_order_they_are_drawn)
{
    strid *cores;

    insight_add("core1.veccore0", "MTE2", "MOV", 0, 10, "0x40", "", 0);
    insight_add("core0.veccore1", "MTE2", "MOV", 0, 10, "0x40", "", 0);
    insight_add("core0.cubecore0", "MTE2", "MOV", 0, 10, "0x40", "", 0);
    seal();
    assert_int_equal(insight_cores(&cut, &cap->arena, &cores), 3);
    assert_str(capture_text(cap, cores[0]), "core0.cubecore0");
    assert_str(capture_text(cap, cores[1]), "core0.veccore1");
    assert_str(capture_text(cap, cores[2]), "core1.veccore0");
}

TEST_MAIN("render/insight/insight", TF(lines_of_files_that_travel_along_get_numbers),
          TF(a_table_that_is_there_is_written_as_it_is_and_made_anew_for_a_part),
          TF(cycles_are_written_so_that_sums_are_exact),
          TF(sums_of_a_core_come_with_the_most_cycles_first),
          TF(a_trace_of_one_core_spreads_what_overlaps_over_threads),
          TF(cores_come_in_the_order_they_are_drawn))
