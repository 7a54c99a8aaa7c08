/*
 * testing_folder - an arena, a diag and an empty folder of its own for each test.
 *
 *     TEST(a_table_is_found)
 *     {
 *         const char *path = scratch_put("tables/Add.csv", "a,b\n");
 *         assert_int_equal(table_find(&arena, scratch, ..., &diag), ST_OK);
 *     }
 *
 *     TEST_MAIN("perfdb/table", TS(a_table_is_found))
 */
#ifndef STRATA_BASE_TESTING_FOLDER_H
#define STRATA_BASE_TESTING_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/testing_arena.h"

static char scratch[64]; /* the folder */

static inline int enter(void **state)
{
    snprintf(scratch, sizeof(scratch), "/tmp/strata-test-XXXXXX");
    return arena_enter(state) != 0 || mkdtemp(scratch) == NULL;
}

static inline int scratch_remove(const char *path, const struct stat *info, int type,
                                 struct FTW *ftw)
{
    (void)info, (void)type, (void)ftw;
    return remove(path);
}

static inline int leave(void **state)
{
    cancel_clear();
    return arena_leave(state) != 0 || nftw(scratch, scratch_remove, 16, FTW_DEPTH | FTW_PHYS) != 0;
}

/* A test with these; others come between with enter() and leave() called from its own. */
#define TS(name) cmocka_unit_test_setup_teardown(name, enter, leave)

static inline const char *scratch_path(const char *name)
{
    return fs_join(&arena, scratch, name);
}

/* Writes a file below the folder, with the folders on the way, and gives its path. */
static inline const char *scratch_put(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    struct str folder = {path, strlen(path) - str_basename(str_of(path)).n - 1};

    assert_int_equal(fs_mkdirs(arena_cstr(&arena, folder), &diag), ST_OK);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

#endif
