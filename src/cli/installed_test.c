#include "cli/installed.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/remove_tree.h"
#include "base/testing.h"

static struct arena arena;

static const char *paths_in(const char *folder, const char *text)
{
    return arena_cstr(&arena, installed_paths(&arena, folder, str_of(text)));
}

/* The tests run in the source tree, which has all three folders. */
TEST(paths_that_are_there_begin_at_the_folder)
{
    char here[4096];

    arena_init(&arena);
    assert_non_null(getcwd(here, sizeof(here)));
    const char *want = arena_printf(
        &arena, "strata diff a:%s/examples/incore:%s/examples/pto b (%s/docs/README.md).", here,
        here, here);
    assert_string_equal(
        paths_in(here, "strata diff a:examples/incore:examples/pto b (docs/README.md)."), want);
    arena_free(&arena);
}

TEST(other_words_stay)
{
    static const char text[] = "x/examples/incore examples/no-such docs/perf_database, out/db ...";

    arena_init(&arena);
    assert_string_equal(paths_in(".", text), text);
    assert_string_equal(paths_in(NULL, "examples/incore"), "examples/incore");
    arena_free(&arena);
}

TEST(a_folder_with_a_blank_is_quoted)
{
    char folder[] = "/tmp/strata XXXXXX";

    arena_init(&arena);
    assert_non_null(mkdtemp(folder));
    const char *docs = arena_printf(&arena, "%s/docs", folder);
    const char *page = arena_printf(&arena, "%s/a.md", docs);
    assert_int_equal(mkdir(docs, 0700), 0);
    assert_int_equal(mkdir(page, 0700), 0);
    assert_string_equal(paths_in(folder, "see docs/a.md"), arena_printf(&arena, "see '%s'", page));
    remove_tree(folder);
    arena_free(&arena);
}

/* build/dev has no share/strata beside it. */
TEST(a_build_folder_is_not_installed)
{
    arena_init(&arena);
    assert_null(installed_folder(&arena));
    arena_free(&arena);
}

TEST_MAIN("cli/installed", T(paths_that_are_there_begin_at_the_folder), T(other_words_stay),
          T(a_folder_with_a_blank_is_quoted), T(a_build_folder_is_not_installed))
