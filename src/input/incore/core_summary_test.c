#include "input/incore/core_summary.h"

#include "base/testing.h"
#include "capture/capture.h"
#include "input/input.h"

static const struct str log_text = S_INIT("----- AiCore Summary Log -----\n"
                                          "kernal total ticks : 300\n"
                                          "Trace_Name           | Total_Num \n"
                                          "=====\n"
                                          "mte2_cubecore0_su_busy_cycle  | 200\n"
                                          "cube.cube_cubecore0_mac_busy_cycle | 90\n"
                                          "12  : CCU.scalar_veccore1_su_busy_cycle | 44\n"
                                          "++core: 0, subcore: 0, start: 274, tick: 22951++.\n");

TEST(counters_tell_where_they_were_counted_and_of_which_pipe)
{
    struct str rest = log_text;
    struct core_counter c;

    assert_true(core_summary_next(&rest, &c));
    assert_str(c.name, "kernel_total_ticks");
    assert_int_equal(c.value, 300);
    assert_int_equal(c.sub.n + c.pipe.n, 0);
    assert_true(core_summary_next(&rest, &c));
    assert_str(c.name, "mte2_cubecore0_su_busy_cycle");
    assert_str(c.sub, "cubecore0");
    assert_str(c.pipe, "MTE2");
    assert_int_equal(c.value, 200);
    assert_true(core_summary_next(&rest, &c)); /* a part of the cube is not the cube */
    assert_int_equal(c.pipe.n, 0);
    assert_true(core_summary_next(&rest, &c));
    assert_str(c.name, "CCU.scalar_veccore1_su_busy_cycle");
    assert_str(c.sub, "veccore1");
    assert_str(c.pipe, "SCALAR");
    assert_false(core_summary_next(&rest, &c));
}

TEST(the_name_of_a_log_says_whether_it_has_busy_times)
{
    assert_true(core_summary_has_busy(S("core0_summary_log")));
    assert_false(core_summary_has_busy(S("core0.cubecore0_su_perf_summary_log")));
    assert_true(core_summary_is_log(S("core0.cubecore0_su_perf_summary_log")));
    assert_false(core_summary_is_log(S("coredump_summary_log")));
}

TEST(a_log_becomes_series_of_its_core)
{
    struct capture *cap = capture_new();
    struct diag d;

    diag_init(&d);
    struct input_file in = {.path = "x/core3_summary_log", .text = log_text, .diag = &d};
    assert_int_equal(input_read(&input_core_summary, &in, cap), ST_OK);
    assert_int_equal(cap->series.n, 4);
    assert_str(capture_text(cap, cap->series.at[0].process), "core3");
    assert_str(capture_text(cap, cap->series.at[1].process), "core3.cubecore0");
    assert_true(cap->series.at[1].samples.at[0].value == 200);
    assert_int_equal(cap->sources.at[0].rows, 4);
    in.text = S("nothing");
    assert_int_equal(input_read(&input_core_summary, &in, cap), ST_FORMAT);
    diag_fini(&d);
    capture_free(cap);
}

TEST_MAIN("input/incore/core_summary", T(counters_tell_where_they_were_counted_and_of_which_pipe),
          T(the_name_of_a_log_says_whether_it_has_busy_times), T(a_log_becomes_series_of_its_core))
