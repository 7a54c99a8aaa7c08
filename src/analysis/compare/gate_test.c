#include "analysis/compare/gate.h"

#include "analysis/study.h"
#include "base/testing.h"

enum { MS = 1000000 };

static struct capture *cap;
static struct study study;

/* One pseudo-step of 10 ms: [0,4) and [6,10) busy, 2 ms idle between. */
static int fresh(void **state)
{
    struct lane_key key = {.kind = LANE_STREAM};

    (void)state;
    cap = capture_new();
    lane_id lane = capture_lane(cap, key);
    capture_slice(cap, &(struct slice){.begin = 0, .dur = 4 * MS, .lane = lane});
    capture_slice(cap, &(struct slice){.begin = 6 * MS, .dur = 4 * MS, .lane = lane});
    capture_seal(cap);
    study_begin(&study, cap, study_defaults());
    return 0;
}

static int done(void **state)
{
    (void)state;
    study_end(&study);
    capture_free(cap);
    return 0;
}

enum { WRONG = -1, CLEAR, REACHED };

static struct str where;
static double value;
static const char *problem;

static int gate_test_check(const char *condition)
{
    struct gate gate;

    problem = gate_parse(&study.scratch, condition, &gate);
    return problem != NULL ? WRONG : gate_check(&gate, &study, &where, &value);
}

TEST(step_metrics_are_compared_exactly)
{
    assert_int_equal(gate_test_check("underfeed_ratio>0.2"), CLEAR);
    assert_int_equal(gate_test_check("underfeed_ratio>=0.2"), REACHED);
    assert_int_equal(gate_test_check("underfeed_ratio == 0.2"), REACHED);
    assert_int_equal(gate_test_check(" service_ms < 10 "), CLEAR);
    assert_int_equal(gate_test_check("service_ms<=10"), REACHED);
    assert_int_equal(gate_test_check("bubble_count!=1"), CLEAR);
}

TEST(the_outcome_says_where_and_how_much)
{
    assert_int_equal(gate_test_check("largest_internal_bubble_ms>1.5"), REACHED);
    assert_str(where, "pseudo");
    assert_true(value == 2);
}

TEST(groups_and_the_whole_have_their_prefixes)
{
    assert_int_equal(gate_test_check("global.device_gap_ratio>0.1"), REACHED);
    assert_int_equal(gate_test_check("global.largest_gap_ms>2"), CLEAR);
    assert_int_equal(gate_test_check("group.service_ms_avg>9"), REACHED);
    assert_int_equal(gate_test_check("g0.underfeed_ratio_p95>0.1"), REACHED);
    assert_int_equal(gate_test_check("g7.underfeed_ratio_p95>0.1"), CLEAR);
}

TEST(mistakes_are_told_apart)
{
    assert_int_equal(gate_test_check("underfeed_ratio"), WRONG);
    assert_int_equal(gate_test_check("underfeed_ratio>much"), WRONG);
    assert_int_equal(gate_test_check(">3"), WRONG);
    assert_int_equal(gate_test_check(""), WRONG);
    assert_int_equal(gate_test_check("elsewhere.service_ms>3"), WRONG);
    assert_int_equal(gate_test_check("group.service_ms>3"), WRONG);
    assert_int_equal(gate_test_check("underfed_ratio>0.1"), WRONG);
    assert_string_equal(problem, "no such metric; did you mean underfeed_ratio?");
    assert_int_equal(gate_test_check("luck>3"), WRONG);
    assert_string_equal(problem, "no such metric");
}

TEST_MAIN("analysis/compare/gate", TF(step_metrics_are_compared_exactly),
          TF(the_outcome_says_where_and_how_much), TF(groups_and_the_whole_have_their_prefixes),
          TF(mistakes_are_told_apart))
