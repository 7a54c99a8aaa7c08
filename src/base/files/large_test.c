#include "base/files/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

TEST(a_block_begins_at_a_huge_page)
{
    char *block = large_new(3 << 20, NULL);

    assert_non_null(block);
    assert_int_equal((uintptr_t)block % LARGE_PAGE, 0);
    assert_true(large_is(block));
    memset(block, 1, 4 << 20); /* whole huge pages */
    assert_true(large_free(block));
    assert_false(large_is(block));
}

TEST(a_block_keeps_its_bytes_when_its_size_changes)
{
    char *block = large_new(1 << 20, NULL), *neighbour = large_new(1 << 20, NULL);

    memset(block, 7, 1 << 20);
    memset(neighbour, 8, 1 << 20);
    block = large_resize(block, 9 << 20);
    assert_non_null(block);
    for (size_t i = 0; i < 1 << 20; i += 4095)
        assert_int_equal(block[i], 7);
    memset(block + (1 << 20), 6, 8 << 20);
    block = large_resize(block, 1 << 20);
    assert_int_equal(block[(1 << 20) - 1], 7);
    assert_int_equal(neighbour[0], 8);
    assert_true(large_free(block));
    assert_true(large_free(neighbour));
}

TEST(what_was_given_back_is_used_again)
{
    large_free_of(NULL);
    char *first = large_new(8 << 20, NULL), *kept = first;

    memset(first, 5, 8 << 20);
    assert_true(large_free(first));
    char *part = large_new(2 << 20, NULL), *rest = large_new(6 << 20, NULL);
    assert_ptr_equal(part, kept);
    assert_ptr_equal(rest, kept + (2 << 20));
    memset(part, 3, 2 << 20);
    assert_int_equal(rest[0], 5);
    assert_true(large_free(rest));
    char *grown = large_new(20 << 20, NULL); /* from the rest */
    memset(grown, 4, 20 << 20);
    assert_int_equal(part[0], 3);
    assert_int_equal(part[(2 << 20) - 1], 3);
    assert_true(large_free(part));
    assert_true(large_free(grown));
    large_free_of(NULL);
}

TEST(other_memory_is_none_of_them)
{
    char *other = aligned_alloc(LARGE_PAGE, LARGE_PAGE);

    assert_false(large_is(other));
    assert_false(large_free(other));
    assert_false(large_free(NULL));
    assert_null(large_resize(other, 1));
    free(other);
}

TEST(what_cannot_be_had_is_refused)
{
    char *block = large_new(1, NULL);

    assert_null(large_new(SIZE_MAX, NULL));
    assert_null(large_new(SIZE_MAX / 4, NULL));
    assert_null(large_resize(block, SIZE_MAX));
    assert_null(large_resize(block, SIZE_MAX / 4));
    assert_true(large_free(block)); /* and is still there */
}

TEST(many_blocks_are_told_apart)
{
    char *blocks[200];

    for (size_t i = 0; i < 200; i++) {
        blocks[i] = large_new(1, NULL);
        blocks[i][0] = (char)i;
    }
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(blocks[i][0], (char)i);
        assert_true(large_free(blocks[i]));
        assert_false(large_free(blocks[i]));
    }
}

TEST(blocks_beyond_the_limit_are_in_files)
{
    const size_t big = 16 << 20;

    large_limit(big, "/tmp");
    char *first = large_new(big, NULL), *second = large_new(big, NULL);
    assert_int_equal(large_in_files(), big);
    memset(first, 1, big);
    memset(second, 2, big);
    first = large_resize(first, 2 * big); /* moves to a file */
    second = large_resize(second, 2 * big);
    assert_int_equal(large_in_files(), 4 * big);
    assert_true(first[0] == 1 && first[big - 1] == 1 && second[0] == 2 && second[big - 1] == 2);
    first[2 * big - 1] = second[2 * big - 1] = 3;
    second = large_resize(second, big);
    assert_int_equal(large_in_files(), 3 * big);
    assert_true(large_free(first) && large_free(second));
    assert_int_equal(large_in_files(), 0);
    large_limit(0, "/no/such/folder"); /* then there is no limit */
    first = large_new(big, NULL);
    assert_non_null(first);
    assert_int_equal(large_in_files(), 0);
    assert_true(large_free(first));
    large_limit(0, NULL);
}

TEST_MAIN("base/files/large", T(a_block_begins_at_a_huge_page),
          T(a_block_keeps_its_bytes_when_its_size_changes), T(what_was_given_back_is_used_again),
          T(other_memory_is_none_of_them), T(what_cannot_be_had_is_refused),
          T(many_blocks_are_told_apart), T(blocks_beyond_the_limit_are_in_files))
