#include "perfdb/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/testing.h"

static char dir[] = "/tmp/strata-lock-XXXXXX";

TEST(a_second_writer_is_told_who_is_first)
{
    struct diag d;
    struct lock first, second;
    char text[64];

    diag_init(&d);
    assert_int_equal(lock_take(&first, dir, "db parse", 0, &d), ST_OK);
    assert_int_equal(lock_take(&second, dir, "db bench", 0, &d), ST_IO);
    assert_int_equal(second.fd, -1);
    snprintf(text, sizeof(text), "process %ld, strata db parse", (long)getpid());
    assert_non_null(strstr(d.entries.at[0].first[0].text, text));
    lock_release(&first);
    assert_int_equal(lock_take(&second, dir, "db bench", 0, &d), ST_OK);
    lock_release(&second);
    lock_release(&second);
    diag_fini(&d);
}

TEST(a_file_nobody_holds_and_leftovers_are_nothing)
{
    struct diag d;
    struct lock lock;
    struct arena arena;

    diag_init(&d);
    arena_init(&arena);
    const char *stale = fs_join(&arena, dir, ".strata.lock");
    const char *left = fs_join(&arena, dir, "Add.tmp.csv");
    FILE *f = fopen(stale, "w");
    assert_non_null(f);
    fputs("1 db parse\n", f);
    fclose(f);
    f = fopen(left, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(lock_take(&lock, dir, "db parse", 0, &d), ST_OK);
    assert_false(fs_exists(left));
    lock_release(&lock);
    assert_false(fs_exists(stale));
    arena_free(&arena);
    diag_fini(&d);
}

TEST(waiting_ends_after_its_time)
{
    struct diag d;
    struct lock first, second;

    diag_init(&d);
    assert_int_equal(lock_take(&first, dir, "db parse", 0, &d), ST_OK);
    assert_int_equal(lock_take(&second, dir, "db bench", 0.05, &d), ST_IO);
    lock_release(&first);
    diag_fini(&d);
}

static int begin(void **state __attribute__((unused)))
{
    return mkdtemp(dir) == NULL;
}

static int end(void **state __attribute__((unused)))
{
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {T(a_second_writer_is_told_who_is_first),
                                       T(a_file_nobody_holds_and_leftovers_are_nothing),
                                       T(waiting_ends_after_its_time)};

    return cmocka_run_group_tests_name("perfdb/lock", tests, begin, end);
}
