#include "analysis/steps/step_table.h"

#include "base/testing.h"

static void table_add(struct capture *cap, nanos begin, nanos dur, const char *step)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, S("2"))};
    struct attr id = attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, str_of(step)));
    struct slice slice = {.begin = begin, .dur = dur, .lane = capture_lane(cap, key)};

    if (step[0] != '\0')
        slice.own = attrs_own(&cap->attrs, &id, 1);
    capture_slice(cap, &slice);
}

TEST(step_ids_make_rows_from_first_kernel_to_first_kernel)
{
    struct capture *cap = capture_new();
    struct step_table t;

    table_add(cap, 100, 10, "7");
    table_add(cap, 150, 10, "7");
    table_add(cap, 200, 10, "8");
    table_add(cap, 300, 50, ""); /* belongs to none by its id, to step 8 by its time */
    capture_seal(cap);
    step_table_init(&t, cap);

    assert_string_equal(t.source, "step_id_column");
    assert_int_equal(t.rows.n, 2);
    assert_int_equal(t.rows.at[0].number, 7);
    assert_int_equal(t.rows.at[0].begin, 100);
    assert_int_equal(t.rows.at[0].end, 200);
    assert_int_equal(t.rows.at[1].end, 350);
    assert_int_equal(step_table_at(&t, 99), -1);
    assert_int_equal(step_table_at(&t, 199), 0);
    assert_int_equal(step_table_at(&t, 200), 1);
    assert_int_equal(step_table_at(&t, 350), -1);
    step_table_fini(&t);
    capture_free(cap);
}

TEST(marks_win_over_ids_and_profiler_steps_over_iterations)
{
    struct capture *cap = capture_new();
    struct step_table t;

    table_add(cap, 100, 10, "7");
    vec_push(&cap->marks, ((struct mark){MARK_ITERATION, 0, 1, 0, 400}));
    vec_push(&cap->marks, ((struct mark){MARK_PROFILER_STEP, 0, 51, 90, 180}));
    vec_push(&cap->marks, ((struct mark){MARK_PROFILER_STEP, 0, 50, 20, 80}));
    capture_seal(cap);
    step_table_init(&t, cap);

    assert_string_equal(t.source, "profiler_step");
    assert_int_equal(t.rows.n, 2);
    assert_int_equal(t.rows.at[0].number, 50);
    assert_int_equal(t.rows.at[0].end, 90);
    assert_int_equal(t.rows.at[1].end, 110); /* the last step ends with its last kernel */
    step_table_fini(&t);
    capture_free(cap);
}

TEST(a_capture_without_steps_has_an_empty_table)
{
    struct capture *cap = capture_new();
    struct step_table t;

    table_add(cap, 100, 10, "");
    capture_seal(cap);
    step_table_init(&t, cap);

    assert_string_equal(t.source, "none");
    assert_int_equal(t.rows.n, 0);
    assert_int_equal(step_table_at(&t, 105), -1);
    step_table_fini(&t);
    capture_free(cap);
}

TEST_MAIN("analysis/steps/step_table", T(step_ids_make_rows_from_first_kernel_to_first_kernel),
          T(marks_win_over_ids_and_profiler_steps_over_iterations),
          T(a_capture_without_steps_has_an_empty_table))
