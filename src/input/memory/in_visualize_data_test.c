#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/formats/json_write.h"
#include "base/testing.h"
#include "capture/capture.h"
#include "input/input.h"

/* An instruction, a pair of flags with its arrow, a counter: two pipes of one core. */
static const struct str trace = S_INIT(
    "{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":2,\"traceEvents\":["
    "{\"args\":{\"sort_index\":2},\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":\"c0\","
    "\"tid\":\"NA\"},"
    "{\"args\":{\"code\":\"a.cpp:1\\nb.cpp:2\",\"detail\":\"Src:OUT,\",\"pc_addr\":\"0x40\","
    "\"process_bytes\":\"512\"},\"dur\":0.25,\"name\":\"MOV\",\"ph\":\"X\",\"pid\":\"c0\","
    "\"tid\":\"MTE2\",\"ts\":1.0},"
    "{\"args\":{\"pc_addr\":\"0x44\"},\"dur\":0.5,\"name\":\"VADD\",\"ph\":\"X\",\"pid\":\"c0\","
    "\"tid\":\"VECTOR\",\"ts\":2.0},"
    "{\"args\":{\"detail\":\"PIPE:MTE2,\"},\"id\":\"a\",\"name\":\"SET_FLAG\",\"ph\":\"B\","
    "\"pid\":\"c0\",\"tid\":\"MTE2\",\"ts\":1.25},"
    "{\"args\":{},\"id\":\"a\",\"name\":\"SET_FLAG\",\"ph\":\"E\",\"pid\":\"c0\",\"tid\":\"MTE2\","
    "\"ts\":1.251},"
    "{\"args\":{},\"name\":\"WAIT_FLAG\",\"ph\":\"B\",\"pid\":\"c0\",\"tid\":\"VECTOR\","
    "\"ts\":0.5},"
    "{\"name\":\"WAIT_FLAG\",\"ph\":\"E\",\"pid\":\"c0\",\"tid\":\"VECTOR\",\"ts\":1.5},"
    "{\"cat\":\"MTE2ToVECTOR\",\"id\":\"c0_0\",\"name\":\"flow\",\"ph\":\"s\",\"pid\":\"c0\","
    "\"tid\":\"MTE2\",\"ts\":1.251},"
    "{\"cat\":\"MTE2ToVECTOR\",\"id\":\"c0_0\",\"name\":\"flow\",\"ph\":\"t\",\"pid\":\"c0\","
    "\"tid\":\"VECTOR\",\"ts\":1.5},"
    "{\"args\":{\"throughput(MB/s)\":7.5},\"name\":\"GM_TO_UB\",\"ph\":\"C\","
    "\"pid\":\"MTE Throughput\",\"tid\":0,\"ts\":3}]}");

static struct capture *cap;
static struct diag diag;
static struct text bin;

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    diag_init(&diag);
    bin = (struct text){0};
    return 0;
}

static int done(void **state)
{
    (void)state;
    diag_fini(&diag);
    capture_free(cap);
    text_free(&bin);
    return 0;
}

static void add_block(uint8_t type, uint8_t version, struct str payload)
{
    assert_true(bin_write_block(text_sink(&bin), type, version, payload));
}

static enum status read_bytes(struct str text)
{
    enum status st = input_read(
        &input_visualize_data,
        &(struct input_file){.path = "visualize_data.bin", .text = text, .diag = &diag}, cap);

    capture_seal(cap);
    return st;
}

static enum status read_bin(void)
{
    return read_bytes((struct str){bin.at, bin.n});
}

static struct str lane_name(size_t slice)
{
    return capture_text(cap, cap->lanes.at[cap->slices.lane[slice]].key.name);
}

static struct attr own(size_t slice, struct str key)
{
    return attrs_get(&cap->attrs, cap->slices.own[slice], capture_intern(cap, key));
}

TEST(events_become_slices_on_the_pipes_of_their_core)
{
    add_block(BIN_TRACE, BIN_MARK, trace);
    assert_int_equal(read_bin(), ST_OK);

    const struct slices *s = &cap->slices;
    assert_int_equal(s->n, 4); /* MTE2: MOV, SET_FLAG; VECTOR: WAIT_FLAG, VADD */
    assert_str(capture_text(cap, cap->lanes.at[0].key.process), "c0");
    assert_str(lane_name(0), "MTE2");
    assert_str(lane_name(2), "VECTOR");
    assert_int_equal(cap->lanes.at[0].key.kind, LANE_PIPE);
    assert_int_equal(s->begin[0], 1000);
    assert_int_equal(s->dur[0], 250);
    assert_int_equal(s->kind[0], SLICE_INSTR);
    assert_int_equal(s->begin[1], 1250);
    assert_int_equal(s->dur[1], 1);
    assert_int_equal(s->kind[1], SLICE_CONTROL);
    assert_int_equal(s->begin[2], 500);
    assert_int_equal(s->dur[2], 1000);
    assert_int_equal(s->kind[2], SLICE_WAIT);
    assert_int_equal(own(0, S("process_bytes")).number, 512);
    assert_str(capture_text(cap, own(1, S("detail")).text), "PIPE:MTE2,");
    assert_str(
        capture_text(cap, attrs_get(&cap->attrs, s->set[0], capture_intern(cap, S("code"))).text),
        "a.cpp:1\nb.cpp:2");
    assert_str(capture_text(cap, cap->facts.kind), "incore");
    assert_int_equal(cap->origin, ORIGIN_SIMULATED);
    assert_int_equal(cap->sources.at[0].lost, 0);
}

TEST(an_arrow_joins_the_flag_that_is_set_with_the_one_that_waits)
{
    add_block(BIN_TRACE, BIN_MARK, trace);
    assert_int_equal(read_bin(), ST_OK);
    assert_int_equal(cap->flows.n, 1);
    assert_int_equal(cap->flows.at[0].kind, FLOW_FLAG);
    assert_int_equal(cap->flows.at[0].from, 1);
    assert_int_equal(cap->flows.at[0].to, 2);
}

TEST(counters_become_series)
{
    add_block(BIN_TRACE, BIN_MARK, trace);
    assert_int_equal(read_bin(), ST_OK);
    assert_int_equal(cap->series.n, 1);
    assert_str(capture_text(cap, cap->series.at[0].name), "GM_TO_UB");
    assert_str(capture_text(cap, cap->series.at[0].unit), "throughput(MB/s)");
    assert_int_equal(cap->series.at[0].samples.at[0].at, 3000);
}

TEST(pairs_without_an_id_close_the_last_one_open)
{
    add_block(BIN_TRACE, BIN_MARK,
              S("{\"traceEvents\":["
                "{\"name\":\"SET_FLAG\",\"ph\":\"B\",\"pid\":\"c\",\"tid\":\"MTE2\",\"ts\":1.05},"
                "{\"name\":\"SET_FLAG\",\"ph\":\"B\",\"pid\":\"c\",\"tid\":\"MTE2\",\"ts\":2.05},"
                "{\"name\":\"SET_FLAG\",\"ph\":\"E\",\"pid\":\"c\",\"tid\":\"MTE2\",\"ts\":2.06},"
                "{\"name\":\"SET_FLAG\",\"ph\":\"E\",\"pid\":\"c\",\"tid\":\"MTE2\",\"ts\":2.07},"
                "{\"name\":\"SET_FLAG\",\"ph\":\"E\",\"pid\":\"c\",\"tid\":\"MTE2\",\"ts\":2.08},"
                "{\"name\":\"SET_FLAG\",\"ph\":\"B\",\"pid\":\"c\",\"tid\":\"MTE2\",\"ts\":9}]}"));
    assert_int_equal(read_bin(), ST_OK);
    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->slices.begin[0], 1050);
    assert_int_equal(cap->slices.dur[0], 1020);
    assert_int_equal(cap->slices.begin[1], 2050);
    assert_int_equal(cap->slices.dur[1], 10);
    assert_int_equal(cap->sources.at[0].lost, 2);
    assert_int_equal(diag_count(&diag, "incore.unpaired"), 2);
}

TEST(base_info_is_a_kernel_and_its_chip)
{
    add_block(BIN_BASE_INFO, BIN_MARK,
              S("{\"block_dim\":\"4\",\"duration\":300.12,\"name\":\"matmul\",\"op_type\":\"mix\","
                "\"soc\":\"Ascend910B4\"}"));
    assert_int_equal(read_bin(), ST_OK);
    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(cap->slices.dur[0], 300120);
    assert_str(capture_text(cap, cap->slices.name[0]), "matmul");
    assert_str(capture_slice_text(cap, 0, KEY_TYPE), "mix");
    assert_int_equal(capture_slice_attr(cap, 0, KEY_BLOCK_DIM).number, 4);
    assert_str(capture_text(cap, cap->facts.device_name), "Ascend910B4");
    assert_int_equal(cap->origin, ORIGIN_MEASURED);
}

TEST(a_file_without_a_trace_is_an_error)
{
    add_block(BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}"));
    assert_int_equal(read_bin(), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "visualize-data.no-trace"), 1);
}

TEST(a_cut_block_costs_what_is_behind_it)
{
    add_block(BIN_TRACE, BIN_MARK, trace);
    add_block(BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}"));
    bin.n -= 1;
    assert_int_equal(read_bin(), ST_OK);
    assert_int_equal(cap->slices.n, 4);
    assert_int_equal(cap->sources.at[0].lost, 1);
    assert_int_equal(diag_count(&diag, "visualize-data.cut"), 1);
}

TEST(a_damaged_event_costs_itself)
{
    add_block(BIN_TRACE, BIN_MARK,
              S("{\"traceEvents\":["
                "{\"name\":\"A\",\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"CUBE\",\"ts\":1,\"dur\":1},"
                "{\"name\":\"B\",\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"CUBE\",\"ts\":}2,\"dur\":1},"
                "{\"name\":\"C\",\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"CUBE\",\"ts\":3,\"dur\":-1},"
                "{\"name\":\"D\",\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"CUBE\",\"ts\":4,\"dur\":1}"
                "]}"));
    assert_int_equal(read_bin(), ST_OK);
    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->sources.at[0].lost, 2);
}

/* Whatever is read: an error says at which byte, and what is missing is counted. */
static void data_check(struct str text)
{
    char *exact = malloc(text.n > 0 ? text.n : 1); /* so that reading past the end shows */
    uint64_t losses = 0;
    bool has_place = false;

    if (text.n > 0)
        memcpy(exact, text.at, text.n);
    diag_fini(&diag);
    diag_init(&diag);
    capture_free(cap);
    cap = capture_new();
    enum status st = read_bytes((struct str){exact, text.n});
    free(exact);
    for (size_t i = 0; i < diag.entries.n; i++) {
        losses += diag.entries.at[i].severity == SEV_LOSS;
        has_place = has_place || (diag.entries.at[i].severity == SEV_ERROR &&
                                  diag.entries.at[i].first[0].where.byte > 0);
    }
    if (st != ST_OK)
        assert_true(has_place);
    else
        assert_true((cap->sources.at[0].lost > 0) == (losses > 0));
}

TEST(any_byte_changed_gives_an_error_with_its_place_or_a_counted_loss)
{
    add_block(BIN_TRACE, BIN_MARK, trace);
    add_block(BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}"));
    assert_in_range(bin.n, 1000, 4096);
    for (size_t i = 0; i < bin.n; i++) {
        char was = bin.at[i];
        for (int value = 0; value < 256; value++) {
            if ((char)value == was)
                continue;
            bin.at[i] = (char)value;
            data_check((struct str){bin.at, bin.n});
        }
        bin.at[i] = was;
    }
}

TEST(a_thousand_truncations_give_an_error_with_its_place_or_a_counted_loss)
{
    add_block(BIN_TRACE, BIN_MARK, trace);
    add_block(BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}"));
    for (size_t i = 0; i < 1000; i++)
        data_check((struct str){bin.at, i * bin.n / 1000});
}

TEST_MAIN("input/memory/in_visualize_data", TF(events_become_slices_on_the_pipes_of_their_core),
          TF(an_arrow_joins_the_flag_that_is_set_with_the_one_that_waits),
          TF(counters_become_series), TF(pairs_without_an_id_close_the_last_one_open),
          TF(base_info_is_a_kernel_and_its_chip), TF(a_file_without_a_trace_is_an_error),
          TF(a_cut_block_costs_what_is_behind_it), TF(a_damaged_event_costs_itself),
          TF(any_byte_changed_gives_an_error_with_its_place_or_a_counted_loss),
          TF(a_thousand_truncations_give_an_error_with_its_place_or_a_counted_loss))
