#include "input/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/testing_folder.h"
#include "capture/capture.h"

static const char table[] = "Name,Start Time(us),Duration(us)\nAdd,1,2\n";

/* Any bytes, NUL too. */
static void input_write_file(const char *name, struct str text)
{
    struct outfile f;

    assert_int_equal(outfile_open(&f, scratch_path(name), &diag), ST_OK);
    outfile_write(&f, text);
    assert_int_equal(outfile_commit(&f, OUTFILE_FAST, &diag), ST_OK);
}

static enum status input_test_load(const char *path, const char *format, struct capture **out)
{
    struct input_options options = input_defaults();

    options.format = format;
    return input_load(path, &options, &diag, out);
}

/* Loading fails with exactly one error, of this code. */
static void input_assert_refused(const char *path, const char *code)
{
    struct capture *cap = NULL;

    assert_int_not_equal(input_test_load(path, NULL, &cap), ST_OK);
    assert_null(cap);
    assert_int_equal(diag.entries.n, 1);
    assert_int_equal(diag.entries.at[0].count, 1);
    assert_string_equal(diag.entries.at[0].code, code);
}

TEST(a_table_is_found_below_the_given_folder)
{
    struct capture *cap = NULL;

    assert_int_equal(mkdir(scratch_path("a"), 0777), 0);
    input_write_file("a/kernel_details.csv", str_of(table));
    input_write_file("a/notes.txt", S("nothing to read here\n"));
    assert_int_equal(mkdir(scratch_path("strata"), 0777), 0);
    input_write_file("strata/kernel_details.csv", str_of(table)); /* our own folder is no input */

    assert_int_equal(input_test_load(scratch, NULL, &cap), ST_OK);
    assert_int_equal(cap->slices.n, 1);
    assert_true(cap->is_sealed);
    assert_int_equal(diag.entries.n, 0);
    capture_free(cap);
}

TEST(a_table_under_another_name_is_known_by_its_content)
{
    struct capture *cap = NULL;

    input_write_file("mine.txt", str_of(table));

    assert_int_equal(input_test_load(scratch, NULL, &cap), ST_OK);
    capture_free(cap);
    assert_int_equal(input_test_load(scratch_path("mine.txt"), NULL, &cap), ST_OK);
    capture_free(cap);
}

TEST(a_folder_without_data_says_what_was_looked_for)
{
    input_assert_refused(scratch, "input.nothing");
    assert_int_equal(diag.hints.n, 2);
    assert_string_equal(diag.hints.at[0].label, "looked for");
}

TEST(an_empty_file_is_refused)
{
    input_write_file("kernel_details.csv", S(""));
    input_assert_refused(scratch, "input.empty");
}

TEST(a_pointer_of_git_lfs_is_refused_with_the_way_out)
{
    input_write_file("kernel_details.csv",
                     S("version https://git-lfs.github.com/spec/v1\noid x\n"));
    input_assert_refused(scratch, "input.lfs-pointer");
    assert_int_equal(diag.hints.n, 1);
}

TEST(blanks_are_no_data)
{
    input_write_file("kernel_details.csv", S("\r\n\r\n"));
    input_assert_refused(scratch, "input.empty");
}

TEST(a_table_without_commas_is_refused_with_the_way_out)
{
    input_write_file("kernel_details.csv", S("Name;Start Time(us);Duration(us)\nA;1;2\n"));
    input_assert_refused(scratch, "input.separator");
    assert_int_equal(diag.hints.n, 1);
}

TEST(rows_that_end_with_cr_alone_are_refused_with_the_way_out)
{
    input_write_file("kernel_details.csv",
                     S("Name,Start Time(us),Duration(us),Wait Time(us)\ra,1,2,0\rb,4,2,0\r"));
    input_assert_refused(scratch, "input.line-ends");
    assert_int_equal(diag.hints.n, 1);
}

TEST(utf_16_is_refused_with_the_way_out)
{
    input_write_file("kernel_details.csv", S("\xFF\xFEN\0a\0m\0e\0,\0"));
    input_assert_refused(scratch, "input.utf16");
    assert_int_equal(diag.hints.n, 1);
}

TEST(random_bytes_are_refused)
{
    input_write_file("kernel_details.csv", S("\x01\xff\x00\"\"\",\n\x80zz"));
    input_assert_refused(scratch, "input.unknown");
}

TEST(a_link_to_nothing_is_refused)
{
    assert_int_equal(symlink("/nowhere/at/all", scratch_path("kernel_details.csv")), 0);
    input_assert_refused(scratch, "file.dangling-link");
}

TEST(a_folder_in_place_of_the_table_is_refused)
{
    assert_int_equal(mkdir(scratch_path("kernel_details.csv"), 0777), 0);
    input_assert_refused(scratch, "file.is-folder");
}

TEST(a_missing_path_is_refused)
{
    input_assert_refused(scratch_path("none"), "file.missing");
}

TEST(a_good_file_beside_a_bad_one_is_read_and_the_bad_one_named)
{
    struct capture *cap = NULL;

    assert_int_equal(mkdir(scratch_path("a"), 0777), 0);
    input_write_file("a/kernel_details.csv", S(""));
    input_write_file("kernel_details.csv", str_of(table));

    assert_int_equal(input_test_load(scratch, NULL, &cap), ST_OK);
    assert_int_equal(diag_count(&diag, "input.refused"), 1);
    capture_free(cap);
}

TEST(several_captures_are_not_mixed)
{
    assert_int_equal(mkdir(scratch_path("a"), 0777), 0);
    input_write_file("a/kernel_details.csv", str_of(table));
    input_write_file("kernel_details.csv", str_of(table));
    input_assert_refused(scratch, "input.several");
}

TEST(a_format_can_be_forced)
{
    struct capture *cap = NULL;

    input_write_file("mine.txt", str_of(table));

    assert_int_equal(input_test_load(scratch_path("mine.txt"), "kernel-details", &cap), ST_OK);
    capture_free(cap);
    assert_int_equal(input_test_load(scratch_path("mine.txt"), "papyrus", &cap), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&diag, "input.no-such-format"), 1);
}

TEST(a_format_of_which_no_file_is_there_is_refused)
{
    struct capture *cap = NULL;

    input_write_file("kernel_details.csv", str_of(table));
    input_write_file("op_statistic.csv",
                     S("OP Type,Core Type,Count,Total Time(us)\nAdd,AI_CORE,1,2\n"));

    assert_int_equal(input_test_load(scratch, "nsys", &cap), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "input.no-format"), 1);
}

TEST_MAIN("input/input", TS(a_table_is_found_below_the_given_folder),
          TS(a_table_under_another_name_is_known_by_its_content),
          TS(a_folder_without_data_says_what_was_looked_for), TS(an_empty_file_is_refused),
          TS(a_pointer_of_git_lfs_is_refused_with_the_way_out), TS(blanks_are_no_data),
          TS(a_table_without_commas_is_refused_with_the_way_out),
          TS(rows_that_end_with_cr_alone_are_refused_with_the_way_out),
          TS(utf_16_is_refused_with_the_way_out), TS(random_bytes_are_refused),
          TS(a_link_to_nothing_is_refused), TS(a_folder_in_place_of_the_table_is_refused),
          TS(a_missing_path_is_refused),
          TS(a_good_file_beside_a_bad_one_is_read_and_the_bad_one_named),
          TS(several_captures_are_not_mixed), TS(a_format_can_be_forced),
          TS(a_format_of_which_no_file_is_there_is_refused))
