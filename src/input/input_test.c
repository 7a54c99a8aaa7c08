#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/testing.h"
#include "capture/capture.h"

static const char table[] = "Name,Start Time(us),Duration(us)\nAdd,1,2\n";

static struct arena arena;
static struct diag diag;
static char dir[] = "/tmp/strata-input-XXXXXX";

static int fresh(void **state)
{
    (void)state;
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    arena_init(&arena);
    diag_init(&diag);
    return mkdtemp(dir) == NULL;
}

static const char *path_of(const char *name)
{
    return fs_join(&arena, dir, name);
}

static void write_file(const char *name, struct str text)
{
    struct outfile f;

    assert_int_equal(outfile_open(&f, path_of(name), &diag), ST_OK);
    outfile_write(&f, text);
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
}

static int done(void **state)
{
    struct fs_list files;

    (void)state;
    fs_walk(&arena, dir, NULL, 0, &files, &diag);
    for (size_t i = files.n; i > 0; i--)
        remove(files.at[i - 1].path);
    remove(dir);
    diag_fini(&diag);
    arena_free(&arena);
    return 0;
}

static enum status load(const char *path, const char *format, struct capture **out)
{
    struct input_options options = input_defaults();

    options.format = format;
    return input_load(path, &options, &diag, out);
}

/* Loading fails with exactly one error, of this code. */
static void assert_refused(const char *path, const char *code)
{
    struct capture *cap = NULL;

    assert_int_not_equal(load(path, NULL, &cap), ST_OK);
    assert_null(cap);
    assert_int_equal(diag.entries.n, 1);
    assert_int_equal(diag.entries.at[0].count, 1);
    assert_string_equal(diag.entries.at[0].code, code);
}

TEST(a_table_is_found_below_the_given_folder)
{
    struct capture *cap = NULL;

    assert_int_equal(mkdir(path_of("a"), 0777), 0);
    write_file("a/kernel_details.csv", str_of(table));
    write_file("a/notes.txt", S("nothing to read here\n"));
    assert_int_equal(mkdir(path_of("strata"), 0777), 0);
    write_file("strata/kernel_details.csv", str_of(table)); /* our own folder is no input */

    assert_int_equal(load(dir, NULL, &cap), ST_OK);
    assert_int_equal(cap->slices.n, 1);
    assert_true(cap->is_sealed);
    assert_int_equal(diag.entries.n, 0);
    capture_free(cap);
}

TEST(a_table_under_another_name_is_known_by_its_content)
{
    struct capture *cap = NULL;

    write_file("mine.txt", str_of(table));

    assert_int_equal(load(dir, NULL, &cap), ST_OK);
    capture_free(cap);
    assert_int_equal(load(path_of("mine.txt"), NULL, &cap), ST_OK);
    capture_free(cap);
}

TEST(a_folder_without_data_says_what_was_looked_for)
{
    assert_refused(dir, "input.nothing");
    assert_int_equal(diag.hints.n, 2);
    assert_string_equal(diag.hints.at[0].label, "looked for");
}

TEST(an_empty_file_is_refused)
{
    write_file("kernel_details.csv", S(""));
    assert_refused(dir, "input.empty");
}

TEST(a_pointer_of_git_lfs_is_refused_with_the_way_out)
{
    write_file("kernel_details.csv", S("version https://git-lfs.github.com/spec/v1\noid x\n"));
    assert_refused(dir, "input.lfs-pointer");
    assert_int_equal(diag.hints.n, 1);
}

TEST(blanks_are_no_data)
{
    write_file("kernel_details.csv", S("\r\n\r\n"));
    assert_refused(dir, "input.empty");
}

TEST(a_table_without_commas_is_refused_with_the_way_out)
{
    write_file("kernel_details.csv", S("Name;Start Time(us);Duration(us)\nA;1;2\n"));
    assert_refused(dir, "input.separator");
    assert_int_equal(diag.hints.n, 1);
}

TEST(rows_that_end_with_cr_alone_are_refused_with_the_way_out)
{
    write_file("kernel_details.csv",
               S("Name,Start Time(us),Duration(us),Wait Time(us)\ra,1,2,0\rb,4,2,0\r"));
    assert_refused(dir, "input.line-ends");
    assert_int_equal(diag.hints.n, 1);
}

TEST(utf_16_is_refused_with_the_way_out)
{
    write_file("kernel_details.csv", S("\xFF\xFEN\0a\0m\0e\0,\0"));
    assert_refused(dir, "input.utf16");
    assert_int_equal(diag.hints.n, 1);
}

TEST(random_bytes_are_refused)
{
    write_file("kernel_details.csv", S("\x01\xff\x00\"\"\",\n\x80zz"));
    assert_refused(dir, "input.unknown");
}

TEST(a_link_to_nothing_is_refused)
{
    assert_int_equal(symlink("/nowhere/at/all", path_of("kernel_details.csv")), 0);
    assert_refused(dir, "file.dangling-link");
}

TEST(a_folder_in_place_of_the_table_is_refused)
{
    assert_int_equal(mkdir(path_of("kernel_details.csv"), 0777), 0);
    assert_refused(dir, "file.is-folder");
}

TEST(a_missing_path_is_refused)
{
    assert_refused(path_of("none"), "file.missing");
}

TEST(a_good_file_beside_a_bad_one_is_read_and_the_bad_one_named)
{
    struct capture *cap = NULL;

    assert_int_equal(mkdir(path_of("a"), 0777), 0);
    write_file("a/kernel_details.csv", S(""));
    write_file("kernel_details.csv", str_of(table));

    assert_int_equal(load(dir, NULL, &cap), ST_OK);
    assert_int_equal(diag_count(&diag, "input.refused"), 1);
    capture_free(cap);
}

TEST(several_captures_are_not_mixed)
{
    assert_int_equal(mkdir(path_of("a"), 0777), 0);
    write_file("a/kernel_details.csv", str_of(table));
    write_file("kernel_details.csv", str_of(table));
    assert_refused(dir, "input.several");
}

TEST(a_format_can_be_forced)
{
    struct capture *cap = NULL;

    write_file("mine.txt", str_of(table));

    assert_int_equal(load(path_of("mine.txt"), "kernel-details", &cap), ST_OK);
    capture_free(cap);
    assert_int_equal(load(path_of("mine.txt"), "papyrus", &cap), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&diag, "input.no-such-format"), 1);
}

TEST(a_format_of_which_no_file_is_there_is_refused)
{
    struct capture *cap = NULL;

    write_file("kernel_details.csv", str_of(table));
    write_file("op_statistic.csv", S("OP Type,Core Type,Count,Total Time(us)\nAdd,AI_CORE,1,2\n"));

    assert_int_equal(load(dir, "nsys", &cap), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "input.no-format"), 1);
}

#define C(name) cmocka_unit_test_setup_teardown(name, fresh, done)
TEST_MAIN("input/input", C(a_table_is_found_below_the_given_folder),
          C(a_table_under_another_name_is_known_by_its_content),
          C(a_folder_without_data_says_what_was_looked_for), C(an_empty_file_is_refused),
          C(a_pointer_of_git_lfs_is_refused_with_the_way_out), C(blanks_are_no_data),
          C(a_table_without_commas_is_refused_with_the_way_out),
          C(rows_that_end_with_cr_alone_are_refused_with_the_way_out),
          C(utf_16_is_refused_with_the_way_out), C(random_bytes_are_refused),
          C(a_link_to_nothing_is_refused), C(a_folder_in_place_of_the_table_is_refused),
          C(a_missing_path_is_refused),
          C(a_good_file_beside_a_bad_one_is_read_and_the_bad_one_named),
          C(several_captures_are_not_mixed), C(a_format_can_be_forced),
          C(a_format_of_which_no_file_is_there_is_refused))
