#include "analysis/idle/evidence.h"

#include <math.h>

#include "analysis/idle/bubbles.h"
#include "analysis/testing_study.h"

static void evidence_add(enum lane_kind lane, int64_t tid, enum slice_kind kind, const char *name,
                         nanos begin, nanos end)
{
    struct lane_key key = {.kind = lane, .pid = 1, .tid = tid};

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = end - begin,
                                       .lane = capture_lane(cap, key),
                                       .kind = kind,
                                       .name = capture_intern(cap, str_of(name))});
}

static void evidence_kernel(nanos begin, nanos end)
{
    evidence_add(LANE_STREAM, 0, SLICE_COMPUTE, "MatMul", begin, end);
}

static void host(int64_t tid, const char *name, nanos begin, nanos end)
{
    evidence_add(LANE_THREAD, tid, SLICE_HOST_OP, name, begin, end);
}

static const struct evidence *evidence_look(void)
{
    start_study();
    return study_evidence(&study);
}

/* (host, sync, comm, parallelism) to labels; a negative parallelism stands for "not known". */
TEST(labels_change_exactly_at_their_limits)
{
    static const struct {
        double h, s, c, p;
        unsigned labels;
    } table[] = {
        {1, 0.2, 0, -1, LABEL_SYNC_OR_H2D},
        {1, 0.19999, 0, -1, LABEL_LAUNCH_LAG},
        {0, 0.3, 0, -1, LABEL_SYNC_OR_H2D | LABEL_UNTRACED_HOST},
        {0.05, 0, 0, 1.1, LABEL_PYTHON_SERIAL},
        {0.04999, 0, 0, 1.1, LABEL_UNTRACED_HOST},
        {0.0999, 0, 0, 1.2, LABEL_INSUFFICIENT},
        {0.0999, 0, 0, 1.19, LABEL_PYTHON_SERIAL},
        {0.10, 0, 0, 1.0, LABEL_LAUNCH_LAG},
        {0.07, 0, 0, -1, LABEL_INSUFFICIENT},
        {0.5, 0.2, 0.2, -1, LABEL_SYNC_OR_H2D | LABEL_COMM_WAIT},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        double p = table[i].p < 0 ? NAN : table[i].p;
        assert_int_equal(evidence_labels(table[i].h, table[i].s, table[i].c, p), table[i].labels);
    }
    assert_int_equal(evidence_labels(NAN, NAN, NAN, NAN), LABEL_UNTRACED_HOST);
}

/* A gap of 10 ms; two threads cover [1,5) and [3,7): together 6 of 10, at work 4 + 4 = 8. */
TEST(shares_are_those_of_unions_and_threads_count_apart)
{
    evidence_kernel(0, 10 * MS);
    evidence_kernel(20 * MS, 30 * MS);
    host(7, "aten::add", 11 * MS, 15 * MS);
    host(8, "aten::mul", 13 * MS, 17 * MS);
    host(7, "aten::to", 14 * MS, 15 * MS); /* inside the first: adds nothing but is a copy */
    const struct evidence *e = evidence_look();

    assert_int_equal(study_bubbles(&study)->n, 1);
    assert_true(e->host == 0.6);
    assert_true(e->sync == 0.1);
    assert_true(e->comm == 0);
    assert_true(fabs(e->parallelism - 8.0 / 6.0) < 1e-12);
    assert_int_equal(e->labels, LABEL_LAUNCH_LAG);
    assert_int_equal(e->n_ops, 3);
    assert_str(capture_text(cap, e->ops[0].name), "aten::add");
    assert_int_equal(e->ops[2].overlap, 1 * MS);
}

TEST(an_event_over_several_bubbles_counts_in_each)
{
    evidence_kernel(0, 1 * MS);
    evidence_kernel(2 * MS, 3 * MS);
    evidence_kernel(4 * MS, 5 * MS);
    host(7, "cudaDeviceSynchronize", MS / 2, 5 * MS);
    const struct evidence *e = evidence_look();

    assert_int_equal(study_bubbles(&study)->n, 2);
    assert_true(e[0].sync == 1 && e[1].sync == 1);
    assert_int_equal(e[0].labels, LABEL_SYNC_OR_H2D);
}

/* A frame around everything, as long as the step, would make every coverage 1. */
TEST(a_frame_that_spans_the_step_is_no_evidence)
{
    evidence_kernel(0, 10 * MS);
    evidence_kernel(20 * MS, 30 * MS);
    evidence_add(LANE_THREAD, 7, SLICE_PYTHON, "main()", 0, 30 * MS);
    evidence_add(LANE_THREAD, 7, SLICE_PYTHON, "forward()", 12 * MS, 14 * MS);
    const struct evidence *e = evidence_look();

    assert_true(e->host == 0.2);
}

/* A range of 12 ms around a sleep of 10 ms, in a step of 30. */
TEST(a_range_of_nvtx_is_no_evidence)
{
    evidence_kernel(0, 10 * MS);
    evidence_kernel(20 * MS, 30 * MS);
    evidence_add(LANE_THREAD, 7, SLICE_ANNOTATION, "step", 9 * MS, 21 * MS);
    capture_source(cap, (struct source){.path = "t", .format = "strata-trace"});
    const struct evidence *e = evidence_look();

    assert_true(e->host == 0);
    assert_int_equal(e->n_ops, 0);
    assert_int_equal(e->labels, LABEL_UNTRACED_HOST);
}

TEST(device_waits_speak_for_communication)
{
    evidence_kernel(0, 10 * MS);
    evidence_kernel(20 * MS, 30 * MS);
    evidence_add(LANE_STREAM, 0, SLICE_WAIT, "EVENT_WAIT", 10 * MS, 20 * MS);
    host(7, "x", 0, 1);
    const struct evidence *e = evidence_look();

    assert_true(e->comm == 1 && e->host == 0);
    assert_int_equal(e->labels, LABEL_COMM_WAIT | LABEL_UNTRACED_HOST);
}

TEST(without_host_events_shares_are_not_known)
{
    evidence_kernel(0, 10 * MS);
    evidence_kernel(20 * MS, 30 * MS);
    const struct evidence *e = evidence_look();

    assert_true(isnan(e->host) && isnan(e->sync) && isnan(e->comm) && isnan(e->parallelism));
    assert_int_equal(e->labels, LABEL_UNTRACED_HOST);
}

/* Against a plain computation of every pair, on random overlapping events. */
TEST(random_events_give_what_a_plain_sum_gives)
{
    enum { EVENTS = 300, CELLS = 4000 };
    static bool covered[CELLS];
    uint32_t seed = 3;

    for (int i = 0; i < 40; i++)
        evidence_kernel((nanos)i * 100 * MS, (nanos)i * 100 * MS + 30 * MS); /* gaps [30,100) */
    for (int i = 0; i < EVENTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        int begin = (int)(seed >> 16) % 3900, length = 1 + (int)(seed >> 8) % 90;
        host(seed % 5, "op", (nanos)begin * MS, (nanos)(begin + length) * MS);
        for (int t = begin; t < begin + length && t < CELLS; t++)
            covered[t] = true;
    }
    const struct evidence *e = evidence_look();
    const struct bubbles *b = study_bubbles(&study);

    assert_int_equal(b->n, 39);
    for (size_t i = 0; i < b->n; i++) {
        int from = (int)(b->list[i].at.begin / MS), to = (int)(b->list[i].at.end / MS), sum = 0;
        for (int t = from; t < to; t++)
            sum += covered[t];
        assert_true(fabs(e[i].host - (double)sum / (to - from)) < 1e-12);
    }
}

TEST_MAIN("analysis/idle/evidence", T(labels_change_exactly_at_their_limits),
          CASE(shares_are_those_of_unions_and_threads_count_apart),
          CASE(an_event_over_several_bubbles_counts_in_each),
          CASE(a_frame_that_spans_the_step_is_no_evidence), CASE(a_range_of_nvtx_is_no_evidence),
          CASE(device_waits_speak_for_communication),
          CASE(without_host_events_shares_are_not_known),
          CASE(random_events_give_what_a_plain_sum_gives))
