#include "analysis/compare/compare_rows.h"

#include "analysis/module_testing.h"

static struct study first;
static struct arena arena;

/* Calls of an operator with a kernel of `us` each. */
static void add_calls(const char *op, int calls, long us)
{
    struct lane_key stream = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};

    for (int i = 0; i < calls; i++) {
        nanos at = modules.host;
        module_event(op, SLICE_HOST_OP, at, 10 * US);
        uint32_t call = module_event("cudaLaunchKernel", SLICE_RUNTIME, at + 1 * US, 2 * US);
        uint32_t kernel = capture_slice(cap, &(struct slice){.begin = at + 20 * US,
                                                             .dur = us * US,
                                                             .lane = capture_lane(cap, stream),
                                                             .name = capture_intern(cap, S("k")),
                                                             .kind = SLICE_COMPUTE});
        capture_flow(cap, FLOW_LAUNCH, call, kernel);
        modules.host += 1000 * US;
    }
}

/* What was added becomes A; what is added next is B. */
static void end_first(void)
{
    is_gpu();
    capture_seal(cap);
    study_begin(&first, cap, study_defaults());
    module_forget();
    cap = capture_new();
}

static const struct compare_rows *rows_find(void)
{
    is_gpu();
    start_study();
    module_forget();
    arena_init(&arena);
    return compare_rows_find(&first, &study, OP_BY_OP, &arena);
}

static void rows_end(void)
{
    struct capture *a = (struct capture *)first.cap;

    arena_free(&arena);
    study_end(&first);
    capture_free(a);
}

TEST(operators_of_other_kernels_compare)
{
    add_calls("aten::mm", 4, 10);
    add_calls("aten::add", 2, 5);
    end_first();
    add_calls("aten::mm", 4, 30);
    add_calls("aten::add", 2, 5);
    const struct compare_rows *c = rows_find();
    assert_int_equal(c->n, 2);
    assert_str(c->at[0].name, "aten::mm");
    assert_true(c->at[0].time[SIDE_A] == 40 * US && c->at[0].time[SIDE_B] == 120 * US);
    assert_true(c->at[0].delta == 80 * US && c->at[1].delta == 0);
    assert_true(c->likeness == 1 && !c->is_different);
    assert_true(c->time[SIDE_A] == 50 * US && c->time[SIDE_B] == 130 * US);
    rows_end();
}

/* 2 of 2 + 6 calls are in both. */
TEST(other_work_is_said_to_be_other_work)
{
    add_calls("aten::mm", 2, 10);
    end_first();
    add_calls("aten::mm", 2, 10);
    add_calls("aten::conv2d", 6, 10);
    const struct compare_rows *c = rows_find();
    assert_true(c->likeness == 0.25 && c->is_different);
    assert_true(c->at[0].time[SIDE_A] == 0);
    rows_end();
}

TEST(captures_without_operators_are_not_called_different)
{
    module_kernel("a");
    end_first();
    module_kernel("b");
    const struct compare_rows *c = rows_find();
    assert_true(c->likeness < 0 && !c->is_different && c->n == 0);
    assert_true(c->outside[SIDE_A] == 10 * US);
    rows_end();
}

TEST_MAIN("analysis/compare/compare_rows", CASE(operators_of_other_kernels_compare),
          CASE(other_work_is_said_to_be_other_work),
          CASE(captures_without_operators_are_not_called_different))
