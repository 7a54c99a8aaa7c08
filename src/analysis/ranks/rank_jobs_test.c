#include "analysis/ranks/rank_jobs.h"

#include "base/testing_arena.h"

enum { MOST = 4 };

static struct capture *caps[MOST];
static size_t n_caps;

static int jobs_fresh(void **state)
{
    n_caps = 0;
    return arena_enter(state);
}

static int jobs_done(void **state)
{
    for (size_t i = 0; i < n_caps; i++)
        capture_free(caps[i]);
    return arena_leave(state);
}

/* A rank below 0: a number that was free. */
static struct capture *jobs_add(int64_t rank, int64_t world)
{
    struct capture *cap = capture_new();

    cap->facts.rank = rank < 0 ? (int64_t)n_caps : rank;
    cap->facts.is_rank_free = rank < 0;
    cap->facts.world_size = world;
    cap->facts.vendor = VENDOR_NVIDIA;
    caps[n_caps++] = cap;
    return cap;
}

static void jobs_work(struct capture *cap, enum slice_kind kind, const char *name, size_t n)
{
    struct lane_key key = {.kind = LANE_STREAM};

    for (size_t i = 0; i < n; i++)
        capture_slice(cap, &(struct slice){.begin = (nanos)i * 10,
                                           .dur = 5,
                                           .lane = capture_lane(cap, key),
                                           .kind = kind,
                                           .name = capture_intern(cap, str_of(name))});
}

static size_t jobs_look(void)
{
    for (size_t i = 0; i < n_caps; i++)
        capture_seal(caps[i]);
    return rank_jobs_find(&arena, (const struct capture *const *)caps, n_caps).n;
}

TEST(ranks_of_one_world_are_one_job_however_different_their_work)
{
    jobs_work(jobs_add(0, 8), SLICE_COMPUTE, "gemm", 10);
    jobs_work(jobs_add(3, 8), SLICE_COMPUTE, "conv", 900);
    assert_int_equal(jobs_look(), 1);
}

TEST(worlds_of_two_sizes_are_two_jobs)
{
    jobs_work(jobs_add(0, 8), SLICE_COMM, "ncclAllReduce", 10);
    jobs_work(jobs_add(1, 2), SLICE_COMM, "ncclAllReduce", 10);
    assert_int_equal(jobs_look(), 2);
}

TEST(one_rank_twice_is_two_jobs)
{
    jobs_work(jobs_add(0, UNKNOWN), SLICE_COMM, "ncclAllReduce", 10);
    jobs_work(jobs_add(0, UNKNOWN), SLICE_COMM, "ncclAllReduce", 10);
    assert_int_equal(jobs_look(), 2);
}

TEST(equal_work_alone_is_no_job)
{
    jobs_work(jobs_add(-1, UNKNOWN), SLICE_COMPUTE, "gemm", 10);
    jobs_work(jobs_add(-1, UNKNOWN), SLICE_COMPUTE, "gemm", 10);
    assert_int_equal(jobs_look(), 2);
}

TEST(equal_collectives_are_a_job)
{
    struct capture *a = jobs_add(-1, UNKNOWN), *b = jobs_add(-1, UNKNOWN);

    jobs_work(a, SLICE_COMM, "ncclDevKernel_AllReduce_Sum", 10);
    jobs_work(a, SLICE_COMPUTE, "gemm", 5);
    jobs_work(b, SLICE_COMM, "ncclDevKernel_AllReduce_Sum", 10);
    jobs_work(b, SLICE_COMPUTE, "gemm", 500);
    assert_int_equal(jobs_look(), 1);
}

TEST(collectives_that_differ_are_none)
{
    jobs_work(jobs_add(-1, UNKNOWN), SLICE_COMM, "ncclDevKernel_AllReduce_Sum", 10);
    jobs_work(jobs_add(-1, UNKNOWN), SLICE_COMM, "ncclDevKernel_AllGather", 10);
    assert_int_equal(jobs_look(), 2);
}

TEST(a_communicator_in_common_is_a_job)
{
    for (int i = 0; i < 2; i++) {
        struct capture *cap = jobs_add(-1, UNKNOWN);
        vec_push(&cap->comm_groups, ((struct comm_group){.id = capture_intern(cap, S("group_7"))}));
    }
    assert_int_equal(jobs_look(), 1);
}

TEST(numbers_of_groups_join_no_jobs)
{
    for (int i = 0; i < 2; i++) {
        struct capture *cap = jobs_add(-1, UNKNOWN);
        vec_push(&cap->comm_groups, ((struct comm_group){.id = capture_intern(cap, S("0"))}));
    }
    assert_int_equal(jobs_look(), 2);
}

TEST(jobs_in_one_folder_are_told_apart)
{
    jobs_add(0, 2);
    jobs_add(-1, UNKNOWN);
    jobs_add(1, 2);
    for (size_t i = 0; i < n_caps; i++)
        capture_seal(caps[i]);
    struct rank_jobs jobs = rank_jobs_find(&arena, (const struct capture *const *)caps, n_caps);

    assert_int_equal(jobs.n, 2);
    assert_int_equal(jobs.of[0], 0);
    assert_int_equal(jobs.of[1], 1);
    assert_int_equal(jobs.of[2], 0);
}

TEST(a_capture_is_named_by_its_file_or_their_folder)
{
    struct capture *cap = jobs_add(0, 2);

    capture_source(cap, (struct source){.path = "d/a/x.json", .format = "kineto"});
    assert_str(rank_jobs_path(&arena, cap), "d/a/x.json");
    capture_source(cap, (struct source){.path = "d/a/xy.csv", .format = "csv"});
    assert_str(rank_jobs_path(&arena, cap), "d/a/");
    capture_seal(cap);
}

#define JOB(name) cmocka_unit_test_setup_teardown(name, jobs_fresh, jobs_done)

TEST_MAIN("analysis/ranks/rank_jobs",
          JOB(ranks_of_one_world_are_one_job_however_different_their_work),
          JOB(worlds_of_two_sizes_are_two_jobs), JOB(one_rank_twice_is_two_jobs),
          JOB(equal_work_alone_is_no_job), JOB(equal_collectives_are_a_job),
          JOB(collectives_that_differ_are_none), JOB(a_communicator_in_common_is_a_job),
          JOB(numbers_of_groups_join_no_jobs), JOB(jobs_in_one_folder_are_told_apart),
          JOB(a_capture_is_named_by_its_file_or_their_folder))
