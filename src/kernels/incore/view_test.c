/*
 * Sums, strips and differences of small traces.
 */
#include "kernels/incore/view.h"

#include "base/testing.h"

#define EVENT(tid, name, ts, dur)                                                                  \
    "{\"ph\":\"X\",\"pid\":\"c\",\"tid\":\"" tid "\",\"name\":\"" name "\",\"ts\":" ts             \
    ",\"dur\":" dur "}"
#define WAIT(begin, end)                                                                           \
    "{\"ph\":\"B\",\"pid\":\"c\",\"tid\":\"VECTOR\",\"name\":\"WAIT_FLAG\",\"ts\":" begin          \
    ",\"args\":{\"detail\":\"PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:3\"}},{\"ph\":\"E\",\"pid\":"        \
    "\"c\",\"tid\":\"VECTOR\",\"name\":\"WAIT_FLAG\",\"ts\":" end "}"

struct seen {
    struct incore_trace t;
    struct incore_lanes lanes;
    struct incore_view v;
};

static void view_read(struct seen *s, struct str text, size_t columns)
{
    struct str reason;

    assert_int_equal(incore_trace_read(&s->t, text, (struct incore_rules){.keep_scalar = true},
                                       (struct incore_watch){0}, &reason),
                     ST_OK);
    incore_lanes_build(&s->lanes, &s->t);
    incore_view_build(&s->v, &s->t, &s->lanes, columns);
}

static void drop(struct seen *s)
{
    incore_view_free(&s->v);
    incore_lanes_free(&s->lanes);
    incore_trace_free(&s->t);
}

static const struct str run_a =
    S_INIT("{\"traceEvents\":[" EVENT("MTE2", "load", "10", "4") "," EVENT(
        "MTE2", "load", "12", "2") "," EVENT("VECTOR", "add", "15", "3") "," WAIT("11", "15") "]}");
static const struct str run_b = S_INIT(
    "{\"traceEvents\":[" EVENT("MTE2", "load", "0", "4") "," EVENT("VECTOR", "mul", "5", "3") "]}");

TEST(instructions_are_summed_by_pipe_and_name)
{
    struct seen s;

    view_read(&s, run_a, 0);
    assert_int_equal(s.v.tops.n, 2);
    assert_str(s.v.tops.at[0].key[1], "load");
    assert_int_equal(s.v.tops.at[0].count, 2);
    assert_true(s.v.tops.at[0].total == 6 && s.v.tops.at[0].longest == 4);
    assert_true(s.v.tops.at[1].first == 5);
    assert_int_equal(s.v.stalls.n, 1);
    assert_str(s.v.stalls.at[0].key[1], "VECTOR");
    assert_str(s.v.stalls.at[0].key[0], "MTE2");
    assert_true(s.v.stalls.at[0].total == 4);
    drop(&s);
}

TEST(a_timeline_tells_busy_waiting_and_idle)
{
    struct seen s;

    view_read(&s, run_a, 8); /* 10 to 18, a column each microsecond */
    assert_int_equal(s.v.strips.n, 2);
    assert_string_equal(s.v.strips.at[0].cells, "####....");
    assert_string_equal(s.v.strips.at[1].cells, ".wwww###");
    drop(&s);
}

TEST(changes_name_what_is_new_and_what_is_gone)
{
    struct incore_breakdown none = {0};
    struct seen a, b;
    struct incore_changes c;

    view_read(&a, run_a, 0);
    view_read(&b, run_b, 0);
    incore_changes_build(&c, &(struct incore_side){&a.v, &none},
                         &(struct incore_side){&b.v, &none});
    assert_int_equal(c.tops.n, 3); /* add 3 us gone, mul 3 us new, load 2 us less */
    assert_str(c.tops.at[0].key[1], "add");
    assert_int_equal(c.tops.at[0].count[1], 0);
    assert_str(c.tops.at[1].key[1], "mul");
    assert_int_equal(c.tops.at[1].count[0], 0);
    assert_true(c.tops.at[2].total[0] - c.tops.at[2].total[1] == 2);
    assert_int_equal(c.stalls.n, 1);
    assert_int_equal(c.stalls.at[0].count[1], 0);
    incore_changes_free(&c);
    drop(&a);
    drop(&b);
}

TEST_MAIN("kernels/incore/view", T(instructions_are_summed_by_pipe_and_name),
          T(a_timeline_tells_busy_waiting_and_idle), T(changes_name_what_is_new_and_what_is_gone))
