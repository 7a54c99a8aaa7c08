#include "kernels/replay/draft.h"

#include "base/testing.h"

static struct arena arena;
static struct slots slots;

static const struct slot *draft(const char *source, int64_t index)
{
    arena_free(&arena);
    arena_init(&arena);
    slots.n = 0;
    draft_slots(str_of(source), 64, &arena, &slots);
    for (size_t i = 0; i < slots.n; i++)
        if (slots.at[i].index == index)
            return &slots.at[i];
    return NULL;
}

static void expect_tensor(const char *source, int64_t index, const char *dtype)
{
    const struct slot *s = draft(source, index);

    assert_non_null(s);
    assert_true(s->is_tensor);
    assert_true(str_equal(s->dtype->name, str_of(dtype)));
    assert_int_equal(s->shape[1], 64);
}

TEST(tensors_by_the_cast_of_their_descriptor)
{
    const char *source =
        "auto *x = reinterpret_cast<ChipTensor *>(args[1]); // args[9]\n"
        "auto *p = reinterpret_cast<half *>(x->buffer.addr); int n = (int)args[2];";

    expect_tensor(source, 1, "FLOAT16");
    assert_str(draft(source, 1)->name, "x");
    assert_false(draft(source, 2)->is_tensor);
    assert_int_equal(draft(source, 2)->value, 1);
    assert_null(draft(source, 9));
}

TEST(tensors_that_a_function_of_the_kernel_is_given)
{
    expect_tensor("ChipTensor; auto *p = data_of<bfloat16_t>(args[0]);", 0, "BFLOAT16");
    expect_tensor("auto *p = lib::ptr<int8_t>(args, 3); get_block_idx(args);", 3, "INT8");
    assert_null(draft("f(args, n); g(args, 3, 4); h(args,", 3));
}

TEST(slots_whose_number_is_computed)
{
    const char *source = "auto at = [&](int i) { return (ChipTensor *)args[i]; }; int n = args[2];";

    expect_tensor(source, 0, "FLOAT32");
    expect_tensor(source, 7, "FLOAT32");
    assert_false(draft(source, 2)->is_tensor);
    assert_null(draft("int n = args[2];", 0));
}

TEST(nothing_is_a_kernel_too)
{
    assert_null(draft("", 0));
    assert_null(draft("args[", 0));
    assert_null(draft("(args,", 0));
    vec_free(&slots);
    arena_free(&arena);
}

TEST_MAIN("kernels/replay/draft", T(tensors_by_the_cast_of_their_descriptor),
          T(tensors_that_a_function_of_the_kernel_is_given), T(slots_whose_number_is_computed),
          T(nothing_is_a_kernel_too))
