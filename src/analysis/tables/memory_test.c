#include "analysis/tables/memory.h"

#include "analysis/module_testing.h"

static void event(const char *name, nanos at, int64_t bytes, int64_t address, int64_t allocated)
{
    struct lane_key key = {.kind = LANE_THREAD, .name = capture_intern(cap, S("main"))};
    struct attr own[] = {
        attr_int(capture_intern(cap, S("Bytes")), bytes),
        attr_int(capture_intern(cap, S("Addr")), address),
        attr_int(capture_intern(cap, S("Total Allocated")), allocated),
        attr_int(capture_intern(cap, S("Total Reserved")), 1000),
        attr_int(capture_intern(cap, S("Device Id")), 0),
        attr_int(capture_intern(cap, S("Device Type")), 1),
    };

    capture_slice(cap, &(struct slice){.begin = at,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, str_of(name)),
                                       .own = attrs_own(&cap->attrs, own, ARRAY_LEN(own)),
                                       .kind = SLICE_MEMORY});
}

static void memory_event(nanos at, int64_t bytes, int64_t address, int64_t allocated)
{
    event("[memory]", at, bytes, address, allocated);
}

static const struct memory_curves *memory_test_find(void)
{
    module_kernel("k");
    is_gpu();
    start_study();
    module_forget();
    return memory_find(&study);
}

/* 100 bytes before, 40 and 20 by two operators, 40 given back and 30 taken at the same place. */
TEST(what_lives_at_the_peak_is_what_was_not_given_back)
{
    module_event("aten::mm", SLICE_HOST_OP, 10 * US, 10 * US);
    module_event("aten::empty", SLICE_HOST_OP, 11 * US, 5 * US);
    memory_event(12 * US, 40, 7, 140);
    memory_event(30 * US, 20, 8, 160);
    memory_event(40 * US, -40, 7, 120);
    memory_event(50 * US, 60, 7, 180);
    memory_event(60 * US, -60, 7, 120);
    const struct memory_curves *m = memory_test_find();
    assert_int_equal(m->n, 1);
    const struct memory_pool *p = &m->at[0];
    assert_str(p->name, "device 0");
    assert_true(p->first == 100 && p->peak == 180 && p->last == 120 && p->before == 100);
    assert_int_equal(p->peak_at, 50 * US);
    assert_int_equal(p->ops.n, 1);
    assert_true(p->ops.at[0].bytes == 80 && p->ops.at[0].n == 2);
    assert_true(p->unused == 880 && p->peak_reserved == 1000);
}

TEST(an_operator_that_only_allocates_is_not_the_one_that_wants_it)
{
    module_event("nn.Module: Linear_0", SLICE_PYTHON, 0, 100 * US);
    module_event("aten::mm", SLICE_HOST_OP, 10 * US, 10 * US);
    module_event("aten::empty", SLICE_HOST_OP, 11 * US, 5 * US);
    memory_event(12 * US, 40, 7, 40);
    const struct memory_pool *p = &memory_test_find()->at[0];
    assert_str(p->ops.at[0].name, "aten::mm");
    assert_str(p->modules.at[0].name, "Linear");
}

TEST(memory_that_grows_in_every_step_is_a_leak)
{
    for (int i = 0; i < 5; i++) {
        char name[] = "ProfilerStep#0";
        name[13] = (char)('0' + i);
        struct mark mark = {MARK_PROFILER_STEP, capture_intern(cap, str_of(name)), i, i * 1000 * US,
                            (i + 1) * 1000 * US};
        vec_push(&cap->marks, mark);
        modules.host = (i * 1000 + 500) * US;
        module_kernel("step");
        memory_event((i * 1000 + 100) * US, 10, i + 1, (i + 1) * 10);
    }
    const struct memory_pool *p = &memory_test_find()->at[0];
    assert_int_equal(p->n_steps, 5);
    assert_true(p->growth == 10);
    assert_true(p->steps[2].begin == 20 && p->steps[2].end == 30 && p->steps[2].allocations == 1);
}

TEST(failures_are_counted_and_change_nothing)
{
    memory_event(10 * US, 10, 1, 10);
    event("[OutOfMemory]", 20 * US, 4096, 0, 10);
    const struct memory_pool *p = &memory_test_find()->at[0];
    assert_int_equal(p->failures, 1);
    assert_int_equal(p->allocations, 1);
    assert_true(p->peak == 10);
}

TEST(a_capture_without_events_has_no_pools)
{
    assert_int_equal(memory_test_find()->n, 0);
}

TEST_MAIN("analysis/tables/memory", CASE(what_lives_at_the_peak_is_what_was_not_given_back),
          CASE(an_operator_that_only_allocates_is_not_the_one_that_wants_it),
          CASE(memory_that_grows_in_every_step_is_a_leak),
          CASE(failures_are_counted_and_change_nothing),
          CASE(a_capture_without_events_has_no_pools))
