/*
 * Runs against the stand-in for NVML (tests/fake-nvml), which writes down every change of clocks.
 */
#include "driver/clocks.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing_folder.h"

static struct nvml nvml;
static struct nvml_gpu *gpu;
static const char uuid[] = "GPU-00112233-4455-6677-8899-aabbccddeeff";

static int card_in(void **state)
{
    if (enter(state) != 0)
        return 1;
    setenv("FAKE_NVML_LOG", scratch_path("log"), 1);
    setenv("FAKE_NVML_STATE", scratch_path("state"), 1);
    setenv("XDG_STATE_HOME", scratch, 1);
    unsetenv("FAKE_NVML_SET");
    unsetenv("FAKE_NVML_DRIFT");
    return 0;
}

static int card_out(void **state)
{
    nvml_close(&nvml);
    return leave(state);
}

static void open_nvml(void)
{
    assert_int_equal(nvml_open(&nvml, &arena, NULL), NVML_OK);
    assert_int_equal(nvml.by_uuid(uuid, &gpu), NVML_OK);
}

static const char *calls(void)
{
    static char text[512];
    FILE *f = fopen(scratch_path("log"), "r");
    size_t n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;

    if (f != NULL)
        fclose(f);
    text[n] = 0;
    return text;
}

static const char *journal(void)
{
    return scratch_path(arena_printf(&arena, "strata/clocks-%s.json", uuid));
}

TEST(policies_are_read_from_text)
{
    struct clock_want want;

    assert_true(clock_want_parse("base", &want) && want.policy == CLOCK_BASE);
    assert_true(clock_want_parse("1200", &want) && want.policy == CLOCK_MHZ && want.mhz == 1200);
    assert_false(clock_want_parse("", &want));
    assert_false(clock_want_parse("0", &want));
    assert_false(clock_want_parse("fast", &want));
}

TEST(targets_are_clocks_the_card_supports)
{
    open_nvml();
    assert_int_equal(clocks_target(&nvml, gpu, (struct clock_want){CLOCK_MAX, 0}), 1980);
    /* Steps of 15 from 345 on: 1200 = 345 + 57 * 15. */
    assert_int_equal(clocks_target(&nvml, gpu, (struct clock_want){CLOCK_MHZ, 1214}), 1200);
    assert_int_equal(clocks_target(&nvml, gpu, (struct clock_want){CLOCK_MHZ, 300}), 0);
    /* No default clock is told, so three quarters of 1980 = 1485 = 345 + 76 * 15. */
    assert_int_equal(clocks_target(&nvml, gpu, (struct clock_want){CLOCK_BASE, 0}), 1485);
}

TEST(a_lock_is_undone_and_leaves_no_journal)
{
    struct guardian g;
    struct clock_lock c;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    open_nvml();
    assert_int_equal(
        clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MHZ, 1200}, &g, &arena, &diag),
        ST_OK);
    assert_true(c.is_locked && c.is_settled);
    assert_true(fs_exists(journal()));
    clocks_release(&c, &diag);
    guardian_stop(&g);
    assert_false(fs_exists(journal()));
    assert_string_equal(calls(), "set 1200 1200 = 0\nreset = 0\n");
}

TEST(the_guardian_resets_after_a_kill)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct guardian g;
        struct clock_lock c;
        guardian_start(&g, &diag);
        open_nvml();
        clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MHZ, 1200}, &g, &arena, &diag);
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 200 && fs_exists(journal()); i++)
        usleep(10000);
    assert_string_equal(calls(), "set 1200 1200 = 0\nreset = 0\n");
    assert_false(fs_exists(journal()));
}

TEST(without_the_guardian_nothing_is_locked)
{
    struct guardian g;
    struct clock_lock c;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    kill(g.pid, SIGKILL);
    while (guardian_is_alive(&g))
        usleep(1000);
    open_nvml();
    assert_int_equal(
        clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MHZ, 1200}, &g, &arena, &diag),
        ST_TOOL);
    guardian_stop(&g);
    assert_int_equal(diag_count(&diag, "gpu.guardian"), 1);
    assert_string_equal(calls(), "");
}

TEST(a_guardian_killed_later_does_not_keep_the_reset_from_happening)
{
    struct guardian g;
    struct clock_lock c;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    open_nvml();
    assert_int_equal(
        clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MHZ, 1200}, &g, &arena, &diag),
        ST_OK);
    kill(g.pid, SIGKILL);
    clocks_release(&c, &diag);
    guardian_stop(&g);
    assert_string_equal(calls(), "set 1200 1200 = 0\nreset = 0\n");
}

static void refused(const char *result)
{
    struct guardian g;
    struct clock_lock c;

    setenv("FAKE_NVML_SET", result, 1);
    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    open_nvml();
    assert_int_equal(
        clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MHZ, 1200}, &g, &arena, &diag),
        ST_TOOL);
    clocks_release(&c, &diag);
    guardian_stop(&g);
    assert_int_equal(diag_count(&diag, "gpu.clock-refused"), 1);
    assert_false(fs_exists(journal()));
    assert_null(strstr(calls(), "reset"));
}

TEST(no_permission_is_told_and_nothing_is_reset)
{
    refused("4");
    assert_non_null(strstr(diag.hints.at[0].text, "root"));
}

TEST(not_supported_is_told_and_nothing_is_reset)
{
    refused("3");
}

TEST(a_lock_of_somebody_else_is_left_alone)
{
    struct clock_lock c;

    open_nvml();
    nvml.lock_clocks(gpu, 900, 900);
    assert_int_equal(
        clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MAX, 0}, NULL, &arena, &diag),
        ST_TOOL);
    assert_int_equal(diag_count(&diag, "gpu.clock-locked"), 1);
    assert_string_equal(calls(), "set 900 900 = 0\n");
}

TEST(a_clock_that_does_not_settle_is_a_warning)
{
    struct clock_lock c;

    setenv("FAKE_NVML_DRIFT", "1700", 1);
    open_nvml();
    assert_int_equal(
        clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MAX, 0}, NULL, &arena, &diag),
        ST_OK);
    assert_false(c.is_settled);
    assert_int_equal(diag_count(&diag, "gpu.clock-unsettled"), 1);
    clocks_release(&c, &diag);
}

TEST(restoring_resets_what_journals_tell)
{
    struct clock_lock c;
    size_t count;

    open_nvml();
    assert_int_equal(clocks_lock(&c, &nvml, gpu, uuid, (struct clock_want){CLOCK_MHZ, 1200}, NULL,
                                 &arena, &diag),
                     ST_OK);
    assert_int_equal(clocks_restore(&nvml, false, &count, &arena, &diag), ST_OK);
    assert_int_equal(count, 1);
    assert_false(fs_exists(journal()));
    assert_int_equal(clocks_restore(&nvml, false, &count, &arena, &diag), ST_OK);
    assert_int_equal(count, 0);
    assert_string_equal(calls(), "set 1200 1200 = 0\nreset = 0\n");
}

TEST(readings_are_taken_every_tenth_of_a_second)
{
    struct clock_samples s = {0};

    open_nvml();
    for (nanos at = 0; at <= 1000000000; at += 20000000)
        clock_sample(&s, &nvml, gpu, at);
    assert_int_equal(s.sm_mhz.n, 11);
    assert_true(s.power_sum_w / (double)s.power_n == 300);
    assert_int_equal(s.temp_end_c, 41);
    clock_samples_free(&s);
}

TEST(the_middle_of_readings_is_their_median)
{
    unsigned mhz[] = {1980, 1200, 1300, 1500};
    struct clock_summary sum = clock_summarise(mhz, 4);

    assert_true(sum.min == 1200 && sum.median == 1400 && sum.max == 1980);
    assert_true(isnan(clock_summarise(NULL, 0).median));
}

#define ON_CARD(name) cmocka_unit_test_setup_teardown(name, card_in, card_out)

TEST_MAIN("driver/clocks", T(policies_are_read_from_text),
          ON_CARD(targets_are_clocks_the_card_supports),
          ON_CARD(a_lock_is_undone_and_leaves_no_journal),
          ON_CARD(the_guardian_resets_after_a_kill),
          ON_CARD(without_the_guardian_nothing_is_locked),
          ON_CARD(a_guardian_killed_later_does_not_keep_the_reset_from_happening),
          ON_CARD(no_permission_is_told_and_nothing_is_reset),
          ON_CARD(not_supported_is_told_and_nothing_is_reset),
          ON_CARD(a_lock_of_somebody_else_is_left_alone),
          ON_CARD(a_clock_that_does_not_settle_is_a_warning),
          ON_CARD(restoring_resets_what_journals_tell),
          ON_CARD(readings_are_taken_every_tenth_of_a_second),
          T(the_middle_of_readings_is_their_median))
