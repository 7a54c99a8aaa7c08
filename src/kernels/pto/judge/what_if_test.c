#include "kernels/pto/judge/what_if.h"

#include "kernels/pto/testing_run.h"

static int64_t cycles_without(struct testing_run *r, enum limit what)
{
    struct pto_options options = r->options;

    pto_what_if_apply(what, &options);
    assert_int_equal(pto_sim_run(&r->sim, r->costs, &options, NULL, 0, "t.pto", &r->diag), ST_OK);
    return r->sim.total;
}

static const struct limiter *if_find(const struct limit_list *l, enum limit what)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].what == what)
            return &l->at[i];
    return NULL;
}

static void open_loop(struct testing_run *r, bool is_dep)
{
    testing_run_open(r, is_dep);
    testing_run_body(r, testing_loop(&r->arena, ""));
}

TEST(only_what_the_path_leads_through_is_asked_about)
{
    struct testing_run r;

    open_loop(&r, true);
    assert_non_null(if_find(&r.outcome.limits, LIMIT_BUFFERS));
    assert_non_null(if_find(&r.outcome.limits, LIMIT_READ));
    assert_non_null(if_find(&r.outcome.limits, LIMIT_LATENCY));
    assert_null(if_find(&r.outcome.limits, LIMIT_CUBE));
    assert_null(if_find(&r.outcome.limits, LIMIT_SYNC));
    testing_run_close(&r);
}

/* With a buffer for every round the loads run ahead, and only the pipes' own time counts. */
TEST(more_buffers_let_the_rounds_overlap)
{
    struct testing_run r;

    open_loop(&r, true);
    assert_true(cycles_without(&r, LIMIT_BUFFERS) < r.outcome.total / 2);
    testing_run_close(&r);
}

TEST(a_pipe_and_latency_save_their_part_of_the_path)
{
    struct testing_run r;

    open_loop(&r, true);
    assert_int_equal(r.outcome.total - cycles_without(&r, LIMIT_READ), 8 * 51);
    assert_int_equal(if_find(&r.outcome.limits, LIMIT_READ)->path, 8 * 51);
    assert_int_equal(r.outcome.total - cycles_without(&r, LIMIT_LATENCY),
                     if_find(&r.outcome.limits, LIMIT_LATENCY)->path);
    testing_run_close(&r);
}

TEST(a_start_that_takes_no_time_saves_itself)
{
    struct testing_run r;

    testing_run_open(&r, true);
    r.options.start = 500;
    testing_run_body(&r, testing_loop(&r.arena, ""));
    assert_int_equal(if_find(&r.outcome.limits, LIMIT_LAUNCH)->path, 500);
    assert_int_equal(r.outcome.total - cycles_without(&r, LIMIT_LAUNCH), 500);
    testing_run_close(&r);
}

TEST(the_bound_is_the_best_what_if)
{
    struct pto_what_ifs list = {0};
    struct testing_run r;

    open_loop(&r, true);
    struct limit_list *l = &r.outcome.limits;
    for (enum limit what; (what = limits_next(l, true)) != LIMIT_NOTHING;)
        limits_try(l, what, cycles_without(&r, what));
    pto_outcome_judge(&r.outcome);
    pto_what_if_list(l, &list);
    assert_int_equal(l->bound, LIMIT_BUFFERS);
    assert_int_equal(list.at[0].what, l->bound);
    for (size_t i = 0; i < list.n; i++) {
        assert_true(i == 0 || list.at[i - 1].cycles <= list.at[i].cycles);
        assert_true(pto_what_if_title(list.at[i].what, LANG_EN, &r.arena).n > 0);
        assert_true(pto_what_if_evidence(&list.at[i], LANG_EN, &r.arena).n > 0);
    }
    assert_true(limits_text(l, LANG_EN, &r.arena).n > 0);
    vec_free(&list);
    testing_run_close(&r);
}

TEST_MAIN("kernels/pto/judge/what_if", T(only_what_the_path_leads_through_is_asked_about),
          T(more_buffers_let_the_rounds_overlap), T(a_pipe_and_latency_save_their_part_of_the_path),
          T(a_start_that_takes_no_time_saves_itself), T(the_bound_is_the_best_what_if))
