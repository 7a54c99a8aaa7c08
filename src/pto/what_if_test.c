#include "pto/what_if.h"

#include "pto/testing_run.h"

static const struct pto_what_if *find(const struct pto_what_ifs *list, enum pto_what what, int pipe)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].what == what && (pipe < 0 || (int)list->at[i].a == pipe))
            return &list->at[i];
    return NULL;
}

static int64_t run_with(struct testing_run *r, const struct pto_what_if *w)
{
    struct pto_options options = r->options;

    pto_what_if_apply(w, &options);
    assert_int_equal(pto_sim_run(&r->sim, r->costs, &options, NULL, 0, "t.pto", &r->diag), ST_OK);
    return r->sim.total;
}

TEST(only_what_was_used_is_asked_about)
{
    struct pto_what_ifs list = {0};
    struct testing_run r;

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    pto_what_if_list(&r.outcome, &list);
    assert_non_null(find(&list, PTO_WHAT_BUFFERS, -1));
    assert_non_null(find(&list, PTO_WHAT_INFINITE, PTO_PIPE_MTE2));
    assert_null(find(&list, PTO_WHAT_TWICE, PTO_PIPE_M));
    assert_null(find(&list, PTO_WHAT_BARRIERS, -1));
    assert_null(find(&list, PTO_WHAT_IDEAL, -1));
    vec_free(&list);
    testing_run_close(&r);
}

/* With a buffer for every round the loads run ahead, and only the pipes' own time counts. */
TEST(more_buffers_let_the_rounds_overlap)
{
    struct pto_what_ifs list = {0};
    struct testing_run r;

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    pto_what_if_list(&r.outcome, &list);
    assert_true(run_with(&r, find(&list, PTO_WHAT_BUFFERS, -1)) < r.outcome.total / 2);
    vec_free(&list);
    testing_run_close(&r);
}

TEST(an_infinitely_fast_pipe_saves_its_time_alone)
{
    struct pto_what_ifs list = {0};
    struct testing_run r;

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    pto_what_if_list(&r.outcome, &list);
    int64_t gain = r.outcome.total - run_with(&r, find(&list, PTO_WHAT_INFINITE, PTO_PIPE_MTE2));
    assert_int_equal(gain, 8 * 51);
    vec_free(&list);
    testing_run_close(&r);
}

TEST(no_change_makes_it_slower_and_the_best_comes_first)
{
    struct pto_what_ifs list = {0};
    struct testing_run r;

    testing_run_open(&r, false);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    pto_what_if_list(&r.outcome, &list);
    assert_non_null(find(&list, PTO_WHAT_IDEAL, -1));
    for (size_t i = 0; i < list.n; i++) {
        if (pto_what_if_compiles(&list.at[i]))
            list.at[i].cycles = r.outcome.total;
        else
            list.at[i].cycles = run_with(&r, &list.at[i]);
        assert_true(list.at[i].cycles <= r.outcome.total);
        assert_true(pto_what_if_title(&list.at[i], LANG_EN, &r.arena).n > 0);
        assert_true(pto_what_if_evidence(&list.at[i], LANG_EN, &r.arena).n > 0);
    }
    pto_what_if_rank(&list, 100);
    for (size_t i = 1; i < list.n; i++)
        assert_true(list.at[i - 1].cycles <= list.at[i].cycles);
    assert_true(list.at[0].cycles < r.outcome.total);
    vec_free(&list);
    testing_run_close(&r);
}

TEST_MAIN("pto/what_if", T(only_what_was_used_is_asked_about),
          T(more_buffers_let_the_rounds_overlap), T(an_infinitely_fast_pipe_saves_its_time_alone),
          T(no_change_makes_it_slower_and_the_best_comes_first))
