#include "opdb/rows/lock.h"

#include <unistd.h>

#include "base/testing_folder.h"

TEST(a_second_writer_is_told_who_is_first)
{
    struct lock first, second;
    char text[64];

    assert_int_equal(lock_acquire(&first, scratch, "db parse", 0, &diag), ST_OK);
    assert_int_equal(lock_acquire(&second, scratch, "db bench", 0, &diag), ST_IO);
    assert_int_equal(second.fd, -1);
    snprintf(text, sizeof(text), "process %ld, strata db parse", (long)getpid());
    assert_non_null(strstr(diag.entries.at[0].first[0].text, text));
    lock_release(&first);
    assert_int_equal(lock_acquire(&second, scratch, "db bench", 0, &diag), ST_OK);
    lock_release(&second);
    lock_release(&second);
    assert_false(fs_exists(scratch_path(".strata.lock")));
}

TEST(a_file_nobody_holds_and_leftovers_are_nothing)
{
    struct lock lock;

    const char *stale = scratch_put(".strata.lock", "1 db parse\n");
    const char *left = scratch_put("Add.999999999.strata.tmp.csv", "");
    const char *others[] = {
        scratch_put("Add.tmp.csv", ""), scratch_put("999999999.strata.tmp.csv", ""),
        scratch_put("Add.x9.strata.tmp.csv", ""),
        scratch_put(arena_printf(&arena, "Add.%ld.strata.tmp.csv", (long)getpid()), "")};
    assert_int_equal(lock_acquire(&lock, scratch, "db parse", 0, &diag), ST_OK);
    assert_false(fs_exists(left));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) /* a user's, and one of a writer that lives */
        assert_true(fs_exists(others[i]));
    lock_release(&lock);
    assert_false(fs_exists(stale));
}

TEST(waiting_ends_after_its_time)
{
    struct lock first, second;

    assert_int_equal(lock_acquire(&first, scratch, "db parse", 0, &diag), ST_OK);
    assert_int_equal(lock_acquire(&second, scratch, "db bench", 0.05, &diag), ST_IO);
    lock_release(&first);
    assert_false(fs_exists(scratch_path(".strata.lock")));
}

TEST_MAIN("opdb/rows/lock", TS(a_second_writer_is_told_who_is_first),
          TS(a_file_nobody_holds_and_leftovers_are_nothing), TS(waiting_ends_after_its_time))
