#include "analysis/diagnose/accounting.h"
#include "analysis/diagnose/testing_diagnose.h"
#include "analysis/study.h"

/* Idle time of first calls, of all steps. */
static nanos start_up(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    start_study();
    return study_accounting(&study)->all.by[ACCOUNT_IDLE + CAUSE_START_UP];
}

/* `n` kernels of 1 ms back to back from `at` on. */
static void loop(nanos at, int n)
{
    for (int i = 0; i < n; i++, at += MS)
        launch(at, at + 5 * US, at + 6 * US, at + 995 * US);
}

/* A new kernel, whose code goes to the device behind its launch as well. */
TEST(a_first_kernel_may_begin_behind_its_launch)
{
    loop(0, 5);
    launch_named("convolution", 5 * MS, 25 * MS, 32 * MS, 33 * MS);
    loop(33 * MS, 5);
    assert_true(start_up() > 19 * MS);
}

/* Ten milliseconds after the call it waits for something else. */
TEST(a_kernel_that_begins_much_later_waits)
{
    loop(0, 5);
    launch_named("convolution", 5 * MS, 25 * MS, 40 * MS, 41 * MS);
    loop(41 * MS, 5);
    assert_int_equal(start_up(), 0);
}

/* One launch in all has no usual length of its own: launches take microseconds. */
TEST(a_launch_alone_is_compared_with_launches_anywhere)
{
    task("7", SLICE_COPY, "Memcpy HtoD (Pageable -> Device)", 0, 400 * US);
    launch_named("convolution", 400 * US, 900 * US, 901 * US, 902 * US);
    assert_true(start_up() > 450 * US);
}

TEST(a_launch_alone_that_is_quick_is_none)
{
    task("7", SLICE_COPY, "Memcpy HtoD (Pageable -> Device)", 0, 400 * US);
    launch_named("convolution", 400 * US, 600 * US, 601 * US, 602 * US);
    assert_int_equal(start_up(), 0);
}

/* 80 ms without events before a new kernel; at their end `lookups` of the driver's entry points. */
static void be_silent_before(const char *kernel, int lookups)
{
    nanos at = 85 * MS;

    loop(0, 5);
    for (int i = 0; i < lookups; i++, at += US)
        host(SLICE_RUNTIME, "cuGetProcAddress_v2", at, at + US / 2);
    launch_named(kernel, 86 * MS, 86 * MS + 5 * US, 86 * MS + 6 * US, 87 * MS);
    loop(87 * MS, 5);
}

TEST(a_library_that_looks_up_entry_points_sets_itself_up)
{
    be_silent_before("convolution", 300);
    assert_true(start_up() > 79 * MS);
}

TEST(a_silence_without_them_is_no_start_up)
{
    be_silent_before("convolution", 0);
    assert_int_equal(start_up(), 0);
}

/* The device knows the kernel: what was loaded is for something else. */
TEST(nor_is_one_before_a_known_kernel)
{
    be_silent_before("elementwise", 300);
    assert_int_equal(start_up(), 0);
}

/* What the host does right before it loads code prepares it; loads are not compared with others. */
TEST(a_silence_that_ends_in_a_load_belongs_to_it)
{
    nanos at = 5 * MS;

    loop(0, 5);
    for (int i = 0; i < 4; i++, at += 20 * MS)
        host(SLICE_RUNTIME, "cuLibraryLoadData", at + 12 * MS, at + 20 * MS);
    launch_named("convolution", at, at + 5 * US, at + 6 * US, at + MS);
    loop(at + MS, 5);
    assert_true(start_up() > 79 * MS);
}

/* `n` calls of an operator that launches a kernel of its own, the first 60 ms long. */
static void call_operator(int n, nanos first)
{
    nanos at = 5 * MS;

    loop(0, 5);
    for (int i = 0; i < n; i++) {
        nanos before = i == 0 ? first : 20 * US;
        char kernel[16];
        snprintf(kernel, sizeof(kernel), "conv_%d", i);
        host(SLICE_HOST_OP, "aten::cudnn_convolution", at, at + before + 100 * US);
        launch_named(kernel, at + before, at + before + 5 * US, at + before + 6 * US,
                     at + before + 90 * US);
        at += before + 100 * US;
    }
    loop(at, 5);
}

TEST(the_first_call_of_an_operator_sets_up_what_it_uses)
{
    call_operator(8, 60 * MS);
    assert_true(start_up() > 59 * MS);
}

/* Of two nobody knows which is usual, and three times as long is not many times. */
TEST(operators_without_others_to_compare_are_no_start_up)
{
    call_operator(2, 60 * MS);
    assert_int_equal(start_up(), 0);
}

TEST(a_first_call_that_is_a_little_longer_is_none)
{
    call_operator(8, 360 * US);
    assert_int_equal(start_up(), 0);
}

TEST_MAIN("analysis/idle/host_start_up", CASE(a_first_kernel_may_begin_behind_its_launch),
          CASE(a_kernel_that_begins_much_later_waits),
          CASE(a_launch_alone_is_compared_with_launches_anywhere),
          CASE(a_launch_alone_that_is_quick_is_none),
          CASE(a_library_that_looks_up_entry_points_sets_itself_up),
          CASE(a_silence_without_them_is_no_start_up), CASE(nor_is_one_before_a_known_kernel),
          CASE(a_silence_that_ends_in_a_load_belongs_to_it),
          CASE(the_first_call_of_an_operator_sets_up_what_it_uses),
          CASE(operators_without_others_to_compare_are_no_start_up),
          CASE(a_first_call_that_is_a_little_longer_is_none))
