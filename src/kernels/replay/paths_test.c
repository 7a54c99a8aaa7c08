#include "kernels/replay/paths.h"

#include "base/testing_arena.h"

TEST(a_path_becomes_absolute_and_loses_its_dots)
{
    assert_string_equal(paths_absolute(&arena, "/usr/../usr/."), "/usr");
    const char *missing = paths_absolute(&arena, "no/such/file");
    assert_true(missing[0] == '/');
    assert_true(str_ends(str_of(missing), S("/no/such/file")));
}

TEST(the_folder_of_a_path)
{
    assert_string_equal(paths_folder(&arena, "a/b.c"), "a");
    assert_string_equal(paths_folder(&arena, "b.c"), ".");
    assert_string_equal(paths_folder(&arena, "/b.c"), "/");
    assert_string_equal(paths_folder(&arena, "/a/b/c"), "/a/b");
}

TEST(paths_that_would_break_out_of_quotes_are_told_apart)
{
    assert_true(paths_is_plain("/a b/$(x)/'k'.cpp"));
    assert_false(paths_is_plain("/a\"b"));
    assert_false(paths_is_plain("/a\\b"));
    assert_false(paths_is_plain("/a;b"));
    assert_false(paths_is_plain("/a\nb"));
}

TEST_MAIN("kernels/replay/paths", TA(a_path_becomes_absolute_and_loses_its_dots),
          TA(the_folder_of_a_path), T(paths_that_would_break_out_of_quotes_are_told_apart))
