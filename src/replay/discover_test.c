#include "replay/discover.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/testing.h"

static char scratch[] = "/tmp/strata-discover-XXXXXX";
static struct arena arena;
static struct diag diag;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void touch(const char *name)
{
    const char *path = fs_join(&arena, scratch, name);
    struct str all = str_of(path);

    assert_int_equal(
        fs_mkdirs(arena_cstr(&arena, str_part(all, 0, all.n - str_basename(all).n)), &diag), ST_OK);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fclose(f);
}

static struct kernel_sources find(const char *below, const char *func)
{
    struct discover_job job = {
        .build_dir = fs_join(&arena, scratch, below), .funcs = &func, .n_funcs = func != NULL};
    struct kernel_sources out;

    discover_kernels(&job, &arena, &out, &diag);
    return out;
}

TEST(kernels_of_a_build_come_in_order)
{
    touch("a/ptoas/b.cpp");
    touch("a/ptoas/a.cpp");
    touch("a/ptoas/a.pto");
    touch("a/next_levels/x/ptoas/a.cpp");
    touch("a/next_levels/x-y/ptoas/c.cpp");
    touch("a/other/ptoas/d.cpp");
    struct kernel_sources got = find("a", NULL);
    assert_int_equal(got.n, 4);
    assert_string_equal(got.at[0].name, "a");
    assert_non_null(got.at[0].pto);
    assert_string_equal(got.at[1].name, "b");
    assert_null(got.at[1].pto);
    assert_string_equal(got.at[2].name, "a__2"); /* x before x-y */
    assert_string_equal(got.at[3].name, "c");
    assert_int_equal(find("a", "c").n, 1);
    assert_int_equal(find("a", "e").n, 0);
}

TEST(earlier_results_are_no_kernels)
{
    touch("b/deep/er/ptoas/k.cpp");
    touch("b/run/cases/ptoas/k_msprof/k.cpp");
    touch("b/run/cases/ptoas/old.cpp");
    touch("b/insight_1/ptoas/old.cpp");
    struct kernel_sources got = find("b", NULL);
    assert_int_equal(got.n, 1);
    assert_string_equal(got.at[0].name, "k");
}

TEST(texts_serve_where_there_is_no_source)
{
    touch("c/ptoas/k.pto");
    touch("d/k.pto");
    assert_int_equal(find("c", NULL).n, 1);
    assert_null(find("c", NULL).at[0].cpp);
    assert_int_equal(find("d", NULL).n, 1);
}

TEST(the_newest_new_build_is_taken)
{
    const char *old_path[] = {"o"}, *paths[] = {"o", "n", "m"};
    int64_t old_time[] = {50}, times[] = {90, 70, 80};
    struct discover_builds before = {old_path, old_time, 1}, now = {paths, times, 3};

    assert_string_equal(discover_pick(&now, &before, 0), "m");
    assert_string_equal(discover_pick(&(struct discover_builds){paths, times, 1}, &before, 60),
                        "o");
    assert_null(discover_pick(&(struct discover_builds){0}, &before, 0));
}

TEST(a_text_tells_its_target)
{
    assert_string_equal(discover_target(S("module {pto.target_arch = \"a5\"} {")), "a5");
    assert_string_equal(discover_target(S("module {pto.target_arch=\"a3\"} {")), "a2a3");
    assert_string_equal(discover_target(S("// pto.target_arch\nmodule {")), "a2a3");
    assert_string_equal(discover_target(S("")), "a2a3");
}

static int begin(void **state)
{
    (void)state;
    arena_init(&arena);
    diag_init(&diag);
    return mkdtemp(scratch) == NULL;
}

static int end(void **state)
{
    (void)state;
    diag_fini(&diag);
    arena_free(&arena);
    return nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(kernels_of_a_build_come_in_order),
        T(earlier_results_are_no_kernels),
        T(texts_serve_where_there_is_no_source),
        T(the_newest_new_build_is_taken),
        T(a_text_tells_its_target),
    };

    return cmocka_run_group_tests_name("replay.discover", tests, begin, end);
}
