#include "analysis/ranks/cluster.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/testing_cluster.h"

static nanos far_off(size_t rank)
{
    return rank == 0 ? 0 : (nanos)((rank * 7919) % 100000 - 50000) * 1000;
}

static double drifts(size_t rank)
{
    return rank == 0 ? 0 : ((double)(rank % 5) - 2) * 1e-5;
}

static double third_is_slow(size_t rank)
{
    return rank == 3 ? 1.2 : 1;
}

static nanos second_stalls(size_t rank, size_t step)
{
    return rank == 2 && (step == 1 || step == 4 || step == 6) ? 3000000 : 0;
}

static nanos fifth_writes(size_t rank, size_t step)
{
    return step % 3 == 2 ? (rank == 5 ? 20000000 : 4000000) : 0;
}

static struct cluster *cluster_test_find(const struct test_cluster *t)
{
    return cluster_find(&arena, test_ranks(t), t->ranks);
}

TEST(clocks_that_are_off_and_drift_are_aligned)
{
    struct test_cluster t = {.ranks = 16, .offset = far_off, .drift = drifts};
    struct cluster *c = cluster_test_find(&t);

    for (size_t r = 0; r < t.ranks; r++) {
        assert_true(c->clocks[r].is_known);
        assert_true(llabs(c->clocks[r].offset_ns - far_off(r)) < 1000);
        assert_true(fabs(c->clocks[r].drift_ppm - drifts(r) * 1e6) < 1);
    }
    assert_int_equal(c->n_culprits, 0);
    assert_true(c->replay_error < 1e-3);
}

static double third_is_a_little_slow(size_t rank)
{
    return rank == 3 ? 1.025 : 1;
}

TEST(a_rank_that_is_a_little_slow_is_named_among_many)
{
    struct test_cluster t = {.ranks = 16, .slow = third_is_a_little_slow};
    struct cluster *c = cluster_test_find(&t);

    assert_int_equal(c->n_culprits, 1);
    assert_int_equal(c->culprits[0].rank, 3);
    assert_true(cluster_is_job(c));
    assert_int_equal(cluster_ranks_ordered(c, &arena)[0]->rank, 3);
}

static double third_is_slower_by_some(size_t rank)
{
    return rank == 3 ? 1.035 : 1;
}

TEST(a_rank_that_is_a_little_slow_is_named_among_few_when_all_its_kernels_show_it)
{
    struct test_cluster t = {.ranks = 6, .slow = third_is_slower_by_some};
    static const double differ[TEST_FAMILIES] = {0.9,  0.92, 0.95, 1.02, 1.03,
                                                 1.04, 1.15, 1.18, 1.2,  1.25};
    struct cluster *c = cluster_test_find(&t);

    assert_int_equal(c->n_culprits, 1);
    assert_int_equal(c->culprits[0].rank, 3);
    assert_int_equal(c->culprits[0].confidence, CULPRIT_LIKELY);

    t.slow = NULL;
    struct rank_summary *ranks = test_ranks(&t);
    for (size_t i = 0; i < TEST_FAMILIES; i++) /* by 3.5 % in the middle */
        ranks[3].families[i].time = (nanos)((double)ranks[3].families[i].time * differ[i]);
    assert_int_equal(cluster_find(&arena, ranks, t.ranks)->n_culprits, 0);
}

TEST(the_path_of_any_step_can_be_asked_for)
{
    struct test_cluster t = {.ranks = 8, .slow = third_is_slow};
    struct cluster *c = cluster_test_find(&t);
    struct cluster_piece *path;
    size_t n = cluster_path_of(c, 2, &path);
    double time = 0;

    for (size_t i = 0; i < n; i++)
        time += path[i].rank == 3 ? path[i].time_ns : 0;
    assert_true(time > 0.8 * c->steps[2].time_ns);
    assert_int_equal(cluster_path_of(c, -1, &path), 0);
}

TEST(a_rank_that_computes_slowly_is_named)
{
    struct test_cluster t = {.ranks = 8, .offset = far_off, .slow = third_is_slow};
    struct cluster *c = cluster_test_find(&t);

    assert_int_equal(c->n_culprits, 1);
    assert_int_equal(c->culprits[0].kind, CULPRIT_COMPUTE_SLOW);
    assert_int_equal(c->culprits[0].rank, 3);
    assert_int_equal(c->culprits[0].n_steps, TEST_STEPS);
    assert_int_equal(c->culprits[0].steps[0], 5);
    /* 180 us less before each of six collectives of a step */
    assert_true(fabs(c->culprits[0].saving_ms - 6 * 0.180) < 0.03);
    assert_true(c->ranks[3].awaited_ns > 10 * c->ranks[1].awaited_ns);
}

TEST(stalls_of_one_rank_are_named_with_their_steps)
{
    struct test_cluster t = {.ranks = 8, .idle = second_stalls};
    struct cluster *c = cluster_test_find(&t);

    assert_int_equal(c->n_culprits, 1);
    assert_int_equal(c->culprits[0].kind, CULPRIT_HOST_STALL);
    assert_int_equal(c->culprits[0].rank, 2);
    assert_int_equal(c->culprits[0].n_steps, 3);
    assert_int_equal(c->culprits[0].steps[1], 9);
    assert_int_equal(c->culprits[0].recurrence, RECURS_RANDOMLY);
    assert_true(fabs(c->culprits[0].total_ms - 9) < 0.1);
}

static nanos anybody_stalls(size_t rank, size_t step)
{
    return rank == (step * 5 + 2) % 8 ? 3000000 : 0;
}

TEST(stalls_that_fall_on_anybody_are_held_against_nobody)
{
    struct test_cluster t = {.ranks = 8, .idle = anybody_stalls};
    struct cluster *c = cluster_test_find(&t);

    assert_int_equal(c->n_culprits, 0);
    assert_int_equal(c->stalls, TEST_STEPS);
    assert_true(fabs(c->longest_stall.ms - 3) < 0.1);
}

TEST(slow_storage_is_told_from_stalls)
{
    struct test_cluster t = {.ranks = 8, .storage = fifth_writes, .idle = second_stalls};
    struct cluster *c = cluster_test_find(&t);

    assert_int_equal(c->n_culprits, 2);
    assert_int_equal(c->culprits[0].kind, CULPRIT_STORAGE);
    assert_int_equal(c->culprits[0].rank, 5);
    assert_int_equal(c->culprits[0].n_steps, 2);
    assert_int_equal(c->culprits[1].kind, CULPRIT_HOST_STALL);
    assert_int_equal(c->culprits[1].rank, 2);
}

TEST(ranks_that_share_no_collective_are_not_compared)
{
    struct test_cluster t = {.ranks = 4, .slow = third_is_slow};
    struct rank_summary *ranks = test_ranks(&t);

    for (size_t r = 0; r < t.ranks; r++)
        ranks[r].groups[0].id = arena_format(&arena, "%zu", r);
    struct cluster *c = cluster_find(&arena, ranks, t.ranks);
    assert_int_equal(c->n_culprits, 0);
    assert_true(c->n_notes > 0);
    assert_true(str_starts(wording_text(LANG_EN, &arena, c->verdict), S("unknown: 0 of 4 ranks")));
}

TEST(a_rank_with_fewer_calls_is_left_out_of_that_step_only)
{
    struct test_cluster t = {.ranks = 8, .offset = far_off, .slow = third_is_slow};
    struct rank_summary *ranks = test_ranks(&t);

    ranks[1].n_calls -= TEST_CALLS / 2; /* cut off in its last step */
    struct cluster *c = cluster_find(&arena, ranks, t.ranks);
    assert_true(llabs(c->clocks[1].offset_ns - far_off(1)) < 1000);
    assert_int_equal(c->n_culprits, 1);
    assert_int_equal(c->culprits[0].rank, 3);
    assert_int_equal(c->model->unmatched, TEST_CALLS / 2);
}

/* Every third call becomes a transfer whose ends are not known; gives how many there are. */
static size_t make_transfers(struct rank_summary *ranks, size_t n, nanos apart)
{
    size_t made = 0;

    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < ranks[r].n_calls; i += 3, made++) {
            struct summary_call *c = &ranks[r].calls[i];
            c->kind = COLLECTIVE_SEND_RECV;
            c->from = c->to = -1;
            c->end += apart * (nanos)r;
        }
    return made;
}

TEST(transfers_that_end_together_are_an_exchange_of_all)
{
    struct test_cluster t = {.ranks = 8, .offset = far_off, .drift = drifts, .slow = third_is_slow};
    struct rank_summary *ranks = test_ranks(&t);

    make_transfers(ranks, t.ranks, 0);
    struct cluster *c = cluster_find(&arena, ranks, t.ranks);
    assert_int_equal(c->model->unmatched, 0);
    assert_int_equal(c->n_culprits, 1);
    assert_int_equal(c->culprits[0].rank, 3);
    assert_int_equal(c->layout.pp, 0);
    assert_int_equal(c->layout.dp, 0);

    ranks = test_ranks(&t);
    size_t made = make_transfers(ranks, t.ranks, 30000);
    c = cluster_find(&arena, ranks, t.ranks);
    assert_int_equal(c->model->unmatched, made);
    assert_true(llabs(c->clocks[5].offset_ns - far_off(5)) < 1000);
}

TEST(what_late_ranks_cost_is_said_without_a_culprit)
{
    struct test_cluster t = {.ranks = 8, .idle = anybody_stalls};
    struct cluster *c = cluster_test_find(&t);
    double ms = cluster_gain_ms(c, &c->gains[0]);

    assert_int_equal(c->n_culprits, 0);
    assert_true(fabs(ms - 3.0 * TEST_STEPS) < 1);
    assert_non_null(strstr(arena_cstr(&arena, wording_text(LANG_EN, &arena, c->verdict)), "less"));
}

/* Every second call begins 4 us after the end of the one before, for which compute does not wait.
 */
static void queue_calls(struct rank_summary *s)
{
    for (size_t i = 1; i < s->n_calls; i += 2) {
        struct summary_call *c = &s->calls[i], *before = c - 1;
        c->after = before->after;
        c->begin = before->end + 4000;
        c->stretch = before->stretch + (c->begin - before->begin);
        c->compute = before->compute;
        c->idle = before->idle + 4000;
    }
}

TEST(a_call_behind_another_in_its_stream_is_sooner_when_that_is)
{
    struct test_cluster t = {.ranks = 4};
    struct rank_summary *ranks = test_ranks(&t);

    for (size_t r = 0; r < t.ranks; r++)
        queue_calls(&ranks[r]);
    struct cluster *c = cluster_find(&arena, ranks, t.ranks);
    /* A pair of calls: 901 us of work, 100 us, a gap of 4 us, 997 us. */
    double pairs = TEST_STEPS * TEST_CALLS / 2;
    assert_true(c->replay_error < 1e-6);
    assert_true(fabs(c->replay.recorded / pairs - 2002e3) < 100);
    assert_true(fabs(c->gains[2].step_ns * TEST_STEPS / pairs - 905e3) < 100);
}

TEST(missing_ranks_are_listed)
{
    struct test_cluster t = {.ranks = 4};
    struct rank_summary *ranks = test_ranks(&t);

    ranks[3].rank = 6;
    struct cluster *c = cluster_find(&arena, ranks, t.ranks);
    assert_int_equal(c->n_missing, 3);
    assert_int_equal(c->missing[0], 3);
    assert_int_equal(c->missing[2], 5);
}

TEST(no_ranks_and_one_rank_have_no_culprits)
{
    struct test_cluster t = {.ranks = 1, .slow = third_is_slow};

    assert_int_equal(cluster_test_find(&t)->n_culprits, 0);
    assert_int_equal(cluster_find(&arena, NULL, 0)->n_culprits, 0);
}

TEST_MAIN("analysis/ranks/cluster", TA(clocks_that_are_off_and_drift_are_aligned),
          TA(a_rank_that_is_a_little_slow_is_named_among_many),
          TA(a_rank_that_is_a_little_slow_is_named_among_few_when_all_its_kernels_show_it),
          TA(the_path_of_any_step_can_be_asked_for), TA(a_rank_that_computes_slowly_is_named),
          TA(stalls_of_one_rank_are_named_with_their_steps),
          TA(stalls_that_fall_on_anybody_are_held_against_nobody),
          TA(slow_storage_is_told_from_stalls), TA(ranks_that_share_no_collective_are_not_compared),
          TA(a_rank_with_fewer_calls_is_left_out_of_that_step_only),
          TA(transfers_that_end_together_are_an_exchange_of_all),
          TA(what_late_ranks_cost_is_said_without_a_culprit), TA(missing_ranks_are_listed),
          TA(a_call_behind_another_in_its_stream_is_sooner_when_that_is),
          TA(no_ranks_and_one_rank_have_no_culprits))
