#include "kernels/pto/judge/lines.h"

#include <math.h>

#include "kernels/pto/testing_run.h"

static void open_lines(struct testing_run *r, struct pto_lines *l)
{
    testing_run_open(r, false);
    r->options.counts_steps = true;
    testing_run_body(r, testing_loop(&r->arena, ""));
    pto_lines_init(l);
    pto_lines_fill(l, &r->sim);
}

static void close_lines(struct testing_run *r, struct pto_lines *l)
{
    pto_lines_free(l);
    testing_run_close(r);
}

TEST(each_operation_has_its_line_with_busy_and_stalls)
{
    struct testing_run r;
    struct pto_lines l;
    int64_t path = 0, from_path = 0;

    open_lines(&r, &l);
    assert_int_equal(l.lines.n, 3);
    assert_int_equal(l.lines.at[0].code, PTO_TLOAD);
    assert_int_equal(l.lines.at[0].pipe, PTO_PIPE_MTE2);
    assert_int_equal(l.lines.at[0].count, 8);
    assert_int_equal(l.lines.at[0].busy, 8 * 51);
    assert_int_equal(l.lines.at[0].line + 1, l.lines.at[1].line);
    assert_true(l.lines.at[2].stall > 0);
    assert_int_equal(l.lines.at[2].cause, PTO_CAUSE_FLAG);
    for (size_t i = 0; i < l.lines.n; i++)
        path += l.lines.at[i].path;
    for (size_t i = 0; i < r.outcome.path.n; i++)
        from_path += r.outcome.path.at[i].cycles;
    assert_in_range(path, from_path * 9 / 10, from_path); /* the rest is between instructions */
    close_lines(&r, &l);
}

TEST(vector_operations_tell_their_lanes)
{
    struct testing_run r;
    struct pto_lines l;

    open_lines(&r, &l);
    assert_true(isnan(l.lines.at[0].lanes));
    assert_int_equal(l.lines.at[0].conflict, -1);
    assert_true(l.lines.at[1].lanes == 1);
    assert_int_equal(l.lines.at[1].conflict, 0);
    close_lines(&r, &l);
}

TEST(operations_add_up_the_lines)
{
    struct testing_run r;
    struct pto_lines l;

    open_lines(&r, &l);
    assert_int_equal(l.ops.n, 3);
    for (size_t i = 1; i < l.ops.n; i++)
        assert_true(l.ops.at[i - 1].busy >= l.ops.at[i].busy);
    assert_int_equal(l.scalar.n, 0); /* a loop and no arithmetic */
    close_lines(&r, &l);
}

TEST(the_tile_lives_from_its_first_load_to_its_last_store)
{
    struct testing_run r;
    struct pto_lines l;

    open_lines(&r, &l);
    assert_int_equal(l.tiles.n, 1);
    assert_str(l.tiles.at[0].name, "%t");
    assert_int_equal(l.tiles.at[0].hi - l.tiles.at[0].lo, 4096);
    assert_int_equal(l.tiles.at[0].count, 24);
    assert_int_equal(l.peaks.n, 1);
    assert_int_equal(l.peaks.at[0].peak, 4096);
    assert_int_equal(l.peaks.at[0].space, PTO_VEC);
    assert_in_range(l.tiles.at[0].last, r.outcome.total - 8, r.outcome.total);
    close_lines(&r, &l);
}

TEST_MAIN("kernels/pto/judge/lines", T(each_operation_has_its_line_with_busy_and_stalls),
          T(vector_operations_tell_their_lanes), T(operations_add_up_the_lines),
          T(the_tile_lives_from_its_first_load_to_its_last_store))
