#include <math.h>

#include "analysis/compare/compare.h"
#include "base/testing_arena.h"

/* Keys from `from` on. */
static struct profile_keys keys(int64_t from, size_t n)
{
    struct profile_keys out = {ARENA_ARRAY(&arena, int64_t, n + 1), n};

    for (size_t i = 0; i < n; i++)
        out.at[i] = from + (int64_t)i;
    return out;
}

/* One unit that calls the kernel so often. */
static struct profile_kind unit_of(const char *kernel, int64_t calls)
{
    struct profile_part *part = ARENA_NEW(&arena, struct profile_part);

    *part = (struct profile_part){.kernel = str_of(kernel), .class = PART_COMPUTE, .calls = calls};
    return (struct profile_kind){.n = 1, .parts = part, .n_parts = 1, .work = NAN};
}

static struct profile run_of(struct profile_keys operators, struct profile_keys tensors)
{
    return (struct profile){.device = S("H200"),
                            .software = S("2.11"),
                            .options = S("record_shapes=1"),
                            .operators = operators,
                            .tensors = tensors};
}

static struct likeness like(const struct profile *a, const struct profile *b,
                            const char *kernel_of_b, double work)
{
    struct profile_kind x = unit_of("gemm", 4), y = unit_of(kernel_of_b, 4);

    return likeness_of(a, b, &x, &y, work, &arena);
}

TEST(the_same_program_is_comparable)
{
    struct profile a = run_of(keys(0, 20), keys(0, 5));
    struct likeness l = like(&a, &a, "gemm", 1);

    assert_true(l.is_comparable && l.is_same_setup && l.score == 1);
    for (int i = 0; i < LIKENESS_PARTS; i++)
        assert_int_equal(l.parts[i].state, LIKENESS_SAME);
}

TEST(another_batch_is_other_work_whatever_else_is_equal)
{
    struct profile a = run_of(keys(0, 20), keys(0, 5));

    assert_false(like(&a, &a, "gemm", 0.9).is_comparable);
    assert_true(like(&a, &a, "gemm", 0.99).is_comparable);
    assert_true(like(&a, &a, "gemm", NAN).is_comparable);
}

TEST(equal_work_alone_does_not_make_a_program_the_same)
{
    struct profile a = run_of(keys(0, 20), keys(0, 5)), b = run_of(keys(100, 20), keys(100, 5)),
                   one = run_of(keys(200, 20), keys(4, 5));

    assert_false(like(&a, &b, "gemm", 1).is_comparable);   /* not with equal kernels either */
    assert_false(like(&a, &one, "gemm", 1).is_comparable); /* one shape by chance */
}

TEST(a_repair_may_replace_operators_and_kernels)
{
    struct profile a = run_of(keys(0, 20), keys(0, 10)), b = run_of(keys(100, 8), keys(0, 3)),
                   c = run_of(keys(100, 8), keys(0, 8));

    assert_true(like(&a, &b, "other", 1).is_comparable);    /* all shapes of B are in A */
    assert_false(like(&a, &b, "other", NAN).is_comparable); /* but of how much work? */
    assert_true(like(&a, &c, "other", NAN).is_comparable);  /* most shapes are common */
}

TEST(without_shapes_the_kernels_decide)
{
    struct profile a = run_of(keys(0, 20), keys(0, 0));

    assert_true(like(&a, &a, "gemm", NAN).is_comparable);
    assert_false(like(&a, &a, "other", NAN).is_comparable); /* names of operators tell no batch */
    assert_int_equal(like(&a, &a, "gemm", NAN).parts[4].state, LIKENESS_UNKNOWN);
}

TEST(kernels_are_compared_by_their_calls)
{
    struct profile_kind a = unit_of("gemm", 4), b = unit_of("gemm", 3), c = unit_of("silu", 4);

    assert_true(likeness_of_kernels(&a, &b) == 0.75);
    assert_true(likeness_of_kernels(&a, &c) == 0);
    a.n_parts = b.n_parts = 0;
    assert_true(isnan(likeness_of_kernels(&a, &b)));
}

TEST(a_set_up_that_differs_is_told_and_one_that_is_unknown_is_not)
{
    struct profile a = run_of(keys(0, 20), keys(0, 5)), b = a;

    b.device = S("H100");
    struct likeness l = like(&a, &b, "gemm", 1);
    assert_true(l.is_comparable && !l.is_same_setup);
    assert_int_equal(l.parts[0].state, LIKENESS_DIFFERENT);
    assert_str(l.parts[0].text[SIDE_B], "H100");
    b.device = S("");
    assert_true(like(&a, &b, "gemm", 1).is_same_setup);
}

TEST_MAIN("analysis/compare/likeness", TA(the_same_program_is_comparable),
          TA(another_batch_is_other_work_whatever_else_is_equal),
          TA(equal_work_alone_does_not_make_a_program_the_same),
          TA(a_repair_may_replace_operators_and_kernels), TA(without_shapes_the_kernels_decide),
          TA(kernels_are_compared_by_their_calls),
          TA(a_set_up_that_differs_is_told_and_one_that_is_unknown_is_not))
