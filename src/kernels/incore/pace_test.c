#include "kernels/incore/breakdown.h"

#include "base/testing.h"

/* Two rounds of load and add: the second load waits until its buffer is read. */
struct told_instr {
    const char *pipe;
    double ts, dur;
};

struct pace_case {
    struct incore_trace t;
    struct incore_lanes lanes;
    struct incore_arrows arrows;
    struct limit_list limits;
};

static void build(struct pace_case *c, const struct told_instr *at, size_t n)
{
    incore_trace_init(&c->t, (struct incore_rules){.keep_scalar = true});
    for (size_t i = 0; i < n; i++)
        incore_trace_instr(&c->t, S("core0.veccore0"), str_of(at[i].pipe), S("op"),
                           (struct incore_instr){.ts = at[i].ts, .dur = at[i].dur});
    incore_lanes_build(&c->lanes, &c->t);
    c->arrows = (struct incore_arrows){0};
    arena_init(&c->arrows.arena);
}

static void pace_join(struct pace_case *c, uint32_t from, uint32_t to)
{
    vec_push(&c->arrows.list, ((struct incore_arrow){.from = from, .to = to}));
}

static const struct limiter *pace_find(const struct pace_case *c, enum limit what)
{
    for (size_t i = 0; i < c->limits.n; i++)
        if (c->limits.at[i].what == what)
            return &c->limits.at[i];
    fail();
    return NULL;
}

static void drop(struct pace_case *c)
{
    incore_arrows_free(&c->arrows);
    incore_lanes_free(&c->lanes);
    incore_trace_free(&c->t);
}

static const struct told_instr two_rounds[] = {
    {"MTE2", 0, 4}, {"VECTOR", 5, 1}, {"MTE2", 6, 4}, {"VECTOR", 11, 1}};

TEST(the_replay_gives_the_part_of_each_resource)
{
    struct pace_case c;

    build(&c, two_rounds, ARRAY_LEN(two_rounds));
    pace_join(&c, 0, 1);
    pace_join(&c, 1, 2);
    pace_join(&c, 2, 3);
    incore_pace(&c.t, &c.lanes, &c.arrows, &c.limits);
    assert_int_equal(c.limits.total, 12000000);
    assert_int_equal(c.limits.bound, LIMIT_READ);
    assert_int_equal(pace_find(&c, LIMIT_READ)->saved, 8000000);
    assert_int_equal(pace_find(&c, LIMIT_VECTOR)->saved, 2000000);
    assert_int_equal(pace_find(&c, LIMIT_LATENCY)->path, 2000000); /* after each load */
    assert_int_equal(pace_find(&c, LIMIT_LATENCY)->saved, 2000000);
    assert_int_equal(pace_find(&c, LIMIT_BUFFERS)->saved, 2000000); /* the second load at 4 */
    drop(&c);
}

TEST(without_flags_only_the_pipes_count)
{
    struct pace_case c;

    build(&c, two_rounds, 1);
    incore_pace(&c.t, &c.lanes, NULL, &c.limits);
    assert_int_equal(c.limits.n, 1);
    assert_int_equal(c.limits.bound, LIMIT_READ);
    assert_int_equal(c.limits.at[0].saved, 4000000);
    drop(&c);
}

TEST(marks_of_the_program_are_no_work)
{
    static const struct told_instr marks[] = {{"USERMARK", 0, 3}, {"VECTOR", 1, 2}};
    struct pace_case c;

    build(&c, marks, ARRAY_LEN(marks));
    incore_pace(&c.t, &c.lanes, NULL, &c.limits);
    assert_int_equal(c.limits.total, 2000000);
    assert_int_equal(c.limits.bound, LIMIT_VECTOR);
    drop(&c);
}

TEST(time_without_work_has_no_bound)
{
    static const struct told_instr marks[] = {{"USERMARK", 0, 100}, {"SCALAR", 1, 2}};
    struct pace_case c;

    build(&c, marks, ARRAY_LEN(marks));
    incore_pace(&c.t, &c.lanes, NULL, &c.limits);
    assert_int_equal(c.limits.bound, LIMIT_UNSEEN);
    assert_null(limits_first(&c.limits));
    drop(&c);
}

TEST_MAIN("kernels/incore/pace", T(the_replay_gives_the_part_of_each_resource),
          T(without_flags_only_the_pipes_count), T(marks_of_the_program_are_no_work),
          T(time_without_work_has_no_bound))
