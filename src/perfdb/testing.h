/*
 * testing - a scratch folder for tests of the database.
 */
#ifndef STRATA_PERFDB_TESTING_H
#define STRATA_PERFDB_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/testing.h"

/* Everything a test makes; filled by scratch_begin(). */
static struct scratch {
    struct arena arena;
    struct diag diag;
    char dir[64];
} scratch;

static int scratch_begin(void **state __attribute__((unused)))
{
    arena_init(&scratch.arena);
    diag_init(&scratch.diag);
    snprintf(scratch.dir, sizeof(scratch.dir), "/tmp/strata-perfdb-XXXXXX");
    return mkdtemp(scratch.dir) == NULL;
}

static int scratch_end(void **state __attribute__((unused)))
{
    struct fs_list list = {0};

    fs_walk(&scratch.arena, scratch.dir, NULL, 0, &list, &scratch.diag);
    for (size_t i = list.n; i-- > 0;) /* contents come after their folder */
        list.at[i].kind == FS_DIR ? rmdir(list.at[i].path) : unlink(list.at[i].path);
    diag_fini(&scratch.diag);
    arena_free(&scratch.arena);
    return rmdir(scratch.dir);
}

/* Writes a file below the folder and gives its path. */
static inline const char *scratch_put(const char *name, const char *text)
{
    const char *path = fs_join(&scratch.arena, scratch.dir, name);
    struct str folder = {path, strlen(path) - str_basename(str_of(path)).n - 1};

    assert_int_equal(fs_mkdirs(arena_cstr(&scratch.arena, folder), &scratch.diag), ST_OK);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static inline const char *scratch_path(const char *name)
{
    return fs_join(&scratch.arena, scratch.dir, name);
}

/* A test with a folder of its own. */
#define TS(name) cmocka_unit_test_setup_teardown(name, scratch_begin, scratch_end)

#endif
