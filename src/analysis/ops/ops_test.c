#include "analysis/ops/ops.h"

#include "analysis/idle/aicpu.h"
#include "analysis/idle/waits.h"
#include "analysis/testing_study.h"

/* A wait of -1 leaves the attribute out. */
static void ops_add(const char *name, const char *type, const char *core, enum slice_kind kind,
                    nanos begin, nanos dur, nanos wait)
{
    struct lane_key key = {.kind = kind == SLICE_COMPUTE ? LANE_STREAM : LANE_COMM};
    struct attr set[] = {
        attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, str_of(type))),
        attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, str_of(core))),
    };
    struct attr own = attr_time(capture_key(cap, KEY_WAIT), wait);

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = capture_lane(cap, key),
                                       .kind = kind,
                                       .name = capture_intern(cap, str_of(name)),
                                       .set = attrs_set(&cap->attrs, set, 2),
                                       .own = wait >= 0 ? attrs_own(&cap->attrs, &own, 1) : 0});
}

static void ops_compute(const char *name, nanos begin, nanos dur, nanos wait)
{
    ops_add(name, "", "AI_CORE", SLICE_COMPUTE, begin, dur, wait);
}

static const struct ops *ops_run(void)
{
    start_study();
    return ops_find(&study, 0, study_kernels(&study).n);
}

static const struct op *named(const struct ops *ops, const char *key)
{
    for (size_t i = 0; i < ops->n; i++)
        if (str_equal(ops->by_cost[i].key, str_of(key)))
            return &ops->by_cost[i];
    fail_msg("no operator %s", key);
    return NULL;
}

TEST(calls_are_put_together_by_type_or_by_name_without_its_number)
{
    ops_compute("Add_1", 0, 10 * US, 0);
    ops_compute("Add2", 20 * US, 30 * US, 10 * US);
    ops_add("anything", "MatMul", "AI_CORE", SLICE_COMPUTE, 60 * US, 5 * US, 10 * US);
    ops_compute("17", 80 * US, 1 * US, 0);
    const struct ops *ops = ops_run();

    assert_int_equal(ops->n, 3);
    assert_int_equal(named(ops, "Add")->calls, 2);
    assert_true(named(ops, "Add")->duration_us_avg == 20);
    assert_true(named(ops, "Add")->wait_us_avg == 5);
    assert_true(named(ops, "Add")->wait_ratio == 0.2);
    assert_int_equal(named(ops, "MatMul")->calls, 1);
    assert_int_equal(named(ops, "17")->calls, 1);
    assert_int_equal(ops->kernel_sum, 46 * US);
}

/* dur 2, wait 900: flagged. dur 50, wait 950: exactly 0.95, not. dur 10, wait 300: not below 10. */
TEST(an_operator_that_only_waits_is_an_anchor)
{
    ops_compute("Fill", 1000 * US, 2 * US, 900 * US);
    ops_compute("Edge", 5000 * US, 50 * US, 950 * US);
    ops_compute("Ten", 7000 * US, 10 * US, 300 * US);
    ops_compute("Nearly", 9000 * US, 9999, 300 * US);
    const struct ops *ops = ops_run();

    assert_true(named(ops, "Fill")->is_anchor);
    assert_false(named(ops, "Edge")->is_anchor);
    assert_false(named(ops, "Ten")->is_anchor);
    assert_true(named(ops, "Nearly")->is_anchor);
    assert_int_equal(named(ops, "Edge")->cost_rank, 1);
    assert_int_equal(named(ops, "Fill")->cost_rank, 2);
    assert_int_equal(named(ops, "Edge")->duration_rank, 1);
}

TEST(the_eleventh_operator_is_never_an_anchor)
{
    char name[] = "OpX";

    for (int i = 0; i < 11; i++) {
        name[2] = (char)('A' + i);
        ops_compute(name, (i + 1) * 2000 * US, 1 * US, (1000 - i) * US);
    }
    const struct ops *ops = ops_run();

    assert_true(named(ops, "OpJ")->is_anchor);
    assert_int_equal(named(ops, "OpK")->cost_rank, 11);
    assert_false(named(ops, "OpK")->is_anchor);
}

TEST(waits_beside_communication_are_polluted)
{
    ops_add("hcom", "hcom_", "HCCL", SLICE_COMM, 0, 50 * US, 0);
    ops_compute("A", 60 * US, 10 * US,
                20 * US); /* waits in [40,60): half of it beside the collective */
    ops_compute("B", 100 * US, 10 * US, 30 * US); /* [70,100): clean */
    const struct ops *ops = ops_run();

    assert_true(named(ops, "A")->is_polluted);
    assert_int_equal(named(ops, "A")->polluted_wait, 10 * US);
    assert_false(named(ops, "B")->is_polluted);
}

TEST(waits_that_no_table_has_follow_from_the_rows)
{
    ops_compute("A", 0, 10 * US, -1);
    ops_compute("B", 15 * US, 10 * US, -1);
    ops_compute("C", 20 * US, 1 * US, -1); /* begins before B ends */
    ops_compute("D", 30 * US, 1 * US, -1); /* counted from C, the row before, not from B */
    ops_run();
    const struct waits *waits = study_waits(&study);

    assert_true(waits->is_derived);
    assert_int_equal(waits->at[0], 0);
    assert_int_equal(waits->at[1], 5 * US);
    assert_int_equal(waits->at[2], 0);
    assert_int_equal(waits->at[3], 9 * US);
}

/* 10 ms of AICPU with 9, 2 and no ms under AI-core work: masked, partial, exposed. */
TEST(aicpu_classes_fall_exactly_at_their_limits)
{
    assert_int_equal(aicpu_classify(9, 10), AICPU_MASKED);
    assert_int_equal(aicpu_classify(8999, 10000), AICPU_PARTIAL);
    assert_int_equal(aicpu_classify(2, 10), AICPU_PARTIAL);
    assert_int_equal(aicpu_classify(1999, 10000), AICPU_EXPOSED);
    assert_int_equal(aicpu_classify(0, 10), AICPU_EXPOSED);
}

TEST(aicpu_time_under_other_cores_is_masked)
{
    ops_compute("MatMul", 0, 80 * US, 0);
    ops_add("Cast1", "Cast", "AI_CPU", SLICE_AICPU, 70 * US, 20 * US, 0);
    ops_add("hcom", "hcom_", "HCCL", SLICE_COMM, 70 * US, 100 * US, 0); /* does not mask */
    ops_run();
    const struct aicpu *a = aicpu_find(&study);

    assert_int_equal(a->n, 1);
    assert_str(a->ops[0].key, "Cast");
    assert_true(a->ops[0].masked_ratio == 0.5);
    assert_int_equal(a->ops[0].class, AICPU_PARTIAL);
    assert_int_equal(a->steps[0].calls, 1);
    assert_int_equal(a->steps[0].filled_idle, 0); /* the collective ran all the time */
    assert_true(a->steps[0].is_risk);             /* 10 of 170 us is over 1 % */
}

TEST_MAIN("analysis/ops/ops", CASE(calls_are_put_together_by_type_or_by_name_without_its_number),
          CASE(an_operator_that_only_waits_is_an_anchor),
          CASE(the_eleventh_operator_is_never_an_anchor),
          CASE(waits_beside_communication_are_polluted),
          CASE(waits_that_no_table_has_follow_from_the_rows),
          T(aicpu_classes_fall_exactly_at_their_limits),
          CASE(aicpu_time_under_other_cores_is_masked))
