#include "analysis/arch/arch_repeat.h"

#include "base/testing_arena.h"

/* Letters of a string as a text. */
static struct repeats repeats_of(const char *letters)
{
    size_t n = strlen(letters);
    uint32_t *text = ARENA_ARRAY(&arena, uint32_t, n);

    for (size_t i = 0; i < n; i++)
        text[i] = (uint32_t)(letters[i] - 'a');
    return repeats_find(&arena, text, n);
}

TEST(blocks_between_prologue_and_epilogue_are_found)
{
    struct repeats r = repeats_of("xyabcdabcdabcdabcdz");
    assert_int_equal(r.n, 1);
    assert_int_equal(r.at[0].period, 4);
    assert_int_equal(r.at[0].n, 4);
    assert_int_equal(r.at[0].cut[0], 2);
    assert_int_equal(r.at[0].cut[4], 18);
    assert_int_equal(r.covered, 16);
    assert_true(r.at[0].noise == 0);
}

TEST(the_leftmost_start_of_a_run_counts)
{
    /* the run could also be read as d + (abcd)*3 + abc: complete periods from the left */
    struct repeats r = repeats_of("dabcdabcdabcdabc");
    assert_int_equal(r.at[0].period, 4);
    assert_int_equal(r.at[0].cut[0], 0);
    assert_int_equal(r.at[0].n, 4);
}

TEST(a_block_with_an_extra_kernel_is_still_a_block)
{
    /* ten letters a block, one of them with an eleventh: 10 % of the period */
    struct repeats r = repeats_of("abcdefghij"
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
}

TEST(forward_and_backward_blocks_are_two_repeats)
{
    struct repeats r = repeats_of("abcabcabcabcabcx"
                                  "rstuvrstuvrstuvrstuvrstuv");
    assert_int_equal(r.n, 2);
    assert_int_equal(r.at[0].n, 5);
    assert_int_equal(r.at[0].period, 3);
    assert_int_equal(r.at[1].n, 5);
    assert_int_equal(r.at[1].period, 5);
}

TEST(nothing_repeats_in_a_text_without_repeats)
{
    assert_int_equal(repeats_of("abcdefghijklmnop").n, 0);
    assert_int_equal(repeats_of("").n, 0);
    assert_int_equal(repeats_of("a").n, 0);
}

TEST_MAIN("analysis/arch/arch_repeat", TA(blocks_between_prologue_and_epilogue_are_found),
          TA(the_leftmost_start_of_a_run_counts), TA(a_block_with_an_extra_kernel_is_still_a_block),
          TA(forward_and_backward_blocks_are_two_repeats),
          TA(nothing_repeats_in_a_text_without_repeats))
