#include "analysis/arch_repeat.h"

#include "base/testing.h"

/* Letters of a string as a text. */
static struct repeats repeats_of(struct arena *arena, const char *letters)
{
    size_t n = strlen(letters);
    uint32_t *text = ARENA_ARRAY(arena, uint32_t, n);

    for (size_t i = 0; i < n; i++)
        text[i] = (uint32_t)(letters[i] - 'a');
    return repeats_find(arena, text, n);
}

TEST(blocks_between_prologue_and_epilogue_are_found)
{
    struct arena arena;

    arena_init(&arena);
    struct repeats r = repeats_of(&arena, "xyabcdabcdabcdabcdz");
    assert_int_equal(r.n, 1);
    assert_int_equal(r.at[0].period, 4);
    assert_int_equal(r.at[0].n, 4);
    assert_int_equal(r.at[0].cut[0], 2);
    assert_int_equal(r.at[0].cut[4], 18);
    assert_int_equal(r.covered, 16);
    assert_true(r.at[0].noise == 0);
    arena_free(&arena);
}

TEST(the_leftmost_start_of_a_run_counts)
{
    struct arena arena;

    arena_init(&arena);
    /* the run could also be read as d + (abcd)*3 + abc: complete periods from the left */
    struct repeats r = repeats_of(&arena, "dabcdabcdabcdabc");
    assert_int_equal(r.at[0].period, 4);
    assert_int_equal(r.at[0].cut[0], 0);
    assert_int_equal(r.at[0].n, 4);
    arena_free(&arena);
}

TEST(a_block_with_an_extra_kernel_is_still_a_block)
{
    struct arena arena;

    arena_init(&arena);
    /* ten letters a block, one of them with an eleventh: 10 % of the period */
    struct repeats r = repeats_of(&arena, "abcdefghij"
                                          "abcdefghij"
                                          "abcdefghij"
                                          "abcdefghij"
                                          "abcdexfghij"
                                          "abcdefghij");
    assert_int_equal(r.n, 1);
    assert_int_equal(r.at[0].n, 6);
    assert_int_equal(r.at[0].cut[5], 51);
    assert_int_equal(r.covered, 61);
    assert_true(r.at[0].noise > 0.016 && r.at[0].noise < 0.017); /* one of 60 */
    arena_free(&arena);
}

TEST(forward_and_backward_blocks_are_two_repeats)
{
    struct arena arena;

    arena_init(&arena);
    struct repeats r = repeats_of(&arena, "abcabcabcabcabcx"
                                          "rstuvrstuvrstuvrstuvrstuv");
    assert_int_equal(r.n, 2);
    assert_int_equal(r.at[0].n, 5);
    assert_int_equal(r.at[0].period, 3);
    assert_int_equal(r.at[1].n, 5);
    assert_int_equal(r.at[1].period, 5);
    arena_free(&arena);
}

TEST(nothing_repeats_in_a_text_without_repeats)
{
    struct arena arena;

    arena_init(&arena);
    assert_int_equal(repeats_of(&arena, "abcdefghijklmnop").n, 0);
    assert_int_equal(repeats_of(&arena, "").n, 0);
    assert_int_equal(repeats_of(&arena, "a").n, 0);
    arena_free(&arena);
}

TEST_MAIN("arch_repeat", T(blocks_between_prologue_and_epilogue_are_found),
          T(the_leftmost_start_of_a_run_counts), T(a_block_with_an_extra_kernel_is_still_a_block),
          T(forward_and_backward_blocks_are_two_repeats),
          T(nothing_repeats_in_a_text_without_repeats))
