#include "driver/cann.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/testing_arena.h"

TEST(a_given_script_is_taken_unseen)
{
    assert_string_equal(cann_find_set_env(&arena, "/no/such/set_env.sh"), "/no/such/set_env.sh");
}

TEST(values_and_programs_come_from_the_sourced_environment)
{
    const char *env[] = {"PATH=/no/such:/bin", "ASCEND_HOME_PATH=/x", "EMPTY=", NULL};
    struct cann c = {.env = env};

    assert_string_equal(cann_value(&c, "ASCEND_HOME_PATH"), "/x");
    assert_string_equal(cann_value(&c, "EMPTY"), "");
    assert_null(cann_value(&c, "ASCEND"));
    assert_string_equal(cann_program(&c, &arena, "sh"), "/bin/sh");
    assert_null(cann_program(&c, &arena, "no-such-program"));
}

TEST(a_step_leaves_its_command_and_its_end_in_the_log)
{
    char log[] = "/tmp/strata-cann-XXXXXX";
    const char *argv[] = {"sh", "-c", "echo said; exit 3", NULL};
    struct cann_done done;
    struct mapfile map;
    int fd = mkstemp(log);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(cann_run(&(struct cann_step){.argv = argv, .log = log}, &arena, &done, &diag),
                     ST_OK);
    assert_int_equal(done.rc, 3);
    assert_str(done.text, "said\n");
    assert_int_equal(mapfile_open(&map, log, &diag), ST_OK);
    assert_str(map.text, "$ sh -c 'echo said; exit 3'\nsaid\n\n[exit 3]");
    mapfile_close(&map);
    unlink(log);
}

TEST(a_program_that_is_not_there_is_told)
{
    const char *argv[] = {"/no/such/program", NULL};
    struct cann_done done;

    assert_int_equal(cann_run(&(struct cann_step){.argv = argv, .log = "/tmp/strata-no-log"},
                              &arena, &done, &diag),
                     ST_TOOL);
    assert_int_equal(diag_count(&diag, "cann.not-started"), 1);
    unlink("/tmp/strata-no-log");
}

TEST_MAIN("driver/cann", TA(a_given_script_is_taken_unseen),
          TA(values_and_programs_come_from_the_sourced_environment),
          TA(a_step_leaves_its_command_and_its_end_in_the_log),
          TA(a_program_that_is_not_there_is_told))
