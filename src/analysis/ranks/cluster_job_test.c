/*
 * Folders of summaries and of captures, in one process.
 */
#include "analysis/ranks/cluster_job.h"

#include <string.h>

#include "analysis/ranks/testing_cluster.h"
#include "base/testing_folder.h"

/* Writes one rank of a small cluster as a part of its own, under a number of our choice. */
static void job_put_summary(const char *name, int64_t rank, bool has_calls)
{
    static const struct test_cluster two = {.ranks = 2};
    struct rank_summary *s = test_ranks(&two);
    struct cluster_part part = {.ranks = s, .n = 1};

    s->rank = rank;
    s->name = str_of(name);
    if (!has_calls)
        s->n_calls = 0;
    diag_init(&part.diag);
    struct str bytes = cluster_part_encode(&part, &arena);
    diag_fini(&part.diag);
    const char *path = scratch_put(name, "");
    assert_int_equal(outfile_save(path, bytes, &diag), ST_OK);
}

static enum status job_test_run(const char *keep, struct cluster_outcome *out)
{
    struct cluster_job job = {.path = scratch, .input = input_defaults(), .keep = keep};

    return ranks_run(&job, &diag, out);
}

static uint64_t times_told(const char *code)
{
    for (size_t i = 0; i < diag.entries.n; i++)
        if (strcmp(diag.entries.at[i].code, code) == 0)
            return diag.entries.at[i].count;
    return 0;
}

TEST(summaries_stand_for_their_captures)
{
    struct cluster_outcome out;

    job_put_summary("a.summary", 0, true);
    job_put_summary("b.summary", 1, true);
    scratch_put("notes.txt", "no summary");
    assert_int_equal(job_test_run(NULL, &out), ST_OK);
    assert_int_equal(out.n_parts, 2);
    assert_int_equal(out.reused, 2);
    assert_int_equal(out.result->n_ranks, 2);
    cluster_outcome_free(&out);
}

TEST(ranks_without_a_number_get_the_lowest_free_ones)
{
    struct cluster_outcome out;

    job_put_summary("a.summary", 2, true);
    job_put_summary("b.summary", -1, true);
    job_put_summary("c.summary", 0, true);
    job_put_summary("d.summary", -1, true);
    assert_int_equal(job_test_run(NULL, &out), ST_OK);
    assert_int_equal(out.result->n_ranks, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(out.result->ranks[i].rank, i);
    assert_str(out.result->model->ranks[1].name, "b.summary");
    assert_str(out.result->model->ranks[3].name, "d.summary");
    assert_int_equal(times_told("cluster.rank-unknown"), 2);
    cluster_outcome_free(&out);
}

TEST(of_two_that_claim_one_rank_the_one_that_says_more_stays)
{
    struct cluster_outcome out;

    job_put_summary("a.summary", 1, false);
    job_put_summary("b.summary", 1, true);
    job_put_summary("c.summary", 0, true);
    assert_int_equal(job_test_run(NULL, &out), ST_OK);
    assert_int_equal(out.result->n_ranks, 2);
    assert_str(out.result->model->ranks[1].name, "b.summary");
    assert_int_equal(times_told("cluster.rank-twice"), 1);
    cluster_outcome_free(&out);
}

TEST(a_damaged_summary_costs_its_rank)
{
    struct cluster_outcome out;

    job_put_summary("a.summary", 0, true);
    job_put_summary("b.summary", 1, true);
    scratch_put("c.summary", "none of ours");
    assert_int_equal(job_test_run(NULL, &out), ST_OK);
    assert_int_equal(out.n_parts, 3);
    assert_int_equal(out.reused, 2);
    assert_int_equal(out.result->n_ranks, 2);
    assert_int_equal(times_told("input.refused"), 1);
    cluster_outcome_free(&out);
}

TEST(nothing_but_damage_is_an_error)
{
    struct cluster_outcome out;

    scratch_put("a.summary", "");
    scratch_put("b.summary", "none of ours");
    assert_int_equal(job_test_run(NULL, &out), ST_FORMAT);
    assert_null(out.result);
    cluster_outcome_free(&out);
}

#define HEAD                                                                                       \
    "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Step Id,Device_id\n"

/* A capture is read once: the second run finds its summary, until the capture changes. */
TEST(summaries_are_kept_by_the_content_of_files)
{
    struct cluster_outcome out;
    const char *keep = scratch_path("kept");

    scratch_put("run/rank_0/kernel_details.csv", HEAD "MatMul1,MatMul,AI_CORE,10.0,5.0,0,1,0\n");
    scratch_put("run/rank_1/kernel_details.csv", HEAD "MatMul1,MatMul,AI_CORE,12.0,6.0,0,1,1\n");
    struct cluster_job job = {.path = scratch_path("run"), .input = input_defaults(), .keep = keep};
    static const size_t reused[] = {0, 2, 1};
    for (size_t i = 0; i < ARRAY_LEN(reused); i++) {
        if (i == 2)
            scratch_put("run/rank_1/kernel_details.csv",
                        HEAD "MatMul1,MatMul,AI_CORE,12.0,7.0,0,1,1\n");
        assert_int_equal(ranks_run(&job, &diag, &out), ST_OK);
        assert_int_equal(out.n_parts, 2);
        assert_int_equal(out.reused, reused[i]);
        cluster_outcome_free(&out);
    }
}

TEST_MAIN("analysis/ranks/cluster_job", TS(summaries_stand_for_their_captures),
          TS(ranks_without_a_number_get_the_lowest_free_ones),
          TS(of_two_that_claim_one_rank_the_one_that_says_more_stays),
          TS(a_damaged_summary_costs_its_rank), TS(nothing_but_damage_is_an_error),
          TS(summaries_are_kept_by_the_content_of_files))
