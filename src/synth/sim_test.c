#include "synth/sim.h"

#include "base/testing.h"
#include "synth/truth.h"

static struct synth_options options_for(enum synth_mode mode, int64_t ranks)
{
    struct synth_options o = SYNTH_DEFAULTS;

    o.mode = mode;
    o.ranks = ranks;
    o.straggler = ranks - 1;
    o.skew = 70000;
    return o;
}

/* What holds for every record of every run. */
static void check_step(const struct rank *r)
{
    const struct synth_step *s = &r->step;
    nanos end[STREAM_COUNT] = {0};

    for (size_t i = 0; i < s->host.n; i++) {
        assert_true(s->host.at[i].dur >= 0);
        assert_true(s->host.at[i].begin >= s->begin);
        assert_true(s->host.at[i].begin + s->host.at[i].dur <= s->next_begin);
    }
    for (size_t i = 0; i < s->tasks.n; i++) {
        const struct synth_task *t = &s->tasks.at[i];
        assert_true(t->dur > 0);
        assert_true(t->begin >= end[t->stream]); /* a stream runs in order */
        assert_true(t->begin > t->api);
        assert_true(s->is_cut || t->begin < s->next_begin);
        end[t->stream] = t->begin + t->dur;
    }
}

TEST(streams_run_in_order_and_after_their_launch)
{
    static const enum synth_mode modes[] = {SYNTH_MIXED, SYNTH_TRAIN};

    for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
        struct synth_options o = options_for(modes[m], 2);
        struct arena a;
        struct sim s;
        arena_init(&a);
        sim_init(&s, &o, &a);
        for (int step = 0; step < 10; step++) {
            sim_step(&s, false);
            for (int i = 0; i < s.ranks_n; i++)
                check_step(&s.ranks[i]);
        }
        sim_fini(&s);
        arena_free(&a);
    }
}

TEST(a_collective_ends_for_all_ranks_at_once)
{
    struct synth_options o = options_for(SYNTH_DECODE, 3);
    struct arena a;
    struct sim s;
    nanos ends[3][256] = {{0}};
    size_t n[3] = {0};

    arena_init(&a);
    sim_init(&s, &o, &a);
    sim_step(&s, false);
    for (int r = 0; r < 3; r++)
        for (size_t i = 0; i < s.ranks[r].step.tasks.n; i++) {
            const struct synth_task *t = &s.ranks[r].step.tasks.at[i];
            if (t->kind == TASK_COMM)
                ends[r][n[r]++] = t->begin + t->dur - s.ranks[r].skew;
        }
    assert_true(n[0] > 4);
    for (int r = 1; r < 3; r++) {
        assert_int_equal(n[r], n[0]);
        for (size_t i = 0; i < n[0]; i++)
            assert_int_equal(ends[r][i], ends[0][i]);
    }
    sim_fini(&s);
    arena_free(&a);
}

TEST(the_truth_adds_up_and_a_training_step_reaches_into_the_next)
{
    struct synth_options o = options_for(SYNTH_TRAIN, 1);
    struct arena a;
    struct sim s;
    struct truth t;

    arena_init(&a);
    o.straggler = -1;
    sim_init(&s, &o, &a);
    truth_init(&t, &s.ranks[0], 1);
    for (int i = 0; i < 8; i++) {
        sim_step(&s, false);
        truth_step(&t);
    }
    truth_finish(&t);
    assert_int_equal(t.steps.n, 8);
    nanos busy = 0;
    for (size_t i = 0; i < t.steps.n; i++) {
        for (int v = 0; v < VIEWS; v++) {
            const struct account_window *w = &t.steps.at[i].views[v];
            assert_int_equal(w->underfeed, w->prelaunch + w->internal + w->tail);
            assert_int_equal(w->service, w->busy + w->underfeed);
        }
        busy += t.steps.at[i].views[VIEW_HOST].busy;
    }
    assert_int_equal(busy, t.busy); /* what crosses a border is counted once */
    assert_int_equal(t.steps.at[1].views[VIEW_HOST].prelaunch, 0);
    truth_fini(&t);
    sim_fini(&s);
    arena_free(&a);
}

TEST_MAIN("synth/sim", T(streams_run_in_order_and_after_their_launch),
          T(a_collective_ends_for_all_ranks_at_once),
          T(the_truth_adds_up_and_a_training_step_reaches_into_the_next))
