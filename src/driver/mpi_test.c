/*
 * Alone these run as one rank; the test mpi.ranks starts the same program with mpirun.
 */
#include "driver/mpi.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/testing.h"

static struct arena arena;
static struct diag diag;
static struct mpi job;

static int open_job(void **state)
{
    (void)state;
    arena_init(&arena);
    diag_init(&diag);
    return mpi_open(&job, &arena, &diag) != ST_OK;
}

static int close_job(void **state)
{
    (void)state;
    mpi_close(&job);
    diag_fini(&diag);
    arena_free(&arena);
    return 0;
}

TEST(a_process_of_its_own_is_the_only_rank)
{
    if (!mpi_is_launched()) {
        assert_null(job.calls);
        assert_int_equal(job.size, 1);
    }
    assert_in_range(job.rank, 0, job.size - 1);
}

TEST(numbers_are_folded)
{
    int64_t whole[] = {job.rank, 5};

    assert_int_equal(mpi_fold_i64(&job, whole, 2, MPI_FOLD_SUM, &diag), ST_OK);
    assert_int_equal(whole[0], job.size * (job.size - 1) / 2);
    assert_int_equal(whole[1], 5 * job.size);
    assert_int_equal(mpi_fold_i64(&job, whole, 0, MPI_FOLD_MIN, &diag), ST_OK);
}

TEST(a_failure_of_one_rank_is_that_of_all)
{
    enum status own = ST_OK;

    assert_int_equal(mpi_agree(&job, ST_OK, &diag), ST_OK);
    if (job.rank == job.size - 1)
        own = diag_fail(&diag, ST_IO, "test.full", (struct where){.path = "out/x"}, "disk full");
    assert_int_equal(mpi_agree(&job, own, &diag), ST_IO);
    if (job.rank < job.size - 1) {
        char reason[64];
        snprintf(reason, sizeof(reason), "process %d: out/x: disk full", job.size - 1);
        assert_int_equal(diag_count(&diag, "mpi.rank-failed"), 1);
        assert_string_equal(diag.entries.at[0].first[0].text, reason);
    } else {
        assert_int_equal(diag_count(&diag, "mpi.rank-failed"), 0);
    }
    assert_int_equal(mpi_barrier(&job, &diag), ST_OK); /* and all go on together */
}

TEST(bytes_of_one_rank_reach_all)
{
    char text[8] = "";

    if (job.rank == job.size - 1)
        memcpy(text, "strata", 7);
    assert_int_equal(mpi_broadcast(&job, text, sizeof(text), job.size - 1, &diag), ST_OK);
    assert_string_equal(text, "strata");
    assert_int_equal(mpi_barrier(&job, &diag), ST_OK);
}

/* Rank r gives r letters; the first one gives none. */
TEST(parts_are_gathered_in_the_order_of_ranks)
{
    struct mpi_parts parts;
    char mine[64];
    size_t n = (size_t)job.rank % sizeof(mine);

    memset(mine, 'a' + job.rank % 26, sizeof(mine));
    assert_int_equal(mpi_gather(&job, mine, n, &arena, &parts, &diag), ST_OK);
    assert_int_equal(parts.n, job.rank == 0 ? job.size : 0);
    for (size_t i = 0; i < parts.n; i++) {
        assert_int_equal(parts.of[i].n, i % sizeof(mine));
        for (size_t k = 0; k < parts.of[i].n; k++)
            assert_int_equal(parts.of[i].at[k], 'a' + (int)i % 26);
    }
}

/* bf16 and fp16 are the upper half of a float and one of their own; 1.0 + 1.0 of two ranks and so
 * on are exact up to 2048 ranks. */
static void add_ones(enum mpi_elem elem, uint16_t one, uint16_t two)
{
    uint16_t from[] = {one, two}, into[2] = {0};

    assert_int_equal(job.calls->all_reduce(NULL, from, into, 2, elem, MPI_FOLD_SUM), 0);
    if (job.size == 1)
        assert_int_equal(into[0], one);
    if (job.size == 2)
        assert_int_equal(into[0], two);
    if (job.size == 4)
        assert_int_equal(into[0], two + (two - one)); /* one more power of two */
}

TEST(floats_of_16_bits_are_added)
{
    if (job.calls == NULL)
        return;
    add_ones(MPI_ELEM_BF16, 0x3f80, 0x4000);
    add_ones(MPI_ELEM_F16, 0x3c00, 0x4000);
}

/* All ranks but the last; in the group every rank has its place. */
TEST(groups_are_consecutive_ranks)
{
    struct mpi_group *group;
    int n = job.size > 1 ? job.size - 1 : 1;

    if (job.calls == NULL)
        return;
    assert_int_equal(job.calls->group_make(0, n, &group), 0);
    assert_int_equal(group != NULL, job.rank < n);
    if (group != NULL) {
        int64_t mine = job.rank, all[64] = {0}, sum = 0;
        assert_int_equal(job.calls->all_reduce(group, &mine, &sum, 1, MPI_ELEM_I64, MPI_FOLD_SUM),
                         0);
        assert_int_equal(sum, n * (n - 1) / 2);
        assert_int_equal(job.calls->all_gather(group, &mine, all, 1, MPI_ELEM_I64), 0);
        for (int i = 0; i < n; i++)
            assert_int_equal(all[i], i);
    }
    job.calls->group_free(group);
}

TEST(elements_are_exchanged)
{
    float from[64] = {0}, into[64], part = -1;
    int n = job.size;

    if (job.calls == NULL || n > 64)
        return;
    for (int i = 0; i < n; i++)
        from[i] = (float)(100 * job.rank + i);
    assert_int_equal(job.calls->all_to_all(NULL, from, into, 1, MPI_ELEM_F32), 0);
    for (int i = 0; i < n; i++)
        assert_true(into[i] == (float)(100 * i + job.rank));
    assert_int_equal(job.calls->reduce_scatter(NULL, from, &part, 1, MPI_ELEM_F32), 0);
    assert_true(part == (float)(100 * n * (n - 1) / 2 + n * job.rank));
    if (n > 1 && job.rank == 0)
        assert_int_equal(job.calls->send(NULL, from, 2, MPI_ELEM_F32, 1), 0);
    if (job.rank == 1) {
        assert_int_equal(job.calls->receive(NULL, into, 2, MPI_ELEM_F32, 0), 0);
        assert_true(into[0] == 0 && into[1] == 1);
    }
}

TEST(a_library_that_is_missing_is_an_error)
{
    struct mpi other;

    setenv("STRATA_MPI_PATH", "/nowhere/libstrata-mpi.so", 1);
    assert_int_equal(mpi_open_always(&other, &arena, &diag), ST_TOOL);
    assert_null(other.calls);
    unsetenv("STRATA_MPI_PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_process_of_its_own_is_the_only_rank),
        T(numbers_are_folded),
        T(a_failure_of_one_rank_is_that_of_all),
        T(bytes_of_one_rank_reach_all),
        T(parts_are_gathered_in_the_order_of_ranks),
        T(floats_of_16_bits_are_added),
        T(groups_are_consecutive_ranks),
        T(elements_are_exchanged),
        T(a_library_that_is_missing_is_an_error),
    };
    return cmocka_run_group_tests_name("driver/mpi", tests, open_job, close_job);
}
