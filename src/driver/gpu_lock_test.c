#include "driver/gpu_lock.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing_folder.h"

/* Locks are files below the folder. */
static int enter_alone(void **state)
{
    return enter(state) != 0 || setenv("STRATA_LOCK_DIR", scratch, 1) != 0;
}

/* A process that holds the lock until it is killed. */
static pid_t holder(void)
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct gpu_lock lock;
        if (gpu_lock_acquire(&lock, "GPU-1", "gpu profile ./slow", 0, &diag) != ST_OK ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

TEST(a_second_run_is_told_who_holds_the_gpu)
{
    struct gpu_lock lock;
    char want[32];
    pid_t pid = holder();

    assert_int_equal(gpu_lock_acquire(&lock, "GPU-1", "x", 0, &diag), ST_UNSUPPORTED);
    snprintf(want, sizeof(want), "pid %d", (int)pid);
    assert_non_null(strstr(diag.entries.at[0].first[0].text, want));
    assert_non_null(strstr(diag.entries.at[0].first[0].text, "gpu profile ./slow"));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(the_file_of_a_killed_run_blocks_nobody)
{
    struct gpu_lock lock;
    pid_t pid = holder();

    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(fs_exists(gpu_lock_path(&arena, "GPU-1")));
    assert_int_equal(gpu_lock_acquire(&lock, "GPU-1", "x", 0, &diag), ST_OK);
    gpu_lock_release(&lock);
    gpu_lock_release(&lock);
}

TEST(waiting_ends_with_the_other_run)
{
    struct gpu_lock lock;
    pid_t pid = holder();

    if (fork() == 0) {
        usleep(200000);
        kill(pid, SIGKILL);
        _exit(0);
    }
    assert_int_equal(gpu_lock_acquire(&lock, "GPU-1", "x", 5, &diag), ST_OK);
    gpu_lock_release(&lock);
    while (wait(NULL) > 0)
        ;
}

TEST(gpus_are_locked_apart)
{
    struct gpu_lock one, two;

    assert_int_equal(gpu_lock_acquire(&one, "GPU-1", "x", 0, &diag), ST_OK);
    assert_int_equal(gpu_lock_acquire(&two, "GPU-2", "x", 0, &diag), ST_OK);
    gpu_lock_release(&one);
    gpu_lock_release(&two);
}

TEST(all_users_share_the_file)
{
    struct gpu_lock lock;
    struct stat st;

    unsetenv("STRATA_LOCK_DIR");
    setenv("XDG_RUNTIME_DIR", scratch, 1); /* of one user alone */
    const char *path = gpu_lock_path(&arena, "GPU-1");
    assert_true(str_starts(str_of(path), S("/run/lock/")) || str_starts(str_of(path), S("/tmp/")));
    setenv("STRATA_LOCK_DIR", scratch, 1);
    mode_t before = umask(077);
    assert_int_equal(gpu_lock_acquire(&lock, "GPU-1", "x", 0, &diag), ST_OK);
    umask(before);
    assert_int_equal(stat(gpu_lock_path(&arena, "GPU-1"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666);
    gpu_lock_release(&lock);
}

#define ALONE(name) cmocka_unit_test_setup_teardown(name, enter_alone, leave)

TEST_MAIN("driver/gpu_lock", ALONE(a_second_run_is_told_who_holds_the_gpu),
          ALONE(the_file_of_a_killed_run_blocks_nobody), ALONE(waiting_ends_with_the_other_run),
          ALONE(gpus_are_locked_apart), ALONE(all_users_share_the_file))
