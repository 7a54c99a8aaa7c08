#include "driver/guardian.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing_arena.h"

static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    return pid;
}

TEST(it_ends_when_it_is_stopped)
{
    struct guardian g;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    pid_t pid = g.pid;
    assert_true(guardian_is_alive(&g));
    guardian_stop(&g);
    guardian_stop(&g);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

TEST(polite_signals_do_not_end_it)
{
    struct guardian g;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    usleep(50000);
    kill(g.pid, SIGINT);
    kill(g.pid, SIGTERM);
    kill(g.pid, SIGHUP);
    usleep(50000);
    assert_true(guardian_is_alive(&g));
    guardian_stop(&g);
}

TEST(the_program_ends_with_us)
{
    struct guardian g;
    pid_t program = sleeper();
    int status = 0;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    assert_true(guardian_watch(&g, program));
    guardian_stop(&g); /* the pipe closes, as when we die */
    waitpid(program, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(a_program_that_ended_is_not_watched_any_more)
{
    struct guardian g;
    pid_t program = sleeper();
    int status = 0;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    assert_true(guardian_watch(&g, program));
    assert_true(guardian_watch(&g, 0));
    guardian_stop(&g);
    assert_int_equal(waitpid(program, &status, WNOHANG), 0);
    kill(program, SIGKILL);
    waitpid(program, &status, 0);
}

TEST(orders_to_a_dead_one_fail_quietly)
{
    struct guardian g;

    assert_int_equal(guardian_start(&g, &diag), ST_OK);
    kill(g.pid, SIGKILL);
    while (guardian_is_alive(&g))
        usleep(1000);
    assert_false(guardian_watch(&g, 4242));
    assert_false(guardian_arm(&g, "GPU-0", "/tmp/none"));
    guardian_stop(&g);
}

TEST_MAIN("driver/guardian", TA(it_ends_when_it_is_stopped), TA(polite_signals_do_not_end_it),
          TA(the_program_ends_with_us), TA(a_program_that_ended_is_not_watched_any_more),
          TA(orders_to_a_dead_one_fail_quietly))
