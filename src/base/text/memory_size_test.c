#include "base/text/memory_size.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/files/remove_tree.h"
#include "base/testing.h"

static struct arena arena;
static const char *root;

static const char *size_put(const char *name, const char *text)
{
    const char *path = arena_printf(&arena, "%s/%s", root, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void size_make(const char *name)
{
    assert_int_equal(mkdir(arena_printf(&arena, "%s/%s", root, name), 0700), 0);
}

TEST(the_smallest_group_counts)
{
    arena_init(&arena);
    root = remove_tree_temporary(&arena);
    size_make("jobs");
    size_make("jobs/one");
    size_put("jobs/memory.max", "4294967296\n");
    size_put("jobs/one/memory.max", "max\n");
    const char *list = size_put("list", "0::/jobs/one\n");
    assert_int_equal(memory_group_limit(list, root), INT64_C(4294967296));
    size_put("jobs/one/memory.max", "1000\n");
    assert_int_equal(memory_group_limit(list, root), 1000);
    size_make("memory");
    size_make("memory/old");
    size_put("memory/old/memory.limit_in_bytes", "500\n");
    list = size_put("list", "3:cpu:/x\n2:memory:/old\n0::/jobs/one\n");
    assert_int_equal(memory_group_limit(list, root), 500);
    remove_tree(root);
    arena_free(&arena);
}

TEST(damaged_lists_have_no_limit)
{
    arena_init(&arena);
    root = remove_tree_temporary(&arena);
    assert_true(memory_group_limit("/nowhere", root) == UINT64_MAX);
    assert_true(memory_group_limit(size_put("list", "\nx\n0:\n0::\n1:memory:\n"), root) ==
                UINT64_MAX);
    assert_true(memory_size() > 0 && memory_size() < UINT64_MAX);
    remove_tree(root);
    arena_free(&arena);
}

TEST(there_is_memory_and_not_more_than_the_machine_has)
{
    int64_t all = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

    assert_true(memory_left() > 0 && memory_left() <= all);
}

TEST_MAIN("base/text/memory_size", T(the_smallest_group_counts), T(damaged_lists_have_no_limit),
          T(there_is_memory_and_not_more_than_the_machine_has))
