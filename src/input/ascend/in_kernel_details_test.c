#include <stdio.h>
#include <stdlib.h>

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

static enum status details_read_text(struct str text)
{
    enum status st =
        input_read(&input_kernel_details,
                   &(struct input_file){.path = "k.csv", .text = text, .diag = &diag}, cap);

    capture_seal(cap);
    return st;
}

static const struct str level1 = S_INIT(
    "Step Id,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
    "Wait Time(us),Block Dim,Input Shapes\r\n"
    "50,11051,2,MatMul1,MatMul,AI_CORE,1736408883704643.212\t,53.741,0,32,\"\"\"32,3;16\"\"\"\r\n"
    "50,N/A,N/A,hcom_allReduce__586_0_1,hcom_allReduce_,HCCL,\"1736408883704801.156\t\",6.54,"
    "104.202,0,N/A\r\n");

TEST(a_row_becomes_a_slice_on_the_lane_of_its_stream)
{
    assert_int_equal(details_read_text(level1), ST_OK);

    const struct slices *s = &cap->slices;
    assert_int_equal(s->n, 2);
    assert_int_equal(s->begin[0], 1736408883704643212);
    assert_int_equal(s->dur[0], 53741);
    assert_str(capture_text(cap, s->name[0]), "MatMul1");
    assert_str(capture_text(cap, cap->lanes.at[s->lane[0]].key.name), "2");
    assert_str(capture_slice_text(cap, 0, KEY_TYPE), "MatMul");
    assert_str(capture_slice_text(cap, 0, KEY_INPUT_SHAPES), "32,3;16");
    assert_str(capture_slice_text(cap, 0, KEY_STEP), "50");
    assert_int_equal(capture_slice_attr(cap, 0, KEY_BLOCK_DIM).number, 32);
    assert_int_equal(cap->has, HAS_KERNELS | HAS_COMM | HAS_SHAPES | HAS_STEPS);
}

TEST(a_collective_without_a_stream_gets_a_lane_of_its_own)
{
    details_read_text(level1);

    const struct lane *lane = &cap->lanes.at[cap->slices.lane[1]];
    assert_int_equal(cap->slices.kind[1], SLICE_COMM);
    assert_int_equal(lane->key.kind, LANE_COMM);
    assert_int_equal(capture_slice_attr(cap, 1, KEY_WAIT).time, 104202);
    assert_int_equal(capture_slice_attr(cap, 1, KEY_TASK).type, ATTR_NONE);
    assert_int_equal(capture_slice_attr(cap, 1, KEY_INPUT_SHAPES).type, ATTR_NONE);
}

TEST(other_generations_of_the_header_are_understood)
{
    details_read_text(S("Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),"
                        "Task Wait Time(us),Block Num\n"
                        "3,Add1,Add,KERNEL_AIVEC,100.5,2.0004,1.25,8\n"));

    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(cap->slices.begin[0], 100500);
    assert_int_equal(cap->slices.dur[0], 2000);
    assert_int_equal(cap->lanes.at[0].key.device, 3);
    assert_str(capture_slice_text(cap, 0, KEY_CORE), "AI_VECTOR_CORE");
}

TEST(our_own_table_is_read_back)
{
    assert_int_equal(
        details_read_text(S("start_ns,dur_ns,device,stream,name,type,core,class,step,wait_ns\n"
                            "1748736000000000001,350,0,7,Memcpy HtoD,,,copy,3,12\n"
                            "1748736000000000400,20,0,7,gemm,,,compute,3,49\n")),
        ST_OK);

    assert_int_equal(cap->slices.begin[0], 1748736000000000001);
    assert_int_equal(cap->slices.dur[0], 350);
    assert_int_equal(cap->slices.kind[0], SLICE_COPY);
    assert_int_equal(cap->slices.kind[1], SLICE_COMPUTE);
    assert_int_equal(capture_slice_attr(cap, 0, KEY_WAIT).bits, 12);
    assert_true(cap->clock.has_unix);
}

TEST(our_table_of_all_slices_is_no_kernel_table)
{
    assert_int_equal(
        details_read_text(S("start_ns,dur_ns,process,lane,kind,name\n1,2,p,l,host_op,x\n")),
        ST_FORMAT);
}

TEST(a_row_of_many_pages_counts_as_the_rows_that_it_hides)
{
    enum { ROWS = 1000, ROW = 10, HOLE = 50000 };
    static char text[64 + ROWS * ROW + HOLE];
    size_t n = (size_t)snprintf(text, sizeof(text), "Name,Start Time(us),Duration(us)\n");

    for (int i = 0; i < ROWS; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "a,%05d,1\n", i);
        if (i != ROWS / 2)
            continue;
        memset(text + n, 0, HOLE - 1);
        text[n + HOLE - 1] = '\n';
        n += HOLE;
    }
    assert_int_equal(details_read_text((struct str){text, n}), ST_OK);
    assert_int_equal(cap->slices.n, ROWS);
    assert_int_equal(diag_count(&diag, "input.damaged-region"), 1);
    assert_in_range(cap->sources.at[0].lost, HOLE / ROW * 9 / 10, HOLE / ROW * 11 / 10);
}

TEST(damaged_rows_are_counted_and_the_rest_is_read)
{
    assert_int_equal(details_read_text(S("Name,Start Time(us),Duration(us)\n"
                                         "good,1,2\n"
                                         "short,1\n"
                                         "late,N/A,2\n"
                                         "odd,1,two\n"
                                         "back,1,-2\n"
                                         "long,1,604800000000.001\n"
                                         "good,3,604800000000\n")),
                     ST_OK);

    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(diag_count(&diag, "kernel-details.field-count"), 1);
    assert_int_equal(diag_count(&diag, "kernel-details.no-start"), 1);
    assert_int_equal(diag_count(&diag, "kernel-details.no-duration"), 1);
    assert_int_equal(diag_count(&diag, "kernel-details.bad-duration"), 2);
    assert_int_equal(diag.entries.at[0].first[0].where.line, 3);
    assert_int_equal(cap->sources.at[0].rows, 2);
    assert_int_equal(cap->sources.at[0].lost, 5);
}

TEST(a_truncated_table_keeps_its_whole_rows)
{
    details_read_text(str_part(level1, 0, level1.n - 60));

    assert_int_equal(cap->slices.n, 1);
    assert_int_equal(cap->sources.at[0].lost, 1);
}

TEST(a_header_without_rows_is_a_capture_without_kernels)
{
    assert_int_equal(details_read_text(S("Name,Start Time(us),Duration(us)\n")), ST_OK);
    assert_int_equal(cap->slices.n, 0);
}

static int score(struct str head)
{
    return input_probe(&input_kernel_details, &(struct probe){"x", S("x"), head});
}

TEST(only_tables_with_starts_and_durations_are_ours)
{
    assert_int_equal(score(level1), 90);
    assert_int_equal(score(S("\xef\xbb\xbfName,Start Time(us),Duration(us)\n")), 90);
    assert_int_equal(score(S("OP Type,Core Type,Count,Total Time(us)\nMatMul,AI_CORE,1,2\n")), 0);
    assert_int_equal(score(S("")), 0);
    assert_int_equal(score(S("\x80\x00\"\n,,,\"")), 0);
    assert_int_equal(details_read_text(S("time,name\n1,2\n")), ST_FORMAT);
}

TEST(cells_that_run_together_are_not_taken_for_equal_rows)
{
    /* Without the commas between them type and stream read the same in both rows. */
    details_read_text(
        S("Name,Type,Start Time(us),Duration(us),Stream ID\nA,Add1,1,1,2\nA,Add,2,1,12\n"));

    assert_int_equal(cap->lanes.n, 2);
    assert_str(capture_slice_text(cap, 0, KEY_TYPE), "Add1");
    assert_str(capture_slice_text(cap, 1, KEY_TYPE), "Add");
}

TEST(one_name_may_have_many_shapes_and_kinds)
{
    details_read_text(S("Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes\n"
                        "A,T,AI_CORE,1,1,\"\"\"1,2\"\"\"\nA,T,AI_CORE,2,1,\"\"\"3,4\"\"\"\n"
                        "A,T,AI_CPU,3,1,\"\"\"1,2\"\"\"\nA,T,AI_CORE,4,1,\"\"\"1,2\"\"\"\n"
                        "AllGather,T,AI_CPU,5,1,\"\"\"1,2\"\"\"\n"));

    const struct slices *s = &cap->slices;
    assert_int_equal(s->set[0], s->set[3]);
    assert_int_not_equal(s->set[0], s->set[1]);
    assert_str(capture_slice_text(cap, 1, KEY_INPUT_SHAPES), "3,4");
    assert_int_equal(s->kind[1], SLICE_COMPUTE);
    assert_int_equal(s->kind[2], SLICE_AICPU);
    assert_int_equal(s->kind[4], SLICE_COMM); /* the same cells under another name */
}

TEST(a_column_that_comes_along_may_be_the_last)
{
    details_read_text(S("Name,Start Time(us),Duration(us),Block Dim,HF32 Eligible,aic_time\n"
                        "A,1,1,4,NO,7\nA,2,1,4,YES,7\n"));

    assert_int_equal(cap->slices.n, 2);
    assert_int_equal(cap->slices.set[0], cap->slices.set[1]);
}

static const struct str counters = S_INIT("Name,Start Time(us),Duration(us),Context ID,"
                                          "aicore_time(us),aic_mac_ratio,cube_utilization(%)\n"
                                          "A,1,1,N/A,12.5,0.25,N/A\n");

TEST(counters_are_kept_when_they_are_asked_for)
{
    struct input_options options = input_defaults();
    struct input_file in = {.path = "k.csv", .text = counters, .diag = &diag, .options = &options};

    options.pmu = true;
    assert_int_equal(input_read(&input_kernel_details, &in, cap), ST_OK);

    attr_run own = cap->slices.own[0];
    strid ratio = intern_find(&cap->strings, S("aic_mac_ratio"));
    strid cube = intern_find(&cap->strings, S("cube_utilization(%)"));
    assert_true(attrs_get(&cap->attrs, own, ratio).real == 0.25);
    assert_int_equal(attrs_get(&cap->attrs, own, cube).type, ATTR_NONE);
    assert_int_equal(intern_find(&cap->strings, S("Context ID")), 0);
}

TEST(counters_cost_nothing_when_nobody_asks)
{
    details_read_text(counters);

    assert_int_equal(cap->slices.own[0], 0);
}

TEST(a_table_read_through_a_window_is_the_same_table)
{
    enum { ROWS = 40000 }; /* some 2 MB: several windows */
    char path[] = "/tmp/strata-kernels-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");

    assert_non_null(f);
    fputs("Name,Type,Start Time(us),Duration(us),Stream ID,Input Shapes\n", f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "Op%d,Type%d,%d.%03d\t,0.5,%d,\"\"\"%d,7;8\"\"\"\n", i % 100, i % 7, i, i % 1000,
                i % 3, i % 5);
    fclose(f);

    assert_int_equal(
        input_read(&input_kernel_details, &(struct input_file){.path = path, .diag = &diag}, cap),
        ST_OK);
    remove(path);
    assert_int_equal(cap->slices.n, ROWS);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(cap->slices.begin[i], i * 1000 + i % 1000);
    assert_str(capture_slice_text(cap, 39999, KEY_INPUT_SHAPES), "4,7;8");
    assert_str(capture_slice_text(cap, 39999, KEY_TYPE), "Type1");
    assert_str(capture_text(cap, cap->lanes.at[cap->slices.lane[39999]].key.name), "0");
    assert_int_equal(cap->sources.at[0].rows, ROWS);
}

/* Rows that never repeat are read another way after a while; it must not show. */
TEST(rows_that_never_repeat_are_read_alike)
{
    enum { UNIQUE = 9000, AGAIN = UNIQUE - 10 }; /* the last ones have the shapes of the first */
    static char text[UNIQUE * 96];
    char want[32];
    attr_run sets[2] = {0, 1};
    size_t n = (size_t)snprintf(text, sizeof(text),
                                "Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
                                "Input Shapes\n");

    for (int i = 0; i < UNIQUE; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              i % 2 == 0 ? "%s,k%d,%s,%s,%d.000,1.500,\"%d,2\"\n"
                                         : "%s,k%d,%s,%s,%d.000,1.500,\"\"\"%d,2\"\"\"\n",
                              i % 10 == 3 ? "N/A" : "7", i,
                              i % 10 == 3 ? "hcom_allReduce_" : "MatMul",
                              i % 10 == 3 ? "HCCL" : "AI_CORE", i * 10, i < AGAIN ? i : i - AGAIN);
    assert_int_equal(details_read_text((struct str){text, n}), ST_OK);
    assert_int_equal(cap->slices.n, UNIQUE);
    assert_int_equal(cap->sources.at[0].rows, UNIQUE);
    for (size_t i = 0; i < UNIQUE; i++) {
        int row = (int)(cap->slices.begin[i] / 10000);
        bool is_comm = row % 10 == 3;
        snprintf(want, sizeof(want), "k%d", row);
        assert_string_equal(capture_text(cap, cap->slices.name[i]).at, want);
        snprintf(want, sizeof(want), "%d,2", row < AGAIN ? row : row - AGAIN);
        assert_string_equal(capture_slice_text(cap, i, KEY_INPUT_SHAPES).at, want);
        assert_int_equal(cap->slices.kind[i], is_comm ? SLICE_COMM : SLICE_COMPUTE);
        assert_int_equal(cap->lanes.at[cap->slices.lane[i]].key.kind,
                         is_comm ? LANE_COMM : LANE_STREAM);
        if (row % AGAIN == 1)
            sets[row > AGAIN] = cap->slices.set[i];
    }
    assert_int_equal(sets[0], sets[1]);
}

TEST_MAIN("input/ascend/in_kernel_details", TF(a_row_becomes_a_slice_on_the_lane_of_its_stream),
          TF(a_collective_without_a_stream_gets_a_lane_of_its_own),
          TF(other_generations_of_the_header_are_understood), TF(our_own_table_is_read_back),
          TF(our_table_of_all_slices_is_no_kernel_table),
          TF(damaged_rows_are_counted_and_the_rest_is_read),
          TF(a_row_of_many_pages_counts_as_the_rows_that_it_hides),
          TF(a_truncated_table_keeps_its_whole_rows),
          TF(a_header_without_rows_is_a_capture_without_kernels),
          TF(only_tables_with_starts_and_durations_are_ours),
          TF(cells_that_run_together_are_not_taken_for_equal_rows),
          TF(a_column_that_comes_along_may_be_the_last),
          TF(one_name_may_have_many_shapes_and_kinds),
          TF(counters_are_kept_when_they_are_asked_for), TF(counters_cost_nothing_when_nobody_asks),
          TF(a_table_read_through_a_window_is_the_same_table),
          TF(rows_that_never_repeat_are_read_alike))
