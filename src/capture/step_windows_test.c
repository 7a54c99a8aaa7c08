#include "capture/step_windows.h"

#include "base/testing.h"

static struct capture *cap;
static lane_id lane;

static void kernel(nanos begin, nanos dur, const char *step)
{
    struct attr id = attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, str_of(step)));

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = lane,
                                       .own = attrs_own(&cap->attrs, &id, step != NULL)});
}

static void begin(void)
{
    cap = capture_new();
    lane = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM, .device = 0});
}

static void assert_window(const struct step_window *w, int64_t number, nanos from, nanos to)
{
    assert_non_null(w);
    assert_int_equal(w->number, number);
    assert_int_equal(w->at.begin, from);
    assert_int_equal(w->at.end, to);
}

TEST(marks_of_the_best_kind_last_until_the_next_one)
{
    struct arena arena;

    arena_init(&arena);
    begin();
    kernel(320, 80, NULL);
    vec_push(&cap->marks, ((struct mark){MARK_ITERATION, 0, 7, 0, 50}));
    vec_push(&cap->marks, ((struct mark){MARK_PROFILER_STEP, 0, 3, 100, 150}));
    vec_push(&cap->marks, ((struct mark){MARK_PROFILER_STEP, 0, 4, 200, 290}));
    vec_push(&cap->marks, ((struct mark){MARK_PROFILER_STEP, 0, 5, 300, 350}));
    capture_seal(cap);

    struct step_windows w = step_windows_find(cap, &arena);
    assert_int_equal(w.n, 3);
    assert_window(&w.at[0], 3, 100, 200);
    assert_window(&w.at[1], 4, 200, 300);
    assert_window(&w.at[2], 5, 300, 400);
    assert_null(step_windows_at(w, 99));
    assert_window(step_windows_at(w, 100), 3, 100, 200);
    assert_window(step_windows_at(w, 299), 4, 200, 300);
    assert_null(step_windows_at(w, 400));
    capture_free(cap);
    arena_free(&arena);
}

TEST(without_marks_step_ids_of_kernels_tell)
{
    struct arena arena;

    arena_init(&arena);
    begin();
    kernel(10, 5, NULL);
    kernel(30, 100, "8");
    kernel(20, 5, "8");
    kernel(90, 5, "9");
    kernel(95, 5, "warm-up");
    capture_seal(cap);

    struct step_windows w = step_windows_find(cap, &arena);
    assert_int_equal(w.n, 2);
    assert_window(&w.at[0], 8, 20, 90);
    assert_window(&w.at[1], 9, 90, 100);
    capture_free(cap);
    arena_free(&arena);
}

TEST(a_capture_without_steps_has_no_window)
{
    struct arena arena;

    arena_init(&arena);
    begin();
    kernel(10, 5, NULL);
    capture_seal(cap);
    struct step_windows w = step_windows_find(cap, &arena);
    assert_int_equal(w.n, 0);
    assert_null(step_windows_at(w, 10));
    capture_free(cap);
    arena_free(&arena);
}

TEST_MAIN("capture/step_windows", T(marks_of_the_best_kind_last_until_the_next_one),
          T(without_marks_step_ids_of_kernels_tell), T(a_capture_without_steps_has_no_window))
