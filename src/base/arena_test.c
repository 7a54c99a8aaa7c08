#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/asan.h"
#include "base/testing.h"

TEST(memory_is_zeroed_and_aligned)
{
    struct arena a;

    arena_init(&a);
    for (size_t size = 0; size < 300; size++) {
        unsigned char *p = arena_alloc(&a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    arena_free(&a);
}

TEST(pieces_do_not_overlap)
{
    struct arena a;
    unsigned char *piece[2000];

    arena_init(&a);
    for (size_t i = 0; i < 2000; i++) {
        piece[i] = arena_alloc(&a, i % 97 + 1);
        memset(piece[i], (int)(i % 251), i % 97 + 1);
    }
    for (size_t i = 0; i < 2000; i++)
        for (size_t k = 0; k <= i % 97; k++)
            assert_int_equal(piece[i][k], i % 251);
    arena_free(&a);
}

TEST(large_pieces_get_their_own_block_and_small_ones_go_on)
{
    struct arena a;

    arena_init(&a);
    char *before = arena_alloc(&a, 10);
    char *big = arena_alloc(&a, 10 << 20);
    char *after = arena_alloc(&a, 10);
    memset(big, 1, 10 << 20);
    assert_int_equal(before[9], 0);
    assert_int_equal(after[0], 0);
    assert_true(arena_footprint(&a) >= 10 << 20);
    assert_true(arena_footprint(&a) < 13 << 20);
    arena_free(&a);
    assert_int_equal(arena_footprint(&a), 0);
}

TEST(many_small_pieces_waste_little)
{
    struct arena a;

    arena_init(&a);
    for (int i = 0; i < 1000000; i++)
        arena_alloc(&a, 16);
    /* 16 MB asked for; blocks of at most 1 MB leave less than 2 MB unused. */
    assert_in_range(arena_footprint(&a), 16000000, 18000000);
    arena_free(&a);
}

TEST(rewinding_gives_back_what_came_after_the_mark)
{
    struct arena a;

    arena_init(&a);
    char *kept = arena_alloc(&a, 100);
    memset(kept, 'k', 100);
    struct arena_mark mark = arena_mark(&a);
    size_t before = arena_footprint(&a);
    char *first = arena_alloc(&a, 64);
    memset(first, 'x', 64);
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 100000);
    arena_rewind(&a, mark);
    assert_int_equal(arena_footprint(&a), before);
    char *again = arena_alloc(&a, 64);
    assert_ptr_equal(again, first);
    assert_int_equal(again[0], 0); /* zeroed although it was used before */
    assert_int_equal(kept[99], 'k');
    arena_free(&a);
}

TEST(rewinding_to_the_start_frees_everything)
{
    struct arena a;

    arena_init(&a);
    struct arena_mark mark = arena_mark(&a);
    arena_alloc(&a, 5000);
    arena_rewind(&a, mark);
    assert_int_equal(arena_footprint(&a), 0);
    assert_non_null(arena_alloc(&a, 1));
    arena_free(&a);
}

TEST(copies_of_text_end_in_a_nul)
{
    struct arena a;

    arena_init(&a);
    struct str copy = arena_str(&a, S("a\0b"));
    assert_str(copy, "a\0b");
    assert_int_equal(copy.at[3], '\0');
    assert_string_equal(arena_cstr(&a, S("abc")), "abc");
    assert_string_equal(arena_cstr(&a, (struct str){NULL, 0}), "");
    assert_str(arena_format(&a, "%s-%d", "x", 42), "x-42");
    assert_str(arena_format(&a, "%s", ""), "");
    struct str wide = arena_format(&a, "%5000d", 7);
    assert_int_equal(wide.n, 5000);
    assert_int_equal(wide.at[4999], '7');
    assert_int_equal(wide.at[5000], '\0');
    arena_free(&a);
}

TEST(arrays_have_room_for_all_elements)
{
    struct arena a;

    arena_init(&a);
    uint64_t *n = ARENA_ARRAY(&a, uint64_t, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(n[i]++, 0);
    assert_non_null(ARENA_ARRAY(&a, uint64_t, 0));
    struct arena *inner = ARENA_NEW(&a, struct arena);
    assert_null(inner->head);
    arena_free(&a);
}

static void ask_for_too_many(void)
{
    struct arena a;

    arena_init(&a);
    arena_array(&a, SIZE_MAX / 4, 8);
}

static void ask_for_too_much(void)
{
    struct arena a;

    arena_init(&a);
    arena_alloc(&a, SIZE_MAX - 8);
}

static void grow_too_much(void)
{
    mem_grow(NULL, SIZE_MAX / 4, 8);
}

TEST(a_size_that_wraps_ends_the_program_with_one_line)
{
    static void (*const ask[])(void) = {ask_for_too_many, ask_for_too_much, grow_too_much};

    for (size_t i = 0; i < 3; i++) {
        int ends[2], status;
        char text[200] = {0};

        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], STDERR_FILENO);
            ask[i]();
            _exit(0);
        }
        close(ends[1]);
        assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 3);
        assert_string_equal(text, "strata: error: out of memory [memory.none]\n");
    }
}

#if WITH_ASAN
TEST(the_sanitizer_sees_reads_past_a_piece)
{
    struct arena a;
    int status;

    arena_init(&a);
    volatile char *p = arena_alloc(&a, 5);
    arena_alloc(&a, 5);
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        _exit(p[5] == 'x'); /* the sanitizer ends it before that */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    arena_free(&a);
}
#define SANITIZER_TESTS T(the_sanitizer_sees_reads_past_a_piece),
#else
#define SANITIZER_TESTS
#endif

TEST(growing_keeps_the_contents)
{
    char *p = mem_grow(NULL, 1, 4);

    memcpy(p, "abcd", 4);
    p = mem_grow(p, 1, 100000);
    assert_memory_equal(p, "abcd", 4);
    mem_free(p);
    p = mem_grow(NULL, 1, 0);
    assert_non_null(p);
    mem_free(p);
    mem_free(NULL);
}

TEST(parts_are_joined)
{
    const struct str parts[] = {S_INIT("a"), S_INIT(""), S_INIT("bc")};
    struct arena a;

    arena_init(&a);
    assert_str(arena_join(&a, parts, 3, S(", ")), "a, , bc");
    assert_str(arena_join(&a, parts, 1, S(", ")), "a");
    assert_str(arena_join(&a, NULL, 0, S(", ")), "");
    arena_free(&a);
}

TEST_MAIN("base/arena", T(memory_is_zeroed_and_aligned), T(pieces_do_not_overlap),
          T(large_pieces_get_their_own_block_and_small_ones_go_on),
          T(many_small_pieces_waste_little), T(rewinding_gives_back_what_came_after_the_mark),
          T(rewinding_to_the_start_frees_everything), T(copies_of_text_end_in_a_nul),
          T(arrays_have_room_for_all_elements), T(a_size_that_wraps_ends_the_program_with_one_line),
          SANITIZER_TESTS T(growing_keeps_the_contents), T(parts_are_joined))
