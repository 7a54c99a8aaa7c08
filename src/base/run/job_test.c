/* Jobs that run out of memory, alone, in threads and inside another library. */
#include "base/run/job.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/run/pool.h"
#include "base/testing.h"

static int released[8];
static size_t n_released;

static void note(void *what, size_t n)
{
    (void)n;
    released[n_released++] = *(int *)what;
}

static void ask_for_too_much(void)
{
    mem_grow(NULL, SIZE_MAX / 4, 8);
}

static void hold_and_fail(void *ctx)
{
    int *numbers = mem_grow(NULL, sizeof(*numbers), 3);

    for (int i = 0; i < 3; i++) {
        numbers[i] = i + 1;
        job_hold(note, &numbers[i], 0);
    }
    job_drop(note, &numbers[1]);
    *(int *)ctx = job_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    ask_for_too_much();
}

TEST(a_failed_job_releases_what_it_holds_newest_first)
{
    struct job job = JOB_INIT;
    int fd = -1;

    n_released = 0;
    assert_false(job_run(&job, hold_and_fail, &fd));
    assert_int_equal(n_released, 2);
    assert_int_equal(released[0], 3);
    assert_int_equal(released[1], 1);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_true(job.blocks == 0);
    assert_null(job.held);
    assert_null(job_current());
}

static void keep_one(void *ctx)
{
    *(char **)ctx = mem_grow(NULL, 1, 100);
}

static void grow_the_kept(void *ctx)
{
    char **kept = ctx;

    *kept = mem_grow(*kept, 1, 100000);
    mem_free(mem_grow(NULL, 1, 4 << 20));
}

static void free_the_kept(void *ctx)
{
    mem_free(*(char **)ctx);
}

TEST(memory_stays_with_its_job_from_run_to_run)
{
    struct job job = JOB_INIT, other = JOB_INIT;
    char *kept = NULL;

    assert_true(job_run(&job, keep_one, &kept));
    assert_true(job_run(&other, grow_the_kept, &kept));
    assert_true(other.blocks == 0);
    assert_true(job.blocks != 0);
    assert_true(job_run(&other, free_the_kept, &kept));
    assert_true(job.blocks == 0);
}

static void fail_in_a_task(void *ctx, size_t i)
{
    mem_grow(NULL, 1, 1000); /* released with the job */
    (*(int *)ctx)++;
    if (i == 2)
        ask_for_too_much();
}

static void run_tasks(void *ctx)
{
    struct pool *pool = pool_new(4);

    pool_for(pool, 4, fail_in_a_task, ctx);
    fail_msg("pool_for() returned");
}

TEST(a_task_that_fails_fails_the_job_that_waits_for_it)
{
    struct job job = JOB_INIT;
    int seen = 0;

    assert_false(job_run(&job, run_tasks, &seen));
    assert_true(job.blocks == 0);
    assert_null(job.held);
}

struct stages {
    size_t made, failing;
};

static bool next_item(void *ctx, size_t slot)
{
    struct stages *s = ctx;

    (void)slot;
    if (s->failing == 0 && s->made == 5)
        ask_for_too_much();
    return s->made++ < 1000;
}

static void work_on_item(void *ctx, size_t slot)
{
    (void)slot;
    if (((struct stages *)ctx)->failing == 1)
        ask_for_too_much();
}

static bool merge_item(void *ctx, size_t slot)
{
    (void)slot;
    if (((struct stages *)ctx)->failing == 2)
        ask_for_too_much();
    return true;
}

static void run_stages(void *ctx)
{
    static const struct pool_pipe pipe = {next_item, work_on_item, merge_item};
    struct pool *pool = pool_new(3);

    pool_pipe(pool, 4, &pipe, ctx);
    fail_msg("pool_pipe() returned");
}

TEST(each_stage_of_a_pipeline_may_fail)
{
    for (size_t i = 0; i < 3; i++) {
        struct job job = JOB_INIT;

        assert_false(job_run(&job, run_stages, &(struct stages){.failing = i}));
        assert_true(job.blocks == 0);
    }
}

static int called_back(int number)
{
    JOB_BOUNDARY(return -1);
    if (number == 1)
        ask_for_too_much();
    return number;
}

static void call_back(void *ctx)
{
    int *answers = ctx;

    answers[0] = called_back(0);
    answers[1] = called_back(1);
    answers[2] = called_back(2);
}

TEST(a_boundary_inside_a_job_ends_there)
{
    struct job job = JOB_INIT;
    int answers[3] = {9, 9, 9};

    assert_true(job_run(&job, call_back, answers));
    assert_int_equal(answers[0], 0);
    assert_int_equal(answers[1], -1);
    assert_int_equal(answers[2], 2);
}

TEST_MAIN("base/run/job", T(a_failed_job_releases_what_it_holds_newest_first),
          T(memory_stays_with_its_job_from_run_to_run),
          T(a_task_that_fails_fails_the_job_that_waits_for_it),
          T(each_stage_of_a_pipeline_may_fail), T(a_boundary_inside_a_job_ends_there))
