#include "analysis/ops/operator_work.h"

#include "analysis/diagnose/testing_diagnose.h"

static const struct operator_work *work_of(struct operator_works *works, uint32_t op,
                                           uint32_t kernel)
{
    return operator_work_of(works, (struct operator_ref){op, kernel});
}

TEST(equal_operators_are_looked_at_once)
{
    shaped_op("aten::mm", "8,16;16,4", "double;double", 0, US);
    shaped_op("aten::mm", "8,16;16,4", "double;double", 2 * US, 3 * US);
    shaped_op("aten::mm", "8,16;16,8", "double;double", 4 * US, 5 * US);
    start_study();
    struct operator_works works = {.cap = cap};
    const struct operator_work *work = work_of(&works, 0, UINT32_MAX);

    assert_true(work->is.flops == 2 * 8 * 16 * 4);
    assert_true(work->is.largest == 128);
    assert_true(work->is.has_double);
    uint64_t key = work->key;
    assert_true(work_of(&works, 1, UINT32_MAX)->key == key);
    assert_int_equal(works.at.n, 1);
    assert_true(work_of(&works, 2, UINT32_MAX)->key != key);
    assert_int_equal(works.at.n, 2);
    operator_works_free(&works);
}

TEST(shapes_of_the_kernel_serve_an_operator_without_any)
{
    host(SLICE_HOST_OP, "aten::mm", 0, US);
    shaped_op("kernel", "8,16;16,4", "float;float", 2 * US, 3 * US);
    start_study();
    struct operator_works works = {.cap = cap};

    assert_true(work_of(&works, 0, UINT32_MAX)->is.flops == 0);
    assert_true(work_of(&works, 0, 1)->is.flops == 2 * 8 * 16 * 4);
    operator_works_free(&works);
}

TEST_MAIN("analysis/ops/operator_work", CASE(equal_operators_are_looked_at_once),
          CASE(shapes_of_the_kernel_serve_an_operator_without_any))
