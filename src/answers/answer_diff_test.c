#include "answers/answer_diff.h"

#include <string.h>

#include "base/testing_arena.h"

TEST(percents_are_read_with_and_without_their_sign)
{
    double ratio = 7;

    assert_true(diff_percent(S("5%"), &ratio) && ratio == 0.05);
    assert_true(diff_percent(S(" 12.5 "), &ratio) && ratio == 0.125);
    assert_false(diff_percent(S("-1%"), &ratio));
    assert_false(diff_percent(S("%"), &ratio));
    assert_false(diff_percent(S("many"), &ratio));
    assert_true(ratio == 0.125);
}

TEST(gates_name_a_metric_and_maybe_a_group)
{
    const char *problem;
    struct diff_gate gate;

    assert_true(diff_gate_parse(&arena, "service_ms>5%", &gate, &problem));
    assert_int_equal(gate.metric, UNIT_LENGTH);
    assert_true(gate.kind.n == 0 && gate.limit == 0.05);
    assert_true(diff_gate_parse(&arena, "g12.tail_gap_ms > 10", &gate, &problem));
    assert_int_equal(gate.metric, UNIT_TAIL);
    assert_true(str_equal(gate.kind, S("g12")));
    assert_false(diff_gate_parse(&arena, "service_ms<5%", &gate, &problem));
    assert_false(diff_gate_parse(&arena, "x1.service_ms>5%", &gate, &problem));
    assert_false(diff_gate_parse(&arena, "speed>5%", &gate, &problem));
    assert_non_null(strstr(problem, "underfeed_ms"));
}

TEST_MAIN("answers/answer_diff", T(percents_are_read_with_and_without_their_sign),
          TA(gates_name_a_metric_and_maybe_a_group))
