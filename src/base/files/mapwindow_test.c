#include "base/files/mapwindow.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/testing_folder.h"

enum { SIZE = 3 * MAPWINDOW_BYTES };

/* A file with one letter at its beginning and one behind each window's length. */
static int open_large(void)
{
    int fd = open(scratch_put("large", "a"), O_RDWR);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, SIZE), 0); /* holes: no disk is used */
    assert_int_equal(pwrite(fd, "b", 1, MAPWINDOW_BYTES), 1);
    assert_int_equal(pwrite(fd, "z", 1, SIZE - 1), 1);
    return fd;
}

static char byte_at(const struct mapwindow *w, uint64_t offset)
{
    struct str part = mapwindow_part(w, offset, 1);

    assert_int_equal(part.n, 1);
    return part.at[0];
}

TEST(parts_near_each_other_share_a_window)
{
    struct mapwindow *current = NULL;
    int fd = open_large();
    struct mapwindow *first = mapwindow_acquire(&current, fd, 0, 1000);
    struct mapwindow *second = mapwindow_acquire(&current, fd, 70000, 1000);

    assert_non_null(first);
    assert_ptr_equal(first, second);
    assert_int_equal(first->users, 3);
    assert_int_equal(byte_at(first, 0), 'a');
    assert_int_equal(mapwindow_part(first, 70000, 1000).n, 1000);
    mapwindow_leave(&first);
    assert_null(first);
    mapwindow_leave(&second);
    mapwindow_leave(&current);
    mapwindow_leave(&current);
    close(fd);
}

TEST(a_window_stays_until_its_last_user_leaves)
{
    struct mapwindow *current = NULL;
    int fd = open_large();
    struct mapwindow *first = mapwindow_acquire(&current, fd, 0, 1000);
    struct mapwindow *second = mapwindow_acquire(&current, fd, MAPWINDOW_BYTES - 1, 1000);

    assert_ptr_not_equal(first, second);
    assert_ptr_equal(current, second);
    assert_int_equal(first->users, 1);
    assert_int_equal(byte_at(first, 0), 'a');
    assert_int_equal(byte_at(second, MAPWINDOW_BYTES), 'b');
    assert_true(second->offset <= MAPWINDOW_BYTES - 1);
    mapwindow_leave(&first);
    mapwindow_leave(&current);
    assert_int_equal(byte_at(second, MAPWINDOW_BYTES), 'b');
    mapwindow_leave(&second);
    close(fd);
}

TEST(a_part_may_be_longer_than_a_window_is_and_end_with_the_file)
{
    struct mapwindow *current = NULL;
    int fd = open_large();
    struct mapwindow *all = mapwindow_acquire(&current, fd, 1, SIZE - 1);

    assert_non_null(all);
    assert_int_equal(byte_at(all, SIZE - 1), 'z');
    assert_int_equal(all->text.n, SIZE);
    mapwindow_leave(&all);
    mapwindow_leave(&current);
    close(fd);
}

TEST(what_the_file_does_not_have_is_not_mapped)
{
    struct mapwindow *current = NULL;
    int fd = open_large(), ends[2];

    assert_null(mapwindow_acquire(&current, fd, 0, SIZE + 1));
    assert_null(mapwindow_acquire(&current, fd, SIZE - 1, 2));
    assert_null(mapwindow_acquire(&current, fd, SIZE, 1));
    assert_null(mapwindow_acquire(&current, fd, UINT64_MAX, 1));
    assert_null(mapwindow_acquire(&current, -1, 0, 1));
    assert_int_equal(pipe(ends), 0);
    assert_null(mapwindow_acquire(&current, ends[0], 0, 1));
    assert_null(current);
    /* It became shorter; the window that is open stays the current one. */
    struct mapwindow *first = mapwindow_acquire(&current, fd, 0, 1);
    assert_int_equal(ftruncate(fd, MAPWINDOW_BYTES + 10), 0);
    assert_null(mapwindow_acquire(&current, fd, MAPWINDOW_BYTES, 11));
    assert_ptr_equal(current, first);
    mapwindow_leave(&first);
    mapwindow_leave(&current);
    close(ends[0]);
    close(ends[1]);
    close(fd);
}

TEST_MAIN("base/files/mapwindow", TS(parts_near_each_other_share_a_window),
          TS(a_window_stays_until_its_last_user_leaves),
          TS(a_part_may_be_longer_than_a_window_is_and_end_with_the_file),
          TS(what_the_file_does_not_have_is_not_mapped))
