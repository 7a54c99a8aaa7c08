#include "kernels/pto/judge/outcome.h"

#include "kernels/pto/testing_run.h"

static int64_t path_sum(const struct pto_outcome *o)
{
    int64_t sum = 0;

    for (size_t i = 0; i < o->path.n; i++)
        sum += o->path.at[i].cycles;
    return sum;
}

static const struct pto_unit *unit(const struct pto_outcome *o, enum pto_pipe pipe)
{
    for (size_t i = 0; i < o->units.n; i++)
        if (o->units.at[i].pipe == (uint8_t)pipe)
            return &o->units.at[i];
    fail();
    return NULL;
}

/* Load 18 + 33 + 179, add 16 + 25, store 53 + 124, each after the other: 448 a round. */
TEST(a_serial_loop_takes_the_sum_of_its_parts)
{
    struct testing_run r;

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    const struct pto_outcome *o = &r.outcome;
    assert_str(o->kernel, "k");
    assert_in_range(o->total, 8 * 448 - 8, 8 * 448 + 40);
    assert_int_equal(o->instructions, 24);
    assert_int_equal(unit(o, PTO_PIPE_MTE2)->busy, 8 * 51);
    assert_int_equal(unit(o, PTO_PIPE_MTE3)->busy, 8 * 53);
    assert_int_equal(limits_next(&o->limits, false), LIMIT_BUFFERS);
    assert_int_equal(path_sum(o), o->total);
    assert_true(o->is_complete && !o->is_degenerate);
    testing_run_close(&r);
}

TEST(stalls_tell_who_waited_for_whom)
{
    struct testing_run r;
    int64_t by_list[PTO_PIPE_COUNT] = {0};

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    const struct pto_outcome *o = &r.outcome;
    for (size_t i = 0; i < o->stalls.n; i++) {
        const struct pto_stall *s = &o->stalls.at[i];
        by_list[s->pipe] += s->cycles;
        if (s->pipe == PTO_PIPE_V && s->cause == PTO_CAUSE_RAW)
            assert_int_equal(s->from, PTO_PIPE_MTE2);
        if (s->pipe == PTO_PIPE_MTE2 && s->cause == PTO_CAUSE_WAR)
            assert_int_equal(s->from, PTO_PIPE_MTE3);
        assert_true(i == 0 || o->stalls.at[i - 1].cycles >= s->cycles);
    }
    for (size_t i = 0; i < o->units.n; i++) {
        int64_t sum = 0;
        for (int why = 1; why < PTO_CAUSE_COUNT; why++)
            sum += o->units.at[i].stall[why];
        assert_int_equal(by_list[o->units.at[i].pipe], sum);
    }
    testing_run_close(&r);
}

TEST(the_path_of_flags_adds_up_too)
{
    struct testing_run r;

    testing_run_open(&r, false);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    assert_int_equal(path_sum(&r.outcome), r.outcome.total);
    testing_run_close(&r);
}

TEST(bytes_are_counted_by_path)
{
    struct testing_run r;

    testing_run_open(&r, true);
    testing_run_body(&r, testing_loop(&r.arena, ""));
    assert_int_equal(r.outcome.flows.n, 2);
    assert_int_equal(r.outcome.flows.at[0].src, PTO_GM);
    assert_int_equal(r.outcome.flows.at[0].dst, PTO_VEC);
    assert_int_equal(r.outcome.flows.at[0].bytes, 8 * 4096);
    assert_int_equal(r.outcome.macs, 0);
    testing_run_close(&r);
}

TEST(a_loop_over_data_nobody_supplied_is_degenerate)
{
    struct testing_run r;

    testing_run_open(&r, true);
    testing_run_body(&r, "%x = pto.load_scalar %b[%c0] : !pto.ptr<i32> -> i32\n"
                         "%n2 = arith.index_cast %x : i32 to index\n"
                         "%t = pto.alloc_tile addr = %z : !pto.tile_buf<vec, 16x64xf32>\n"
                         "%f = arith.constant 1.0 : f32\n"
                         "scf.for %i = %c0 to %n2 step %c1 {\n"
                         "pto.texpands ins(%f : f32) outs(%t : !pto.tile_buf<vec, 16x64xf32>)\n}");
    assert_true(r.outcome.is_degenerate);
    assert_int_equal(r.outcome.assumed.n, 1);
    assert_str(r.outcome.assumed.at[0].name, "b");
    assert_true(r.outcome.assumed.at[0].is_pointer);
    assert_int_equal(r.outcome.assumed.at[0].kind, PTO_ASSUMED_BOUND);
    testing_run_close(&r);
}

TEST(an_empty_kernel_is_bound_by_nothing)
{
    struct testing_run r;

    testing_run_open(&r, false);
    testing_run_body(&r, "");
    assert_int_equal(r.outcome.limits.bound, LIMIT_NOTHING);
    assert_false(r.outcome.is_degenerate);
    testing_run_close(&r);
}

TEST_MAIN("kernels/pto/judge/outcome", T(a_serial_loop_takes_the_sum_of_its_parts),
          T(stalls_tell_who_waited_for_whom), T(the_path_of_flags_adds_up_too),
          T(bytes_are_counted_by_path), T(a_loop_over_data_nobody_supplied_is_degenerate),
          T(an_empty_kernel_is_bound_by_nothing))
