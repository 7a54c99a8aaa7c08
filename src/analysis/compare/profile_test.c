#include "analysis/compare/profile.h"

#include <math.h>

#include "analysis/diagnose/testing_diagnose.h"

static struct arena arena;

static const struct profile *profile_of(bool is_unmarked)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    start_study();
    arena_init(&arena);
    return profile_make(&study, is_unmarked, &arena);
}

static void assert_sums(const struct profile_kind *k)
{
    nanos units = 0, parts = 0;

    for (size_t i = 0; i < k->n; i++) {
        units += k->metrics[UNIT_LENGTH][i];
        assert_int_equal(k->metrics[UNIT_LENGTH][i],
                         k->metrics[UNIT_BUSY][i] + k->metrics[UNIT_IDLE][i]);
        assert_int_equal(k->metrics[UNIT_IDLE][i], k->metrics[UNIT_PRELAUNCH][i] +
                                                       k->metrics[UNIT_INTERNAL][i] +
                                                       k->metrics[UNIT_TAIL][i]);
    }
    for (size_t i = 0; i < k->n_parts; i++)
        parts += k->parts[i].claimed;
    assert_int_equal(units, parts);
}

/* An operator of that shape, its call and a kernel of 100 us, from `at` on. */
static nanos add_product(const char *name, const char *shapes, nanos at)
{
    shaped_op("aten::mm", shapes, "float;float", at, at + 20 * US);
    launch_named(name, at + 5 * US, at + 6 * US, at + 10 * US, at + 110 * US);
    return at + 120 * US;
}

static nanos add_step(int64_t number, const char *shapes, int products, nanos at)
{
    nanos begin = at;

    for (int i = 0; i < products; i++)
        at = add_product("some_gemm", shapes, at);
    step_mark(number, begin, at);
    return at + 10 * US;
}

static nanos add_steps(const char *shapes, int n, nanos at)
{
    for (int i = 0; i < n; i++)
        at = add_step(i, shapes, 3, at);
    return at;
}

TEST(marked_steps_are_units_but_for_the_first)
{
    add_steps("64,32;32,16", 4, 0);
    const struct profile *p = profile_of(false);

    assert_int_equal(p->source, UNITS_MARKED);
    assert_int_equal(p->all.n, 3);
    assert_int_equal(p->n_kinds, 1);
    assert_int_equal(p->all.metrics[UNIT_KERNELS][1], 3);
    assert_sums(&p->all);
    assert_sums(&p->kinds[0]);
    arena_free(&arena);
}

TEST(the_work_of_a_unit_is_that_of_its_products)
{
    add_steps("64,32;32,16", 4, 0);
    const struct profile *p = profile_of(false);

    assert_true(p->all.work == 3 * 2.0 * 64 * 32 * 16);
    arena_free(&arena);
}

TEST(a_product_without_shapes_leaves_the_work_unknown)
{
    nanos at = add_steps("64,32;32,16", 4, 0);

    launch_named("some_gemm", at, at + 1 * US, at + 10 * US, at + 60 * US);
    step_mark(4, at, at + 100 * US);
    assert_true(isnan(profile_of(false)->all.work));
    arena_free(&arena);
}

TEST(other_kernels_have_none_of_it)
{
    for (int64_t i = 0; i < 4; i++) {
        launch(i * MS, i * MS + 1 * US, i * MS + 10 * US, i * MS + 60 * US);
        step_mark(i, i * MS, i * MS + 100 * US);
    }
    assert_true(profile_of(false)->all.work == 0);
    arena_free(&arena);
}

/* Equal kernels, but a batch of another size. */
TEST(steps_of_other_batches_are_of_another_kind)
{
    nanos at = add_steps("64,32;32,16", 4, 0);

    add_step(4, "128,32;32,16", 3, at);
    const struct profile *p = profile_of(false);
    assert_int_equal(p->n_kinds, 2);
    assert_int_equal(p->kinds[0].n + p->kinds[1].n, 4);
    assert_int_equal(p->all.n, 4);
    arena_free(&arena);
}

TEST(without_marks_a_kernel_that_comes_back_cuts_units)
{
    for (nanos i = 0; i < 7; i++) {
        task("7", SLICE_COMPUTE, "head", i * MS, i * MS + 100 * US);
        for (nanos k = 1; k < 5; k++)
            task("7", SLICE_COMPUTE, "layer", i * MS + k * 150 * US, i * MS + k * 150 * US + US);
    }
    const struct profile *p = profile_of(false);

    assert_int_equal(p->source, UNITS_REPEATED);
    assert_str(p->kinds[0].name, "head");
    assert_int_equal(p->kinds[0].n, 6);
    assert_int_equal(p->kinds[0].distance, 5);
    assert_int_equal(p->kinds[0].metrics[UNIT_LENGTH][3], 1 * MS);
    assert_sums(&p->kinds[0]);
    arena_free(&arena);
}

TEST(what_hardly_repeats_has_no_units)
{
    for (nanos i = 0; i < 5; i++)
        task("7", SLICE_COMPUTE, i % 2 ? "odd" : "even", i * MS, i * MS + US);
    assert_int_equal(profile_of(false)->source, UNITS_NONE);
    arena_free(&arena);
}

TEST(marks_can_be_left_aside)
{
    add_steps("64,32;32,16", 8, 0);
    assert_int_equal(profile_of(true)->source, UNITS_NONE); /* one kernel, each next to the last */
    arena_free(&arena);
}

TEST(work_is_shared_by_its_smaller_part)
{
    assert_true(profile_work_shared(50, 100) == 0.5 && profile_work_shared(100, 50) == 0.5);
    assert_true(profile_work_shared(0, 100) == 0);
    assert_true(isnan(profile_work_shared(0, 0)) && isnan(profile_work_shared(NAN, 1)));
}

TEST(shapes_are_those_of_large_tensors)
{
    add_product("some_gemm", "64,32;32,64", 0);
    add_product("some_gemm", "1,64,32;32,64", 1 * MS);
    add_product("some_gemm", "8,8;8,8", 2 * MS);
    const struct profile *p = profile_of(false);

    assert_int_equal(p->tensors.n, 2);
    assert_int_equal(p->operators.n, 2); /* of the smallest it tells nothing */
    arena_free(&arena);
}

TEST_MAIN("analysis/compare/profile", CASE(marked_steps_are_units_but_for_the_first),
          CASE(the_work_of_a_unit_is_that_of_its_products),
          CASE(a_product_without_shapes_leaves_the_work_unknown),
          CASE(other_kernels_have_none_of_it), CASE(steps_of_other_batches_are_of_another_kind),
          CASE(without_marks_a_kernel_that_comes_back_cuts_units),
          CASE(what_hardly_repeats_has_no_units), CASE(marks_can_be_left_aside),
          CASE(work_is_shared_by_its_smaller_part), CASE(shapes_are_those_of_large_tensors))
