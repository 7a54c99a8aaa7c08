/* nftw(), the innermost first. */
#include "base/remove_tree.h"

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>

#include "base/job.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void release(void *path, size_t n)
{
    (void)n;
    remove_tree(path);
}

void remove_tree_hold(const char *path)
{
    job_hold(release, (void *)(uintptr_t)path, 0);
}

void remove_tree_drop(const char *path)
{
    job_drop(release, path);
}
