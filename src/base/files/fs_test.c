#include "base/files/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/inputs.h"
#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/testing_folder.h"

static char start[4096]; /* where the tests were started */

/* Each test stands in its folder. */
static int enter_folder(void **state)
{
    return enter(state) != 0 || getcwd(start, sizeof(start)) == NULL || chdir(scratch) != 0;
}

static int leave_folder(void **state)
{
    return chdir(start) != 0 || leave(state) != 0;
}

static void fs_put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static struct str contents(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = arena_alloc(&arena, 1 << 20);

    if (f == NULL)
        return S("(no file)");
    size_t n = fread(text, 1, 1 << 20, f);
    fclose(f);
    return (struct str){text, n};
}

static size_t entries_here(void)
{
    struct fs_list list;

    assert_int_equal(fs_list(&arena, ".", &list, &diag), ST_OK);
    return list.n;
}

TEST(a_file_appears_only_when_it_is_committed)
{
    struct outfile f;

    fs_put("a.json", "old");
    assert_int_equal(outfile_open(&f, "a.json", &diag), ST_OK);
    assert_true(outfile_write(&f, S("new")));
    assert_str(contents("a.json"), "old");
    assert_int_equal(entries_here(), 2);
    assert_int_equal(outfile_commit(&f, OUTFILE_SYNC, &diag), ST_OK);
    assert_str(contents("a.json"), "new");
    assert_int_equal(entries_here(), 1);
    outfile_abort(&f); /* nothing left to drop */
    assert_str(contents("a.json"), "new");
}

TEST(aborting_leaves_the_old_file_and_no_temporary)
{
    struct outfile f;

    fs_put("a.json", "old");
    assert_int_equal(outfile_open(&f, "a.json", &diag), ST_OK);
    outfile_write(&f, S("half"));
    outfile_abort(&f);
    assert_str(contents("a.json"), "old");
    assert_int_equal(entries_here(), 1);
}

TEST(cleanup_removes_the_temporaries_of_files_still_open)
{
    struct outfile f, g;

    assert_int_equal(outfile_open(&f, "a", &diag), ST_OK);
    assert_int_equal(outfile_open(&g, "b", &diag), ST_OK);
    assert_int_equal(entries_here(), 2);
    fs_cleanup();
    assert_int_equal(entries_here(), 0);
    outfile_abort(&f);
    assert_int_equal(outfile_commit(&g, OUTFILE_FAST, &diag), ST_IO);
    assert_int_equal(diag_count(&diag, "file.write"), 1);
}

TEST(small_and_large_writes_keep_their_order)
{
    /* 65 536 bytes is the buffer: pieces that fit, that fill it exactly and that pass it by. */
    static const size_t sizes[] = {1, 65535, 65536, 3, 65534, 70000, 0, 10};
    struct outfile f;
    char *big = arena_alloc(&arena, 70000);
    size_t total = 0, at = 0;

    assert_int_equal(outfile_open(&f, "big", &diag), ST_OK);
    struct sink sink = outfile_sink(&f);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        memset(big, 'a' + (int)i, sizes[i]);
        assert_true(sink.write(sink.ctx, (struct str){big, sizes[i]}));
        total += sizes[i];
    }
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
    struct str text = contents("big");
    assert_int_equal(text.n, total);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(text.at[at++], 'a' + (int)i);
}

TEST(the_mode_follows_the_umask)
{
    struct outfile f;
    struct stat info;
    mode_t before = umask(027);

    assert_int_equal(outfile_open(&f, "m", &diag), ST_OK);
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
    umask(before);
    assert_int_equal(stat("m", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640); /* 0666 without 0027 */
}

TEST(a_write_error_is_sticky_and_names_the_target)
{
    struct rlimit old, small;
    struct outfile f;
    char *big = arena_alloc(&arena, 200000);

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){100000, old.rlim_max};
    assert_int_equal(outfile_open(&f, "full", &diag), ST_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool big_fits = outfile_write(&f, (struct str){big, 200000});
    bool small_fits = outfile_write(&f, S("x"));
    enum status st = outfile_commit(&f, OUTFILE_FAST, &diag);
    setrlimit(RLIMIT_FSIZE, &old);

    assert_false(big_fits);
    assert_false(small_fits);
    assert_int_equal(st, ST_IO);
    assert_int_equal(diag_count(&diag, "file.write"), 1);
    assert_string_equal(diag.entries.at[0].first[0].where.path, "full");
    assert_string_equal(diag.entries.at[0].first[0].text, "cannot write: File too large");
    assert_int_equal(entries_here(), 0);
}

TEST(opening_fails_where_no_file_can_be)
{
    struct outfile f;

    assert_int_equal(mkdir("dir", 0777), 0);
    assert_int_equal(outfile_open(&f, "dir", &diag), ST_IO);
    outfile_abort(&f);
    assert_int_equal(outfile_open(&f, "nowhere/a", &diag), ST_IO);
    assert_int_equal(outfile_open(&f, "", &diag), ST_IO);
    assert_int_equal(diag_count(&diag, "file.write"), 3);
    assert_int_equal(entries_here(), 1);
}

TEST(a_link_is_replaced_and_not_followed)
{
    static const char *const targets[] = {"there/real", "nowhere"};
    struct stat info;

    assert_int_equal(mkdir("there", 0777), 0);
    fs_put("there/real", "old");
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        assert_int_equal(symlink(targets[i], "link"), 0);
        assert_int_equal(outfile_save("link", S("new"), &diag), ST_OK);
        assert_int_equal(lstat("link", &info), 0);
        assert_true(S_ISREG(info.st_mode));
        assert_str(contents("link"), "new");
        assert_int_equal(unlink("link"), 0);
    }
    assert_str(contents("there/real"), "old");
    assert_false(fs_exists("nowhere"));
}

TEST(a_file_keeps_its_mode)
{
    struct stat info;

    fs_put("m", "old");
    assert_int_equal(chmod("m", 0604), 0);
    assert_int_equal(outfile_save("m", S("new"), &diag), ST_OK);
    assert_int_equal(stat("m", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0604);
}

TEST(an_input_is_not_overwritten_under_any_name)
{
    static const char *const names[] = {"in", "./in", "link", "hard"};
    struct mapfile map;

    inputs_clear();
    fs_put("in", "precious");
    assert_int_equal(symlink("in", "link"), 0);
    assert_int_equal(link("in", "hard"), 0);
    assert_int_equal(mapfile_open(&map, "in", &diag), ST_OK);
    mapfile_close(&map);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(outfile_save(names[i], S("new"), &diag), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&diag, "usage.output-is-input"), ARRAY_LEN(names));
    assert_str(contents("in"), "precious");
    assert_int_equal(entries_here(), 3);
    assert_int_equal(outfile_resave("in", S("changed"), &diag), ST_OK); /* its purpose */
    assert_str(contents("in"), "changed");
    inputs_clear();
    assert_int_equal(outfile_save("in", S("new"), &diag), ST_OK);
}

TEST(a_given_temporary_takes_the_place_of_an_old_one)
{
    struct outfile f;

    fs_put("t.tmp", "of a process of old");
    assert_int_equal(outfile_update_as(&f, "a", "t.tmp", &diag), ST_OK);
    outfile_write(&f, S("new"));
    assert_true(fs_exists("t.tmp"));
    assert_int_equal(outfile_commit(&f, OUTFILE_SYNC, &diag), ST_OK);
    assert_str(contents("a"), "new");
    assert_false(fs_exists("t.tmp"));
    assert_int_equal(outfile_update_as(&f, "a", "t.tmp", &diag), ST_OK);
    fs_cleanup();
    assert_false(fs_exists("t.tmp"));
    outfile_abort(&f);
}

TEST(a_device_is_written_not_replaced)
{
    struct outfile f;
    struct stat info;

    assert_int_equal(outfile_open(&f, "/dev/null", &diag), ST_OK);
    assert_true(outfile_write(&f, S("gone")));
    assert_int_equal(outfile_commit(&f, OUTFILE_SYNC, &diag), ST_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(outfile_open(&f, "/dev/full", &diag), ST_OK);
    assert_true(outfile_write(&f, S("kept in the buffer until the commit")));
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_IO);
    assert_string_equal(diag.entries.at[0].first[0].text, "cannot write: No space left on device");
}

TEST(the_longest_file_name_can_be_written)
{
    struct outfile f;
    char name[256] = {0};

    memset(name, 'n', 255);
    assert_int_equal(outfile_open(&f, name, &diag), ST_OK);
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
    assert_true(fs_exists(name));
}

TEST(folders_are_made_down_to_the_last)
{
    assert_int_equal(fs_mkdirs("a/b//c/", &diag), ST_OK);
    assert_true(fs_is_dir("a/b/c"));
    assert_true(fs_is_writable_dir("a/b"));
    assert_int_equal(fs_mkdirs("a/b/c", &diag), ST_OK);
    assert_int_equal(fs_mkdirs("/", &diag), ST_OK);
    fs_put("a/file", "");
    assert_int_equal(fs_mkdirs("a/file/d", &diag), ST_IO);
    assert_int_equal(fs_mkdirs("a/file", &diag), ST_IO);
    assert_int_equal(fs_mkdirs("", &diag), ST_IO);
    assert_int_equal(diag_count(&diag, "file.mkdir"), 3);
    assert_false(fs_is_dir("a/file"));
    assert_true(fs_exists("a/file"));
    assert_false(fs_exists("a/nothing"));
}

TEST(one_file_is_known_under_all_its_names)
{
    struct outfile f;

    assert_int_equal(outfile_open(&f, "a", &diag), ST_OK);
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
    assert_int_equal(symlink("a", "b"), 0);
    assert_true(fs_same_file("a", "./b"));
    assert_false(fs_same_file("a", "."));
    assert_false(fs_same_file("none", "none"));
}

TEST(below_a_folder_of_the_user_no_link_is_followed)
{
    assert_int_equal(mkdir("real", 0777), 0);
    assert_int_equal(symlink("real", "out"), 0);
    assert_int_equal(fs_mkdirs_in("out", "out/a/b", &diag), ST_OK); /* it is the user's link */
    assert_true(fs_is_dir("real/a/b"));
    assert_int_equal(fs_mkdirs_in("out", "out/a/b/", &diag), ST_OK);
    assert_int_equal(symlink("..", "real/a/link"), 0);
    assert_int_equal(fs_mkdirs_in("out", "out/a/link", &diag), ST_IO);
    assert_int_equal(fs_mkdirs_in("out", "out/a/link/c", &diag), ST_IO);
    assert_int_equal(fs_mkdirs_in("out/a/link", "out/a/link/c", &diag), ST_OK);
    fs_put("real/file", "");
    assert_int_equal(fs_mkdirs_in("out", "out/file", &diag), ST_IO);
    assert_int_equal(fs_mkdir_own("out/a", &diag), ST_OK);
    assert_int_equal(fs_mkdir_own("out/new/", &diag), ST_OK);
    assert_int_equal(fs_mkdir_own("out/a/link", &diag), ST_IO);
    assert_int_equal(fs_mkdir_own("out", &diag), ST_IO);
    assert_int_equal(fs_mkdir_own("own", &diag), ST_OK);
}

TEST(leftovers_have_the_mark_and_a_dead_process)
{
    assert_true(fs_is_leftover(S(".strata-999999999-0.tmp")));
    assert_false(fs_is_leftover(S(".strata-1-0.tmp")));
    assert_false(fs_is_leftover(S(".strata-999999999")));
    assert_false(fs_is_leftover(S(".strata-x-0.tmp")));
    assert_false(fs_is_leftover(S("a.strata-999999999-0.tmp")));
    assert_false(fs_is_gone(S("")));
    assert_false(fs_is_gone(S("0")));
    assert_false(fs_is_gone(S("99999999999")));
}

TEST(names_from_data_are_one_component)
{
    assert_str(fs_safe_name(&arena, S("MatMul_v2-x.1"), '_'), "MatMul_v2-x.1");
    assert_str(fs_safe_name(&arena, S("../a/b c\n"), '-'), "_..-a-b-c-");
    assert_str(fs_safe_name(&arena, S(""), '_'), "_");
    assert_true(fs_is_name("run 1"));
    assert_false(fs_is_name("../x"));
    assert_false(fs_is_name(".."));
    assert_false(fs_is_name(""));
    assert_false(fs_is_name("a/b"));
}

TEST(joining_puts_one_slash_between)
{
    assert_string_equal(fs_join(&arena, "a", "b"), "a/b");
    assert_string_equal(fs_join(&arena, "a/", "b"), "a/b");
    assert_string_equal(fs_join(&arena, "/", "b"), "/b");
    assert_string_equal(fs_join(&arena, "", "b"), "b");
    assert_string_equal(fs_join(&arena, "a", "/b"), "/b");
    assert_string_equal(fs_join(&arena, "a", ""), "a");
}

TEST(a_listing_is_sorted_by_bytes_and_tells_kinds)
{
    struct fs_list list;

    fs_put("b", "12345");
    fs_put("B", "");
    fs_put("a10", "");
    fs_put("a2", "");
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(fs_list(&arena, ".", &list, &diag), ST_OK);
    assert_int_equal(list.n, 6);
    assert_str(list.at[0].name, "B");
    assert_str(list.at[1].name, "a10");
    assert_str(list.at[2].name, "a2");
    assert_str(list.at[3].name, "b");
    assert_int_equal(list.at[3].kind, FS_FILE);
    assert_int_equal(list.at[3].size, 5);
    assert_string_equal(list.at[3].path, "./b");
    assert_str(list.at[4].name, "d");
    assert_int_equal(list.at[4].kind, FS_DIR);
    assert_str(list.at[5].name, "dangling");
    assert_int_equal(list.at[5].kind, FS_OTHER);
}

TEST(listing_what_is_no_folder_fails)
{
    struct fs_list list;

    fs_put("file", "");
    assert_int_equal(fs_list(&arena, "nowhere", &list, &diag), ST_IO);
    assert_int_equal(fs_list(&arena, "file", &list, &diag), ST_IO);
    assert_int_equal(list.n, 0);
    assert_int_equal(fs_walk(&arena, "nowhere", NULL, 0, &list, &diag), ST_IO);
    assert_int_equal(fs_walk(&arena, "file", NULL, 0, &list, &diag), ST_IO);
    assert_int_equal(diag_count(&diag, "file.list"), 4);
}

TEST(a_walk_lists_each_folder_before_its_contents)
{
    static const struct str skip[] = {S_INIT("FRAMEWORK")};
    static const char *const want[] = {"./a", "./a/x", "./a/y", "./b", "./z"};
    struct fs_list list;

    fs_mkdirs("a", &diag);
    fs_mkdirs("FRAMEWORK", &diag);
    fs_put("FRAMEWORK/torch.op_mark", "");
    fs_put("a/y", "");
    fs_put("a/x", "");
    fs_put("b", "");
    fs_put("z", "");
    assert_int_equal(fs_walk(&arena, ".", skip, 1, &list, &diag), ST_OK);
    assert_int_equal(list.n, ARRAY_LEN(want));
    for (size_t i = 0; i < list.n; i++)
        assert_string_equal(list.at[i].path, want[i]);
    assert_int_equal(list.at[0].depth, 1);
    assert_int_equal(list.at[1].depth, 2);
}

TEST(a_walk_ends_in_spite_of_link_loops)
{
    struct fs_list list;

    fs_mkdirs("a/b", &diag);
    fs_put("a/b/file", "");
    assert_int_equal(symlink("..", "a/b/up"), 0);
    assert_int_equal(symlink(".", "self"), 0);
    assert_int_equal(symlink("a/b", "second"), 0);
    assert_int_equal(fs_walk(&arena, ".", NULL, 0, &list, &diag), ST_OK);
    /* a, a/b, a/b/file, a/b/up, second, self: no folder is opened twice. */
    assert_int_equal(list.n, 6);
}

TEST(a_walk_opens_five_levels_of_folders)
{
    struct fs_list list;

    assert_int_equal(LIMIT_PATH_DEPTH, 5);
    fs_mkdirs("1/2/3/4/5/6", &diag);
    fs_put("1/2/3/4/5/in", "");
    fs_put("1/2/3/4/5/6/out", "");
    assert_int_equal(fs_walk(&arena, ".", NULL, 0, &list, &diag), ST_OK);
    assert_int_equal(list.n, 7); /* 1 to 6, and "in" */
    assert_string_equal(list.at[6].path, "./1/2/3/4/5/in");
    assert_int_equal(diag_count(&diag, "file.depth"), 1);
}

TEST(programs_are_found_along_the_path)
{
    char *old = arena_cstr(&arena, str_of(getenv("PATH")));

    fs_mkdirs("bin1/tool", &diag); /* a folder of that name is no program */
    fs_mkdirs("bin2", &diag);
    fs_mkdirs("bin3", &diag);
    fs_put("bin2/tool", ""); /* not executable */
    fs_put("bin3/tool", "");
    assert_int_equal(chmod("bin3/tool", 0755), 0);
    setenv("PATH", "bin1:bin2:bin3", 1);
    assert_string_equal(fs_find_program(&arena, "tool"), "bin3/tool");
    assert_null(fs_find_program(&arena, "other"));
    assert_null(fs_find_program(&arena, ""));
    assert_null(fs_find_program(&arena, "bin2/tool"));
    assert_string_equal(fs_find_program(&arena, "./bin3/tool"), "./bin3/tool");
    setenv("PATH", "", 1);
    assert_null(fs_find_program(&arena, "tool"));
    setenv("PATH", old, 1);
}

#define IN_SCRATCH(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

TEST_MAIN(
    "base/fs", IN_SCRATCH(a_file_appears_only_when_it_is_committed),
    IN_SCRATCH(aborting_leaves_the_old_file_and_no_temporary),
    IN_SCRATCH(cleanup_removes_the_temporaries_of_files_still_open),
    IN_SCRATCH(small_and_large_writes_keep_their_order), IN_SCRATCH(the_mode_follows_the_umask),
    IN_SCRATCH(a_write_error_is_sticky_and_names_the_target),
    IN_SCRATCH(opening_fails_where_no_file_can_be), IN_SCRATCH(a_link_is_replaced_and_not_followed),
    IN_SCRATCH(a_file_keeps_its_mode), IN_SCRATCH(an_input_is_not_overwritten_under_any_name),
    IN_SCRATCH(a_given_temporary_takes_the_place_of_an_old_one),
    IN_SCRATCH(below_a_folder_of_the_user_no_link_is_followed),
    IN_SCRATCH(leftovers_have_the_mark_and_a_dead_process),
    IN_SCRATCH(names_from_data_are_one_component), IN_SCRATCH(a_device_is_written_not_replaced),
    IN_SCRATCH(the_longest_file_name_can_be_written), IN_SCRATCH(folders_are_made_down_to_the_last),
    IN_SCRATCH(joining_puts_one_slash_between), IN_SCRATCH(one_file_is_known_under_all_its_names),
    IN_SCRATCH(a_listing_is_sorted_by_bytes_and_tells_kinds),
    IN_SCRATCH(listing_what_is_no_folder_fails),
    IN_SCRATCH(a_walk_lists_each_folder_before_its_contents),
    IN_SCRATCH(a_walk_ends_in_spite_of_link_loops), IN_SCRATCH(a_walk_opens_five_levels_of_folders),
    IN_SCRATCH(programs_are_found_along_the_path))
