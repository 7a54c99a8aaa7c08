/* Folders that go, and links that are not followed. */
#include "base/files/remove_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/job.h"
#include "base/testing.h"

static char place[] = "/tmp/strata-remove-XXXXXX";

static void tree_make(const char *path)
{
    struct diag d;

    diag_init(&d);
    assert_int_equal(fs_mkdirs("a/b", &d), ST_OK);
    assert_int_equal(fs_mkdirs("kept", &d), ST_OK);
    assert_int_equal(outfile_save(path, S("x"), &d), ST_OK);
    diag_fini(&d);
}

static int tree_enter(void **state)
{
    (void)state;
    return mkdtemp(place) == NULL || chdir(place) != 0;
}

static int leave(void **state)
{
    (void)state;
    remove_tree(place);
    return 0;
}

TEST(a_folder_goes_and_what_its_links_name_stays)
{
    tree_make("a/b/x");
    tree_make("kept/x");
    assert_int_equal(symlink("../kept", "a/link"), 0);
    remove_tree("a");
    assert_false(fs_exists("a"));
    assert_true(fs_exists("kept/x"));
    remove_tree("not-there");
}

TEST(many_entries_take_several_readings)
{
    char name[64];

    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "a/b/a-name-that-takes-some-room-%d", i);
        tree_make(name);
    }
    remove_tree("a");
    assert_false(fs_exists("a"));
}

static void begin_and_fail(void *ctx)
{
    const char *path = ctx;

    tree_make("a/b/x");
    remove_tree_hold("kept");
    remove_tree_drop("kept");
    remove_tree_hold(path);
    job_out_of_memory();
}

TEST(a_folder_half_made_goes_with_its_job)
{
    struct job job = JOB_INIT;
    char path[] = "a";

    assert_false(job_run(&job, begin_and_fail, path));
    assert_false(fs_exists("a"));
    assert_true(fs_exists("kept"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {T(a_folder_goes_and_what_its_links_name_stays),
                                       T(many_entries_take_several_readings),
                                       T(a_folder_half_made_goes_with_its_job)};

    return cmocka_run_group_tests_name("base/files/remove_tree", tests, tree_enter, leave);
}
