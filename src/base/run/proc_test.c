#include "base/run/proc.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/run/pool.h"
#include "base/testing_folder.h"

static struct proc_result result;

static size_t open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;

    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

static bool has_child(void)
{
    return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
}

/* Runs `script` with the given limits; `spec.argv` is filled here. */
static enum status shell(const char *script, struct proc_spec spec)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};

    spec.argv = argv;
    size_t before = open_files();
    enum status st = proc_run(&spec, &arena, &result, &diag);
    assert_int_equal(open_files(), before);
    assert_false(has_child());
    return st;
}

/* True when the process whose id is in `file` is gone, waiting up to 2 s for it. A zombie that
 * nobody has reaped yet is gone too. */
static bool is_gone(const char *file)
{
    char path[64], state = 'Z';
    int pid = 0;
    FILE *f = fopen(file, "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    fclose(f);
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    for (int tries = 0; tries < 200; tries++) {
        f = fopen(path, "r");
        if (f == NULL)
            return true;
        if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 'Z';
        fclose(f);
        if (state == 'Z')
            return true;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return false;
}

TEST(both_streams_and_the_exit_status_are_kept)
{
    assert_int_equal(shell("echo one; echo two >&2", (struct proc_spec){0}), ST_OK);
    assert_int_equal(result.end, PROC_EXITED);
    assert_int_equal(result.code, 0);
    assert_str(result.out, "one\n");
    assert_str(result.err, "two\n");
    assert_true(result.took > 0);

    assert_int_equal(shell("exit 7", (struct proc_spec){0}), ST_TOOL);
    assert_int_equal(result.end, PROC_EXITED);
    assert_int_equal(result.code, 7);
    assert_str(result.out, "");
    assert_int_equal(diag_count(&diag, "tool.failed"), 1);
}

TEST(a_signal_is_told_apart_from_a_status)
{
    assert_int_equal(shell("kill -SEGV $$", (struct proc_spec){0}), ST_TOOL);
    assert_int_equal(result.end, PROC_SIGNALLED);
    assert_int_equal(result.code, SIGSEGV);
    assert_int_equal(diag_count(&diag, "tool.signal"), 1);
    assert_string_equal(diag.entries.at[0].first[0].text, "/bin/sh was killed by signal 11 (SEGV)");
}

TEST(a_program_that_is_not_there_is_missing)
{
    static const char *const names[] = {"strata-no-such-tool", "/no/such/tool", "/tmp"};
    size_t before = open_files();

    for (size_t i = 0; i < 3; i++) {
        const char *const argv[] = {names[i], NULL};
        struct proc_spec spec = {.argv = argv};
        assert_int_equal(proc_run(&spec, &arena, &result, &diag), ST_TOOL);
        assert_int_equal(result.end, PROC_NOT_STARTED);
        assert_int_equal(result.code, ENOENT);
    }
    assert_int_equal(diag_count(&diag, "tool.missing"), 3);
    assert_string_equal(diag.entries.at[0].first[0].text,
                        "strata-no-such-tool was not found in any folder of PATH");
    assert_int_equal(open_files(), before);
}

TEST(a_file_that_cannot_be_executed_is_reported_with_its_reason)
{
    const char *file = scratch_path("tool");
    const char *const argv[] = {file, NULL};
    struct proc_spec spec = {.argv = argv};
    FILE *f = fopen(file, "w");
    size_t before = open_files() - 1; /* without `f` */

    fputs("neither a script nor a binary", f);
    fchmod(fileno(f), 0755);
    fclose(f);
    assert_int_equal(proc_run(&spec, &arena, &result, &diag), ST_TOOL);
    assert_int_equal(result.end, PROC_NOT_STARTED);
    assert_int_equal(result.code, ENOEXEC);
    assert_int_equal(diag_count(&diag, "tool.failed"), 1);
    assert_int_equal(open_files(), before);
    assert_false(has_child());
}

TEST(folder_and_environment_are_as_asked)
{
    static const char *const env[] = {"STRATA_A=new", "STRATA_B=b c", NULL};

    setenv("STRATA_A", "old", 1);
    setenv("STRATA_AB", "kept", 1);
    assert_int_equal(shell("pwd; echo \"$STRATA_A,$STRATA_AB,$STRATA_B\"",
                           (struct proc_spec){.env = env, .folder = "/usr"}),
                     ST_OK);
    assert_str(result.out, "/usr\nnew,kept,b c\n");
    assert_int_equal(shell("true", (struct proc_spec){.folder = "/no/such"}), ST_TOOL);
    assert_int_equal(result.end, PROC_NOT_STARTED);
}

TEST(standard_input_is_empty_and_our_files_are_closed)
{
    int fd = dup(0); /* not close-on-exec */

    assert_int_equal(shell("cat; ls /proc/self/fd | wc -l", (struct proc_spec){0}), ST_OK);
    close(fd);
    assert_str(str_trim(result.out), "4"); /* 0, 1, 2 and the one ls reads with */
}

TEST(large_outputs_on_both_streams_do_not_block)
{
    assert_int_equal(shell("head -c 3000000 /dev/zero >&2 & head -c 2000000 /dev/zero; wait",
                           (struct proc_spec){.keep_max = 2500000}),
                     ST_OK);
    assert_int_equal(result.out.n, 2000000);
    assert_int_equal(result.err.n, 2500000);
}

TEST(a_time_limit_ends_the_program)
{
    assert_int_equal(shell("echo before; sleep 30; echo after",
                           (struct proc_spec){.limit_ms = 150, .grace_ms = 10000}),
                     ST_TOOL);
    assert_int_equal(result.end, PROC_TIMED_OUT);
    assert_int_equal(result.code, 150);
    assert_str(result.out, "before\n");
    assert_in_range(result.took, 150000000, 9000000000);
    assert_int_equal(diag_count(&diag, "tool.timeout"), 1);
    assert_int_equal(shell("true", (struct proc_spec){.limit_ms = INT64_MAX}), ST_OK);
}

TEST(a_program_that_ignores_the_polite_signal_is_killed)
{
    assert_int_equal(shell("trap '' TERM; while :; do sleep 0.05; done",
                           (struct proc_spec){.limit_ms = 100, .grace_ms = 200}),
                     ST_TOOL);
    assert_int_equal(result.end, PROC_TIMED_OUT);
    assert_in_range(result.took, 300000000, 5000000000);
}

TEST(the_grace_period_is_enough_to_clean_up)
{
    assert_int_equal(
        shell("trap 'sleep 0.2; echo saved; exit 0' TERM; while :; do sleep 0.05; done",
              (struct proc_spec){.limit_ms = 100, .grace_ms = 5000}),
        ST_TOOL);
    assert_int_equal(result.end, PROC_TIMED_OUT);
    assert_str(result.out, "saved\n");
}

TEST(what_the_program_started_ends_with_it)
{
    const char *pid = scratch_path("pid");
    const char *script = arena_format(&arena,
                                      "sh -c 'trap \"\" TERM; echo $$ > %s.new; mv %s.new %s;"
                                      " exec >/dev/null 2>&1; while :; do sleep 0.05; done' & wait",
                                      pid, pid, pid)
                             .at;

    assert_int_equal(shell(script, (struct proc_spec){.limit_ms = 1000, .grace_ms = 300}), ST_TOOL);
    assert_int_equal(result.end, PROC_TIMED_OUT);
    assert_true(is_gone(pid));
}

TEST(a_program_left_behind_with_our_pipe_does_not_hold_us_up)
{
    const char *pid = scratch_path("pid");
    const char *script = arena_format(&arena, "sleep 60 & echo $! > %s; echo done", pid).at;

    assert_int_equal(shell(script, (struct proc_spec){0}), ST_OK);
    assert_int_equal(result.end, PROC_EXITED);
    assert_str(result.out, "done\n");
    assert_in_range(result.took, 0, 10000000000);
    assert_true(is_gone(pid));
}

TEST(the_log_holds_both_streams_and_survives_a_failure)
{
    const char *log = scratch_path("log");
    char text[64] = {0};

    assert_int_equal(
        shell("echo out; sleep 0.1; echo err >&2; exit 1", (struct proc_spec){.log = log}),
        ST_TOOL);
    FILE *f = fopen(log, "r");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof(text), f), 8);
    fclose(f);
    assert_string_equal(text, "out\nerr\n");
    assert_string_equal(diag.entries.at[0].first[0].where.path, log);
    assert_int_equal(shell("true", (struct proc_spec){.log = "/no/such/log"}), ST_IO);
}

static void interrupt(int signal_number)
{
    cancel_request(signal_number);
}

TEST(an_interruption_ends_the_program_and_drops_the_log)
{
    const char *log = scratch_path("log");
    const char *script =
        arena_format(&arena, "echo x; kill -USR1 %ld; sleep 30", (long)getpid()).at;

    signal(SIGUSR1, interrupt);
    assert_int_equal(shell(script, (struct proc_spec){.log = log, .grace_ms = 10000}),
                     ST_CANCELLED);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(result.end, PROC_CANCELLED);
    assert_in_range(result.took, 0, 9000000000);
    assert_false(fs_exists(log));
    assert_int_equal(diag.entries.n, 0);
    /* Once interrupted, nothing more is started. */
    assert_int_equal(shell("true", (struct proc_spec){0}), ST_CANCELLED);
    assert_int_equal(result.end, PROC_CANCELLED);
}

TEST(signals_we_ignore_are_not_ignored_by_the_program)
{
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(shell("kill -PIPE $$; echo survived", (struct proc_spec){0}), ST_TOOL);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(result.end, PROC_SIGNALLED);
    assert_int_equal(result.code, SIGPIPE);
}

struct proc_side {
    struct arena arena;
    struct diag diag;
    struct proc_result result;
    enum status st;
};

static void run_one(void *ctx, size_t i)
{
    struct proc_side *s = (struct proc_side *)ctx + i;

    arena_init(&s->arena);
    diag_init(&s->diag);
    const char *const argv[] = {"sh", "-c", arena_format(&s->arena, "sleep 0.2; echo %zu", i).at,
                                NULL};
    s->st = proc_run(&(struct proc_spec){.argv = argv}, &s->arena, &s->result, &s->diag);
}

TEST(programs_run_side_by_side)
{
    /* A pipe of one that leaked into another would keep it from ending with its own program. */
    struct pool *pool = pool_new(4);
    struct proc_side side[8];

    pool_for(pool, 8, run_one, side);
    for (size_t i = 0; i < 8; i++) {
        char want[8];
        snprintf(want, sizeof(want), "%zu\n", i);
        assert_int_equal(side[i].st, ST_OK);
        assert_string_equal(side[i].result.out.at, want);
        diag_fini(&side[i].diag);
        arena_free(&side[i].arena);
    }
    pool_free(pool);
    assert_false(has_child());
}

static bool stop_after_100_ms(void *ctx, int pid, nanos elapsed)
{
    *(int *)ctx = pid;
    return elapsed < 100000000;
}

TEST(the_tick_of_the_caller_ends_the_program)
{
    int pid = 0;

    assert_int_equal(
        shell("sleep 20", (struct proc_spec){.tick = stop_after_100_ms, .tick_ctx = &pid}),
        ST_TOOL);
    assert_int_equal(result.end, PROC_STOPPED);
    assert_true(pid > 1);
    assert_int_equal(diag.entries.n, 0);
    assert_false(has_child());
}

TEST(many_runs_leave_nothing_open)
{
    size_t before = open_files();

    for (int i = 0; i < 50; i++)
        assert_int_equal(shell("echo x", (struct proc_spec){0}), ST_OK);
    assert_int_equal(open_files(), before);
}

TEST_MAIN("base/run/proc", TS(both_streams_and_the_exit_status_are_kept),
          TS(a_signal_is_told_apart_from_a_status), TS(a_program_that_is_not_there_is_missing),
          TS(a_file_that_cannot_be_executed_is_reported_with_its_reason),
          TS(folder_and_environment_are_as_asked),
          TS(standard_input_is_empty_and_our_files_are_closed),
          TS(large_outputs_on_both_streams_do_not_block), TS(a_time_limit_ends_the_program),
          TS(a_program_that_ignores_the_polite_signal_is_killed),
          TS(the_grace_period_is_enough_to_clean_up), TS(what_the_program_started_ends_with_it),
          TS(a_program_left_behind_with_our_pipe_does_not_hold_us_up),
          TS(the_log_holds_both_streams_and_survives_a_failure),
          TS(an_interruption_ends_the_program_and_drops_the_log),
          TS(signals_we_ignore_are_not_ignored_by_the_program), TS(programs_run_side_by_side),
          TS(the_tick_of_the_caller_ends_the_program), TS(many_runs_leave_nothing_open))
