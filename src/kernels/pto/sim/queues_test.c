#include "kernels/pto/sim/queues.h"

#include "base/testing.h"

static struct pto_moment queues_run(struct pto_queues *q, enum pto_pipe pipe, int64_t occupied,
                                    int64_t latency, struct pto_moment wait)
{
    struct pto_issue issue = {.site = 7,
                              .pipe = (uint8_t)pipe,
                              .occupied = occupied,
                              .latency = latency,
                              .is_blocking = pipe == PTO_PIPE_S};

    return pto_queues_run(q, &issue, wait);
}

static struct pto_moment none(void)
{
    return (struct pto_moment){.record = PTO_NO_RECORD};
}

TEST(independent_instructions_stream_and_pay_the_latency_once)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    assert_int_equal(queues_run(&q, PTO_PIPE_V, 16, 25, none()).at, 41);
    assert_int_equal(queues_run(&q, PTO_PIPE_V, 16, 25, none()).at, 57);
    assert_int_equal(q.records.at[1].start, 16);
    assert_int_equal(q.records.at[1].before, 0);
    assert_int_equal(q.records.at[1].stall, 0);
    assert_int_equal(pto_queues_end(&q).at, 57);
    assert_int_equal(q.pipe[PTO_PIPE_V].busy + q.pipe[PTO_PIPE_V].burst_latency, 57);
    pto_queues_free(&q);
}

TEST(a_wait_stalls_the_queue_and_is_kept_as_the_cause)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    struct pto_moment load = queues_run(&q, PTO_PIPE_MTE2, 30, 200, none());
    load.cause = PTO_CAUSE_RAW;
    queues_run(&q, PTO_PIPE_V, 16, 25, load);
    const struct pto_record *r = &q.records.at[1];
    assert_int_equal(r->start, 230);
    assert_int_equal(r->stall, 230);
    assert_int_equal(r->cause, PTO_CAUSE_RAW);
    assert_int_equal(r->from, PTO_PIPE_MTE2);
    assert_int_equal(r->before, 0);
    assert_int_equal(q.pipe[PTO_PIPE_V].stall[PTO_CAUSE_RAW], 230);
    assert_int_equal(q.pipe[PTO_PIPE_V].first, 230);
    assert_int_equal(q.pipe[PTO_PIPE_V].until, 271);
    pto_queues_free(&q);
}

TEST(the_vector_queue_is_busy_as_long_as_something_is_under_way)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    queues_run(&q, PTO_PIPE_V, 10, 25, none()); /* 0..35 */
    queues_run(&q, PTO_PIPE_V, 10, 25,
               (struct pto_moment){.at = 12, .record = PTO_NO_RECORD}); /* ..47 */
    queues_run(&q, PTO_PIPE_V, 10, 25,
               (struct pto_moment){.at = 100, .record = PTO_NO_RECORD}); /* 100..135 */
    assert_int_equal(q.pipe[PTO_PIPE_V].busy + q.pipe[PTO_PIPE_V].burst_latency, 47 + 35);
    queues_run(&q, PTO_PIPE_MTE2, 10, 200, none());
    assert_int_equal(q.pipe[PTO_PIPE_MTE2].busy, 10);
    pto_queues_free(&q);
}

TEST(the_scalar_unit_dispatches_in_program_order)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    pto_queues_scalar(&q, 5);
    queues_run(&q, PTO_PIPE_V, 10, 0, none());
    assert_int_equal(q.records.at[0].start, 5);
    assert_int_equal(q.records.at[0].cause, PTO_CAUSE_SCALAR);
    queues_run(&q, PTO_PIPE_S, 100, 20, none()); /* blocks until its result is there */
    queues_run(&q, PTO_PIPE_MTE2, 10, 0, none());
    assert_int_equal(q.records.at[2].start, 125);
    pto_queues_free(&q);
}

TEST(a_flag_fires_when_everything_before_it_is_ready)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    q.issue = 1;
    q.flag_latency = 3;
    queues_run(&q, PTO_PIPE_MTE2, 30, 200, none());
    pto_queues_set(&q, 1, PTO_PIPE_MTE2, PTO_PIPE_V, 2);
    queues_run(&q, PTO_PIPE_MTE2, 30, 200, none());
    assert_int_equal(q.records.at[2].start, 31); /* the set takes one cycle, no more */
    assert_false(pto_queues_wait(&q, 1, PTO_PIPE_MTE2, PTO_PIPE_V, 1));
    assert_false(pto_queues_wait(&q, 1, PTO_PIPE_V, PTO_PIPE_MTE2, 2));
    assert_true(pto_queues_wait(&q, 1, PTO_PIPE_MTE2, PTO_PIPE_V, 2));
    assert_false(pto_queues_wait(&q, 1, PTO_PIPE_MTE2, PTO_PIPE_V, 2));
    queues_run(&q, PTO_PIPE_V, 10, 0, none());
    const struct pto_record *wait = &q.records.at[3];
    assert_int_equal(wait->start, 233);
    assert_int_equal(wait->cause, PTO_CAUSE_FLAG);
    assert_int_equal(wait->from, PTO_PIPE_MTE2);
    assert_true(wait->is_sync);
    assert_int_equal(q.records.at[4].start, 234);
    assert_int_equal(q.pipe[PTO_PIPE_V].count, 1);
    pto_queues_free(&q);
}

TEST(flags_of_one_name_are_taken_in_the_order_they_were_set)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    queues_run(&q, PTO_PIPE_MTE2, 10, 0, none());
    pto_queues_set(&q, 0, PTO_PIPE_MTE2, PTO_PIPE_V, 0);
    queues_run(&q, PTO_PIPE_MTE2, 10, 0, none());
    pto_queues_set(&q, 0, PTO_PIPE_MTE2, PTO_PIPE_V, 0);
    assert_true(pto_queues_wait(&q, 0, PTO_PIPE_MTE2, PTO_PIPE_V, 0));
    assert_int_equal(q.pipe[PTO_PIPE_V].free, 10);
    assert_true(pto_queues_wait(&q, 0, PTO_PIPE_MTE2, PTO_PIPE_V, 0));
    assert_int_equal(q.pipe[PTO_PIPE_V].free, 20);
    pto_queues_free(&q);
}

TEST(a_barrier_drains_its_pipe_or_all_of_them)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    q.issue = 1;
    queues_run(&q, PTO_PIPE_V, 10, 25, none());
    queues_run(&q, PTO_PIPE_MTE2, 10, 300, none());
    pto_queues_barrier(&q, 0, PTO_PIPE_V);
    queues_run(&q, PTO_PIPE_V, 10, 25, none());
    assert_int_equal(q.records.at[3].start, 36);
    pto_queues_barrier(&q, 0, PTO_PIPE_ALL);
    queues_run(&q, PTO_PIPE_MTE3, 10, 0, none());
    assert_int_equal(q.records.at[5].start, 311);
    pto_queues_free(&q);
}

TEST(tokens_of_other_cores_take_their_turn)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    q.issue = 1;
    queues_run(&q, PTO_PIPE_V, 10, 25, none());
    assert_int_equal(pto_queues_signal(&q, 0, PTO_PIPE_V).at, 35);
    queues_run(&q, PTO_PIPE_V, 10, 25, none());
    assert_int_equal(q.records.at[2].start, 11);
    assert_int_equal(pto_queues_signal(&q, 0, PTO_PIPE_ALL).at, 46);
    pto_queues_await(&q, 0, PTO_PIPE_MTE3, (struct pto_moment){.at = 90, .record = PTO_NO_RECORD});
    queues_run(&q, PTO_PIPE_MTE3, 10, 0, none());
    assert_int_equal(q.records.at[q.records.n - 1].start, 91);
    pto_queues_await(&q, 0, PTO_PIPE_ALL, (struct pto_moment){.at = 500, .record = PTO_NO_RECORD});
    queues_run(&q, PTO_PIPE_MTE2, 10, 0, none());
    assert_int_equal(q.records.at[q.records.n - 1].start, 501);
    pto_queues_free(&q);
}

TEST(a_late_instruction_counts_from_when_it_was_dispatched)
{
    struct pto_queues q;
    struct pto_moment issued = {.at = 4, .record = PTO_NO_RECORD, .cause = PTO_CAUSE_SCALAR};

    pto_queues_init(&q, 100);
    pto_queues_scalar(&q, 50);
    q.late = &issued;
    queues_run(&q, PTO_PIPE_V, 10, 0, none());
    q.late = NULL;
    queues_run(&q, PTO_PIPE_MTE3, 10, 0, none());
    assert_int_equal(q.records.at[0].start, 4);
    assert_int_equal(q.records.at[1].start, 50);
    pto_queues_free(&q);
}

TEST(a_reset_forgets_everything)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    queues_run(&q, PTO_PIPE_V, 10, 25, none());
    pto_queues_set(&q, 0, PTO_PIPE_V, PTO_PIPE_MTE3, 0);
    pto_queues_barrier(&q, 0, PTO_PIPE_ALL);
    pto_queues_reset(&q, 0);
    assert_int_equal(pto_queues_end(&q).at, 0);
    assert_int_equal(pto_queues_end(&q).record, PTO_NO_RECORD);
    assert_false(pto_queues_wait(&q, 0, PTO_PIPE_V, PTO_PIPE_MTE3, 0));
    assert_int_equal(q.n_records, 0);
    queues_run(&q, PTO_PIPE_V, 10, 25, none());
    assert_int_equal(q.records.at[0].start, 0);
    pto_queues_free(&q);
}

static struct pto_moment transfer(struct pto_queues *q, enum pto_pipe pipe, int64_t occupied,
                                  int64_t service)
{
    struct pto_issue issue = {.pipe = (uint8_t)pipe,
                              .occupied = occupied,
                              .service = service,
                              .is_write = pipe == PTO_PIPE_MTE3};

    return pto_queues_run(q, &issue, none());
}

TEST(reads_wait_for_memory_and_writes_are_left_to_it)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    q.slack = 50;
    assert_int_equal(transfer(&q, PTO_PIPE_MTE2, 10, 100).at, 100);
    assert_int_equal(transfer(&q, PTO_PIPE_MTE3, 10, 30).at, 80); /* 50 may be left behind */
    assert_int_equal(transfer(&q, PTO_PIPE_MTE2, 10, 100).at, 230);
    assert_int_equal(q.pipe[PTO_PIPE_MTE2].busy, 230);
    pto_queues_scalar(&q, 1000); /* what others did not use in the meantime: 50 */
    assert_int_equal(transfer(&q, PTO_PIPE_MTE2, 10, 100).at, 1050);
    pto_queues_free(&q);
}

TEST(nothing_runs_before_the_start)
{
    struct pto_queues q;

    pto_queues_init(&q, 100);
    pto_queues_reset(&q, 600);
    assert_int_equal(queues_run(&q, PTO_PIPE_V, 16, 25, none()).at, 641);
    assert_int_equal(q.records.at[0].stall, 0);
    pto_queues_free(&q);
}

TEST(causes_have_names)
{
    assert_string_equal(pto_cause_name(PTO_CAUSE_RAW), "raw");
    assert_string_equal(pto_cause_name(PTO_CAUSE_SCALAR), "scalar");
    assert_string_equal(pto_cause_name((enum pto_cause)99), "?");
}

TEST_MAIN("kernels/pto/sim/queues", T(independent_instructions_stream_and_pay_the_latency_once),
          T(a_wait_stalls_the_queue_and_is_kept_as_the_cause),
          T(the_vector_queue_is_busy_as_long_as_something_is_under_way),
          T(the_scalar_unit_dispatches_in_program_order),
          T(a_flag_fires_when_everything_before_it_is_ready),
          T(flags_of_one_name_are_taken_in_the_order_they_were_set),
          T(a_barrier_drains_its_pipe_or_all_of_them), T(tokens_of_other_cores_take_their_turn),
          T(a_late_instruction_counts_from_when_it_was_dispatched), T(a_reset_forgets_everything),
          T(reads_wait_for_memory_and_writes_are_left_to_it), T(nothing_runs_before_the_start),
          T(causes_have_names))
