#include "input/db_probe.h"

#include <stdio.h>
#include <unistd.h>

#include "base/db_testing.h"
#include "base/testing.h"

static const struct str wanted[] = {S_INIT("TASK"), S_INIT("STRING_IDS")};

TEST(tables_are_seen_in_the_first_bytes)
{
    struct str bytes = db_made("CREATE TABLE TASK(a); CREATE TABLE \"STRING_IDS\" (b);");
    struct probe p = {"no-such-file", S("x"), bytes};

    assert_true(db_probe(&p, &wanted[0], 1));
    assert_true(db_probe(&p, &wanted[1], 1));
    free((void *)(uintptr_t)bytes.at);
}

TEST(a_longer_name_is_another_table)
{
    struct str bytes = db_made("CREATE TABLE TASKS(a); CREATE TABLE MY_TASK_2(a);");
    struct probe p = {"no-such-file", S("x"), bytes};

    assert_false(db_probe(&p, wanted, 2));
    free((void *)(uintptr_t)bytes.at);
}

TEST(a_table_that_the_first_bytes_do_not_show_is_found_inside)
{
    char path[] = "/tmp/strata-probe-XXXXXX";
    struct str bytes = db_made("CREATE TABLE OTHER(a); CREATE TABLE STRING_IDS(b);");
    FILE *file = fdopen(mkstemp(path), "w");
    struct probe p = {path, S("x"), str_part(bytes, 0, 100)};

    assert_int_equal(fwrite(bytes.at, 1, bytes.n, file), bytes.n);
    fclose(file);
    assert_true(db_probe(&p, wanted, 2));
    assert_false(db_probe(&p, wanted, 1));
    p.head = S("not SQLite");
    assert_false(db_probe(&p, wanted, 2));
    unlink(path);
    free((void *)(uintptr_t)bytes.at);
}

TEST_MAIN("input/db_probe", T(tables_are_seen_in_the_first_bytes),
          T(a_longer_name_is_another_table),
          T(a_table_that_the_first_bytes_do_not_show_is_found_inside))
