#include "base/files/inputs.h"

#include "base/testing.h"

static struct stat file(dev_t device, ino_t inode)
{
    return (struct stat){.st_dev = device, .st_ino = inode};
}

TEST(a_file_is_told_by_device_and_inode)
{
    struct stat a = file(1, 2), b = file(2, 1), c = file(1, 3);

    inputs_clear();
    inputs_note(&a);
    inputs_note(&a);
    assert_true(inputs_have(&a));
    assert_false(inputs_have(&b));
    assert_false(inputs_have(&c));
    inputs_clear();
    assert_false(inputs_have(&a));
}

TEST(what_the_run_made_is_no_input)
{
    struct stat a = file(1, 2), b = file(1, 3);

    inputs_clear();
    inputs_disown(&a);
    inputs_note(&a); /* read back */
    assert_false(inputs_have(&a));
    inputs_note(&b);
    assert_true(inputs_have(&b));
    inputs_disown(&b); /* the input is gone, and its inode has a new file */
    assert_false(inputs_have(&b));
    inputs_clear();
}

TEST(what_was_only_looked_at_is_no_input)
{
    struct stat info;

    inputs_clear();
    assert_int_equal(fstat(0, &info), 0);
    inputs_unnote(0); /* never noted */
    inputs_note(&info);
    inputs_unnote(0);
    assert_false(inputs_have(&info));
    inputs_note(&info);
    assert_true(inputs_have(&info));
    inputs_clear();
}

TEST(too_many_files_make_every_file_an_input)
{
    struct stat other = file(7, 1);

    inputs_clear();
    for (ino_t i = 1; i <= 40000; i++)
        inputs_note(&(struct stat){.st_dev = 3, .st_ino = i});
    struct stat some = file(3, 31234);
    assert_true(inputs_have(&some));
    assert_false(inputs_have(&other));
    for (ino_t i = 1; i <= 40000; i++)
        inputs_note(&(struct stat){.st_dev = 4, .st_ino = i});
    assert_true(inputs_have(&other));
    inputs_clear();
    assert_false(inputs_have(&other));
}

TEST_MAIN("base/files/inputs", T(a_file_is_told_by_device_and_inode),
          T(what_the_run_made_is_no_input), T(what_was_only_looked_at_is_no_input),
          T(too_many_files_make_every_file_an_input))
